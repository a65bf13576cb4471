-- +goose Up

-- Who approved a landing's head, and when. A landing on which a person had acted
-- before stays approved.
ALTER TABLE landings ADD COLUMN approved_by TEXT NOT NULL DEFAULT '';
ALTER TABLE landings ADD COLUMN approved_at INTEGER;
UPDATE landings SET approved_by = 'person', approved_at = queued_at
WHERE ended_at IS NULL
  AND task_id IN (SELECT t.id FROM tasks t WHERE t.stage = 'landing')
  AND project_id IN (SELECT p.id FROM projects p WHERE json_extract(p.policy, '$.land.how') IN ('branch', 'review'));

-- The rules of land.ask by which a candidate was merged, and the one that asks for
-- a person's review.
ALTER TABLE candidates ADD COLUMN rules TEXT NOT NULL DEFAULT '';
ALTER TABLE candidates ADD COLUMN review TEXT NOT NULL DEFAULT '';

DROP VIEW current_landings;
CREATE VIEW current_landings AS
SELECT l.*,
  CAST(coalesce(c.base, '') AS TEXT) AS base, CAST(coalesce(c.tree, '') AS TEXT) AS tree, CAST(coalesce(c.commit_hash, '') AS TEXT) AS commit_hash,
  CAST(coalesce(c.green, FALSE) AS BOOLEAN) AS green, CAST(coalesce(c.pushed, FALSE) AS BOOLEAN) AS pushed, c.created_at AS merged_at,
  CAST(coalesce(c.rules, '') AS TEXT) AS rules, CAST(coalesce(c.review, '') AS TEXT) AS review
FROM landings l LEFT JOIN candidates c ON c.id = l.candidate_id;

-- Remarks of people on lines of a task's change. Drafts can be removed, and their
-- ids are not used again.
CREATE TABLE comments (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  task_id     INTEGER NOT NULL REFERENCES tasks (id),
  path        TEXT    NOT NULL,
  side        TEXT    NOT NULL,
  first_line  INTEGER NOT NULL,
  last_line   INTEGER NOT NULL,
  blob        TEXT    NOT NULL,
  code        TEXT    NOT NULL,
  text        TEXT    NOT NULL,
  author      TEXT    NOT NULL,
  state       TEXT    NOT NULL,
  message_id  INTEGER NOT NULL,
  created_at  INTEGER,
  sent_at     INTEGER,
  resolved_at INTEGER
);
CREATE INDEX comments_by_task ON comments (task_id, id);

-- The content of a file that a person has viewed.
CREATE TABLE viewed (
  task_id INTEGER NOT NULL REFERENCES tasks (id),
  author  TEXT    NOT NULL,
  path    TEXT    NOT NULL,
  blob    TEXT    NOT NULL,
  PRIMARY KEY (task_id, author, path)
) WITHOUT ROWID;
