-- +goose Up

-- The versions of the documents of flows. The text is the last column, so that a
-- list of versions does not read it.
CREATE TABLE documents (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  task_id INTEGER NOT NULL REFERENCES tasks (id), -- the flow
  name    TEXT    NOT NULL,
  version INTEGER NOT NULL,
  size    INTEGER NOT NULL, -- bytes of the text
  actor   TEXT    NOT NULL,
  step    TEXT    NOT NULL,
  at      INTEGER,
  text    TEXT    NOT NULL,
  UNIQUE (task_id, name, version)
);

-- The flows, and the steps of a flow. The index of parents finds the steps.
ALTER TABLE tasks ADD COLUMN flow TEXT GENERATED ALWAYS AS (details ->> '$.flow.kind') VIRTUAL;
ALTER TABLE tasks ADD COLUMN step TEXT GENERATED ALWAYS AS (details ->> '$.step.key') VIRTUAL;
CREATE INDEX tasks_flows ON tasks (id, flow) WHERE flow IS NOT NULL;
CREATE INDEX tasks_flows_in ON tasks (project_id, id, flow) WHERE flow IS NOT NULL;

-- The ended tasks that were created from a template, with everything that the
-- statistics of templates read from a task.
ALTER TABLE tasks ADD COLUMN template TEXT GENERATED ALWAYS AS (details ->> '$.template') VIRTUAL;
CREATE INDEX tasks_by_template ON tasks (project_id, template, outcome, model, created_at, ended_at) WHERE template IS NOT NULL AND stage = 'ended';

-- Schedules create tasks again and again. Their ids are never used again, because
-- tasks name them.
CREATE TABLE schedules (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id),
  name       TEXT    NOT NULL,
  next_at    INTEGER,
  paused_at  INTEGER,
  details    TEXT    NOT NULL, -- the fields of coppice.ScheduleDetails, as JSON
  UNIQUE (project_id, name)
);

-- +goose StatementBegin
CREATE TRIGGER schedules_removed AFTER DELETE ON schedules BEGIN
  DELETE FROM timers WHERE kind = 'schedule' AND id = CAST(old.id AS TEXT);
END;
-- +goose StatementEnd

-- The tasks that a schedule created.
ALTER TABLE tasks ADD COLUMN schedule INTEGER GENERATED ALWAYS AS (details ->> '$.schedule') VIRTUAL;
CREATE INDEX tasks_by_schedule ON tasks (schedule, id) WHERE schedule IS NOT NULL;
