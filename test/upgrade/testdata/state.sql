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
INSERT INTO goose_db_version VALUES(1,0,1,'2026-11-16 02:38:05');
INSERT INTO goose_db_version VALUES(2,1,1,'2026-11-16 02:38:05');
INSERT INTO goose_db_version VALUES(3,2,1,'2026-11-16 02:38:05');
INSERT INTO goose_db_version VALUES(4,3,1,'2026-11-16 02:38:05');
INSERT INTO goose_db_version VALUES(5,4,1,'2026-11-16 02:38:05');
INSERT INTO goose_db_version VALUES(6,5,1,'2026-11-16 02:38:05');
INSERT INTO goose_db_version VALUES(7,6,1,'2026-11-16 02:38:05');
INSERT INTO sqlite_sequence VALUES('goose_db_version',7);
INSERT INTO sqlite_sequence VALUES('events',358);
INSERT INTO sqlite_sequence VALUES('work',68);
INSERT INTO projects VALUES(1,'app','/machine/app','b912b13d8cd0a559edfed2818fa0e50c64c777a8',22,1794796685289176669,NULL,NULL,NULL,'',NULL,'{"base":"main","tracks":[{"name":"main","default":true}],"limits":{"sessions":40,"memory":"100%","output":"256 MiB"},"agent":{"use":"scripted"},"agents":{"other":{"protocol":"scripted","command":["{coppice}","scripted"],"args":[".coppice/other.yaml"],"scores":{}}},"workspace":{"kind":"worktree","ports":2},"checks":null,"verify":{"by":"none","attempts":3,"browser":false},"retry":{"max":0,"backoff":"100ms"},"health":{"stalled":"10m","long":"1h","timeout":"4h","check":"30m"},"land":{"how":"queue","strategy":"squash","push":false},"trash":{"keep":[".env*"],"ttl":"14d"},"permissions":{},"budget":{},"critical_patterns":null}',NULL,'[]',NULL);
INSERT INTO projects VALUES(2,'held','/machine/held','85aa01d37d2a3a7ddd7f83eda41cf75cdbb5a5c7',2,1794796685364516111,NULL,NULL,NULL,'',NULL,'{"base":"main","tracks":[{"name":"main","default":true}],"limits":{"sessions":40,"memory":"100%","output":"256 MiB"},"agent":{"use":"scripted"},"agents":null,"workspace":{"kind":"worktree","ports":2},"checks":null,"verify":{"by":"none","attempts":3,"browser":false},"retry":{"max":0,"backoff":"100ms"},"health":{"stalled":"10m","long":"1h","timeout":"4h","check":"30m"},"land":{"how":"branch","strategy":"squash","push":false},"trash":{"keep":[".env*"],"ttl":"14d"},"permissions":{},"budget":{},"critical_patterns":null}',NULL,'[]',NULL);
INSERT INTO projects VALUES(3,'paused','/machine/paused','8a67da0969986f66178829c16c62c0f5c30a6495',1,1794796685456253878,1794796685679413045,NULL,NULL,'',NULL,'{"base":"main","tracks":[{"name":"main","default":true}],"limits":{"sessions":40,"memory":"100%","output":"256 MiB"},"agent":{"use":"scripted"},"agents":null,"workspace":{"kind":"worktree","ports":2},"checks":null,"verify":{"by":"none","attempts":3,"browser":false},"retry":{"max":0,"backoff":"100ms"},"health":{"stalled":"10m","long":"1h","timeout":"4h","check":"30m"},"land":{"how":"queue","strategy":"squash","push":false},"trash":{"keep":[".env*"],"ttl":"14d"},"permissions":{},"budget":{},"critical_patterns":null}',NULL,'[]',NULL);
INSERT INTO projects VALUES(4,'asks','/machine/asks','ac425a76318b4d75ec97fdc3ec893354b4da9089',1,1794796685501153989,NULL,NULL,NULL,'','[{"tool":"run","match":"npm test *","do":"allow"}]','{"base":"main","tracks":[{"name":"main","default":true}],"limits":{"sessions":40,"memory":"100%","output":"256 MiB"},"agent":{"use":"asker"},"agents":{"asker":{"protocol":"acp","command":["node","asker.mjs"],"scores":{}}},"workspace":{"kind":"worktree","ports":2},"checks":null,"verify":{"by":"none","attempts":3,"browser":false},"retry":{"max":0,"backoff":"100ms"},"health":{"stalled":"10m","long":"1h","timeout":"4h","check":"30m"},"land":{"how":"queue","strategy":"squash","push":false},"trash":{"keep":[".env*"],"ttl":"14d"},"permissions":{"default":"ask"},"budget":{},"critical_patterns":null}',NULL,'[]',NULL);
INSERT INTO projects VALUES(5,'feat','/machine/feat','508eb4b908d540d56c5f393e52c96faa4bd52702',2,1794796685549234289,NULL,NULL,NULL,'',NULL,'{"base":"main","tracks":[{"name":"main","default":true}],"limits":{"sessions":40,"memory":"100%","output":"256 MiB"},"agent":{"use":"scripted"},"agents":null,"workspace":{"kind":"worktree","ports":2},"checks":null,"verify":{"by":"none","attempts":3,"browser":false},"retry":{"max":0,"backoff":"100ms"},"health":{"stalled":"10m","long":"1h","timeout":"4h","check":"30m"},"land":{"how":"queue","strategy":"squash","push":false},"trash":{"keep":[".env*"],"ttl":"14d"},"permissions":{},"features":"features.json","budget":{},"critical_patterns":null}',NULL,'[]',NULL);
INSERT INTO projects VALUES(6,'proof','/machine/proof','05f05ab3b18d4ba17408e7b5faf1d7964a435cd1',1,1794796685612194303,NULL,NULL,NULL,'',NULL,'{"base":"main","tracks":[{"name":"main","default":true}],"limits":{"sessions":40,"memory":"100%","output":"256 MiB"},"agent":{"use":"scripted"},"agents":null,"workspace":{"kind":"worktree","ports":2},"checks":null,"verify":{"attempts":3,"browser":false},"retry":{"max":0,"backoff":"100ms"},"health":{"stalled":"10m","long":"1h","timeout":"4h","check":"30m"},"land":{"how":"queue","strategy":"squash","push":false},"trash":{"keep":[".env*"],"ttl":"14d"},"permissions":{},"budget":{},"critical_patterns":null}',NULL,'[]',NULL);
INSERT INTO tasks VALUES(1,5,1,'feat-1','Do first',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'first',0.0,'',1794796685559513460,'person',0,0,'',0,0,0,0,0,'session',NULL,NULL,0,1,1794796685602929676,'',NULL,'',NULL,'',NULL,NULL,NULL,1,'feat-1
do first','','',NULL,NULL);
INSERT INTO tasks VALUES(2,5,2,'feat-2','Do second',0,'main','scripted','',NULL,'[1]',NULL,'',NULL,'second',0.0,'',1794796685569697220,'person',0,0,'',0,0,0,0,0,'waiting','{"on":"dependency","text":"waits for feat-1"}','{"role":"implement","agent":"scripted"}',0,0,1794796685569697220,'',NULL,'',NULL,'',NULL,NULL,NULL,0,'feat-2
do second','','',NULL,'dependency');
INSERT INTO tasks VALUES(3,1,1,'app-1','Keep running',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794796685786453456,'person',0,0,'',0,0,0,0,0,'session',NULL,NULL,0,1,1794796685787739438,'',NULL,'',NULL,'',NULL,NULL,NULL,1,'app-1
keep running','','',NULL,NULL);
INSERT INTO tasks VALUES(4,1,2,'app-2','Come after that one',0,'main','scripted','',NULL,'[3]',NULL,'',NULL,'',0.0,'',1794796685859833679,'person',0,0,'',0,0,0,0,0,'waiting','{"on":"dependency","text":"waits for app-1"}','{"role":"implement","agent":"scripted"}',0,0,1794796685859833679,'',NULL,'',NULL,'',NULL,NULL,NULL,0,'app-2
come after that one','','',NULL,'dependency');
INSERT INTO tasks VALUES(5,1,3,'app-3','End without a server',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794796686018854096,'person',0,0,'',0,0,0,0,0,'session',NULL,NULL,0,1,1794796686020410744,'',NULL,'',NULL,'',NULL,NULL,NULL,1,'app-3
end without a server','','',NULL,NULL);
INSERT INTO tasks VALUES(6,1,4,'app-4','Ask a question',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794796686164827049,'person',0,0,'',0,0,0,0,0,'session',NULL,NULL,0,1,1794796686168227661,'',NULL,'',NULL,'',NULL,NULL,NULL,1,'app-4
ask a question','','',NULL,NULL);
INSERT INTO tasks VALUES(7,1,5,'app-5','Wait for an answer',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794796686239248159,'person',0,0,'',0,0,0,0,0,'session',NULL,NULL,0,1,1794796686242891113,'',NULL,'',NULL,'',NULL,NULL,NULL,1,'app-5
wait for an answer','','',NULL,NULL);
INSERT INTO tasks VALUES(8,1,6,'app-6','Wait for a message',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794796686425493820,'person',0,0,'',0,0,0,0,0,'session',NULL,NULL,0,1,1794796686427670375,'',NULL,'',NULL,'',NULL,NULL,NULL,1,'app-6
wait for a message','','',NULL,NULL);
INSERT INTO tasks VALUES(9,1,7,'app-7','Wait for the next turn',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794796686650317909,'person',0,0,'',0,0,0,0,0,'session',NULL,NULL,0,1,1794796686650480874,'',NULL,'',NULL,'',NULL,NULL,NULL,1,'app-7
wait for the next turn','','',NULL,NULL);
INSERT INTO tasks VALUES(10,1,8,'app-8','Change the model',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794796686903786576,'person',0,0,'',0,0,0,0,0,'session',NULL,NULL,0,1,1794796686905079020,'',NULL,'',NULL,'',NULL,NULL,NULL,1,'app-8
change the model','','',NULL,NULL);
INSERT INTO tasks VALUES(11,1,9,'app-9','Interrupt me',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794796687091987058,'person',0,0,'',0,0,0,0,0,'session',NULL,NULL,0,1,1794796687099528235,'',NULL,'',NULL,'',NULL,NULL,NULL,1,'app-9
interrupt me','','',NULL,NULL);
INSERT INTO tasks VALUES(12,1,10,'app-10','Wait for its time',0,'main','scripted','',NULL,NULL,1795055887123877981,'',NULL,'',0.0,'',1794796687285124483,'person',0,0,'',0,0,0,0,0,'waiting','{"on":"schedule","text":"starts at 2026-11-19T02:38:07Z","until":"2026-11-19T02:38:07.123877981Z"}','{"role":"implement","agent":"scripted"}',0,0,1794796687285124483,'',NULL,'',NULL,'',NULL,NULL,NULL,0,'app-10
wait for its time','','',NULL,'schedule');
INSERT INTO tasks VALUES(13,1,11,'app-11','Stop me',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794796687422738236,'person',1,0,'',0,0,0,0,0,'session',NULL,NULL,0,1,1794796687424360997,'',NULL,'',NULL,'',NULL,NULL,NULL,1,'app-11
stop me','','',NULL,NULL);
INSERT INTO tasks VALUES(14,1,12,'app-12','Requeue me',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794796687514898036,'person',1,1,'leave the schema alone',0,0,0,0,0,'session',NULL,NULL,0,1,1794796687517750965,'',NULL,'',NULL,'',NULL,NULL,NULL,1,'app-12
requeue me','','',NULL,NULL);
INSERT INTO tasks VALUES(15,1,13,'app-13','Retry me',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794796687568663364,'person',0,1,'it is easy now',0,0,0,0,0,'ended',NULL,NULL,0,1,1794796687784134162,'failed','{"class":"implementation","text":"it is too hard"}','',1794796687784134162,'',NULL,NULL,NULL,1,'app-13
retry me','','',NULL,NULL);
INSERT INTO tasks VALUES(16,1,14,'app-14','Ask for help',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794796687800645981,'person',0,1,'the disk is empty',0,0,0,0,0,'waiting','{"on":"person","text":"the disk is full","fix":"mend the cause, then retry the task"}','{"role":"implement","agent":"scripted","evidence":"The session before this one (app-14.1, scripted) failed: the disk is full\n","resume":"scripted-app-14-1"}',0,1,1794796688002013786,'','{"class":"disk","text":"the disk is full"}','',NULL,'',NULL,NULL,NULL,1,'app-14
ask for help','','',NULL,'person');
INSERT INTO tasks VALUES(17,1,15,'app-15','Land me',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794796687895976952,'person',0,0,'',1,0,0,0,0,'ended',NULL,NULL,0,1,1794796688178915918,'failed','{"class":"implementation","text":"it is too hard"}','',1794796688178915918,'',NULL,NULL,NULL,1,'app-15
land me','','',NULL,NULL);
INSERT INTO tasks VALUES(18,1,16,'app-16','Take me',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794796687994001852,'person',0,0,'',0,0,0,1,0,'session',NULL,NULL,0,1,1794796687994197427,'',NULL,'',NULL,'',NULL,NULL,NULL,1,'app-16
take me','','',NULL,NULL);
INSERT INTO tasks VALUES(19,1,17,'app-17','Give me back',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794796688190880134,'person',0,0,'finish it',0,0,0,0,1,'session',NULL,NULL,0,2,1794796690276636778,'',NULL,'',NULL,'',NULL,NULL,NULL,1,'app-17
give me back','','',NULL,NULL);
INSERT INTO tasks VALUES(20,1,18,'app-18','Continue me',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794796688320468498,'person',0,0,'finish it',0,0,1,0,0,'ended',NULL,NULL,0,1,1794796689077150622,'done',NULL,'b0cf522b938135df3e2ab6c15bad95a66c5d07d1',1794796689077150622,'',NULL,NULL,NULL,1,'app-18
continue me','','',NULL,NULL);
INSERT INTO tasks VALUES(21,1,19,'app-19','Undo me',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794796688483072377,'person',0,0,'',0,1,0,0,0,'ended',NULL,NULL,0,1,1794796690802485071,'cancelled',NULL,'',1794796690802485071,'',NULL,NULL,NULL,1,'app-19
undo me','','',NULL,NULL);
INSERT INTO tasks VALUES(22,1,20,'app-20','Leave this in the trash',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794796688682872186,'person',0,0,'',0,0,0,0,0,'ended',NULL,NULL,0,1,1794796689500364074,'done',NULL,'b912b13d8cd0a559edfed2818fa0e50c64c777a8',1794796689500364074,'',NULL,NULL,NULL,1,'app-20
leave this in the trash','','',NULL,NULL);
INSERT INTO tasks VALUES(23,1,21,'app-21','Wait for the account',0,'main','other','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794796688797946021,'person',0,0,'',0,0,0,0,0,'queued',NULL,'{"role":"implement","agent":"other","evidence":"The session before this one (app-21.1, other) failed: come back later\n","resume":"scripted-app-21-1"}',0,1,1794796689380736586,'',NULL,'',NULL,'',1,'main','other',1,'app-21
wait for the account','','',NULL,NULL);
INSERT INTO tasks VALUES(24,1,22,'app-22','Check me',0,'main','scripted','','["until test -e /machine/open; do sleep 0.1; done"]',NULL,NULL,'',NULL,'',0.0,'',1794796688944885532,'person',0,0,'',0,0,0,0,0,'checking',NULL,NULL,0,1,1794796689605278564,'',NULL,'',NULL,'',NULL,NULL,NULL,1,'app-22
check me','','',NULL,NULL);
INSERT INTO tasks VALUES(25,6,1,'proof-1','Verify me',0,'main','scripted','',NULL,NULL,NULL,'','["The proof is there"]','',0.0,'',1794796689074297253,'person',0,0,'',0,0,0,0,0,'session',NULL,NULL,0,2,1794796689733491170,'',NULL,'',NULL,'',NULL,NULL,NULL,1,'proof-1
verify me','','',NULL,NULL);
INSERT INTO tasks VALUES(26,2,1,'held-1','Hold me',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794796689178078617,'person',0,0,'',0,0,0,0,0,'held',NULL,NULL,0,1,1794796689865601745,'',NULL,'',NULL,'',NULL,NULL,NULL,1,'held-1
hold me','','',NULL,NULL);
INSERT INTO tasks VALUES(27,2,2,'held-2','Hold me until I say so',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794796689298916370,'person',0,0,'',1,0,0,0,0,'held',NULL,NULL,0,1,1794796689915538951,'',NULL,'',NULL,'',NULL,NULL,NULL,1,'held-2
hold me until i say so','','',NULL,NULL);
INSERT INTO tasks VALUES(28,3,1,'paused-1','Wait for the project',0,'main','scripted','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794796689462193935,'person',0,0,'',0,0,0,0,0,'queued',NULL,'{"role":"implement","agent":"scripted"}',0,0,1794796689468428169,'',NULL,'',NULL,'',3,'main','scripted',0,'paused-1
wait for the project','','',NULL,NULL);
INSERT INTO tasks VALUES(29,4,1,'asks-1','Ask for permission',0,'main','asker','',NULL,NULL,NULL,'',NULL,'',0.0,'',1794796689685999069,'person',0,0,'',0,0,0,0,0,'session',NULL,NULL,0,1,1794796689689939859,'',NULL,'',NULL,'',NULL,NULL,NULL,1,'asks-1
ask for permission','','',NULL,NULL);
INSERT INTO task_deps VALUES(2,1);
INSERT INTO task_deps VALUES(4,3);
INSERT INTO sessions VALUES(1,5,1,1,'feat-1.1',0,'implement','main','scripted','','',0,0,'idle',1,1794796685602929676,1794796685692089091,NULL,1794796685799070213,'scripted-feat-1-1',NULL,'',NULL,'508eb4b908d540d56c5f393e52c96faa4bd52702','','',NULL,301,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(2,1,3,1,'app-1.1',0,'implement','main','scripted','','',0,0,'idle',1,1794796685787739438,1794796685942087498,NULL,1794796685966375842,'scripted-app-1-1',NULL,'',NULL,'00623f5c42bf3873a2fa461b1deba361ccf4f97c','','',NULL,438,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(3,1,5,1,'app-3.1',0,'implement','main','scripted','','',0,0,'working',1,1794796686020410744,1794796686180584520,NULL,1794796686285522334,'scripted-app-3-1',NULL,'',NULL,'00623f5c42bf3873a2fa461b1deba361ccf4f97c','','',NULL,496,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(4,1,6,1,'app-4.1',0,'implement','main','scripted','','',0,0,'waiting',1,1794796686168227661,1794796686490514861,NULL,1794796686664634857,'scripted-app-4-1',NULL,'',NULL,'00623f5c42bf3873a2fa461b1deba361ccf4f97c','','',NULL,496,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(5,1,7,1,'app-5.1',0,'implement','main','scripted','','',0,0,'waiting',1,1794796686242891113,1794796686455767112,NULL,1794796686499068687,'scripted-app-5-1',NULL,'',NULL,'00623f5c42bf3873a2fa461b1deba361ccf4f97c','','',NULL,427,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(6,1,8,1,'app-6.1',0,'implement','main','scripted','','',0,0,'idle',1,1794796686427670375,1794796686673581809,NULL,1794796686728838553,'scripted-app-6-1',NULL,'',NULL,'00623f5c42bf3873a2fa461b1deba361ccf4f97c','','',NULL,299,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(7,1,9,1,'app-7.1',0,'implement','main','scripted','','',0,0,'idle',1,1794796686650480874,1794796686940442446,NULL,1794796687016570050,'scripted-app-7-1',NULL,'',NULL,'00623f5c42bf3873a2fa461b1deba361ccf4f97c','','',NULL,316,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(8,1,10,1,'app-8.1',0,'implement','main','scripted','','',0,0,'idle',1,1794796686905079020,1794796687173823635,NULL,1794796687298689498,'scripted-app-8-1',NULL,'',NULL,'00623f5c42bf3873a2fa461b1deba361ccf4f97c','','',NULL,316,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(9,1,11,1,'app-9.1',0,'implement','main','scripted','','',0,0,'working',1,1794796687099528235,1794796687297893234,NULL,1794796687356109084,'scripted-app-9-1',NULL,'',NULL,'00623f5c42bf3873a2fa461b1deba361ccf4f97c','','',NULL,680,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(10,1,13,1,'app-11.1',0,'implement','main','scripted','','',0,0,'working',1,1794796687424360997,1794796687594631743,NULL,1794796687667544436,'scripted-app-11-1',NULL,'',NULL,'00623f5c42bf3873a2fa461b1deba361ccf4f97c','','',NULL,307,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(11,1,14,1,'app-12.1',0,'implement','main','scripted','','',0,0,'working',1,1794796687517750965,1794796687634505927,NULL,1794796687667168674,'scripted-app-12-1',NULL,'',NULL,'00623f5c42bf3873a2fa461b1deba361ccf4f97c','','',NULL,678,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(12,1,15,1,'app-13.1',0,'implement','main','scripted','','',0,0,'failed',0,1794796687572007518,1794796687702749967,1794796687784134162,1794796687755354117,'scripted-app-13-1',1,'','{"class":"implementation","text":"it is too hard"}','00623f5c42bf3873a2fa461b1deba361ccf4f97c','00623f5c42bf3873a2fa461b1deba361ccf4f97c','',NULL,523,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(13,1,16,1,'app-14.1',0,'implement','main','scripted','','',0,0,'failed',0,1794796687801637591,1794796687926095492,1794796688002013786,1794796687970828804,'scripted-app-14-1',1,'','{"class":"disk","text":"the disk is full"}','00623f5c42bf3873a2fa461b1deba361ccf4f97c','00623f5c42bf3873a2fa461b1deba361ccf4f97c','',NULL,516,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(14,1,17,1,'app-15.1',0,'implement','main','scripted','','',0,0,'failed',0,1794796687897055446,1794796688005484448,1794796688178915918,1794796688099974551,'scripted-app-15-1',1,'','{"class":"implementation","text":"it is too hard"}','00623f5c42bf3873a2fa461b1deba361ccf4f97c','242cca65dbc102605baed3e1110ea18a1da87517',' kept.txt | 1 +
 1 file changed, 1 insertion(+)',NULL,1244,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(15,1,18,1,'app-16.1',0,'implement','main','scripted','','',0,0,'idle',1,1794796687994197427,1794796688133535954,NULL,1794796688168075454,'scripted-app-16-1',NULL,'',NULL,'00623f5c42bf3873a2fa461b1deba361ccf4f97c','','',NULL,671,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(16,1,19,1,'app-17.1',0,'implement','main','scripted','','',0,0,'done',0,1794796688192099922,1794796688324505287,1794796690276636778,1794796690174064254,'scripted-app-17-1',1,'',NULL,'00623f5c42bf3873a2fa461b1deba361ccf4f97c','22b1748a489362dd3a63c41c689cb199cef4e417',' app-17.1.txt | 1 +
 1 file changed, 1 insertion(+)',NULL,1062,'taken',1,1794796690157097024,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(17,1,20,1,'app-18.1',0,'implement','main','scripted','','',0,0,'done',0,1794796688321580775,1794796688551738243,1794796688687433072,1794796688575714316,'scripted-app-18-1',0,'',NULL,'00623f5c42bf3873a2fa461b1deba361ccf4f97c','23822d53b8d78b0dc446d69497f23bcc23cb278f',' app-18.txt | 1 +
 1 file changed, 1 insertion(+)',NULL,914,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(18,1,21,1,'app-19.1',0,'implement','main','scripted','','',0,0,'cancelled',0,1794796688485963187,1794796688630566261,1794796690802485071,1794796690753891705,'scripted-app-19-1',1,'','{"class":"cancelled","text":"was stopped"}','00623f5c42bf3873a2fa461b1deba361ccf4f97c','39c34463138007682f7237800cdb49f57c0511c0',' gone.txt | 1 +
 1 file changed, 1 insertion(+)',NULL,1018,'cancelled',1,1794796690739257230,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(19,1,22,1,'app-20.1',0,'implement','main','scripted','','',0,0,'done',0,1794796688687433072,1794796688874960549,1794796689077150622,1794796688911907538,'scripted-app-20-1',0,'',NULL,'00623f5c42bf3873a2fa461b1deba361ccf4f97c','ecd734fbd1e47a6ceb7904e92a669c7053ad284e',' app-20.txt | 1 +
 1 file changed, 1 insertion(+)',NULL,914,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(20,1,23,1,'app-21.1',0,'implement','main','other','','',0,0,'failed',0,1794796688802378249,1794796689133603791,1794796689380736586,1794796689230971385,'scripted-app-21-1',1,'','{"class":"rate_limit","text":"come back later","retry_at":"2026-11-16T22:38:09.23Z"}','00623f5c42bf3873a2fa461b1deba361ccf4f97c','00623f5c42bf3873a2fa461b1deba361ccf4f97c','',NULL,804,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(21,1,24,1,'app-22.1',0,'implement','main','scripted','','',0,0,'done',0,1794796688946778307,1794796689196167522,1794796689605278564,1794796689275396682,'scripted-app-22-1',0,'',NULL,'b0cf522b938135df3e2ab6c15bad95a66c5d07d1','50dab1c7f72cadc7b2f09fe58803a1172f36355e',' app-22.txt | 1 +
 1 file changed, 1 insertion(+)',NULL,863,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(22,6,25,1,'proof-1.1',0,'implement','main','scripted','','',0,0,'done',0,1794796689077150622,1794796689315994767,1794796689599018371,1794796689412291131,'scripted-proof-1-1',0,'',NULL,'05f05ab3b18d4ba17408e7b5faf1d7964a435cd1','4affb8a8b3f82a7e81b501e4773b9982a4491fd3',' proof.txt | 1 +
 1 file changed, 1 insertion(+)',NULL,896,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(23,2,26,1,'held-1.1',0,'implement','main','scripted','','',0,0,'done',0,1794796689181587072,1794796689499979936,1794796689794103314,1794796689597274985,'scripted-held-1-1',0,'',NULL,'85aa01d37d2a3a7ddd7f83eda41cf75cdbb5a5c7','5ac7a07e27c93da9d40ae90e60da361d6fe6aeae',' held-1.txt | 1 +
 1 file changed, 1 insertion(+)',NULL,897,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(24,2,27,1,'held-2.1',0,'implement','main','scripted','','',0,0,'done',0,1794796689299042966,1794796689493934445,1794796689794103314,1794796689563925358,'scripted-held-2-1',0,'',NULL,'85aa01d37d2a3a7ddd7f83eda41cf75cdbb5a5c7','687c5916160ccbd5242809ee8c320b2494556fdc',' held-2.txt | 1 +
 1 file changed, 1 insertion(+)',NULL,880,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(25,4,29,1,'asks-1.1',0,'implement','main','asker','','',0,0,'waiting',1,1794796689689939859,1794796689842261970,NULL,1794796691038330094,'s1',NULL,'',NULL,'ac425a76318b4d75ec97fdc3ec893354b4da9089','','',NULL,5180,'',0,NULL,'','',NULL,NULL,'',0);
INSERT INTO sessions VALUES(26,6,25,2,'proof-1.2',0,'verify','main','scripted','','',0,0,'idle',1,1794796689733491170,1794796689987047110,NULL,1794796690091770250,'scripted-proof-1-2',NULL,'',NULL,'aff83adfce6ac87ff9607aadaa1f952fd8e0c622','','',NULL,303,'',0,NULL,'','/machine/state/workspaces/e224227b3ea91c35/coppice-002','[20048,20049]',NULL,'',0);
INSERT INTO sessions VALUES(27,1,19,2,'app-17.2',0,'implement','main','scripted','','scripted-app-17-1',0,1,'idle',1,1794796690276636778,1794796690302220130,NULL,1794796690656955156,'scripted-app-17-1',NULL,'',NULL,'22b1748a489362dd3a63c41c689cb199cef4e417','','',NULL,180,'',0,NULL,'','',NULL,NULL,'',0);
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
INSERT INTO prompts VALUES(21,'Task app-22: Check me

How to work:
- You are in a git repository of your own, on branch coppice/app-22. Stay in it; do not switch branches.
- Do this task and nothing else. Commit your work; what you leave uncommitted is committed for you.
- Your work lands on main only when it merges with it and its checks pass.

Checks that judge the merged tree:
  $ until test -e /machine/open; do sleep 0.1; done
');
INSERT INTO prompts VALUES(22,'Task proof-1: Verify me

What must be true when it is done:
1. The proof is there

How to work:
- You are in a git repository of your own, on branch coppice/proof-1. Stay in it; do not switch branches.
- Do this task and nothing else. Commit your work; what you leave uncommitted is committed for you.
- Your work lands on main only when it merges with it and its checks pass.
');
INSERT INTO prompts VALUES(23,'Task held-1: Hold me

How to work:
- You are in a git repository of your own, on branch coppice/held-1. Stay in it; do not switch branches.
- Do this task and nothing else. Commit your work; what you leave uncommitted is committed for you.
- Your work lands on main only when it merges with it and its checks pass.
');
INSERT INTO prompts VALUES(24,'Task held-2: Hold me until I say so

How to work:
- You are in a git repository of your own, on branch coppice/held-2. Stay in it; do not switch branches.
- Do this task and nothing else. Commit your work; what you leave uncommitted is committed for you.
- Your work lands on main only when it merges with it and its checks pass.
');
INSERT INTO prompts VALUES(25,'Task asks-1: Ask for permission

How to work:
- You are in a git repository of your own, on branch coppice/asks-1. Stay in it; do not switch branches.
- Do this task and nothing else. Commit your work; what you leave uncommitted is committed for you.
- Your work lands on main only when it merges with it and its checks pass.
');
INSERT INTO prompts VALUES(26,'Verify work that somebody else did. You judge it; you mend nothing.

Task proof-1: Verify me

The steps to verify, each by itself:
1. The proof is there

How to work:
- You are in a git worktree of your own, at the commit that would land on main: the work merged with it. Its checks have passed.
- Change nothing: no file, no commit, no branch. A verdict from a worktree with changed files is void.
- See for yourself: run it, use it, read it. What you cannot see to be true has failed.

How to answer: your last message is the verdict. Speak of every step; one that you say nothing of has failed. Write either a JSON object

{"steps":[{"n":1,"pass":true,"evidence":"what you did and saw"}],"summary":"in a sentence or two"}

or a line for each step:

STEP 1: PASS what you did and saw
STEP 2: FAIL what you did, what you expected and what you saw instead
');
INSERT INTO workspaces VALUES(1,5,1,'worktree','local','/machine/state/workspaces/cc0507f61c5d5223/coppice-001','coppice/feat-1','508eb4b908d540d56c5f393e52c96faa4bd52702','[20000,20001]',1794796685602929676,1794796685679484509,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(2,1,3,'worktree','local','/machine/state/workspaces/72ed33eb8483a9a5/coppice-001','coppice/app-1','00623f5c42bf3873a2fa461b1deba361ccf4f97c','[20002,20003]',1794796685787739438,1794796685903944205,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(3,1,5,'worktree','local','/machine/state/workspaces/72ed33eb8483a9a5/coppice-002','coppice/app-3','00623f5c42bf3873a2fa461b1deba361ccf4f97c','[20004,20005]',1794796686020410744,1794796686176973525,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(4,1,6,'worktree','local','/machine/state/workspaces/72ed33eb8483a9a5/coppice-003','coppice/app-4','00623f5c42bf3873a2fa461b1deba361ccf4f97c','[20006,20007]',1794796686168227661,1794796686451028031,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(5,1,7,'worktree','local','/machine/state/workspaces/72ed33eb8483a9a5/coppice-004','coppice/app-5','00623f5c42bf3873a2fa461b1deba361ccf4f97c','[20008,20009]',1794796686242891113,1794796686451028031,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(6,1,8,'worktree','local','/machine/state/workspaces/72ed33eb8483a9a5/coppice-005','coppice/app-6','00623f5c42bf3873a2fa461b1deba361ccf4f97c','[20010,20011]',1794796686427670375,1794796686650480874,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(7,1,9,'worktree','local','/machine/state/workspaces/72ed33eb8483a9a5/coppice-006','coppice/app-7','00623f5c42bf3873a2fa461b1deba361ccf4f97c','[20012,20013]',1794796686650480874,1794796686914887439,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(8,1,10,'worktree','local','/machine/state/workspaces/72ed33eb8483a9a5/coppice-007','coppice/app-8','00623f5c42bf3873a2fa461b1deba361ccf4f97c','[20014,20015]',1794796686905079020,1794796687134592573,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(9,1,11,'worktree','local','/machine/state/workspaces/72ed33eb8483a9a5/coppice-008','coppice/app-9','00623f5c42bf3873a2fa461b1deba361ccf4f97c','[20016,20017]',1794796687099528235,1794796687282137354,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(10,1,13,'worktree','local','/machine/state/workspaces/72ed33eb8483a9a5/coppice-009','coppice/app-11','00623f5c42bf3873a2fa461b1deba361ccf4f97c','[20018,20019]',1794796687424360997,1794796687572007518,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(11,1,14,'worktree','local','/machine/state/workspaces/72ed33eb8483a9a5/coppice-010','coppice/app-12','00623f5c42bf3873a2fa461b1deba361ccf4f97c','[20020,20021]',1794796687517750965,1794796687613990680,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(12,1,15,'worktree','local','/machine/state/workspaces/72ed33eb8483a9a5/coppice-011','coppice/app-13','00623f5c42bf3873a2fa461b1deba361ccf4f97c','[20022,20023]',1794796687572007518,1794796687697260935,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(13,1,16,'worktree','local','/machine/state/workspaces/72ed33eb8483a9a5/coppice-012','coppice/app-14','00623f5c42bf3873a2fa461b1deba361ccf4f97c','[20024,20025]',1794796687801637591,1794796687917585518,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(14,1,17,'worktree','local','/machine/state/workspaces/72ed33eb8483a9a5/coppice-013','coppice/app-15','00623f5c42bf3873a2fa461b1deba361ccf4f97c','[20026,20027]',1794796687897055446,1794796687994197427,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(15,1,18,'worktree','local','/machine/state/workspaces/72ed33eb8483a9a5/coppice-014','coppice/app-16','00623f5c42bf3873a2fa461b1deba361ccf4f97c','[20028,20029]',1794796687994197427,1794796688123243220,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(16,1,19,'worktree','local','/machine/state/workspaces/72ed33eb8483a9a5/coppice-015','coppice/app-17','00623f5c42bf3873a2fa461b1deba361ccf4f97c','[20030,20031]',1794796688192099922,1794796688299258205,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(17,1,20,'worktree','local','/machine/state/workspaces/72ed33eb8483a9a5/coppice-016','coppice/app-18','00623f5c42bf3873a2fa461b1deba361ccf4f97c','[20032,20033]',1794796688321580775,1794796688548998899,1794796689283810173,1,0,0,NULL);
INSERT INTO workspaces VALUES(18,1,21,'worktree','local','/machine/state/workspaces/72ed33eb8483a9a5/coppice-017','coppice/app-19','00623f5c42bf3873a2fa461b1deba361ccf4f97c','[20034,20035]',1794796688485963187,1794796688623910380,1794796690832219607,3,0,0,NULL);
INSERT INTO workspaces VALUES(19,1,22,'worktree','local','/machine/state/workspaces/72ed33eb8483a9a5/coppice-018','coppice/app-20','00623f5c42bf3873a2fa461b1deba361ccf4f97c','[20036,20037]',1794796688687433072,1794796688848807383,1794796689733491170,2,0,0,NULL);
INSERT INTO workspaces VALUES(20,1,23,'worktree','local','/machine/state/workspaces/72ed33eb8483a9a5/coppice-019','coppice/app-21','00623f5c42bf3873a2fa461b1deba361ccf4f97c','[20038,20039]',1794796688802378249,1794796689028267413,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(21,1,24,'worktree','local','/machine/state/workspaces/72ed33eb8483a9a5/coppice-020','coppice/app-22','b0cf522b938135df3e2ab6c15bad95a66c5d07d1','[20040,20041]',1794796688946778307,1794796689169444574,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(22,6,25,'worktree','local','/machine/state/workspaces/e224227b3ea91c35/coppice-001','coppice/proof-1','05f05ab3b18d4ba17408e7b5faf1d7964a435cd1','[20032,20033]',1794796689077150622,1794796689299042966,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(23,2,26,'worktree','local','/machine/state/workspaces/34129624dea88d26/coppice-001','coppice/held-1','85aa01d37d2a3a7ddd7f83eda41cf75cdbb5a5c7','[20042,20043]',1794796689181587072,1794796689483538298,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(24,2,27,'worktree','local','/machine/state/workspaces/34129624dea88d26/coppice-002','coppice/held-2','85aa01d37d2a3a7ddd7f83eda41cf75cdbb5a5c7','[20044,20045]',1794796689299042966,1794796689483538298,NULL,0,0,0,NULL);
INSERT INTO workspaces VALUES(25,4,29,'worktree','local','/machine/state/workspaces/e3741f1bcbb4f8e4/coppice-001','coppice/asks-1','ac425a76318b4d75ec97fdc3ec893354b4da9089','[20036,20037]',1794796689689939859,1794796689826526594,NULL,0,0,0,NULL);
INSERT INTO landings VALUES(1,1,20,17,0,'23822d53b8d78b0dc446d69497f23bcc23cb278f',1794796688687433072,'00623f5c42bf3873a2fa461b1deba361ccf4f97c','0c2379357d051ed722b7469eb037e96e5c5c5346','b0cf522b938135df3e2ab6c15bad95a66c5d07d1',1,0,1794796688788109106,'',0,NULL,2,1794796689077150622,'landed',NULL,'',0);
INSERT INTO landings VALUES(2,1,22,19,0,'ecd734fbd1e47a6ceb7904e92a669c7053ad284e',1794796689077150622,'b0cf522b938135df3e2ab6c15bad95a66c5d07d1','d00af05d420ba05f238474c70fbb140a529640ce','b912b13d8cd0a559edfed2818fa0e50c64c777a8',1,0,1794796689203259548,'',0,NULL,2,1794796689500364074,'landed',NULL,'',0);
INSERT INTO landings VALUES(3,6,25,22,0,'4affb8a8b3f82a7e81b501e4773b9982a4491fd3',1794796689599018371,'05f05ab3b18d4ba17408e7b5faf1d7964a435cd1','dc37fa1d5b39f663d17c45cf45f0fc2e75f16734','aff83adfce6ac87ff9607aadaa1f952fd8e0c622',1,0,NULL,'',0,NULL,1,NULL,'',NULL,'',0);
INSERT INTO landings VALUES(4,1,24,21,0,'50dab1c7f72cadc7b2f09fe58803a1172f36355e',1794796689605278564,'b912b13d8cd0a559edfed2818fa0e50c64c777a8','b60848895b5699a08280388781a7f666880e8f9b','f40c8d1ee89c4f9e5373678f59bc6f49f009915d',0,0,NULL,'',0,NULL,2,NULL,'',NULL,'',0);
INSERT INTO landings VALUES(5,2,26,23,0,'5ac7a07e27c93da9d40ae90e60da361d6fe6aeae',1794796689794103314,'85aa01d37d2a3a7ddd7f83eda41cf75cdbb5a5c7','8d4ff1d4a923e253638aab3ff697b1577c0d2a22','1e4d0e0545fa9b0261eb29ffe74a1f5077a05cf8',1,0,NULL,'',0,NULL,1,NULL,'',NULL,'',0);
INSERT INTO landings VALUES(6,2,27,24,0,'687c5916160ccbd5242809ee8c320b2494556fdc',1794796689794103314,'85aa01d37d2a3a7ddd7f83eda41cf75cdbb5a5c7','fe540673add6dc5c4f7bbd365828d9490788fb88','760803806fff29e54e0c6bc7419841c6e9ba1e33',1,0,NULL,'',0,NULL,1,NULL,'',NULL,'',0);
INSERT INTO work VALUES(1,'workspace.prepare','session/1/prepare','local',5,1,1,'settled',1,'local',NULL,NULL,1794796685602929676,1794796685621075761,1794796685676730145,'{"key":"feat-1","repo":"/machine/feat","branch":"coppice/feat-1","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/cc0507f61c5d5223/coppice-001","base_commit":"508eb4b908d540d56c5f393e52c96faa4bd52702","head":"508eb4b908d540d56c5f393e52c96faa4bd52702","ports":[20000,20001]}');
INSERT INTO work VALUES(2,'session.run','session/1/run','local',5,1,1,'taken',1,'local',1794796715687103369,NULL,1794796685679484509,1794796685687103369,NULL,'{"session":{"id":1,"project_id":5,"task_id":1,"n":1,"key":"feat-1.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:38:05.602929676Z","from":"508eb4b908d540d56c5f393e52c96faa4bd52702","usage":{},"cursor":0},"task":"feat-1","title":"Do first","repo":"/machine/feat","path":"/machine/state/workspaces/cc0507f61c5d5223/coppice-001","branch":"coppice/feat-1","ports":[20000,20001],"base":"main","permissions":{},"output":"256 MiB"}',NULL);
INSERT INTO work VALUES(3,'workspace.prepare','session/2/prepare','local',1,3,2,'settled',1,'local',NULL,NULL,1794796685787739438,1794796685796006088,1794796685901610306,'{"key":"app-1","repo":"/machine/app","branch":"coppice/app-1","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-001","base_commit":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","head":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","ports":[20002,20003]}');
INSERT INTO work VALUES(4,'session.run','session/2/run','local',1,3,2,'taken',1,'local',1794796715908160029,NULL,1794796685903944205,1794796685908160029,NULL,'{"session":{"id":2,"project_id":1,"task_id":3,"n":1,"key":"app-1.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:38:05.787739438Z","from":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","usage":{},"cursor":0},"task":"app-1","title":"Keep running","repo":"/machine/app","path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-001","branch":"coppice/app-1","ports":[20002,20003],"base":"main","permissions":{},"output":"256 MiB"}',NULL);
INSERT INTO work VALUES(5,'workspace.prepare','session/3/prepare','local',1,5,3,'settled',1,'local',NULL,NULL,1794796686020410744,1794796686054599236,1794796686175894891,'{"key":"app-3","repo":"/machine/app","branch":"coppice/app-3","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-002","base_commit":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","head":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","ports":[20004,20005]}');
INSERT INTO work VALUES(6,'workspace.prepare','session/4/prepare','local',1,6,4,'settled',1,'local',NULL,NULL,1794796686168227661,1794796686173511449,1794796686438192598,'{"key":"app-4","repo":"/machine/app","branch":"coppice/app-4","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-003","base_commit":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","head":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","ports":[20006,20007]}');
INSERT INTO work VALUES(7,'session.run','session/3/run','local',1,5,3,'taken',1,'local',1794796716179422660,NULL,1794796686176973525,1794796686179422660,NULL,'{"session":{"id":3,"project_id":1,"task_id":5,"n":1,"key":"app-3.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:38:06.020410744Z","from":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","usage":{},"cursor":0},"task":"app-3","title":"End without a server","repo":"/machine/app","path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-002","branch":"coppice/app-3","ports":[20004,20005],"base":"main","permissions":{},"output":"256 MiB"}',NULL);
INSERT INTO work VALUES(8,'workspace.prepare','session/5/prepare','local',1,7,5,'settled',1,'local',NULL,NULL,1794796686242891113,1794796686255805443,1794796686450571277,'{"key":"app-5","repo":"/machine/app","branch":"coppice/app-5","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-004","base_commit":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","head":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","ports":[20008,20009]}');
INSERT INTO work VALUES(9,'workspace.prepare','session/6/prepare','local',1,8,6,'settled',1,'local',NULL,NULL,1794796686427670375,1794796686446060142,1794796686645133777,'{"key":"app-6","repo":"/machine/app","branch":"coppice/app-6","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-005","base_commit":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","head":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","ports":[20010,20011]}');
INSERT INTO work VALUES(10,'session.run','session/4/run','local',1,6,4,'taken',1,'local',1794796716453828972,NULL,1794796686451028031,1794796686453828972,NULL,'{"session":{"id":4,"project_id":1,"task_id":6,"n":1,"key":"app-4.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:38:06.168227661Z","from":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","usage":{},"cursor":0},"task":"app-4","title":"Ask a question","repo":"/machine/app","path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-003","branch":"coppice/app-4","ports":[20006,20007],"base":"main","permissions":{},"output":"256 MiB"}',NULL);
INSERT INTO work VALUES(11,'session.run','session/5/run','local',1,7,5,'taken',1,'local',1794796716453828972,NULL,1794796686451028031,1794796686453828972,NULL,'{"session":{"id":5,"project_id":1,"task_id":7,"n":1,"key":"app-5.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:38:06.242891113Z","from":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","usage":{},"cursor":0},"task":"app-5","title":"Wait for an answer","repo":"/machine/app","path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-004","branch":"coppice/app-5","ports":[20008,20009],"base":"main","permissions":{},"output":"256 MiB"}',NULL);
INSERT INTO work VALUES(12,'session.run','session/6/run','local',1,8,6,'taken',1,'local',1794796716660229662,NULL,1794796686650480874,1794796686660229662,NULL,'{"session":{"id":6,"project_id":1,"task_id":8,"n":1,"key":"app-6.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:38:06.427670375Z","from":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","usage":{},"cursor":0},"task":"app-6","title":"Wait for a message","repo":"/machine/app","path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-005","branch":"coppice/app-6","ports":[20010,20011],"base":"main","permissions":{},"output":"256 MiB"}',NULL);
INSERT INTO work VALUES(13,'workspace.prepare','session/7/prepare','local',1,9,7,'settled',1,'local',NULL,NULL,1794796686650480874,1794796686663595077,1794796686909966856,'{"key":"app-7","repo":"/machine/app","branch":"coppice/app-7","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-006","base_commit":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","head":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","ports":[20012,20013]}');
INSERT INTO work VALUES(14,'workspace.prepare','session/8/prepare','local',1,10,8,'settled',1,'local',NULL,NULL,1794796686905079020,1794796686910183130,1794796687133745921,'{"key":"app-8","repo":"/machine/app","branch":"coppice/app-8","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-007","base_commit":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","head":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","ports":[20014,20015]}');
INSERT INTO work VALUES(15,'session.run','session/7/run','local',1,9,7,'taken',1,'local',1794796716923506124,NULL,1794796686914887439,1794796686923506124,NULL,'{"session":{"id":7,"project_id":1,"task_id":9,"n":1,"key":"app-7.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:38:06.650480874Z","from":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","usage":{},"cursor":0},"task":"app-7","title":"Wait for the next turn","repo":"/machine/app","path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-006","branch":"coppice/app-7","ports":[20012,20013],"base":"main","permissions":{},"output":"256 MiB"}',NULL);
INSERT INTO work VALUES(16,'workspace.prepare','session/9/prepare','local',1,11,9,'settled',1,'local',NULL,NULL,1794796687099528235,1794796687106101492,1794796687270548329,'{"key":"app-9","repo":"/machine/app","branch":"coppice/app-9","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-008","base_commit":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","head":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","ports":[20016,20017]}');
INSERT INTO work VALUES(17,'session.run','session/8/run','local',1,10,8,'taken',1,'local',1794796717163775129,NULL,1794796687134592573,1794796687163775129,NULL,'{"session":{"id":8,"project_id":1,"task_id":10,"n":1,"key":"app-8.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:38:06.90507902Z","from":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","usage":{},"cursor":0},"task":"app-8","title":"Change the model","repo":"/machine/app","path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-007","branch":"coppice/app-8","ports":[20014,20015],"base":"main","permissions":{},"output":"256 MiB"}',NULL);
INSERT INTO work VALUES(18,'session.run','session/9/run','local',1,11,9,'taken',1,'local',1794796717294149890,NULL,1794796687282137354,1794796687294149890,NULL,'{"session":{"id":9,"project_id":1,"task_id":11,"n":1,"key":"app-9.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:38:07.099528235Z","from":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","usage":{},"cursor":0},"task":"app-9","title":"Interrupt me","repo":"/machine/app","path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-008","branch":"coppice/app-9","ports":[20016,20017],"base":"main","permissions":{},"output":"256 MiB"}',NULL);
INSERT INTO work VALUES(19,'workspace.prepare','session/10/prepare','local',1,13,10,'settled',1,'local',NULL,NULL,1794796687424360997,1794796687439683054,1794796687571889046,'{"key":"app-11","repo":"/machine/app","branch":"coppice/app-11","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-009","base_commit":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","head":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","ports":[20018,20019]}');
INSERT INTO work VALUES(20,'workspace.prepare','session/11/prepare','local',1,14,11,'settled',1,'local',NULL,NULL,1794796687517750965,1794796687524172058,1794796687612976276,'{"key":"app-12","repo":"/machine/app","branch":"coppice/app-12","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-010","base_commit":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","head":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","ports":[20020,20021]}');
INSERT INTO work VALUES(21,'session.run','session/10/run','local',1,13,10,'taken',1,'local',1794796717585405271,NULL,1794796687572007518,1794796687585405271,NULL,'{"session":{"id":10,"project_id":1,"task_id":13,"n":1,"key":"app-11.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:38:07.424360997Z","from":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","usage":{},"cursor":0},"task":"app-11","title":"Stop me","repo":"/machine/app","path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-009","branch":"coppice/app-11","ports":[20018,20019],"base":"main","permissions":{},"output":"256 MiB"}',NULL);
INSERT INTO work VALUES(22,'workspace.prepare','session/12/prepare','local',1,15,12,'settled',1,'local',NULL,NULL,1794796687572007518,1794796687588548041,1794796687690907862,'{"key":"app-13","repo":"/machine/app","branch":"coppice/app-13","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-011","base_commit":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","head":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","ports":[20022,20023]}');
INSERT INTO work VALUES(23,'session.run','session/11/run','local',1,14,11,'taken',1,'local',1794796717633552266,NULL,1794796687613990680,1794796687633552266,NULL,'{"session":{"id":11,"project_id":1,"task_id":14,"n":1,"key":"app-12.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:38:07.517750965Z","from":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","usage":{},"cursor":0},"task":"app-12","title":"Requeue me","repo":"/machine/app","path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-010","branch":"coppice/app-12","ports":[20020,20021],"base":"main","permissions":{},"output":"256 MiB"}',NULL);
INSERT INTO work VALUES(24,'session.run','session/12/run','local',1,15,12,'settled',1,'local',NULL,NULL,1794796687697260935,1794796687701619195,1794796687781559884,'{"session":{"id":12,"project_id":1,"task_id":15,"n":1,"key":"app-13.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:38:07.572007518Z","from":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","usage":{},"cursor":0},"task":"app-13","title":"Retry me","repo":"/machine/app","path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-011","branch":"coppice/app-13","ports":[20022,20023],"base":"main","permissions":{},"output":"256 MiB"}','{"exit":1,"conversation":"scripted-app-13-1","failure":{"class":"implementation","text":"it is too hard"},"from":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","head":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","usage":{}}');
INSERT INTO work VALUES(25,'workspace.prepare','session/13/prepare','local',1,16,13,'settled',1,'local',NULL,NULL,1794796687801637591,1794796687808496093,1794796687909735118,'{"key":"app-14","repo":"/machine/app","branch":"coppice/app-14","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-012","base_commit":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","head":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","ports":[20024,20025]}');
INSERT INTO work VALUES(26,'workspace.prepare','session/14/prepare','local',1,17,14,'settled',1,'local',NULL,NULL,1794796687897055446,1794796687900196994,1794796687990275515,'{"key":"app-15","repo":"/machine/app","branch":"coppice/app-15","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-013","base_commit":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","head":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","ports":[20026,20027]}');
INSERT INTO work VALUES(27,'session.run','session/13/run','local',1,16,13,'settled',1,'local',NULL,NULL,1794796687917585518,1794796687924886254,1794796687998949763,'{"session":{"id":13,"project_id":1,"task_id":16,"n":1,"key":"app-14.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:38:07.801637591Z","from":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","usage":{},"cursor":0},"task":"app-14","title":"Ask for help","repo":"/machine/app","path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-012","branch":"coppice/app-14","ports":[20024,20025],"base":"main","permissions":{},"output":"256 MiB"}','{"exit":1,"conversation":"scripted-app-14-1","failure":{"class":"disk","text":"the disk is full"},"from":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","head":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","usage":{}}');
INSERT INTO work VALUES(28,'session.run','session/14/run','local',1,17,14,'settled',1,'local',NULL,NULL,1794796687994197427,1794796687999061883,1794796688174406679,'{"session":{"id":14,"project_id":1,"task_id":17,"n":1,"key":"app-15.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:38:07.897055446Z","from":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","usage":{},"cursor":0},"task":"app-15","title":"Land me","repo":"/machine/app","path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-013","branch":"coppice/app-15","ports":[20026,20027],"base":"main","permissions":{},"output":"256 MiB"}','{"exit":1,"conversation":"scripted-app-15-1","failure":{"class":"implementation","text":"it is too hard"},"from":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","head":"242cca65dbc102605baed3e1110ea18a1da87517","stat":" kept.txt | 1 +\n 1 file changed, 1 insertion(+)","usage":{}}');
INSERT INTO work VALUES(29,'workspace.prepare','session/15/prepare','local',1,18,15,'settled',1,'local',NULL,NULL,1794796687994197427,1794796688003798559,1794796688122438357,'{"key":"app-16","repo":"/machine/app","branch":"coppice/app-16","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-014","base_commit":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","head":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","ports":[20028,20029]}');
INSERT INTO work VALUES(30,'session.run','session/15/run','local',1,18,15,'taken',1,'local',1794796718131745250,NULL,1794796688123243220,1794796688131745250,NULL,'{"session":{"id":15,"project_id":1,"task_id":18,"n":1,"key":"app-16.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:38:07.994197427Z","from":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","usage":{},"cursor":0},"task":"app-16","title":"Take me","repo":"/machine/app","path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-014","branch":"coppice/app-16","ports":[20028,20029],"base":"main","permissions":{},"output":"256 MiB"}',NULL);
INSERT INTO work VALUES(31,'workspace.prepare','session/16/prepare','local',1,19,16,'settled',1,'local',NULL,NULL,1794796688192099922,1794796688201417114,1794796688295244236,'{"key":"app-17","repo":"/machine/app","branch":"coppice/app-17","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-015","base_commit":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","head":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","ports":[20030,20031]}');
INSERT INTO work VALUES(32,'session.run','session/16/run','local',1,19,16,'settled',1,'local',NULL,NULL,1794796688299258205,1794796688320106221,1794796690275592537,'{"session":{"id":16,"project_id":1,"task_id":19,"n":1,"key":"app-17.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:38:08.192099922Z","from":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","usage":{},"cursor":0},"task":"app-17","title":"Give me back","repo":"/machine/app","path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-015","branch":"coppice/app-17","ports":[20030,20031],"base":"main","permissions":{},"output":"256 MiB"}','{"exit":1,"stopped":true,"conversation":"scripted-app-17-1","failure":{"class":"cancelled","text":"stopped before it was done"},"from":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","head":"22b1748a489362dd3a63c41c689cb199cef4e417","stat":" app-17.1.txt | 1 +\n 1 file changed, 1 insertion(+)","usage":{}}');
INSERT INTO work VALUES(33,'workspace.prepare','session/17/prepare','local',1,20,17,'settled',1,'local',NULL,NULL,1794796688321580775,1794796688325055164,1794796688546255453,'{"key":"app-18","repo":"/machine/app","branch":"coppice/app-18","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-016","base_commit":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","head":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","ports":[20032,20033]}');
INSERT INTO work VALUES(34,'workspace.prepare','session/18/prepare','local',1,21,18,'settled',1,'local',NULL,NULL,1794796688485963187,1794796688494304335,1794796688623316471,'{"key":"app-19","repo":"/machine/app","branch":"coppice/app-19","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-017","base_commit":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","head":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","ports":[20034,20035]}');
INSERT INTO work VALUES(35,'session.run','session/17/run','local',1,20,17,'settled',1,'local',NULL,NULL,1794796688548998899,1794796688551046010,1794796688687283272,'{"session":{"id":17,"project_id":1,"task_id":20,"n":1,"key":"app-18.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:38:08.321580775Z","from":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","usage":{},"cursor":0},"task":"app-18","title":"Continue me","repo":"/machine/app","path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-016","branch":"coppice/app-18","ports":[20032,20033],"base":"main","permissions":{},"output":"256 MiB"}','{"exit":0,"conversation":"scripted-app-18-1","from":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","head":"23822d53b8d78b0dc446d69497f23bcc23cb278f","stat":" app-18.txt | 1 +\n 1 file changed, 1 insertion(+)","usage":{}}');
INSERT INTO work VALUES(36,'session.run','session/18/run','local',1,21,18,'settled',1,'local',NULL,NULL,1794796688623910380,1794796688629282444,1794796690801494521,'{"session":{"id":18,"project_id":1,"task_id":21,"n":1,"key":"app-19.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:38:08.485963187Z","from":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","usage":{},"cursor":0},"task":"app-19","title":"Undo me","repo":"/machine/app","path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-017","branch":"coppice/app-19","ports":[20034,20035],"base":"main","permissions":{},"output":"256 MiB"}','{"exit":1,"stopped":true,"conversation":"scripted-app-19-1","failure":{"class":"cancelled","text":"stopped before it was done"},"from":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","head":"39c34463138007682f7237800cdb49f57c0511c0","stat":" gone.txt | 1 +\n 1 file changed, 1 insertion(+)","usage":{}}');
INSERT INTO work VALUES(37,'land.merge','landing/1/1','control',1,20,0,'settled',1,'local',NULL,NULL,1794796688687433072,1794796688692489205,1794796688782450420,'{"repo":"/machine/app","base":"main","head":"23822d53b8d78b0dc446d69497f23bcc23cb278f","strategy":"squash","message":"Continue me\n\nCoppice-Task: app-18\nCoppice-Session: app-18.1\nCoppice-Agent: scripted\n","at":"2026-11-16T02:38:08.687433072Z","ref":"refs/coppice/landing/app-18/1","seen":"00623f5c42bf3873a2fa461b1deba361ccf4f97c"}','{"base":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","tree":"0c2379357d051ed722b7469eb037e96e5c5c5346","commit":"b0cf522b938135df3e2ab6c15bad95a66c5d07d1"}');
INSERT INTO work VALUES(38,'workspace.prepare','session/19/prepare','local',1,22,19,'settled',1,'local',NULL,NULL,1794796688687433072,1794796688692489205,1794796688806095051,'{"key":"app-20","repo":"/machine/app","branch":"coppice/app-20","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-018","base_commit":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","head":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","ports":[20036,20037]}');
INSERT INTO work VALUES(39,'land.move','landing/1/2','control',1,20,0,'settled',1,'local',NULL,NULL,1794796688788109106,1794796688794467872,1794796689067999210,'{"repo":"/machine/app","base":"main","old":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","new":"b0cf522b938135df3e2ab6c15bad95a66c5d07d1","ref":"refs/coppice/landing/app-18/1"}','{"moved":true,"now":"b0cf522b938135df3e2ab6c15bad95a66c5d07d1"}');
INSERT INTO work VALUES(40,'workspace.prepare','session/20/prepare','local',1,23,20,'settled',1,'local',NULL,NULL,1794796688802378249,1794796688873574200,1794796689015425998,'{"key":"app-21","repo":"/machine/app","branch":"coppice/app-21","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-019","base_commit":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","head":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","ports":[20038,20039]}');
INSERT INTO work VALUES(41,'session.run','session/19/run','local',1,22,19,'settled',1,'local',NULL,NULL,1794796688848807383,1794796688874265812,1794796689074510992,'{"session":{"id":19,"project_id":1,"task_id":22,"n":1,"key":"app-20.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:38:08.687433072Z","from":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","usage":{},"cursor":0},"task":"app-20","title":"Leave this in the trash","repo":"/machine/app","path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-018","branch":"coppice/app-20","ports":[20036,20037],"base":"main","permissions":{},"output":"256 MiB"}','{"exit":0,"conversation":"scripted-app-20-1","from":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","head":"ecd734fbd1e47a6ceb7904e92a669c7053ad284e","stat":" app-20.txt | 1 +\n 1 file changed, 1 insertion(+)","usage":{}}');
INSERT INTO work VALUES(42,'workspace.prepare','session/21/prepare','local',1,24,21,'settled',1,'local',NULL,NULL,1794796688946778307,1794796688957468824,1794796689149134167,'{"key":"app-22","repo":"/machine/app","branch":"coppice/app-22","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-020","base_commit":"b0cf522b938135df3e2ab6c15bad95a66c5d07d1","head":"b0cf522b938135df3e2ab6c15bad95a66c5d07d1","ports":[20040,20041]}');
INSERT INTO work VALUES(43,'session.run','session/20/run','local',1,23,20,'settled',1,'local',NULL,NULL,1794796689028267413,1794796689068163898,1794796689316142373,'{"session":{"id":20,"project_id":1,"task_id":23,"n":1,"key":"app-21.1","round":0,"role":"implement","track":"main","agent":"other","state":"starting","created_at":"2026-11-16T02:38:08.802378249Z","from":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","usage":{},"cursor":0},"task":"app-21","title":"Wait for the account","repo":"/machine/app","path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-019","branch":"coppice/app-21","ports":[20038,20039],"profile":{"protocol":"scripted","command":["{coppice}","scripted"],"args":[".coppice/other.yaml"],"scores":{}},"base":"main","permissions":{},"output":"256 MiB"}','{"exit":1,"conversation":"scripted-app-21-1","failure":{"class":"rate_limit","text":"come back later","retry_at":"2026-11-16T22:38:09.23Z"},"from":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","head":"00623f5c42bf3873a2fa461b1deba361ccf4f97c","usage":{}}');
INSERT INTO work VALUES(44,'workspace.remove','workspace/17/remove/1','local',1,20,0,'settled',1,'local',NULL,NULL,1794796689077150622,1794796689081896396,1794796689282671376,'{"key":"app-18","repo":"/machine/app","path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-016","branch":"coppice/app-18","policy":{"keep":[".env*"],"ttl":"14d"}}','{"head":"23822d53b8d78b0dc446d69497f23bcc23cb278f","ref":"refs/coppice/trash/app-18-1"}');
INSERT INTO work VALUES(45,'land.merge','landing/2/1','control',1,22,0,'settled',1,'local',NULL,NULL,1794796689077150622,1794796689081896396,1794796689198071077,'{"repo":"/machine/app","base":"main","head":"ecd734fbd1e47a6ceb7904e92a669c7053ad284e","strategy":"squash","message":"Leave this in the trash\n\nCoppice-Task: app-20\nCoppice-Session: app-20.1\nCoppice-Agent: scripted\n","at":"2026-11-16T02:38:09.077150622Z","ref":"refs/coppice/landing/app-20/2","seen":"b0cf522b938135df3e2ab6c15bad95a66c5d07d1"}','{"base":"b0cf522b938135df3e2ab6c15bad95a66c5d07d1","tree":"d00af05d420ba05f238474c70fbb140a529640ce","commit":"b912b13d8cd0a559edfed2818fa0e50c64c777a8"}');
INSERT INTO work VALUES(46,'workspace.prepare','session/22/prepare','local',6,25,22,'settled',1,'local',NULL,NULL,1794796689077150622,1794796689081896396,1794796689296820064,'{"key":"proof-1","repo":"/machine/proof","branch":"coppice/proof-1","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/e224227b3ea91c35/coppice-001","base_commit":"05f05ab3b18d4ba17408e7b5faf1d7964a435cd1","head":"05f05ab3b18d4ba17408e7b5faf1d7964a435cd1","ports":[20032,20033]}');
INSERT INTO work VALUES(47,'session.run','session/21/run','local',1,24,21,'settled',1,'local',NULL,NULL,1794796689169444574,1794796689181493598,1794796689600694883,'{"session":{"id":21,"project_id":1,"task_id":24,"n":1,"key":"app-22.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:38:08.946778307Z","from":"b0cf522b938135df3e2ab6c15bad95a66c5d07d1","usage":{},"cursor":0},"task":"app-22","title":"Check me","repo":"/machine/app","path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-020","branch":"coppice/app-22","ports":[20040,20041],"base":"main","permissions":{},"output":"256 MiB"}','{"exit":0,"conversation":"scripted-app-22-1","from":"b0cf522b938135df3e2ab6c15bad95a66c5d07d1","head":"50dab1c7f72cadc7b2f09fe58803a1172f36355e","stat":" app-22.txt | 1 +\n 1 file changed, 1 insertion(+)","usage":{}}');
INSERT INTO work VALUES(48,'workspace.prepare','session/23/prepare','local',2,26,23,'settled',1,'local',NULL,NULL,1794796689181587072,1794796689190332566,1794796689476443847,'{"key":"held-1","repo":"/machine/held","branch":"coppice/held-1","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/34129624dea88d26/coppice-001","base_commit":"85aa01d37d2a3a7ddd7f83eda41cf75cdbb5a5c7","head":"85aa01d37d2a3a7ddd7f83eda41cf75cdbb5a5c7","ports":[20042,20043]}');
INSERT INTO work VALUES(49,'land.move','landing/2/2','control',1,22,0,'settled',1,'local',NULL,NULL,1794796689203259548,1794796689249771681,1794796689500240342,'{"repo":"/machine/app","base":"main","old":"b0cf522b938135df3e2ab6c15bad95a66c5d07d1","new":"b912b13d8cd0a559edfed2818fa0e50c64c777a8","ref":"refs/coppice/landing/app-20/2"}','{"moved":true,"now":"b912b13d8cd0a559edfed2818fa0e50c64c777a8"}');
INSERT INTO work VALUES(50,'session.run','session/22/run','local',6,25,22,'settled',1,'local',NULL,NULL,1794796689299042966,1794796689302810443,1794796689518448500,'{"session":{"id":22,"project_id":6,"task_id":25,"n":1,"key":"proof-1.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:38:09.077150622Z","from":"05f05ab3b18d4ba17408e7b5faf1d7964a435cd1","usage":{},"cursor":0},"task":"proof-1","title":"Verify me","repo":"/machine/proof","path":"/machine/state/workspaces/e224227b3ea91c35/coppice-001","branch":"coppice/proof-1","ports":[20032,20033],"base":"main","permissions":{},"output":"256 MiB"}','{"exit":0,"conversation":"scripted-proof-1-1","from":"05f05ab3b18d4ba17408e7b5faf1d7964a435cd1","head":"4affb8a8b3f82a7e81b501e4773b9982a4491fd3","stat":" proof.txt | 1 +\n 1 file changed, 1 insertion(+)","usage":{}}');
INSERT INTO work VALUES(51,'workspace.prepare','session/24/prepare','local',2,27,24,'settled',1,'local',NULL,NULL,1794796689299042966,1794796689305785740,1794796689482470603,'{"key":"held-2","repo":"/machine/held","branch":"coppice/held-2","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/34129624dea88d26/coppice-002","base_commit":"85aa01d37d2a3a7ddd7f83eda41cf75cdbb5a5c7","head":"85aa01d37d2a3a7ddd7f83eda41cf75cdbb5a5c7","ports":[20044,20045]}');
INSERT INTO work VALUES(52,'session.run','session/23/run','local',2,26,23,'settled',1,'local',NULL,NULL,1794796689483538298,1794796689489825250,1794796689752068385,'{"session":{"id":23,"project_id":2,"task_id":26,"n":1,"key":"held-1.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:38:09.181587072Z","from":"85aa01d37d2a3a7ddd7f83eda41cf75cdbb5a5c7","usage":{},"cursor":0},"task":"held-1","title":"Hold me","repo":"/machine/held","path":"/machine/state/workspaces/34129624dea88d26/coppice-001","branch":"coppice/held-1","ports":[20042,20043],"base":"main","permissions":{},"output":"256 MiB"}','{"exit":0,"conversation":"scripted-held-1-1","from":"85aa01d37d2a3a7ddd7f83eda41cf75cdbb5a5c7","head":"5ac7a07e27c93da9d40ae90e60da361d6fe6aeae","stat":" held-1.txt | 1 +\n 1 file changed, 1 insertion(+)","usage":{}}');
INSERT INTO work VALUES(53,'session.run','session/24/run','local',2,27,24,'settled',1,'local',NULL,NULL,1794796689483538298,1794796689489825250,1794796689752262327,'{"session":{"id":24,"project_id":2,"task_id":27,"n":1,"key":"held-2.1","round":0,"role":"implement","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:38:09.299042966Z","from":"85aa01d37d2a3a7ddd7f83eda41cf75cdbb5a5c7","usage":{},"cursor":0},"task":"held-2","title":"Hold me until I say so","repo":"/machine/held","path":"/machine/state/workspaces/34129624dea88d26/coppice-002","branch":"coppice/held-2","ports":[20044,20045],"base":"main","permissions":{},"output":"256 MiB"}','{"exit":0,"conversation":"scripted-held-2-1","from":"85aa01d37d2a3a7ddd7f83eda41cf75cdbb5a5c7","head":"687c5916160ccbd5242809ee8c320b2494556fdc","stat":" held-2.txt | 1 +\n 1 file changed, 1 insertion(+)","usage":{}}');
INSERT INTO work VALUES(54,'workspace.remove','workspace/19/remove/1','local',1,22,0,'settled',1,'local',NULL,NULL,1794796689500364074,1794796689561736191,1794796689708530772,'{"key":"app-20","repo":"/machine/app","path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-018","branch":"coppice/app-20","policy":{"keep":[".env*"],"ttl":"14d"}}','{"head":"ecd734fbd1e47a6ceb7904e92a669c7053ad284e","ref":"refs/coppice/trash/app-20-1"}');
INSERT INTO work VALUES(55,'land.merge','landing/3/1','control',6,25,0,'settled',1,'local',NULL,NULL,1794796689599018371,1794796689630592372,1794796689733224773,'{"repo":"/machine/proof","base":"main","head":"4affb8a8b3f82a7e81b501e4773b9982a4491fd3","strategy":"squash","message":"Verify me\n\nCoppice-Task: proof-1\nCoppice-Session: proof-1.1\nCoppice-Agent: scripted\n","at":"2026-11-16T02:38:09.599018371Z","ref":"refs/coppice/landing/proof-1/3","seen":"05f05ab3b18d4ba17408e7b5faf1d7964a435cd1"}','{"base":"05f05ab3b18d4ba17408e7b5faf1d7964a435cd1","tree":"dc37fa1d5b39f663d17c45cf45f0fc2e75f16734","commit":"aff83adfce6ac87ff9607aadaa1f952fd8e0c622"}');
INSERT INTO work VALUES(56,'land.merge','landing/4/1','control',1,24,0,'settled',1,'local',NULL,NULL,1794796689605278564,1794796689630592372,1794796689733425347,'{"repo":"/machine/app","base":"main","head":"50dab1c7f72cadc7b2f09fe58803a1172f36355e","strategy":"squash","message":"Check me\n\nCoppice-Task: app-22\nCoppice-Session: app-22.1\nCoppice-Agent: scripted\n","at":"2026-11-16T02:38:09.605278564Z","ref":"refs/coppice/landing/app-22/4","seen":"b912b13d8cd0a559edfed2818fa0e50c64c777a8"}','{"base":"b912b13d8cd0a559edfed2818fa0e50c64c777a8","tree":"b60848895b5699a08280388781a7f666880e8f9b","commit":"f40c8d1ee89c4f9e5373678f59bc6f49f009915d"}');
INSERT INTO work VALUES(57,'workspace.prepare','session/25/prepare','local',4,29,25,'settled',1,'local',NULL,NULL,1794796689689939859,1794796689697089813,1794796689815743241,'{"key":"asks-1","repo":"/machine/asks","branch":"coppice/asks-1","base":"main","policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/e3741f1bcbb4f8e4/coppice-001","base_commit":"ac425a76318b4d75ec97fdc3ec893354b4da9089","head":"ac425a76318b4d75ec97fdc3ec893354b4da9089","ports":[20036,20037]}');
INSERT INTO work VALUES(58,'check.run','landing/4/2','local',1,24,0,'taken',1,'local',1794796719810654687,NULL,1794796689733491170,1794796689810654687,NULL,'{"repo":"/machine/app","commit":"f40c8d1ee89c4f9e5373678f59bc6f49f009915d","tree":"b60848895b5699a08280388781a7f666880e8f9b","commands":["until test -e /machine/open; do sleep 0.1; done"],"timeout":"30m","policy":{"kind":"worktree","ports":2}}',NULL);
INSERT INTO work VALUES(59,'workspace.prepare','session/26/prepare','local',6,25,26,'settled',1,'local',NULL,NULL,1794796689733491170,1794796689793911816,1794796689955703028,'{"key":"proof-1.2","repo":"/machine/proof","branch":"","base":"main","from":"aff83adfce6ac87ff9607aadaa1f952fd8e0c622","detached":true,"policy":{"kind":"worktree","ports":2}}','{"path":"/machine/state/workspaces/e224227b3ea91c35/coppice-002","base_commit":"aff83adfce6ac87ff9607aadaa1f952fd8e0c622","head":"aff83adfce6ac87ff9607aadaa1f952fd8e0c622","ports":[20048,20049]}');
INSERT INTO work VALUES(60,'land.merge','landing/5/1','control',2,26,0,'settled',1,'local',NULL,NULL,1794796689794103314,1794796689813001270,1794796689852315891,'{"repo":"/machine/held","base":"main","head":"5ac7a07e27c93da9d40ae90e60da361d6fe6aeae","strategy":"squash","message":"Hold me\n\nCoppice-Task: held-1\nCoppice-Session: held-1.1\nCoppice-Agent: scripted\n","at":"2026-11-16T02:38:09.794103314Z","ref":"refs/coppice/landing/held-1/5","seen":"85aa01d37d2a3a7ddd7f83eda41cf75cdbb5a5c7"}','{"base":"85aa01d37d2a3a7ddd7f83eda41cf75cdbb5a5c7","tree":"8d4ff1d4a923e253638aab3ff697b1577c0d2a22","commit":"1e4d0e0545fa9b0261eb29ffe74a1f5077a05cf8"}');
INSERT INTO work VALUES(61,'land.merge','landing/6/1','control',2,27,0,'settled',1,'local',NULL,NULL,1794796689794103314,1794796689813001270,1794796689866748557,'{"repo":"/machine/held","base":"main","head":"687c5916160ccbd5242809ee8c320b2494556fdc","strategy":"squash","message":"Hold me until I say so\n\nCoppice-Task: held-2\nCoppice-Session: held-2.1\nCoppice-Agent: scripted\n","at":"2026-11-16T02:38:09.794103314Z","ref":"refs/coppice/landing/held-2/6","seen":"85aa01d37d2a3a7ddd7f83eda41cf75cdbb5a5c7"}','{"base":"85aa01d37d2a3a7ddd7f83eda41cf75cdbb5a5c7","tree":"fe540673add6dc5c4f7bbd365828d9490788fb88","commit":"760803806fff29e54e0c6bc7419841c6e9ba1e33"}');
INSERT INTO work VALUES(62,'session.run','session/25/run','local',4,29,25,'taken',1,'local',1794796719832474984,NULL,1794796689826526594,1794796689832474984,NULL,'{"session":{"id":25,"project_id":4,"task_id":29,"n":1,"key":"asks-1.1","round":0,"role":"implement","track":"main","agent":"asker","state":"starting","created_at":"2026-11-16T02:38:09.689939859Z","from":"ac425a76318b4d75ec97fdc3ec893354b4da9089","usage":{},"cursor":0},"task":"asks-1","title":"Ask for permission","repo":"/machine/asks","path":"/machine/state/workspaces/e3741f1bcbb4f8e4/coppice-001","branch":"coppice/asks-1","ports":[20036,20037],"profile":{"protocol":"acp","command":["node","asker.mjs"],"scores":{}},"base":"main","permissions":{"default":"ask"},"output":"256 MiB"}',NULL);
INSERT INTO work VALUES(63,'session.run','session/26/run','local',6,25,26,'taken',1,'local',1794796719976546337,NULL,1794796689957263733,1794796689976546337,NULL,'{"session":{"id":26,"project_id":6,"task_id":25,"n":2,"key":"proof-1.2","round":0,"role":"verify","track":"main","agent":"scripted","state":"starting","created_at":"2026-11-16T02:38:09.73349117Z","from":"aff83adfce6ac87ff9607aadaa1f952fd8e0c622","usage":{},"cursor":0,"path":"/machine/state/workspaces/e224227b3ea91c35/coppice-002","ports":[20048,20049]},"task":"proof-1","title":"Verify me","repo":"/machine/proof","path":"/machine/state/workspaces/e224227b3ea91c35/coppice-002","branch":"","ports":[20048,20049],"base":"main","permissions":{"rules":[{"tool":"edit","do":"deny","why":"a verifier changes nothing"}]},"read_only":true,"output":"256 MiB","schema":{"additionalProperties":false,"properties":{"steps":{"items":{"additionalProperties":false,"properties":{"evidence":{"description":"what was done to find out, and what was seen","type":"string"},"n":{"description":"the step''s number, from 1","type":"integer"},"pass":{"type":"boolean"}},"required":["n","pass","evidence"],"type":"object"},"maxItems":1,"minItems":1,"type":"array"},"summary":{"type":"string"}},"required":["steps","summary"],"type":"object"}}',NULL);
INSERT INTO work VALUES(64,'session.stop','session/16/stop/1','local',1,19,16,'settled',1,'local',NULL,NULL,1794796690157097024,1794796690167030074,1794796690182146018,'{"session":"app-17.1","grace":"5s"}','{}');
INSERT INTO work VALUES(65,'session.run','session/27/run','local',1,19,27,'taken',1,'local',1794796720280135212,NULL,1794796690276636778,1794796690280135212,NULL,'{"session":{"id":27,"project_id":1,"task_id":19,"n":2,"key":"app-17.2","round":0,"role":"implement","track":"main","agent":"scripted","resume":"scripted-app-17-1","screen":true,"state":"starting","created_at":"2026-11-16T02:38:10.276636778Z","usage":{},"cursor":0},"task":"app-17","title":"Give me back","repo":"/machine/app","path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-015","branch":"coppice/app-17","ports":[20030,20031],"base":"main","permissions":{},"output":"256 MiB"}',NULL);
INSERT INTO work VALUES(66,'session.stop','session/18/stop/1','local',1,21,18,'settled',1,'local',NULL,NULL,1794796690739257230,1794796690741598011,1794796690753707479,'{"session":"app-19.1","grace":"5s"}','{}');
INSERT INTO work VALUES(67,'workspace.remove','workspace/18/remove/1','local',1,21,0,'settled',1,'local',NULL,NULL,1794796690802485071,1794796690804264354,1794796690831118440,'{"key":"app-19","repo":"/machine/app","path":"/machine/state/workspaces/72ed33eb8483a9a5/coppice-017","branch":"coppice/app-19","policy":{"keep":[".env*"],"ttl":"14d"}}','{"head":"39c34463138007682f7237800cdb49f57c0511c0","ref":"refs/coppice/trash/app-19-1"}');
INSERT INTO work VALUES(68,'session.send','question/3/1794796691016998961','local',4,29,25,'settled',1,'local',NULL,NULL,1794796691019585432,1794796691027873282,1794796691034538941,'{"id":"question/3/1794796691016998961","session":"asks-1.1","text":"allow always","question":"permission-1"}','{"delivered":true}');
INSERT INTO questions VALUES(1,7,5,'q1','','Which shape?',NULL,NULL,1794796686499065611,'round',1794796691379464295,NULL);
INSERT INTO questions VALUES(2,6,4,'q1','','Which colour?','["red","blue"]',NULL,1794796686664630438,'',NULL,NULL);
INSERT INTO questions VALUES(3,29,25,'permission-1','permission','may it run: npm test first','["allow","allow always","deny","deny always"]','{"tool":"run","match":"npm test *","do":"allow"}',1794796690154282986,'allow always',1794796691016998961,1794796691034707275);
INSERT INTO questions VALUES(4,29,25,'permission-2','permission','may it run: rm -r build','["allow","allow always","deny","deny always"]','{"tool":"run","match":"rm -r build *","do":"allow"}',1794796691038327349,'',NULL,NULL);
INSERT INTO messages VALUES(1,8,0,'','a word','person',1794796691381441187,NULL,'');
INSERT INTO messages VALUES(2,9,0,'next','a later word','person',1794796691382592026,NULL,'');
INSERT INTO messages VALUES(3,10,0,'model','big','person',1794796691383549051,NULL,'');
INSERT INTO messages VALUES(4,11,0,'interrupt','','person',1794796691384166605,NULL,'');
INSERT INTO agent_limits VALUES('other',1794868689230000000,'rate_limit','come back later');
INSERT INTO trash VALUES(1,1,20,'workspace','/machine/state/workspaces/72ed33eb8483a9a5/coppice-016','coppice/app-18','23822d53b8d78b0dc446d69497f23bcc23cb278f','refs/coppice/trash/app-18-1','',1794796689283810173,1796006289283810173,NULL,NULL);
INSERT INTO trash VALUES(2,1,22,'workspace','/machine/state/workspaces/72ed33eb8483a9a5/coppice-018','coppice/app-20','ecd734fbd1e47a6ceb7904e92a669c7053ad284e','refs/coppice/trash/app-20-1','',1794796689733491170,1796006289733491170,NULL,NULL);
INSERT INTO trash VALUES(3,1,21,'workspace','/machine/state/workspaces/72ed33eb8483a9a5/coppice-017','coppice/app-19','39c34463138007682f7237800cdb49f57c0511c0','refs/coppice/trash/app-19-1','',1794796690832219607,1796006290832219607,NULL,NULL);
INSERT INTO events VALUES(1,1794796685290299586,'project.added',1,0,0,'app','person','/machine/app',NULL);
INSERT INTO events VALUES(2,1794796685364611229,'project.added',2,0,0,'held','person','/machine/held',NULL);
INSERT INTO events VALUES(3,1794796685456378561,'project.added',3,0,0,'paused','person','/machine/paused',NULL);
INSERT INTO events VALUES(4,1794796685501248255,'project.added',4,0,0,'asks','person','/machine/asks',NULL);
INSERT INTO events VALUES(5,1794796685549392044,'project.added',5,0,0,'feat','person','/machine/feat',NULL);
INSERT INTO events VALUES(6,1794796685568219851,'task.created',5,1,0,'feat-1','person','Do first',NULL);
INSERT INTO events VALUES(7,1794796685570719430,'task.created',5,2,0,'feat-2','person','Do second',NULL);
INSERT INTO events VALUES(8,1794796685602929676,'task.stage',5,1,0,'feat-1','pipeline','ready',NULL);
INSERT INTO events VALUES(9,1794796685602929676,'task.stage',5,2,0,'feat-2','pipeline','waits for feat-1',NULL);
INSERT INTO events VALUES(10,1794796685602929676,'session.created',5,1,1,'feat-1.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(11,1794796685602929676,'work.offered',5,1,0,'feat-1','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(12,1794796685612290182,'project.added',6,0,0,'proof','person','/machine/proof',NULL);
INSERT INTO events VALUES(13,1794796685676730145,'work.finished',5,1,1,'session/1/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(14,1794796685679462578,'project.changed',3,0,0,'paused','person','paused',NULL);
INSERT INTO events VALUES(15,1794796685679484509,'workspace.ready',5,1,1,'feat-1.1','settle','',NULL);
INSERT INTO events VALUES(16,1794796685679484509,'work.offered',5,1,0,'feat-1','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(17,1794796685692158060,'session.started',5,1,1,'feat-1.1','local','',NULL);
INSERT INTO events VALUES(18,1794796685786555837,'task.created',1,3,0,'app-1','person','Keep running',NULL);
INSERT INTO events VALUES(19,1794796685787739438,'task.stage',1,3,0,'app-1','pipeline','ready',NULL);
INSERT INTO events VALUES(20,1794796685787739438,'session.created',1,3,2,'app-1.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(21,1794796685787739438,'work.offered',1,3,0,'app-1','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(22,1794796685799885366,'session.state',5,1,1,'feat-1.1','local','idle',NULL);
INSERT INTO events VALUES(23,1794796685859924138,'task.created',1,4,0,'app-2','person','Come after that one',NULL);
INSERT INTO events VALUES(24,1794796685861091869,'task.stage',1,4,0,'app-2','pipeline','waits for app-1',NULL);
INSERT INTO events VALUES(25,1794796685901610306,'work.finished',1,3,2,'session/2/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(26,1794796685903944205,'workspace.ready',1,3,2,'app-1.1','settle','',NULL);
INSERT INTO events VALUES(27,1794796685903944205,'work.offered',1,3,0,'app-1','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(28,1794796685942230335,'session.started',1,3,2,'app-1.1','local','',NULL);
INSERT INTO events VALUES(29,1794796686006160017,'session.state',1,3,2,'app-1.1','local','idle',NULL);
INSERT INTO events VALUES(30,1794796686018952260,'task.created',1,5,0,'app-3','person','End without a server',NULL);
INSERT INTO events VALUES(31,1794796686020410744,'task.stage',1,5,0,'app-3','pipeline','ready',NULL);
INSERT INTO events VALUES(32,1794796686020410744,'session.created',1,5,3,'app-3.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(33,1794796686020410744,'work.offered',1,5,0,'app-3','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(34,1794796686164899184,'task.created',1,6,0,'app-4','person','Ask a question',NULL);
INSERT INTO events VALUES(35,1794796686168227661,'task.stage',1,6,0,'app-4','pipeline','ready',NULL);
INSERT INTO events VALUES(36,1794796686168227661,'session.created',1,6,4,'app-4.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(37,1794796686168227661,'work.offered',1,6,0,'app-4','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(38,1794796686175894891,'work.finished',1,5,3,'session/3/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(39,1794796686176973525,'workspace.ready',1,5,3,'app-3.1','settle','',NULL);
INSERT INTO events VALUES(40,1794796686176973525,'work.offered',1,5,0,'app-3','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(41,1794796686180640725,'session.started',1,5,3,'app-3.1','local','',NULL);
INSERT INTO events VALUES(42,1794796686239375216,'task.created',1,7,0,'app-5','person','Wait for an answer',NULL);
INSERT INTO events VALUES(43,1794796686242891113,'task.stage',1,7,0,'app-5','pipeline','ready',NULL);
INSERT INTO events VALUES(44,1794796686242891113,'session.created',1,7,5,'app-5.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(45,1794796686242891113,'work.offered',1,7,0,'app-5','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(46,1794796686425584680,'task.created',1,8,0,'app-6','person','Wait for a message',NULL);
INSERT INTO events VALUES(47,1794796686427670375,'task.stage',1,8,0,'app-6','pipeline','ready',NULL);
INSERT INTO events VALUES(48,1794796686427670375,'session.created',1,8,6,'app-6.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(49,1794796686427670375,'work.offered',1,8,0,'app-6','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(50,1794796686438192598,'work.finished',1,6,4,'session/4/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(51,1794796686450571277,'work.finished',1,7,5,'session/5/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(52,1794796686451028031,'workspace.ready',1,6,4,'app-4.1','settle','',NULL);
INSERT INTO events VALUES(53,1794796686451028031,'work.offered',1,6,0,'app-4','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(54,1794796686451028031,'workspace.ready',1,7,5,'app-5.1','settle','',NULL);
INSERT INTO events VALUES(55,1794796686451028031,'work.offered',1,7,0,'app-5','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(56,1794796686455843304,'session.started',1,7,5,'app-5.1','local','',NULL);
INSERT INTO events VALUES(57,1794796686490635686,'session.started',1,6,4,'app-4.1','local','',NULL);
INSERT INTO events VALUES(58,1794796686513992440,'question.asked',1,7,5,'app-5.1','local','Which shape?',NULL);
INSERT INTO events VALUES(59,1794796686514126410,'session.state',1,7,5,'app-5.1','local','waiting',NULL);
INSERT INTO events VALUES(60,1794796686645133777,'work.finished',1,8,6,'session/6/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(61,1794796686650390725,'task.created',1,9,0,'app-7','person','Wait for the next turn',NULL);
INSERT INTO events VALUES(62,1794796686650480874,'workspace.ready',1,8,6,'app-6.1','settle','',NULL);
INSERT INTO events VALUES(63,1794796686650480874,'work.offered',1,8,0,'app-6','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(64,1794796686650480874,'task.stage',1,9,0,'app-7','pipeline','ready',NULL);
INSERT INTO events VALUES(65,1794796686650480874,'session.created',1,9,7,'app-7.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(66,1794796686650480874,'work.offered',1,9,0,'app-7','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(67,1794796686673661388,'session.started',1,8,6,'app-6.1','local','',NULL);
INSERT INTO events VALUES(68,1794796686673824433,'question.asked',1,6,4,'app-4.1','local','Which colour?',NULL);
INSERT INTO events VALUES(69,1794796686673875147,'session.state',1,6,4,'app-4.1','local','waiting',NULL);
INSERT INTO events VALUES(70,1794796686758483141,'session.state',1,8,6,'app-6.1','local','idle',NULL);
INSERT INTO events VALUES(71,1794796686903898866,'task.created',1,10,0,'app-8','person','Change the model',NULL);
INSERT INTO events VALUES(72,1794796686905079020,'task.stage',1,10,0,'app-8','pipeline','ready',NULL);
INSERT INTO events VALUES(73,1794796686905079020,'session.created',1,10,8,'app-8.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(74,1794796686905079020,'work.offered',1,10,0,'app-8','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(75,1794796686909966856,'work.finished',1,9,7,'session/7/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(76,1794796686914887439,'workspace.ready',1,9,7,'app-7.1','settle','',NULL);
INSERT INTO events VALUES(77,1794796686914887439,'work.offered',1,9,0,'app-7','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(78,1794796686940529789,'session.started',1,9,7,'app-7.1','local','',NULL);
INSERT INTO events VALUES(79,1794796687038498406,'session.state',1,9,7,'app-7.1','local','idle',NULL);
INSERT INTO events VALUES(80,1794796687092063340,'task.created',1,11,0,'app-9','person','Interrupt me',NULL);
INSERT INTO events VALUES(81,1794796687099528235,'task.stage',1,11,0,'app-9','pipeline','ready',NULL);
INSERT INTO events VALUES(82,1794796687099528235,'session.created',1,11,9,'app-9.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(83,1794796687099528235,'work.offered',1,11,0,'app-9','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(84,1794796687133745921,'work.finished',1,10,8,'session/8/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(85,1794796687134592573,'workspace.ready',1,10,8,'app-8.1','settle','',NULL);
INSERT INTO events VALUES(86,1794796687134592573,'work.offered',1,10,0,'app-8','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(87,1794796687173903494,'session.started',1,10,8,'app-8.1','local','',NULL);
INSERT INTO events VALUES(88,1794796687270548329,'work.finished',1,11,9,'session/9/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(89,1794796687282137354,'workspace.ready',1,11,9,'app-9.1','settle','',NULL);
INSERT INTO events VALUES(90,1794796687282137354,'work.offered',1,11,0,'app-9','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(91,1794796687285198722,'task.created',1,12,0,'app-10','person','Wait for its time',NULL);
INSERT INTO events VALUES(92,1794796687293549739,'task.stage',1,12,0,'app-10','pipeline','starts at 2026-11-19T02:38:07Z',NULL);
INSERT INTO events VALUES(93,1794796687297968494,'session.started',1,11,9,'app-9.1','local','',NULL);
INSERT INTO events VALUES(94,1794796687305647073,'session.state',1,10,8,'app-8.1','local','idle',NULL);
INSERT INTO events VALUES(95,1794796687422910037,'task.created',1,13,0,'app-11','person','Stop me',NULL);
INSERT INTO events VALUES(96,1794796687424360997,'task.stage',1,13,0,'app-11','pipeline','ready',NULL);
INSERT INTO events VALUES(97,1794796687424360997,'session.created',1,13,10,'app-11.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(98,1794796687424360997,'work.offered',1,13,0,'app-11','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(99,1794796687515002411,'task.created',1,14,0,'app-12','person','Requeue me',NULL);
INSERT INTO events VALUES(100,1794796687517750965,'task.stage',1,14,0,'app-12','pipeline','ready',NULL);
INSERT INTO events VALUES(101,1794796687517750965,'session.created',1,14,11,'app-12.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(102,1794796687517750965,'work.offered',1,14,0,'app-12','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(103,1794796687568735659,'task.created',1,15,0,'app-13','person','Retry me',NULL);
INSERT INTO events VALUES(104,1794796687571889046,'work.finished',1,13,10,'session/10/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(105,1794796687572007518,'task.stage',1,15,0,'app-13','pipeline','ready',NULL);
INSERT INTO events VALUES(106,1794796687572007518,'workspace.ready',1,13,10,'app-11.1','settle','',NULL);
INSERT INTO events VALUES(107,1794796687572007518,'work.offered',1,13,0,'app-11','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(108,1794796687572007518,'session.created',1,15,12,'app-13.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(109,1794796687572007518,'work.offered',1,15,0,'app-13','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(110,1794796687595033894,'session.started',1,13,10,'app-11.1','local','',NULL);
INSERT INTO events VALUES(111,1794796687612976276,'work.finished',1,14,11,'session/11/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(112,1794796687613990680,'workspace.ready',1,14,11,'app-12.1','settle','',NULL);
INSERT INTO events VALUES(113,1794796687613990680,'work.offered',1,14,0,'app-12','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(114,1794796687634569135,'session.started',1,14,11,'app-12.1','local','',NULL);
INSERT INTO events VALUES(115,1794796687690907862,'work.finished',1,15,12,'session/12/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(116,1794796687697260935,'workspace.ready',1,15,12,'app-13.1','settle','',NULL);
INSERT INTO events VALUES(117,1794796687697260935,'work.offered',1,15,0,'app-13','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(118,1794796687702800171,'session.started',1,15,12,'app-13.1','local','',NULL);
INSERT INTO events VALUES(119,1794796687781559884,'work.finished',1,15,12,'session/12/run','local','session.run',NULL);
INSERT INTO events VALUES(120,1794796687784134162,'session.ended',1,15,12,'app-13.1','settle','failed: it is too hard',NULL);
INSERT INTO events VALUES(121,1794796687784134162,'task.ended',1,15,0,'app-13','pipeline','failed: it is too hard',NULL);
INSERT INTO events VALUES(122,1794796687800720531,'task.created',1,16,0,'app-14','person','Ask for help',NULL);
INSERT INTO events VALUES(123,1794796687801637591,'task.stage',1,16,0,'app-14','pipeline','ready',NULL);
INSERT INTO events VALUES(124,1794796687801637591,'session.created',1,16,13,'app-14.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(125,1794796687801637591,'work.offered',1,16,0,'app-14','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(126,1794796687896043396,'task.created',1,17,0,'app-15','person','Land me',NULL);
INSERT INTO events VALUES(127,1794796687897055446,'task.stage',1,17,0,'app-15','pipeline','ready',NULL);
INSERT INTO events VALUES(128,1794796687897055446,'session.created',1,17,14,'app-15.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(129,1794796687897055446,'work.offered',1,17,0,'app-15','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(130,1794796687909735118,'work.finished',1,16,13,'session/13/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(131,1794796687917585518,'workspace.ready',1,16,13,'app-14.1','settle','',NULL);
INSERT INTO events VALUES(132,1794796687917585518,'work.offered',1,16,0,'app-14','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(133,1794796687926153170,'session.started',1,16,13,'app-14.1','local','',NULL);
INSERT INTO events VALUES(134,1794796687990275515,'work.finished',1,17,14,'session/14/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(135,1794796687994079296,'task.created',1,18,0,'app-16','person','Take me',NULL);
INSERT INTO events VALUES(136,1794796687994197427,'workspace.ready',1,17,14,'app-15.1','settle','',NULL);
INSERT INTO events VALUES(137,1794796687994197427,'work.offered',1,17,0,'app-15','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(138,1794796687994197427,'task.stage',1,18,0,'app-16','pipeline','ready',NULL);
INSERT INTO events VALUES(139,1794796687994197427,'session.created',1,18,15,'app-16.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(140,1794796687994197427,'work.offered',1,18,0,'app-16','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(141,1794796687998949763,'work.finished',1,16,13,'session/13/run','local','session.run',NULL);
INSERT INTO events VALUES(142,1794796688002013786,'session.ended',1,16,13,'app-14.1','settle','failed: the disk is full',NULL);
INSERT INTO events VALUES(143,1794796688002013786,'task.stage',1,16,0,'app-14','pipeline','the disk is full',NULL);
INSERT INTO events VALUES(144,1794796688005535644,'session.started',1,17,14,'app-15.1','local','',NULL);
INSERT INTO events VALUES(145,1794796688122438357,'work.finished',1,18,15,'session/15/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(146,1794796688123243220,'workspace.ready',1,18,15,'app-16.1','settle','',NULL);
INSERT INTO events VALUES(147,1794796688123243220,'work.offered',1,18,0,'app-16','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(148,1794796688133598511,'session.started',1,18,15,'app-16.1','local','',NULL);
INSERT INTO events VALUES(149,1794796688174406679,'work.finished',1,17,14,'session/14/run','local','session.run',NULL);
INSERT INTO events VALUES(150,1794796688178833655,'session.state',1,18,15,'app-16.1','local','idle',NULL);
INSERT INTO events VALUES(151,1794796688178915918,'session.ended',1,17,14,'app-15.1','settle','failed: it is too hard',NULL);
INSERT INTO events VALUES(152,1794796688178915918,'task.ended',1,17,0,'app-15','pipeline','failed: it is too hard',NULL);
INSERT INTO events VALUES(153,1794796688190976003,'task.created',1,19,0,'app-17','person','Give me back',NULL);
INSERT INTO events VALUES(154,1794796688192099922,'task.stage',1,19,0,'app-17','pipeline','ready',NULL);
INSERT INTO events VALUES(155,1794796688192099922,'session.created',1,19,16,'app-17.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(156,1794796688192099922,'work.offered',1,19,0,'app-17','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(157,1794796688295244236,'work.finished',1,19,16,'session/16/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(158,1794796688299258205,'workspace.ready',1,19,16,'app-17.1','settle','',NULL);
INSERT INTO events VALUES(159,1794796688299258205,'work.offered',1,19,0,'app-17','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(160,1794796688320565229,'task.created',1,20,0,'app-18','person','Continue me',NULL);
INSERT INTO events VALUES(161,1794796688321580775,'task.stage',1,20,0,'app-18','pipeline','ready',NULL);
INSERT INTO events VALUES(162,1794796688321580775,'session.created',1,20,17,'app-18.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(163,1794796688321580775,'work.offered',1,20,0,'app-18','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(164,1794796688324706092,'session.started',1,19,16,'app-17.1','local','',NULL);
INSERT INTO events VALUES(165,1794796688399680065,'session.state',1,19,16,'app-17.1','local','idle',NULL);
INSERT INTO events VALUES(166,1794796688483144813,'task.created',1,21,0,'app-19','person','Undo me',NULL);
INSERT INTO events VALUES(167,1794796688485963187,'task.stage',1,21,0,'app-19','pipeline','ready',NULL);
INSERT INTO events VALUES(168,1794796688485963187,'session.created',1,21,18,'app-19.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(169,1794796688485963187,'work.offered',1,21,0,'app-19','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(170,1794796688546255453,'work.finished',1,20,17,'session/17/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(171,1794796688548998899,'workspace.ready',1,20,17,'app-18.1','settle','',NULL);
INSERT INTO events VALUES(172,1794796688548998899,'work.offered',1,20,0,'app-18','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(173,1794796688551802804,'session.started',1,20,17,'app-18.1','local','',NULL);
INSERT INTO events VALUES(174,1794796688610275075,'session.state',1,20,17,'app-18.1','local','idle',NULL);
INSERT INTO events VALUES(175,1794796688623316471,'work.finished',1,21,18,'session/18/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(176,1794796688623910380,'workspace.ready',1,21,18,'app-19.1','settle','',NULL);
INSERT INTO events VALUES(177,1794796688623910380,'work.offered',1,21,0,'app-19','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(178,1794796688630629489,'session.started',1,21,18,'app-19.1','local','',NULL);
INSERT INTO events VALUES(179,1794796688682966923,'task.created',1,22,0,'app-20','person','Leave this in the trash',NULL);
INSERT INTO events VALUES(180,1794796688687283272,'work.finished',1,20,17,'session/17/run','local','session.run',NULL);
INSERT INTO events VALUES(181,1794796688687433072,'task.stage',1,22,0,'app-20','pipeline','ready',NULL);
INSERT INTO events VALUES(182,1794796688687433072,'session.ended',1,20,17,'app-18.1','settle','done',NULL);
INSERT INTO events VALUES(183,1794796688687433072,'landing.opened',1,20,0,'app-18','pipeline','candidate 23822d53b8',NULL);
INSERT INTO events VALUES(184,1794796688687433072,'work.offered',1,20,0,'app-18','landing','merges with the base',NULL);
INSERT INTO events VALUES(185,1794796688687433072,'session.created',1,22,19,'app-20.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(186,1794796688687433072,'work.offered',1,22,0,'app-20','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(187,1794796688782450420,'work.finished',1,20,0,'landing/1/1','local','land.merge',NULL);
INSERT INTO events VALUES(188,1794796688788109106,'landing.merged',1,20,0,'app-18','settle','merged with 00623f5c42',NULL);
INSERT INTO events VALUES(189,1794796688788109106,'landing.merged',1,20,0,'app-18','landing','tree 0c2379357d is proven',NULL);
INSERT INTO events VALUES(190,1794796688788109106,'landing.queued',1,20,0,'app-18','landing','',NULL);
INSERT INTO events VALUES(191,1794796688788109106,'work.offered',1,20,0,'app-18','landing','moves the base',NULL);
INSERT INTO events VALUES(192,1794796688798019087,'task.created',1,23,0,'app-21','person','Wait for the account',NULL);
INSERT INTO events VALUES(193,1794796688802378249,'task.stage',1,23,0,'app-21','pipeline','ready',NULL);
INSERT INTO events VALUES(194,1794796688802378249,'session.created',1,23,20,'app-21.1','dispatch','implement with other',NULL);
INSERT INTO events VALUES(195,1794796688802378249,'work.offered',1,23,0,'app-21','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(196,1794796688806095051,'work.finished',1,22,19,'session/19/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(197,1794796688848807383,'workspace.ready',1,22,19,'app-20.1','settle','',NULL);
INSERT INTO events VALUES(198,1794796688848807383,'work.offered',1,22,0,'app-20','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(199,1794796688875024469,'session.started',1,22,19,'app-20.1','local','',NULL);
INSERT INTO events VALUES(200,1794796688911700411,'session.state',1,22,19,'app-20.1','local','idle',NULL);
INSERT INTO events VALUES(201,1794796688945020864,'task.created',1,24,0,'app-22','person','Check me',NULL);
INSERT INTO events VALUES(202,1794796688946778307,'task.stage',1,24,0,'app-22','pipeline','ready',NULL);
INSERT INTO events VALUES(203,1794796688946778307,'session.created',1,24,21,'app-22.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(204,1794796688946778307,'work.offered',1,24,0,'app-22','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(205,1794796689015425998,'work.finished',1,23,20,'session/20/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(206,1794796689028267413,'workspace.ready',1,23,20,'app-21.1','settle','',NULL);
INSERT INTO events VALUES(207,1794796689028267413,'work.offered',1,23,0,'app-21','pipeline','starts other',NULL);
INSERT INTO events VALUES(208,1794796689067999210,'work.finished',1,20,0,'landing/1/2','local','land.move',NULL);
INSERT INTO events VALUES(209,1794796689074393924,'task.created',6,25,0,'proof-1','person','Verify me',NULL);
INSERT INTO events VALUES(210,1794796689074510992,'work.finished',1,22,19,'session/19/run','local','session.run',NULL);
INSERT INTO events VALUES(211,1794796689077150622,'landing.ended',1,20,0,'app-18','settle','landed as b0cf522b93','{"commit":"b0cf522b938135df3e2ab6c15bad95a66c5d07d1","tree":"0c2379357d051ed722b7469eb037e96e5c5c5346"}');
INSERT INTO events VALUES(212,1794796689077150622,'task.ended',1,20,0,'app-18','pipeline','done',NULL);
INSERT INTO events VALUES(213,1794796689077150622,'work.offered',1,20,0,'app-18','cleanup','its workspace goes to the trash',NULL);
INSERT INTO events VALUES(214,1794796689077150622,'task.stage',6,25,0,'proof-1','pipeline','ready',NULL);
INSERT INTO events VALUES(215,1794796689077150622,'session.ended',1,22,19,'app-20.1','settle','done',NULL);
INSERT INTO events VALUES(216,1794796689077150622,'landing.opened',1,22,0,'app-20','pipeline','candidate ecd734fbd1',NULL);
INSERT INTO events VALUES(217,1794796689077150622,'work.offered',1,22,0,'app-20','landing','merges with the base',NULL);
INSERT INTO events VALUES(218,1794796689077150622,'session.created',6,25,22,'proof-1.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(219,1794796689077150622,'work.offered',6,25,0,'proof-1','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(220,1794796689133698227,'session.started',1,23,20,'app-21.1','local','',NULL);
INSERT INTO events VALUES(221,1794796689149134167,'work.finished',1,24,21,'session/21/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(222,1794796689169444574,'workspace.ready',1,24,21,'app-22.1','settle','',NULL);
INSERT INTO events VALUES(223,1794796689169444574,'work.offered',1,24,0,'app-22','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(224,1794796689178160330,'task.created',2,26,0,'held-1','person','Hold me',NULL);
INSERT INTO events VALUES(225,1794796689181587072,'task.stage',2,26,0,'held-1','pipeline','ready',NULL);
INSERT INTO events VALUES(226,1794796689181587072,'session.created',2,26,23,'held-1.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(227,1794796689181587072,'work.offered',2,26,0,'held-1','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(228,1794796689196348570,'session.started',1,24,21,'app-22.1','local','',NULL);
INSERT INTO events VALUES(229,1794796689198071077,'work.finished',1,22,0,'landing/2/1','local','land.merge',NULL);
INSERT INTO events VALUES(230,1794796689203259548,'landing.merged',1,22,0,'app-20','settle','merged with b0cf522b93',NULL);
INSERT INTO events VALUES(231,1794796689203259548,'landing.merged',1,22,0,'app-20','landing','tree d00af05d42 is proven',NULL);
INSERT INTO events VALUES(232,1794796689203259548,'landing.queued',1,22,0,'app-20','landing','',NULL);
INSERT INTO events VALUES(233,1794796689203259548,'work.offered',1,22,0,'app-20','landing','moves the base',NULL);
INSERT INTO events VALUES(234,1794796689282671376,'work.finished',1,20,0,'workspace/17/remove/1','local','workspace.remove',NULL);
INSERT INTO events VALUES(235,1794796689283810173,'workspace.removed',1,20,0,'app-18','settle','',NULL);
INSERT INTO events VALUES(236,1794796689288920761,'session.state',1,24,21,'app-22.1','local','idle',NULL);
INSERT INTO events VALUES(237,1794796689296820064,'work.finished',6,25,22,'session/22/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(238,1794796689298981882,'task.created',2,27,0,'held-2','person','Hold me until I say so',NULL);
INSERT INTO events VALUES(239,1794796689299042966,'workspace.ready',6,25,22,'proof-1.1','settle','',NULL);
INSERT INTO events VALUES(240,1794796689299042966,'work.offered',6,25,0,'proof-1','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(241,1794796689299042966,'task.stage',2,27,0,'held-2','pipeline','ready',NULL);
INSERT INTO events VALUES(242,1794796689299042966,'session.created',2,27,24,'held-2.1','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(243,1794796689299042966,'work.offered',2,27,0,'held-2','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(244,1794796689316082220,'session.started',6,25,22,'proof-1.1','local','',NULL);
INSERT INTO events VALUES(245,1794796689316142373,'work.finished',1,23,20,'session/20/run','local','session.run',NULL);
INSERT INTO events VALUES(246,1794796689380736586,'session.ended',1,23,20,'app-21.1','settle','failed: come back later',NULL);
INSERT INTO events VALUES(247,1794796689380736586,'task.stage',1,23,0,'app-21','pipeline','other is limited until 2026-11-16T22:38:09Z: come back later',NULL);
INSERT INTO events VALUES(248,1794796689418631683,'session.state',6,25,22,'proof-1.1','local','idle',NULL);
INSERT INTO events VALUES(249,1794796689462267222,'task.created',3,28,0,'paused-1','person','Wait for the project',NULL);
INSERT INTO events VALUES(250,1794796689468428169,'task.stage',3,28,0,'paused-1','pipeline','ready',NULL);
INSERT INTO events VALUES(251,1794796689476443847,'work.finished',2,26,23,'session/23/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(252,1794796689482470603,'work.finished',2,27,24,'session/24/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(253,1794796689483538298,'workspace.ready',2,26,23,'held-1.1','settle','',NULL);
INSERT INTO events VALUES(254,1794796689483538298,'work.offered',2,26,0,'held-1','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(255,1794796689483538298,'workspace.ready',2,27,24,'held-2.1','settle','',NULL);
INSERT INTO events VALUES(256,1794796689483538298,'work.offered',2,27,0,'held-2','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(257,1794796689494006068,'session.started',2,27,24,'held-2.1','local','',NULL);
INSERT INTO events VALUES(258,1794796689500159451,'session.started',2,26,23,'held-1.1','local','',NULL);
INSERT INTO events VALUES(259,1794796689500240342,'work.finished',1,22,0,'landing/2/2','local','land.move',NULL);
INSERT INTO events VALUES(260,1794796689500364074,'landing.ended',1,22,0,'app-20','settle','landed as b912b13d8c','{"commit":"b912b13d8cd0a559edfed2818fa0e50c64c777a8","tree":"d00af05d420ba05f238474c70fbb140a529640ce"}');
INSERT INTO events VALUES(261,1794796689500364074,'task.ended',1,22,0,'app-20','pipeline','done',NULL);
INSERT INTO events VALUES(262,1794796689500364074,'work.offered',1,22,0,'app-20','cleanup','its workspace goes to the trash',NULL);
INSERT INTO events VALUES(263,1794796689518448500,'work.finished',6,25,22,'session/22/run','local','session.run',NULL);
INSERT INTO events VALUES(264,1794796689599018371,'session.ended',6,25,22,'proof-1.1','settle','done',NULL);
INSERT INTO events VALUES(265,1794796689599018371,'landing.opened',6,25,0,'proof-1','pipeline','candidate 4affb8a8b3',NULL);
INSERT INTO events VALUES(266,1794796689599018371,'work.offered',6,25,0,'proof-1','landing','merges with the base',NULL);
INSERT INTO events VALUES(267,1794796689600496161,'session.state',2,27,24,'held-2.1','local','idle',NULL);
INSERT INTO events VALUES(268,1794796689600694883,'work.finished',1,24,21,'session/21/run','local','session.run',NULL);
INSERT INTO events VALUES(269,1794796689605278564,'session.ended',1,24,21,'app-22.1','settle','done',NULL);
INSERT INTO events VALUES(270,1794796689605278564,'landing.opened',1,24,0,'app-22','pipeline','candidate 50dab1c7f7',NULL);
INSERT INTO events VALUES(271,1794796689605278564,'work.offered',1,24,0,'app-22','landing','merges with the base',NULL);
INSERT INTO events VALUES(272,1794796689630495542,'session.state',2,26,23,'held-1.1','local','idle',NULL);
INSERT INTO events VALUES(273,1794796689686084719,'task.created',4,29,0,'asks-1','person','Ask for permission',NULL);
INSERT INTO events VALUES(274,1794796689689939859,'task.stage',4,29,0,'asks-1','pipeline','ready',NULL);
INSERT INTO events VALUES(275,1794796689689939859,'session.created',4,29,25,'asks-1.1','dispatch','implement with asker',NULL);
INSERT INTO events VALUES(276,1794796689689939859,'work.offered',4,29,0,'asks-1','pipeline','needs a workspace',NULL);
INSERT INTO events VALUES(277,1794796689708530772,'work.finished',1,22,0,'workspace/19/remove/1','local','workspace.remove',NULL);
INSERT INTO events VALUES(278,1794796689733224773,'work.finished',6,25,0,'landing/3/1','local','land.merge',NULL);
INSERT INTO events VALUES(279,1794796689733425347,'work.finished',1,24,0,'landing/4/1','local','land.merge',NULL);
INSERT INTO events VALUES(280,1794796689733491170,'workspace.removed',1,22,0,'app-20','settle','',NULL);
INSERT INTO events VALUES(281,1794796689733491170,'landing.merged',6,25,0,'proof-1','settle','merged with 05f05ab3b1',NULL);
INSERT INTO events VALUES(282,1794796689733491170,'landing.merged',6,25,0,'proof-1','landing','tree dc37fa1d5b is proven',NULL);
INSERT INTO events VALUES(283,1794796689733491170,'task.stage',6,25,0,'proof-1','landing','tree dc37fa1d5b waits for a verdict',NULL);
INSERT INTO events VALUES(284,1794796689733491170,'landing.merged',1,24,0,'app-22','settle','merged with b912b13d8c',NULL);
INSERT INTO events VALUES(285,1794796689733491170,'work.offered',1,24,0,'app-22','landing','checks tree b60848895b',NULL);
INSERT INTO events VALUES(286,1794796689733491170,'session.created',6,25,26,'proof-1.2','dispatch','verify with scripted',NULL);
INSERT INTO events VALUES(287,1794796689733491170,'work.offered',6,25,0,'proof-1','pipeline','needs a worktree at aff83adfce',NULL);
INSERT INTO events VALUES(288,1794796689752068385,'work.finished',2,26,23,'session/23/run','local','session.run',NULL);
INSERT INTO events VALUES(289,1794796689752262327,'work.finished',2,27,24,'session/24/run','local','session.run',NULL);
INSERT INTO events VALUES(290,1794796689794103314,'session.ended',2,26,23,'held-1.1','settle','done',NULL);
INSERT INTO events VALUES(291,1794796689794103314,'landing.opened',2,26,0,'held-1','pipeline','candidate 5ac7a07e27',NULL);
INSERT INTO events VALUES(292,1794796689794103314,'work.offered',2,26,0,'held-1','landing','merges with the base',NULL);
INSERT INTO events VALUES(293,1794796689794103314,'session.ended',2,27,24,'held-2.1','settle','done',NULL);
INSERT INTO events VALUES(294,1794796689794103314,'landing.opened',2,27,0,'held-2','pipeline','candidate 687c591616',NULL);
INSERT INTO events VALUES(295,1794796689794103314,'work.offered',2,27,0,'held-2','landing','merges with the base',NULL);
INSERT INTO events VALUES(296,1794796689815743241,'work.finished',4,29,25,'session/25/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(297,1794796689826526594,'workspace.ready',4,29,25,'asks-1.1','settle','',NULL);
INSERT INTO events VALUES(298,1794796689826526594,'work.offered',4,29,0,'asks-1','pipeline','starts asker',NULL);
INSERT INTO events VALUES(299,1794796689842378227,'session.started',4,29,25,'asks-1.1','local','',NULL);
INSERT INTO events VALUES(300,1794796689852315891,'work.finished',2,26,0,'landing/5/1','local','land.merge',NULL);
INSERT INTO events VALUES(301,1794796689865601745,'landing.merged',2,26,0,'held-1','settle','merged with 85aa01d37d',NULL);
INSERT INTO events VALUES(302,1794796689865601745,'landing.merged',2,26,0,'held-1','landing','tree 8d4ff1d4a9 is proven',NULL);
INSERT INTO events VALUES(303,1794796689865601745,'task.stage',2,26,0,'held-1','landing','proven; waits for a person to say land',NULL);
INSERT INTO events VALUES(304,1794796689866748557,'work.finished',2,27,0,'landing/6/1','local','land.merge',NULL);
INSERT INTO events VALUES(305,1794796689915538951,'landing.merged',2,27,0,'held-2','settle','merged with 85aa01d37d',NULL);
INSERT INTO events VALUES(306,1794796689915538951,'landing.merged',2,27,0,'held-2','landing','tree fe540673ad is proven',NULL);
INSERT INTO events VALUES(307,1794796689915538951,'task.stage',2,27,0,'held-2','landing','proven; waits for a person to say land',NULL);
INSERT INTO events VALUES(308,1794796689955703028,'work.finished',6,25,26,'session/26/prepare','local','workspace.prepare',NULL);
INSERT INTO events VALUES(309,1794796689957263733,'workspace.ready',6,25,26,'proof-1.2','settle','for proof-1.2',NULL);
INSERT INTO events VALUES(310,1794796689957263733,'work.offered',6,25,0,'proof-1','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(311,1794796689987260508,'session.started',6,25,26,'proof-1.2','local','',NULL);
INSERT INTO events VALUES(312,1794796690093882866,'session.state',6,25,26,'proof-1.2','local','idle',NULL);
INSERT INTO events VALUES(313,1794796690155292692,'task.changed',1,19,0,'app-17','person','a person takes over',NULL);
INSERT INTO events VALUES(314,1794796690155656091,'question.asked',4,29,25,'asks-1.1','local','may it run: npm test first',NULL);
INSERT INTO events VALUES(315,1794796690156081084,'session.state',4,29,25,'asks-1.1','local','waiting',NULL);
INSERT INTO events VALUES(316,1794796690157097024,'work.offered',1,19,16,'app-17.1','handover','asks the session to stop: taken',NULL);
INSERT INTO events VALUES(317,1794796690182146018,'work.finished',1,19,16,'session/16/stop/1','local','session.stop',NULL);
INSERT INTO events VALUES(318,1794796690183794708,'work.finished',1,19,0,'app-17','settle','asked to stop',NULL);
INSERT INTO events VALUES(319,1794796690275592537,'work.finished',1,19,16,'session/16/run','local','session.run',NULL);
INSERT INTO events VALUES(320,1794796690276636778,'session.ended',1,19,16,'app-17.1','settle','done',NULL);
INSERT INTO events VALUES(321,1794796690276636778,'task.stage',1,19,0,'app-17','pipeline','a person takes over',NULL);
INSERT INTO events VALUES(322,1794796690276636778,'session.created',1,19,27,'app-17.2','dispatch','implement with scripted',NULL);
INSERT INTO events VALUES(323,1794796690276636778,'work.offered',1,19,0,'app-17','pipeline','starts scripted',NULL);
INSERT INTO events VALUES(324,1794796690302325917,'session.started',1,19,27,'app-17.2','local','',NULL);
INSERT INTO events VALUES(325,1794796690657494763,'session.state',1,19,27,'app-17.2','local','idle',NULL);
INSERT INTO events VALUES(326,1794796690738393757,'task.stop_asked',1,21,0,'app-19','person','',NULL);
INSERT INTO events VALUES(327,1794796690739257230,'work.offered',1,21,18,'app-19.1','stop','asks the session to stop: cancelled',NULL);
INSERT INTO events VALUES(328,1794796690753707479,'work.finished',1,21,18,'session/18/stop/1','local','session.stop',NULL);
INSERT INTO events VALUES(329,1794796690755222999,'work.finished',1,21,0,'app-19','settle','asked to stop',NULL);
INSERT INTO events VALUES(330,1794796690801494521,'work.finished',1,21,18,'session/18/run','local','session.run',NULL);
INSERT INTO events VALUES(331,1794796690802485071,'session.ended',1,21,18,'app-19.1','settle','cancelled: was stopped',NULL);
INSERT INTO events VALUES(332,1794796690802485071,'task.ended',1,21,0,'app-19','stop','cancelled',NULL);
INSERT INTO events VALUES(333,1794796690802485071,'work.offered',1,21,0,'app-19','cleanup','its workspace goes to the trash',NULL);
INSERT INTO events VALUES(334,1794796690831118440,'work.finished',1,21,0,'workspace/18/remove/1','local','workspace.remove',NULL);
INSERT INTO events VALUES(335,1794796690832219607,'workspace.removed',1,21,0,'app-19','settle','',NULL);
INSERT INTO events VALUES(336,1794796691017181943,'project.changed',4,0,0,'asks','person','remembers: allow run npm test *',NULL);
INSERT INTO events VALUES(337,1794796691017264758,'question.answered',4,29,0,'asks-1','person','',NULL);
INSERT INTO events VALUES(338,1794796691019585432,'work.offered',4,29,0,'asks-1','talk','delivers question/3/1794796691016998961',NULL);
INSERT INTO events VALUES(339,1794796691030928738,'session.state',4,29,25,'asks-1.1','local','working',NULL);
INSERT INTO events VALUES(340,1794796691034538941,'work.finished',4,29,25,'question/3/1794796691016998961','local','session.send',NULL);
INSERT INTO events VALUES(341,1794796691034707275,'message.delivered',4,29,0,'asks-1','settle','',NULL);
INSERT INTO events VALUES(342,1794796691038904757,'question.asked',4,29,25,'asks-1.1','local','may it run: rm -r build',NULL);
INSERT INTO events VALUES(343,1794796691039153272,'session.state',4,29,25,'asks-1.1','local','waiting',NULL);
INSERT INTO events VALUES(344,1794796691379898165,'question.answered',1,7,0,'app-5','person','',NULL);
INSERT INTO events VALUES(345,1794796691381568906,'message.sent',1,8,0,'app-6','person','',NULL);
INSERT INTO events VALUES(346,1794796691382654283,'message.sent',1,9,0,'app-7','person','next',NULL);
INSERT INTO events VALUES(347,1794796691383644620,'message.sent',1,10,0,'app-8','person','model',NULL);
INSERT INTO events VALUES(348,1794796691384219213,'message.sent',1,11,0,'app-9','person','interrupt',NULL);
INSERT INTO events VALUES(349,1794796691384733013,'task.stop_asked',1,13,0,'app-11','person','',NULL);
INSERT INTO events VALUES(350,1794796691387826080,'task.requeue_asked',1,14,0,'app-12','person','leave the schema alone',NULL);
INSERT INTO events VALUES(351,1794796691397825358,'task.retry_asked',1,15,0,'app-13','person','it is easy now',NULL);
INSERT INTO events VALUES(352,1794796691403512460,'task.retry_asked',1,16,0,'app-14','person','the disk is empty',NULL);
INSERT INTO events VALUES(353,1794796691409782711,'task.land_asked',1,17,0,'app-15','person','',NULL);
INSERT INTO events VALUES(354,1794796691414152623,'task.changed',1,18,0,'app-16','person','a person takes over',NULL);
INSERT INTO events VALUES(355,1794796691421634366,'task.changed',1,19,0,'app-17','person','a person gives it back',NULL);
INSERT INTO events VALUES(356,1794796691433886079,'task.retry_asked',1,20,0,'app-18','person','finish it',NULL);
INSERT INTO events VALUES(357,1794796691437452149,'workspace.undo_asked',1,21,0,'app-19','person','',NULL);
INSERT INTO events VALUES(358,1794796691441948808,'task.land_asked',2,27,0,'held-2','person','',NULL);
INSERT INTO timers VALUES('work','2',1794796715687103369);
INSERT INTO timers VALUES('work','4',1794796715908160029);
INSERT INTO timers VALUES('work','7',1794796716179422660);
INSERT INTO timers VALUES('work','10',1794796716453828972);
INSERT INTO timers VALUES('work','11',1794796716453828972);
INSERT INTO timers VALUES('work','12',1794796716660229662);
INSERT INTO timers VALUES('work','15',1794796716923506124);
INSERT INTO timers VALUES('work','17',1794796717163775129);
INSERT INTO timers VALUES('work','18',1794796717294149890);
INSERT INTO timers VALUES('work','21',1794796717585405271);
INSERT INTO timers VALUES('work','23',1794796717633552266);
INSERT INTO timers VALUES('work','30',1794796718131745250);
INSERT INTO timers VALUES('work','58',1794796719810654687);
INSERT INTO timers VALUES('work','62',1794796719832474984);
INSERT INTO timers VALUES('work','63',1794796719976546337);
INSERT INTO timers VALUES('work','65',1794796720280135212);
INSERT INTO timers VALUES('task','1',1794797285799070213);
INSERT INTO timers VALUES('task','3',1794797285966375842);
INSERT INTO timers VALUES('task','5',1794797286180584520);
INSERT INTO timers VALUES('task','7',1794797286499068687);
INSERT INTO timers VALUES('task','6',1794797286664634857);
INSERT INTO timers VALUES('task','8',1794797286728838553);
INSERT INTO timers VALUES('task','9',1794797287016570050);
INSERT INTO timers VALUES('task','11',1794797287297893234);
INSERT INTO timers VALUES('task','10',1794797287298689498);
INSERT INTO timers VALUES('task','13',1794797287594631743);
INSERT INTO timers VALUES('task','14',1794797287634505927);
INSERT INTO timers VALUES('task','18',1794797288168075454);
INSERT INTO timers VALUES('task','25',1794797290091770250);
INSERT INTO timers VALUES('task','29',1794797291038330094);
INSERT INTO timers VALUES('agent','other',1794868689230000000);
INSERT INTO timers VALUES('room','room',1794868689230000000);
INSERT INTO timers VALUES('task','12',1795055887123877981);
INSERT INTO timers VALUES('trash','1',1796006289283810173);
INSERT INTO timers VALUES('trash','2',1796006289733491170);
INSERT INTO timers VALUES('trash','3',1796006290832219607);
INSERT INTO cursors VALUES('engine',343);
INSERT INTO usages VALUES(1794796685602929676,1,5,1,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794796685787739438,2,1,3,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794796686020410744,3,1,5,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794796686168227661,4,1,6,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794796686242891113,5,1,7,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794796686427670375,6,1,8,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794796686650480874,7,1,9,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794796686905079020,8,1,10,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794796687099528235,9,1,11,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794796687424360997,10,1,13,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794796687517750965,11,1,14,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794796687572007518,12,1,15,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794796687801637591,13,1,16,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794796687897055446,14,1,17,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794796687994197427,15,1,18,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794796688192099922,16,1,19,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794796688321580775,17,1,20,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794796688485963187,18,1,21,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794796688687433072,19,1,22,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794796688802378249,20,1,23,'other','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794796688946778307,21,1,24,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794796689077150622,22,6,25,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794796689181587072,23,2,26,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794796689299042966,24,2,27,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794796689689939859,25,4,29,'asker','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794796689733491170,26,6,25,'scripted','',0,0,0,0,0,0.0);
INSERT INTO usages VALUES(1794796690276636778,27,1,19,'scripted','',0,0,0,0,0,0.0);
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
