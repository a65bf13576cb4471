-- +goose Up

-- What is remembered of a session's output to hide secrets that span several
-- pieces, as JSON. It belongs to the session's cursor. A session without a row
-- has nothing to remember.
CREATE TABLE masks (
  session_id INTEGER PRIMARY KEY REFERENCES sessions (id),
  state      TEXT NOT NULL
);
