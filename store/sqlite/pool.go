package sqlite

import "sync"

// pool has free connections. It returns the one that was used last. A connection
// that is never used has read no schema, prepared no statements and cached no
// pages, so a store with little to do uses little memory.
type pool struct {
	free chan struct{} // one value for each free connection
	mu   sync.Mutex
	all  []*conn // free connections; the one used last is at the end
}

func newPool(size int) *pool { return &pool{free: make(chan struct{}, size)} }

func (p *pool) size() int { return cap(p.free) }

// give adds a connection.
func (p *pool) give(c *conn) {
	p.mu.Lock()
	p.all = append(p.all, c)
	p.mu.Unlock()
	p.free <- struct{}{}
}

// take removes a connection. The caller has received from free.
func (p *pool) take() *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.all) - 1
	c := p.all[last]
	p.all = p.all[:last]
	return c
}
