package sqlite

import "context"

// CatchUp reads everything committed so far, as Run does when it is woken.
func (x *Index) CatchUp(ctx context.Context) error {
	if err := x.begin(ctx); err != nil {
		return err
	}
	return x.catchUp(ctx)
}

// ShardAfter begins a further shard after so many pieces.
func (x *Index) ShardAfter(pieces int64) { x.full = pieces }
