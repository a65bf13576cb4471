//go:build linux

package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"coppice/internal/clock"
	"coppice/test/testfile"
)

// Patience ends a test that hangs. Nothing is expected to take so long.
const Patience = 3 * time.Minute

// Machine is a home, a state, and at most one server.
type Machine struct {
	T       *testing.T
	Root    string // everything else is below it
	Home    string
	State   string
	Program string   // the coppice that Try and Serve run
	Extra   []string // further variables of the environment

	mu     sync.Mutex
	server *Server // nil while none runs
}

// Files are what a directory holds, by path.
type Files map[string]string

// New makes a machine whose processes end with the test.
func New(t *testing.T, program string) *Machine {
	t.Helper()
	root := testfile.Dir(t)
	m := &Machine{T: t, Root: root, Home: filepath.Join(root, "home"), State: filepath.Join(root, "state"), Program: program}
	for _, dir := range []string{m.Home, filepath.Join(root, "tmp")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(m.Close)
	return m
}

// Close ends every process of the machine, and logs what the server logged when
// the test failed.
func (m *Machine) Close() {
	m.mu.Lock()
	s := m.server
	m.server = nil
	m.mu.Unlock()
	if s != nil {
		s.Kill()
	}
	for {
		left := m.Processes()
		for _, p := range left {
			p.Kill()
		}
		if len(left) == 0 {
			break
		}
	}
	// A verifier's worktree is read-only, and could not be removed.
	_ = filepath.WalkDir(filepath.Join(m.State, "workspaces"), func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(p, 0o700)
		}
		return err
	})
	if b, err := os.ReadFile(m.log()); err == nil && m.T.Failed() {
		m.T.Logf("the server's log ends with:\n%s", b[max(0, len(b)-6000):])
	}
}

// log is the file that the server logs to.
func (m *Machine) log() string { return filepath.Join(m.Root, "serve.log") }

// Tick is the pause between two looks at something that reports nothing.
func Tick(ctx context.Context) error {
	return clock.Sleep(ctx, clock.Real(), 20*time.Millisecond)
}

// Env is the clean environment of everything that the machine starts. HOME is
// also how its processes are known.
func (m *Machine) Env() []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + m.Home, "TMPDIR=" + filepath.Join(m.Root, "tmp"), "COPPICE_STATE=" + m.State, "COPPICE_LISTEN=127.0.0.1:0", "LANG=C.UTF-8",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.org", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.org",
	}, m.Extra...)
}

// NewRepo makes a repository with one commit on main.
func (m *Machine) NewRepo(name string, has Files) string {
	m.T.Helper()
	dir := filepath.Join(m.Root, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		m.T.Fatal(err)
	}
	m.GitIn(dir, "init", "--quiet", "--initial-branch=main")
	m.GitIn(dir, "config", "user.name", "Ada")
	m.GitIn(dir, "config", "user.email", "ada@example.org")
	m.Write(dir, has)
	m.GitIn(dir, "add", "--all")
	m.GitIn(dir, "commit", "--quiet", "--message=Begin")
	return dir
}

// Write writes files below a directory.
func (m *Machine) Write(dir string, has Files) {
	m.T.Helper()
	testfile.WriteAll(m.T, dir, has)
}

// GitIn runs git in a directory; it has to succeed.
func (m *Machine) GitIn(dir string, args ...string) string {
	m.T.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, m.Env()
	out, err := cmd.Output()
	if err != nil {
		var x *exec.ExitError
		if errors.As(err, &x) {
			err = fmt.Errorf("%w: %s", err, x.Stderr)
		}
		m.T.Fatalf("git %s: %v", strings.Join(args, " "), err)
	}
	return strings.TrimRight(string(out), "\n")
}

// Gate makes a named pipe below Root: a script that reads it continues when the
// test opens it.
func (m *Machine) Gate(name string) (path string, open func()) {
	m.T.Helper()
	path = filepath.Join(m.Root, name)
	if err := unix.Mkfifo(path, 0o600); err != nil {
		m.T.Fatal(err)
	}
	return path, func() {
		m.T.Helper()
		if err := os.WriteFile(path, []byte("go\n"), 0o600); err != nil {
			m.T.Fatal(err)
		}
	}
}

// Result is how a command went.
type Result struct {
	Out, Err string
	Code     int
}

// Try runs the program in a directory.
func (m *Machine) Try(dir, stdin string, args ...string) Result {
	m.T.Helper()
	ctx, cancel := context.WithTimeout(m.T.Context(), Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, m.Program, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, m.Env(), strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var x *exec.ExitError
	if err != nil && !errors.As(err, &x) {
		m.T.Fatalf("coppice %s: %v", strings.Join(args, " "), err)
	}
	return Result{Out: out.String(), Err: errs.String(), Code: cmd.ProcessState.ExitCode()}
}

// Decode reads a value that a command printed as JSON.
func Decode[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("not JSON: %v\n%s", err, text)
	}
	return v
}
