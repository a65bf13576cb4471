// Package git runs git. No other package does.
//
// No call goes through a shell. Stdout and stderr are separate. The environment is
// a fixed list. When the context ends, the process group gets SIGTERM and later
// SIGKILL. Callers that write to the person's repository pass a context that does
// not end.
//
// The repository's configuration and attributes are not trusted: an agent in a
// linked worktree can write both. Hooks, the file system monitor, external diff
// programs, text conversions, merge drivers, signing programs, pagers, editors
// and the ext transport are off, as are replaced objects. Filters, credential
// helpers and the ssh command count only as the person's global configuration
// defines them, which is outside of every workspace. One gap remains: the overrides
// are computed just before each call, so a process that rewrites .git/config within
// these milliseconds can still run its own filter. Only a sandbox that makes .git
// read-only closes it.
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"coppice/internal/environ"
)

// Config says how git is run. The zero value is usable.
type Config struct {
	Program string   // git's path; looked up in PATH if empty
	Env     []string // of which git gets a part; that of the process if nil
}

// Runner runs git. It is safe for concurrent use.
type Runner struct {
	program string
	env     []string // without a global configuration
	userEnv []string // with the person's
	memory  *memory
	// attributes are the files of attributes that hold for all repositories.
	attributes []string
	trust      func(dir string) ([]Setting, bool, string)
}

