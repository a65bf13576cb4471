-- +goose Up

-- What people and Coppice itself ask of a task, a queue, a project or an account.
-- A request is open until somebody has acted on it.
CREATE TABLE asks (
  id           INTEGER PRIMARY KEY,
  subject_kind TEXT    NOT NULL,
  subject_id   TEXT    NOT NULL,
  project_id   INTEGER NOT NULL,
  verb         TEXT    NOT NULL,
  text         TEXT    NOT NULL,
  args         TEXT,
  author       TEXT    NOT NULL,
  asked_at     INTEGER,
  settled_at   INTEGER,
  outcome      TEXT    NOT NULL
);
CREATE INDEX asks_open ON asks (subject_kind, subject_id, id) WHERE settled_at IS NULL;
CREATE INDEX asks_settled ON asks (settled_at) WHERE settled_at IS NOT NULL;
CREATE INDEX asks_by_project ON asks (project_id);

-- Until now they were flags of the task. A stop together with a retry was a
-- requeue. One note served all of them.
INSERT INTO asks (subject_kind, subject_id, project_id, verb, text, author, asked_at, outcome)
SELECT 'task', CAST(id AS TEXT), project_id, 'undo', '', 'person', stage_at, '' FROM tasks WHERE undo_asked
UNION ALL
SELECT 'task', CAST(id AS TEXT), project_id, 'requeue', retry_note, 'person', stage_at, '' FROM tasks WHERE stop_asked AND retry_asked
UNION ALL
SELECT 'task', CAST(id AS TEXT), project_id, 'retry', retry_note, 'person', stage_at, '' FROM tasks WHERE retry_asked AND NOT stop_asked
UNION ALL
SELECT 'task', CAST(id AS TEXT), project_id, 'continue', retry_note, 'person', stage_at, '' FROM tasks WHERE again_asked
UNION ALL
SELECT 'task', CAST(id AS TEXT), project_id, 'stop', '', 'person', stage_at, '' FROM tasks WHERE stop_asked AND NOT retry_asked
UNION ALL
SELECT 'task', CAST(id AS TEXT), project_id, 'land', '', 'person', stage_at, '' FROM tasks WHERE land_asked
UNION ALL
SELECT 'task', CAST(id AS TEXT), project_id, 'take', '', 'person', stage_at, '' FROM tasks WHERE take_asked
UNION ALL
SELECT 'task', CAST(id AS TEXT), project_id, 'give', retry_note, 'person', stage_at, '' FROM tasks WHERE give_asked;

ALTER TABLE tasks DROP COLUMN stop_asked;
ALTER TABLE tasks DROP COLUMN retry_asked;
ALTER TABLE tasks DROP COLUMN retry_note;
ALTER TABLE tasks DROP COLUMN land_asked;
ALTER TABLE tasks DROP COLUMN undo_asked;
ALTER TABLE tasks DROP COLUMN again_asked;
ALTER TABLE tasks DROP COLUMN take_asked;
ALTER TABLE tasks DROP COLUMN give_asked;
