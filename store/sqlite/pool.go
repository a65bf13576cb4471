package sqlite

import "sync"

// pool has connections that wait for work. It hands out the one that was used
// last: a connection has read the schema, prepared statements and cached pages
// only if it was used, so a store with little to do has little in memory.
type pool struct {
	free chan struct{} // one for each waiting connection
	mu   sync.Mutex
	all  []*conn // that wait, the one used last at the end
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
