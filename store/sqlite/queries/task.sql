-- Tasks, their dependencies and their lanes. filter.go reads filtered lists.

-- name: PutTask :execlastid
INSERT INTO tasks (
  id, project_id, num, key, title, priority, track, agent, model, checks, after_ids, not_before, category, steps, feature,
  budget, fork_of, created_at,
  created_by, stage, wait, next, round, sessions, begun,
  stage_at, outcome, failure, landed, ended_at, warning, lane_project, lane_track, lane_agent, folded, body, level, archived, waits_on, details
) VALUES (
  coalesce(sqlc.narg('id'), (SELECT max(f.last, coalesce((SELECT max(x.id) FROM tasks x), 0)) + 1 FROM floors f WHERE f.name = 'tasks')), @project_id, @num, @key, @title, @priority, @track, @agent, @model, @checks, @after_ids,
  @not_before, @category, @steps, @feature, @budget, @fork_of, @created_at, @created_by, @stage, @wait, @next, @round, @sessions, @begun, @stage_at, @outcome, @failure, @landed, @ended_at, @warning, @lane_project,
  @lane_track, @lane_agent, @folded, @body, @level, @archived, @waits_on, @details
)
ON CONFLICT (id) DO UPDATE SET
  project_id = excluded.project_id, num = excluded.num, key = excluded.key, title = excluded.title,
  priority = excluded.priority, track = excluded.track, agent = excluded.agent, model = excluded.model,
  checks = excluded.checks, after_ids = excluded.after_ids, not_before = excluded.not_before,
  category = excluded.category, steps = excluded.steps, feature = excluded.feature, budget = excluded.budget,
  fork_of = excluded.fork_of,
  created_at = excluded.created_at, created_by = excluded.created_by, stage = excluded.stage, wait = excluded.wait, next = excluded.next,
  round = excluded.round, sessions = excluded.sessions, begun = excluded.begun, stage_at = excluded.stage_at, outcome = excluded.outcome,
  failure = excluded.failure, landed = excluded.landed, ended_at = excluded.ended_at,
  warning = excluded.warning, lane_project = excluded.lane_project, lane_track = excluded.lane_track,
  lane_agent = excluded.lane_agent, folded = excluded.folded, body = excluded.body,
  level = excluded.level, archived = excluded.archived, waits_on = excluded.waits_on,
  details = excluded.details;

-- name: Task :one
SELECT * FROM tasks WHERE id = @id;

-- name: TaskByKey :one
SELECT * FROM tasks WHERE key = @key;

-- name: TaskOfBranch :one
SELECT key FROM tasks WHERE project_id = @project_id AND branch IN (SELECT value FROM json_each(CAST(@names AS TEXT))) LIMIT 1;

-- name: TaskBelowBranch :one
SELECT key FROM tasks WHERE project_id = @project_id AND branch >= CAST(@first AS TEXT) AND branch < CAST(@after AS TEXT) LIMIT 1;

-- name: OpenInCheckout :one
SELECT key FROM tasks WHERE checkout AND project_id = @project_id AND stage <> 'ended' AND id <> @id LIMIT 1;

-- name: AskedInCheckout :one
SELECT t.key FROM asks a JOIN tasks t ON t.id = CAST(a.subject_id AS INTEGER)
WHERE a.subject_kind = 'task' AND a.settled_at IS NULL AND t.checkout AND t.project_id = @project_id AND t.id <> @id LIMIT 1;

-- name: TaskAfter :one
SELECT after_ids FROM tasks WHERE id = @id;

-- name: AddDep :exec
INSERT OR IGNORE INTO task_deps (task_id, after_id) VALUES (@task_id, @after_id);

-- name: DropDeps :exec
DELETE FROM task_deps WHERE task_id = @task_id;

-- name: Dependants :many
SELECT t.id FROM task_deps d JOIN tasks t ON t.id = d.task_id
WHERE d.after_id = @after_id AND t.stage <> 'ended'
ORDER BY d.task_id;

-- name: Children :many
SELECT * FROM tasks WHERE parent = @parent AND parent IS NOT NULL ORDER BY id;

-- name: Steps :many
SELECT * FROM tasks WHERE parent = @parent AND parent IS NOT NULL AND step IS NOT NULL ORDER BY id;

-- name: OpenChildren :many
SELECT id FROM tasks WHERE parent = @parent AND parent IS NOT NULL AND stage <> 'ended' ORDER BY id;

-- name: Ancestors :many
WITH RECURSIVE up (id) AS (
  SELECT t.parent FROM tasks t WHERE t.id = @id AND t.parent IS NOT NULL
  UNION SELECT t.parent FROM up JOIN tasks t ON t.id = up.id WHERE t.parent IS NOT NULL
)
SELECT CAST(id AS INTEGER) AS id FROM up;

-- The next lane, in three steps. One comparison of all three columns would read
-- every task of the lane: SQLite finds the first row that is equal or greater, and
-- skips the equal rows one by one.

-- name: NextAgent :one
SELECT lane_project, lane_track, lane_agent FROM tasks
WHERE lane_project = CAST(@project AS INTEGER) AND lane_track = CAST(@track AS TEXT) AND lane_agent > CAST(@agent AS TEXT)
ORDER BY lane_agent LIMIT 1;

-- name: NextTrack :one
SELECT lane_project, lane_track, lane_agent FROM tasks
WHERE lane_project = CAST(@project AS INTEGER) AND lane_track > CAST(@track AS TEXT)
ORDER BY lane_track, lane_agent LIMIT 1;

-- name: NextProject :one
SELECT lane_project, lane_track, lane_agent FROM tasks
WHERE lane_project > CAST(@project AS INTEGER)
ORDER BY lane_project, lane_track, lane_agent LIMIT 1;

-- name: LaneHeads :many
SELECT * FROM tasks
WHERE lane_project = CAST(@project AS INTEGER)
  AND lane_track = CAST(@track AS TEXT) AND lane_agent = CAST(@agent AS TEXT)
ORDER BY begun DESC, priority DESC, id LIMIT CAST(@most AS INTEGER);

-- name: SomeTasks :many
SELECT * FROM tasks WHERE id IN (SELECT value FROM json_each(CAST(@ids AS TEXT)));

-- name: TaskKeys :many
SELECT id, key FROM tasks WHERE id IN (SELECT value FROM json_each(CAST(@ids AS TEXT)));

-- name: InFlight :many
SELECT project_id, count(*) AS n FROM tasks WHERE in_flight GROUP BY project_id;

-- name: FeatureTasks :many
SELECT CAST(max(id) AS INTEGER) AS id FROM tasks WHERE project_id = @project_id AND feature <> '' GROUP BY feature;
