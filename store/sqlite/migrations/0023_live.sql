-- +goose Up

-- When a check started, and the line of its log at which the first error starts.
ALTER TABLE checks ADD COLUMN started_at INTEGER;
ALTER TABLE checks ADD COLUMN error_line INTEGER NOT NULL DEFAULT 0;
UPDATE checks SET started_at = ended_at - took;
