-- +goose Up

-- Since when a live session can only wait, since when it has what it waited for,
-- and how long it was parked before, in nanoseconds. A parked session does not
-- count against the limits.
ALTER TABLE sessions ADD COLUMN parked_at INTEGER;
ALTER TABLE sessions ADD COLUMN ready_at INTEGER;
ALTER TABLE sessions ADD COLUMN parked_for INTEGER NOT NULL DEFAULT 0;
DROP INDEX sessions_live_by_lane;
CREATE INDEX sessions_live_by_lane ON sessions (project_id, track, agent) WHERE live AND parked_at IS NULL;
