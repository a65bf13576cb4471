// Package ports keeps tests that listen out of each other's way, those of other
// processes on the machine included.
package ports

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// The blocks lie below the ports that outgoing connections get, and below those
// that workspaces get theirs from.
const (
	Size  = 4 // of a block
	first = 10_000
	last  = 19_999
)

// Block returns the first port of a block that belongs to the test until it ends.
func Block(t testing.TB) int {
	t.Helper()
	for port := first; port+Size-1 <= last; port += Size {
		if free(port) && hold(t, strconv.Itoa(port), syscall.LOCK_NB) {
			return port
		}
	}
	t.Fatal("no ports are left")
	return 0
}

// Alone waits until no other test of that name runs. It is for those that
// cannot choose their ports.
func Alone(t testing.TB, name string) {
	t.Helper()
	if !hold(t, name, 0) {
		t.Fatalf("%s is locked", name)
	}
}

// hold takes a lock until the test ends. A crash frees it.
func hold(t testing.TB, name string, how int) bool {
	t.Helper()
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("coppice-test-ports-%d", os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|how)
		if err != syscall.EINTR {
			break
		}
	}
	if err != nil {
		f.Close()
		return false
	}
	t.Cleanup(func() {
		_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) // by name: a child that is being forked has the file, too
		f.Close()
	})
	return true
}

// free reports whether nobody listens in the block.
func free(port int) bool {
	for p := port; p < port+Size; p++ {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(p)))
		if err != nil {
			return false
		}
		l.Close()
	}
	return true
}
