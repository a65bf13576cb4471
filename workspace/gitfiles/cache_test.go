package gitfiles

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

// TestCacheIsBounded checks that a cache never has more than its two parts may
// have, and that it has what was put last.
func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var c Cache
		put := map[cacheKey]int{}
		for _, n := range rapid.SliceOfN(rapid.IntRange(0, maxCached+1), 1, 200).Draw(t, "sizes") {
			k := cacheKey{"dir", "blob", fmt.Sprint(rapid.IntRange(0, 50).Draw(t, "id"))}
			if size, ok := put[k]; ok {
				n = size // the content of an object never changes
			}
			put[k] = n
			c.put(k, make([]byte, n))
			data, ok := c.get(k)
			if ok != (n <= maxCached) || len(data) != n && ok {
				t.Fatalf("of an object of %d bytes the cache has %d, %t", n, len(data), ok)
			}
			size := 0
			for _, part := range []map[cacheKey][]byte{c.recent, c.older} {
				for _, data := range part {
					size += len(data) + cacheEntry
				}
			}
			if most := 2 * (cacheGrowth + maxCached + cacheEntry); size > most {
				t.Fatalf("%d bytes are cached, at most %d may be", size, most)
			}
		}
		c.Clear()
		for k := range put {
			if _, ok := c.get(k); ok {
				t.Fatal("a cleared cache has an object")
			}
		}
	})
}

// TestCacheShowsNoExistence checks that an object which disappeared is written
// again although the cache has it, and that direct access can be turned off.
func TestCacheShowsNoExistence(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := Open(dir, Config{Cache: &Cache{}})
	id, err := r.writeObject("blob", []byte("text"))
	if err == nil {
		_, err = r.read("blob", id)
	}
	file := filepath.Join(dir, "objects", id[:2], id[2:])
	if err == nil {
		err = os.Remove(file)
	}
	if err != nil {
		t.Fatal(err)
	}
	if data, err := r.read("blob", id); err != nil || string(data) != "text" {
		t.Errorf("the cache has %q, %v", data, err)
	}
	if _, err := r.read("tree", id); err == nil {
		t.Error("a blob is read as a tree")
	}
	tree, err := r.writeObject("tree", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.TempDir(), r.Config).read("tree", tree); err == nil {
		t.Error("another repository has the tree")
	}
	if data, err := Open(t.TempDir(), r.Config).read("blob", id); err != nil || string(data) != "text" {
		t.Errorf("another repository does not share the file: %q, %v", data, err)
	}
	if _, err := Open(dir, Config{Off: true, Cache: r.Cache}).read("blob", id); err == nil {
		t.Error("an object is read although direct access is off")
	}
	if _, err := r.writeObject("blob", []byte("text")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Errorf("the object was not written again: %v", err)
	}
}
