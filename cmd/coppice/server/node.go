package server

import (
	"sync"
	"time"

	"coppice"
)

// nodeAge is how old the figures of a machine may be. The memory of sessions
// that start in between is promised to them.
const nodeAge = 100 * time.Millisecond

// machine reports the figures of this machine. Reading them takes longer than
// most requests.
type machine struct {
	state string // the state directory, for the disk
	now   func() time.Time

	mu   sync.Mutex
	node coppice.Node
	at   time.Time
}

func (m *machine) figures() coppice.Node {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now := m.now(); now.Sub(m.at) >= nodeAge || now.Before(m.at) {
		m.node, m.at = thisNode(m.state), now
	}
	return m.node
}
