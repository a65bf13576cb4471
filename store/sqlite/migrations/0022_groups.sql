-- +goose Up

-- Groups of tasks. A group is removed with its last task.
CREATE TABLE task_groups (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id),
  name       TEXT    NOT NULL,
  title      TEXT    NOT NULL,
  kind       TEXT    NOT NULL,
  created_by TEXT    NOT NULL,
  created_at INTEGER,
  UNIQUE (project_id, name)
);

ALTER TABLE tasks ADD COLUMN group_id INTEGER GENERATED ALWAYS AS (details ->> '$.group') VIRTUAL;
ALTER TABLE tasks ADD COLUMN flagged BOOLEAN GENERATED ALWAYS AS (details ->> '$.flagged') VIRTUAL;
CREATE INDEX tasks_by_group ON tasks (group_id, id) WHERE group_id IS NOT NULL;
CREATE INDEX tasks_of_groups ON tasks (group_id, stage, outcome, waits_on, lane_project, lane_track, lane_agent) WHERE group_id IS NOT NULL;
CREATE INDEX tasks_flagged ON tasks (id) WHERE flagged;

-- The labels of tasks, for lists by label. Triggers copy them from the tasks.
CREATE TABLE task_labels (
  label   TEXT    NOT NULL,
  task_id INTEGER NOT NULL,
  PRIMARY KEY (label, task_id)
) WITHOUT ROWID;
CREATE INDEX task_labels_by_task ON task_labels (task_id);

-- +goose StatementBegin
CREATE TRIGGER tasks_labelled AFTER INSERT ON tasks WHEN new.details ->> '$.labels' IS NOT NULL BEGIN
  INSERT INTO task_labels (label, task_id) SELECT DISTINCT value, new.id FROM json_each(new.details, '$.labels');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER tasks_relabelled AFTER UPDATE OF details ON tasks WHEN old.details ->> '$.labels' IS NOT new.details ->> '$.labels' BEGIN
  DELETE FROM task_labels WHERE task_id = new.id;
  INSERT INTO task_labels (label, task_id)
  SELECT DISTINCT value, new.id FROM json_each(coalesce(new.details, '{}'), '$.labels');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER tasks_left_group AFTER UPDATE OF details ON tasks WHEN old.group_id IS NOT NULL AND old.group_id IS NOT new.group_id BEGIN
  DELETE FROM task_groups WHERE id = old.group_id AND NOT EXISTS (SELECT 1 FROM tasks t WHERE t.group_id = old.group_id);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER tasks_dropped AFTER DELETE ON tasks BEGIN
  DELETE FROM task_labels WHERE task_id = old.id;
  DELETE FROM noted WHERE task_id = old.id;
  DELETE FROM seen WHERE task_id = old.id;
  DELETE FROM task_groups WHERE id = old.group_id AND NOT EXISTS (SELECT 1 FROM tasks t WHERE t.group_id = old.group_id);
END;
-- +goose StatementEnd

-- The newest event of each task that a person cares about, and up to which event a
-- person has seen the task.
CREATE TABLE noted (
  task_id INTEGER PRIMARY KEY,
  seq     INTEGER NOT NULL
);
CREATE TABLE seen (
  task_id INTEGER NOT NULL,
  actor   TEXT    NOT NULL,
  seq     INTEGER NOT NULL,
  PRIMARY KEY (task_id, actor)
) WITHOUT ROWID;

-- +goose StatementBegin
CREATE TRIGGER events_noted AFTER INSERT ON events
WHEN new.task_id <> 0 AND new.kind IN ('question.asked', 'task.ended', 'task.stage', 'message.failed') BEGIN
  INSERT INTO noted (task_id, seq)
  SELECT t.id, new.seq FROM tasks t
  WHERE t.id = new.task_id AND (new.kind <> 'task.stage' OR t.stage IN ('held', 'review')) AND new.reason NOT LIKE 'cancelled%'
  ON CONFLICT (task_id) DO UPDATE SET seq = excluded.seq;
END;
-- +goose StatementEnd
