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

// Patience is how long agents may take to tell their version and login. The
// slowest known takes 1 to 3 seconds, and they are asked all at once, so callers
// bound the context that they ask with by it.
const Patience = 8 * time.Second

// Find looks for an agent's program in the directories of env's PATH, and asks
// it for its version. An agent that is not installed is an error that tells how
// to install it; one that does not tell its version while ctx lasts has "".
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

// Installed tells whether an agent's program is there, and how to install it
// when it is not.
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
