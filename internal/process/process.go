// Package process starts commands, identifies processes, and ends everything that a
// session started.
//
// An agent's children detach themselves: they create process sessions, fork twice
// and clear their environment. So a session's processes are found by several signs
// (see Mark), and Sweep follows all of them until no process is left.
//
// Linux supports all signs. Darwin has no cgroups, no subreapers and no process
// descriptors; there a process that left its process group, cleared its environment
// and lost its parent cannot be found.
package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"coppice/internal/clock"
)

// The environment variables that mark a session's processes.
const (
	SessionVar = "COPPICE_SESSION"    // the session's key
	MarkVar    = "COPPICE_SESSION_ID" // a random value, one per run of a host
)

// Ability is what this machine supports.
type Ability struct {
	Cgroup    string   // where cgroups can be created, if they can
	Subreaper bool     // the host becomes the parent of orphans
	Notes     []string // what is missing and its consequence, for people
}

// Mark has the signs of a session's processes. Empty fields match nothing. Env is
// for processes without an ID.
type Mark struct {
	ID     string // value of MarkVar in the environment
	Env    string // another entry of the environment, as NAME=value
	Cgroup string // path of their cgroup
	Parent int    // all its descendants belong to the session, but not itself
	Leader int    // leader of a process group and session, if a marked process is in it
}

// proc is one process in a snapshot.
type proc struct {
	pid, ppid, pgid, sid int
	start                uint64
	dead                 bool // a zombie
}

// ident identifies a process, also if a later one has the same pid.
type ident struct {
	pid   int
	start uint64
}

// StartTime returns when a process started, in the kernel's units. Together with the
// pid it identifies a process until the machine restarts.
func StartTime(pid int) (uint64, error) {
	p, err := lookup(pid)
	return p.start, err
}

// OwnStartTime returns the start time of this process, which it reads once.
var OwnStartTime = sync.OnceValues(func() (uint64, error) { return StartTime(os.Getpid()) })

// Alive reports whether the process with that pid and start time still runs.
func Alive(pid int, start uint64) bool {
	p, err := lookup(pid)
	return err == nil && !p.dead && p.start == start
}

// Sweep kills every process with the mark and returns how many it killed. It repeats
// the search until none is left or ctx ends. It never kills its own process or an
// ancestor of it. The error lists processes that it was not allowed to kill.
func Sweep(ctx context.Context, m Mark) (int, error) {
	if m.Cgroup != "" {
		if err := killCgroup(m.Cgroup); err != nil {
			return 0, err
		}
	}
	killed := map[ident]bool{}
	refused := map[ident]error{}
	for turn, quiet := 0, 0; ; turn++ {
		found, unsettled, err := freeze(m, refused)
		if err != nil {
			return len(killed), err
		}
		for _, p := range found {
			id := ident{p.pid, p.start}
			if err := deliver(id, syscall.SIGKILL); err != nil {
				refused[id] = err
				continue
			}
			killed[id] = true
		}
		// A process that forks and exits during one search can hide its child
		// from it. A process in the middle of an exec has no environment; one
		// that never gets one must not block the sweep.
		if quiet++; len(found) > 0 || (unsettled && turn < 20) {
			quiet = 0
		}
		if quiet == 2 {
			break
		}
		if err := pause(ctx, turn); err != nil {
			return len(killed), fmt.Errorf("process: %d still run: %w", len(found), err)
		}
	}
	var errs []error
	for id, err := range refused {
		errs = append(errs, fmt.Errorf("process: kill %d: %w", id.pid, err))
	}
	return len(killed), errors.Join(errs...)
}

// Find returns the pids of processes with the mark, in order.
func Find(m Mark) ([]int, error) {
	all, err := snapshot()
	if err != nil {
		return nil, err
	}
	found, _ := m.closure(all)
	var pids []int
	for _, p := range found {
		pids = append(pids, p.pid)
	}
	return pids, nil
}

