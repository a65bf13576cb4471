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
	"coppice/internal/process"
)

// started is an agent's process and our ends of its output pipes.
type started struct {
	cmd            *exec.Cmd
	stdout, stderr *os.File
}

// startAgent starts the agent as its protocol says: without a shell, in a
// process group of its own, inside the session's cgroup from its first
// instruction on.
func (h *host) startAgent(p agent.Protocol) (*started, *coppice.Failure) {
	if p == nil {
		return nil, coppice.Failf(coppice.ClassCapability,
			fmt.Sprintf("there is no protocol %q", h.spec.Protocol), "name another protocol in the agent's profile")
	}
	launch, driver, err := prepare(p, h.spec)
	if err != nil {
		var f *coppice.Failure
		if errors.As(err, &f) {
			return nil, f
		}
		return nil, coppice.Failf(coppice.ClassCapability, err.Error(), "")
	}
	env := maps.Clone(h.spec.Env)
	if env == nil {
		env = map[string]string{}
	}
	maps.Copy(env, launch.Env)
	env["PWD"] = h.spec.Request.Dir
	env[process.SessionVar] = h.spec.Session
	env[process.MarkVar] = h.state.Mark
	if info, err := os.Stat(h.spec.Request.Dir); err != nil || !info.IsDir() {
		return nil, coppice.Failf(coppice.ClassEnvironment,
			fmt.Sprintf("the workspace %s is not there", h.spec.Request.Dir), "")
	}
	path, err := lookPath(launch.Argv[0], h.spec.Request.Dir, env["PATH"])
	if err != nil {
		return nil, coppice.Failf(coppice.ClassCapability,
			fmt.Sprintf("the agent's program %s cannot be run: %v", launch.Argv[0], err), h.spec.Profile.Install)
	}
	a, err := h.exec(path, launch.Argv, env)
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
	if err := writeJSON(h.path(stateFile), h.state); err != nil {
		// The first state tells enough to find the agent.
		h.log.Warn("state not written", "error", err)
	}
	return a, nil
}

// prepare asks the protocol. Its faults are the session's, not the host's.
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

// exec starts the process with pipes on all three standard streams.
func (h *host) exec(path string, argv []string, env map[string]string) (a *started, err error) {
	var theirs, ours []*os.File
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
		if err != nil {
			for _, f := range ours {
				f.Close()
			}
		}
	}()
	for i := range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		if i == 0 {
			r, w = w, r // we write to the first and read from the others
		}
		ours, theirs = append(ours, r), append(theirs, w)
	}
	command := func(attr *syscall.SysProcAttr) *exec.Cmd {
		cmd := &exec.Cmd{Path: path, Args: argv, Dir: h.spec.Request.Dir, SysProcAttr: attr}
		for _, k := range slices.Sorted(maps.Keys(env)) {
			cmd.Env = append(cmd.Env, k+"="+env[k])
		}
		cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs[0], theirs[1], theirs[2]
		return cmd
	}
	attr := &syscall.SysProcAttr{Setpgid: true}
	if h.cgroup != nil {
		h.cgroup.Place(attr)
	}
	cmd := command(attr)
	err = cmd.Start()
	if err != nil && h.cgroup != nil {
		// The kernel may refuse the cgroup for reasons of its own; the agent
		// runs without one rather than not at all.
		h.log.Warn("agent not started in its cgroup", "error", err)
		cmd = command(&syscall.SysProcAttr{Setpgid: true})
		err = cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	h.stdin = newStdin(ours[0])
	return &started{cmd: cmd, stdout: ours[1], stderr: ours[2]}, nil
}

// lookPath finds a program as the agent's own environment would: ours has
// another PATH.
func lookPath(name, dir, path string) (string, error) {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return name, runnable(name)
	}
	for _, d := range filepath.SplitList(path) {
		if !filepath.IsAbs(d) {
			continue // a program must not come from wherever we happen to be
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
