-- Queues.

-- name: PutQueue :execlastid
INSERT INTO queues (id, project_id, branch, tip, needs) VALUES (sqlc.narg('id'), @project_id, @branch, @tip, @needs)
ON CONFLICT (id) DO UPDATE SET
  project_id = excluded.project_id, branch = excluded.branch, tip = excluded.tip, needs = excluded.needs;

-- name: Queue :one
SELECT * FROM queues WHERE id = @id;

-- name: QueueOf :one
SELECT * FROM queues WHERE project_id = @project_id AND branch = @branch;

-- name: QueuesIn :many
SELECT * FROM queues WHERE project_id = @project_id ORDER BY branch;

-- name: ForgetQueues :exec
DELETE FROM queues WHERE project_id = @project_id;

-- name: CheckEnv :one
SELECT env FROM checks WHERE project_id = @project_id ORDER BY id DESC LIMIT 1;
