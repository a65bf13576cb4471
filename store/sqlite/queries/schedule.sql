-- Schedules. A trigger removes the timer of a removed schedule.

-- name: PutSchedule :execlastid
INSERT INTO schedules (id, project_id, name, next_at, paused_at, details)
VALUES (sqlc.narg('id'), @project_id, @name, @next_at, @paused_at, @details)
ON CONFLICT (id) DO UPDATE SET
  project_id = excluded.project_id, name = excluded.name, next_at = excluded.next_at, paused_at = excluded.paused_at, details = excluded.details;

-- name: Schedule :one
SELECT * FROM schedules WHERE id = @id;

-- name: ScheduleByName :one
SELECT * FROM schedules WHERE project_id = @project_id AND name = @name;

-- name: SchedulesIn :many
SELECT * FROM schedules WHERE project_id = @project_id ORDER BY name;

-- name: AllSchedules :many
SELECT * FROM schedules ORDER BY name, project_id;

-- name: DeleteSchedule :execrows
DELETE FROM schedules WHERE id = @id;

-- name: ForgetSchedules :execrows
DELETE FROM schedules WHERE id IN (SELECT s.id FROM schedules s WHERE s.project_id = @project_id LIMIT @most);
