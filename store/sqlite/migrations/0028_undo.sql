-- +goose Up

-- What the options of a question mean, and whether several can be chosen.
ALTER TABLE questions ADD COLUMN descriptions TEXT;
ALTER TABLE questions ADD COLUMN several BOOLEAN NOT NULL DEFAULT FALSE;

-- The commit below the earlier landing that a landing takes off its branch.
ALTER TABLE landings ADD COLUMN reverts TEXT NOT NULL DEFAULT '';

DROP VIEW current_landings;
CREATE VIEW current_landings AS
SELECT l.*,
  CAST(coalesce(c.base, '') AS TEXT) AS base, CAST(coalesce(c.tree, '') AS TEXT) AS tree, CAST(coalesce(c.commit_hash, '') AS TEXT) AS commit_hash,
  CAST(coalesce(c.green, FALSE) AS BOOLEAN) AS green, CAST(coalesce(c.pushed, FALSE) AS BOOLEAN) AS pushed, c.created_at AS merged_at,
  CAST(coalesce(c.rules, '') AS TEXT) AS rules, CAST(coalesce(c.review, '') AS TEXT) AS review
FROM landings l LEFT JOIN candidates c ON c.id = l.candidate_id;

-- The tasks that were archived last.
CREATE INDEX tasks_by_archive ON tasks (archived DESC, id DESC) WHERE archived IS NOT NULL;
