// Package sqlitetest opens stores for tests.
package sqlitetest

import (
	"cmp"
	"testing"

	"coppice/store/sqlite"
)

// Open opens a store that is closed at the end of the test: in memory if the
// config has no path, and without syncs if it does not ask for them.
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
