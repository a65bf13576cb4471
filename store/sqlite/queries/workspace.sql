-- Workspaces and the trash.

-- name: PutWorkspace :execlastid
INSERT INTO workspaces (
  id, project_id, task_id, kind, node, path, branch, base_commit, ports, created_at, ready_at, removed_at,
  trash_id, kept, tries, retry_at
) VALUES (
  sqlc.narg('id'), @project_id, @task_id, @kind, @node, @path, @branch, @base_commit, @ports, @created_at,
  @ready_at, @removed_at, @trash_id, @kept, @tries, @retry_at
)
ON CONFLICT (id) DO UPDATE SET
  project_id = excluded.project_id, task_id = excluded.task_id, kind = excluded.kind, node = excluded.node,
  path = excluded.path, branch = excluded.branch, base_commit = excluded.base_commit, ports = excluded.ports,
  created_at = excluded.created_at, ready_at = excluded.ready_at, removed_at = excluded.removed_at,
  trash_id = excluded.trash_id, kept = excluded.kept, tries = excluded.tries, retry_at = excluded.retry_at;

-- name: WorkspaceOf :one
SELECT * FROM workspaces WHERE task_id = @task_id ORDER BY id DESC LIMIT 1;

-- name: LastWorkspaces :many
SELECT * FROM workspaces WHERE id IN (
  SELECT max(w.id) FROM workspaces w WHERE w.task_id IN (SELECT value FROM json_each(CAST(@tasks AS TEXT))) GROUP BY w.task_id
);

-- name: Workspaces :many
SELECT * FROM workspaces WHERE project_id = @project_id ORDER BY id;

-- name: PutTrash :execlastid
INSERT INTO trash (
  id, project_id, task_id, what, path, branch, head, ref, archive, removed_at, expires_at, restored_at,
  purged_at
) VALUES (
  sqlc.narg('id'), @project_id, @task_id, @what, @path, @branch, @head, @ref, @archive, @removed_at,
  @expires_at, @restored_at, @purged_at
)
ON CONFLICT (id) DO UPDATE SET
  project_id = excluded.project_id, task_id = excluded.task_id, what = excluded.what, path = excluded.path,
  branch = excluded.branch, head = excluded.head, ref = excluded.ref, archive = excluded.archive,
  removed_at = excluded.removed_at, expires_at = excluded.expires_at, restored_at = excluded.restored_at,
  purged_at = excluded.purged_at;

-- name: Trash :one
SELECT * FROM trash WHERE id = @id;

-- name: TrashOf :many
SELECT * FROM trash
WHERE project_id = @project_id AND restored_at IS NULL AND purged_at IS NULL
ORDER BY id DESC;

-- name: OpenTrashOfEach :many
SELECT * FROM trash
WHERE task_id IN (SELECT value FROM json_each(CAST(@tasks AS TEXT))) AND restored_at IS NULL AND purged_at IS NULL
ORDER BY task_id, id;

-- name: OpenTrashOf :many
SELECT * FROM trash WHERE task_id = @task_id AND restored_at IS NULL AND purged_at IS NULL ORDER BY id;
