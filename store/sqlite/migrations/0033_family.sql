-- +goose Up

-- The tasks that the sessions of a task created.
ALTER TABLE tasks ADD COLUMN parent INTEGER GENERATED ALWAYS AS (details ->> '$.parent') VIRTUAL;
CREATE INDEX tasks_by_parent ON tasks (parent, id) WHERE parent IS NOT NULL;

-- The tasks for which the agent of a session waits, as JSON.
ALTER TABLE sessions ADD COLUMN waits TEXT;

-- When the agent that asked a question no longer waits for the answer.
ALTER TABLE questions ADD COLUMN until INTEGER;
