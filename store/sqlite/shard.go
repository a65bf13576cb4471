package sqlite

import (
	"database/sql"
	"strconv"
)

// shardPieces is after how many pieces a further shard of the index is begun.
const shardPieces = 100_000

// shard is a table with the words of some sessions' output.
type shard struct {
	n      int64
	first  int64 // session
	pieces int64
}

func (s shard) table() string { return "output_words_" + strconv.FormatInt(s.n, 10) }

// shards lists the shards, that of the newest sessions first.
func (c *conn) shards() ([]shard, error) {
	return list(c, "SELECT n, first_session, pieces FROM shards ORDER BY n DESC", nil, func(rows *sql.Rows) (s shard, err error) {
		err = rows.Scan(&s.n, &s.first, &s.pieces)
		return s, err
	})
}

// shardOf finds the shard that a session belongs to.
func shardOf(shards []shard, session int64) *shard {
	for i := range shards {
		if session >= shards[i].first {
			return &shards[i]
		}
	}
	return &shards[len(shards)-1] // the oldest begins with the first session
}

// addShard begins a shard with the sessions from first on. A row of it is a piece
// of output: its session's number and its place in one (see rowOf). scope holds
// the project as a word, so that a search in one project reads no other's.
func (c *conn) addShard(n, first int64) error {
	s := shard{n: n, first: first}
	if err := c.all("CREATE VIRTUAL TABLE " + s.table() + ` USING fts5(
		scope, words, content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 0")`); err != nil {
		return err
	}
	_, err := c.ExecContext(c.ctx, "INSERT INTO shards (n, first_session, pieces) VALUES (?, ?, 0)", n, first)
	return err
}

// keepShards writes down how full the shards are, and begins another when the
// newest is full: for the sessions of which nothing has been read yet.
func (c *conn) keepShards(shards []shard, full int64) error {
	for _, s := range shards {
		if _, err := c.ExecContext(c.ctx, "UPDATE shards SET pieces = ? WHERE n = ? AND pieces <> ?", s.pieces, s.n, s.pieces); err != nil {
			return err
		}
	}
	if shards[0].pieces < full {
		return nil
	}
	var last int64
	if err := c.QueryRowContext(c.ctx, "SELECT coalesce(max(session_id), 0) FROM progress").Scan(&last); err != nil {
		return err
	}
	return c.addShard(shards[0].n+1, last+1)
}

// forgetOutput takes a session's pieces out of its shard.
func (c *conn) forgetOutput(s *shard, session int64) error {
	res, err := c.ExecContext(c.ctx, "DELETE FROM "+s.table()+" WHERE rowid >= ? AND rowid <= ?", rowOf(session, 0), rowOf(session, maxRowPlace))
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	s.pieces = max(0, s.pieces-n)
	return err
}

// foundOutput finds pieces of output, newest first, at most so many.
func (c *conn) foundOutput(query string, most int) ([]int64, error) {
	shards, err := c.shards()
	var rows []int64
	for _, s := range shards {
		if err != nil || len(rows) == most {
			break
		}
		var more []int64
		more, err = c.foundIn(s.table(), query, most-len(rows))
		rows = append(rows, more...)
	}
	return rows, err
}
