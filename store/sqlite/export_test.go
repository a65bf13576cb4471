package sqlite

import (
	"context"
	"testing"
)

// CatchUp reads everything committed so far, as Run does when it is woken.
func (x *Index) CatchUp(ctx context.Context) error {
	if err := x.begin(ctx); err != nil {
		return err
	}
	return x.catchUp(ctx)
}

// ShardAfter sets the number of pieces after which the index starts another shard.
func (x *Index) ShardAfter(pieces int64) { x.full = pieces }

// Matches counts the rows of a table of the index that have a word.
func (x *Index) Matches(t testing.TB, table, word string) (n int) {
	t.Helper()
	err := with(t.Context(), x.writer, func(c *conn) error {
		return c.QueryRowContext(c.ctx, "SELECT count(*) FROM "+table+" WHERE "+table+" MATCH ?", word).Scan(&n)
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
