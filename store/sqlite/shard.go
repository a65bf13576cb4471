package sqlite

import (
	"database/sql"
	"strconv"
)

// shardPieces is the number of pieces after which the index starts another shard.
// It bounds the cost of a short prefix: SQLite collects all matches of a shard
// before it returns the first.
const shardPieces = 25_000

// shard is a table with the words of the pieces of output from a row up to the
// first row of the next shard.
type shard struct {
	n      int64
	first  int64 // row
	pieces int64
}

func (s shard) table() string { return "output_words_" + strconv.FormatInt(s.n, 10) }

// shards lists the shards, newest first.
func (c *conn) shards() ([]shard, error) {
	return list(c, "SELECT n, first_row, pieces FROM shards ORDER BY n DESC", nil, func(rows *sql.Rows) (s shard, err error) {
		err = rows.Scan(&s.n, &s.first, &s.pieces)
		return s, err
	})
}

// shardOf finds the shard that a row belongs to.
func shardOf(shards []shard, row int64) *shard {
	for i := range shards {
		if row >= shards[i].first {
			return &shards[i]
		}
	}
	return &shards[len(shards)-1] // the oldest starts with row 0
}

// addShard adds a shard for the pieces from a row on. A row is a piece of output,
// and its number has the session and the place (see rowOf). scope has the project
// as a word, so that a search in one project reads only rows of that project.
func (c *conn) addShard(n, first int64) error {
	s := shard{n: n, first: first}
	if err := c.all("CREATE VIRTUAL TABLE " + s.table() + ` USING fts5(
		scope, words, content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 0")`); err != nil {
		return err
	}
	_, err := c.ExecContext(c.ctx, "INSERT INTO shards (n, first_row, pieces) VALUES (?, ?, 0)", n, first)
	return err
}

// keepShards stores the number of pieces of each shard. If the newest shard is
// full, it adds another one, which starts after the last piece of the newest
// session that was read.
func (c *conn) keepShards(shards []shard, full int64) error {
	for _, s := range shards {
		if _, err := c.ExecContext(c.ctx, "UPDATE shards SET pieces = ? WHERE n = ? AND pieces <> ?", s.pieces, s.n, s.pieces); err != nil {
			return err
		}
	}
	if shards[0].pieces < full {
		return nil
	}
	var session, place int64
	err := c.QueryRowContext(c.ctx, "SELECT session_id, place FROM progress ORDER BY session_id DESC LIMIT 1").Scan(&session, &place)
	if err != nil {
		return err
	}
	next := rowOf(session, 0) + min(place, maxRowPlace) + 1 // a place of -1 means that nothing has been read
	return c.addShard(shards[0].n+1, max(next, shards[0].first+1))
}

// forgetWords removes a session's pieces from the shards.
func (c *conn) forgetWords(shards []shard, session int64) error {
	first, last := rowOf(session, 0), rowOf(session, maxRowPlace)
	for i := range shards {
		s := &shards[i]
		if s.first > last {
			continue
		}
		res, err := c.ExecContext(c.ctx, "DELETE FROM "+s.table()+" WHERE rowid >= ? AND rowid <= ?", first, last)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		if err != nil {
			return err
		}
		if s.pieces = max(0, s.pieces-n); s.first <= first {
			return nil // older shards have no piece of the session
		}
	}
	return nil
}

// foundOutput returns the newest most pieces of output that match a query.
func (c *conn) foundOutput(query string, sessions *string, most int) ([]int64, error) {
	shards, err := c.shards()
	var rows []int64
	for _, s := range shards {
		if err != nil || len(rows) == most {
			break
		}
		var more []int64
		more, err = c.foundIn(s.table(), query, placeBits, sessions, most-len(rows))
		rows = append(rows, more...)
	}
	return rows, err
}
