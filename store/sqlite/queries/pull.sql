-- name: PutPull :execlastid
INSERT INTO pulls (id, project_id, task_id, number, hot_until, ended_at, mark, details)
VALUES (sqlc.narg('id'), @project_id, @task_id, @number, @hot_until, @ended_at, @mark, @details)
ON CONFLICT (id) DO UPDATE SET
  project_id = excluded.project_id, task_id = excluded.task_id, number = excluded.number, hot_until = excluded.hot_until,
  ended_at = excluded.ended_at, mark = excluded.mark, details = excluded.details;

-- name: PullOf :one
SELECT * FROM pulls WHERE task_id = @task_id;

-- name: PullByNumber :one
SELECT * FROM pulls WHERE project_id = @project_id AND number = @number ORDER BY id DESC LIMIT 1;

-- name: FollowedPulls :many
SELECT task_id, number, hot_until, mark FROM pulls WHERE project_id = @project_id AND ended_at IS NULL AND number <> 0 ORDER BY id;

-- name: PullsOf :many
SELECT * FROM pulls WHERE task_id IN (SELECT value FROM json_each(@tasks));

-- name: PullMarks :many
SELECT task_id, mark FROM pulls WHERE task_id IN (SELECT value FROM json_each(@tasks));

-- name: ForgetPulls :exec
DELETE FROM pulls WHERE task_id = @task_id;

-- name: PutForge :exec
INSERT INTO forges (project_id, next_at, details) VALUES (@project_id, @next_at, @details)
ON CONFLICT (project_id) DO UPDATE SET next_at = excluded.next_at, details = excluded.details;

-- name: Forge :one
SELECT * FROM forges WHERE project_id = @project_id;

-- name: ForgetForge :exec
DELETE FROM forges WHERE project_id = @project_id;

-- name: PutReaction :execlastid
INSERT INTO reactions (id, project_id, task_id, event_key, at, details)
VALUES (sqlc.narg('id'), @project_id, @task_id, @event_key, @at, @details)
ON CONFLICT (id) DO UPDATE SET
  project_id = excluded.project_id, task_id = excluded.task_id, event_key = excluded.event_key, at = excluded.at, details = excluded.details;

-- name: ReactionsOf :many
SELECT * FROM reactions WHERE task_id = @task_id AND (task_id <> 0 OR project_id = @project_id) ORDER BY id;

-- name: Reactions :many
SELECT * FROM reactions
WHERE (@project_id = 0 OR project_id = @project_id) AND (@task_id = 0 OR task_id = @task_id) AND (@before = 0 OR id < @before)
ORDER BY id DESC LIMIT @most;

-- name: TrimReactions :exec
DELETE FROM reactions WHERE reactions.id IN (
  SELECT r.id FROM reactions r WHERE r.task_id = @task_id AND r.project_id = @project_id ORDER BY r.id DESC LIMIT -1 OFFSET @keep
);

-- name: ForgetReactions :exec
DELETE FROM reactions WHERE task_id = @task_id;

-- name: ForgetReactionsIn :exec
DELETE FROM reactions WHERE project_id = @project_id;
