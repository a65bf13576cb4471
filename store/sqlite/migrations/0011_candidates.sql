-- +goose Up

-- A commit that a landing would put on its branch. A landing has the one in force
-- and those before it; a landing without one has yet to be merged.
CREATE TABLE candidates (
  id          INTEGER PRIMARY KEY,
  landing_id  INTEGER NOT NULL REFERENCES landings (id),
  base        TEXT    NOT NULL,
  tree        TEXT    NOT NULL,
  commit_hash TEXT    NOT NULL,
  green       BOOLEAN NOT NULL,
  pushed      BOOLEAN NOT NULL,
  created_at  INTEGER
);
CREATE INDEX candidates_by_landing ON candidates (landing_id, id);
INSERT INTO candidates (landing_id, base, tree, commit_hash, green, pushed, created_at)
SELECT id, base, tree, commit_hash, green, FALSE, created_at FROM landings WHERE base <> '' OR commit_hash <> '' OR green ORDER BY id;

ALTER TABLE landings ADD COLUMN candidate_id INTEGER NOT NULL DEFAULT 0;
UPDATE landings SET candidate_id = coalesce((SELECT c.id FROM candidates c WHERE c.landing_id = landings.id), 0);
ALTER TABLE landings DROP COLUMN base;
ALTER TABLE landings DROP COLUMN tree;
ALTER TABLE landings DROP COLUMN commit_hash;
ALTER TABLE landings DROP COLUMN green;

-- Landings as they are read: with the candidate in force.
CREATE VIEW current_landings AS
SELECT l.*,
  CAST(coalesce(c.base, '') AS TEXT) AS base, CAST(coalesce(c.tree, '') AS TEXT) AS tree, CAST(coalesce(c.commit_hash, '') AS TEXT) AS commit_hash,
  CAST(coalesce(c.green, FALSE) AS BOOLEAN) AS green, CAST(coalesce(c.pushed, FALSE) AS BOOLEAN) AS pushed, c.created_at AS merged_at
FROM landings l LEFT JOIN candidates c ON c.id = l.candidate_id;
