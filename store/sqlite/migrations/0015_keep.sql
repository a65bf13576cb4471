-- +goose Up

-- Tasks whose work has landed, or that a person put away, by when that was: these
-- are forgotten when they are old. emptied says that what the sessions and checks
-- of a task wrote is gone already.
ALTER TABLE tasks ADD COLUMN emptied BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX tasks_over ON tasks (coalesce(archived, ended_at)) WHERE stage = 'ended' AND (outcome = 'done' OR archived IS NOT NULL);
CREATE INDEX tasks_full ON tasks (coalesce(archived, ended_at)) WHERE stage = 'ended' AND (outcome = 'done' OR archived IS NOT NULL) AND NOT emptied;

-- +goose StatementBegin
CREATE TRIGGER tasks_resumed AFTER UPDATE OF stage ON tasks WHEN new.emptied AND new.stage <> 'ended' BEGIN
  UPDATE tasks SET emptied = FALSE WHERE id = new.id;
END;
-- +goose StatementEnd

-- Ended tasks of all projects by how they ended, the newest found first.
CREATE INDEX tasks_by_outcome ON tasks (outcome, id) WHERE stage = 'ended';
