-- name: PutNotice :execlastid
INSERT INTO notices (id, notice_key, project_id, task_id, at, due_at, ended_at, details)
VALUES (sqlc.narg('id'), @notice_key, @project_id, @task_id, @at, @due_at, @ended_at, @details)
ON CONFLICT (id) DO UPDATE SET
  notice_key = excluded.notice_key, project_id = excluded.project_id, task_id = excluded.task_id, at = excluded.at,
  due_at = excluded.due_at, ended_at = excluded.ended_at, details = excluded.details;

-- name: NoticeByKey :one
SELECT * FROM notices WHERE notice_key = @notice_key;

-- name: DueNotices :many
SELECT * FROM notices WHERE ended_at IS NULL AND due_at <= @due_at ORDER BY due_at, id LIMIT @most;

-- name: NextDueNotice :one
SELECT due_at FROM notices WHERE ended_at IS NULL AND due_at IS NOT NULL ORDER BY due_at LIMIT 1;

-- name: NoticesKeptSince :one
SELECT at FROM notices WHERE ended_at IS NOT NULL ORDER BY id DESC LIMIT 1 OFFSET @keep;

-- name: TrimNotices :exec
DELETE FROM notices WHERE notices.ended_at IS NOT NULL AND notices.id <= (
  SELECT n.id FROM notices n WHERE n.ended_at IS NOT NULL ORDER BY n.id DESC LIMIT 1 OFFSET @keep
);

-- name: ForgetNotices :exec
DELETE FROM notices WHERE task_id = @task_id AND task_id <> 0;

-- name: ForgetNoticesIn :exec
DELETE FROM notices WHERE project_id = @project_id AND project_id <> 0;

-- name: PutNotification :execlastid
INSERT INTO notifications (id, notification_key, notifier, at, ended_at, details)
VALUES (sqlc.narg('id'), @notification_key, @notifier, @at, @ended_at, @details)
ON CONFLICT (id) DO UPDATE SET
  notification_key = excluded.notification_key, notifier = excluded.notifier, at = excluded.at, ended_at = excluded.ended_at, details = excluded.details;

-- name: NotificationByKey :one
SELECT * FROM notifications WHERE notification_key = @notification_key;

-- name: OpenNotifications :many
SELECT * FROM notifications WHERE ended_at IS NULL ORDER BY id;

-- name: Notifications :many
SELECT * FROM notifications WHERE id < @before ORDER BY id DESC LIMIT @most;

-- name: NotificationsBy :many
SELECT * FROM notifications WHERE notifier = @notifier AND id < @before ORDER BY id DESC LIMIT @most;

-- name: TrimNotifications :exec
DELETE FROM notifications WHERE notifications.ended_at IS NOT NULL AND notifications.id <= (
  SELECT n.id FROM notifications n WHERE n.ended_at IS NOT NULL ORDER BY n.id DESC LIMIT 1 OFFSET @keep
);
