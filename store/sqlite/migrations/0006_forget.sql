-- +goose Up

-- Bytes of a session's output beyond its limit, which are not kept.
ALTER TABLE sessions ADD COLUMN dropped INTEGER NOT NULL DEFAULT 0;

-- A project that a person removes: how, as JSON, until nothing of it is left.
ALTER TABLE projects ADD COLUMN removal TEXT;

-- The highest numbers that were given to what was forgotten since: the ids of
-- rows by their table, and the numbers of tasks by "keys " and their prefix. None
-- of them is given again.
CREATE TABLE floors (
  name TEXT PRIMARY KEY,
  last INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX trash_by_task ON trash (task_id);
