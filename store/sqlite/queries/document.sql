-- The documents of flows.

-- name: NewestDocuments :many
SELECT d.* FROM documents d
WHERE d.task_id = @task_id AND d.version = (SELECT max(n.version) FROM documents n WHERE n.task_id = d.task_id AND n.name = d.name)
ORDER BY d.name;

-- name: Document :one
SELECT * FROM documents WHERE task_id = @task_id AND name = @name AND version = @version;

-- name: NewestVersion :one
SELECT CAST(coalesce(max(version), 0) AS INTEGER) AS version FROM documents WHERE task_id = @task_id AND name = @name;

-- name: DocumentVersions :many
SELECT id, task_id, name, version, size, actor, step, at FROM documents WHERE task_id = @task_id AND name = @name ORDER BY version DESC;

-- name: AddDocument :execlastid
INSERT INTO documents (task_id, name, version, size, actor, step, at, text)
VALUES (@task_id, @name, @version, @size, @actor, @step, @at, @text);

-- name: TrimDocument :exec
DELETE FROM documents WHERE task_id = @task_id AND name = @name AND version <= @version;

-- name: ForgetDocuments :execrows
DELETE FROM documents WHERE id IN (SELECT d.id FROM documents d WHERE d.task_id = @task_id LIMIT @most);
