-- +goose Up

-- The most bytes that a session's agent had in use; 0 where that is unknown.
ALTER TABLE sessions ADD COLUMN memory INTEGER NOT NULL DEFAULT 0;

-- What a session of an agent takes, as the sessions that have ended show.
CREATE TABLE memory_used (
  agent TEXT    NOT NULL PRIMARY KEY,
  bytes INTEGER NOT NULL
) WITHOUT ROWID;
