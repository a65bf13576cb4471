-- +goose Up

-- The queue of a branch on which work lands: where the branch was last seen, and
-- what a person must do before the next landing. The branch is empty for the
-- base of the project.
CREATE TABLE queues (
  id         INTEGER PRIMARY KEY,
  project_id INTEGER NOT NULL REFERENCES projects (id),
  branch     TEXT    NOT NULL,
  tip        TEXT    NOT NULL,
  needs      TEXT,
  UNIQUE (project_id, branch)
);
INSERT INTO queues (project_id, branch, tip, needs)
SELECT p.id, '', p.base_commit, (
  SELECT json_group_array(json(n.value)) FROM json_each(p.needs) n WHERE n.value ->> '$.kind' IN ('checkout', 'git', 'base')
) FROM projects p;
UPDATE projects SET needs = (
  SELECT json_group_array(json(n.value)) FROM json_each(projects.needs) n WHERE n.value ->> '$.kind' NOT IN ('checkout', 'git', 'base')
) WHERE needs IS NOT NULL;
ALTER TABLE projects DROP COLUMN base_commit;

-- The newest check of a project says in which environment judgements count.
ALTER TABLE projects DROP COLUMN check_env;
CREATE INDEX checks_by_project ON checks (project_id, id);

ALTER TABLE landings ADD COLUMN queue_id INTEGER NOT NULL DEFAULT 0;
UPDATE landings SET queue_id = (SELECT q.id FROM queues q WHERE q.project_id = landings.project_id) WHERE queued_at IS NOT NULL;
DROP INDEX landings_queued;
CREATE INDEX landings_queued ON landings (queue_id, queued_at, id) WHERE ended_at IS NULL AND queued_at IS NOT NULL;

-- Work belongs to the subject whose deciders offered it: to the queue when it is
-- about a landing that stands in one, otherwise to the task.
ALTER TABLE work ADD COLUMN subject TEXT NOT NULL DEFAULT '';
UPDATE work SET subject = 'task/' || task_id;
UPDATE work SET subject = 'queue/' || (SELECT q.id FROM queues q WHERE q.project_id = work.project_id)
WHERE state IN ('offered', 'taken', 'finished') AND kind IN ('land.merge', 'check.run', 'land.move') AND EXISTS (
  SELECT 1 FROM landings l WHERE l.task_id = work.task_id AND l.ended_at IS NULL AND l.queued_at IS NOT NULL
);
DROP INDEX work_unsettled;
CREATE INDEX work_unsettled ON work (subject, id) WHERE state IN ('offered', 'taken', 'finished');

ALTER TABLE events ADD COLUMN about TEXT NOT NULL DEFAULT '';

-- A subject has one timer. What expires in the trash wakes its task.
UPDATE timers SET kind = 'account' WHERE kind = 'agent';
INSERT OR IGNORE INTO timers (kind, id, at)
SELECT 'task', CAST(t.task_id AS TEXT), m.at FROM timers m JOIN trash t ON t.id = CAST(m.id AS INTEGER) WHERE m.kind = 'trash';
DELETE FROM timers WHERE kind IN ('trash', 'room');
