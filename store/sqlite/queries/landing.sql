-- Landings and checks.

-- name: PutLanding :execlastid
INSERT INTO landings (
  id, project_id, task_id, session_id, round, head, created_at, candidate_id, verified, approved_by, approved_at, queue_id, queued_at,
  waits, tries, killed, retry_at, steps, ended_at, outcome, failure, evidence, red_on, red_runs, reverts
) VALUES (
  sqlc.narg('id'), @project_id, @task_id, @session_id, @round, @head, @created_at, @candidate_id,
  @verified, @approved_by, @approved_at, @queue_id, @queued_at, @waits, @tries, @killed, @retry_at, @steps, @ended_at, @outcome, @failure, @evidence, @red_on, @red_runs, @reverts
)
ON CONFLICT (id) DO UPDATE SET
  project_id = excluded.project_id, task_id = excluded.task_id, session_id = excluded.session_id,
  round = excluded.round, head = excluded.head, created_at = excluded.created_at, candidate_id = excluded.candidate_id, verified = excluded.verified,
  approved_by = excluded.approved_by, approved_at = excluded.approved_at,
  queue_id = excluded.queue_id, queued_at = excluded.queued_at, waits = excluded.waits, tries = excluded.tries, killed = excluded.killed,
  retry_at = excluded.retry_at, steps = excluded.steps,
  ended_at = excluded.ended_at, outcome = excluded.outcome, failure = excluded.failure,
  evidence = excluded.evidence, red_on = excluded.red_on, red_runs = excluded.red_runs, reverts = excluded.reverts;

-- name: PutCandidate :execlastid
INSERT INTO candidates (id, landing_id, base, tree, commit_hash, green, pushed, created_at, rules, review)
VALUES (sqlc.narg('id'), @landing_id, @base, @tree, @commit_hash, @green, @pushed, @created_at, @rules, @review)
ON CONFLICT (id) DO UPDATE SET
  landing_id = excluded.landing_id, base = excluded.base, tree = excluded.tree, commit_hash = excluded.commit_hash,
  green = excluded.green, pushed = excluded.pushed, created_at = excluded.created_at, rules = excluded.rules, review = excluded.review;

-- name: CandidatesOf :many
SELECT * FROM candidates WHERE landing_id = @landing_id ORDER BY id;

-- name: Landing :one
SELECT * FROM current_landings WHERE id = @id;

-- name: LandingsOf :many
SELECT * FROM current_landings WHERE task_id = @task_id ORDER BY id;

-- name: LastLanding :one
SELECT * FROM current_landings WHERE task_id = @task_id ORDER BY id DESC LIMIT 1;

-- name: LastLandings :many
SELECT * FROM current_landings WHERE id IN (
  SELECT max(l.id) FROM landings l WHERE l.task_id IN (SELECT value FROM json_each(CAST(@tasks AS TEXT))) GROUP BY l.task_id
);

-- name: QueuedLandings :many
SELECT * FROM current_landings
WHERE queue_id = @queue_id AND ended_at IS NULL AND queued_at IS NOT NULL
ORDER BY queued_at, id LIMIT CAST(@most AS INTEGER);

-- name: QueuedIDs :many
SELECT id FROM landings
WHERE queue_id = @queue_id AND ended_at IS NULL AND queued_at IS NOT NULL
ORDER BY queued_at, id LIMIT CAST(@most AS INTEGER);

-- name: FirstRed :one
SELECT id, task_id FROM landings
WHERE project_id = @project_id AND red_on = @red_on AND red_on <> '' AND ended_at IS NULL
ORDER BY red_runs DESC, id LIMIT 1;

-- name: BlockedTasks :many
SELECT id FROM tasks
WHERE project_id = @project_id AND waits_on = 'person' AND json_extract(failure, '$.class') = 'base'
ORDER BY stage_at LIMIT CAST(@most AS INTEGER);

-- name: PutCheck :execlastid
INSERT INTO checks (
  id, project_id, task_id, landing_id, tree, command, env, exit_code, signal, timed_out, took, started_at, ended_at, error_line, log, on_base
) VALUES (
  coalesce(sqlc.narg('id'), (SELECT max(f.last, coalesce((SELECT max(x.id) FROM checks x), 0)) + 1 FROM floors f WHERE f.name = 'checks')), @project_id, @task_id, @landing_id, @tree, @command, @env, @exit_code, @signal, @timed_out, @took, @started_at, @ended_at,
  @error_line, @log, @on_base
)
ON CONFLICT (id) DO UPDATE SET
  project_id = excluded.project_id, task_id = excluded.task_id, landing_id = excluded.landing_id,
  tree = excluded.tree, command = excluded.command, env = excluded.env, exit_code = excluded.exit_code,
  signal = excluded.signal, timed_out = excluded.timed_out, took = excluded.took, started_at = excluded.started_at,
  ended_at = excluded.ended_at, error_line = excluded.error_line, log = excluded.log, on_base = excluded.on_base;

-- name: Check :one
SELECT * FROM checks WHERE id = @id;

-- name: ChecksOn :many
SELECT * FROM checks WHERE id IN (
  SELECT max(c.id) FROM checks c WHERE c.project_id = @project_id AND c.tree = @tree AND c.signal = '' GROUP BY c.command, c.env
)
ORDER BY id;

-- The log is long, and the columns after it cost as much to read.
-- name: ChecksSince :many
SELECT c.id, c.project_id, c.task_id, c.landing_id, c.command, c.exit_code, c.took, c.ended_at FROM (
  SELECT x.id, x.project_id, x.task_id, x.landing_id, x.command, x.exit_code, x.took, x.ended_at FROM checks x
  WHERE CAST(@project AS INTEGER) = 0 OR x.project_id = CAST(@project AS INTEGER)
  ORDER BY x.id DESC LIMIT CAST(@most AS INTEGER)
) c
WHERE c.ended_at >= CAST(@moment AS INTEGER) ORDER BY c.id DESC;

-- name: ChecksOf :many
SELECT * FROM checks WHERE task_id = @task_id ORDER BY id;
