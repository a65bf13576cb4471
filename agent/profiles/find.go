package profiles

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"coppice"
)

// versionTimeout bounds how long an agent may take to tell its version. The
// slowest known takes 1 to 3 seconds, and they are asked all at once.
const versionTimeout = 8 * time.Second

// Find looks for an agent's program in the directories of env's PATH, and asks
// it for its version. An agent that is not installed is an error that tells how
// to install it; one that does not tell its version has "".
func Find(ctx context.Context, name string, p coppice.Profile, env []string) (path, version string, err error) {
	if err := Installed(name, p, env); err != nil {
		return "", "", err
	}
	if path, err = LookPath(p.Command[0], env); err != nil {
		return "", "", err
	}
	return path, askVersion(ctx, p, env), nil
}

// LookPath finds a program as exec.LookPath does, in the PATH of env rather
// than in that of this process. Directories that are not absolute are left out.
func LookPath(program string, env []string) (string, error) {
	if strings.ContainsRune(program, filepath.Separator) {
		return exec.LookPath(program)
	}
	for _, dir := range filepath.SplitList(variable(env, "PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		found, err := exec.LookPath(filepath.Join(dir, program))
		if err == nil {
			return found, nil
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, exec.ErrNotFound) {
			return "", err
		}
	}
	return "", &exec.Error{Name: program, Err: exec.ErrNotFound}
}

func variable(env []string, name string) string {
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

func askVersion(ctx context.Context, p coppice.Profile, env []string) string {
	if len(p.Version) == 0 {
		return ""
	}
	program, err := LookPath(p.Version[0], env)
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, p.Version[1:]...)
	cmd.Env = env
	cmd.Dir = os.TempDir() // not in a repository, whose settings it might load
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return line
}

// Installed tells whether an agent's program is there, and how to install it
// when it is not.
func Installed(name string, p coppice.Profile, env []string) error {
	_, err := LookPath(p.Command[0], env)
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
