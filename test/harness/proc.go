//go:build linux

package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Proc is a process of a machine. It is held by a descriptor while it is looked
// at, so that a number that is used again never stands for another one.
type Proc struct {
	PID     int
	Parent  int
	Argv    []string
	Environ []string
}

// Processes lists every living process of the machine: those with its home in
// their environment, which is passed on to all of them.
func (m *Machine) Processes() []Proc {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		panic(err)
	}
	var all []Proc
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		p, ok := readProc(pid)
		if ok && (slices.Contains(p.Environ, "HOME="+m.Home) || slices.ContainsFunc(p.Argv, func(a string) bool { return strings.HasPrefix(a, m.State+"/") })) {
			all = append(all, p)
		}
	}
	return all
}

func readProc(pid int) (Proc, bool) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	// A dead process has neither, even if its parent has not waited for it.
	cmdline, err := os.ReadFile(filepath.Join(dir, "cmdline"))
	if err != nil || len(cmdline) == 0 {
		return Proc{}, false
	}
	environ, err := os.ReadFile(filepath.Join(dir, "environ"))
	if err != nil {
		return Proc{}, false
	}
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return Proc{}, false
	}
	// Its name, in brackets, may hold anything; what follows is a letter and
	// the parent.
	var state string
	var parent int
	if _, err := fmt.Sscan(string(stat[bytes.LastIndexByte(stat, ')')+1:]), &state, &parent); err != nil {
		return Proc{}, false
	}
	return Proc{pid, parent, split(cmdline), split(environ)}, true
}

func split(b []byte) []string { return strings.Split(string(bytes.TrimRight(b, "\x00")), "\x00") }

// Value returns a variable of its environment.
func (p Proc) Value(name string) string {
	for _, kv := range p.Environ {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// IsHost reports whether it is a session's host, and in which directory.
func (p Proc) IsHost() (dir string, ok bool) {
	if len(p.Argv) == 3 && filepath.Base(p.Argv[0]) == "coppice" && p.Argv[1] == "host" {
		return p.Argv[2], true
	}
	return "", false
}

// IsAgent reports whether it is a session's scripted agent, and not one of its
// children.
func (p Proc) IsAgent() bool {
	return p.Value("COPPICE_SESSION") != "" && len(p.Argv) > 1 && p.Argv[1] == "scripted"
}

// Kill kills exactly this process and returns once it is gone. One that is
// gone already, or another one by now, is left alone.
func (p Proc) Kill() bool { return p.KillAfter(nil) }

// KillAfter does something before the process is killed.
func (p Proc) KillAfter(before func()) bool {
	fd, err := unix.PidfdOpen(p.PID, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	if now, ok := readProc(p.PID); !ok || !slices.Equal(now.Environ, p.Environ) {
		return false
	}
	if before != nil {
		before()
	}
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil {
		return false
	}
	WaitExit(fd)
	return true
}

// WaitExit waits until the process behind a descriptor has ended, and reports
// whether it did.
func WaitExit(fd int) bool {
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(Patience.Milliseconds()))
		if !errors.Is(err, unix.EINTR) {
			return err == nil && n == 1
		}
	}
}

// Ends waits for the end of a process that is about to end by itself.
func (p Proc) Ends() bool {
	fd, err := unix.PidfdOpen(p.PID, 0)
	if err != nil {
		return true
	}
	defer unix.Close(fd)
	return WaitExit(fd)
}

// Freeze stops a process without ending it and returns once none of its
// threads runs: what it was writing is written.
func (p Proc) Freeze(ctx context.Context) error {
	if err := unix.Kill(p.PID, unix.SIGSTOP); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	for {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.PID))
		if err != nil || len(threads) == 0 {
			return errors.New("it is gone")
		}
		stopped := true
		for _, th := range threads {
			b, err := os.ReadFile(th)
			_, rest, ok := strings.Cut(string(b), ") ")
			stopped = stopped && (err != nil || ok && strings.HasPrefix(rest, "T"))
		}
		if stopped {
			return nil
		}
		if err := Tick(ctx); err != nil {
			return err
		}
	}
}
