package ingest

import "sync"

// mostRecent bounds the sessions whose masks are kept.
const mostRecent = 1024

// recentMasks has the masks of sessions as they were recorded last, so that a
// batch of output needs no read before its transaction. The transaction compares
// them with the stored ones.
type recentMasks struct {
	mu sync.Mutex
	of map[int64][]byte
}

func (m *recentMasks) get(session int64) (mask []byte, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	mask, ok = m.of[session]
	return mask, ok
}

func (m *recentMasks) put(session int64, mask []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of == nil || len(m.of) >= mostRecent {
		m.of = map[int64][]byte{}
	}
	m.of[session] = mask
}

func (m *recentMasks) forget(session int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.of, session)
}
