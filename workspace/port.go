package workspace

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
)

// The ledger of ports is one file for all repositories: port to owner. It is
// the truth, so a crash between it and the workspace's own file loses nothing.
func (w *Workspaces) ledger(ctx context.Context) (map[int]string, func(), error) {
	unlock, err := w.locks.Wait(ctx, filepath.Join(w.dir, "ports.lock"))
	if err != nil {
		return nil, nil, err
	}
	given := map[int]string{}
	b, err := os.ReadFile(w.ledgerFile())
	if err == nil {
		err = json.Unmarshal(b, &given)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		unlock()
		return nil, nil, fmt.Errorf("reading the ledger of ports: %w", err)
	}
	return given, unlock, nil
}

func (w *Workspaces) ledgerFile() string { return filepath.Join(w.dir, "ports.json") }

// givePorts returns the owner's ports, and gives it as many as it wants first.
func (w *Workspaces) givePorts(ctx context.Context, owner string, want int) ([]int, error) {
	if want <= 0 {
		return nil, nil
	}
	given, unlock, err := w.ledger(ctx)
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
	for p := w.ports.First; p <= w.ports.Last && len(ports) < want; p++ {
		if given[p] == "" && portFree(p) {
			given[p] = owner
			ports = append(ports, p)
		}
	}
	if len(ports) < want {
		return nil, coppice.Failf(coppice.ClassEnvironment,
			fmt.Sprintf("no %d free ports between %d and %d", want, w.ports.First, w.ports.Last), "remove workspaces or widen the range of ports")
	}
	return ports, atomicfile.WriteJSON(w.ledgerFile(), given)
}

func (w *Workspaces) freePorts(ctx context.Context, owner string) error {
	given, unlock, err := w.ledger(ctx)
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
	return atomicfile.WriteJSON(w.ledgerFile(), given)
}

// portFree tells whether nobody listens there now.
func portFree(port int) bool {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	l.Close()
	return true
}

// Env returns the variables that tell a process which workspace it is in.
func Env(task, path, branch string, ports []int) []string {
	env := []string{"COPPICE=1", "COPPICE_WORKSPACE=" + path}
	if task != "" {
		env = append(env, "COPPICE_TASK="+task)
	}
	if branch != "" {
		env = append(env, "COPPICE_BRANCH="+branch)
	}
	for i, p := range ports {
		if i == 0 {
			env = append(env, "COPPICE_PORT="+strconv.Itoa(p))
		}
		env = append(env, fmt.Sprintf("COPPICE_PORT_%d=%d", i+1, p))
	}
	return env
}
