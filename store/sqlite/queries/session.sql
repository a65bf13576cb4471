-- Sessions and their output. A single session is read with its prompt. Lists are
-- read without prompts, which can be megabytes. output.go reads output.

-- name: PutSession :execlastid
INSERT INTO sessions (
  id, project_id, task_id, n, key, round, role, track, agent, model, resume, fork, screen, state, live, created_at,
  started_at, ended_at, output_at, conversation, exit_code, signal, failure, from_commit, head, stat, usage,
  cursor, stop_why, stop_tries, stop_at, warning, path, ports, verdict, answer, summary, dropped, parked_at, ready_at, parked_for, budget, memory, account, report, waits
) VALUES (
  coalesce(sqlc.narg('id'), (SELECT max(f.last, coalesce((SELECT max(x.id) FROM sessions x), 0)) + 1 FROM floors f WHERE f.name = 'sessions')), @project_id, @task_id, @n, @key, @round, @role, @track, @agent, @model, @resume, @fork, @screen, @state,
  @live, @created_at, @started_at, @ended_at, @output_at, @conversation, @exit_code, @signal, @failure,
  @from_commit, @head, @stat, @usage, @cursor, @stop_why, @stop_tries, @stop_at, @warning,
  @path, @ports, @verdict, @answer, @summary, @dropped, @parked_at, @ready_at, @parked_for, @budget, @memory, @account, @report, @waits
)
ON CONFLICT (id) DO UPDATE SET
  project_id = excluded.project_id, task_id = excluded.task_id, n = excluded.n, key = excluded.key,
  round = excluded.round, role = excluded.role, track = excluded.track, agent = excluded.agent,
  model = excluded.model, resume = excluded.resume, fork = excluded.fork, screen = excluded.screen, state = excluded.state, live = excluded.live,
  created_at = excluded.created_at, started_at = excluded.started_at, ended_at = excluded.ended_at,
  conversation = excluded.conversation, exit_code = excluded.exit_code, signal = excluded.signal,
  failure = excluded.failure, from_commit = excluded.from_commit, head = excluded.head, stat = excluded.stat,
  usage = excluded.usage, stop_why = excluded.stop_why, stop_tries = excluded.stop_tries,
  stop_at = excluded.stop_at, warning = excluded.warning, path = excluded.path, ports = excluded.ports,
  verdict = excluded.verdict, answer = excluded.answer, summary = excluded.summary, dropped = excluded.dropped,
  parked_at = excluded.parked_at, ready_at = excluded.ready_at, parked_for = excluded.parked_for, budget = excluded.budget,
  memory = excluded.memory, account = excluded.account, report = excluded.report, waits = excluded.waits;

-- name: PutPrompt :exec
INSERT INTO prompts (session_id, text) VALUES (@session_id, @text)
ON CONFLICT (session_id) DO UPDATE SET text = excluded.text WHERE text <> excluded.text;

-- name: Session :one
SELECT sqlc.embed(s), p.text FROM sessions s LEFT JOIN prompts p ON p.session_id = s.id WHERE s.id = @id;

-- name: SessionByKey :one
SELECT sqlc.embed(s), p.text FROM sessions s LEFT JOIN prompts p ON p.session_id = s.id WHERE s.key = @key;

-- name: SessionsOf :many
SELECT * FROM sessions WHERE task_id = @task_id ORDER BY id;

-- name: SessionsOfEach :many
SELECT * FROM sessions WHERE task_id IN (SELECT value FROM json_each(CAST(@tasks AS TEXT))) ORDER BY task_id, id;

-- name: SessionsSince :many
SELECT * FROM sessions
WHERE (ended_at IS NULL OR ended_at >= CAST(@moment AS INTEGER)) AND (CAST(@project AS INTEGER) = 0 OR project_id = CAST(@project AS INTEGER))
ORDER BY id DESC LIMIT CAST(@most AS INTEGER);

-- name: LastSession :one
SELECT * FROM sessions WHERE task_id = @task_id ORDER BY id DESC LIMIT 1;

-- name: LiveSessions :many
SELECT * FROM sessions WHERE live ORDER BY id;

-- name: Running :many
SELECT project_id, track, agent, count(*) AS n FROM sessions WHERE live AND parked_at IS NULL GROUP BY project_id, track, agent;

-- name: Progress :one
SELECT cursor, output_at, live FROM sessions WHERE id = @id;

-- name: MoveCursor :exec
UPDATE sessions SET cursor = @cursor, output_at = @output_at WHERE id = @id;

-- name: AddOutput :exec
INSERT OR IGNORE INTO outputs (session_id, place, at, kind, data) VALUES (@session_id, @place, @at, @kind, @data);

-- name: PutUsage :exec
INSERT INTO usages (
  made_at, session_id, project_id, task_id, agent, model, input_tokens, output_tokens, cache_read, cache_write, turns, cost_usd, estimated
) VALUES (
  @made_at, @session_id, @project_id, @task_id, @agent, @model, @input_tokens, @output_tokens, @cache_read, @cache_write, @turns, @cost_usd, @estimated
)
ON CONFLICT (made_at, session_id) DO UPDATE SET
  project_id = excluded.project_id, task_id = excluded.task_id, agent = excluded.agent, model = excluded.model,
  input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens, cache_read = excluded.cache_read,
  cache_write = excluded.cache_write, turns = excluded.turns, cost_usd = excluded.cost_usd, estimated = excluded.estimated;

-- name: LearnMemory :exec
INSERT INTO memory_used (agent, bytes) VALUES (@agent, @bytes)
ON CONFLICT (agent) DO UPDATE SET bytes = max(excluded.bytes, bytes - (bytes - excluded.bytes) / 4);

-- name: MemoryUsed :many
SELECT agent, bytes FROM memory_used;

-- name: Mask :one
SELECT state FROM masks WHERE session_id = @session_id;

-- name: PutMask :exec
INSERT INTO masks (session_id, state) VALUES (@session_id, @state)
ON CONFLICT (session_id) DO UPDATE SET state = excluded.state;

-- name: DropMask :exec
DELETE FROM masks WHERE session_id = @session_id;
