package gitfiles

import "sync"

// Limits of a cache.
const (
	maxCached   = 64 << 10 // bytes of an object
	cacheGrowth = 2 << 20  // bytes of all objects that were read since the older ones
	cacheEntry  = 256      // bytes that an object takes besides its content
)

// Cache has objects that were read lately, because many workspaces check out the
// same trees and files. An object never changes, but it can disappear, so a cache
// does not show that a repository has an object. The zero Cache is empty and
// ready; a nil one stays empty.
type Cache struct {
	mu            sync.Mutex
	recent, older map[cacheKey][]byte
	size          int // of recent
}

// cacheKey names an object of a repository.
type cacheKey struct{ dir, kind, id string }

// key returns the key of an object. Repositories share files, because many workspaces
// check out the same ones, and because a file that was read shows nothing about a
// repository. A commit or a tree shows that a repository has it.
func (r *Repo) key(kind, id string) cacheKey {
	if kind == "blob" {
		return cacheKey{kind: kind, id: id}
	}
	return cacheKey{r.dir, kind, id}
}

func (c *Cache) get(k cacheKey) ([]byte, bool) {
	if c == nil {
		return nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if data, ok := c.recent[k]; ok {
		return data, true
	}
	data, ok := c.older[k]
	if ok {
		c.add(k, data)
	}
	return data, ok
}

func (c *Cache) put(k cacheKey, data []byte) {
	if c == nil || len(data) > maxCached {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(k, data)
}

// add adds an object. When the recent ones are too many, they are the older ones,
// and those that were are forgotten.
func (c *Cache) add(k cacheKey, data []byte) {
	if c.recent == nil || c.size > cacheGrowth {
		c.recent, c.older, c.size = map[cacheKey][]byte{}, c.recent, 0
	}
	if _, ok := c.recent[k]; !ok {
		c.size += len(data) + cacheEntry
	}
	c.recent[k] = data
}

// Clear forgets all objects.
func (c *Cache) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recent, c.older, c.size = nil, nil, 0
}
