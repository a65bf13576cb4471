-- The words of tasks, output and checks. The index has no facts: it is built from
-- the database beside it, and built again if the two disagree. The tables of words
-- keep no text. The text of a hit is read from the database.

-- The words of output are in shards. Each shard is a table output_words_<n> with
-- the pieces from first_row up to the first row of the next shard. The newest shard
-- is searched first, so the cost of a search stays bounded as the history grows.
CREATE TABLE shards (
  n         INTEGER PRIMARY KEY,
  first_row INTEGER NOT NULL,
  pieces    INTEGER NOT NULL
);
-- A row of task_words is a task. scope has its project as a word, so that a search
-- in one project reads only rows of that project.
CREATE VIRTUAL TABLE task_words USING fts5(
  scope, words, content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 0"
);
-- A row of check_words is a check: its command and its log.
CREATE VIRTUAL TABLE check_words USING fts5(
  scope, words, content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 0"
);

-- The progress of each session: the last piece that was read, and the session's
-- cursor when all pieces before it had been read. If talks is true, the agent
-- reports in events what it does, and its stdout is not indexed.
CREATE TABLE progress (
  session_id INTEGER PRIMARY KEY,
  place      INTEGER NOT NULL,
  cursor     INTEGER NOT NULL,
  talks      BOOLEAN NOT NULL
);

-- The last event up to which changes of tasks have been read. Its time distinguishes
-- the log of this database from the log of another one. checks is the last check
-- that was read.
CREATE TABLE anchor (
  seq    INTEGER NOT NULL,
  at     INTEGER NOT NULL,
  checks INTEGER NOT NULL
);
INSERT INTO anchor VALUES (0, 0, 0);
