-- Projects.

-- name: PutProject :execlastid
INSERT INTO projects (
  id, prefix, path, last_task, created_at, paused_at, paused_tracks, strikes, rules, policy, needs, git, removal, earlier
) VALUES (
  coalesce(sqlc.narg('id'), (SELECT max(f.last, coalesce((SELECT max(x.id) FROM projects x), 0)) + 1 FROM floors f WHERE f.name = 'projects')), @prefix, @path, @last_task, @created_at, @paused_at, @paused_tracks, @strikes,
  @rules, @policy, @needs, @git, @removal, @earlier
)
ON CONFLICT (id) DO UPDATE SET
  prefix = excluded.prefix, path = excluded.path,
  last_task = excluded.last_task, created_at = excluded.created_at, paused_at = excluded.paused_at,
  paused_tracks = excluded.paused_tracks, strikes = excluded.strikes,
  rules = excluded.rules, policy = excluded.policy, needs = excluded.needs,
  git = excluded.git, removal = excluded.removal, earlier = excluded.earlier;

-- name: Project :one
SELECT * FROM projects WHERE id = @id;

-- name: ProjectByPrefix :one
SELECT * FROM projects WHERE prefix = @prefix;

-- name: ProjectByEarlier :one
SELECT * FROM projects WHERE EXISTS (SELECT 1 FROM json_each(projects.earlier) e WHERE e.value = CAST(@prefix AS TEXT)) LIMIT 1;

-- name: ProjectByPath :one
SELECT * FROM projects WHERE path = @path;

-- name: Projects :many
SELECT * FROM projects ORDER BY prefix;

-- name: SomeProjects :many
SELECT * FROM projects WHERE id IN (SELECT value FROM json_each(CAST(@ids AS TEXT)));
