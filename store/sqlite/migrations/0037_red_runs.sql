-- +goose Up

-- The landing runs the check on the base that it is red on. It keeps doing so when a
-- check refuses an older landing on the same base.
ALTER TABLE landings ADD COLUMN red_runs BOOLEAN NOT NULL DEFAULT FALSE;
DROP INDEX landings_red;
CREATE INDEX landings_red ON landings (project_id, red_on, red_runs DESC, id) WHERE red_on <> '' AND ended_at IS NULL;

DROP VIEW current_landings;
CREATE VIEW current_landings AS
SELECT l.*,
  CAST(coalesce(c.base, '') AS TEXT) AS base, CAST(coalesce(c.tree, '') AS TEXT) AS tree, CAST(coalesce(c.commit_hash, '') AS TEXT) AS commit_hash,
  CAST(coalesce(c.green, FALSE) AS BOOLEAN) AS green, CAST(coalesce(c.pushed, FALSE) AS BOOLEAN) AS pushed, c.created_at AS merged_at,
  CAST(coalesce(c.rules, '') AS TEXT) AS rules, CAST(coalesce(c.review, '') AS TEXT) AS review
FROM landings l LEFT JOIN candidates c ON c.id = l.candidate_id;
