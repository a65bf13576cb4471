-- The counters of the history, and the tasks that are removed next. The conditions
-- repeat those of the indexes exactly.

-- name: OutputSize :one
SELECT total FROM output_size;

-- name: EndedTasks :one
SELECT CAST(coalesce(sum(n), 0) AS INTEGER) AS n FROM ended_tasks;

-- name: OldestFull :one
SELECT id, CAST(coalesce(archived, ended_at) AS INTEGER) AS over_at FROM tasks
WHERE stage = 'ended' AND (outcome = 'done' OR archived IS NOT NULL) AND NOT emptied
ORDER BY coalesce(archived, ended_at) LIMIT 1;

-- name: OldestOver :one
SELECT t.id FROM tasks t
WHERE t.stage = 'ended' AND (t.outcome = 'done' OR t.archived IS NOT NULL) AND coalesce(t.archived, t.ended_at) <= CAST(@until AS INTEGER)
  AND NOT EXISTS (SELECT 1 FROM workspaces w WHERE w.task_id = t.id AND w.removed_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM trash r WHERE r.task_id = t.id AND r.restored_at IS NULL AND r.purged_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM task_deps d JOIN tasks o ON o.id = d.task_id WHERE d.after_id = t.id AND o.stage <> 'ended')
  AND NOT EXISTS (SELECT 1 FROM work u WHERE u.subject = 'task/' || t.id AND u.state IN ('offered', 'taken', 'finished'))
  AND NOT EXISTS (SELECT 1 FROM features f WHERE f.project_id = t.project_id AND f.feature = t.feature)
  AND NOT EXISTS (SELECT 1 FROM tasks w WHERE w.id = t.parent AND t.step IS NOT NULL)
ORDER BY coalesce(t.archived, t.ended_at) LIMIT 1;

-- name: NextOver :one
SELECT CAST(coalesce(archived, ended_at) AS INTEGER) AS over_at FROM tasks
WHERE stage = 'ended' AND (outcome = 'done' OR archived IS NOT NULL) AND coalesce(archived, ended_at) > CAST(@since AS INTEGER)
ORDER BY coalesce(archived, ended_at) LIMIT 1;

-- name: CheckIDs :many
SELECT id FROM checks WHERE task_id = @task_id;

-- name: EmptyChecks :exec
UPDATE checks SET log = '' WHERE task_id = @task_id;

-- name: EmptyTask :exec
UPDATE tasks SET emptied = TRUE WHERE id = @id;

-- name: EmptySession :exec
UPDATE sessions SET emptied_at = @now, packed = TRUE, cursor = @cursor WHERE id = @id;

-- name: Unpacked :one
SELECT id FROM sessions WHERE ended_at IS NOT NULL AND NOT packed AND kept > 0 ORDER BY ended_at LIMIT 1;

-- name: SetPacked :exec
UPDATE sessions SET packed = TRUE WHERE id = @id;

-- name: DropOutputs :execrows
DELETE FROM outputs WHERE session_id = @session_id AND place > @after AND place <= @last;
