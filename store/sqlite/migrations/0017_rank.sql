-- +goose Up

-- Work is taken by importance, and the oldest first among equals. Open work of an
-- older version counts as the least important.
ALTER TABLE work ADD COLUMN rank INTEGER NOT NULL DEFAULT 9;
DROP INDEX work_takeable;
CREATE INDEX work_takeable ON work (pool, rank, id, kind) WHERE state = 'offered';
