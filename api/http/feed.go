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

// feed reads the log for all followers. Followers at the same position with the
// same filter share one read and one encoding: a thousand of them cost the
// store as much as one.
type feed struct {
	read func(ctx context.Context, after int64, f store.EventFilter) (api.EventPage, error)

	mu    sync.Mutex
	pages map[feedKey]*feedPage
	order []feedKey // oldest first
}

// maxPages limits the cached pages. A page that was dropped is read again.
const maxPages = 16

type feedKey struct{ after, project, task int64 }

// feedPage has the events after a position, as they are sent. The fields are
// set when done is closed.
type feedPage struct {
	done chan struct{}
	api.Bounds
	next int64
	more bool
	text []byte // the events; empty if none matches the filter
	err  error
}

// after returns the events after a position. The read continues if the follower
// who started it leaves.
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

// keep caches a page, and drops the oldest if the cache is full. The caller
// holds the lock.
func (f *feed) keep(key feedKey, p *feedPage) {
	if len(f.order) >= maxPages {
		delete(f.pages, f.order[0])
		f.order = slices.Delete(f.order, 0, 1)
	}
	f.pages[key] = p
	f.order = append(f.order, key)
}

// fill reads and encodes a page. Only a page that moves the position is cached:
// any other might change.
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
	p.err = coppice.Errorf(coppice.EInternal, "the log was not read") // if the read panics
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
