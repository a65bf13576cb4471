package http

import (
	"context"
	"math"

	"coppice"
	"coppice/api"
	"coppice/store"
)

// outputBack reads a page from the end of a session's output, or from before an
// offset: a long session is opened at its end and read backwards.
func (s *Server) outputBack(ctx context.Context, in *outputIn, kinds []coppice.OutputKind) (page api.OutputPage, err error) {
	if in.After != "" || in.Tail && in.Before != "" {
		return page, coppice.Errorf(coppice.EInvalid, "after, before and tail exclude each other").WithFix("send one of them").WithField("before")
	}
	before, err := place("", in.Before, math.MaxInt64)
	if err != nil {
		return page, err
	}
	page.Output = []api.Output{}
	err = s.cfg.Store.View(ctx, func(r store.Reader) error {
		sess, err := sessionByKey(r, in.Key)
		if err != nil {
			return err
		}
		page.Ended = !sess.State.Live()
		pieces, err := r.Outputs.Before(sess.ID, before, in.Limit+1, kinds...)
		if err != nil {
			return err
		}
		cut := store.Full(pieces, in.Limit+1)
		if len(pieces) > in.Limit {
			pieces = pieces[1:]
		}
		if cut {
			page.Prev = pieces[0].Offset
		}
		for _, o := range pieces {
			page.Output = append(page.Output, piece(o))
		}
		page.Next = beginning
		if n := len(pieces); n > 0 {
			page.Next = pieces[n-1].Offset
		}
		if in.Tail {
			return nil
		}
		rest, err := r.Outputs.After(sess.ID, page.Next, 1, kinds...)
		page.More = len(rest) > 0
		return err
	})
	return page, err
}
