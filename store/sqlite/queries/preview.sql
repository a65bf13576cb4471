-- name: PutPreview :execlastid
INSERT INTO previews (
  id, project_id, task_id, state, port, address, started_by, created_at, ready_at, ended_at, reason, fix, stop_at, stop_tries
) VALUES (
  sqlc.narg('id'), @project_id, @task_id, @state, @port, @address, @started_by, @created_at, @ready_at, @ended_at, @reason, @fix, @stop_at, @stop_tries
)
ON CONFLICT (id) DO UPDATE SET
  project_id = excluded.project_id, task_id = excluded.task_id, state = excluded.state, port = excluded.port, address = excluded.address,
  started_by = excluded.started_by, created_at = excluded.created_at, ready_at = excluded.ready_at, ended_at = excluded.ended_at,
  reason = excluded.reason, fix = excluded.fix, stop_at = excluded.stop_at, stop_tries = excluded.stop_tries;

-- name: LastPreview :one
SELECT * FROM previews WHERE task_id = @task_id ORDER BY id DESC LIMIT 1;

-- name: LivePreviews :many
SELECT * FROM previews WHERE state IN ('starting', 'ready') ORDER BY id;

-- name: ForgetPreviews :exec
DELETE FROM previews WHERE task_id = @task_id;
