package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"coppice"
	"coppice/workspace/repo"
)

// runFile is the script in a workspace that runs a command in the project's compose
// service. A branch that has such a file keeps it.
const runFile = ".coppice/run"

// composeFiles are the names under which docker finds a compose file, in its
// own order.
var composeFiles = []string{"compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"}

// sail is the service that Laravel Sail runs an app in, and its user there.
var sail = struct{ service, user, script string }{"laravel.test", "sail", "vendor/bin/sail"}

// compose says how commands of a workspace reach the service.
type compose struct {
	file    string // the person's compose file: the services that run are theirs
	service string
	user    string // in the container; the service's own when empty
	dir     string // where the container sees the workspace
}

// composed returns how the commands of a worktree run in the service. The container
// has the repository's root at the policy's dir, and a worktree elsewhere at the
// same path as this machine.
func composed(root, tree string, d coppice.DockerPolicy) (compose, error) {
	c := compose{service: d.Service, dir: tree}
	at := d.Dir
	if at == "" {
		at = "/app"
	}
	if rel, err := filepath.Rel(root, tree); err == nil && filepath.IsLocal(rel) {
		c.dir = path.Join(at, filepath.ToSlash(rel))
	}
	names := composeFiles
	if d.File != "" {
		names = []string{d.File}
	}
	for _, n := range names {
		if st, err := os.Stat(filepath.Join(root, n)); err == nil && st.Mode().IsRegular() {
			c.file = filepath.Join(root, n)
			break
		}
	}
	if c.file == "" {
		return c, coppice.Failf(coppice.ClassEnvironment, fmt.Sprintf("there is no compose file in %s: looked for %s", root, strings.Join(names, ", ")),
			"name it by workspace.docker.file, or remove workspace.docker from coppice.yaml")
	}
	if d.Service == sail.service && repo.Exists(filepath.Join(root, sail.script)) {
		c.user = sail.user
	}
	return c, nil
}

// findCompose are lines of a shell script that set $compose to the program:
// docker's plugin, or docker-compose where only that is installed.
const findCompose = `compose='docker compose'
if command -v docker-compose >/dev/null && ! docker compose version >/dev/null 2>&1; then compose=docker-compose; fi
`

// args returns the arguments of compose up to the service's name.
func (c compose) args() []string {
	args := []string{"-f", c.file, "exec", "-T", "-w", c.dir}
	if c.user != "" {
		args = append(args, "-u", c.user)
	}
	return append(args, c.service)
}

// script returns the text of the wrapper. Variables get the values they have when it
// runs, except the workspace's path, which is that in the container.
func (c compose) script(ports int) string {
	names := []string{"COPPICE", "COPPICE_TASK", "COPPICE_BRANCH", "COPPICE_PORT"}
	for i := range ports {
		names = append(names, fmt.Sprintf("COPPICE_PORT_%d", i+1))
	}
	var b strings.Builder
	b.WriteString("#!/bin/sh\n# Made by Coppice: runs a command of this workspace where the app runs.\n")
	fmt.Fprintf(&b, "# usage: %s 'COMMAND'\n", runFile)
	args := c.args()
	b.WriteString(findCompose + "exec $compose")
	for _, a := range args[:len(args)-1] {
		b.WriteString(" " + shellQuote(a))
	}
	b.WriteString(" \\\n\t-e " + shellQuote("COPPICE_WORKSPACE="+c.dir))
	for _, n := range names {
		fmt.Fprintf(&b, " ${%s+-e \"%s=$%s\"}", n, n, n)
	}
	fmt.Fprintf(&b, " \\\n\t%s sh -c \"$*\"\n", shellQuote(c.service))
	return b.String()
}

