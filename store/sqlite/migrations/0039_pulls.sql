-- +goose Up

-- The pull requests of tasks.
CREATE TABLE pulls (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id),
  task_id    INTEGER NOT NULL UNIQUE REFERENCES tasks (id),
  number     INTEGER NOT NULL,
  hot_until  INTEGER,
  ended_at   INTEGER,
  mark       TEXT    NOT NULL, -- coppice.PullMark, as JSON: lists read only this
  details    TEXT    NOT NULL -- the fields of coppice.PullDetails, as JSON
);
CREATE INDEX pulls_open ON pulls (project_id, id) WHERE ended_at IS NULL;
CREATE INDEX pulls_by_number ON pulls (project_id, number);

-- The tasks that have, or had, a pull request.
ALTER TABLE tasks ADD COLUMN pull INTEGER GENERATED ALWAYS AS (details ->> '$.pull') VIRTUAL;
CREATE INDEX tasks_pulls ON tasks (id) WHERE pull IS NOT NULL;
CREATE INDEX tasks_pulls_in ON tasks (project_id, id) WHERE pull IS NOT NULL;

-- What Coppice remembers about reading the forge of a project.
CREATE TABLE forges (
  project_id INTEGER PRIMARY KEY REFERENCES projects (id),
  next_at    INTEGER,
  details    TEXT NOT NULL -- the fields of coppice.ForgeDetails, as JSON
);

-- The history of reactions. The key names the event, which is handled once.
CREATE TABLE reactions (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id),
  task_id    INTEGER NOT NULL, -- 0 for an event of the whole project
  event_key  TEXT    NOT NULL,
  at         INTEGER,
  details    TEXT    NOT NULL, -- the fields of coppice.ReactedDetails, as JSON
  UNIQUE (project_id, task_id, event_key)
);
CREATE INDEX reactions_by_task ON reactions (task_id, id);
