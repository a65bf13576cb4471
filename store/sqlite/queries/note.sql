-- Notes: texts under keys.

-- name: Note :one
SELECT * FROM notes WHERE project_id = @project_id AND scope = @scope AND key = @key;

-- name: PutNote :exec
INSERT INTO notes (project_id, scope, key, version, size, actor, at, value)
VALUES (@project_id, @scope, @key, @version, @size, @actor, @at, @value)
ON CONFLICT (project_id, scope, key) DO UPDATE SET
  version = excluded.version, size = excluded.size, actor = excluded.actor, at = excluded.at, value = excluded.value;

-- name: DeleteNote :execrows
DELETE FROM notes WHERE project_id = @project_id AND scope = @scope AND key = @key;

-- name: NoteTotals :one
SELECT * FROM note_totals WHERE project_id = @project_id;

-- name: ProjectOfTask :one
SELECT project_id FROM tasks WHERE id = @id;

-- name: NotesOfScope :many
SELECT key FROM notes WHERE project_id = @project_id AND scope = @scope;

-- name: ForgetNotesOfScope :exec
DELETE FROM notes WHERE project_id = @project_id AND scope = @scope;

-- name: ForgetNotes :execrows
DELETE FROM notes WHERE id IN (SELECT n.id FROM notes n WHERE n.project_id = @project_id LIMIT @most);

-- name: ForgetNoteTotals :exec
DELETE FROM note_totals WHERE project_id = @project_id;
