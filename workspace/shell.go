package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"coppice"
	"coppice/internal/environ"
	"coppice/internal/process"
)

// maxLog is the maximum length of a command's output.
const maxLog = 256 << 10

// exitTimeout is the exit code of a command that took too long, as for timeout(1).
const exitTimeout = 124

// CommandEnv is the environment of the policy's commands: what every program in a
// workspace gets, what the project passes on, and more. The keys of agents are not
// part of it.
func (w *Workspaces) CommandEnv(project, more []string) []string {
	return slices.Concat(environ.Workspace.And(project).Pick(w.env), more, GitConfig(""))
}

// Env returns the variables that name its workspace to a process.
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

// GitConfig returns the variables that keep git from packing the repository after a
// commit, for processes in a workspace. Many workspaces share one repository, and a
// git that is killed while it packs leaves a lock that blocks all packing. The
// person's own git does that instead. Set is the value of GIT_CONFIG_COUNT that the
// environment has already.
func GitConfig(set string) []string {
	n, err := strconv.Atoi(set)
	if err != nil || n < 0 {
		n = 0
	}
	var env []string
	for _, kv := range [][2]string{{"gc.auto", "0"}, {"maintenance.auto", "false"}} {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, kv[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, kv[1]))
		n++
	}
	return append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(n))
}

// fromOutside lists the signals by which others end a process: the kernel if memory
// runs out, a person, a service manager, a shutdown. A command that ends by one of
// them was killed. A command that ends by another signal, such as SIGSEGV or
// SIGABRT, crashed, which is a result of the command.
//
// The shell may replace itself by the command's last program, or it may wait for
// that program and exit with 128 plus the signal's number. Of such exit codes only
// 137, for SIGKILL, means that the command was killed: no program uses 137 itself,
// but git exits with 129, and a crash gives 134 or 139.
var fromOutside = []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT}

// ran says how a command ended.
type ran struct {
	log    string
	exit   int    // 128 plus the signal's number if a signal ended it, as in a shell
	signal string // the name of the signal that killed it
	late   bool   // it took too long
}

// killedError is the error of a preparing command that was killed.
type killedError struct {
	command string
	ran     ran
}

func (e *killedError) Error() string { return e.Unwrap().Error() }

// Unwrap returns the failure for all callers except Check.
func (e *killedError) Unwrap() error {
	return coppice.Killed(e.command, e.ran.signal)
}

// shell runs a command that prepares something. It is an error if the command was
// killed or could not be started.
func shell(ctx context.Context, dir string, env []string, command string, timeout time.Duration) (log string, exit int, err error) {
	e, err := runShell(ctx, dir, env, command, timeout)
	if err == nil && e.signal != "" {
		err = &killedError{command, e}
	}
	return e.log, e.exit, err
}

// errLate ends a command that takes too long.
var errLate = errors.New("the command took too long")

// runShell runs a command of the policy, for at most timeout if that is set. An
// error means that it could not be started or ctx ended.
func runShell(ctx context.Context, dir string, env []string, command string, timeout time.Duration) (ran, error) {
	return runShellWith(ctx, dir, env, command, timeout, nil, maxLog)
}

// runShellWith is runShell with a standard input and a limit of the kept output.
func runShellWith(ctx context.Context, dir string, env []string, command string, timeout time.Duration, stdin io.Reader, most int) (ran, error) {
	limited, cancel := ctx, func() {}
	if timeout > 0 {
		limited, cancel = context.WithTimeoutCause(ctx, timeout, errLate)
	}
	defer cancel()
	text := &middleCut{most: most}
	out, ended := observed(ctx, text)
	state, err := process.Command{Argv: []string{"sh", "-c", command}, Dir: dir, Env: env, Stdin: stdin, Stdout: out, Stderr: out}.Run(limited)
	e := ran{log: text.String()}
	defer func() { ended(e) }()
	switch {
	case ctx.Err() != nil:
		e.exit = -1
		return e, context.Cause(ctx)
	case errors.Is(err, errLate):
		e.exit, e.late = exitTimeout, true
		e.note(fmt.Sprintf("stopped after %s, the time limit of a command", timeout))
	case err != nil:
		e.exit = -1
		return e, err
	case !state.Success():
		e.died(state.Sys().(syscall.WaitStatus))
	}
	return e, nil
}

// died stores how a failed command ended.
func (e *ran) died(st syscall.WaitStatus) {
	if !st.Signaled() {
		if e.exit = st.ExitStatus(); e.exit == 128+int(syscall.SIGKILL) {
			e.signal = unix.SignalName(syscall.SIGKILL)
		}
		return
	}
	sig := st.Signal()
	e.exit = 128 + int(sig)
	e.note(fmt.Sprintf("killed by signal %d (%s)", sig, sig))
	if slices.Contains(fromOutside, sig) {
		e.signal = unix.SignalName(sig)
	}
}

// note adds a line to the log.
func (e *ran) note(line string) {
	e.log = strings.TrimSuffix(e.log, "\n") + "\n" + line + "\n"
}

// middleCut keeps the beginning and the end of what is written to it.
type middleCut struct {
	most       int // bytes that are kept
	head, tail bytes.Buffer
	cut        int
}

func (m *middleCut) Write(p []byte) (int, error) {
	n := min(len(p), m.most/2-m.head.Len())
	m.head.Write(p[:n])
	m.tail.Write(p[n:])
	if over := m.tail.Len() - m.most; over > 0 {
		// The tail grows to twice its size before it is cut, so each byte moves once.
		drop := m.tail.Len() - m.most/2
		m.tail.Next(drop)
		m.cut += drop
	}
	return len(p), nil
}

func (m *middleCut) String() string {
	tail := m.tail.Bytes()
	cut := m.cut
	if over := len(tail) - m.most/2; over > 0 {
		tail = tail[over:]
		cut += over
	}
	s := m.head.String()
	if cut > 0 {
		s += fmt.Sprintf("\n[... %d bytes left out ...]\n", cut)
	}
	s += string(tail)
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return s
}
