package sqlite

import (
	"context"

	"coppice/store"
)

// Shrink gives back the memory in which the connections keep pages of the file.
// A connection that is in use keeps its own.
func (s *Store) Shrink(ctx context.Context) error {
	var free []*conn
	for range cap(s.readers) {
		select {
		case c := <-s.readers:
			free = append(free, c)
		default:
		}
	}
	var err error
	for _, c := range free {
		if c != s.writer && err == nil {
			err = c.shrink()
		}
		s.readers <- c
	}
	if err != nil {
		return err
	}
	return s.Update(ctx, func(store.Tx) error { return s.writer.shrink() })
}

func (c *conn) shrink() error {
	_, err := c.raw.ExecContext(c.ctx, "PRAGMA shrink_memory")
	return err
}
