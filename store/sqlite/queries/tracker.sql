-- name: PutTracker :execlastid
INSERT INTO trackers (id, project_id, name, next_at, details)
VALUES (sqlc.narg('id'), @project_id, @name, @next_at, @details)
ON CONFLICT (id) DO UPDATE SET project_id = excluded.project_id, name = excluded.name, next_at = excluded.next_at, details = excluded.details;

-- name: TrackersIn :many
SELECT * FROM trackers WHERE project_id = @project_id ORDER BY name;

-- name: PutIssue :execlastid
INSERT INTO issues (id, project_id, tracker_id, issue, task_id, status, next_at, ended_at, mark, details)
VALUES (sqlc.narg('id'), @project_id, @tracker_id, @issue, @task_id, @status, @next_at, @ended_at, @mark, @details)
ON CONFLICT (id) DO UPDATE SET
  project_id = excluded.project_id, tracker_id = excluded.tracker_id, issue = excluded.issue, task_id = excluded.task_id, status = excluded.status,
  next_at = excluded.next_at, ended_at = excluded.ended_at, mark = excluded.mark, details = excluded.details;

-- name: WakeIssues :exec
UPDATE issues SET next_at = @now WHERE tracker_id = @tracker_id AND ended_at IS NULL AND task_id <> 0;

-- name: DeleteIssue :execrows
DELETE FROM issues WHERE id = @id;

-- name: IssueOf :one
SELECT * FROM issues WHERE task_id = @task_id AND task_id <> 0;

-- name: IssueNamed :one
SELECT * FROM issues WHERE tracker_id = @tracker_id AND issue = @issue;

-- name: DueIssues :many
SELECT * FROM issues WHERE project_id = @project_id AND next_at <= @now ORDER BY next_at, id LIMIT @most;

-- name: NextIssue :one
SELECT next_at FROM issues WHERE project_id = @project_id AND next_at IS NOT NULL ORDER BY next_at LIMIT 1;

-- name: CountIssues :many
SELECT status, count(*) AS n FROM issues WHERE tracker_id = @tracker_id AND ended_at IS NULL GROUP BY status;

-- name: WaitingIssues :many
SELECT * FROM issue_marks WHERE tracker_id = @tracker_id AND status = '' AND ended_at IS NULL ORDER BY id;

-- name: KnownIssues :many
SELECT * FROM issue_marks WHERE tracker_id = @tracker_id AND (ended_at IS NULL OR closed IS NULL) ORDER BY id DESC LIMIT @most;

-- name: NamedIssues :many
SELECT * FROM issue_marks WHERE tracker_id = @tracker_id AND issue IN (SELECT value FROM json_each(@names));

-- name: IssuesIn :many
SELECT * FROM issue_marks
WHERE project_id = @project_id AND (ended_at IS NULL OR CAST(@ended AS BOOLEAN)) AND id < @before ORDER BY id DESC LIMIT @most;

-- name: ForgetIssue :exec
UPDATE issues SET task_id = 0, next_at = NULL, ended_at = coalesce(ended_at, (SELECT tasks.ended_at FROM tasks WHERE tasks.id = issues.task_id), 0)
WHERE task_id = @task_id AND task_id <> 0;

-- name: ForgetIssuesIn :execrows
DELETE FROM issues WHERE id IN (SELECT i.id FROM issues i WHERE i.project_id = @project_id LIMIT @most);

-- name: ForgetTrackers :exec
DELETE FROM trackers WHERE project_id = @project_id;
