package webhooks

import (
	"crypto/sha256"
	"sync"
	"time"
)

const (
	// Window is how old an event can be, and how long a delivery is remembered.
	Window = time.Hour
	// mostSeen limits the deliveries that are remembered: about 400 KiB.
	mostSeen = 4096
)

// replay is a delivery to a project.
type replay struct {
	project int64
	id      [sha256.Size]byte
}

// replays remembers deliveries. A restart forgets them, which is safe: a delivery that
// arrives again only makes Coppice read the forge.
type replays struct {
	mu    sync.Mutex
	at    map[replay]time.Time
	order []replay // oldest first
}

func (r *replays) has(k replay, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, ok := r.at[k]
	return ok && now.Sub(at) < Window
}

func (r *replays) add(k replay, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.order) > 0 && (len(r.order) >= mostSeen || now.Sub(r.at[r.order[0]]) >= Window) {
		delete(r.at, r.order[0])
		r.order = r.order[1:]
	}
	if _, known := r.at[k]; known {
		return // two copies arrived at the same time
	}
	if r.at == nil {
		r.at = map[replay]time.Time{}
	}
	r.at[k] = now
	r.order = append(r.order, k)
}
