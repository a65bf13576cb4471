-- +goose Up

-- The sources of issues of a project. Their ids are never used again.
CREATE TABLE trackers (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id),
  name       TEXT    NOT NULL,
  next_at    INTEGER,
  details    TEXT    NOT NULL, -- the fields of coppice.TrackerDetails, as JSON
  UNIQUE (project_id, name)
);

-- The issues that became tasks, or wait to become tasks. The unique name in the tracker
-- is what makes sure that none is imported twice.
CREATE TABLE issues (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id),
  tracker_id INTEGER NOT NULL REFERENCES trackers (id),
  issue      TEXT    NOT NULL,
  task_id    INTEGER NOT NULL, -- 0 before it is imported, and after its task was removed
  status     TEXT    NOT NULL, -- of its task; empty before it is imported
  next_at    INTEGER,
  ended_at   INTEGER,
  mark       TEXT    NOT NULL, -- coppice.IssueMark, as JSON: lists read only this
  details    TEXT    NOT NULL, -- the fields of coppice.IssueDetails, as JSON
  closed     INTEGER GENERATED ALWAYS AS (mark ->> '$.closed') VIRTUAL,
  UNIQUE (tracker_id, issue)
);
CREATE UNIQUE INDEX issues_by_task ON issues (task_id) WHERE task_id <> 0;
CREATE INDEX issues_due ON issues (project_id, next_at) WHERE next_at IS NOT NULL;
CREATE INDEX issues_by_status ON issues (tracker_id, status, id) WHERE ended_at IS NULL;
CREATE INDEX issues_known ON issues (tracker_id, id) WHERE ended_at IS NULL OR closed IS NULL;
CREATE INDEX issues_in ON issues (project_id, id);

-- Issues in short.
CREATE VIEW issue_marks AS SELECT id, project_id, tracker_id, issue, task_id, status, ended_at, mark, closed FROM issues;
