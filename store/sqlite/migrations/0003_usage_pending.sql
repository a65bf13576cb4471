-- +goose Up

-- What each session used, apart from the session's own row, which is wide: a
-- year's days are summed up from this table alone. A session counts on the day
-- it was made, which never changes.
CREATE TABLE usages (
  made_at       INTEGER NOT NULL,
  session_id    INTEGER NOT NULL REFERENCES sessions (id),
  project_id    INTEGER NOT NULL,
  task_id       INTEGER NOT NULL,
  agent         TEXT    NOT NULL,
  model         TEXT    NOT NULL,
  input_tokens  INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cache_read    INTEGER NOT NULL,
  cache_write   INTEGER NOT NULL,
  turns         INTEGER NOT NULL,
  cost_usd      REAL    NOT NULL,
  PRIMARY KEY (made_at, session_id)
) WITHOUT ROWID;
INSERT INTO usages
SELECT coalesce(created_at, 0), id, project_id, task_id, agent, model,
  coalesce(json_extract(usage, '$.input_tokens'), 0), coalesce(json_extract(usage, '$.output_tokens'), 0),
  coalesce(json_extract(usage, '$.cache_read_tokens'), 0), coalesce(json_extract(usage, '$.cache_write_tokens'), 0),
  coalesce(json_extract(usage, '$.turns'), 0), coalesce(json_extract(usage, '$.cost_usd'), 0)
FROM sessions;

-- Tasks that wait or are queued, in the order in which people see them. waits_on
-- is NULL unless the task is waiting, and '' while nobody has looked at it.
ALTER TABLE tasks ADD COLUMN waits_on TEXT;
UPDATE tasks SET waits_on = coalesce(json_extract(wait, '$.on'), '') WHERE stage = 'waiting';
CREATE INDEX tasks_by_wait ON tasks (project_id, waits_on) WHERE waits_on IS NOT NULL;
CREATE INDEX tasks_pending ON tasks (priority DESC, id, project_id, waits_on) WHERE stage IN ('waiting', 'queued');
CREATE INDEX tasks_ended ON tasks (project_id, outcome, archived) WHERE stage = 'ended';
