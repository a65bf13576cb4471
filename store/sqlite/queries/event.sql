-- The log, its cursors, timers and agent limits. filter.go reads filtered events.

-- name: AddEvent :execlastid
INSERT INTO events (at, kind, project_id, task_id, session_id, about, subject, actor, reason, data)
VALUES (@at, @kind, @project_id, @task_id, @session_id, @about, @subject, @actor, @reason, @data);

-- name: FirstEvent :one
SELECT seq FROM events ORDER BY seq LIMIT 1;

-- name: FirstEventSince :one
SELECT e.seq FROM (SELECT o.seq, o.at FROM events o ORDER BY o.seq LIMIT CAST(@most AS INTEGER)) e
WHERE e.at >= CAST(@moment AS INTEGER) ORDER BY e.seq LIMIT 1;

-- name: DropEvents :execrows
DELETE FROM events WHERE seq <= @last;

-- name: Cursor :one
SELECT seq FROM cursors WHERE name = @name;

-- name: SlowestCursor :one
SELECT seq FROM cursors ORDER BY seq LIMIT 1;

-- name: SetCursor :exec
INSERT INTO cursors (name, seq) VALUES (@name, @seq) ON CONFLICT (name) DO UPDATE SET seq = excluded.seq;

-- name: SetTimer :exec
INSERT INTO timers (kind, id, at) VALUES (@kind, @id, @at)
ON CONFLICT (kind, id) DO UPDATE SET at = excluded.at WHERE at <> excluded.at;

-- name: DropTimer :exec
DELETE FROM timers WHERE kind = @kind AND id = @id;

-- name: DueTimers :many
SELECT * FROM timers WHERE at <= @now ORDER BY at, kind, id LIMIT CAST(@most AS INTEGER);

-- name: NextTimer :one
SELECT at FROM timers ORDER BY at LIMIT 1;

-- name: SetLimit :exec
INSERT INTO agent_limits (agent, until, class, text, since) VALUES (@agent, @until, @class, @text, @since)
ON CONFLICT (agent) DO UPDATE SET until = excluded.until, class = excluded.class, text = excluded.text, since = excluded.since;

-- name: DropLimit :exec
DELETE FROM agent_limits WHERE agent = @agent;

-- name: AgentLimits :many
SELECT * FROM agent_limits ORDER BY agent;
