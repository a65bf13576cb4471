package syntax

import (
	"container/list"
	"sync"
)

// Cache keeps the lines of files that were coloured last, up to a number of
// bytes. It is safe for concurrent use.
type Cache struct {
	most int

	mu    sync.Mutex
	size  int
	byKey map[cacheKey]*list.Element
	used  *list.List // of *entry, the last used first
}

type cacheKey struct{ content, language string }

type entry struct {
	key   cacheKey
	lines [][]Token
	size  int
}

// NewCache returns a cache of at most most bytes.
func NewCache(most int) *Cache {
	return &Cache{most: most, byKey: map[cacheKey]*list.Element{}, used: list.New()}
}

// Lines returns the lines of a content in a language. The content's name, such as
// its hash, identifies it. read is called if the lines are not in the cache.
func (c *Cache) Lines(content, language string, read func() (string, error)) ([][]Token, error) {
	key := cacheKey{content, language}
	c.mu.Lock()
	if e, ok := c.byKey[key]; ok {
		c.used.MoveToFront(e)
		c.mu.Unlock()
		return e.Value.(*entry).lines, nil
	}
	c.mu.Unlock()
	text, err := read()
	if err != nil {
		return nil, err
	}
	lines := Lines(language, text)
	c.add(&entry{key: key, lines: lines, size: sizeOf(lines)})
	return lines, nil
}

func (c *Cache) add(e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey[e.key] != nil || e.size > c.most {
		return
	}
	c.byKey[e.key] = c.used.PushFront(e)
	for c.size += e.size; c.size > c.most; {
		last := c.used.Back()
		old := c.used.Remove(last).(*entry)
		delete(c.byKey, old.key)
		c.size -= old.size
	}
}

// sizeOf estimates how many bytes lines use: the texts, and the two strings of
// each token and the slice of each line.
func sizeOf(lines [][]Token) int {
	n := 0
	for _, line := range lines {
		n += 24
		for _, t := range line {
			n += 32 + len(t[1])
		}
	}
	return n
}