// passed are the variables that git gets. HOME is necessary for ssh and for the
// person's ignore file, SSH_AUTH_SOCK for pushing.
var passed = environ.Allowed{"PATH", "HOME", "TMPDIR", "USER", "LOGNAME", "SSH_AUTH_SOCK", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"}

// New returns a Runner.
func New(c Config) (*Runner, error) {
	env := c.Env
	if env == nil {
		env = os.Environ()
	}
	program := c.Program
	if program == "" {
		p, err := exec.LookPath("git")
		if err != nil {
			return nil, fmt.Errorf("git is not installed: %w", err)
		}
		program = p
	}
	base := []string{
		"LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GIT_OPTIONAL_LOCKS=0", "GIT_EDITOR=false", "GIT_SEQUENCE_EDITOR=false",
		"GIT_PAGER=cat", "GIT_MERGE_AUTOEDIT=no", "GIT_CONFIG_NOSYSTEM=1", "GIT_ADVICE=0",
		"GIT_NO_REPLACE_OBJECTS=1", // an agent could make a commit look like another one
	}
	base = append(base, passed.Pick(env)...)
	r := &Runner{program: program}
	r.env = append(base[:len(base):len(base)], "GIT_CONFIG_GLOBAL=/dev/null")
	r.userEnv = base[:len(base):len(base)]
	if global := environ.Get(env, "GIT_CONFIG_GLOBAL"); global != "" {
		r.userEnv = append(r.userEnv, "GIT_CONFIG_GLOBAL="+global)
	}
	r.memory = newMemory(r.userEnv)
	r.attributes = attributeFiles(program, userConfig(r.userEnv))
	return r, nil
}

// Call is one run of git.
type Call struct {
	Dir     string
	Args    []string
	Env     []string // added to the fixed environment
	Config  []string // key=value pairs that override every configuration
	Stdin   []byte
	Reader  *os.File  // stdin, instead of Stdin
	Writer  io.Writer // gets stdout, which is then not returned
	Guard   string    // whose configuration is guarded against, if it is not that of Dir
	Network bool      // the person's own global configuration is read: credentials, proxies, rewritten addresses
	Limit   int       // bytes of stdout kept; 0 keeps all
	OK      []int     // exit codes besides 0 that are not an error
}

// killAfter is how long git can take to exit after SIGTERM.
const killAfter = 10 * time.Second

// Error says how a run of git failed.
type Error struct {
	Args   []string
	Exit   int // 128 plus the signal if it crashed, -1 if it was killed or did not start
	Stdout string
	Stderr string
	Err    error
}

// Error returns the command and git's message.
func (e *Error) Error() string {
	said := strings.TrimSpace(e.Stderr)
	if said == "" && e.Err != nil {
		said = e.Err.Error()
	}
	return fmt.Sprintf("git %s: %s", strings.Join(e.Args, " "), said)
}

// Unwrap returns the cause, which is that of the context if it ended.
func (e *Error) Unwrap() error { return e.Err }

// Exit returns the exit code of git within err, or -1.
func Exit(err error) int {
	var e *Error
	if errors.As(err, &e) {
		return e.Exit
	}
	return -1
}

// Run runs git in dir and returns its output without the last line break.
func (r *Runner) Run(ctx context.Context, dir string, args ...string) (string, error) {
	out, err := r.Do(ctx, Call{Dir: dir, Args: args})
	return strings.TrimSuffix(out, "\n"), err
}

// Do runs one call and returns its output as it is.
func (r *Runner) Do(ctx context.Context, c Call) (string, error) {
	out, _, err := r.Status(ctx, c)
	return out, err
}

// Status is Do for callers that need the exit code.
func (r *Runner) Status(ctx context.Context, c Call) (out string, exit int, err error) {
	config := append(fixed(), c.Config...)
	if len(c.Args) > 0 && guarded[c.Args[0]] {
		dir := c.Dir
		if c.Guard != "" {
			dir = c.Guard
		}
		more, err := r.guard(ctx, dir, c.Guard != "")
		if err != nil {
			return "", -1, err
		}
		config = append(config, more...)
	}
	return r.exec(ctx, c, config)
}

func (r *Runner) exec(ctx context.Context, c Call, config []string) (string, int, error) {
	if err := context.Cause(ctx); err != nil {
		return "", -1, &Error{Args: c.Args, Exit: -1, Err: err}
	}
	cmd := exec.CommandContext(ctx, r.program, c.Args...)
	cmd.Dir = c.Dir
	cmd.Env = append([]string(nil), r.env...)
	if c.Network {
		cmd.Env = append([]string(nil), r.userEnv...)
	}
	cmd.Env = append(cmd.Env, configEnv(config)...)
	cmd.Env = append(cmd.Env, c.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// Git removes its locks and temporary files after SIGTERM. If it does not exit,
	// it is killed with all that it started.
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = killAfter
	if c.Stdin != nil {
		cmd.Stdin = bytes.NewReader(c.Stdin)
	}
	if c.Reader != nil {
		cmd.Stdin = c.Reader
	}
	stdout, stderr := &capped{limit: c.Limit}, &capped{limit: 64 << 10}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if c.Writer != nil {
		cmd.Stdout = c.Writer
	}
	err := cmd.Run()
	if ctx.Err() != nil && cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // the processes that it left
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return "", -1, &Error{Args: c.Args, Exit: -1, Stderr: stderr.String(), Err: cause}
	}
	if err == nil {
		return stdout.String(), 0, nil
	}
	exit := -1
	var ee *exec.ExitError
	if errors.As(err, &ee) {
		exit = ee.ExitCode()
		// Git crashes by itself when it reads what it never writes, such as an index with
		// an unknown mode. That is an answer about the repository, like an exit code.
		if st, ok := ee.Sys().(syscall.WaitStatus); ok && (st.Signal() == syscall.SIGABRT || st.Signal() == syscall.SIGSEGV) {
			exit = 128 + int(st.Signal())
		}
	}
	for _, ok := range c.OK {
		if exit == ok {
			return stdout.String(), exit, nil
		}
	}
	return stdout.String(), exit, &Error{Args: c.Args, Exit: exit, Stdout: stdout.String(), Stderr: stderr.String(), Err: err}
}

// capped keeps the first bytes that are written to it and discards the rest, so that
// much output neither fills memory nor blocks the writer.
type capped struct {
	buf   bytes.Buffer
	limit int
}

func (c *capped) Write(p []byte) (int, error) {
	n := len(p)
	if c.limit > 0 {
		p = p[:min(len(p), c.limit-c.buf.Len())]
	}
	c.buf.Write(p)
	return n, nil
}

// buffers are used to read output.
var buffers = sync.Pool{New: func() any { return new([16 << 10]byte) }}

// ReadFrom copies a pipe into it.
func (c *capped) ReadFrom(r io.Reader) (int64, error) {
	b := buffers.Get().(*[16 << 10]byte)
	defer buffers.Put(b)
	var all int64
	for {
		n, err := r.Read(b[:])
		all += int64(n)
		_, _ = c.Write(b[:n])
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
	}
}

func (c *capped) String() string { return c.buf.String() }
