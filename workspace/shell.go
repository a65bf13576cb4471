package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"
)

// maxLog bounds the output that is kept of a command.
const maxLog = 256 << 10

// exitTimeout is the exit code of a command that was stopped for its age, as
// timeout(1) has it.
const exitTimeout = 124

// allowed names the variables that setup and check commands get from outside.
var allowed = []string{
	"PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "USER", "LOGNAME", "SHELL", "TERM", "XDG_CACHE_HOME", "XDG_CONFIG_HOME",
	"XDG_DATA_HOME", "XDG_RUNTIME_DIR", "GOPATH", "GOCACHE", "GOMODCACHE", "GOPROXY", "GOFLAGS", "GOTOOLCHAIN", "CARGO_HOME", "RUSTUP_HOME", "JAVA_HOME",
	"NVM_DIR", "PYENV_ROOT", "VIRTUAL_ENV", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR",
	"NODE_EXTRA_CA_CERTS", "CI", "DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY", "COMPOSE_PROJECT_NAME",
}

func (w *Workspaces) cleanEnv(more []string) []string {
	var env []string
	for _, kv := range w.env {
		name, _, _ := strings.Cut(kv, "=")
		for _, a := range allowed {
			if name == a {
				env = append(env, kv)
			}
		}
	}
	return append(append(env, more...), GitConfig("")...)
}

// GitConfig returns the variables that keep git from tidying up the repository
// behind a commit, for processes in a workspace. Many workspaces share one
// repository, and a git that is killed while it tidies up leaves a lock that
// ends all tidying for good; that is for the person's own git to do. set is how
// many such settings the environment has already, as GIT_CONFIG_COUNT tells.
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

// CommandEnv is the environment of the policy's commands: what is allowed of our
// own, and more.
func (w *Workspaces) CommandEnv(more []string) []string { return w.cleanEnv(more) }

// shell runs a command a person wrote into the policy. It gets a process group
// of its own, which does not outlive it, and no more time than timeout when
// that is set. An error means that it could not be run or ctx ended.
func shell(ctx context.Context, dir string, env []string, command string, timeout time.Duration) (log string, exit int, err error) {
	in, out, err := os.Pipe()
	if err != nil {
		return "", -1, err
	}
	defer in.Close()
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		out.Close()
		return "", -1, err
	}
	out.Close()
	group := -cmd.Process.Pid
	text := &middleCut{}
	read, ended := make(chan struct{}), make(chan error, 1)
	go func() { defer close(read); _, _ = text.ReadFrom(in) }()
	go func() { ended <- cmd.Wait() }()
	var over <-chan time.Time
	if timeout > 0 {
		t := time.NewTimer(timeout)
		defer t.Stop()
		over = t.C
	}
	late := false
	select {
	case err = <-ended:
	case <-over:
		late = true
		_ = syscall.Kill(group, syscall.SIGKILL)
		err = <-ended
	case <-ctx.Done():
		_ = syscall.Kill(group, syscall.SIGKILL)
		<-ended
		err = context.Cause(ctx)
	}
	_ = syscall.Kill(group, syscall.SIGKILL) // what it left behind
	// A child that left the group may hold the pipe open; what it writes is of
	// no interest any more.
	_ = in.SetReadDeadline(time.Now().Add(time.Second))
	<-read
	log = text.String()
	var ee *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return log, -1, context.Cause(ctx)
	case late:
		return fmt.Sprintf("%s\nstopped after %s, the time a command may take\n", strings.TrimSuffix(log, "\n"), timeout), exitTimeout, nil
	case errors.As(err, &ee) && ee.ExitCode() < 0:
		sig := ee.Sys().(syscall.WaitStatus).Signal()
		return fmt.Sprintf("%s\nkilled by signal %d (%s)\n", strings.TrimSuffix(log, "\n"), sig, sig), 128 + int(sig), nil
	case errors.As(err, &ee):
		return log, ee.ExitCode(), nil
	}
	return log, 0, err
}

// middleCut keeps the beginning and the end of what is written to it.
type middleCut struct {
	head, tail bytes.Buffer
	cut        int
}

// ReadFrom reads all of r.
func (m *middleCut) ReadFrom(r *os.File) (int64, error) {
	buf := make([]byte, 32<<10)
	var total int64
	for {
		n, err := r.Read(buf)
		total += int64(n)
		m.add(buf[:n])
		if err != nil {
			return total, err
		}
	}
}

func (m *middleCut) add(p []byte) {
	n := min(len(p), maxLog/2-m.head.Len())
	m.head.Write(p[:n])
	m.tail.Write(p[n:])
	if over := m.tail.Len() - maxLog; over > 0 {
		// Let the tail grow to twice its size before it is cut: each byte moves once.
		drop := m.tail.Len() - maxLog/2
		m.tail.Next(drop)
		m.cut += drop
	}
}

func (m *middleCut) String() string {
	tail := m.tail.Bytes()
	cut := m.cut
	if over := len(tail) - maxLog/2; over > 0 {
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
