-- Groups of tasks, and which tasks people have seen.

-- name: PutGroup :execlastid
INSERT INTO task_groups (id, project_id, name, title, kind, created_by, created_at)
VALUES (sqlc.narg('id'), @project_id, @name, @title, @kind, @created_by, @created_at)
ON CONFLICT (id) DO UPDATE SET
  project_id = excluded.project_id, name = excluded.name, title = excluded.title, kind = excluded.kind,
  created_by = excluded.created_by, created_at = excluded.created_at;

-- name: TaskGroup :one
SELECT * FROM task_groups WHERE id = @id;

-- name: TaskGroupByName :one
SELECT * FROM task_groups WHERE project_id = @project_id AND name = @name;

-- name: SomeGroups :many
SELECT * FROM task_groups WHERE id IN (SELECT value FROM json_each(CAST(@ids AS TEXT)));

-- name: ForgetGroups :exec
DELETE FROM task_groups WHERE project_id = @project_id;

-- name: PutSeen :exec
INSERT INTO seen (task_id, actor, seq) VALUES (@task_id, @actor, @seq)
ON CONFLICT (task_id, actor) DO UPDATE SET seq = max(seq, excluded.seq);
