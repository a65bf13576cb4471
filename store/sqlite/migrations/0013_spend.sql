-- +goose Up

-- Counters of what was spent. The scope is a subject, such as task/12, project/3
-- or account/ann, or what reports sum up: usage/<project>/<agent>/<model>. The
-- day is a UTC date, a UTC hour such as h2026-03-04T05, or empty for a total. The
-- cost is in billionths of a dollar, so that sums are exact. Estimated counts the
-- sessions whose cost is an estimate.
CREATE TABLE spend (
  day         TEXT    NOT NULL,
  scope       TEXT    NOT NULL,
  cost        INTEGER NOT NULL,
  input       INTEGER NOT NULL,
  output      INTEGER NOT NULL,
  cache_read  INTEGER NOT NULL,
  cache_write INTEGER NOT NULL,
  turns       INTEGER NOT NULL,
  sessions    INTEGER NOT NULL,
  estimated   INTEGER NOT NULL,
  PRIMARY KEY (day, scope)
) WITHOUT ROWID;

-- What sessions have spent so far counts on the day on which they last wrote.
INSERT INTO spend
SELECT c.day, c.scope, sum(CAST(round(u.cost_usd * 1e9) AS INTEGER)), sum(u.input_tokens), sum(u.output_tokens),
  sum(u.cache_read), sum(u.cache_write), sum(u.turns), count(*), 0
FROM usages u JOIN (
  SELECT id, '' AS day, 'task/' || task_id AS scope FROM sessions
  UNION ALL SELECT id, date(coalesce(ended_at, output_at, created_at, 0) / 1000000000, 'unixepoch'), 'project/' || project_id FROM sessions
  UNION ALL SELECT id, date(coalesce(ended_at, output_at, created_at, 0) / 1000000000, 'unixepoch'), 'account/' || agent FROM sessions
  UNION ALL SELECT id, date(coalesce(created_at, 0) / 1000000000, 'unixepoch'), 'usage/' || project_id || '/' || agent || '/' || model FROM sessions
  UNION ALL SELECT id, strftime('h%Y-%m-%dT%H', coalesce(created_at, 0) / 1000000000, 'unixepoch'), 'usage/' || project_id || '/' || agent || '/' || model FROM sessions
) c ON c.id = u.session_id
GROUP BY c.day, c.scope;

ALTER TABLE usages ADD COLUMN estimated INTEGER NOT NULL DEFAULT 0;

-- What a session may spend is reserved while it runs.
ALTER TABLE sessions ADD COLUMN budget REAL NOT NULL DEFAULT 0;
UPDATE sessions SET budget = coalesce((
  SELECT CAST(w.spec ->> '$.budget' AS REAL) FROM work w WHERE w.kind = 'session.run' AND w.session_id = sessions.id
), 0) WHERE live;
