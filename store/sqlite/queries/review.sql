-- Review comments, and what people have viewed.

-- name: PutComment :execlastid
INSERT INTO comments (
  id, task_id, path, side, first_line, last_line, blob, code, text, author, state, message_id, created_at, sent_at, resolved_at
) VALUES (
  sqlc.narg('id'), @task_id, @path, @side, @first_line, @last_line, @blob, @code, @text, @author, @state, @message_id, @created_at, @sent_at,
  @resolved_at
)
ON CONFLICT (id) DO UPDATE SET
  task_id = excluded.task_id, path = excluded.path, side = excluded.side, first_line = excluded.first_line, last_line = excluded.last_line,
  blob = excluded.blob, code = excluded.code, text = excluded.text, author = excluded.author, state = excluded.state,
  message_id = excluded.message_id, created_at = excluded.created_at, sent_at = excluded.sent_at, resolved_at = excluded.resolved_at;

-- name: Comment :one
SELECT * FROM comments WHERE id = @id;

-- name: CommentsOf :many
SELECT * FROM comments WHERE task_id = @task_id ORDER BY id;

-- name: DropComment :exec
DELETE FROM comments WHERE id = @id;

-- name: PutViewed :exec
INSERT INTO viewed (task_id, author, path, blob) VALUES (@task_id, @author, @path, @blob)
ON CONFLICT (task_id, author, path) DO UPDATE SET blob = excluded.blob;

-- name: ViewedOf :many
SELECT * FROM viewed WHERE task_id = @task_id ORDER BY author, path;

-- name: DropViewed :exec
DELETE FROM viewed WHERE task_id = @task_id AND author = @author AND path = @path;
