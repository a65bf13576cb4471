-- +goose Up

-- The firings of hooks. The runs of a lane are carried out one after another. The
-- newest ended runs of each project are kept, and those of landings that have not
-- ended.
CREATE TABLE hook_runs (
  id          INTEGER PRIMARY KEY,
  hook_key    TEXT    NOT NULL UNIQUE,
  project_id  INTEGER NOT NULL,
  task_id     INTEGER NOT NULL,
  landing_id  INTEGER NOT NULL,
  commit_hash TEXT    NOT NULL,
  event       TEXT    NOT NULL,
  lane        TEXT    NOT NULL,
  blocks      BOOLEAN NOT NULL,
  offered_at  INTEGER,
  ended_at    INTEGER,
  details     TEXT    NOT NULL
);
CREATE INDEX hook_runs_open ON hook_runs (project_id, blocks DESC, id) WHERE ended_at IS NULL;
CREATE INDEX hook_runs_lane ON hook_runs (lane, id) WHERE ended_at IS NULL;
CREATE INDEX hook_runs_in ON hook_runs (project_id, id);
CREATE INDEX hook_runs_of ON hook_runs (task_id);
CREATE INDEX hook_runs_landing ON hook_runs (landing_id, commit_hash) WHERE landing_id <> 0;