// freeze finds the marked processes and stops them, until a search finds no new one.
// A stopped process cannot fork, so none escapes between two searches, also none
// that is known only by its parent.
func freeze(m Mark, refused map[ident]error) (found []proc, unsettled bool, err error) {
	stopped := map[ident]bool{}
	for {
		all, err := snapshot()
		if err != nil {
			return nil, false, err
		}
		found, unsettled = m.closure(all)
		found = slices.DeleteFunc(found, func(p proc) bool { return refused[ident{p.pid, p.start}] != nil })
		fresh := false
		for _, p := range found {
			id := ident{p.pid, p.start}
			if stopped[id] {
				continue
			}
			stopped[id], fresh = true, true
			// An error shows again when the process is killed.
			_ = deliver(id, syscall.SIGSTOP)
		}
		if !fresh {
			return found, unsettled, nil
		}
	}
}

// closure returns the processes with the mark and all their descendants. Unsettled
// means that it is too early to decide about some processes.
func (m Mark) closure(all []proc) (found []proc, unsettled bool) {
	spared := ancestors(all, os.Getpid())
	in := map[int]bool{}
	inside := cgroupMembers(m.Cgroup)
	entry := []byte(m.Env)
	if m.ID != "" {
		entry = []byte(MarkVar + "=" + m.ID)
	}
	for _, p := range all {
		if p.dead || spared[p.pid] {
			continue
		}
		marked, known := false, true
		if len(entry) > 0 {
			marked, known = hasEnv(p, entry)
		}
		in[p.pid] = marked || inside[p.pid]
		unsettled = unsettled || !known
	}
	m.addGroup(all, spared, in)
	// A parent may follow its child in the list, so this repeats until nothing is
	// added. Zombies count: while one thread of a process has ended and others are
	// still ending, it is still the parent of its children.
	for added := true; added; {
		added = false
		for _, p := range all {
			if spared[p.pid] || in[p.pid] {
				continue
			}
			if in[p.ppid] || (m.Parent != 0 && p.ppid == m.Parent) {
				in[p.pid], added = true, true
			}
		}
	}
	for _, p := range all {
		if in[p.pid] && !p.dead {
			found = append(found, p)
		}
	}
	slices.SortFunc(found, func(a, b proc) int { return cmp.Compare(a.pid, b.pid) })
	return found, unsettled
}

// addGroup adds the leader's process group and session. Another process may have the
// leader's pid now, so they count only if one of their members has another sign.
func (m Mark) addGroup(all []proc, spared, in map[int]bool) {
	if m.Leader == 0 {
		return
	}
	member := func(p proc) bool {
		return !p.dead && !spared[p.pid] && (p.pgid == m.Leader || p.sid == m.Leader)
	}
	if !slices.ContainsFunc(all, func(p proc) bool { return member(p) && in[p.pid] }) {
		return
	}
	for _, p := range all {
		if member(p) {
			in[p.pid] = true
		}
	}
}

// ancestors returns the process, its ancestors and the machine's first one.
func ancestors(all []proc, pid int) map[int]bool {
	parent := map[int]int{}
	for _, p := range all {
		parent[p.pid] = p.ppid
	}
	set := map[int]bool{1: true, pid: true}
	for p := parent[pid]; p > 0 && !set[p]; p = parent[p] {
		set[p] = true
	}
	return set
}

// deliver signals a process if it is still the same one. It is not an error if the
// process is gone.
func deliver(id ident, sig syscall.Signal) error {
	p, err := os.FindProcess(id.pid)
	if err != nil {
		return nil
	}
	defer p.Release()
	// On Linux p has a process descriptor. Checking the start time afterwards makes
	// sure that it is that of the right process.
	if !Alive(id.pid, id.start) {
		return nil
	}
	err = p.Signal(sig)
	if errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}

// pause waits for killed processes, a little longer every turn.
func pause(ctx context.Context, turn int) error {
	return clock.Sleep(ctx, clock.Real(), min(time.Duration(turn+1)*time.Millisecond, 20*time.Millisecond))
}

// CgroupName returns the name of a cgroup for a session's key and its mark.
func CgroupName(session, id string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '_'
	}, session)
	if len(clean) > 64 {
		clean = clean[:64]
	}
	return clean + "-" + id
}
