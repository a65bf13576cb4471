package host

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"coppice"
	"coppice/agent"
	"coppice/internal/environ"
	"coppice/internal/process"
)

// started is an agent's process and the host's ends of its output pipes. A
// terminal has no stderr.
type started struct {
	cmd            *exec.Cmd
	stdout, stderr *os.File
	control        *os.File // the messages of tmux
}

func (a *started) outputs() []*os.File {
	return slices.DeleteFunc([]*os.File{a.stdout, a.stderr, a.control}, func(f *os.File) bool { return f == nil })
}

// startAgent starts the agent as its protocol says: without a shell, in a
// separate process group, inside the session's cgroup from its first
// instruction.
func (h *host) startAgent(p agent.Protocol) (*started, *coppice.Failure) {
	if p == nil {
		return nil, coppice.Failf(coppice.ClassCapability,
			fmt.Sprintf("there is no protocol %q", h.spec.Protocol), "name another protocol in the agent's profile")
	}
	if err := h.setupLaunch(p); err != nil {
		return nil, coppice.Failf(coppice.ClassEnvironment, err.Error(), "")
	}
	if err := h.showImages(p); err != nil {
		return nil, coppice.Failf(coppice.ClassEnvironment, err.Error(), "")
	}
	launch, driver, err := prepare(p, h.spec)
	h.spec.Request.Images = nil // the driver has them
	if err != nil {
		var f *coppice.Failure
		if errors.As(err, &f) {
			return nil, f
		}
		return nil, coppice.Failf(coppice.ClassCapability, err.Error(), "")
	}
	if err := h.writeFiles(launch.Files); err != nil {
		return nil, coppice.Failf(coppice.ClassEnvironment, err.Error(), "")
	}
	env := maps.Clone(h.spec.Env)
	if env == nil {
		env = map[string]string{}
	}
	maps.Copy(env, launch.Env)
	h.endpoint.addEnv(env)
	if info, err := os.Stat(h.spec.Request.Dir); err != nil || !info.IsDir() {
		return nil, coppice.Failf(coppice.ClassEnvironment,
			fmt.Sprintf("the workspace %s does not exist", h.spec.Request.Dir), "")
	}
	path, err := lookPath(launch.Argv[0], h.spec.Request.Dir, env["PATH"])
	if err != nil {
		return nil, coppice.Failf(coppice.ClassCapability,
			fmt.Sprintf("the agent's program %s cannot be run: %v", launch.Argv[0], err), h.spec.Profile.Install)
	}
	argv := launch.Argv
	if failure := h.setupScreen(launch.Screen, &path, &argv, env); failure != nil {
		return nil, failure
	}
	a, err := h.exec(path, argv, env)
	if err != nil {
		f := coppice.Failf(coppice.ClassEnvironment, fmt.Sprintf("the agent's program could not be started: %v", err), "")
		if errors.Is(err, syscall.ENOEXEC) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
			f.Class, f.Fix = coppice.ClassCapability, h.spec.Profile.Install
		}
		return nil, f
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.driver = driver
	h.state.AgentPID = a.cmd.Process.Pid
	if err := keepJSON(h.path(stateFile), h.state); err != nil {
		// The first state is enough to find the agent.
		h.log.Warn("state not written", "error", err)
	}
	return a, nil
}

// prepare asks the protocol how to start the agent. A panic fails the session,
// not the host.
func prepare(p agent.Protocol, spec Spec) (l agent.Launch, d agent.Driver, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the %s protocol failed: %v", spec.Protocol, r)
		}
	}()
	if l, err = p.Launch(spec.Profile, spec.Request); err != nil {
		return l, nil, err
	}
	if len(l.Argv) == 0 || l.Argv[0] == "" {
		return l, nil, errors.New("the agent's profile names no command")
	}
	return l, p.Driver(spec.Profile, spec.Request), nil
}

