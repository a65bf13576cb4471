-- +goose Up

-- Bytes of a session's output beyond its limit, which are not kept.
ALTER TABLE sessions ADD COLUMN dropped INTEGER NOT NULL DEFAULT 0;
