package profiles

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"coppice"
	"coppice/internal/environ"
	"coppice/internal/process"
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
	var out bytes.Buffer
	if state, err := probe(ctx, p.Version, p, env, &out); err != nil || !state.Success() {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(out.String()), "\n")
	return line
}

// probe runs a command that asks an agent something about itself. The command has
// no stdin, and the variables that the profile sets.
func probe(ctx context.Context, argv []string, p coppice.Profile, env []string, out io.Writer) (*os.ProcessState, error) {
	if len(argv) == 0 {
		return nil, exec.ErrNotFound
	}
	program, err := environ.LookPath(argv[0], env)
	if err != nil {
		return nil, err
	}
	// It does not run in a repository, whose settings it might load.
	return process.Command{Argv: argv, Path: program, Dir: os.TempDir(), Env: slices.Concat(env, environ.List(p.Env)), Stdout: out}.Run(ctx)
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
