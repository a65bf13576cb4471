-- +goose Up

-- What a project needs a person for, and the part of git's configuration that
-- the person confirmed. Both are JSON lists; NULL is an empty one.
ALTER TABLE projects ADD COLUMN needs TEXT;
ALTER TABLE projects ADD COLUMN git TEXT;
