-- +goose Up

-- What people might want to know. The key names what happened, which is noticed once.
-- The newest ended ones are kept.
CREATE TABLE notices (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  notice_key TEXT    NOT NULL UNIQUE,
  project_id INTEGER NOT NULL, -- 0 for none
  task_id    INTEGER NOT NULL, -- 0 for none
  at         INTEGER,
  due_at     INTEGER,
  ended_at   INTEGER,
  details    TEXT    NOT NULL -- the fields of coppice.NoticeDetails, as JSON
);
CREATE INDEX notices_due ON notices (due_at, id) WHERE ended_at IS NULL;
CREATE INDEX notices_ended ON notices (id) WHERE ended_at IS NOT NULL;
CREATE INDEX notices_by_task ON notices (task_id) WHERE task_id <> 0;
CREATE INDEX notices_by_project ON notices (project_id) WHERE project_id <> 0;

-- Messages to people. Each is sent by one notifier. The newest ended ones are kept.
CREATE TABLE notifications (
  id               INTEGER PRIMARY KEY AUTOINCREMENT,
  notification_key TEXT    NOT NULL UNIQUE,
  notifier         TEXT    NOT NULL,
  at               INTEGER,
  ended_at         INTEGER,
  details          TEXT    NOT NULL -- the fields of coppice.NotificationDetails, as JSON
);
CREATE INDEX notifications_open ON notifications (id) WHERE ended_at IS NULL;
CREATE INDEX notifications_ended ON notifications (id) WHERE ended_at IS NOT NULL;
CREATE INDEX notifications_by_notifier ON notifications (notifier, id);
