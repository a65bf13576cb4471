-- +goose Up

-- The prefixes that a project had before it was renamed.
ALTER TABLE projects ADD COLUMN earlier TEXT;