// setupScreen prepares the terminal that the launch asks for. For tmux, the host
// starts tmux, which starts the agent.
func (h *host) setupScreen(screen coppice.ScreenProfile, path *string, argv *[]string, env map[string]string) *coppice.Failure {
	runtime, err := validRuntime(screen)
	if err != nil {
		e := coppice.Public(err)
		return coppice.Failf(coppice.ClassCapability, e.Cause, e.Fix)
	}
	h.mu.Lock()
	h.term = newTerminal(runtime)
	h.mu.Unlock()
	if runtime == RuntimePipe {
		return nil
	}
	env["TERM"] = "xterm-256color" // not that of our environment
	if runtime == RuntimePty {
		return nil
	}
	program, err := lookPath("tmux", h.spec.Request.Dir, env["PATH"])
	if err != nil {
		return coppice.Failf(coppice.ClassCapability, fmt.Sprintf("the agent's screen needs tmux, which cannot be run: %v", err),
			"install tmux, or write runtime: pty in the agent's profile")
	}
	if *argv, err = h.tmuxArgv(*path, *argv); err != nil {
		return coppice.Failf(coppice.ClassEnvironment, fmt.Sprintf("tmux cannot be prepared: %v", err), "")
	}
	*path = program
	env[execVar] = h.state.Mark
	h.tmux = &tmux{h: h, exitMark: exitScanner{begins: exitMarkPrefix(h.state.Mark)}}
	h.term.resize = h.resizeTmux
	return nil
}

// readsScreen reports whether the agent's driver reads a screen.
func (h *host) readsScreen() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.term.screen != nil && hasScreen(h.driver)
}

// streams has both sides of an agent's stdin, stdout and stderr, in this order.
// On a terminal all three are the same.
type streams struct{ ours, theirs [3]*os.File }

func (s *streams) close(side [3]*os.File) {
	for i, f := range side {
		if f != nil && (i == 0 || f != side[0]) {
			f.Close()
		}
	}
}

func (h *host) openStreams() (s streams, err error) {
	if h.term.runtime == RuntimePty {
		ours, theirs, err := h.openPty()
		return streams{[3]*os.File{ours, ours, nil}, [3]*os.File{theirs, theirs, theirs}}, err
	}
	for i := range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			s.close(s.ours)
			s.close(s.theirs)
			return streams{}, err
		}
		if i == 0 {
			r, w = w, r // we write to the first and read from the others
		}
		s.ours[i], s.theirs[i] = r, w
	}
	return s, nil
}

// command is a program that runs for the session: in the workspace, inside the
// session's cgroup, with the session's mark.
func (h *host) command(what string, argv []string, env map[string]string) process.Command {
	env["PWD"] = h.spec.Request.Dir
	env[process.SessionVar] = h.spec.Session
	env[process.MarkVar] = h.state.Mark
	return process.Command{
		Argv: argv, Dir: h.spec.Request.Dir, Env: environ.List(env), Cgroup: h.cgroup,
		Unlimited: func(err error) { h.log.Warn(what+" not started in the session's cgroup", "error", err) },
	}
}

// exec starts the process with pipes, or a terminal, on all three standard
// streams.
func (h *host) exec(path string, argv []string, env map[string]string) (*started, error) {
	s, err := h.openStreams()
	if err != nil {
		return nil, err
	}
	defer s.close(s.theirs)
	var output *os.File
	if h.tmux != nil {
		if output, h.tmux.hold, err = h.openPipe(); err != nil {
			s.close(s.ours)
			return nil, err
		}
	}
	c := h.command("agent", argv, env)
	c.Path, c.Terminal = path, h.term.runtime == RuntimePty
	c.Stdin, c.Stdout, c.Stderr = s.theirs[0], s.theirs[1], s.theirs[2]
	if h.tmux != nil {
		c.Dir = h.dir // where its socket is
	}
	cmd, err := c.Start()
	if err != nil {
		s.close(s.ours)
		return nil, err
	}
	h.stdin = newStdin(s.ours[0])
	switch h.term.runtime {
	case RuntimePty:
		h.stdin.end, h.stdin.shared = []byte{endOfFile}, true
	case RuntimeTmux:
		h.stdin.end, h.stdin.encode = typeCommands([]byte{endOfFile}), typeCommands
	}
	if h.tmux == nil {
		return &started{cmd: cmd, stdout: s.ours[1], stderr: s.ours[2]}, nil
	}
	return &started{cmd: cmd, stdout: output, stderr: s.ours[2], control: s.ours[1]}, nil
}

// lookPath finds a program in the PATH of the agent's environment, which differs
// from ours.
func lookPath(name, dir, path string) (string, error) {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return name, runnable(name)
	}
	for _, d := range filepath.SplitList(path) {
		if !filepath.IsAbs(d) {
			continue // a relative entry would depend on our working directory
		}
		if p := filepath.Join(d, name); runnable(p) == nil {
			return p, nil
		}
	}
	return "", errors.New("it is not installed, or not in PATH")
}

func runnable(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("it is not installed")
	case err != nil:
		return err
	case info.IsDir() || info.Mode()&0o111 == 0:
		return fs.ErrPermission
	}
	return nil
}
