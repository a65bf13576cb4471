-- +goose Up

-- Tasks between the start of a session and their landing. They are counted before
-- another task begins.
ALTER TABLE tasks ADD COLUMN in_flight BOOLEAN NOT NULL GENERATED ALWAYS AS (
  stage IN ('session', 'checking', 'landing') OR stage = 'queued' AND begun
) VIRTUAL;
CREATE INDEX tasks_in_flight ON tasks (project_id) WHERE in_flight;
