package http

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"coppice"
	"coppice/api"
	"coppice/store"
)

// feed reads the log for everybody who follows it. Followers who stand at the
// same place of the same filter share one read and one encoding: a thousand of
// them cost the store as much as one.
type feed struct {
	read func(ctx context.Context, after int64, f store.EventFilter) (api.EventPage, error)

	mu    sync.Mutex
	pages map[feedKey]*feedPage
	order []feedKey // oldest first
}

// maxPages bounds the pages that are kept for those who come later. Nobody
// misses one that is gone: it is read again.
const maxPages = 16

type feedKey struct{ after, project, task int64 }

// feedPage is what follows a place, as it is sent. The fields are there once
// done is closed.
type feedPage struct {
	done chan struct{}
	api.Bounds
	next int64
	more bool
	text []byte // the events; empty when none is for the reader
	err  error
}

// after returns what follows a place. The read is nobody's own: it goes on when
// the follower who began it leaves.
func (f *feed) after(ctx context.Context, after int64, filter store.EventFilter) (*feedPage, error) {
	key := feedKey{after, filter.ProjectID, filter.TaskID}
	f.mu.Lock()
	p := f.pages[key]
	if p == nil {
		p = &feedPage{done: make(chan struct{})}
		f.keep(key, p)
		f.mu.Unlock()
		f.fill(context.WithoutCancel(ctx), key, p, filter)
		return p, p.err
	}
	f.mu.Unlock()
	select {
	case <-p.done:
		return p, p.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// keep remembers a page, and forgets the oldest when there is no room. It needs
// the lock.
func (f *feed) keep(key feedKey, p *feedPage) {
	if len(f.order) >= maxPages {
		delete(f.pages, f.order[0])
		f.order = slices.Delete(f.order, 0, 1)
	}
	f.pages[key] = p
	f.order = append(f.order, key)
}

// fill reads and encodes a page. Only one that leads on is of use to those who
// come later: any other is true of this moment alone.
func (f *feed) fill(ctx context.Context, key feedKey, p *feedPage, filter store.EventFilter) {
	defer close(p.done)
	defer func() {
		if p.err != nil || p.next <= key.after {
			f.mu.Lock()
			defer f.mu.Unlock()
			if f.pages[key] == p {
				delete(f.pages, key)
				f.order = slices.DeleteFunc(f.order, func(k feedKey) bool { return k == key })
			}
		}
	}()
	p.err = coppice.Errorf(coppice.EInternal, "the log was not read") // should the read panic
	page, err := f.read(ctx, key.after, filter)
	p.Bounds, p.next, p.more = page.Bounds, page.Next, page.More
	var b bytes.Buffer
	for _, e := range page.Events {
		if err == nil {
			err = encodeEvent(&b, e.Seq, "", e)
		}
	}
	p.text, p.err = b.Bytes(), err
}
