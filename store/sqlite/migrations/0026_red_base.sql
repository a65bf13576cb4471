-- +goose Up

-- The tree of the base below a candidate that a check refused, until it is known
-- whether the base fails the same check. The oldest landing runs it there, and all
-- others on the same base wait for its result.
ALTER TABLE landings ADD COLUMN red_on TEXT NOT NULL DEFAULT '';
CREATE INDEX landings_red ON landings (project_id, red_on, id) WHERE red_on <> '' AND ended_at IS NULL;

DROP VIEW current_landings;
CREATE VIEW current_landings AS
SELECT l.*,
  CAST(coalesce(c.base, '') AS TEXT) AS base, CAST(coalesce(c.tree, '') AS TEXT) AS tree, CAST(coalesce(c.commit_hash, '') AS TEXT) AS commit_hash,
  CAST(coalesce(c.green, FALSE) AS BOOLEAN) AS green, CAST(coalesce(c.pushed, FALSE) AS BOOLEAN) AS pushed, c.created_at AS merged_at,
  CAST(coalesce(c.rules, '') AS TEXT) AS rules, CAST(coalesce(c.review, '') AS TEXT) AS review
FROM landings l LEFT JOIN candidates c ON c.id = l.candidate_id;

-- The check ran on the base, not on a candidate.
ALTER TABLE checks ADD COLUMN on_base BOOLEAN NOT NULL DEFAULT FALSE;

-- Tasks that wait for a person because the base fails their checks as well. When
-- the base has moved, the first of them try again.
CREATE INDEX tasks_red_base ON tasks (project_id, stage_at) WHERE waits_on = 'person' AND json_extract(failure, '$.class') = 'base';