// shellQuote quotes a text as one word of a POSIX shell.
func shellQuote(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_./=:,@+", r)
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Parts of the line that runs a command in a service. Docker leaves the processes of
// a killed client running, but it closes their stdin. So the client gets a stdin with
// one line and no end, and a shell in the container waits for the end of its stdin.
// Then it ends everything that the command has started, which is its process group.
// A script of the branch might not pass stdin on; without the line, nothing is ended.
const (
	endlessStdin = `d=$(mktemp -d) && mkfifo "$d/in" && exec 3<>"$d/in" && rm -r "$d" && echo >&3 && exec `
	watchStdin   = `exec 3<&0 </dev/null
(trap '' TERM; read x <&3 || exit; while read x <&3; do :; done; kill -TERM 0; sleep 5; kill -KILL 0) >/dev/null 2>&1 &
exec 3<&-
`
	unwatch = `; code=$?; kill -KILL $! 2>/dev/null; exit $code`
)

// Command returns how a command of the policy runs in a workspace: as it is, or
// in the project's compose service by the workspace's own script.
func Command(p coppice.WorkspacePolicy, command string) string {
	if !p.Docker.Set() {
		return command
	}
	return endlessStdin + "./" + runFile + " " + shellQuote(watchStdin+"sh -c "+shellQuote(command)+unwatch) + " <&3 3>&-"
}

// dockerize writes the wrapper into a worktree, unless its branch has one, and makes
// git ignore it.
func (w *Workspaces) dockerize(r repo.Repo, tree string, to *os.Root, p coppice.WorkspacePolicy) error {
	c, err := composed(r.Root, tree, p.Docker)
	if err != nil {
		return err
	}
	if err := exclude(filepath.Join(tree, ".git"), "/"+runFile); err != nil {
		return fmt.Errorf("hiding %s from git: %w", runFile, err)
	}
	if err := to.MkdirAll(path.Dir(runFile), 0o755); err != nil {
		return err
	}
	if err := to.Remove(runFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	out, err := to.OpenFile(runFile, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = out.WriteString(c.script(p.Ports))
	return errors.Join(err, out.Chmod(0o755), out.Close())
}

// exclude adds a rule to the repository's file of ignored paths.
func exclude(common, rule string) error {
	name := filepath.Join(common, "info", "exclude")
	old, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for line := range strings.Lines(string(old)) {
		if strings.TrimRight(line, "\r\n") == rule {
			return nil
		}
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if len(old) > 0 && old[len(old)-1] != '\n' {
		rule = "\n" + rule
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(rule + "\n")
	return errors.Join(err, f.Close())
}

// Hide makes git ignore a file of a workspace, so that it is in no commit. A tracked
// file stays tracked. If name is empty, Hide does nothing.
func (w *Workspaces) Hide(ctx context.Context, path, name string) error {
	if name == "" {
		return nil
	}
	if err := repo.ValidPath("progress", name); err != nil {
		return err
	}
	dir, err := repo.GitDir(path)
	if err != nil {
		return fmt.Errorf("hiding %s from git: %w", name, err)
	}
	if err := exclude(dir, "/"+escapePattern(name)); err != nil {
		return fmt.Errorf("hiding %s from git: %w", name, err)
	}
	return nil
}

// escapePattern returns a pattern of .gitignore that matches only the path.
func escapePattern(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, " ", `\ `).Replace(strings.TrimSuffix(path, "/"))
}

// exitUnseen is the exit code of the probe in a container that does not have the
// workspace. Neither docker nor a shell uses it.
const exitUnseen = 87

// reachable checks that the service runs and has the workspace, so that a missing
// service does not look like failing work.
func (w *Workspaces) reachable(ctx context.Context, r repo.Repo, tree string, p coppice.WorkspacePolicy, env []string) error {
	if !p.Docker.Set() {
		return nil
	}
	c, err := composed(r.Root, tree, p.Docker)
	if err != nil {
		return err
	}
	probe := compose{file: c.file, service: c.service, user: c.user, dir: "/"}
	line := findCompose + "$compose"
	for _, a := range append(probe.args(), "sh", "-c", fmt.Sprintf(`test -d "$0" || exit %d`, exitUnseen), c.dir) {
		line += " " + shellQuote(a)
	}
	log, exit, err := shell(ctx, tree, w.CommandEnv(p.PassEnv, env), line, 0)
	switch {
	case err != nil:
		return err
	case exit == 0:
		return nil
	case exit == exitUnseen:
		return coppice.Failf(coppice.ClassEnvironment, fmt.Sprintf("the compose service %s does not see the workspace at %s", c.service, c.dir),
			fmt.Sprintf("mount the folder of the workspaces into it: under volumes, %s:%s", w.Dir, w.Dir))
	}
	fix := "install docker compose, either the plugin of docker or the program docker-compose"
	if _, missing, err := shell(ctx, tree, w.CommandEnv(p.PassEnv, env), findCompose+"$compose version", 0); err != nil {
		return err
	} else if missing == 0 {
		up := "docker compose"
		if p.Docker.File != "" {
			up += " -f " + p.Docker.File
		}
		fix = fmt.Sprintf("start it: run %s up -d %s in %s", up, c.service, r.Root)
	}
	reason := cmp.Or(strings.TrimSpace(log), "compose printed no reason, as it does for a service that is stopped")
	return coppice.Failf(coppice.ClassEnvironment, fmt.Sprintf("the compose service %s cannot be used (exit code %d): %s", c.service, exit, reason), fix)
}
