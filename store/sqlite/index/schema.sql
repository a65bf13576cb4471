-- The words of tasks, of what sessions wrote and of what checks did. None of it is a fact: it is
-- made from the database beside it, and made anew when the two disagree. The
-- tables of words keep no text of their own; what is shown is read from there.

-- The words of output stand in shards, each a table output_words_<n> with the
-- pieces from first_row on, up to those of the next: what a search costs
-- stays bounded when the history grows, since the newest shard is asked first.
CREATE TABLE shards (
  n         INTEGER PRIMARY KEY,
  first_row INTEGER NOT NULL,
  pieces    INTEGER NOT NULL
);
-- A row of task_words is a task. scope holds its project as a word, so that a
-- search in one project reads no other's.
CREATE VIRTUAL TABLE task_words USING fts5(
  scope, words, content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 0"
);
-- A row of check_words is a check: its command and its log.
CREATE VIRTUAL TABLE check_words USING fts5(
  scope, words, content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 0"
);

-- How far each session's output has been read: up to which piece, and what the
-- session's cursor was once all pieces before it had been. talks tells that the
-- agent's protocol says what the agent does; its stdout then counts no more.
CREATE TABLE progress (
  session_id INTEGER PRIMARY KEY,
  place      INTEGER NOT NULL,
  cursor     INTEGER NOT NULL,
  talks      BOOLEAN NOT NULL
);

-- Up to which event changes of tasks have been read. The event's moment tells
-- the log of this database from that of another. checks is the newest check that
-- was read.
CREATE TABLE anchor (
  seq    INTEGER NOT NULL,
  at     INTEGER NOT NULL,
  checks INTEGER NOT NULL
);
INSERT INTO anchor VALUES (0, 0, 0);
