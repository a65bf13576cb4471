package workspace

import (
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

// argv returns the command line up to the service's name. The service gets the
// variables.
func (c compose) argv(env []string) []string {
	argv := []string{"docker", "compose", "-f", c.file, "exec", "-T", "-w", c.dir}
	if c.user != "" {
		argv = append(argv, "-u", c.user)
	}
	for _, kv := range env {
		argv = append(argv, "-e", kv)
	}
	return append(argv, c.service)
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
	argv := c.argv(nil)
	b.WriteString("exec")
	for _, a := range argv[:len(argv)-1] {
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

// Command returns how a command of the policy runs in a workspace: as it is, or
// in the project's compose service by the workspace's own script.
func Command(p coppice.WorkspacePolicy, command string) string {
	if !p.Docker.Set() {
		return command
	}
	return "./" + runFile + " " + shellQuote(command)
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
	var words []string
	for _, a := range append(probe.argv(nil), "test", "-d", c.dir) {
		words = append(words, shellQuote(a))
	}
	log, exit, err := shell(ctx, tree, w.CommandEnv(p.PassEnv, env), strings.Join(words, " "), 0)
	switch {
	case err != nil:
		return err
	case exit == 0:
		return nil
	case strings.TrimSpace(log) == "":
		return coppice.Failf(coppice.ClassEnvironment, fmt.Sprintf("the compose service %s does not see the workspace at %s", c.service, c.dir),
			fmt.Sprintf("mount the folder of the workspaces into it: under volumes, %s:%s", w.Dir, w.Dir))
	}
	return coppice.Failf(coppice.ClassEnvironment, fmt.Sprintf("the compose service %s cannot be used (exit code %d): %s", c.service, exit, strings.TrimSpace(log)),
		fmt.Sprintf("start it with docker compose -f %s up -d %s", c.file, c.service))
}
