-- Removing a project, task by task. Rows that refer to a row are removed before it.

-- name: KeepLast :exec
INSERT INTO floors (name, last) VALUES (@name, @last)
ON CONFLICT (name) DO UPDATE SET last = max(last, excluded.last);

-- name: KeepLastIDs :exec
INSERT INTO floors (name, last)
SELECT 'projects', coalesce((SELECT max(id) FROM projects), 0)
UNION ALL SELECT 'tasks', coalesce((SELECT max(id) FROM tasks), 0)
UNION ALL SELECT 'sessions', coalesce((SELECT max(id) FROM sessions), 0)
UNION ALL SELECT 'checks', coalesce((SELECT max(id) FROM checks), 0)
ON CONFLICT (name) DO UPDATE SET last = max(last, excluded.last);

-- name: LastKept :one
SELECT last FROM floors WHERE name = @name;

-- name: FirstTaskOf :one
SELECT id FROM tasks WHERE project_id = @project_id ORDER BY id LIMIT 1;

-- Waiting and queued tasks have separate indexes by project. There are only few
-- other tasks that have not ended.
-- name: Busy :one
SELECT CAST(
  EXISTS (SELECT 1 FROM tasks w WHERE w.project_id = @project_id AND w.waits_on IS NOT NULL)
  OR EXISTS (SELECT 1 FROM tasks q WHERE q.lane_project = @project_id)
  OR EXISTS (SELECT 1 FROM tasks t WHERE t.stage IN (SELECT value FROM json_each(CAST(@stages AS TEXT))) AND t.stage <> 'ended' AND t.project_id = @project_id)
  OR EXISTS (SELECT 1 FROM work o WHERE o.state IN ('offered', 'taken', 'finished') AND o.project_id = @project_id)
  OR EXISTS (SELECT 1 FROM hook_runs h WHERE h.project_id = @project_id AND h.ended_at IS NULL)
AS BOOLEAN) AS busy;

-- name: ForgetWork :execrows
DELETE FROM work WHERE id IN (SELECT w.id FROM work w WHERE w.project_id = @project_id LIMIT @most);

-- name: ForgetOutput :execrows
DELETE FROM outputs WHERE outputs.session_id = @session_id AND outputs.place IN (
  SELECT o.place FROM outputs o WHERE o.session_id = @session_id ORDER BY o.place LIMIT @most
);

-- name: ForgetPrompt :exec
DELETE FROM prompts WHERE session_id = @session_id;

-- name: ForgetUsage :exec
DELETE FROM usages WHERE made_at = @made_at AND session_id = @session_id;

-- name: ForgetSession :exec
DELETE FROM sessions WHERE id = @id;

-- name: ForgetQuestions :exec
DELETE FROM questions WHERE task_id = @task_id;

-- name: ForgetMessages :exec
DELETE FROM messages WHERE task_id = @task_id;

-- name: ForgetComments :exec
DELETE FROM comments WHERE task_id = @task_id;

-- name: ForgetViewed :exec
DELETE FROM viewed WHERE task_id = @task_id;

-- name: ForgetWorkspaces :exec
DELETE FROM workspaces WHERE task_id = @task_id;

-- name: ForgetCandidates :exec
DELETE FROM candidates WHERE landing_id IN (SELECT l.id FROM landings l WHERE l.task_id = @task_id);

-- name: ForgetLandings :exec
DELETE FROM landings WHERE task_id = @task_id;

-- name: ForgetChecks :exec
DELETE FROM checks WHERE task_id = @task_id;

-- A queue with an open landing, work or request stays: the engine has not finished it.
-- name: ForgetQueue :exec
DELETE FROM queues WHERE queues.id = @id
  AND NOT EXISTS (SELECT 1 FROM landings l WHERE l.queue_id = queues.id AND l.ended_at IS NULL AND l.queued_at IS NOT NULL)
  AND NOT EXISTS (SELECT 1 FROM work u WHERE u.subject = 'queue/' || queues.id AND u.state IN ('offered', 'taken', 'finished'))
  AND NOT EXISTS (SELECT 1 FROM asks a WHERE a.subject_kind = 'queue' AND a.subject_id = CAST(queues.id AS TEXT) AND a.settled_at IS NULL);

-- name: TrashOfTask :many
SELECT id FROM trash WHERE task_id = @task_id;

-- name: ForgetTrash :exec
DELETE FROM trash WHERE task_id = @task_id;

-- name: DependantsOf :many
SELECT task_id FROM task_deps WHERE after_id = @after_id;

-- name: ForgetDeps :exec
DELETE FROM task_deps WHERE task_id = @task_id OR after_id = @task_id;

-- name: ForgetTimer :exec
DELETE FROM timers WHERE kind = @kind AND id = @id;

-- name: ForgetTask :exec
DELETE FROM tasks WHERE id = @id;

-- name: ForgetCounts :exec
DELETE FROM ended_tasks WHERE project_id = @project_id;

-- name: ForgetProject :exec
DELETE FROM projects WHERE id = @id;

-- name: OutputSizes :many
SELECT project_id, CAST(sum(kept) AS INTEGER) AS size FROM sessions GROUP BY project_id;

-- name: DependantsOfProject :many
SELECT t.key FROM task_deps d JOIN tasks a ON a.id = d.after_id JOIN tasks t ON t.id = d.task_id
WHERE a.project_id = @project_id AND t.project_id <> @project_id AND t.stage <> 'ended' ORDER BY t.id LIMIT @most;
