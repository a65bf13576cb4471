-- +goose Up

-- The fields of coppice.TaskDetails, as JSON. A query that looks at one of them
-- gets a generated column.
ALTER TABLE tasks ADD COLUMN details TEXT;

-- What a session that answers ended with, as JSON.
ALTER TABLE sessions ADD COLUMN answer TEXT;
