-- name: PutImage :exec
INSERT INTO images (id, task_id, type, size, at, data) VALUES (@id, 0, @type, @size, @at, @data)
ON CONFLICT (id, task_id) DO UPDATE SET at = excluded.at;

-- name: Image :one
SELECT * FROM images WHERE id = @id LIMIT 1;

-- name: ImagesOf :many
SELECT id, type, size, at FROM images WHERE task_id = @task_id ORDER BY key;

-- name: OwnImage :execrows
UPDATE OR IGNORE images SET task_id = @task_id WHERE images.id = @id AND images.task_id = 0;

-- name: CopyImage :exec
INSERT OR IGNORE INTO images (id, task_id, type, size, at, data)
SELECT i.id, CAST(@task_id AS INTEGER), i.type, i.size, i.at, i.data FROM images i WHERE i.id = @id LIMIT 1;

-- name: PruneImages :exec
DELETE FROM images WHERE task_id = 0 AND at < @before;

-- name: ForgetImages :exec
DELETE FROM images WHERE task_id = @task_id;
