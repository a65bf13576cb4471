-- Facts as rows. Moments are nanoseconds since 1970 in UTC, NULL for none.
-- Nested values are JSON text, NULL for none. Migrations are only ever added:
-- a released one is never changed, and there is no way down.

-- +goose Up
CREATE TABLE projects (
  id            INTEGER PRIMARY KEY,
  prefix        TEXT    NOT NULL UNIQUE,
  path          TEXT    NOT NULL UNIQUE,
  base_commit   TEXT    NOT NULL,
  last_task     INTEGER NOT NULL,
  created_at    INTEGER,
  paused_at     INTEGER,
  paused_tracks TEXT,
  strikes       TEXT,
  check_env     TEXT    NOT NULL,
  rules         TEXT,
  policy        TEXT    NOT NULL
);

-- The lane columns are NULL unless the task is queued, so that the index of
-- lanes holds queued tasks only. begun tells that a session stands behind the
-- task. folded is its key and title in lower case, for search.
CREATE TABLE tasks (
  id           INTEGER PRIMARY KEY,
  project_id   INTEGER NOT NULL REFERENCES projects (id),
  num          INTEGER NOT NULL,
  key          TEXT    NOT NULL UNIQUE,
  title        TEXT    NOT NULL,
  priority     INTEGER NOT NULL,
  track        TEXT    NOT NULL,
  agent        TEXT    NOT NULL,
  model        TEXT    NOT NULL,
  checks       TEXT,
  after_ids    TEXT,
  not_before   INTEGER,
  category     TEXT    NOT NULL,
  steps        TEXT,
  feature      TEXT    NOT NULL,
  budget       REAL    NOT NULL,
  fork_of      TEXT    NOT NULL,
  created_at   INTEGER,
  created_by   TEXT    NOT NULL,
  stop_asked   BOOLEAN NOT NULL,
  retry_asked  BOOLEAN NOT NULL,
  retry_note   TEXT    NOT NULL,
  land_asked   BOOLEAN NOT NULL,
  undo_asked   BOOLEAN NOT NULL,
  again_asked  BOOLEAN NOT NULL,
  take_asked   BOOLEAN NOT NULL,
  give_asked   BOOLEAN NOT NULL,
  stage        TEXT    NOT NULL,
  wait         TEXT,
  next         TEXT,
  round        INTEGER NOT NULL,
  sessions     INTEGER NOT NULL,
  stage_at     INTEGER,
  outcome      TEXT    NOT NULL,
  failure      TEXT,
  landed       TEXT    NOT NULL,
  ended_at     INTEGER,
  warning      TEXT    NOT NULL,
  lane_project INTEGER,
  lane_track   TEXT,
  lane_agent   TEXT,
  begun        BOOLEAN NOT NULL,
  folded       TEXT    NOT NULL,
  body         TEXT    NOT NULL
);
CREATE INDEX tasks_by_lane ON tasks (lane_project, lane_track, lane_agent, begun DESC, priority DESC, id)
  WHERE lane_project IS NOT NULL;
CREATE INDEX tasks_by_project ON tasks (project_id, id);
CREATE INDEX tasks_not_ended ON tasks (stage, id) WHERE stage <> 'ended';

CREATE TABLE task_deps (
  task_id  INTEGER NOT NULL REFERENCES tasks (id),
  after_id INTEGER NOT NULL REFERENCES tasks (id),
  PRIMARY KEY (after_id, task_id)
) WITHOUT ROWID;
CREATE INDEX task_deps_by_task ON task_deps (task_id);

