-- Questions and messages.

-- name: PutQuestion :execlastid
INSERT INTO questions (
  id, task_id, session_id, ref, kind, text, options, descriptions, several, rule, asked_at, answer, answered_at, closed_at, until
) VALUES (
  sqlc.narg('id'), @task_id, @session_id, @ref, @kind, @text, @options, @descriptions, @several, @rule, @asked_at, @answer, @answered_at, @closed_at, @until
)
ON CONFLICT (id) DO UPDATE SET
  task_id = excluded.task_id, session_id = excluded.session_id, ref = excluded.ref, kind = excluded.kind, text = excluded.text,
  options = excluded.options, descriptions = excluded.descriptions, several = excluded.several, rule = excluded.rule, asked_at = excluded.asked_at, answer = excluded.answer,
  answered_at = excluded.answered_at, closed_at = excluded.closed_at, until = excluded.until;

-- name: Question :one
SELECT * FROM questions WHERE id = @id;

-- name: QuestionsOf :many
SELECT * FROM questions WHERE task_id = @task_id ORDER BY id;

-- name: OpenQuestion :one
SELECT * FROM questions
WHERE task_id = @task_id AND answered_at IS NULL AND closed_at IS NULL
ORDER BY id LIMIT 1;

-- name: OpenQuestions :many
SELECT * FROM questions
WHERE task_id IN (SELECT value FROM json_each(CAST(@tasks AS TEXT))) AND answered_at IS NULL AND closed_at IS NULL
ORDER BY task_id, id;

-- name: QuestionsOfEach :many
SELECT * FROM questions WHERE task_id IN (SELECT value FROM json_each(CAST(@tasks AS TEXT))) ORDER BY task_id, id;

-- name: PutMessage :execlastid
INSERT INTO messages (
  id, task_id, session_id, kind, text, sender, sent_at, delivered_at, failed, images
) VALUES (
  sqlc.narg('id'), @task_id, @session_id, @kind, @text, @sender, @sent_at, @delivered_at, @failed, @images
)
ON CONFLICT (id) DO UPDATE SET
  task_id = excluded.task_id, session_id = excluded.session_id, kind = excluded.kind, text = excluded.text,
  sender = excluded.sender, sent_at = excluded.sent_at, delivered_at = excluded.delivered_at,
  failed = excluded.failed, images = excluded.images;

-- name: MessagesOf :many
SELECT * FROM messages WHERE task_id = @task_id ORDER BY id;

-- name: MessagesOfEach :many
SELECT * FROM messages WHERE task_id IN (SELECT value FROM json_each(CAST(@tasks AS TEXT))) ORDER BY task_id, id;
