package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// machine is where a run was made.
type machine struct {
	CPUs  int    `json:"cpus"`
	Go    string `json:"go"`
	Git   string `json:"git"`
	Trees string `json:"trees"` // where repositories and worktrees stand
	Files int    `json:"files"` // of the sample repository
}

func (m machine) String() string {
	return fmt.Sprintf("%d CPUs, %s, %s; repositories of %d files on %s, databases on disk", m.CPUs, m.Go, m.Git, m.Files, m.Trees)
}

// lab is the place in which a run is made, and what it needs to have built.
type lab struct {
	options
	machine machine
	disk    string // a temporary directory for states and databases
	trees   string // one for repositories and worktrees: in memory if possible
	probe   string // programs
	web     string
	opener  string
	empty   string
	nats    string   // empty where it cannot be had
	made    int      // names given
	env     []string // of servers, besides the usual
	flags   []string // likewise
}

// memoryDir is a file system in memory. File systems without a journal can be
// so slow at making files where others were deleted that nothing else shows.
const memoryDir = "/dev/shm"

func newLab(ctx context.Context, o options) (_ *lab, err error) {
	if _, err := os.Stat(o.program); err != nil {
		return nil, fmt.Errorf("%w: build it first", err)
	}
	l := &lab{options: o}
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	if l.disk, err = os.MkdirTemp("", "coppice-bench-"); err != nil {
		return nil, err
	}
	kind := memoryDir + " (in memory)"
	if l.trees, err = os.MkdirTemp(memoryDir, "coppice-bench-"); err != nil {
		kind = "disk"
		l.trees = filepath.Join(l.disk, "trees")
		if err := os.Mkdir(l.trees, 0o700); err != nil {
			return nil, err
		}
	}
	bin := filepath.Join(l.disk, "bin") + "/"
	if err := l.run(ctx, ".", "go", "build", "-trimpath", "-ldflags=-s -w", "-o", bin, "coppice/test/bench/probe", "coppice/test/bench/baseline/..."); err != nil {
		return nil, err
	}
	l.probe, l.web, l.opener, l.empty = bin+"probe", bin+"web", bin+"opener", bin+"empty"
	version, err := l.output(ctx, ".", "git", "--version")
	if err != nil {
		return nil, err
	}
	l.machine = machine{CPUs: runtime.NumCPU(), Go: runtime.Version(), Git: strings.TrimPrefix(version, "git version "), Trees: kind, Files: o.files}
	l.machine.Git = "git " + l.machine.Git
	return l, nil
}

func (l *lab) close() {
	for _, dir := range []string{l.disk, l.trees} {
		if dir != "" {
			_ = os.RemoveAll(dir) // what is left is in a temporary directory
		}
	}
}

// natsModule is the engine for many machines that a start is measured against.
const natsModule = "github.com/nats-io/nats-server/v2@v2.15.2"

// findNATS builds the NATS server once. Without a module proxy there is none,
// and the row says so.
func (l *lab) findNATS(ctx context.Context) {
	if l.nats != "" {
		return
	}
	bin := filepath.Join(l.disk, "bin")
	cmd := l.command(ctx, l.disk, "go", "install", "-trimpath", "-ldflags=-s -w", natsModule)
	cmd.Env = append(cmd.Env, "GOBIN="+bin)
	if cmd.Run() == nil {
		l.nats = filepath.Join(bin, "nats-server")
	}
}

// name makes a name that nothing in this run has yet.
func (l *lab) name(what string) string {
	l.made++
	return fmt.Sprintf("%s%d", what, l.made)
}

// command makes a command that is ended with its context, group and all.
func (l *lab) command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = l.environ()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// environ is the same for both sides: no configuration of the person's changes
// what is measured.
func (l *lab) environ() []string {
	return append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Bench", "GIT_AUTHOR_EMAIL=bench@localhost", "GIT_COMMITTER_NAME=Bench", "GIT_COMMITTER_EMAIL=bench@localhost")
}

func (l *lab) output(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := l.command(ctx, dir, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSpace(stdout.String()), nil
}

func (l *lab) run(ctx context.Context, dir string, args ...string) error {
	_, err := l.output(ctx, dir, args...)
	return err
}

// repository makes a repository with so many files, and a coppice.yaml.
func (l *lab) repository(ctx context.Context, files int, config string) (string, error) {
	return l.repositoryOf(ctx, files, map[string]string{"coppice.yaml": config})
}

// repositoryOf makes a repository with so many files, and the ones given.
func (l *lab) repositoryOf(ctx context.Context, files int, given map[string]string) (string, error) {
	dir := filepath.Join(l.trees, l.name("repo"))
	for i := range files {
		sub := filepath.Join(dir, fmt.Sprintf("dir%02d", i/50))
		if i%50 == 0 {
			if err := os.MkdirAll(sub, 0o755); err != nil {
				return "", err
			}
		}
		text := strings.Repeat(fmt.Sprintf("line of file %d\n", i), 120)
		if err := os.WriteFile(filepath.Join(sub, fmt.Sprintf("file%05d.txt", i)), []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	err := os.MkdirAll(dir, 0o755)
	for name, text := range given {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main"}, {"add", "--all"}, {"commit", "--quiet", "--message=Files"},
	} {
		err = errors.Join(err, l.run(ctx, dir, append([]string{"git"}, args...)...))
	}
	return dir, err
}
