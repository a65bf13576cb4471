-- +goose Up

-- The board lists ended tasks by their end.
CREATE INDEX tasks_by_end ON tasks (outcome, ended_at DESC, id DESC) WHERE stage = 'ended' AND archived IS NULL;
