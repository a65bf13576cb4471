//go:build linux

package e2e

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/unix"

	"coppice"
	"coppice/test/harness"
)

var (
	powerCuts = flag.Int("cuts", 50, "how many power cuts the server gets")
	restarts  = flag.Int("restarts", 25, "how often the server is stopped under load")
)

const cutPolicy = `base: main
agent: {use: scripted}
limits: {sessions: 6, memory: 100%}
retry: {max: 50, recoveries: 1000, backoff: 100ms}
`

// cutScript has tasks that each land different files: thirty new ones, a changed
// one and a deleted one.
const cutScript = `cases:
  - match: "Task app-(\\d+):"
    steps:
      - run: for i in $(seq 30); do echo "$1 $i" > parts/$1-$i; done; echo "$1" > mod/$1; rm -f del/$1
      - commit: Parts of $1
`

// storm is a world whose server is ended again and again while tasks land.
type storm struct {
	*world
	r      *rand.Rand
	keys   []string
	status string // of the user's checkout before
}

// newStorm makes a world with capacity for some tasks, and a user with work of
// every kind in files that no task touches.
func newStorm(t *testing.T, rounds int) *storm {
	t.Helper()
	s := *seed
	if s == 0 {
		s = 1
	}
	has := files{"coppice.yaml": cutPolicy, ".coppice/scripted.yaml": cutScript, "parts/none": "", "own/staged": "s\n", "own/changed": "c\n"}
	for i := range 3*rounds + first + 1 { // a round may need several
		has[fmt.Sprintf("mod/%d", i)], has[fmt.Sprintf("del/%d", i)] = "before\n", "before\n"
	}
	st := &storm{world: newWorld(t, has), r: rand.New(rand.NewPCG(s, s))}
	st.write(st.repo, files{"own/staged": "staged\n"})
	st.git("add", "own/staged")
	st.write(st.repo, files{"own/changed": "changed\n", "own/untracked": "untracked\n"})
	st.status = st.git("status", "--porcelain=v2", "--untracked-files=all")
	t.Logf("seed %d: go test ./test/e2e -run %s -seed %d", s, t.Name(), s)
	return st
}

// first is how many tasks there are before the first round; each round adds one.
const first = 8

func (s *storm) add(n int) {
	s.t.Helper()
	var tasks []coppice.NewTask
	for i := range n {
		tasks = append(tasks, coppice.NewTask{Title: fmt.Sprintf("Part %d", len(s.keys)+i)})
	}
	s.keys = append(s.keys, s.create(tasks...)...)
}

// round serves until the n-th time that something changes in the user's
// repository, and ends the server there. When all tasks have landed before, it
// adds another one.
func (s *storm) round(n, tasks int, end func(*server)) {
	s.t.Helper()
	watch, err := fsnotify.NewWatcher()
	if err != nil {
		s.t.Fatal(err)
	}
	defer watch.Close()
	for _, dir := range []string{".", "parts", "mod", "del", ".git", ".git/refs/heads"} {
		if err := watch.Add(filepath.Join(s.repo, dir)); err != nil && !os.IsNotExist(err) {
			s.t.Fatal(err)
		}
	}
	server := s.serve()
	s.add(tasks)
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	for n > 0 {
		select {
		case <-watch.Events:
			n--
		case err := <-watch.Errors:
			s.t.Fatal(err)
		case <-server.Done:
			s.t.Fatal("the server ended by itself")
		case <-time.After(time.Second):
			if s.stuck() == "" {
				s.add(1)
			}
		case <-ctx.Done():
			s.t.Fatalf("nothing lands any more; %s", s.stuck())
		}
	}
	end(server)
}

// stuck is the story of the first task that has not landed, "" when all have.
func (s *storm) stuck() string {
	for _, key := range s.keys {
		if d := s.task(key); d.Landed == "" {
			return fmt.Sprintf("%s is %s (%s)\n%s", key, d.Status, d.Reason, s.story(key))
		}
	}
	return ""
}

