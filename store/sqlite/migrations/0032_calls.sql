-- +goose Up

-- The answers of calls of tools that changed facts, until their session ends. A
-- call that is repeated gets the same answer.
CREATE TABLE calls (
  session_id INTEGER NOT NULL,
  id         TEXT    NOT NULL,
  answer     TEXT    NOT NULL,
  PRIMARY KEY (session_id, id)
) WITHOUT ROWID;

-- What the agent of a session last reported that it is doing.
ALTER TABLE sessions ADD COLUMN report TEXT NOT NULL DEFAULT '';
