-- +goose Up

-- What is counted as it changes, because reading it would cost as much as the
-- history is long. Triggers keep it, so it cannot be wrong.

-- How many tasks of a project ended in each way, and how many of them are put
-- away.
CREATE TABLE ended_tasks (
  project_id INTEGER NOT NULL,
  outcome    TEXT    NOT NULL,
  archived   BOOLEAN NOT NULL,
  n          INTEGER NOT NULL,
  PRIMARY KEY (project_id, outcome, archived)
) WITHOUT ROWID;
INSERT INTO ended_tasks (project_id, outcome, archived, n)
SELECT project_id, outcome, archived IS NOT NULL, count(*) FROM tasks WHERE stage = 'ended' GROUP BY 1, 2, 3;

-- +goose StatementBegin
CREATE TRIGGER tasks_added AFTER INSERT ON tasks WHEN new.stage = 'ended' BEGIN
  INSERT INTO ended_tasks (project_id, outcome, archived, n) VALUES (new.project_id, new.outcome, new.archived IS NOT NULL, 1)
  ON CONFLICT (project_id, outcome, archived) DO UPDATE SET n = n + 1;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER tasks_changed AFTER UPDATE OF project_id, stage, outcome, archived ON tasks
WHEN (old.stage = 'ended' OR new.stage = 'ended')
  AND (old.project_id, old.stage, old.outcome, old.archived IS NULL) IS NOT (new.project_id, new.stage, new.outcome, new.archived IS NULL) BEGIN
  UPDATE ended_tasks SET n = n - 1
  WHERE old.stage = 'ended' AND project_id = old.project_id AND outcome = old.outcome AND archived = (old.archived IS NOT NULL);
  INSERT INTO ended_tasks (project_id, outcome, archived, n)
  SELECT new.project_id, new.outcome, new.archived IS NOT NULL, 1 WHERE new.stage = 'ended'
  ON CONFLICT (project_id, outcome, archived) DO UPDATE SET n = n + 1;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER tasks_removed AFTER DELETE ON tasks WHEN old.stage = 'ended' BEGIN
  UPDATE ended_tasks SET n = n - 1
  WHERE project_id = old.project_id AND outcome = old.outcome AND archived = (old.archived IS NOT NULL);
END;
-- +goose StatementEnd

-- How many bytes the output of a session takes here, when its output was
-- removed because it was too old or too much, and whether its output was put into
-- larger blocks after its end.
ALTER TABLE sessions ADD COLUMN kept INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN emptied_at INTEGER;
ALTER TABLE sessions ADD COLUMN packed BOOLEAN NOT NULL DEFAULT FALSE;
UPDATE sessions SET kept = (SELECT coalesce(sum(length(o.data)), 0) FROM outputs o WHERE o.session_id = sessions.id);
CREATE INDEX sessions_unpacked ON sessions (ended_at) WHERE ended_at IS NOT NULL AND NOT packed AND kept > 0;

-- The same of all sessions together.
CREATE TABLE output_size (total INTEGER NOT NULL);
INSERT INTO output_size SELECT coalesce(sum(kept), 0) FROM sessions;

-- +goose StatementBegin
CREATE TRIGGER outputs_added AFTER INSERT ON outputs BEGIN
  UPDATE sessions SET kept = kept + length(new.data) WHERE id = new.session_id;
  UPDATE output_size SET total = total + length(new.data);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER outputs_removed AFTER DELETE ON outputs BEGIN
  UPDATE sessions SET kept = kept - length(old.data) WHERE id = old.session_id;
  UPDATE output_size SET total = total - length(old.data);
END;
-- +goose StatementEnd
