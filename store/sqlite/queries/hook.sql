-- name: PutHookRun :execlastid
INSERT INTO hook_runs (
  id, hook_key, project_id, task_id, landing_id, commit_hash, event, lane, blocks, offered_at, ended_at, details
) VALUES (
  sqlc.narg('id'), @hook_key, @project_id, @task_id, @landing_id, @commit_hash, @event, @lane, @blocks, @offered_at, @ended_at, @details
)
ON CONFLICT (id) DO UPDATE SET
  hook_key = excluded.hook_key, project_id = excluded.project_id, task_id = excluded.task_id, landing_id = excluded.landing_id,
  commit_hash = excluded.commit_hash, event = excluded.event, lane = excluded.lane, blocks = excluded.blocks,
  offered_at = excluded.offered_at, ended_at = excluded.ended_at, details = excluded.details;

-- name: HookRunByKey :one
SELECT * FROM hook_runs WHERE hook_key = @hook_key;

-- name: OfferedHookRuns :many
SELECT * FROM hook_runs WHERE project_id = @project_id AND ended_at IS NULL AND offered_at IS NOT NULL ORDER BY id;

-- name: NextHookRuns :many
SELECT * FROM hook_runs r WHERE r.project_id = @project_id AND r.ended_at IS NULL AND r.offered_at IS NULL
AND NOT EXISTS (SELECT 1 FROM hook_runs b WHERE b.lane = r.lane AND b.ended_at IS NULL AND b.id < r.id)
ORDER BY r.blocks DESC, r.id LIMIT @most;

-- name: HookRunsInLane :many
SELECT * FROM hook_runs WHERE lane = @lane AND ended_at IS NULL ORDER BY id;

-- name: HookRunsBefore :many
SELECT * FROM hook_runs WHERE landing_id = @landing_id AND landing_id <> 0 AND commit_hash = @commit_hash ORDER BY id;

-- name: HookRuns :many
SELECT * FROM hook_runs
WHERE (@project_id = 0 OR project_id = @project_id) AND (@task_id = 0 OR task_id = @task_id)
AND (@event = '' OR event = @event) AND (@before = 0 OR id < @before)
ORDER BY id DESC LIMIT @most;

-- name: TrimHookRuns :execrows
DELETE FROM hook_runs WHERE hook_runs.id IN (
  SELECT r.id FROM hook_runs r WHERE r.project_id = @project_id AND r.ended_at IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM landings l WHERE l.id = r.landing_id AND l.ended_at IS NULL)
  ORDER BY r.id DESC LIMIT -1 OFFSET @keep
);

-- name: ForgetHookRuns :exec
DELETE FROM hook_runs WHERE task_id = @task_id;

-- name: ForgetHookRunsIn :exec
DELETE FROM hook_runs WHERE project_id = @project_id;
