-- Requests to subjects.

-- name: PutAsk :execlastid
INSERT INTO asks (
  id, subject_kind, subject_id, project_id, verb, text, args, author, asked_at, settled_at, outcome
) VALUES (
  sqlc.narg('id'), @subject_kind, @subject_id, @project_id, @verb, @text, @args, @author, @asked_at, @settled_at, @outcome
)
ON CONFLICT (id) DO UPDATE SET
  subject_kind = excluded.subject_kind, subject_id = excluded.subject_id, project_id = excluded.project_id, verb = excluded.verb,
  text = excluded.text, args = excluded.args, author = excluded.author, asked_at = excluded.asked_at,
  settled_at = excluded.settled_at, outcome = excluded.outcome;

-- name: OpenAsks :many
SELECT * FROM asks WHERE subject_kind = @subject_kind AND subject_id = @subject_id AND settled_at IS NULL ORDER BY id;

-- name: AllOpenAsks :many
SELECT * FROM asks WHERE settled_at IS NULL ORDER BY id;

-- name: AsksOf :many
SELECT * FROM asks WHERE project_id = @project_id AND subject_kind = @subject_kind AND subject_id = @subject_id ORDER BY id;

-- name: TrimAsks :execrows
DELETE FROM asks WHERE id IN (SELECT a.id FROM asks a WHERE a.settled_at < @before LIMIT @most);

-- name: ForgetAsks :exec
DELETE FROM asks WHERE project_id = @project_id;
