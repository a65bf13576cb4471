package sqlite

import (
	"context"
	"slices"

	"coppice/store"
)

// Shrink gives back the memory in which the connections keep pages of the file
// and prepared statements. A connection that is in use keeps its own.
func (s *Store) Shrink(ctx context.Context) error {
	var free []*conn
	for range s.readers.size() {
		select {
		case <-s.readers.free:
			free = append(free, s.readers.take())
		default:
		}
	}
	var err error
	for _, c := range slices.Backward(free) {
		if c != s.writer && err == nil {
			err = c.shrink()
		}
		s.readers.give(c)
	}
	if err != nil {
		return err
	}
	return s.Update(ctx, func(store.Tx) error { return s.writer.shrink() })
}

func (c *conn) shrink() error {
	c.forget()
	_, err := c.raw.ExecContext(c.ctx, "PRAGMA shrink_memory")
	return err
}