// cut ends the server and every git process that it started at the same moment,
// as a power cut does. Sessions continue: they are not the server's.
func (s *server) cut(t *testing.T) {
	t.Helper()
	pid := s.Cmd.Process.Pid
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil { // it must not see them end
		t.Fatal(err)
	}
	var ended []int
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, name := range lists {
		b, _ := os.ReadFile(name)
		for _, f := range strings.Fields(string(b)) {
			child, err := strconv.Atoi(f)
			if err != nil {
				t.Fatal(err)
			}
			comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", child))
			if !strings.HasPrefix(string(comm), "git") {
				continue
			}
			if fd, err := unix.PidfdOpen(child, 0); err == nil {
				ended = append(ended, fd)
				_ = syscall.Kill(-child, syscall.SIGKILL) // git leads a separate group
			}
		}
	}
	s.Kill()
	for _, fd := range ended {
		harness.WaitExit(fd)
		_ = unix.Close(fd)
	}
}

// settle lets all tasks land and checks what is left.
func (s *storm) settle() {
	s.t.Helper()
	server := s.serve()
	s.landed(s.keys...)
	s.allCleaned(s.keys)
	if code := server.Stop(s.t); code != 0 {
		s.t.Errorf("the server ended with %d", code)
	}
	counts := map[string]int{}
	for _, key := range strings.Fields(s.git("log", "--format=%(trailers:key=Coppice-Task,valueonly)", "main")) {
		counts[key]++
	}
	for _, key := range s.keys {
		if counts[key] != 1 {
			s.t.Errorf("%s landed %d times", key, counts[key])
		}
	}
	if got := s.git("status", "--porcelain=v2", "--untracked-files=all"); got != s.status {
		s.t.Errorf("git status is\n%s\nbut was\n%s", got, s.status)
	}
	for name, want := range map[string]string{"own/staged": "staged\n", "own/changed": "changed\n", "own/untracked": "untracked\n"} {
		if b, err := os.ReadFile(filepath.Join(s.repo, name)); err != nil || string(b) != want {
			s.t.Errorf("%s is %q: %v", name, b, err)
		}
	}
	if out := s.git("fsck", "--strict", "--no-dangling", "--no-progress"); out != "" {
		s.t.Errorf("git fsck: %s", out)
	}
	s.noLocks(filepath.Join(s.repo, ".git"))
	s.noLocks(filepath.Join(s.State, "workspaces"))
}

// noLocks checks that no lock of git is left below a directory. Coppice's own
// lock files stay, but none is in a directory of git.
func (s *storm) noLocks(root string) {
	s.t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".lock") {
			return err
		}
		for dir := filepath.Dir(path); strings.HasPrefix(dir, root); dir = filepath.Dir(dir) {
			if _, err := os.Stat(filepath.Join(dir, "HEAD")); err == nil {
				s.t.Errorf("a lock is left: %s", path)
				break
			}
		}
		return nil
	})
	if err != nil {
		s.t.Error(err)
	}
}

// TestPowerCuts ends the server together with its git processes while tasks
// land. Everything lands in the end, and the user's work is as it was.
func TestPowerCuts(t *testing.T) {
	t.Parallel()
	underLoad(t, *powerCuts, "power cuts", func(_ *storm, _ int, server *server) { server.cut(t) })
}

// underLoad ends the server again and again while tasks land. Everything lands in
// the end, and the user's work is as it was.
func underLoad(t *testing.T, times int, what string, end func(s *storm, i int, server *server)) {
	t.Helper()
	s := newStorm(t, times)
	began := time.Now()
	for i := range times {
		tasks := 1
		if i == 0 {
			tasks = first
		}
		s.round(1+s.r.IntN(60), tasks, func(server *server) { end(s, i, server) })
	}
	t.Logf("%d %s took %v", times, what, time.Since(began).Round(time.Millisecond))
	s.settle()
}

// TestStopsUnderLoad stops the server as people and machines do while tasks
// land, sometimes twice in a row. It ends in order each time, and everything
// lands in the end.
func TestStopsUnderLoad(t *testing.T) {
	t.Parallel()
	underLoad(t, *restarts, "stops", func(s *storm, i int, server *server) {
		signal := []syscall.Signal{syscall.SIGTERM, syscall.SIGINT}[s.r.IntN(2)]
		twice := s.r.IntN(4) == 0
		if err := server.Cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		if twice {
			_ = server.Cmd.Process.Signal(signal) // it may have ended
		}
		select {
		case <-server.Done:
		case <-time.After(patience):
			t.Fatal("the server does not stop")
		}
		if code := server.Cmd.ProcessState.ExitCode(); code != 0 && !twice {
			t.Errorf("stop %d by %s: the server ended with %d", i, signal, code)
		}
	})
}
