//go:build linux

package e2e

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
	"testing"

	"golang.org/x/sys/unix"
)

// proc is a process of a world, held by a descriptor while it is looked at, so
// that a number used anew never stands for another one.
type proc struct {
	pid     int
	parent  int
	argv    []string
	environ []string
}

// processes lists every living process of the world: those with its home in
// their environment, which is passed on to all of them.
func (w *world) processes() []proc {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		panic(err)
	}
	var all []proc
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		p, ok := readProc(pid)
		if ok && (slices.Contains(p.environ, "HOME="+w.home) || slices.ContainsFunc(p.argv, func(a string) bool { return strings.HasPrefix(a, w.state+"/") })) {
			all = append(all, p)
		}
	}
	return all
}

func readProc(pid int) (proc, bool) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	// A dead process has neither, whoever has yet to wait for it.
	cmdline, err := os.ReadFile(filepath.Join(dir, "cmdline"))
	if err != nil || len(cmdline) == 0 {
		return proc{}, false
	}
	environ, err := os.ReadFile(filepath.Join(dir, "environ"))
	if err != nil {
		return proc{}, false
	}
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return proc{}, false
	}
	// Its name, in brackets, may hold anything; what follows is a letter and
	// the parent.
	var state string
	var parent int
	if _, err := fmt.Sscan(string(stat[bytes.LastIndexByte(stat, ')')+1:]), &state, &parent); err != nil {
		return proc{}, false
	}
	return proc{pid, parent, split(cmdline), split(environ)}, true
}

func split(b []byte) []string { return strings.Split(string(bytes.TrimRight(b, "\x00")), "\x00") }

func (p proc) value(name string) string {
	for _, kv := range p.environ {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// isHost tells whether it is a session's host, and in which directory.
func (p proc) isHost() (dir string, ok bool) {
	if len(p.argv) == 3 && p.argv[0] == program && p.argv[1] == "host" {
		return p.argv[2], true
	}
	return "", false
}

// isAgent tells whether it is a session's agent, and not one of its children.
func (p proc) isAgent() bool {
	return p.value("COPPICE_SESSION") != "" && len(p.argv) > 1 && p.argv[1] == "scripted"
}

// kill kills exactly this process and returns once it is gone. One that is
// gone already, or another one by now, is left alone.
func (p proc) kill() bool { return p.killAfter(nil) }

// killAfter does something before the process is killed.
func (p proc) killAfter(before func()) bool {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	if now, ok := readProc(p.pid); !ok || !slices.Equal(now.environ, p.environ) {
		return false
	}
	if before != nil {
		before()
	}
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil {
		return false
	}
	waitExit(fd)
	return true
}

// waitExit waits until the process behind a descriptor has ended, and tells
// whether it did.
func waitExit(fd int) bool {
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(patience.Milliseconds()))
		if !errors.Is(err, unix.EINTR) {
			return err == nil && n == 1
		}
	}
}

// ends waits for the end of a process that is about to end by itself.
func (p proc) ends() bool {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err != nil {
		return true
	}
	defer unix.Close(fd)
	return waitExit(fd)
}

// freeze stops a process without ending it and returns once none of its
// threads runs: what it was writing is written.
func (p proc) freeze() error {
	if err := unix.Kill(p.pid, unix.SIGSTOP); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.pid))
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
		if err := tick(ctx); err != nil {
			return err
		}
	}
}

// only returns the one process that f chooses.
func (w *world) only(what string, f func(proc) bool) proc {
	w.t.Helper()
	found := slices.DeleteFunc(w.processes(), func(p proc) bool { return !f(p) })
	if len(found) != 1 {
		w.t.Fatalf("there are %d %s", len(found), what)
	}
	return found[0]
}

func (w *world) host() proc {
	w.t.Helper()
	return w.only("hosts", func(p proc) bool { _, ok := p.isHost(); return ok })
}

func (w *world) agent() proc {
	w.t.Helper()
	return w.only("agents", proc.isAgent)
}

// quiet checks that nothing of a session runs: neither host nor agent nor what
// an agent started. What the server has in hand itself may still run.
func (w *world) quiet(t *testing.T) {
	t.Helper()
	w.mu.Lock()
	s := w.server
	w.mu.Unlock()
	for _, p := range w.processes() {
		own := s != nil && (p.pid == s.cmd.Process.Pid || p.parent == s.cmd.Process.Pid)
		_, host := p.isHost()
		if host && p.ends() {
			continue // its session was over before it was
		}
		if host || !own || p.value("COPPICE_SESSION") != "" {
			t.Errorf("still running: %d %q", p.pid, p.argv)
		}
	}
}
