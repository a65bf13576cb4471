-- +goose Up

-- What ended a check's command besides itself: a signal, or the time that a
-- command may take. A run that a signal ended judges nothing.
ALTER TABLE checks ADD COLUMN signal TEXT NOT NULL DEFAULT '';
ALTER TABLE checks ADD COLUMN timed_out BOOLEAN NOT NULL DEFAULT FALSE;

-- How often in a row the checks of a landing were killed.
ALTER TABLE landings ADD COLUMN killed INTEGER NOT NULL DEFAULT 0;
