package sqlite_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"coppice"
	"coppice/store/sqlite"
)

// TestReadOnlyDirectory opens a database in a directory that this user cannot
// write. As root, the test drops its file capabilities on a separate thread, which
// ends with the test.
func TestReadOnlyDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, filepath.Dir(dir), filepath.Dir(filepath.Dir(dir))} { // other users can enter
		if err := os.Chmod(d, 0o555); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(d, 0o755) })
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked
		if os.Geteuid() == 0 {
			if err := syscall.Setfsuid(65534); err != nil {
				done <- err
				return
			}
		}
		_, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(dir, "coppice.db")})
		done <- err
	}()
	err := <-done
	if coppice.ErrorCode(err) != coppice.EUnavailable || !strings.Contains(err.Error(), "cannot be written") {
		t.Errorf("got %v", err)
	}
}
