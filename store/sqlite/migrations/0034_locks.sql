-- +goose Up

-- The files, globs and trees that sessions have locked.
CREATE TABLE locks (
  project_id  INTEGER NOT NULL,
  session_id  INTEGER NOT NULL,
  name        TEXT    NOT NULL,
  reason      TEXT    NOT NULL,
  ttl         INTEGER NOT NULL,
  acquired_at INTEGER,
  expires_at  INTEGER,
  PRIMARY KEY (project_id, name, session_id)
) WITHOUT ROWID;
CREATE INDEX locks_by_session ON locks (session_id);

-- Requests for locks that wait, or whose answer an agent has not received yet.
CREATE TABLE lock_requests (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL,
  session_id INTEGER NOT NULL,
  call_id    TEXT    NOT NULL, -- the call that waits for it; empty between two calls
  names      TEXT    NOT NULL,
  reason     TEXT    NOT NULL,
  ttl        INTEGER NOT NULL,
  since      INTEGER,
  until      INTEGER,
  outcome    TEXT    NOT NULL, -- empty while it waits
  got        TEXT,
  cycle      TEXT,
  hint       TEXT    NOT NULL
);
CREATE INDEX lock_requests_by_project ON lock_requests (project_id, id);
CREATE INDEX lock_requests_by_session ON lock_requests (session_id);

-- A number for each project that grows with each change of its locks.
CREATE TABLE lock_seqs (
  project_id INTEGER PRIMARY KEY,
  seq        INTEGER NOT NULL
);
