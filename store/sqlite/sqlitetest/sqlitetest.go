// Package sqlitetest opens stores for tests.
package sqlitetest

import (
	"cmp"
	"testing"

	"coppice/store/sqlite"
)

// Open opens a store and closes it at the end of the test. Without a path, the
// store is in memory. Without Sync, it does not sync.
func Open(t testing.TB, c sqlite.Config) *sqlite.Store {
	t.Helper()
	c.Path, c.Sync = cmp.Or(c.Path, sqlite.Memory), cmp.Or(c.Sync, sqlite.SyncOff)
	s, err := sqlite.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
