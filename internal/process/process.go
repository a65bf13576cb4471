// Package process knows the processes of one machine: whether one is still the
// one it was, and how to end everything a session started.
//
// An agent's children detach themselves: they make process sessions of their
// own, fork twice, clear their environment. So a session's processes are known
// by several signs at once (see Mark), and Sweep follows all of them until no
// process is left.
//
// Linux has every ability. On darwin there is no cgroup, no way to have orphans
// come back and no process descriptor; there a process that left its process
// group, cleared its environment and lost its parent cannot be found.
package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"coppice/internal/clock"
)

// The environment variables that mark a session's processes.
const (
	SessionVar = "COPPICE_SESSION"    // the session's key
	MarkVar    = "COPPICE_SESSION_ID" // a random value, one per run of a host
)

// Ability is what this machine lets Sweep and the host do.
type Ability struct {
	Cgroup    string   // where cgroups can be made, if they can
	Subreaper bool     // orphans come back to the host
	Notes     []string // what is missing and what that means, for people
}

// Mark is how a session's processes are known. Empty fields match nothing.
type Mark struct {
	ID     string // value of MarkVar in the environment
	Cgroup string // path of the cgroup they live in
	Parent int    // all its descendants belong to the session, itself not
	Leader int    // leader of a process group and session, when a marked process is in it
}

// proc is one process in a snapshot.
type proc struct {
	pid, ppid, pgid, sid int
	start                uint64
	dead                 bool // a zombie: it runs nothing any more
}

// ident tells a process from a later one with the same pid.
type ident struct {
	pid   int
	start uint64
}

// StartTime returns when a process began, as the kernel counts. Together with
// the pid it names a process for as long as the machine is up.
func StartTime(pid int) (uint64, error) {
	p, err := lookup(pid)
	return p.start, err
}

// Alive tells whether the process with that pid and start time still runs.
func Alive(pid int, start uint64) bool {
	p, err := lookup(pid)
	return err == nil && !p.dead && p.start == start
}

// Sweep kills every process that bears the mark and returns how many it
// killed. It looks again until there is none left or ctx ends. It never kills
// its own process or an ancestor of it. A process that may not be killed is
// left and told in the error.
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
		// A process that forks and ends while we look can hide its child from
		// one look. A process in the middle of an exec has no environment to
		// look at; one that never gets one must not hold us up for ever.
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

// Find returns the pids that bear the mark, in order.
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

// freeze finds the marked processes and stops them, until a look finds no new
// one: a stopped process cannot fork, so none slips away between two looks,
// also none that is known by its parent only.
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
			// A refusal shows again, and is recorded, when it is to be killed.
			_ = deliver(id, syscall.SIGSTOP)
		}
		if !fresh {
			return found, unsettled, nil
		}
	}
}

// closure returns the processes that bear the mark and all their descendants.
// unsettled tells that there are processes about which nothing can be said yet.
func (m Mark) closure(all []proc) (found []proc, unsettled bool) {
	spared := ancestors(all, os.Getpid())
	in := map[int]bool{}
	inside := cgroupMembers(m.Cgroup)
	entry := []byte(MarkVar + "=" + m.ID)
	for _, p := range all {
		if p.dead || spared[p.pid] {
			continue
		}
		marked, known := false, true
		if m.ID != "" {
			marked, known = hasEnv(p, entry)
		}
		in[p.pid] = marked || inside[p.pid]
		unsettled = unsettled || !known
	}
	m.addGroup(all, spared, in)
	// A parent may come behind its child in the list, so go on until nothing
	// is added. The dead count here: while one thread of a process is dead and
	// others are still ending, its children have not left it.
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

// addGroup adds the leader's process group and session. The leader's pid may
// have been taken by a stranger since, so they count only if one of their
// members is marked in another way.
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

// deliver signals a process if it is still the one that was seen. A process
// that is gone is no error.
func deliver(id ident, sig syscall.Signal) error {
	p, err := os.FindProcess(id.pid)
	if err != nil {
		return nil
	}
	defer p.Release()
	// On Linux p holds a process descriptor. Looking at the start time after
	// taking it makes sure that the descriptor is of the right process.
	if !Alive(id.pid, id.start) {
		return nil
	}
	err = p.Signal(sig)
	if errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}

// pause gives killed processes a moment to go, a little longer every turn.
func pause(ctx context.Context, turn int) error {
	return clock.Sleep(ctx, clock.Real(), min(time.Duration(turn+1)*time.Millisecond, 20*time.Millisecond))
}

// CgroupName makes a cgroup's name of a session's key and its mark.
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
