package ingest

import (
	"sync"

	"coppice/fabric"
)

// mostRecent limits the sessions that are kept.
const mostRecent = 1024

// recent is what the last batch of a session's output left behind.
type recent struct {
	mask []byte
	at   fabric.Standing
}

// recents has it for the sessions that wrote last, so that a batch of output needs no
// read before its transaction, and one without facts does not read the session's row.
// The transaction compares the mask and the cursor with the stored ones.
type recents struct {
	mu sync.Mutex
	of map[int64]recent
}

func (m *recents) get(session int64) (last recent, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	last, ok = m.of[session]
	return last, ok
}

func (m *recents) put(session int64, last recent) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of == nil || len(m.of) >= mostRecent {
		m.of = map[int64]recent{}
	}
	m.of[session] = last
}

func (m *recents) forget(session int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.of, session)
}