-- cursor and output_at move with the output and with nothing else.
CREATE TABLE sessions (
  id           INTEGER PRIMARY KEY,
  project_id   INTEGER NOT NULL,
  task_id      INTEGER NOT NULL REFERENCES tasks (id),
  n            INTEGER NOT NULL,
  key          TEXT    NOT NULL UNIQUE,
  round        INTEGER NOT NULL,
  role         TEXT    NOT NULL,
  track        TEXT    NOT NULL,
  agent        TEXT    NOT NULL,
  model        TEXT    NOT NULL,
  resume       TEXT    NOT NULL,
  fork         BOOLEAN NOT NULL,
  screen       BOOLEAN NOT NULL,
  state        TEXT    NOT NULL,
  live         BOOLEAN NOT NULL,
  created_at   INTEGER,
  started_at   INTEGER,
  ended_at     INTEGER,
  output_at    INTEGER,
  conversation TEXT    NOT NULL,
  exit_code    INTEGER,
  signal       TEXT    NOT NULL,
  failure      TEXT,
  from_commit  TEXT    NOT NULL,
  head         TEXT    NOT NULL,
  stat         TEXT    NOT NULL,
  usage        TEXT,
  cursor       INTEGER NOT NULL,
  stop_why     TEXT    NOT NULL,
  stop_tries   INTEGER NOT NULL,
  stop_at      INTEGER,
  warning      TEXT    NOT NULL,
  path         TEXT    NOT NULL,
  ports        TEXT,
  verdict      TEXT,
  summary      TEXT    NOT NULL
);
CREATE INDEX sessions_by_task ON sessions (task_id, id);
CREATE INDEX sessions_live ON sessions (id) WHERE live;
CREATE INDEX sessions_live_by_lane ON sessions (project_id, track, agent) WHERE live;

-- A prompt can be megabytes, and a session's row changes often: apart, the
-- prompt is written once.
CREATE TABLE prompts (
  session_id INTEGER PRIMARY KEY REFERENCES sessions (id),
  text       TEXT NOT NULL
);

CREATE TABLE outputs (
  session_id INTEGER NOT NULL REFERENCES sessions (id),
  place      INTEGER NOT NULL, -- the offset in the session's spool
  at         INTEGER,
  kind       TEXT    NOT NULL,
  data       BLOB    NOT NULL,
  PRIMARY KEY (session_id, place)
) WITHOUT ROWID;

CREATE TABLE workspaces (
  id          INTEGER PRIMARY KEY,
  project_id  INTEGER NOT NULL,
  task_id     INTEGER NOT NULL REFERENCES tasks (id),
  kind        TEXT    NOT NULL,
  node        TEXT    NOT NULL,
  path        TEXT    NOT NULL,
  branch      TEXT    NOT NULL,
  base_commit TEXT    NOT NULL,
  ports       TEXT,
  created_at  INTEGER,
  ready_at    INTEGER,
  removed_at  INTEGER,
  trash_id    INTEGER NOT NULL,
  kept        BOOLEAN NOT NULL,
  tries       INTEGER NOT NULL,
  retry_at    INTEGER
);
CREATE INDEX workspaces_by_task ON workspaces (task_id, id);
CREATE INDEX workspaces_by_project ON workspaces (project_id, id);

CREATE TABLE landings (
  id          INTEGER PRIMARY KEY,
  project_id  INTEGER NOT NULL,
  task_id     INTEGER NOT NULL REFERENCES tasks (id),
  session_id  INTEGER NOT NULL,
  round       INTEGER NOT NULL,
  head        TEXT    NOT NULL,
  created_at  INTEGER,
  base        TEXT    NOT NULL,
  tree        TEXT    NOT NULL,
  commit_hash TEXT    NOT NULL,
  green       BOOLEAN NOT NULL,
  verified    BOOLEAN NOT NULL,
  queued_at   INTEGER,
  waits       TEXT    NOT NULL,
  tries       INTEGER NOT NULL,
  retry_at    INTEGER,
  steps       INTEGER NOT NULL,
  ended_at    INTEGER,
  outcome     TEXT    NOT NULL,
  failure     TEXT,
  evidence    TEXT    NOT NULL
);
CREATE INDEX landings_by_task ON landings (task_id, id);
CREATE INDEX landings_queued ON landings (project_id, queued_at, id)
  WHERE ended_at IS NULL AND queued_at IS NOT NULL;

CREATE TABLE checks (
  id         INTEGER PRIMARY KEY,
  project_id INTEGER NOT NULL,
  task_id    INTEGER NOT NULL,
  landing_id INTEGER NOT NULL,
  tree       TEXT    NOT NULL,
  command    TEXT    NOT NULL,
  env        TEXT    NOT NULL,
  exit_code  INTEGER NOT NULL,
  took       INTEGER NOT NULL,
  ended_at   INTEGER,
  log        TEXT    NOT NULL
);
CREATE INDEX checks_by_tree ON checks (project_id, tree, command, env, id);
CREATE INDEX checks_by_task ON checks (task_id, id);

