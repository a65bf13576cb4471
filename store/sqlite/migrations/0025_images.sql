-- +goose Up

-- Images that people attached to tasks and messages. An image belongs to one
-- task; before that, its task is 0. If several tasks use an image, each has its
-- own row, so that it can be removed with the task.
CREATE TABLE images (
  key      INTEGER PRIMARY KEY,
  id       TEXT NOT NULL, -- the hash of its bytes
  task_id  INTEGER NOT NULL,
  type     TEXT NOT NULL,
  size     INTEGER NOT NULL,
  at       INTEGER,
  data     BLOB NOT NULL
);
CREATE UNIQUE INDEX images_by_id ON images (id, task_id);
CREATE INDEX images_of_task ON images (task_id, key);

ALTER TABLE messages ADD COLUMN images TEXT;

-- The newest task of each feature, for the list of features.
CREATE INDEX tasks_by_feature ON tasks (project_id, feature, id) WHERE feature <> '';
