// Package ports gives ports of this machine to workspaces. A file has the owner of
// each port, for all repositories. A workspace's own file only repeats that, so a
// crash between the two loses nothing.
package ports

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"coppice"
	"coppice/internal/atomicfile"
	"coppice/internal/filelock"
)

// Range is the ports that can be given, both ends included.
type Range struct{ First, Last int }

// Ledger has the owners of ports. Several processes can use the same directory.
type Ledger struct {
	Dir   string // of its files
	Range Range
	locks filelock.Locks
}

func (l *Ledger) file() string { return filepath.Join(l.Dir, "ports.json") }

// read returns the owners, and holds the lock until unlock is called.
func (l *Ledger) read(ctx context.Context) (given map[int]string, unlock func(), err error) {
	unlock, err = l.locks.Wait(ctx, filepath.Join(l.Dir, "ports.lock"))
	if err != nil {
		return nil, nil, err
	}
	given = map[int]string{}
	b, err := os.ReadFile(l.file())
	if err == nil {
		err = json.Unmarshal(b, &given)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		unlock()
		return nil, nil, fmt.Errorf("reading the owners of ports: %w", err)
	}
	return given, unlock, nil
}

// Give returns the owner's ports. It first gives the owner ports until there are as
// many as it wants.
func (l *Ledger) Give(ctx context.Context, owner string, want int) ([]int, error) {
	if want <= 0 {
		return nil, nil
	}
	given, unlock, err := l.read(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	var ports []int
	for p, o := range given {
		if o == owner {
			ports = append(ports, p)
		}
	}
	slices.Sort(ports)
	if len(ports) >= want {
		return ports[:want], nil
	}
	for p := l.Range.First; p <= l.Range.Last && len(ports) < want; p++ {
		if given[p] == "" && isFree(p) {
			given[p] = owner
			ports = append(ports, p)
		}
	}
	if len(ports) < want {
		return nil, coppice.Failf(coppice.ClassEnvironment,
			fmt.Sprintf("no %d free ports between %d and %d", want, l.Range.First, l.Range.Last), "remove workspaces or widen the range of ports")
	}
	return ports, atomicfile.WriteJSON(l.file(), given)
}

// Free takes the ports back that an owner has.
func (l *Ledger) Free(ctx context.Context, owner string) error {
	given, unlock, err := l.read(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	before := len(given)
	for p, o := range given {
		if o == owner {
			delete(given, p)
		}
	}
	if len(given) == before {
		return nil
	}
	return atomicfile.WriteJSON(l.file(), given)
}

// isFree reports whether nobody listens on a port now.
func isFree(port int) bool {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	l.Close()
	return true
}
