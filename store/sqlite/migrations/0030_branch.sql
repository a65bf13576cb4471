-- +goose Up

-- The branches of tasks for which a name was chosen. No other task of the project
-- can have the same.
ALTER TABLE tasks ADD COLUMN branch TEXT GENERATED ALWAYS AS (details ->> '$.branch') VIRTUAL;
CREATE INDEX tasks_by_branch ON tasks (project_id, branch) WHERE branch IS NOT NULL;

-- The tasks whose sessions work in the person's own checkout, to find the one that
-- has not ended.
ALTER TABLE tasks ADD COLUMN checkout BOOLEAN GENERATED ALWAYS AS (details ->> '$.checkout') VIRTUAL;
CREATE INDEX tasks_in_checkout ON tasks (project_id, stage) WHERE checkout;
