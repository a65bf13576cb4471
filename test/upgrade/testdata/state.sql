-- The state that the server of 380dd284ac00c80d16bc3434f2f5b9410bc6707a left, with everything that can be open.
-- Made by scripts/upgrade-state.sh; do not edit.
PRAGMA application_id = 1129271376;
BEGIN;
CREATE TABLE goose_db_version (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
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
, needs TEXT, git TEXT, removal TEXT);
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
, level TEXT NOT NULL DEFAULT '', archived INTEGER, waits_on TEXT);
CREATE TABLE task_deps (
  task_id  INTEGER NOT NULL REFERENCES tasks (id),
  after_id INTEGER NOT NULL REFERENCES tasks (id),
  PRIMARY KEY (after_id, task_id)
) WITHOUT ROWID;
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
, dropped INTEGER NOT NULL DEFAULT 0);
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
, killed INTEGER NOT NULL DEFAULT 0);
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
, signal TEXT NOT NULL DEFAULT '', timed_out BOOLEAN NOT NULL DEFAULT FALSE);
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
CREATE TABLE timers (
  kind TEXT    NOT NULL,
  id   TEXT    NOT NULL,
  at   INTEGER NOT NULL,
  PRIMARY KEY (kind, id)
) WITHOUT ROWID;
CREATE TABLE cursors (
  name TEXT PRIMARY KEY,
  seq  INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE usages (
  made_at       INTEGER NOT NULL,
  session_id    INTEGER NOT NULL REFERENCES sessions (id),
  project_id    INTEGER NOT NULL,
  task_id       INTEGER NOT NULL,
  agent         TEXT    NOT NULL,
  model         TEXT    NOT NULL,
  input_tokens  INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cache_read    INTEGER NOT NULL,
  cache_write   INTEGER NOT NULL,
  turns         INTEGER NOT NULL,
  cost_usd      REAL    NOT NULL,
  PRIMARY KEY (made_at, session_id)
) WITHOUT ROWID;
CREATE TABLE floors (
  name TEXT PRIMARY KEY,
  last INTEGER NOT NULL
) WITHOUT ROWID;
DELETE FROM sqlite_sequence;
INSERT INTO goose_db_version VALUES(1,0,1,'2026-11-16 02:01:31');
INSERT INTO goose_db_version VALUES(2,1,1,'2026-11-16 02:01:31');
INSERT INTO goose_db_version VALUES(3,2,1,'2026-11-16 02:01:31');
INSERT INTO goose_db_version VALUES(4,3,1,'2026-11-16 02:01:31');
INSERT INTO goose_db_version VALUES(5,4,1,'2026-11-16 02:01:31');
INSERT INTO goose_db_version VALUES(6,5,1,'2026-11-16 02:01:31');
INSERT INTO goose_db_version VALUES(7,6,1,'2026-11-16 02:01:31');
INSERT INTO sqlite_sequence VALUES('goose_db_version',7);
INSERT INTO sqlite_sequence VALUES('events',317);
INSERT INTO sqlite_sequence VALUES('work',59);
INSERT INTO projects VALUES(1,'app','/machine/app','bb5e9b146df7c1cd5c0d76bddbb345d6ac5757a0',21,1794794492000550672,NULL,NULL,NULL,'',NULL,'{"base":"main","tracks":[{"name":"main","default":true}],"limits":{"sessions":40,"memory":"100%","output":"256 MiB"},"agent":{"use":"scripted"},"agents":{"other":{"protocol":"scripted","command":["{coppice}","scripted"],"args":[".coppice/other.yaml"],"scores":{}}},"workspace":{"kind":"worktree","ports":2},"checks":null,"verify":{"by":"none","attempts":3,"browser":false},"retry":{"max":0,"backoff":"100ms"},"health":{"stalled":"10m","long":"1h","timeout":"4h","check":"30m"},"land":{"how":"queue","strategy":"squash","push":false},"trash":{"keep":[".env*"],"ttl":"14d"},"permissions":{},"budget":{},"critical_patterns":null}',NULL,'[]',NULL);
INSERT INTO projects VALUES(2,'held','/machine/held','b75904b22e2902d9b3d466c674f7e17149713387',2,1794794492253769735,NULL,NULL,NULL,'',NULL,'{"base":"main","tracks":[{"name":"main","default":true}],"limits":{"sessions":40,"memory":"100%","output":"256 MiB"},"agent":{"use":"scripted"},"agents":null,"workspace":{"kind":"worktree","ports":2},"checks":null,"verify":{"by":"none","attempts":3,"browser":false},"retry":{"max":0,"backoff":"100ms"},"health":{"stalled":"10m","long":"1h","timeout":"4h","check":"30m"},"land":{"how":"branch","strategy":"squash","push":false},"trash":{"keep":[".env*"],"ttl":"14d"},"permissions":{},"budget":{},"critical_patterns":null}',NULL,'[]',NULL);
INSERT INTO projects VALUES(3,'paused','/machine/paused','671e025fe16bb742ea771f8efd6e78d7ecfbb7ab',1,1794794492371640130,1794794492553075980,NULL,NULL,'',NULL,'{"base":"main","tracks":[{"name":"main","default":true}],"limits":{"sessions":40,"memory":"100%","output":"256 MiB"},"agent":{"use":"scripted"},"agents":null,"workspace":{"kind":"worktree","ports":2},"checks":null,"verify":{"by":"none","attempts":3,"browser":false},"retry":{"max":0,"backoff":"100ms"},"health":{"stalled":"10m","long":"1h","timeout":"4h","check":"30m"},"land":{"how":"queue","strategy":"squash","push":false},"trash":{"keep":[".env*"],"ttl":"14d"},"permissions":{},"budget":{},"critical_patterns":null}',NULL,'[]',NULL);
INSERT INTO projects VALUES(4,'asks','/machine/asks','0cd5ca517eecd0a5ebc1ad55b2d57a96da932e27',1,1794794492451402106,NULL,NULL,NULL,'','[{"tool":"run","match":"npm test *","do":"allow"}]','{"base":"main","tracks":[{"name":"main","default":true}],"limits":{"sessions":40,"memory":"100%","output":"256 MiB"},"agent":{"use":"asker"},"agents":{"asker":{"protocol":"acp","command":["node","asker.mjs"],"scores":{}}},"workspace":{"kind":"worktree","ports":2},"checks":null,"verify":{"by":"none","attempts":3,"browser":false},"retry":{"max":0,"backoff":"100ms"},"health":{"stalled":"10m","long":"1h","timeout":"4h","check":"30m"},"land":{"how":"queue","strategy":"squash","push":false},"trash":{"keep":[".env*"],"ttl":"14d"},"permissions":{"default":"ask"},"budget":{},"critical_patterns":null}',NULL,'[]',NULL);
INSERT INTO projects VALUES(5,'feat','/machine/feat','fa1c6dee19b384c882780b089547b8b2e99112cd',2,1794794492527741433,NULL,NULL,NULL,'',NULL,'{"base":"main","tracks":[{"name":"main","default":true}],"limits":{"sessions":40,"memory":"100%","output":"256 MiB"},"agent":{"use":"scripted"},"agents":null,"workspace":{"kind":"worktree","ports":2},"checks":null,"verify":{"by":"none","attempts":3,"browser":false},"retry":{"max":0,"backoff":"100ms"},"health":{"stalled":"10m","long":"1h","timeout":"4h","check":"30m"},"land":{"how":"queue","strategy":"squash","push":false},"trash":{"keep":[".env*"],"ttl":"14d"},"permissions":{},"features":"features.json","budget":{},"critical_patterns":null}',NULL,'[]',NULL);
INSERT INTO tasks VALUES(1,5,1,'feat-1','Do first',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'first',0.0,'',1794794492630821557,'person',0,0,'',0,0,0,0,0,'session',NULL,NULL,0,1,1794794492650153263,'',NULL,'',NULL,'',NULL,NULL,NULL,1,'feat-1
do first','','',NULL,NULL);
INSERT INTO tasks VALUES(2,5,2,'feat-2','Do second',0,'main','scripted','',NULL,'[1]',NULL,'',NULL,'second',0.0,'',1794794492631323464,'person',0,0,'',0,0,0,0,0,'waiting','{"on":"dependency","text":"waits for feat-1"}','{"role":"implement","agent":"scripted"}',0,0,1794794492631323464,'',NULL,'',NULL,'',NULL,NULL,NULL,0,'feat-2
do second','','',NULL,'dependency');
INSERT INTO tasks VALUES(3,1,1,'app-1','Keep running',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794794492845060704,'person',0,0,'',0,0,0,0,0,'session',NULL,NULL,0,1,1794794492847336357,'',NULL,'',NULL,'',NULL,NULL,NULL,1,'app-1
keep running','','',NULL,NULL);
INSERT INTO tasks VALUES(4,1,2,'app-2','Come after that one',0,'main','scripted','',NULL,'[3]',NULL,'',NULL,'',0.0,'',1794794493117598173,'person',0,0,'',0,0,0,0,0,'waiting','{"on":"dependency","text":"waits for app-1"}','{"role":"implement","agent":"scripted"}',0,0,1794794493117598173,'',NULL,'',NULL,'',NULL,NULL,NULL,0,'app-2
come after that one','','',NULL,'dependency');
INSERT INTO tasks VALUES(5,1,3,'app-3','End without a server',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794794493209670497,'person',0,0,'',0,0,0,0,0,'session',NULL,NULL,0,1,1794794493218561874,'',NULL,'',NULL,'',NULL,NULL,NULL,1,'app-3
end without a server','','',NULL,NULL);
INSERT INTO tasks VALUES(6,1,4,'app-4','Ask a question',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794794493302932684,'person',0,0,'',0,0,0,0,0,'session',NULL,NULL,0,1,1794794493325971724,'',NULL,'',NULL,'',NULL,NULL,NULL,1,'app-4
ask a question','','',NULL,NULL);
INSERT INTO tasks VALUES(7,1,5,'app-5','Wait for an answer',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794794493555066864,'person',0,0,'',0,0,0,0,0,'session',NULL,NULL,0,1,1794794493556358216,'',NULL,'',NULL,'',NULL,NULL,NULL,1,'app-5
wait for an answer','','',NULL,NULL);
INSERT INTO tasks VALUES(8,1,6,'app-6','Wait for a message',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794794493729117090,'person',0,0,'',0,0,0,0,0,'session',NULL,NULL,0,1,1794794493730330366,'',NULL,'',NULL,'',NULL,NULL,NULL,1,'app-6
wait for a message','','',NULL,NULL);
INSERT INTO tasks VALUES(9,1,7,'app-7','Wait for the next turn',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794794493921635328,'person',0,0,'',0,0,0,0,0,'session',NULL,NULL,0,1,1794794493923001119,'',NULL,'',NULL,'',NULL,NULL,NULL,1,'app-7
wait for the next turn','','',NULL,NULL);
INSERT INTO tasks VALUES(10,1,8,'app-8','Change the model',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794794494060589599,'person',0,0,'',0,0,0,0,0,'session',NULL,NULL,0,1,1794794494065976233,'',NULL,'',NULL,'',NULL,NULL,NULL,1,'app-8
change the model','','',NULL,NULL);
INSERT INTO tasks VALUES(11,1,9,'app-9','Interrupt me',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794794494186027056,'person',0,0,'',0,0,0,0,0,'session',NULL,NULL,0,1,1794794494188295062,'',NULL,'',NULL,'',NULL,NULL,NULL,1,'app-9
interrupt me','','',NULL,NULL);
INSERT INTO tasks VALUES(12,1,10,'app-10','Wait for its time',0,'main','scripted','',NULL,NULL,1795053694205571840,'',NULL,'',0.0,'',1794794494368529520,'person',0,0,'',0,0,0,0,0,'waiting','{"on":"schedule","text":"starts at 2026-11-19T02:01:34Z","until":"2026-11-19T02:01:34.20557184Z"}','{"role":"implement","agent":"scripted"}',0,0,1794794494368529520,'',NULL,'',NULL,'',NULL,NULL,NULL,0,'app-10
wait for its time','','',NULL,'schedule');
INSERT INTO tasks VALUES(13,1,11,'app-11','Stop me',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794794494577636993,'person',1,0,'',0,0,0,0,0,'session',NULL,NULL,0,1,1794794494579282155,'',NULL,'',NULL,'',NULL,NULL,NULL,1,'app-11
stop me','','',NULL,NULL);
INSERT INTO tasks VALUES(14,1,12,'app-12','Requeue me',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794794494705075166,'person',1,1,'leave the schema alone',0,0,0,0,0,'session',NULL,NULL,0,1,1794794494706337333,'',NULL,'',NULL,'',NULL,NULL,NULL,1,'app-12
requeue me','','',NULL,NULL);
INSERT INTO tasks VALUES(15,1,13,'app-13','Retry me',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794794494916769084,'person',0,1,'it is easy now',0,0,0,0,0,'ended',NULL,NULL,0,1,1794794495201024467,'failed','{"class":"implementation","text":"it is too hard"}','',1794794495201024467,'',NULL,NULL,NULL,1,'app-13
retry me','','',NULL,NULL);
INSERT INTO tasks VALUES(16,1,14,'app-14','Ask for help',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794794495216245199,'person',0,1,'the disk is empty',0,0,0,0,0,'waiting','{"on":"person","text":"the disk is full","fix":"mend the cause, then retry the task"}','{"role":"implement","agent":"scripted","evidence":"The session before this one (app-14.1, scripted) failed: the disk is full\n","resume":"scripted-app-14-1"}',0,1,1794794495609345676,'','{"class":"disk","text":"the disk is full"}','',NULL,'',NULL,NULL,NULL,1,'app-14
ask for help','','',NULL,'person');
INSERT INTO tasks VALUES(17,1,15,'app-15','Land me',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794794495492385991,'person',0,0,'',1,0,0,0,0,'ended',NULL,NULL,0,1,1794794495945179307,'failed','{"class":"implementation","text":"it is too hard"}','',1794794495945179307,'',NULL,NULL,NULL,1,'app-15
land me','','',NULL,NULL);
INSERT INTO tasks VALUES(18,1,16,'app-16','Take me',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794794495651587071,'person',0,0,'',0,0,0,1,0,'session',NULL,NULL,0,1,1794794495652848818,'',NULL,'',NULL,'',NULL,NULL,NULL,1,'app-16
take me','','',NULL,NULL);
INSERT INTO tasks VALUES(19,1,17,'app-17','Give me back',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794794495865611367,'person',0,0,'finish it',0,0,0,0,1,'session',NULL,NULL,0,2,1794794497797850606,'',NULL,'',NULL,'',NULL,NULL,NULL,1,'app-17
give me back','','',NULL,NULL);
INSERT INTO tasks VALUES(20,1,18,'app-18','Continue me',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794794496053614353,'person',0,0,'finish it',0,0,1,0,0,'ended',NULL,NULL,0,1,1794794496701094649,'done',NULL,'e4cfa06a54305ebdeab1849003b5187d2fa463d7',1794794496701094649,'',NULL,NULL,NULL,1,'app-18
continue me','','',NULL,NULL);
INSERT INTO tasks VALUES(21,1,19,'app-19','Undo me',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794794496214487667,'person',0,0,'',0,1,0,0,0,'ended',NULL,NULL,0,1,1794794498365722428,'cancelled',NULL,'',1794794498365722428,'',NULL,NULL,NULL,1,'app-19
undo me','','',NULL,NULL);
INSERT INTO tasks VALUES(22,1,20,'app-20','Leave this in the trash',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794794496274521343,'person',0,0,'',0,0,0,0,0,'ended',NULL,NULL,0,1,1794794497033267543,'done',NULL,'bb5e9b146df7c1cd5c0d76bddbb345d6ac5757a0',1794794497033267543,'',NULL,NULL,NULL,1,'app-20
leave this in the trash','','',NULL,NULL);
INSERT INTO tasks VALUES(23,1,21,'app-21','Wait for the account',0,'main','other','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794794496621522532,'person',0,0,'',0,0,0,0,0,'queued',NULL,'{"role":"implement","agent":"other","evidence":"The session before this one (app-21.1, other) failed: come back later\n","resume":"scripted-app-21-1"}',0,1,1794794496999963430,'',NULL,'',NULL,'',1,'main','other',1,'app-21
wait for the account','','',NULL,NULL);
INSERT INTO tasks VALUES(24,2,1,'held-1','Hold me',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794794496814362451,'person',0,0,'',0,0,0,0,0,'held',NULL,NULL,0,1,1794794497176440962,'',NULL,'',NULL,'',NULL,NULL,NULL,1,'held-1
hold me','','',NULL,NULL);
INSERT INTO tasks VALUES(25,2,2,'held-2','Hold me until I say so',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794794497006719038,'person',0,0,'',1,0,0,0,0,'held',NULL,NULL,0,1,1794794497394250658,'',NULL,'',NULL,'',NULL,NULL,NULL,1,'held-2
hold me until i say so','','',NULL,NULL);
INSERT INTO tasks VALUES(26,3,1,'paused-1','Wait for the project',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794794497084567048,'person',0,0,'',0,0,0,0,0,'queued',NULL,'{"role":"implement","agent":"scripted"}',0,0,1794794497103579117,'',NULL,'',NULL,'',3,'main','scripted',0,'paused-1
wait for the project','','',NULL,NULL);
INSERT INTO tasks VALUES(27,4,1,'asks-1','Ask for permission',0,'main','asker','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794794497318574534,'person',0,0,'',0,0,0,0,0,'session',NULL,NULL,0,1,1794794497319996700,'',NULL,'',NULL,'',NULL,NULL,NULL,1,'asks-1
ask for permission','','',NULL,NULL);
INSERT INTO task_deps VALUES(2,1);
INSERT INTO task_deps VALUES(4,3);
INSERT INTO sessions VALUES(1,5,1,1,'feat-1.1',0,'implement','main','scripted','','',0,0,'idle',1,1794794492650153263,1794794492868499954,NULL,1794794492997000251,'scripted-feat-1-1',NULL,'',NULL,'fa1c6dee19b384c882780b089547b8b2e99112cd','','',NULL,335,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(2,1,3,1,'app-1.1',0,'implement','main','scripted','','',0,0,'idle',1,1794794492847336357,1794794493089831272,NULL,1794794493247712965,'scripted-app-1-1',NULL,'',NULL,'b7207bb77f7d9217bc651a133aac94efeb1b6340','','',NULL,421,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(3,1,5,1,'app-3.1',0,'implement','main','scripted','','',0,0,'working',1,1794794493218561874,1794794493439618354,NULL,1794794493502821404,'scripted-app-3-1',NULL,'',NULL,'b7207bb77f7d9217bc651a133aac94efeb1b6340','','',NULL,496,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(4,1,6,1,'app-4.1',0,'implement','main','scripted','','',0,0,'waiting',1,1794794493325971724,1794794493513032175,NULL,1794794493620376067,'scripted-app-4-1',NULL,'',NULL,'b7207bb77f7d9217bc651a133aac94efeb1b6340','','',NULL,513,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(5,1,7,1,'app-5.1',0,'implement','main','scripted','','',0,0,'waiting',1,1794794493556358216,1794794493713126053,NULL,1794794493766028925,'scripted-app-5-1',NULL,'',NULL,'b7207bb77f7d9217bc651a133aac94efeb1b6340','','',NULL,427,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(6,1,8,1,'app-6.1',0,'implement','main','scripted','','',0,0,'idle',1,1794794493730330366,1794794493808734101,NULL,1794794493834635608,'scripted-app-6-1',NULL,'',NULL,'b7207bb77f7d9217bc651a133aac94efeb1b6340','','',NULL,333,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(7,1,9,1,'app-7.1',0,'implement','main','scripted','','',0,0,'idle',1,1794794493923001119,1794794494033535075,NULL,1794794494134605786,'scripted-app-7-1',NULL,'',NULL,'b7207bb77f7d9217bc651a133aac94efeb1b6340','','',NULL,333,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(8,1,10,1,'app-8.1',0,'implement','main','scripted','','',0,0,'idle',1,1794794494065976233,1794794494156282622,NULL,1794794494261632225,'scripted-app-8-1',NULL,'',NULL,'b7207bb77f7d9217bc651a133aac94efeb1b6340','','',NULL,333,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(9,1,11,1,'app-9.1',0,'implement','main','scripted','','',0,0,'working',1,1794794494188295062,1794794494332292941,NULL,1794794494484715568,'scripted-app-9-1',NULL,'',NULL,'b7207bb77f7d9217bc651a133aac94efeb1b6340','','',NULL,680,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(10,1,13,1,'app-11.1',0,'implement','main','scripted','','',0,0,'working',1,1794794494579282155,1794794494650130195,NULL,1794794494728818557,'scripted-app-11-1',NULL,'',NULL,'b7207bb77f7d9217bc651a133aac94efeb1b6340','','',NULL,324,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(11,1,14,1,'app-12.1',0,'implement','main','scripted','','',0,0,'working',1,1794794494706337333,1794794494876906397,NULL,1794794494996705773,'scripted-app-12-1',NULL,'',NULL,'b7207bb77f7d9217bc651a133aac94efeb1b6340','','',NULL,678,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(12,1,15,1,'app-13.1',0,'implement','main','scripted','','',0,0,'failed',0,1794794494918203132,1794794495060427923,1794794495201024467,1794794495084432501,'scripted-app-13-1',1,'','{"class":"implementation","text":"it is too hard"}','b7207bb77f7d9217bc651a133aac94efeb1b6340','b7207bb77f7d9217bc651a133aac94efeb1b6340','',NULL,540,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(13,1,16,1,'app-14.1',0,'implement','main','scripted','','',0,0,'failed',0,1794794495219578435,1794794495466805082,1794794495609345676,1794794495535158688,'scripted-app-14-1',1,'','{"class":"disk","text":"the disk is full"}','b7207bb77f7d9217bc651a133aac94efeb1b6340','b7207bb77f7d9217bc651a133aac94efeb1b6340','',NULL,499,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(14,1,17,1,'app-15.1',0,'implement','main','scripted','','',0,0,'failed',0,1794794495494754966,1794794495624268690,1794794495945179307,1794794495771966175,'scripted-app-15-1',1,'','{"class":"implementation","text":"it is too hard"}','b7207bb77f7d9217bc651a133aac94efeb1b6340','206f45b9a065cbf1ec8aa330c0c7e72f72172766',' kept.txt | 1 +
 1 file changed, 1 insertion(+)',NULL,1261,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(15,1,18,1,'app-16.1',0,'implement','main','scripted','','',0,0,'idle',1,1794794495652848818,1794794495755076762,NULL,1794794495869049047,'scripted-app-16-1',NULL,'',NULL,'b7207bb77f7d9217bc651a133aac94efeb1b6340','','',NULL,671,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(16,1,19,1,'app-17.1',0,'implement','main','scripted','','',0,0,'done',0,1794794495872572078,1794794496001898963,1794794497797850606,1794794497749915966,'scripted-app-17-1',1,'',NULL,'b7207bb77f7d9217bc651a133aac94efeb1b6340','54cedb0a0f50dcef2108dc0f8cde0fa4a6eaa1ca',' app-17.1.txt | 1 +
 1 file changed, 1 insertion(+)',NULL,1045,'taken',1,1794794497721875006,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(17,1,20,1,'app-18.1',0,'implement','main','scripted','','',0,0,'done',0,1794794496054618067,1794794496188594466,1794794496499566703,1794794496278532725,'scripted-app-18-1',0,'',NULL,'b7207bb77f7d9217bc651a133aac94efeb1b6340','9976cd7cb3a49f9d4f92eac80f18ffe006b403a4',' app-18.txt | 1 +
 1 file changed, 1 insertion(+)',NULL,863,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(18,1,21,1,'app-19.1',0,'implement','main','scripted','','',0,0,'cancelled',0,1794794496215658865,1794794496405872760,1794794498365722428,1794794498290104375,'scripted-app-19-1',1,'','{"class":"cancelled","text":"was stopped"}','b7207bb77f7d9217bc651a133aac94efeb1b6340','78111eb5d10158e1643ae9bb0a2ac3a5f8fcff7a',' gone.txt | 1 +
 1 file changed, 1 insertion(+)',NULL,1001,'cancelled',1,1794794498285238266,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(19,1,22,1,'app-20.1',0,'implement','main','scripted','','',0,0,'done',0,1794794496279037278,1794794496516030362,1794794496740307318,1794794496570922585,'scripted-app-20-1',0,'',NULL,'b7207bb77f7d9217bc651a133aac94efeb1b6340','ebd8b4cdb303f1d40d2d01641d82878972f0d411',' app-20.txt | 1 +
 1 file changed, 1 insertion(+)',NULL,863,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(20,1,23,1,'app-21.1',0,'implement','main','other','','',0,0,'failed',0,1794794496626300736,1794794496795391459,1794794496999963430,1794794496877242743,'scripted-app-21-1',1,'','{"class":"rate_limit","text":"come back later","retry_at":"2026-11-16T22:01:36.876Z"}','e4cfa06a54305ebdeab1849003b5187d2fa463d7','e4cfa06a54305ebdeab1849003b5187d2fa463d7','',NULL,792,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(21,2,24,1,'held-1.1',0,'implement','main','scripted','','',0,0,'done',0,1794794496842099075,1794794497034476751,1794794497139731820,1794794497090310846,'scripted-held-1-1',0,'',NULL,'b75904b22e2902d9b3d466c674f7e17149713387','72a4ab82b13c835be0aa718c60644baa03f0647e',' held-1.txt | 1 +
 1 file changed, 1 insertion(+)',NULL,863,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(22,2,25,1,'held-2.1',0,'implement','main','scripted','','',0,0,'done',0,1794794497008602027,1794794497150097660,1794794497350026858,1794794497199900347,'scripted-held-2-1',0,'',NULL,'b75904b22e2902d9b3d466c674f7e17149713387','5bb15e168cad3d25a64c38861be94f7a6523755d',' held-2.txt | 1 +
 1 file changed, 1 insertion(+)',NULL,863,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(23,4,27,1,'asks-1.1',0,'implement','main','asker','','',0,0,'waiting',1,1794794497319996700,1794794497450992836,NULL,1794794498697119440,'s1',NULL,'',NULL,'0cd5ca517eecd0a5ebc1ad55b2d57a96da932e27','','',NULL,5197,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(24,1,19,2,'app-17.2',0,'implement','main','scripted','','scripted-app-17-1',0,1,'idle',1,1794794497797850606,1794794497811729787,NULL,1794794498222860120,'scripted-app-17-1',NULL,'',NULL,'54cedb0a0f50dcef2108dc0f8cde0fa4a6eaa1ca','','',NULL,180,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO prompts VALUES(1,'Task feat-1: Do first

How to work:
- You are in a git repository of your own, on branch coppice/feat-1. Stay in it; do not switch branches.
- Do this task and nothing else. Commit your work; what you leave uncommitted is committed for you.
- Your work lands on main only when it merges with it and its checks pass.
- features.json is kept by Coppice: do not change it, your changes to it would not land.
');
INSERT INTO prompts VALUES(2,'Task app-1: Keep running

How to work:
- You are in a git repository of your own, on branch coppice/app-1. Stay in it; do not switch branches.
- Do this task and nothing else. Commit your work; what you leave uncommitted is committed for you.
- Your work lands on main only when it merges with it and its checks pass.
');
INSERT INTO prompts VALUES(3,'Task app-3: End without a server

How to work:
- You are in a git repository of your own, on branch coppice/app-3. Stay in it; do not switch branches.
- Do this task and nothing else. Commit your work; what you leave uncommitted is committed for you.
- Your work lands on main only when it merges with it and its checks pass.
');
INSERT INTO prompts VALUES(4,'Task app-4: Ask a question

How to work:
- You are in a git repository of your own, on branch coppice/app-4. Stay in it; do not switch branches.
- Do this task and nothing else. Commit your work; what you leave uncommitted is committed for you.
- Your work lands on main only when it merges with it and its checks pass.
');
INSERT INTO prompts VALUES(5,'Task app-5: Wait for an answer

How to work:
- You are in a git repository of your own, on branch coppice/app-5. Stay in it; do not switch branches.
- Do this task and nothing else. Commit your work; what you leave uncommitted is committed for you.
- Your work lands on main only when it merges with it and its checks pass.
');
INSERT INTO prompts VALUES(6,'Task app-6: Wait for a message

How to work:
- You are in a git repository of your own, on branch coppice/app-6. Stay in it; do not switch branches.
- Do this task and nothing else. Commit your work; what you leave uncommitted is committed for you.
- Your work lands on main only when it merges with it and its checks pass.
');
INSERT INTO prompts VALUES(7,'Task app-7: Wait for the next turn

How to work:
- You are in a git repository of your own, on branch coppice/app-7. Stay in it; do not switch branches.
- Do this task and nothing else. Commit your work; what you leave uncommitted is committed for you.
- Your work lands on main only when it merges with it and its checks pass.
');
INSERT INTO prompts VALUES(8,'Task app-8: Change the model

How to work:
- You are in a git repository of your own, on branch coppice/app-8. Stay in it; do not switch branches.
- Do this task and nothing else. Commit your work; what you leave uncommitted is committed for you.
- Your work lands on main only when it merges with it and its checks pass.
');
INSERT INTO prompts VALUES(9,'Task app-9: Interrupt me

How to work:
- You are in a git repository of your own, on branch coppice/app-9. Stay in it; do not switch branches.
- Do this task and nothing else. Commit your work; what you leave uncommitted is committed for you.
- Your work lands on main only when it merges with it and its checks pass.
');
INSERT INTO prompts VALUES(10,'Task app-11: Stop me

How to work:
- You are in a git repository of your own, on branch coppice/app-11. Stay in it; do not switch branches.
- Do this task and nothing else. Commit your work; what you leave uncommitted is committed for you.
- Your work lands on main only when it merges with it and its checks pass.
');
INSERT INTO prompts VALUES(11,'Task app-12: Requeue me

How to work:
- You are in a git repository of your own, on branch coppice/app-12. Stay in it; do not switch branches.
- Do this task and nothing else. Commit your work; what you leave uncommitted is committed for you.
- Your work lands on main only when it merges with it and its checks pass.
');
INSERT INTO prompts VALUES(12,'Task app-13: Retry me

How to work:
- You are in a git repository of your own, on branch coppice/app-13. Stay in it; do not switch branches.
- Do this task and nothing else. Commit your work; what you leave uncommitted is committed for you.
- Your work lands on main only when it merges with it and its checks pass.
');
INSERT INTO prompts VALUES(13,'Task app-14: Ask for help

How to work:
- You are in a git repository of your own, on branch coppice/app-14. Stay in it; do not switch branches.
- Do this task and nothing else. Commit your work; what you leave uncommitted is committed for you.
- Your work lands on main only when it merges with it and its checks pass.
');
INSERT INTO prompts VALUES(14,'Task app-15: Land me

How to work:
- You are in a git repository of your own, on branch coppice/app-15. Stay in it; do not switch branches.
- Do this task and nothing else. Commit your work; what you leave uncommitted is committed for you.
- Your work lands on main only when it merges with it and its checks pass.
');
INSERT INTO prompts VALUES(15,'Task app-16: Take me

How to work:
- You are in a git repository of your own, on branch coppice/app-16. Stay in it; do not switch branches.
- Do this task and nothing else. Commit your work; what you leave uncommitted is committed for you.
- Your work lands on main only when it merges with it and its checks pass.
');
INSERT INTO prompts VALUES(16,'Task app-17: Give me back

How to work:
- You are in a git repository of your own, on branch coppice/app-17. Stay in it; do not switch branches.
- Do this task and nothing else. Commit your work; what you leave uncommitted is committed for you.
- Your work lands on main only when it merges with it and its checks pass.
');
INSERT INTO prompts VALUES(17,'Task app-18: Continue me

How to work:
- You are in a git repository of your own, on branch coppice/app-18. Stay in it; do not switch branches.
- Do this task and nothing else. Commit your work; what you leave uncommitted is committed for you.
- Your work lands on main only when it merges with it and its checks pass.
');
INSERT INTO prompts VALUES(18,'Task app-19: Undo me

How to work:
- You are in a git repository of your own, on branch coppice/app-19. Stay in it; do not switch branches.
- Do this task and nothing else. Commit your work; what you leave uncommitted is committed for you.
- Your work lands on main only when it merges with it and its checks pass.
');
INSERT INTO prompts VALUES(19,'Task app-20: Leave this in the trash

How to work:
- You are in a git repository of your own, on branch coppice/app-20. Stay in it; do not switch branches.
- Do this task and nothing else. Commit your work; what you leave uncommitted is committed for you.
- Your work lands on main only when it merges with it and its checks pass.
');
INSERT INTO prompts VALUES(20,'Task app-21: Wait for the account

How to work:
- You are in a git repository of your own, on branch coppice/app-21. Stay in it; do not switch branches.
- Do this task and nothing else. Commit your work; what you leave uncommitted is committed for you.
- Your work lands on main only when it merges with it and its checks pass.
');
INSERT INTO prompts VALUES(21,'Task held-1: Hold me

How to work:
- You are in a git repository of your own, on branch coppice/held-1. Stay in it; do not switch branches.
- Do this task and nothing else. Commit your work; what you leave uncommitted is committed for you.
- Your work lands on main only when it merges with it and its checks pass.
');
INSERT INTO prompts VALUES(22,'Task held-2: Hold me until I say so

How to work:
- You are in a git repository of your own, on branch coppice/held-2. Stay in it; do not switch branches.
- Do this task and nothing else. Commit your work; what you leave uncommitted is committed for you.
- Your work lands on main only when it merges with it and its checks pass.
');
INSERT INTO prompts VALUES(23,'Task asks-1: Ask for permission

How to work:
- You are in a git repository of your own, on branch coppice/asks-1. Stay in it; do not switch branches.
- Do this task and nothing else. Commit your work; what you leave uncommitted is committed for you.
- Your work lands on main only when it merges with it and its checks pass.
');
INSERT INTO workspaces VALUES(1,5,1,'worktree','local','/machine/state/workspaces/c8ffb55a18cc113c/coppice-001','coppice/feat-1','fa1c6dee19b384c882780b089547b8b2e99112cd','[20000,20001]',1794794492650153263,1794794492864064340,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(2,1,3,'worktree','local','/machine/state/workspaces/126dea7b3d6334ad/coppice-001','coppice/app-1','b7207bb77f7d9217bc651a133aac94efeb1b6340','[20002,20003]',1794794492847336357,1794794493049247714,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(3,1,5,'worktree','local','/machine/state/workspaces/126dea7b3d6334ad/coppice-002','coppice/app-3','b7207bb77f7d9217bc651a133aac94efeb1b6340','[20004,20005]',1794794493218561874,1794794493348425537,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(4,1,6,'worktree','local','/machine/state/workspaces/126dea7b3d6334ad/coppice-003','coppice/app-4','b7207bb77f7d9217bc651a133aac94efeb1b6340','[20006,20007]',1794794493325971724,1794794493504332547,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(5,1,7,'worktree','local','/machine/state/workspaces/126dea7b3d6334ad/coppice-004','coppice/app-5','b7207bb77f7d9217bc651a133aac94efeb1b6340','[20008,20009]',1794794493556358216,1794794493702213201,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(6,1,8,'worktree','local','/machine/state/workspaces/126dea7b3d6334ad/coppice-005','coppice/app-6','b7207bb77f7d9217bc651a133aac94efeb1b6340','[20010,20011]',1794794493730330366,1794794493773600877,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(7,1,9,'worktree','local','/machine/state/workspaces/126dea7b3d6334ad/coppice-006','coppice/app-7','b7207bb77f7d9217bc651a133aac94efeb1b6340','[20012,20013]',1794794493923001119,1794794494022644519,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(8,1,10,'worktree','local','/machine/state/workspaces/126dea7b3d6334ad/coppice-007','coppice/app-8','b7207bb77f7d9217bc651a133aac94efeb1b6340','[20014,20015]',1794794494065976233,1794794494151702177,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(9,1,11,'worktree','local','/machine/state/workspaces/126dea7b3d6334ad/coppice-008','coppice/app-9','b7207bb77f7d9217bc651a133aac94efeb1b6340','[20016,20017]',1794794494188295062,1794794494313593165,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(10,1,13,'worktree','local','/machine/state/workspaces/126dea7b3d6334ad/coppice-009','coppice/app-11','b7207bb77f7d9217bc651a133aac94efeb1b6340','[20018,20019]',1794794494579282155,1794794494636184833,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(11,1,14,'worktree','local','/machine/state/workspaces/126dea7b3d6334ad/coppice-010','coppice/app-12','b7207bb77f7d9217bc651a133aac94efeb1b6340','[20020,20021]',1794794494706337333,1794794494873379290,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(12,1,15,'worktree','local','/machine/state/workspaces/126dea7b3d6334ad/coppice-011','coppice/app-13','b7207bb77f7d9217bc651a133aac94efeb1b6340','[20022,20023]',1794794494918203132,1794794495048656086,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(13,1,16,'worktree','local','/machine/state/workspaces/126dea7b3d6334ad/coppice-012','coppice/app-14','b7207bb77f7d9217bc651a133aac94efeb1b6340','[20024,20025]',1794794495219578435,1794794495463402158,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(14,1,17,'worktree','local','/machine/state/workspaces/126dea7b3d6334ad/coppice-013','coppice/app-15','b7207bb77f7d9217bc651a133aac94efeb1b6340','[20026,20027]',1794794495494754966,1794794495619093925,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(15,1,18,'worktree','local','/machine/state/workspaces/126dea7b3d6334ad/coppice-014','coppice/app-16','b7207bb77f7d9217bc651a133aac94efeb1b6340','[20028,20029]',1794794495652848818,1794794495739781114,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(16,1,19,'worktree','local','/machine/state/workspaces/126dea7b3d6334ad/coppice-015','coppice/app-17','b7207bb77f7d9217bc651a133aac94efeb1b6340','[20030,20031]',1794794495872572078,1794794495993453299,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(17,1,20,'worktree','local','/machine/state/workspaces/126dea7b3d6334ad/coppice-016','coppice/app-18','b7207bb77f7d9217bc651a133aac94efeb1b6340','[20032,20033]',1794794496054618067,1794794496142603468,1794794496807921722,1,0,0,NULL);
INSERT INTO workspaces VALUES(18,1,21,'worktree','local','/machine/state/workspaces/126dea7b3d6334ad/coppice-017','coppice/app-19','b7207bb77f7d9217bc651a133aac94efeb1b6340','[20034,20035]',1794794496215658865,1794794496319530628,1794794498413709401,3,0,0,NULL);
INSERT INTO workspaces VALUES(19,1,22,'worktree','local','/machine/state/workspaces/126dea7b3d6334ad/coppice-018','coppice/app-20','b7207bb77f7d9217bc651a133aac94efeb1b6340','[20036,20037]',1794794496279037278,1794794496499566703,1794794497176440962,2,0,0,NULL);
INSERT INTO workspaces VALUES(20,1,23,'worktree','local','/machine/state/workspaces/126dea7b3d6334ad/coppice-019','coppice/app-21','e4cfa06a54305ebdeab1849003b5187d2fa463d7','[20038,20039]',1794794496626300736,1794794496790374178,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(21,2,24,'worktree','local','/machine/state/workspaces/1f8f3caf49a0543d/coppice-001','coppice/held-1','b75904b22e2902d9b3d466c674f7e17149713387','[20032,20033]',1794794496842099075,1794794497008602027,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(22,2,25,'worktree','local','/machine/state/workspaces/1f8f3caf49a0543d/coppice-002','coppice/held-2','b75904b22e2902d9b3d466c674f7e17149713387','[20040,20041]',1794794497008602027,1794794497146899867,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(23,4,27,'worktree','local','/machine/state/workspaces/722ddd95ca3a0b5d/coppice-001','coppice/asks-1','0cd5ca517eecd0a5ebc1ad55b2d57a96da932e27','[20036,20037]',1794794497319996700,1794794497433843516,NULL,0,0,0,NULL);
INSERT INTO landings VALUES(1,1,20,17,0,'9976cd7cb3a49f9d4f92eac80f18ffe006b403a4',1794794496499566703,'b7207bb77f7d9217bc651a133aac94efeb1b6340','b4809d8acbdd81ad012ffe7f1551000deeb437fa','e4cfa06a54305ebdeab1849003b5187d2fa463d7',1,0,1794794496524334713,'',0,NULL,2,1794794496701094649,'landed',NULL,'',0);
INSERT INTO landings VALUES(2,1,22,19,0,'ebd8b4cdb303f1d40d2d01641d82878972f0d411',1794794496740307318,'e4cfa06a54305ebdeab1849003b5187d2fa463d7','f05dbc94f153a65b920c55940e6d293911aae503','bb5e9b146df7c1cd5c0d76bddbb345d6ac5757a0',1,0,1794794496842099075,'',0,NULL,2,1794794497033267543,'landed',NULL,'',0);
INSERT INTO landings VALUES(3,2,24,21,0,'72a4ab82b13c835be0aa718c60644baa03f0647e',1794794497139731820,'b75904b22e2902d9b3d466c674f7e17149713387','8d4ff1d4a923e253638aab3ff697b1577c0d2a22','f9259b437aa7794a3e59ddd9d9d43d5ef2e739c7',1,0,NULL,'',0,NULL,1,NULL,'',NULL,'',0);
INSERT INTO landings VALUES(4,2,25,22,0,'5bb15e168cad3d25a64c38861be94f7a6523755d',1794794497350026858,'b75904b22e2902d9b3d466c674f7e17149713387','fe540673add6dc5c4f7bbd365828d9490788fb88','3092610f0ef8fe19b486f6a9513d7b68fb215804',1,0,NULL,'',0,NULL,1,NULL,'',NULL,'',0);
INSERT INTO work VALUES(1,'workspace.prepare','session/1/prepare','local',5,1,1,'settled',1,'local',NULL,NULL,1794794492650153263,1794794492677738314,1794794492861910497,'{"key":"feat-1","repo":"/machine/feat","branch":"coppice/feat-1","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/c8ffb55a18cc113c/coppice-001","base_commit":"fa1c6dee19b384c882780b089547b8b2e99112cd","head":"fa1c6dee19b384c882780b089547b8b2e99112cd","ports":[20000,20001]}');
INSERT INTO work VALUES(2,'workspace.prepare','session/2/prepare','local',1,3,2,'settled',1,'local',NULL,NULL,1794794492847336357,1794794492863939767,1794794493047473570,'{"key":"app-1","repo":"/machine/app","branch":"coppice/app-1","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-001","base_commit":"b7207bb77f7d9217bc651a133aac94efeb1b6340","head":"b7207bb77f7d9217bc651a133aac94efeb1b6340","ports":[20002,20003]}');
INSERT INTO work VALUES(3,'session.run','session/1/run','local',5,1,1,'taken',1,'local',1794794522866696196,NULL,1794794492864064340,1794794492866696196,NULL,'{"session":{"id":1,"project_id":5,"task_id":1,"n":1,"key":"feat-1.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:01:32.650153263Z","from":"fa1c6dee19b384c882780b089547b8b2e99112cd","usage":{},"cursor":0},"task":"feat-1","title":"Do first","repo":"/machine/feat","path":"/machine/state/workspaces/c8ffb55a18cc113c/coppice-001","branch":"coppice/feat-1","ports":[20000,20001],"base":"main","permissions":{},"output":"256 MiB"}',NULL);
INSERT INTO work VALUES(4,'session.run','session/2/run','local',1,3,2,'taken',1,'local',1794794523053019989,NULL,1794794493049247714,1794794493053019989,NULL,'{"session":{"id":2,"project_id":1,"task_id":3,"n":1,"key":"app-1.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:01:32.847336357Z","from":"b7207bb77f7d9217bc651a133aac94efeb1b6340","usage":{},"cursor":0},"task":"app-1","title":"Keep running","repo":"/machine/app","path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-001","branch":"coppice/app-1","ports":[20002,20003],"base":"main","permissions":{},"output":"256 MiB"}',NULL);
INSERT INTO work VALUES(5,'workspace.prepare','session/3/prepare','local',1,5,3,'settled',1,'local',NULL,NULL,1794794493218561874,1794794493224443960,1794794493337054875,'{"key":"app-3","repo":"/machine/app","branch":"coppice/app-3","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-002","base_commit":"b7207bb77f7d9217bc651a133aac94efeb1b6340","head":"b7207bb77f7d9217bc651a133aac94efeb1b6340","ports":[20004,20005]}');
INSERT INTO work VALUES(6,'workspace.prepare','session/4/prepare','local',1,6,4,'settled',1,'local',NULL,NULL,1794794493325971724,1794794493340908632,1794794493473167369,'{"key":"app-4","repo":"/machine/app","branch":"coppice/app-4","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-003","base_commit":"b7207bb77f7d9217bc651a133aac94efeb1b6340","head":"b7207bb77f7d9217bc651a133aac94efeb1b6340","ports":[20006,20007]}');
INSERT INTO work VALUES(7,'session.run','session/3/run','local',1,5,3,'taken',1,'local',1794794523356841175,NULL,1794794493348425537,1794794493356841175,NULL,'{"session":{"id":3,"project_id":1,"task_id":5,"n":1,"key":"app-3.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:01:33.218561874Z","from":"b7207bb77f7d9217bc651a133aac94efeb1b6340","usage":{},"cursor":0},"task":"app-3","title":"End without a server","repo":"/machine/app","path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-002","branch":"coppice/app-3","ports":[20004,20005],"base":"main","permissions":{},"output":"256 MiB"}',NULL);
INSERT INTO work VALUES(8,'session.run','session/4/run','local',1,6,4,'taken',1,'local',1794794523506760201,NULL,1794794493504332547,1794794493506760201,NULL,'{"session":{"id":4,"project_id":1,"task_id":6,"n":1,"key":"app-4.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:01:33.325971724Z","from":"b7207bb77f7d9217bc651a133aac94efeb1b6340","usage":{},"cursor":0},"task":"app-4","title":"Ask a question","repo":"/machine/app","path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-003","branch":"coppice/app-4","ports":[20006,20007],"base":"main","permissions":{},"output":"256 MiB"}',NULL);
INSERT INTO work VALUES(9,'workspace.prepare','session/5/prepare','local',1,7,5,'settled',1,'local',NULL,NULL,1794794493556358216,1794794493564242722,1794794493698324348,'{"key":"app-5","repo":"/machine/app","branch":"coppice/app-5","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-004","base_commit":"b7207bb77f7d9217bc651a133aac94efeb1b6340","head":"b7207bb77f7d9217bc651a133aac94efeb1b6340","ports":[20008,20009]}');
INSERT INTO work VALUES(10,'session.run','session/5/run','local',1,7,5,'taken',1,'local',1794794523711455804,NULL,1794794493702213201,1794794493711455804,NULL,'{"session":{"id":5,"project_id":1,"task_id":7,"n":1,"key":"app-5.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:01:33.556358216Z","from":"b7207bb77f7d9217bc651a133aac94efeb1b6340","usage":{},"cursor":0},"task":"app-5","title":"Wait for an answer","repo":"/machine/app","path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-004","branch":"coppice/app-5","ports":[20008,20009],"base":"main","permissions":{},"output":"256 MiB"}',NULL);
INSERT INTO work VALUES(11,'workspace.prepare','session/6/prepare','local',1,8,6,'settled',1,'local',NULL,NULL,1794794493730330366,1794794493733948042,1794794493771391376,'{"key":"app-6","repo":"/machine/app","branch":"coppice/app-6","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-005","base_commit":"b7207bb77f7d9217bc651a133aac94efeb1b6340","head":"b7207bb77f7d9217bc651a133aac94efeb1b6340","ports":[20010,20011]}');
INSERT INTO work VALUES(12,'session.run','session/6/run','local',1,8,6,'taken',1,'local',1794794523788193412,NULL,1794794493773600877,1794794493788193412,NULL,'{"session":{"id":6,"project_id":1,"task_id":8,"n":1,"key":"app-6.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:01:33.730330366Z","from":"b7207bb77f7d9217bc651a133aac94efeb1b6340","usage":{},"cursor":0},"task":"app-6","title":"Wait for a message","repo":"/machine/app","path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-005","branch":"coppice/app-6","ports":[20010,20011],"base":"main","permissions":{},"output":"256 MiB"}',NULL);
INSERT INTO work VALUES(13,'workspace.prepare','session/7/prepare','local',1,9,7,'settled',1,'local',NULL,NULL,1794794493923001119,1794794493927198338,1794794494003106658,'{"key":"app-7","repo":"/machine/app","branch":"coppice/app-7","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-006","base_commit":"b7207bb77f7d9217bc651a133aac94efeb1b6340","head":"b7207bb77f7d9217bc651a133aac94efeb1b6340","ports":[20012,20013]}');
INSERT INTO work VALUES(14,'session.run','session/7/run','local',1,9,7,'taken',1,'local',1794794524028517789,NULL,1794794494022644519,1794794494028517789,NULL,'{"session":{"id":7,"project_id":1,"task_id":9,"n":1,"key":"app-7.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:01:33.923001119Z","from":"b7207bb77f7d9217bc651a133aac94efeb1b6340","usage":{},"cursor":0},"task":"app-7","title":"Wait for the next turn","repo":"/machine/app","path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-006","branch":"coppice/app-7","ports":[20012,20013],"base":"main","permissions":{},"output":"256 MiB"}',NULL);
INSERT INTO work VALUES(15,'workspace.prepare','session/8/prepare','local',1,10,8,'settled',1,'local',NULL,NULL,1794794494065976233,1794794494090106073,1794794494133588656,'{"key":"app-8","repo":"/machine/app","branch":"coppice/app-8","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-007","base_commit":"b7207bb77f7d9217bc651a133aac94efeb1b6340","head":"b7207bb77f7d9217bc651a133aac94efeb1b6340","ports":[20014,20015]}');
INSERT INTO work VALUES(16,'session.run','session/8/run','local',1,10,8,'taken',1,'local',1794794524155104802,NULL,1794794494151702177,1794794494155104802,NULL,'{"session":{"id":8,"project_id":1,"task_id":10,"n":1,"key":"app-8.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:01:34.065976233Z","from":"b7207bb77f7d9217bc651a133aac94efeb1b6340","usage":{},"cursor":0},"task":"app-8","title":"Change the model","repo":"/machine/app","path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-007","branch":"coppice/app-8","ports":[20014,20015],"base":"main","permissions":{},"output":"256 MiB"}',NULL);
INSERT INTO work VALUES(17,'workspace.prepare','session/9/prepare','local',1,11,9,'settled',1,'local',NULL,NULL,1794794494188295062,1794794494191067350,1794794494283263506,'{"key":"app-9","repo":"/machine/app","branch":"coppice/app-9","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-008","base_commit":"b7207bb77f7d9217bc651a133aac94efeb1b6340","head":"b7207bb77f7d9217bc651a133aac94efeb1b6340","ports":[20016,20017]}');
INSERT INTO work VALUES(18,'session.run','session/9/run','local',1,11,9,'taken',1,'local',1794794524326194100,NULL,1794794494313593165,1794794494326194100,NULL,'{"session":{"id":9,"project_id":1,"task_id":11,"n":1,"key":"app-9.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:01:34.188295062Z","from":"b7207bb77f7d9217bc651a133aac94efeb1b6340","usage":{},"cursor":0},"task":"app-9","title":"Interrupt me","repo":"/machine/app","path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-008","branch":"coppice/app-9","ports":[20016,20017],"base":"main","permissions":{},"output":"256 MiB"}',NULL);
INSERT INTO work VALUES(19,'workspace.prepare','session/10/prepare','local',1,13,10,'settled',1,'local',NULL,NULL,1794794494579282155,1794794494586024708,1794794494629607268,'{"key":"app-11","repo":"/machine/app","branch":"coppice/app-11","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-009","base_commit":"b7207bb77f7d9217bc651a133aac94efeb1b6340","head":"b7207bb77f7d9217bc651a133aac94efeb1b6340","ports":[20018,20019]}');
INSERT INTO work VALUES(20,'session.run','session/10/run','local',1,13,10,'taken',1,'local',1794794524649243969,NULL,1794794494636184833,1794794494649243969,NULL,'{"session":{"id":10,"project_id":1,"task_id":13,"n":1,"key":"app-11.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:01:34.579282155Z","from":"b7207bb77f7d9217bc651a133aac94efeb1b6340","usage":{},"cursor":0},"task":"app-11","title":"Stop me","repo":"/machine/app","path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-009","branch":"coppice/app-11","ports":[20018,20019],"base":"main","permissions":{},"output":"256 MiB"}',NULL);
INSERT INTO work VALUES(21,'workspace.prepare','session/11/prepare','local',1,14,11,'settled',1,'local',NULL,NULL,1794794494706337333,1794794494709897232,1794794494872327425,'{"key":"app-12","repo":"/machine/app","branch":"coppice/app-12","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-010","base_commit":"b7207bb77f7d9217bc651a133aac94efeb1b6340","head":"b7207bb77f7d9217bc651a133aac94efeb1b6340","ports":[20020,20021]}');
INSERT INTO work VALUES(22,'session.run','session/11/run','local',1,14,11,'taken',1,'local',1794794524875981660,NULL,1794794494873379290,1794794494875981660,NULL,'{"session":{"id":11,"project_id":1,"task_id":14,"n":1,"key":"app-12.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:01:34.706337333Z","from":"b7207bb77f7d9217bc651a133aac94efeb1b6340","usage":{},"cursor":0},"task":"app-12","title":"Requeue me","repo":"/machine/app","path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-010","branch":"coppice/app-12","ports":[20020,20021],"base":"main","permissions":{},"output":"256 MiB"}',NULL);
INSERT INTO work VALUES(23,'workspace.prepare','session/12/prepare','local',1,15,12,'settled',1,'local',NULL,NULL,1794794494918203132,1794794494930696412,1794794495047850822,'{"key":"app-13","repo":"/machine/app","branch":"coppice/app-13","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-011","base_commit":"b7207bb77f7d9217bc651a133aac94efeb1b6340","head":"b7207bb77f7d9217bc651a133aac94efeb1b6340","ports":[20022,20023]}');
INSERT INTO work VALUES(24,'session.run','session/12/run','local',1,15,12,'settled',1,'local',NULL,NULL,1794794495048656086,1794794495055690635,1794794495189256462,'{"session":{"id":12,"project_id":1,"task_id":15,"n":1,"key":"app-13.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:01:34.918203132Z","from":"b7207bb77f7d9217bc651a133aac94efeb1b6340","usage":{},"cursor":0},"task":"app-13","title":"Retry me","repo":"/machine/app","path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-011","branch":"coppice/app-13","ports":[20022,20023],"base":"main","permissions":{},"output":"256 MiB"}','{"exit":1,"conversation":"scripted-app-13-1","failure":{"class":"implementation","text":"it is too hard"},"from":"b7207bb77f7d9217bc651a133aac94efeb1b6340","head":"b7207bb77f7d9217bc651a133aac94efeb1b6340","usage":{}}');
INSERT INTO work VALUES(25,'workspace.prepare','session/13/prepare','local',1,16,13,'settled',1,'local',NULL,NULL,1794794495219578435,1794794495247012534,1794794495462017501,'{"key":"app-14","repo":"/machine/app","branch":"coppice/app-14","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-012","base_commit":"b7207bb77f7d9217bc651a133aac94efeb1b6340","head":"b7207bb77f7d9217bc651a133aac94efeb1b6340","ports":[20024,20025]}');
INSERT INTO work VALUES(26,'session.run','session/13/run','local',1,16,13,'settled',1,'local',NULL,NULL,1794794495463402158,1794794495465642262,1794794495605241853,'{"session":{"id":13,"project_id":1,"task_id":16,"n":1,"key":"app-14.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:01:35.219578435Z","from":"b7207bb77f7d9217bc651a133aac94efeb1b6340","usage":{},"cursor":0},"task":"app-14","title":"Ask for help","repo":"/machine/app","path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-012","branch":"coppice/app-14","ports":[20024,20025],"base":"main","permissions":{},"output":"256 MiB"}','{"exit":1,"conversation":"scripted-app-14-1","failure":{"class":"disk","text":"the disk is full"},"from":"b7207bb77f7d9217bc651a133aac94efeb1b6340","head":"b7207bb77f7d9217bc651a133aac94efeb1b6340","usage":{}}');
INSERT INTO work VALUES(27,'workspace.prepare','session/14/prepare','local',1,17,14,'settled',1,'local',NULL,NULL,1794794495494754966,1794794495516813535,1794794495617723826,'{"key":"app-15","repo":"/machine/app","branch":"coppice/app-15","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-013","base_commit":"b7207bb77f7d9217bc651a133aac94efeb1b6340","head":"b7207bb77f7d9217bc651a133aac94efeb1b6340","ports":[20026,20027]}');
INSERT INTO work VALUES(28,'session.run','session/14/run','local',1,17,14,'settled',1,'local',NULL,NULL,1794794495619093925,1794794495623051827,1794794495930211802,'{"session":{"id":14,"project_id":1,"task_id":17,"n":1,"key":"app-15.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:01:35.494754966Z","from":"b7207bb77f7d9217bc651a133aac94efeb1b6340","usage":{},"cursor":0},"task":"app-15","title":"Land me","repo":"/machine/app","path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-013","branch":"coppice/app-15","ports":[20026,20027],"base":"main","permissions":{},"output":"256 MiB"}','{"exit":1,"conversation":"scripted-app-15-1","failure":{"class":"implementation","text":"it is too hard"},"from":"b7207bb77f7d9217bc651a133aac94efeb1b6340","head":"206f45b9a065cbf1ec8aa330c0c7e72f72172766","stat":" kept.txt | 1 +\n 1 file changed, 1 insertion(+)","usage":{}}');
INSERT INTO work VALUES(29,'workspace.prepare','session/15/prepare','local',1,18,15,'settled',1,'local',NULL,NULL,1794794495652848818,1794794495658900581,1794794495737960253,'{"key":"app-16","repo":"/machine/app","branch":"coppice/app-16","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-014","base_commit":"b7207bb77f7d9217bc651a133aac94efeb1b6340","head":"b7207bb77f7d9217bc651a133aac94efeb1b6340","ports":[20028,20029]}');
INSERT INTO work VALUES(30,'session.run','session/15/run','local',1,18,15,'taken',1,'local',1794794525749821507,NULL,1794794495739781114,1794794495749821507,NULL,'{"session":{"id":15,"project_id":1,"task_id":18,"n":1,"key":"app-16.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:01:35.652848818Z","from":"b7207bb77f7d9217bc651a133aac94efeb1b6340","usage":{},"cursor":0},"task":"app-16","title":"Take me","repo":"/machine/app","path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-014","branch":"coppice/app-16","ports":[20028,20029],"base":"main","permissions":{},"output":"256 MiB"}',NULL);
INSERT INTO work VALUES(31,'workspace.prepare','session/16/prepare','local',1,19,16,'settled',1,'local',NULL,NULL,1794794495872572078,1794794495882264270,1794794495989522487,'{"key":"app-17","repo":"/machine/app","branch":"coppice/app-17","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-015","base_commit":"b7207bb77f7d9217bc651a133aac94efeb1b6340","head":"b7207bb77f7d9217bc651a133aac94efeb1b6340","ports":[20030,20031]}');
INSERT INTO work VALUES(32,'session.run','session/16/run','local',1,19,16,'settled',1,'local',NULL,NULL,1794794495993453299,1794794496000016547,1794794497796475646,'{"session":{"id":16,"project_id":1,"task_id":19,"n":1,"key":"app-17.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:01:35.872572078Z","from":"b7207bb77f7d9217bc651a133aac94efeb1b6340","usage":{},"cursor":0},"task":"app-17","title":"Give me back","repo":"/machine/app","path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-015","branch":"coppice/app-17","ports":[20030,20031],"base":"main","permissions":{},"output":"256 MiB"}','{"exit":1,"stopped":true,"conversation":"scripted-app-17-1","failure":{"class":"cancelled","text":"stopped before it was done"},"from":"b7207bb77f7d9217bc651a133aac94efeb1b6340","head":"54cedb0a0f50dcef2108dc0f8cde0fa4a6eaa1ca","stat":" app-17.1.txt | 1 +\n 1 file changed, 1 insertion(+)","usage":{}}');
INSERT INTO work VALUES(33,'workspace.prepare','session/17/prepare','local',1,20,17,'settled',1,'local',NULL,NULL,1794794496054618067,1794794496056804471,1794794496141663162,'{"key":"app-18","repo":"/machine/app","branch":"coppice/app-18","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-016","base_commit":"b7207bb77f7d9217bc651a133aac94efeb1b6340","head":"b7207bb77f7d9217bc651a133aac94efeb1b6340","ports":[20032,20033]}');
INSERT INTO work VALUES(34,'session.run','session/17/run','local',1,20,17,'settled',1,'local',NULL,NULL,1794794496142603468,1794794496158755035,1794794496494583135,'{"session":{"id":17,"project_id":1,"task_id":20,"n":1,"key":"app-18.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:01:36.054618067Z","from":"b7207bb77f7d9217bc651a133aac94efeb1b6340","usage":{},"cursor":0},"task":"app-18","title":"Continue me","repo":"/machine/app","path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-016","branch":"coppice/app-18","ports":[20032,20033],"base":"main","permissions":{},"output":"256 MiB"}','{"exit":0,"conversation":"scripted-app-18-1","from":"b7207bb77f7d9217bc651a133aac94efeb1b6340","head":"9976cd7cb3a49f9d4f92eac80f18ffe006b403a4","stat":" app-18.txt | 1 +\n 1 file changed, 1 insertion(+)","usage":{}}');
INSERT INTO work VALUES(35,'workspace.prepare','session/18/prepare','local',1,21,18,'settled',1,'local',NULL,NULL,1794794496215658865,1794794496230885745,1794794496307409729,'{"key":"app-19","repo":"/machine/app","branch":"coppice/app-19","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-017","base_commit":"b7207bb77f7d9217bc651a133aac94efeb1b6340","head":"b7207bb77f7d9217bc651a133aac94efeb1b6340","ports":[20034,20035]}');
INSERT INTO work VALUES(36,'workspace.prepare','session/19/prepare','local',1,22,19,'settled',1,'local',NULL,NULL,1794794496279037278,1794794496297126122,1794794496499453121,'{"key":"app-20","repo":"/machine/app","branch":"coppice/app-20","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-018","base_commit":"b7207bb77f7d9217bc651a133aac94efeb1b6340","head":"b7207bb77f7d9217bc651a133aac94efeb1b6340","ports":[20036,20037]}');
INSERT INTO work VALUES(37,'session.run','session/18/run','local',1,21,18,'settled',1,'local',NULL,NULL,1794794496319530628,1794794496378313217,1794794498362736360,'{"session":{"id":18,"project_id":1,"task_id":21,"n":1,"key":"app-19.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:01:36.215658865Z","from":"b7207bb77f7d9217bc651a133aac94efeb1b6340","usage":{},"cursor":0},"task":"app-19","title":"Undo me","repo":"/machine/app","path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-017","branch":"coppice/app-19","ports":[20034,20035],"base":"main","permissions":{},"output":"256 MiB"}','{"exit":1,"stopped":true,"conversation":"scripted-app-19-1","failure":{"class":"cancelled","text":"stopped before it was done"},"from":"b7207bb77f7d9217bc651a133aac94efeb1b6340","head":"78111eb5d10158e1643ae9bb0a2ac3a5f8fcff7a","stat":" gone.txt | 1 +\n 1 file changed, 1 insertion(+)","usage":{}}');
INSERT INTO work VALUES(38,'land.merge','landing/1/1','control',1,20,0,'settled',1,'local',NULL,NULL,1794794496499566703,1794794496515483832,1794794496523403974,'{"repo":"/machine/app","base":"main","head":"9976cd7cb3a49f9d4f92eac80f18ffe006b403a4","strategy":"squash","message":"Continue me\n\nCoppice-Task: app-18\nCoppice-Session: app-18.1\nCoppice-Agent: scripted\n","at":"2026-11-16T02:01:36.499566703Z","ref":"refs/coppice/landing/app-18/1","seen":"b7207bb77f7d9217bc651a133aac94efeb1b6340"}','{"base":"b7207bb77f7d9217bc651a133aac94efeb1b6340","tree":"b4809d8acbdd81ad012ffe7f1551000deeb437fa","commit":"e4cfa06a54305ebdeab1849003b5187d2fa463d7"}');
INSERT INTO work VALUES(39,'session.run','session/19/run','local',1,22,19,'settled',1,'local',NULL,NULL,1794794496499566703,1794794496513364063,1794794496735792856,'{"session":{"id":19,"project_id":1,"task_id":22,"n":1,"key":"app-20.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:01:36.279037278Z","from":"b7207bb77f7d9217bc651a133aac94efeb1b6340","usage":{},"cursor":0},"task":"app-20","title":"Leave this in the trash","repo":"/machine/app","path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-018","branch":"coppice/app-20","ports":[20036,20037],"base":"main","permissions":{},"output":"256 MiB"}','{"exit":0,"conversation":"scripted-app-20-1","from":"b7207bb77f7d9217bc651a133aac94efeb1b6340","head":"ebd8b4cdb303f1d40d2d01641d82878972f0d411","stat":" app-20.txt | 1 +\n 1 file changed, 1 insertion(+)","usage":{}}');
INSERT INTO work VALUES(40,'land.move','landing/1/2','control',1,20,0,'settled',1,'local',NULL,NULL,1794794496524334713,1794794496528344802,1794794496641867661,'{"repo":"/machine/app","base":"main","old":"b7207bb77f7d9217bc651a133aac94efeb1b6340","new":"e4cfa06a54305ebdeab1849003b5187d2fa463d7","ref":"refs/coppice/landing/app-18/1"}','{"moved":true,"now":"e4cfa06a54305ebdeab1849003b5187d2fa463d7"}');
INSERT INTO work VALUES(41,'workspace.prepare','session/20/prepare','local',1,23,20,'settled',1,'local',NULL,NULL,1794794496626300736,1794794496633084466,1794794496782280572,'{"key":"app-21","repo":"/machine/app","branch":"coppice/app-21","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-019","base_commit":"e4cfa06a54305ebdeab1849003b5187d2fa463d7","head":"e4cfa06a54305ebdeab1849003b5187d2fa463d7","ports":[20038,20039]}');
INSERT INTO work VALUES(42,'workspace.remove','workspace/17/remove/1','local',1,20,0,'settled',1,'local',NULL,NULL,1794794496701094649,1794794496719063260,1794794496806352020,'{"key":"app-18","repo":"/machine/app","path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-016","branch":"coppice/app-18","policy":{"keep":[".env*"],"ttl":"14d"}}','{"head":"9976cd7cb3a49f9d4f92eac80f18ffe006b403a4","ref":"refs/coppice/trash/app-18-1"}');
INSERT INTO work VALUES(43,'land.merge','landing/2/1','control',1,22,0,'settled',1,'local',NULL,NULL,1794794496740307318,1794794496756894818,1794794496834261747,'{"repo":"/machine/app","base":"main","head":"ebd8b4cdb303f1d40d2d01641d82878972f0d411","strategy":"squash","message":"Leave this in the trash\n\nCoppice-Task: app-20\nCoppice-Session: app-20.1\nCoppice-Agent: scripted\n","at":"2026-11-16T02:01:36.740307318Z","ref":"refs/coppice/landing/app-20/2","seen":"e4cfa06a54305ebdeab1849003b5187d2fa463d7"}','{"base":"e4cfa06a54305ebdeab1849003b5187d2fa463d7","tree":"f05dbc94f153a65b920c55940e6d293911aae503","commit":"bb5e9b146df7c1cd5c0d76bddbb345d6ac5757a0"}');
INSERT INTO work VALUES(44,'session.run','session/20/run','local',1,23,20,'settled',1,'local',NULL,NULL,1794794496790374178,1794794496794315699,1794794496994312909,'{"session":{"id":20,"project_id":1,"task_id":23,"n":1,"key":"app-21.1","round":0,"role":"implement","track":"main","agent":"other","state":"starting","created_at":"2026-11-16T02:01:36.626300736Z","from":"e4cfa06a54305ebdeab1849003b5187d2fa463d7","usage":{},"cursor":0},"task":"app-21","title":"Wait for the account","repo":"/machine/app","path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-019","branch":"coppice/app-21","ports":[20038,20039],"profile":{"protocol":"scripted","command":["{coppice}","scripted"],"args":[".coppice/other.yaml"],"scores":{}},"base":"main","permissions":{},"output":"256 MiB"}','{"exit":1,"conversation":"scripted-app-21-1","failure":{"class":"rate_limit","text":"come back later","retry_at":"2026-11-16T22:01:36.876Z"},"from":"e4cfa06a54305ebdeab1849003b5187d2fa463d7","head":"e4cfa06a54305ebdeab1849003b5187d2fa463d7","usage":{}}');
INSERT INTO work VALUES(45,'land.move','landing/2/2','control',1,22,0,'settled',1,'local',NULL,NULL,1794794496842099075,1794794496850211377,1794794497023750448,'{"repo":"/machine/app","base":"main","old":"e4cfa06a54305ebdeab1849003b5187d2fa463d7","new":"bb5e9b146df7c1cd5c0d76bddbb345d6ac5757a0","ref":"refs/coppice/landing/app-20/2"}','{"moved":true,"now":"bb5e9b146df7c1cd5c0d76bddbb345d6ac5757a0"}');
INSERT INTO work VALUES(46,'workspace.prepare','session/21/prepare','local',2,24,21,'settled',1,'local',NULL,NULL,1794794496842099075,1794794496850211377,1794794497008424385,'{"key":"held-1","repo":"/machine/held","branch":"coppice/held-1","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/1f8f3caf49a0543d/coppice-001","base_commit":"b75904b22e2902d9b3d466c674f7e17149713387","head":"b75904b22e2902d9b3d466c674f7e17149713387","ports":[20032,20033]}');
INSERT INTO work VALUES(47,'session.run','session/21/run','local',2,24,21,'settled',1,'local',NULL,NULL,1794794497008602027,1794794497023927769,1794794497136096320,'{"session":{"id":21,"project_id":2,"task_id":24,"n":1,"key":"held-1.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:01:36.842099075Z","from":"b75904b22e2902d9b3d466c674f7e17149713387","usage":{},"cursor":0},"task":"held-1","title":"Hold me","repo":"/machine/held","path":"/machine/state/workspaces/1f8f3caf49a0543d/coppice-001","branch":"coppice/held-1","ports":[20032,20033],"base":"main","permissions":{},"output":"256 MiB"}','{"exit":0,"conversation":"scripted-held-1-1","from":"b75904b22e2902d9b3d466c674f7e17149713387","head":"72a4ab82b13c835be0aa718c60644baa03f0647e","stat":" held-1.txt | 1 +\n 1 file changed, 1 insertion(+)","usage":{}}');
INSERT INTO work VALUES(48,'workspace.prepare','session/22/prepare','local',2,25,22,'settled',1,'local',NULL,NULL,1794794497008602027,1794794497030479876,1794794497145756572,'{"key":"held-2","repo":"/machine/held","branch":"coppice/held-2","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/1f8f3caf49a0543d/coppice-002","base_commit":"b75904b22e2902d9b3d466c674f7e17149713387","head":"b75904b22e2902d9b3d466c674f7e17149713387","ports":[20040,20041]}');
INSERT INTO work VALUES(49,'workspace.remove','workspace/19/remove/1','local',1,22,0,'settled',1,'local',NULL,NULL,1794794497033267543,1794794497061046817,1794794497176312131,'{"key":"app-20","repo":"/machine/app","path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-018","branch":"coppice/app-20","policy":{"keep":[".env*"],"ttl":"14d"}}','{"head":"ebd8b4cdb303f1d40d2d01641d82878972f0d411","ref":"refs/coppice/trash/app-20-1"}');
INSERT INTO work VALUES(50,'land.merge','landing/3/1','control',2,24,0,'settled',1,'local',NULL,NULL,1794794497139731820,1794794497142772329,1794794497169490791,'{"repo":"/machine/held","base":"main","head":"72a4ab82b13c835be0aa718c60644baa03f0647e","strategy":"squash","message":"Hold me\n\nCoppice-Task: held-1\nCoppice-Session: held-1.1\nCoppice-Agent: scripted\n","at":"2026-11-16T02:01:37.13973182Z","ref":"refs/coppice/landing/held-1/3","seen":"b75904b22e2902d9b3d466c674f7e17149713387"}','{"base":"b75904b22e2902d9b3d466c674f7e17149713387","tree":"8d4ff1d4a923e253638aab3ff697b1577c0d2a22","commit":"f9259b437aa7794a3e59ddd9d9d43d5ef2e739c7"}');
INSERT INTO work VALUES(51,'session.run','session/22/run','local',2,25,22,'settled',1,'local',NULL,NULL,1794794497146899867,1794794497149048701,1794794497338164853,'{"session":{"id":22,"project_id":2,"task_id":25,"n":1,"key":"held-2.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:01:37.008602027Z","from":"b75904b22e2902d9b3d466c674f7e17149713387","usage":{},"cursor":0},"task":"held-2","title":"Hold me until I say so","repo":"/machine/held","path":"/machine/state/workspaces/1f8f3caf49a0543d/coppice-002","branch":"coppice/held-2","ports":[20040,20041],"base":"main","permissions":{},"output":"256 MiB"}','{"exit":0,"conversation":"scripted-held-2-1","from":"b75904b22e2902d9b3d466c674f7e17149713387","head":"5bb15e168cad3d25a64c38861be94f7a6523755d","stat":" held-2.txt | 1 +\n 1 file changed, 1 insertion(+)","usage":{}}');
INSERT INTO work VALUES(52,'workspace.prepare','session/23/prepare','local',4,27,23,'settled',1,'local',NULL,NULL,1794794497319996700,1794794497336310360,1794794497428827988,'{"key":"asks-1","repo":"/machine/asks","branch":"coppice/asks-1","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/722ddd95ca3a0b5d/coppice-001","base_commit":"0cd5ca517eecd0a5ebc1ad55b2d57a96da932e27","head":"0cd5ca517eecd0a5ebc1ad55b2d57a96da932e27","ports":[20036,20037]}');
INSERT INTO work VALUES(53,'land.merge','landing/4/1','control',2,25,0,'settled',1,'local',NULL,NULL,1794794497350026858,1794794497362452027,1794794497385480718,'{"repo":"/machine/held","base":"main","head":"5bb15e168cad3d25a64c38861be94f7a6523755d","strategy":"squash","message":"Hold me until I say so\n\nCoppice-Task: held-2\nCoppice-Session: held-2.1\nCoppice-Agent: scripted\n","at":"2026-11-16T02:01:37.350026858Z","ref":"refs/coppice/landing/held-2/4","seen":"b75904b22e2902d9b3d466c674f7e17149713387"}','{"base":"b75904b22e2902d9b3d466c674f7e17149713387","tree":"fe540673add6dc5c4f7bbd365828d9490788fb88","commit":"3092610f0ef8fe19b486f6a9513d7b68fb215804"}');
INSERT INTO work VALUES(54,'session.run','session/23/run','local',4,27,23,'taken',1,'local',1794794527449690684,NULL,1794794497433843516,1794794497449690684,NULL,'{"session":{"id":23,"project_id":4,"task_id":27,"n":1,"key":"asks-1.1","round":0,"role":"implement","track":"main","agent":"asker","state":"starting","created_at":"2026-11-16T02:01:37.3199967Z","from":"0cd5ca517eecd0a5ebc1ad55b2d57a96da932e27","usage":{},"cursor":0},"task":"asks-1","title":"Ask for permission","repo":"/machine/asks","path":"/machine/state/workspaces/722ddd95ca3a0b5d/coppice-001","branch":"coppice/asks-1","ports":[20036,20037],"profile":{"protocol":"acp","command":["node","asker.mjs"],"scores":{}},"base":"main","permissions":{"default":"ask"},"output":"256 MiB"}',NULL);
INSERT INTO work VALUES(55,'session.stop','session/16/stop/1','local',1,19,16,'settled',1,'local',NULL,NULL,1794794497721875006,1794794497737341663,1794794497740278999,'{"session":"app-17.1","grace":"5s"}','{}');
INSERT INTO work VALUES(56,'session.run','session/24/run','local',1,19,24,'taken',1,'local',1794794527801363365,NULL,1794794497797850606,1794794497801363365,NULL,'{"session":{"id":24,"project_id":1,"task_id":19,"n":2,"key":"app-17.2","round":0,"role":"implement","track":"main","agent":"scripted","resume":"scripted-app-17-1","screen":true,"state":"starting","created_at":"2026-11-16T02:01:37.797850606Z","usage":{},"cursor":0},"task":"app-17","title":"Give me back","repo":"/machine/app","path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-015","branch":"coppice/app-17","ports":[20030,20031],"base":"main","permissions":{},"output":"256 MiB"}',NULL);
INSERT INTO work VALUES(57,'session.stop','session/18/stop/1','local',1,21,18,'settled',1,'local',NULL,NULL,1794794498285238266,1794794498287540065,1794794498289417862,'{"session":"app-19.1","grace":"5s"}','{}');
INSERT INTO work VALUES(58,'workspace.remove','workspace/18/remove/1','local',1,21,0,'settled',1,'local',NULL,NULL,1794794498365722428,1794794498370280390,1794794498409737663,'{"key":"app-19","repo":"/machine/app","path":"/machine/state/workspaces/126dea7b3d6334ad/coppice-017","branch":"coppice/app-19","policy":{"keep":[".env*"],"ttl":"14d"}}','{"head":"78111eb5d10158e1643ae9bb0a2ac3a5f8fcff7a","ref":"refs/coppice/trash/app-19-1"}');
INSERT INTO work VALUES(59,'session.send','question/3/1794794498660272953','local',4,27,23,'settled',1,'local',NULL,NULL,1794794498661716960,1794794498666819711,1794794498697986331,'{"id":"question/3/1794794498660272953","session":"asks-1.1","text":"allow always","question":"permission-1"}','{"delivered":true}');
INSERT INTO questions VALUES(1,6,4,'q1','','Which colour?','["red","blue"]',NULL,1794794493620301438,'',NULL,NULL);
INSERT INTO questions VALUES(2,7,5,'q1','','Which shape?',NULL,NULL,1794794493766025198,'round',1794794499172579052,NULL);
INSERT INTO questions VALUES(3,27,23,'permission-1','permission','may it run: npm test first','["allow","allow always","deny","deny always"]','{"tool":"run","match":"npm test *","do":"allow"}',1794794497891446645,'allow always',1794794498660272953,1794794498698167089);
INSERT INTO questions VALUES(4,27,23,'permission-2','permission','may it run: rm -r build','["allow","allow always","deny","deny always"]','{"tool":"run","match":"rm -r build *","do":"allow"}',1794794498697115643,'',NULL,NULL);
INSERT INTO messages VALUES(1,8,0,'','a word','person',1794794499187581141,NULL,'');
INSERT INTO messages VALUES(2,9,0,'next','a later word','person',1794794499190806034,NULL,'');
INSERT INTO messages VALUES(3,10,0,'model','big','person',1794794499194541832,NULL,'');
INSERT INTO messages VALUES(4,11,0,'interrupt','','person',1794794499196614994,NULL,'');
INSERT INTO agent_limits VALUES('other',1794866496876000000,'rate_limit','come back later');
INSERT INTO trash VALUES(1,1,20,'workspace','/machine/state/workspaces/126dea7b3d6334ad/coppice-016','coppice/app-18','9976cd7cb3a49f9d4f92eac80f18ffe006b403a4','refs/coppice/trash/app-18-1','',1794794496807921722,1796004096807921722,NULL,NULL);
INSERT INTO trash VALUES(2,1,22,'workspace','/machine/state/workspaces/126dea7b3d6334ad/coppice-018','coppice/app-20','ebd8b4cdb303f1d40d2d01641d82878972f0d411','refs/coppice/trash/app-20-1','',1794794497176440962,1796004097176440962,NULL,NULL);
INSERT INTO trash VALUES(3,1,21,'workspace','/machine/state/workspaces/126dea7b3d6334ad/coppice-017','coppice/app-19','78111eb5d10158e1643ae9bb0a2ac3a5f8fcff7a','refs/coppice/trash/app-19-1','',1794794498413709401,1796004098413709401,NULL,NULL);
INSERT INTO events VALUES(1,1794794492001539799,'project.added',1,0,0,'app','person','/machine/app',NULL);
INSERT INTO events VALUES(2,1794794492253920216,'project.added',2,0,0,'held','person','/machine/held',NULL);
INSERT INTO events VALUES(3,1794794492371727554,'project.added',3,0,0,'paused','person','/machine/paused',NULL);
INSERT INTO events VALUES(4,1794794492451528511,'project.added',4,0,0,'asks','person','/machine/asks',NULL);
INSERT INTO events VALUES(5,1794794492527854454,'project.added',5,0,0,'feat','person','/machine/feat',NULL);
INSERT INTO events VALUES(6,1794794492553252200,'project.changed',3,0,0,'paused','person','paused',NULL);
INSERT INTO events VALUES(7,1794794492631235580,'task.created',5,1,0,'feat-1','person','Do first',NULL);
INSERT INTO events VALUES(8,1794794492631484515,'task.created',5,2,0,'feat-2','person','Do second',NULL);
INSERT INTO events VALUES(9,1794794492650153263,'task.stage',5,1,0,'feat-1','pipeline','ready',NULL);
INSERT INTO events VALUES(10,1794794492650153263,'task.stage',5,2,0,'feat-2','pipeline','waits for feat-1',NULL);
INSERT INTO events VALUES(11,1794794492650153263,'session.created',5,1,1,'feat-1.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(12,1794794492650153263,'work.offered',5,1,0,'feat-1','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(13,1794794492845207388,'task.created',1,3,0,'app-1','person','Keep running',NULL);
INSERT INTO events VALUES(14,1794794492847336357,'task.stage',1,3,0,'app-1','pipeline','ready',NULL);
INSERT INTO events VALUES(15,1794794492847336357,'session.created',1,3,2,'app-1.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(16,1794794492847336357,'work.offered',1,3,0,'app-1','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(17,1794794492861910497,'work.finished',5,1,1,'session/1/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(18,1794794492864064340,'workspace.ready',5,1,1,'feat-1.1','settle','',NULL);
INSERT INTO events VALUES(19,1794794492864064340,'work.offered',5,1,0,'feat-1','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(20,1794794492868554366,'session.started',5,1,1,'feat-1.1','local','',NULL);
INSERT INTO events VALUES(21,1794794492998166304,'session.state',5,1,1,'feat-1.1','local','idle',NULL);
INSERT INTO events VALUES(22,1794794493047473570,'work.finished',1,3,2,'session/2/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(23,1794794493049247714,'workspace.ready',1,3,2,'app-1.1','settle','',NULL);
INSERT INTO events VALUES(24,1794794493049247714,'work.offered',1,3,0,'app-1','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(25,1794794493089973558,'session.started',1,3,2,'app-1.1','local','',NULL);
INSERT INTO events VALUES(26,1794794493117686467,'task.created',1,4,0,'app-2','person','Come after that one',NULL);
INSERT INTO events VALUES(27,1794794493119435605,'task.stage',1,4,0,'app-2','pipeline','waits for app-1',NULL);
INSERT INTO events VALUES(28,1794794493209762569,'task.created',1,5,0,'app-3','person','End without a server',NULL);
INSERT INTO events VALUES(29,1794794493218561874,'task.stage',1,5,0,'app-3','pipeline','ready',NULL);
INSERT INTO events VALUES(30,1794794493218561874,'session.created',1,5,3,'app-3.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(31,1794794493218561874,'work.offered',1,5,0,'app-3','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(32,1794794493258330500,'session.state',1,3,2,'app-1.1','local','idle',NULL);
INSERT INTO events VALUES(33,1794794493303501126,'task.created',1,6,0,'app-4','person','Ask a question',NULL);
INSERT INTO events VALUES(34,1794794493325971724,'task.stage',1,6,0,'app-4','pipeline','ready',NULL);
INSERT INTO events VALUES(35,1794794493325971724,'session.created',1,6,4,'app-4.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(36,1794794493325971724,'work.offered',1,6,0,'app-4','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(37,1794794493337054875,'work.finished',1,5,3,'session/3/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(38,1794794493348425537,'workspace.ready',1,5,3,'app-3.1','settle','',NULL);
INSERT INTO events VALUES(39,1794794493348425537,'work.offered',1,5,0,'app-3','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(40,1794794493439713902,'session.started',1,5,3,'app-3.1','local','',NULL);
INSERT INTO events VALUES(41,1794794493473167369,'work.finished',1,6,4,'session/4/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(42,1794794493504332547,'workspace.ready',1,6,4,'app-4.1','settle','',NULL);
INSERT INTO events VALUES(43,1794794493504332547,'work.offered',1,6,0,'app-4','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(44,1794794493513098860,'session.started',1,6,4,'app-4.1','local','',NULL);
INSERT INTO events VALUES(45,1794794493555129461,'task.created',1,7,0,'app-5','person','Wait for an answer',NULL);
INSERT INTO events VALUES(46,1794794493556358216,'task.stage',1,7,0,'app-5','pipeline','ready',NULL);
INSERT INTO events VALUES(47,1794794493556358216,'session.created',1,7,5,'app-5.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(48,1794794493556358216,'work.offered',1,7,0,'app-5','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(49,1794794493641209203,'question.asked',1,6,4,'app-4.1','local','Which colour?',NULL);
INSERT INTO events VALUES(50,1794794493642053821,'session.state',1,6,4,'app-4.1','local','waiting',NULL);
INSERT INTO events VALUES(51,1794794493698324348,'work.finished',1,7,5,'session/5/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(52,1794794493702213201,'workspace.ready',1,7,5,'app-5.1','settle','',NULL);
INSERT INTO events VALUES(53,1794794493702213201,'work.offered',1,7,0,'app-5','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(54,1794794493713218365,'session.started',1,7,5,'app-5.1','local','',NULL);
INSERT INTO events VALUES(55,1794794493729259005,'task.created',1,8,0,'app-6','person','Wait for a message',NULL);
INSERT INTO events VALUES(56,1794794493730330366,'task.stage',1,8,0,'app-6','pipeline','ready',NULL);
INSERT INTO events VALUES(57,1794794493730330366,'session.created',1,8,6,'app-6.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(58,1794794493730330366,'work.offered',1,8,0,'app-6','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(59,1794794493767131404,'question.asked',1,7,5,'app-5.1','local','Which shape?',NULL);
INSERT INTO events VALUES(60,1794794493767259884,'session.state',1,7,5,'app-5.1','local','waiting',NULL);
INSERT INTO events VALUES(61,1794794493771391376,'work.finished',1,8,6,'session/6/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(62,1794794493773600877,'workspace.ready',1,8,6,'app-6.1','settle','',NULL);
INSERT INTO events VALUES(63,1794794493773600877,'work.offered',1,8,0,'app-6','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(64,1794794493808821304,'session.started',1,8,6,'app-6.1','local','',NULL);
INSERT INTO events VALUES(65,1794794493910139147,'session.state',1,8,6,'app-6.1','local','idle',NULL);
INSERT INTO events VALUES(66,1794794493921737329,'task.created',1,9,0,'app-7','person','Wait for the next turn',NULL);
INSERT INTO events VALUES(67,1794794493923001119,'task.stage',1,9,0,'app-7','pipeline','ready',NULL);
INSERT INTO events VALUES(68,1794794493923001119,'session.created',1,9,7,'app-7.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(69,1794794493923001119,'work.offered',1,9,0,'app-7','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(70,1794794494003106658,'work.finished',1,9,7,'session/7/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(71,1794794494022644519,'workspace.ready',1,9,7,'app-7.1','settle','',NULL);
INSERT INTO events VALUES(72,1794794494022644519,'work.offered',1,9,0,'app-7','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(73,1794794494033610897,'session.started',1,9,7,'app-7.1','local','',NULL);
INSERT INTO events VALUES(74,1794794494060788311,'task.created',1,10,0,'app-8','person','Change the model',NULL);
INSERT INTO events VALUES(75,1794794494065976233,'task.stage',1,10,0,'app-8','pipeline','ready',NULL);
INSERT INTO events VALUES(76,1794794494065976233,'session.created',1,10,8,'app-8.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(77,1794794494065976233,'work.offered',1,10,0,'app-8','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(78,1794794494133588656,'work.finished',1,10,8,'session/8/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(79,1794794494139552645,'session.state',1,9,7,'app-7.1','local','idle',NULL);
INSERT INTO events VALUES(80,1794794494151702177,'workspace.ready',1,10,8,'app-8.1','settle','',NULL);
INSERT INTO events VALUES(81,1794794494151702177,'work.offered',1,10,0,'app-8','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(82,1794794494156366138,'session.started',1,10,8,'app-8.1','local','',NULL);
INSERT INTO events VALUES(83,1794794494186154554,'task.created',1,11,0,'app-9','person','Interrupt me',NULL);
INSERT INTO events VALUES(84,1794794494188295062,'task.stage',1,11,0,'app-9','pipeline','ready',NULL);
INSERT INTO events VALUES(85,1794794494188295062,'session.created',1,11,9,'app-9.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(86,1794794494188295062,'work.offered',1,11,0,'app-9','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(87,1794794494262794796,'session.state',1,10,8,'app-8.1','local','idle',NULL);
INSERT INTO events VALUES(88,1794794494283263506,'work.finished',1,11,9,'session/9/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(89,1794794494313593165,'workspace.ready',1,11,9,'app-9.1','settle','',NULL);
INSERT INTO events VALUES(90,1794794494313593165,'work.offered',1,11,0,'app-9','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(91,1794794494332391946,'session.started',1,11,9,'app-9.1','local','',NULL);
INSERT INTO events VALUES(92,1794794494368623876,'task.created',1,12,0,'app-10','person','Wait for its time',NULL);
INSERT INTO events VALUES(93,1794794494369794803,'task.stage',1,12,0,'app-10','pipeline','starts at 2026-11-19T02:01:34Z',NULL);
INSERT INTO events VALUES(94,1794794494577849960,'task.created',1,13,0,'app-11','person','Stop me',NULL);
INSERT INTO events VALUES(95,1794794494579282155,'task.stage',1,13,0,'app-11','pipeline','ready',NULL);
INSERT INTO events VALUES(96,1794794494579282155,'session.created',1,13,10,'app-11.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(97,1794794494579282155,'work.offered',1,13,0,'app-11','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(98,1794794494629607268,'work.finished',1,13,10,'session/10/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(99,1794794494636184833,'workspace.ready',1,13,10,'app-11.1','settle','',NULL);
INSERT INTO events VALUES(100,1794794494636184833,'work.offered',1,13,0,'app-11','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(101,1794794494650189385,'session.started',1,13,10,'app-11.1','local','',NULL);
INSERT INTO events VALUES(102,1794794494705170915,'task.created',1,14,0,'app-12','person','Requeue me',NULL);
INSERT INTO events VALUES(103,1794794494706337333,'task.stage',1,14,0,'app-12','pipeline','ready',NULL);
INSERT INTO events VALUES(104,1794794494706337333,'session.created',1,14,11,'app-12.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(105,1794794494706337333,'work.offered',1,14,0,'app-12','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(106,1794794494872327425,'work.finished',1,14,11,'session/11/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(107,1794794494873379290,'workspace.ready',1,14,11,'app-12.1','settle','',NULL);
INSERT INTO events VALUES(108,1794794494873379290,'work.offered',1,14,0,'app-12','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(109,1794794494876960709,'session.started',1,14,11,'app-12.1','local','',NULL);
INSERT INTO events VALUES(110,1794794494916861036,'task.created',1,15,0,'app-13','person','Retry me',NULL);
INSERT INTO events VALUES(111,1794794494918203132,'task.stage',1,15,0,'app-13','pipeline','ready',NULL);
INSERT INTO events VALUES(112,1794794494918203132,'session.created',1,15,12,'app-13.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(113,1794794494918203132,'work.offered',1,15,0,'app-13','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(114,1794794495047850822,'work.finished',1,15,12,'session/12/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(115,1794794495048656086,'workspace.ready',1,15,12,'app-13.1','settle','',NULL);
INSERT INTO events VALUES(116,1794794495048656086,'work.offered',1,15,0,'app-13','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(117,1794794495060537137,'session.started',1,15,12,'app-13.1','local','',NULL);
INSERT INTO events VALUES(118,1794794495189256462,'work.finished',1,15,12,'session/12/run','local','session.run',NULL);
INSERT INTO events VALUES(119,1794794495201024467,'session.ended',1,15,12,'app-13.1','settle','failed: it is too hard',NULL);
INSERT INTO events VALUES(120,1794794495201024467,'task.ended',1,15,0,'app-13','pipeline','failed: it is too hard',NULL);
INSERT INTO events VALUES(121,1794794495216348612,'task.created',1,16,0,'app-14','person','Ask for help',NULL);
INSERT INTO events VALUES(122,1794794495219578435,'task.stage',1,16,0,'app-14','pipeline','ready',NULL);
INSERT INTO events VALUES(123,1794794495219578435,'session.created',1,16,13,'app-14.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(124,1794794495219578435,'work.offered',1,16,0,'app-14','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(125,1794794495462017501,'work.finished',1,16,13,'session/13/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(126,1794794495463402158,'workspace.ready',1,16,13,'app-14.1','settle','',NULL);
INSERT INTO events VALUES(127,1794794495463402158,'work.offered',1,16,0,'app-14','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(128,1794794495466942558,'session.started',1,16,13,'app-14.1','local','',NULL);
INSERT INTO events VALUES(129,1794794495492483243,'task.created',1,17,0,'app-15','person','Land me',NULL);
INSERT INTO events VALUES(130,1794794495494754966,'task.stage',1,17,0,'app-15','pipeline','ready',NULL);
INSERT INTO events VALUES(131,1794794495494754966,'session.created',1,17,14,'app-15.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(132,1794794495494754966,'work.offered',1,17,0,'app-15','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(133,1794794495605241853,'work.finished',1,16,13,'session/13/run','local','session.run',NULL);
INSERT INTO events VALUES(134,1794794495609345676,'session.ended',1,16,13,'app-14.1','settle','failed: the disk is full',NULL);
INSERT INTO events VALUES(135,1794794495609345676,'task.stage',1,16,0,'app-14','pipeline','the disk is full',NULL);
INSERT INTO events VALUES(136,1794794495617723826,'work.finished',1,17,14,'session/14/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(137,1794794495619093925,'workspace.ready',1,17,14,'app-15.1','settle','',NULL);
INSERT INTO events VALUES(138,1794794495619093925,'work.offered',1,17,0,'app-15','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(139,1794794495624415785,'session.started',1,17,14,'app-15.1','local','',NULL);
INSERT INTO events VALUES(140,1794794495651917729,'task.created',1,18,0,'app-16','person','Take me',NULL);
INSERT INTO events VALUES(141,1794794495652848818,'task.stage',1,18,0,'app-16','pipeline','ready',NULL);
INSERT INTO events VALUES(142,1794794495652848818,'session.created',1,18,15,'app-16.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(143,1794794495652848818,'work.offered',1,18,0,'app-16','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(144,1794794495737960253,'work.finished',1,18,15,'session/15/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(145,1794794495739781114,'workspace.ready',1,18,15,'app-16.1','settle','',NULL);
INSERT INTO events VALUES(146,1794794495739781114,'work.offered',1,18,0,'app-16','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(147,1794794495755288658,'session.started',1,18,15,'app-16.1','local','',NULL);
INSERT INTO events VALUES(148,1794794495865735930,'task.created',1,19,0,'app-17','person','Give me back',NULL);
INSERT INTO events VALUES(149,1794794495871027843,'session.state',1,18,15,'app-16.1','local','idle',NULL);
INSERT INTO events VALUES(150,1794794495872572078,'task.stage',1,19,0,'app-17','pipeline','ready',NULL);
INSERT INTO events VALUES(151,1794794495872572078,'session.created',1,19,16,'app-17.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(152,1794794495872572078,'work.offered',1,19,0,'app-17','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(153,1794794495930211802,'work.finished',1,17,14,'session/14/run','local','session.run',NULL);
INSERT INTO events VALUES(154,1794794495945179307,'session.ended',1,17,14,'app-15.1','settle','failed: it is too hard',NULL);
INSERT INTO events VALUES(155,1794794495945179307,'task.ended',1,17,0,'app-15','pipeline','failed: it is too hard',NULL);
INSERT INTO events VALUES(156,1794794495989522487,'work.finished',1,19,16,'session/16/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(157,1794794495993453299,'workspace.ready',1,19,16,'app-17.1','settle','',NULL);
INSERT INTO events VALUES(158,1794794495993453299,'work.offered',1,19,0,'app-17','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(159,1794794496001958444,'session.started',1,19,16,'app-17.1','local','',NULL);
INSERT INTO events VALUES(160,1794794496053725781,'task.created',1,20,0,'app-18','person','Continue me',NULL);
INSERT INTO events VALUES(161,1794794496054618067,'task.stage',1,20,0,'app-18','pipeline','ready',NULL);
INSERT INTO events VALUES(162,1794794496054618067,'session.created',1,20,17,'app-18.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(163,1794794496054618067,'work.offered',1,20,0,'app-18','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(164,1794794496082074438,'session.state',1,19,16,'app-17.1','local','idle',NULL);
INSERT INTO events VALUES(165,1794794496141663162,'work.finished',1,20,17,'session/17/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(166,1794794496142603468,'workspace.ready',1,20,17,'app-18.1','settle','',NULL);
INSERT INTO events VALUES(167,1794794496142603468,'work.offered',1,20,0,'app-18','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(168,1794794496188670018,'session.started',1,20,17,'app-18.1','local','',NULL);
INSERT INTO events VALUES(169,1794794496214585370,'task.created',1,21,0,'app-19','person','Undo me',NULL);
INSERT INTO events VALUES(170,1794794496215658865,'task.stage',1,21,0,'app-19','pipeline','ready',NULL);
INSERT INTO events VALUES(171,1794794496215658865,'session.created',1,21,18,'app-19.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(172,1794794496215658865,'work.offered',1,21,0,'app-19','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(173,1794794496274600842,'task.created',1,22,0,'app-20','person','Leave this in the trash',NULL);
INSERT INTO events VALUES(174,1794794496279037278,'task.stage',1,22,0,'app-20','pipeline','ready',NULL);
INSERT INTO events VALUES(175,1794794496279037278,'session.created',1,22,19,'app-20.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(176,1794794496279037278,'work.offered',1,22,0,'app-20','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(177,1794794496287235660,'session.state',1,20,17,'app-18.1','local','idle',NULL);
INSERT INTO events VALUES(178,1794794496307409729,'work.finished',1,21,18,'session/18/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(179,1794794496319530628,'workspace.ready',1,21,18,'app-19.1','settle','',NULL);
INSERT INTO events VALUES(180,1794794496319530628,'work.offered',1,21,0,'app-19','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(181,1794794496405982745,'session.started',1,21,18,'app-19.1','local','',NULL);
INSERT INTO events VALUES(182,1794794496494583135,'work.finished',1,20,17,'session/17/run','local','session.run',NULL);
INSERT INTO events VALUES(183,1794794496499453121,'work.finished',1,22,19,'session/19/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(184,1794794496499566703,'session.ended',1,20,17,'app-18.1','settle','done',NULL);
INSERT INTO events VALUES(185,1794794496499566703,'landing.opened',1,20,0,'app-18','pipeline','candidate 9976cd7cb3',NULL);
INSERT INTO events VALUES(186,1794794496499566703,'work.offered',1,20,0,'app-18','landing','merges with the base',NULL);
INSERT INTO events VALUES(187,1794794496499566703,'workspace.ready',1,22,19,'app-20.1','settle','',NULL);
INSERT INTO events VALUES(188,1794794496499566703,'work.offered',1,22,0,'app-20','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(189,1794794496516169212,'session.started',1,22,19,'app-20.1','local','',NULL);
INSERT INTO events VALUES(190,1794794496523403974,'work.finished',1,20,0,'landing/1/1','local','land.merge',NULL);
INSERT INTO events VALUES(191,1794794496524334713,'landing.merged',1,20,0,'app-18','settle','merged with b7207bb77f',NULL);
INSERT INTO events VALUES(192,1794794496524334713,'landing.merged',1,20,0,'app-18','landing','tree b4809d8acb is proven',NULL);
INSERT INTO events VALUES(193,1794794496524334713,'landing.queued',1,20,0,'app-18','landing','',NULL);
INSERT INTO events VALUES(194,1794794496524334713,'work.offered',1,20,0,'app-18','landing','moves the base',NULL);
INSERT INTO events VALUES(195,1794794496570275527,'session.state',1,22,19,'app-20.1','local','idle',NULL);
INSERT INTO events VALUES(196,1794794496622488526,'task.created',1,23,0,'app-21','person','Wait for the account',NULL);
INSERT INTO events VALUES(197,1794794496626300736,'task.stage',1,23,0,'app-21','pipeline','ready',NULL);
INSERT INTO events VALUES(198,1794794496626300736,'session.created',1,23,20,'app-21.1','dispatch','implement with other',NULL);
INSERT INTO events VALUES(199,1794794496626300736,'work.offered',1,23,0,'app-21','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(200,1794794496641867661,'work.finished',1,20,0,'landing/1/2','local','land.move',NULL);
INSERT INTO events VALUES(201,1794794496701094649,'landing.ended',1,20,0,'app-18','settle','landed as e4cfa06a54','{"commit":"e4cfa06a54305ebdeab1849003b5187d2fa463d7","tree":"b4809d8acbdd81ad012ffe7f1551000deeb437fa"}');
INSERT INTO events VALUES(202,1794794496701094649,'task.ended',1,20,0,'app-18','pipeline','done',NULL);
INSERT INTO events VALUES(203,1794794496701094649,'work.offered',1,20,0,'app-18','cleanup','its workspace goes to the trash',NULL);
INSERT INTO events VALUES(204,1794794496735792856,'work.finished',1,22,19,'session/19/run','local','session.run',NULL);
INSERT INTO events VALUES(205,1794794496740307318,'session.ended',1,22,19,'app-20.1','settle','done',NULL);
INSERT INTO events VALUES(206,1794794496740307318,'landing.opened',1,22,0,'app-20','pipeline','candidate ebd8b4cdb3',NULL);
INSERT INTO events VALUES(207,1794794496740307318,'work.offered',1,22,0,'app-20','landing','merges with the base',NULL);
INSERT INTO events VALUES(208,1794794496782280572,'work.finished',1,23,20,'session/20/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(209,1794794496790374178,'workspace.ready',1,23,20,'app-21.1','settle','',NULL);
INSERT INTO events VALUES(210,1794794496790374178,'work.offered',1,23,0,'app-21','pipeline','starts other',NULL);
INSERT INTO events VALUES(211,1794794496795454847,'session.started',1,23,20,'app-21.1','local','',NULL);
INSERT INTO events VALUES(212,1794794496806352020,'work.finished',1,20,0,'workspace/17/remove/1','local','workspace.remove',NULL);
INSERT INTO events VALUES(213,1794794496807921722,'workspace.removed',1,20,0,'app-18','settle','',NULL);
INSERT INTO events VALUES(214,1794794496814440968,'task.created',2,24,0,'held-1','person','Hold me',NULL);
INSERT INTO events VALUES(215,1794794496834261747,'work.finished',1,22,0,'landing/2/1','local','land.merge',NULL);
INSERT INTO events VALUES(216,1794794496842099075,'task.stage',2,24,0,'held-1','pipeline','ready',NULL);
INSERT INTO events VALUES(217,1794794496842099075,'landing.merged',1,22,0,'app-20','settle','merged with e4cfa06a54',NULL);
INSERT INTO events VALUES(218,1794794496842099075,'landing.merged',1,22,0,'app-20','landing','tree f05dbc94f1 is proven',NULL);
INSERT INTO events VALUES(219,1794794496842099075,'landing.queued',1,22,0,'app-20','landing','',NULL);
INSERT INTO events VALUES(220,1794794496842099075,'work.offered',1,22,0,'app-20','landing','moves the base',NULL);
INSERT INTO events VALUES(221,1794794496842099075,'session.created',2,24,21,'held-1.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(222,1794794496842099075,'work.offered',2,24,0,'held-1','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(223,1794794496994312909,'work.finished',1,23,20,'session/20/run','local','session.run',NULL);
INSERT INTO events VALUES(224,1794794496999963430,'session.ended',1,23,20,'app-21.1','settle','failed: come back later',NULL);
INSERT INTO events VALUES(225,1794794496999963430,'task.stage',1,23,0,'app-21','pipeline','other is limited until 2026-11-16T22:01:36Z: come back later',NULL);
INSERT INTO events VALUES(226,1794794497006777597,'task.created',2,25,0,'held-2','person','Hold me until I say so',NULL);
INSERT INTO events VALUES(227,1794794497008424385,'work.finished',2,24,21,'session/21/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(228,1794794497008602027,'task.stage',2,25,0,'held-2','pipeline','ready',NULL);
INSERT INTO events VALUES(229,1794794497008602027,'workspace.ready',2,24,21,'held-1.1','settle','',NULL);
INSERT INTO events VALUES(230,1794794497008602027,'work.offered',2,24,0,'held-1','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(231,1794794497008602027,'session.created',2,25,22,'held-2.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(232,1794794497008602027,'work.offered',2,25,0,'held-2','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(233,1794794497023750448,'work.finished',1,22,0,'landing/2/2','local','land.move',NULL);
INSERT INTO events VALUES(234,1794794497033267543,'landing.ended',1,22,0,'app-20','settle','landed as bb5e9b146d','{"commit":"bb5e9b146df7c1cd5c0d76bddbb345d6ac5757a0","tree":"f05dbc94f153a65b920c55940e6d293911aae503"}');
INSERT INTO events VALUES(235,1794794497033267543,'task.ended',1,22,0,'app-20','pipeline','done',NULL);
INSERT INTO events VALUES(236,1794794497033267543,'work.offered',1,22,0,'app-20','cleanup','its workspace goes to the trash',NULL);
INSERT INTO events VALUES(237,1794794497034548115,'session.started',2,24,21,'held-1.1','local','',NULL);
INSERT INTO events VALUES(238,1794794497084651866,'task.created',3,26,0,'paused-1','person','Wait for the project',NULL);
INSERT INTO events VALUES(239,1794794497103579117,'task.stage',3,26,0,'paused-1','pipeline','ready',NULL);
INSERT INTO events VALUES(240,1794794497107701126,'session.state',2,24,21,'held-1.1','local','idle',NULL);
INSERT INTO events VALUES(241,1794794497136096320,'work.finished',2,24,21,'session/21/run','local','session.run',NULL);
INSERT INTO events VALUES(242,1794794497139731820,'session.ended',2,24,21,'held-1.1','settle','done',NULL);
INSERT INTO events VALUES(243,1794794497139731820,'landing.opened',2,24,0,'held-1','pipeline','candidate 72a4ab82b1',NULL);
INSERT INTO events VALUES(244,1794794497139731820,'work.offered',2,24,0,'held-1','landing','merges with the base',NULL);
INSERT INTO events VALUES(245,1794794497145756572,'work.finished',2,25,22,'session/22/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(246,1794794497146899867,'workspace.ready',2,25,22,'held-2.1','settle','',NULL);
INSERT INTO events VALUES(247,1794794497146899867,'work.offered',2,25,0,'held-2','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(248,1794794497150169164,'session.started',2,25,22,'held-2.1','local','',NULL);
INSERT INTO events VALUES(249,1794794497169490791,'work.finished',2,24,0,'landing/3/1','local','land.merge',NULL);
INSERT INTO events VALUES(250,1794794497176312131,'work.finished',1,22,0,'workspace/19/remove/1','local','workspace.remove',NULL);
INSERT INTO events VALUES(251,1794794497176440962,'landing.merged',2,24,0,'held-1','settle','merged with b75904b22e',NULL);
INSERT INTO events VALUES(252,1794794497176440962,'landing.merged',2,24,0,'held-1','landing','tree 8d4ff1d4a9 is proven',NULL);
INSERT INTO events VALUES(253,1794794497176440962,'task.stage',2,24,0,'held-1','landing','proven; waits for a person to say land',NULL);
INSERT INTO events VALUES(254,1794794497176440962,'workspace.removed',1,22,0,'app-20','settle','',NULL);
INSERT INTO events VALUES(255,1794794497189835639,'session.state',2,25,22,'held-2.1','local','idle',NULL);
INSERT INTO events VALUES(256,1794794497318770701,'task.created',4,27,0,'asks-1','person','Ask for permission',NULL);
INSERT INTO events VALUES(257,1794794497319996700,'task.stage',4,27,0,'asks-1','pipeline','ready',NULL);
INSERT INTO events VALUES(258,1794794497319996700,'session.created',4,27,23,'asks-1.1','dispatch','implement with asker',NULL);
INSERT INTO events VALUES(259,1794794497319996700,'work.offered',4,27,0,'asks-1','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(260,1794794497338164853,'work.finished',2,25,22,'session/22/run','local','session.run',NULL);
INSERT INTO events VALUES(261,1794794497350026858,'session.ended',2,25,22,'held-2.1','settle','done',NULL);
INSERT INTO events VALUES(262,1794794497350026858,'landing.opened',2,25,0,'held-2','pipeline','candidate 5bb15e168c',NULL);
INSERT INTO events VALUES(263,1794794497350026858,'work.offered',2,25,0,'held-2','landing','merges with the base',NULL);
INSERT INTO events VALUES(264,1794794497385480718,'work.finished',2,25,0,'landing/4/1','local','land.merge',NULL);
INSERT INTO events VALUES(265,1794794497394250658,'landing.merged',2,25,0,'held-2','settle','merged with b75904b22e',NULL);
INSERT INTO events VALUES(266,1794794497394250658,'landing.merged',2,25,0,'held-2','landing','tree fe540673ad is proven',NULL);
INSERT INTO events VALUES(267,1794794497394250658,'task.stage',2,25,0,'held-2','landing','proven; waits for a person to say land',NULL);
INSERT INTO events VALUES(268,1794794497428827988,'work.finished',4,27,23,'session/23/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(269,1794794497433843516,'workspace.ready',4,27,23,'asks-1.1','settle','',NULL);
INSERT INTO events VALUES(270,1794794497433843516,'work.offered',4,27,0,'asks-1','pipeline','starts asker',NULL);
INSERT INTO events VALUES(271,1794794497451054110,'session.started',4,27,23,'asks-1.1','local','',NULL);
INSERT INTO events VALUES(272,1794794497720874888,'task.changed',1,19,0,'app-17','person','a person takes over',NULL);
INSERT INTO events VALUES(273,1794794497721875006,'work.offered',1,19,16,'app-17.1','handover','asks the session to stop: taken',NULL);
INSERT INTO events VALUES(274,1794794497740278999,'work.finished',1,19,16,'session/16/stop/1','local','session.stop',NULL);
INSERT INTO events VALUES(275,1794794497741154474,'work.finished',1,19,0,'app-17','settle','asked to stop',NULL);
INSERT INTO events VALUES(276,1794794497796475646,'work.finished',1,19,16,'session/16/run','local','session.run',NULL);
INSERT INTO events VALUES(277,1794794497797850606,'session.ended',1,19,16,'app-17.1','settle','done',NULL);
INSERT INTO events VALUES(278,1794794497797850606,'task.stage',1,19,0,'app-17','pipeline','a person takes over',NULL);
INSERT INTO events VALUES(279,1794794497797850606,'session.created',1,19,24,'app-17.2','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(280,1794794497797850606,'work.offered',1,19,0,'app-17','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(281,1794794497811963724,'session.started',1,19,24,'app-17.2','local','',NULL);
INSERT INTO events VALUES(282,1794794497892197357,'question.asked',4,27,23,'asks-1.1','local','may it run: npm test first',NULL);
INSERT INTO events VALUES(283,1794794497892424842,'session.state',4,27,23,'asks-1.1','local','waiting',NULL);
INSERT INTO events VALUES(284,1794794498223604921,'session.state',1,19,24,'app-17.2','local','idle',NULL);
INSERT INTO events VALUES(285,1794794498284056960,'task.stop_asked',1,21,0,'app-19','person','',NULL);
INSERT INTO events VALUES(286,1794794498285238266,'work.offered',1,21,18,'app-19.1','stop','asks the session to stop: cancelled',NULL);
INSERT INTO events VALUES(287,1794794498289417862,'work.finished',1,21,18,'session/18/stop/1','local','session.stop',NULL);
INSERT INTO events VALUES(288,1794794498292274107,'work.finished',1,21,0,'app-19','settle','asked to stop',NULL);
INSERT INTO events VALUES(289,1794794498362736360,'work.finished',1,21,18,'session/18/run','local','session.run',NULL);
INSERT INTO events VALUES(290,1794794498365722428,'session.ended',1,21,18,'app-19.1','settle','cancelled: was stopped',NULL);
INSERT INTO events VALUES(291,1794794498365722428,'task.ended',1,21,0,'app-19','stop','cancelled',NULL);
INSERT INTO events VALUES(292,1794794498365722428,'work.offered',1,21,0,'app-19','cleanup','its workspace goes to the trash',NULL);
INSERT INTO events VALUES(293,1794794498409737663,'work.finished',1,21,0,'workspace/18/remove/1','local','workspace.remove',NULL);
INSERT INTO events VALUES(294,1794794498413709401,'workspace.removed',1,21,0,'app-19','settle','',NULL);
INSERT INTO events VALUES(295,1794794498660407134,'project.changed',4,0,0,'asks','person','remembers: allow run npm test *',NULL);
INSERT INTO events VALUES(296,1794794498660494357,'question.answered',4,27,0,'asks-1','person','',NULL);
INSERT INTO events VALUES(297,1794794498661716960,'work.offered',4,27,0,'asks-1','talk','delivers question/3/1794794498660272953',NULL);
INSERT INTO events VALUES(298,1794794498693914594,'session.state',4,27,23,'asks-1.1','local','working',NULL);
INSERT INTO events VALUES(299,1794794498697986331,'work.finished',4,27,23,'question/3/1794794498660272953','local','session.send',NULL);
INSERT INTO events VALUES(300,1794794498698167089,'message.delivered',4,27,0,'asks-1','settle','',NULL);
INSERT INTO events VALUES(301,1794794498700782032,'question.asked',4,27,23,'asks-1.1','local','may it run: rm -r build',NULL);
INSERT INTO events VALUES(302,1794794498701040085,'session.state',4,27,23,'asks-1.1','local','waiting',NULL);
INSERT INTO events VALUES(303,1794794499173040033,'question.answered',1,7,0,'app-5','person','',NULL);
INSERT INTO events VALUES(304,1794794499187762229,'message.sent',1,8,0,'app-6','person','',NULL);
INSERT INTO events VALUES(305,1794794499190996149,'message.sent',1,9,0,'app-7','person','next',NULL);
INSERT INTO events VALUES(306,1794794499194713392,'message.sent',1,10,0,'app-8','person','model',NULL);
INSERT INTO events VALUES(307,1794794499196684784,'message.sent',1,11,0,'app-9','person','interrupt',NULL);
INSERT INTO events VALUES(308,1794794499197876841,'task.stop_asked',1,13,0,'app-11','person','',NULL);
INSERT INTO events VALUES(309,1794794499201875740,'task.requeue_asked',1,14,0,'app-12','person','leave the schema alone',NULL);
INSERT INTO events VALUES(310,1794794499209958466,'task.retry_asked',1,15,0,'app-13','person','it is easy now',NULL);
INSERT INTO events VALUES(311,1794794499212336347,'task.retry_asked',1,16,0,'app-14','person','the disk is empty',NULL);
INSERT INTO events VALUES(312,1794794499216582327,'task.land_asked',1,17,0,'app-15','person','',NULL);
INSERT INTO events VALUES(313,1794794499217882175,'task.changed',1,18,0,'app-16','person','a person takes over',NULL);
INSERT INTO events VALUES(314,1794794499228196619,'task.changed',1,19,0,'app-17','person','a person gives it back',NULL);
INSERT INTO events VALUES(315,1794794499274103310,'task.retry_asked',1,20,0,'app-18','person','finish it',NULL);
INSERT INTO events VALUES(316,1794794499401244252,'workspace.undo_asked',1,21,0,'app-19','person','',NULL);
INSERT INTO events VALUES(317,1794794499408054061,'task.land_asked',2,25,0,'held-2','person','',NULL);
INSERT INTO timers VALUES('work','3',1794794522866696196);
INSERT INTO timers VALUES('work','4',1794794523053019989);
INSERT INTO timers VALUES('work','7',1794794523356841175);
INSERT INTO timers VALUES('work','8',1794794523506760201);
INSERT INTO timers VALUES('work','10',1794794523711455804);
INSERT INTO timers VALUES('work','12',1794794523788193412);
INSERT INTO timers VALUES('work','14',1794794524028517789);
INSERT INTO timers VALUES('work','16',1794794524155104802);
INSERT INTO timers VALUES('work','18',1794794524326194100);
INSERT INTO timers VALUES('work','20',1794794524649243969);
INSERT INTO timers VALUES('work','22',1794794524875981660);
INSERT INTO timers VALUES('work','30',1794794525749821507);
INSERT INTO timers VALUES('work','54',1794794527449690684);
INSERT INTO timers VALUES('work','56',1794794527801363365);
INSERT INTO timers VALUES('task','1',1794795092997000251);
INSERT INTO timers VALUES('task','3',1794795093247712965);
INSERT INTO timers VALUES('task','5',1794795093439618354);
INSERT INTO timers VALUES('task','6',1794795093620376067);
INSERT INTO timers VALUES('task','7',1794795093766028925);
INSERT INTO timers VALUES('task','8',1794795093834635608);
INSERT INTO timers VALUES('task','9',1794795094134605786);
INSERT INTO timers VALUES('task','10',1794795094261632225);
INSERT INTO timers VALUES('task','11',1794795094332292941);
INSERT INTO timers VALUES('task','13',1794795094650130195);
INSERT INTO timers VALUES('task','14',1794795094876906397);
INSERT INTO timers VALUES('task','18',1794795095869049047);
INSERT INTO timers VALUES('task','27',1794795098697119440);
INSERT INTO timers VALUES('agent','other',1794866496876000000);
INSERT INTO timers VALUES('room','room',1794866496876000000);
INSERT INTO timers VALUES('task','12',1795053694205571840);
INSERT INTO timers VALUES('trash','1',1796004096807921722);
INSERT INTO timers VALUES('trash','2',1796004097176440962);
INSERT INTO timers VALUES('trash','3',1796004098413709401);
INSERT INTO cursors VALUES('engine',302);
INSERT INTO usages VALUES(1794794492650153263,1,5,1,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794794492847336357,2,1,3,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794794493218561874,3,1,5,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794794493325971724,4,1,6,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794794493556358216,5,1,7,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794794493730330366,6,1,8,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794794493923001119,7,1,9,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794794494065976233,8,1,10,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794794494188295062,9,1,11,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794794494579282155,10,1,13,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794794494706337333,11,1,14,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794794494918203132,12,1,15,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794794495219578435,13,1,16,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794794495494754966,14,1,17,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794794495652848818,15,1,18,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794794495872572078,16,1,19,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794794496054618067,17,1,20,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794794496215658865,18,1,21,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794794496279037278,19,1,22,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794794496626300736,20,1,23,'other','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794794496842099075,21,2,24,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794794497008602027,22,2,25,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794794497319996700,23,4,27,'asker','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794794497797850606,24,1,19,'scripted','',0,0,0,0,0,0.0);
CREATE INDEX tasks_by_lane ON tasks (lane_project, lane_track, lane_agent, begun DESC, priority DESC, id)
  WHERE lane_project IS NOT NULL;
CREATE INDEX tasks_by_project ON tasks (project_id, id);
CREATE INDEX tasks_not_ended ON tasks (stage, id) WHERE stage <> 'ended';
CREATE INDEX task_deps_by_task ON task_deps (task_id);
CREATE INDEX sessions_by_task ON sessions (task_id, id);
CREATE INDEX sessions_live ON sessions (id) WHERE live;
CREATE INDEX sessions_live_by_lane ON sessions (project_id, track, agent) WHERE live;
CREATE INDEX workspaces_by_task ON workspaces (task_id, id);
CREATE INDEX workspaces_by_project ON workspaces (project_id, id);
CREATE INDEX landings_by_task ON landings (task_id, id);
CREATE INDEX landings_queued ON landings (project_id, queued_at, id)
  WHERE ended_at IS NULL AND queued_at IS NOT NULL;
CREATE INDEX checks_by_tree ON checks (project_id, tree, command, env, id);
CREATE INDEX checks_by_task ON checks (task_id, id);
CREATE INDEX work_takeable ON work (pool, id, kind) WHERE state = 'offered';
CREATE INDEX work_unsettled ON work (task_id, id) WHERE state IN ('offered', 'taken', 'finished');
CREATE INDEX work_by_state ON work (state) WHERE state IN ('offered', 'taken', 'finished');
CREATE INDEX work_held ON work (worker, id) WHERE state = 'taken';
CREATE INDEX work_over ON work (coalesce(finished_at, offered_at)) WHERE state IN ('settled', 'cancelled');
CREATE INDEX questions_by_task ON questions (task_id, id);
CREATE INDEX questions_open ON questions (task_id, id) WHERE answered_at IS NULL AND closed_at IS NULL;
CREATE INDEX messages_by_task ON messages (task_id, id);
CREATE INDEX trash_kept ON trash (project_id, id) WHERE restored_at IS NULL AND purged_at IS NULL;
CREATE INDEX events_by_task ON events (task_id, seq) WHERE task_id <> 0;
CREATE INDEX timers_by_moment ON timers (at, kind, id);
CREATE INDEX tasks_by_wait ON tasks (project_id, waits_on) WHERE waits_on IS NOT NULL;
CREATE INDEX tasks_pending ON tasks (priority DESC, id, project_id, waits_on) WHERE stage IN ('waiting', 'queued');
CREATE INDEX tasks_ended ON tasks (project_id, outcome, archived) WHERE stage = 'ended';
CREATE INDEX trash_by_task ON trash (task_id);
COMMIT;
