-- +goose Up

-- When a check started, and the line of its log at which the first error starts.
ALTER TABLE checks ADD COLUMN started_at INTEGER;
ALTER TABLE checks ADD COLUMN error_line INTEGER NOT NULL DEFAULT 0;
UPDATE checks SET started_at = ended_at - took;

-- Apps of workspaces that people started.
CREATE TABLE previews (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL,
  task_id    INTEGER NOT NULL,
  state      TEXT    NOT NULL,
  port       INTEGER NOT NULL,
  address    TEXT    NOT NULL,
  started_by TEXT    NOT NULL,
  created_at INTEGER,
  ready_at   INTEGER,
  ended_at   INTEGER,
  reason     TEXT    NOT NULL,
  fix        TEXT    NOT NULL,
  stop_at    INTEGER,
  stop_tries INTEGER NOT NULL
);
CREATE INDEX previews_by_task ON previews (task_id, id);
CREATE INDEX previews_live ON previews (id) WHERE state IN ('starting', 'ready');
