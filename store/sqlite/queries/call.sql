-- name: PutCall :exec
INSERT INTO calls (session_id, id, answer) VALUES (@session_id, @id, @answer);

-- name: CallAnswer :one
SELECT answer FROM calls WHERE session_id = @session_id AND id = @id;

-- name: ForgetCalls :exec
DELETE FROM calls WHERE session_id = @session_id;
