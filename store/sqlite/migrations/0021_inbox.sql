-- +goose Up

-- Entries of the inbox that a person hides until a time or an event, by the id of
-- the entry. The entries themselves are derived. mark differs if the same thing
-- happens again, and after_seq is the newest event at the time of the request.
CREATE TABLE snoozes (
  entry      TEXT    NOT NULL PRIMARY KEY,
  mark       TEXT    NOT NULL,
  project_id INTEGER NOT NULL,
  until      INTEGER,
  event      TEXT    NOT NULL,
  task_id    INTEGER NOT NULL,
  after_seq  INTEGER NOT NULL,
  actor      TEXT    NOT NULL,
  at         INTEGER
) WITHOUT ROWID;

-- Tasks that wait for a person, and ended tasks that are not archived. The inbox
-- reads only these, however many tasks are queued, done or archived.
CREATE INDEX tasks_for_person ON tasks (priority DESC, id, project_id) WHERE waits_on = 'person';
CREATE INDEX tasks_unarchived ON tasks (outcome, id) WHERE stage = 'ended' AND archived IS NULL;

-- When the limit was reached.
ALTER TABLE agent_limits ADD COLUMN since INTEGER;
