-- +goose Up

-- Texts under keys, which sessions and people share. The value is the last column,
-- so that a list of keys does not read it.
CREATE TABLE notes (
  id         INTEGER PRIMARY KEY,
  project_id INTEGER NOT NULL,
  scope      TEXT    NOT NULL, -- project, task/<id> or flow/<id>
  key        TEXT    NOT NULL,
  version    INTEGER NOT NULL,
  size       INTEGER NOT NULL, -- bytes of the value
  actor      TEXT    NOT NULL,
  at         INTEGER,
  value      TEXT    NOT NULL
);
CREATE UNIQUE INDEX notes_by_key ON notes (project_id, scope, key);

-- How many notes a project has, their bytes with their keys, and the last version
-- that was used. A version is never used again, so the row stays until the project
-- is removed.
CREATE TABLE note_totals (
  project_id INTEGER PRIMARY KEY,
  notes      INTEGER NOT NULL,
  bytes      INTEGER NOT NULL,
  version    INTEGER NOT NULL
);

-- +goose StatementBegin
CREATE TRIGGER notes_added AFTER INSERT ON notes BEGIN
  INSERT INTO note_totals (project_id, notes, bytes, version) VALUES (new.project_id, 1, new.size + length(new.key), new.version)
  ON CONFLICT (project_id) DO UPDATE SET notes = notes + 1, bytes = bytes + excluded.bytes, version = max(version, excluded.version);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER notes_changed AFTER UPDATE ON notes BEGIN
  UPDATE note_totals SET bytes = bytes + new.size - old.size, version = max(version, new.version) WHERE project_id = new.project_id;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER notes_removed AFTER DELETE ON notes BEGIN
  UPDATE note_totals SET notes = notes - 1, bytes = bytes - old.size - length(old.key) WHERE project_id = old.project_id;
END;
-- +goose StatementEnd
