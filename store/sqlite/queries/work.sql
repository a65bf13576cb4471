-- Work. filter.go reads takeable work.

-- name: PutWork :execlastid
INSERT INTO work (
  id, kind, key, pool, subject, project_id, task_id, session_id, state, attempt, worker, lease_until, failure,
  offered_at, taken_at, finished_at, spec, result, rank
) VALUES (
  sqlc.narg('id'), @kind, @key, @pool, @subject, @project_id, @task_id, @session_id, @state, @attempt, @worker,
  @lease_until, @failure, @offered_at, @taken_at, @finished_at, @spec, @result, @rank
)
ON CONFLICT (id) DO UPDATE SET
  kind = excluded.kind, key = excluded.key, pool = excluded.pool, subject = excluded.subject, project_id = excluded.project_id,
  task_id = excluded.task_id, session_id = excluded.session_id, state = excluded.state,
  attempt = excluded.attempt, worker = excluded.worker, lease_until = excluded.lease_until,
  failure = excluded.failure, offered_at = excluded.offered_at, taken_at = excluded.taken_at,
  finished_at = excluded.finished_at, spec = excluded.spec, result = excluded.result, rank = excluded.rank;

-- name: Work :one
SELECT * FROM work WHERE id = @id;

-- name: WorkByKey :one
SELECT * FROM work WHERE key = @key;

-- name: UnsettledWork :many
SELECT * FROM work WHERE subject = @subject AND state IN ('offered', 'taken', 'finished') ORDER BY id;

-- name: OpenWork :many
SELECT * FROM work WHERE state IN ('offered', 'taken') AND state IN ('offered', 'taken', 'finished') AND kind = @kind ORDER BY id;

-- name: WorkHeldBy :many
SELECT * FROM work WHERE worker = @worker AND state = 'taken' ORDER BY id;

-- name: CountWork :many
SELECT state, count(*) AS n FROM work WHERE state IN ('offered', 'taken', 'finished') GROUP BY state;

-- name: TrimWork :execrows
DELETE FROM work WHERE id IN (
  SELECT w.id FROM work w WHERE w.state IN ('settled', 'cancelled') AND coalesce(w.finished_at, w.offered_at) < CAST(@before AS INTEGER) LIMIT @most
);
