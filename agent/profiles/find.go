package profiles

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"coppice"
	"coppice/internal/environ"
)

// Patience is how long agents can take to report their version and login. The
// slowest known takes 1 to 3 seconds, and they run in parallel, so callers use
// it as the timeout of their context.
const Patience = 8 * time.Second

// Find searches for an agent's program in the PATH of env, and asks it for its
// version. An agent that is not installed is an error that says how to install
// it. An agent that does not report its version before ctx ends has "".
func Find(ctx context.Context, name string, p coppice.Profile, env []string) (path, version string, err error) {
	if err := Installed(name, p, env); err != nil {
		return "", "", err
	}
	if path, err = environ.LookPath(p.Command[0], env); err != nil {
		return "", "", err
	}
	return path, askVersion(ctx, p, env), nil
}

func askVersion(ctx context.Context, p coppice.Profile, env []string) string {
	cmd, err := probe(ctx, p.Version, p, env)
	if err != nil {
		return ""
	}
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return line
}

// probe makes a command that asks an agent about itself. It has no stdin, gets
// the variables of the profile, and ends with the context.
func probe(ctx context.Context, argv []string, p coppice.Profile, env []string) (*exec.Cmd, error) {
	if len(argv) == 0 {
		return nil, exec.ErrNotFound
	}
	program, err := environ.LookPath(argv[0], env)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, argv[1:]...)
	cmd.Env = slices.Clone(env)
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		cmd.Env = append(cmd.Env, name+"="+p.Env[name])
	}
	cmd.Dir = os.TempDir() // not in a repository, whose settings it might load
	cmd.WaitDelay = time.Second
	// Many agents are scripts that start the real program: all of them end.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd, nil
}

// Installed returns an error that says how to install an agent, if its program
// is missing.
func Installed(name string, p coppice.Profile, env []string) error {
	_, err := environ.LookPath(p.Command[0], env)
	if err == nil {
		return nil
	}
	e := coppice.Errorf(coppice.EUnavailable, "the agent %s is not installed: there is no program %s in the PATH", name, coppice.Quote(p.Command[0]))
	e.Err = err
	if p.Install != "" {
		return e.WithFix("install it with: %s", p.Install)
	}
	return e.WithFix("install it, or name another program under agents.%s.command in coppice.yaml", name)
}