-- Work is trimmed, and its ids appear in leases: an id is never used twice.
CREATE TABLE work (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  kind        TEXT    NOT NULL,
  key         TEXT    NOT NULL UNIQUE,
  pool        TEXT    NOT NULL,
  project_id  INTEGER NOT NULL,
  task_id     INTEGER NOT NULL,
  session_id  INTEGER NOT NULL,
  state       TEXT    NOT NULL,
  attempt     INTEGER NOT NULL,
  worker      TEXT    NOT NULL,
  lease_until INTEGER,
  failure     TEXT,
  offered_at  INTEGER,
  taken_at    INTEGER,
  finished_at INTEGER,
  spec        TEXT,
  result      TEXT
);
CREATE INDEX work_takeable ON work (pool, id, kind) WHERE state = 'offered';
CREATE INDEX work_unsettled ON work (task_id, id) WHERE state IN ('offered', 'taken', 'finished');
CREATE INDEX work_by_state ON work (state) WHERE state IN ('offered', 'taken', 'finished');
CREATE INDEX work_held ON work (worker, id) WHERE state = 'taken';
CREATE INDEX work_over ON work (coalesce(finished_at, offered_at)) WHERE state IN ('settled', 'cancelled');

CREATE TABLE questions (
  id          INTEGER PRIMARY KEY,
  task_id     INTEGER NOT NULL REFERENCES tasks (id),
  session_id  INTEGER NOT NULL,
  ref         TEXT    NOT NULL,
  kind        TEXT    NOT NULL,
  text        TEXT    NOT NULL,
  options     TEXT,
  rule        TEXT,
  asked_at    INTEGER,
  answer      TEXT    NOT NULL,
  answered_at INTEGER,
  closed_at   INTEGER
);
CREATE INDEX questions_by_task ON questions (task_id, id);
CREATE INDEX questions_open ON questions (task_id, id) WHERE answered_at IS NULL AND closed_at IS NULL;

CREATE TABLE messages (
  id           INTEGER PRIMARY KEY,
  task_id      INTEGER NOT NULL REFERENCES tasks (id),
  session_id   INTEGER NOT NULL,
  kind         TEXT    NOT NULL,
  text         TEXT    NOT NULL,
  sender       TEXT    NOT NULL,
  sent_at      INTEGER,
  delivered_at INTEGER,
  failed       TEXT    NOT NULL
);
CREATE INDEX messages_by_task ON messages (task_id, id);

-- until is NULL for a limit that a person has to end.
CREATE TABLE agent_limits (
  agent TEXT PRIMARY KEY,
  until INTEGER,
  class TEXT    NOT NULL,
  text  TEXT    NOT NULL
) WITHOUT ROWID;

CREATE TABLE trash (
  id          INTEGER PRIMARY KEY,
  project_id  INTEGER NOT NULL,
  task_id     INTEGER NOT NULL,
  what        TEXT    NOT NULL,
  path        TEXT    NOT NULL,
  branch      TEXT    NOT NULL,
  head        TEXT    NOT NULL,
  ref         TEXT    NOT NULL,
  archive     TEXT    NOT NULL,
  removed_at  INTEGER,
  expires_at  INTEGER,
  restored_at INTEGER,
  purged_at   INTEGER
);
CREATE INDEX trash_kept ON trash (project_id, id) WHERE restored_at IS NULL AND purged_at IS NULL;

-- AUTOINCREMENT keeps a sequence number from being used twice even when the
-- newest events were forgotten; it rolls back with its transaction, so the
-- log has no gaps.
CREATE TABLE events (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  at         INTEGER,
  kind       TEXT    NOT NULL,
  project_id INTEGER NOT NULL,
  task_id    INTEGER NOT NULL,
  session_id INTEGER NOT NULL,
  subject    TEXT    NOT NULL,
  actor      TEXT    NOT NULL,
  reason     TEXT    NOT NULL,
  data       TEXT
);
CREATE INDEX events_by_task ON events (task_id, seq) WHERE task_id <> 0;

CREATE TABLE timers (
  kind TEXT    NOT NULL,
  id   TEXT    NOT NULL,
  at   INTEGER NOT NULL,
  PRIMARY KEY (kind, id)
) WITHOUT ROWID;
CREATE INDEX timers_by_moment ON timers (at, kind, id);

CREATE TABLE cursors (
  name TEXT PRIMARY KEY,
  seq  INTEGER NOT NULL
) WITHOUT ROWID;
