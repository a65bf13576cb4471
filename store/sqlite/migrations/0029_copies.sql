-- +goose Up

-- The tasks that were forked from a task.
CREATE INDEX tasks_by_origin ON tasks (fork_of, id DESC) WHERE fork_of <> '';
