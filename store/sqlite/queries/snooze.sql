-- Entries of the inbox that are hidden.

-- name: Snoozes :many
SELECT * FROM snoozes ORDER BY entry;

-- name: PutSnooze :exec
INSERT INTO snoozes (entry, mark, project_id, until, event, task_id, after_seq, actor, at)
VALUES (@entry, @mark, @project_id, @until, @event, @task_id, @after_seq, @actor, @at)
ON CONFLICT (entry) DO UPDATE SET
  mark = excluded.mark, project_id = excluded.project_id, until = excluded.until, event = excluded.event,
  task_id = excluded.task_id, after_seq = excluded.after_seq, actor = excluded.actor, at = excluded.at;

-- name: DropSnooze :execrows
DELETE FROM snoozes WHERE entry = @entry;

-- name: ForgetSnoozes :exec
DELETE FROM snoozes WHERE project_id = @project_id;
