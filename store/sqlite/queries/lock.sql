-- Locks and the requests for them. Both are read with their session.

-- name: PutLock :exec
INSERT INTO locks (project_id, session_id, name, reason, ttl, acquired_at, expires_at)
VALUES (@project_id, @session_id, @name, @reason, @ttl, @acquired_at, @expires_at)
ON CONFLICT (project_id, name, session_id) DO UPDATE SET
  reason = excluded.reason, ttl = excluded.ttl, acquired_at = excluded.acquired_at, expires_at = excluded.expires_at;

-- name: DropLock :execrows
DELETE FROM locks WHERE project_id = @project_id AND name = @name AND session_id = @session_id;

-- name: LocksIn :many
SELECT sqlc.embed(l), CAST(coalesce(s.key, '') AS TEXT) AS session, CAST(coalesce(t.key, '') AS TEXT) AS task,
  CAST(coalesce(s.state, '') AS TEXT) AS state, CAST(s.parked_at IS NOT NULL AS BOOLEAN) AS parked
FROM locks l LEFT JOIN sessions s ON s.id = l.session_id LEFT JOIN tasks t ON t.id = s.task_id
WHERE l.project_id = @project_id ORDER BY l.name, l.session_id;

-- name: PutLockRequest :execlastid
INSERT INTO lock_requests (id, project_id, session_id, call_id, names, reason, ttl, since, until, outcome, got, cycle, hint)
VALUES (sqlc.narg('id'), @project_id, @session_id, @call_id, @names, @reason, @ttl, @since, @until, @outcome, @got, @cycle, @hint)
ON CONFLICT (id) DO UPDATE SET
  project_id = excluded.project_id, session_id = excluded.session_id, call_id = excluded.call_id, names = excluded.names,
  reason = excluded.reason, ttl = excluded.ttl, since = excluded.since, until = excluded.until, outcome = excluded.outcome,
  got = excluded.got, cycle = excluded.cycle, hint = excluded.hint;

-- name: DropLockRequest :execrows
DELETE FROM lock_requests WHERE id = @id;

-- name: LockRequestsIn :many
SELECT sqlc.embed(l), CAST(coalesce(s.key, '') AS TEXT) AS session, CAST(coalesce(t.key, '') AS TEXT) AS task,
  CAST(coalesce(s.state, '') AS TEXT) AS state, CAST(s.parked_at IS NOT NULL AS BOOLEAN) AS parked
FROM lock_requests l LEFT JOIN sessions s ON s.id = l.session_id LEFT JOIN tasks t ON t.id = s.task_id
WHERE l.project_id = @project_id ORDER BY l.id;

-- name: LockRequestOf :one
SELECT outcome FROM lock_requests WHERE session_id = @session_id AND call_id = @call_id;

-- name: UsesLocks :one
SELECT CAST(EXISTS (SELECT 1 FROM locks l WHERE l.session_id = @session_id) OR EXISTS (SELECT 1 FROM lock_requests r WHERE r.session_id = @session_id) AS BOOLEAN);

-- name: GrowLockSeq :exec
INSERT INTO lock_seqs (project_id, seq) VALUES (@project_id, 1)
ON CONFLICT (project_id) DO UPDATE SET seq = seq + 1;

-- name: LockSeq :one
SELECT seq FROM lock_seqs WHERE project_id = @project_id;

-- name: ForgetLocks :exec
DELETE FROM locks WHERE project_id = @project_id;

-- name: ForgetLockRequests :exec
DELETE FROM lock_requests WHERE project_id = @project_id;

-- name: ForgetLockSeq :exec
DELETE FROM lock_seqs WHERE project_id = @project_id;
