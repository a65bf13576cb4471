//go:build linux

package workspace

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"coppice"
	"coppice/test/docker"
)

// composeFile describes the services of these tests: one that sees the workspaces,
// one that does not, and one that is not started. Compose warns about the variable.
const composeFile = `x-common: &common {image: %[1]s, network_mode: host, stop_signal: SIGKILL, command: sleep 1000000}
services:
  app: {<<: *common, volumes: ["%[2]s:%[2]s"], environment: {LEVEL: "${NO_SUCH_VARIABLE}"}}
  blind: {<<: *common}
  laravel.test: {<<: *common, volumes: ["%[2]s:%[2]s"]}
  down: {<<: *common}
`

// TestCompose runs the commands of workspaces in the containers of a real engine.
func TestCompose(t *testing.T) {
	t.Parallel()
	engine := docker.Start(t)
	b := setup(t)
	b.env = engine.Env
	if err := os.MkdirAll(b.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, b.root, "compose.yaml", fmt.Sprintf(composeFile, docker.Image, b.Dir))
	write(t, b.root, "vendor/bin/sail", "#!/bin/sh\n")
	commit(t, b.root, "compose")
	engine.Compose(b.root, "up", "--detach", "app", "blind", "laravel.test")

	spec := b.spec("app-1")
	spec.Policy = coppice.WorkspacePolicy{Ports: 1, Docker: coppice.DockerPolicy{Service: "app"}, Setup: []string{
		`echo "$(cat ` + docker.Where + `) for $COPPICE_TASK on $COPPICE_PORT in $COPPICE_WORKSPACE, which is $(pwd)" > setup.log`}}
	res := must[coppice.PrepareResult](t)(b.Prepare(b.ctx, spec))
	if got := read(t, res.Path, "setup.log"); !strings.HasPrefix(got, "inside for app-1 on 2") || !strings.HasSuffix(got, " in "+res.Path+", which is "+res.Path+"\n") {
		t.Errorf("setup ran as %q", got)
	}
	// An agent can use the script, and neither its git nor ours commits it.
	script := exec.Command("./"+runFile, "cat "+docker.Where+`; echo "it's $0"; pwd; exit 7`)
	script.Dir, script.Env = res.Path, engine.Env
	if out, _ := script.Output(); script.ProcessState.ExitCode() != 7 || string(out) != "inside\nit's sh\n"+res.Path+"\n" {
		t.Errorf("%q, exit code %d", out, script.ProcessState.ExitCode())
	}
	write(t, res.Path, "work.txt", "w")
	if files := run(t, res.Path, "git", "ls-tree", "-r", "--name-only", commit(t, res.Path, "everything")); strings.Contains(files, ".coppice") || !strings.Contains(files, "work.txt") {
		t.Errorf("committed %s", files)
	}
	if n := strings.Count(read(t, res.Path, ".git/info/exclude"), "/.coppice/run\n"); n != 1 {
		t.Errorf("the rule is there %d times", n)
	}

	check := b.checkSpec(b.saved(res.Path), `cat work.txt `+docker.Where+`; echo "it's $0 $COPPICE_PORT"`, "exit 3")
	check.Policy = spec.Policy
	got := must[coppice.CheckResult](t)(b.Check(b.ctx, check))
	if c := got.Checks; c[0].Exit != 0 || !strings.Contains(c[0].Log, "winside\nit's sh 2") || c[1].Exit != 3 || c[0].Command != check.Commands[0] {
		t.Errorf("%+v", c)
	}
	sail := check
	sail.Commands, sail.Policy = []string{"id -g"}, coppice.WorkspacePolicy{Docker: coppice.DockerPolicy{Service: "laravel.test"}}
	if c := must[coppice.CheckResult](t)(b.Check(b.ctx, sail)).Checks; c[0].Exit != 0 || !strings.Contains(c[0].Log, "1000\n") {
		t.Errorf("%+v", c)
	}
	plain := check
	plain.Commands, plain.Policy.Docker, plain.Policy.Setup = []string{"test ! -e " + docker.Where}, coppice.DockerPolicy{}, nil
	if other := must[coppice.CheckResult](t)(b.Check(b.ctx, plain)); other.Env == got.Env || other.Checks[0].Exit != 0 {
		t.Errorf("outside of the service: %+v", other)
	}

	b.endsInside(check)
	b.wantBlamed(coppice.DockerPolicy{Service: "blind"}, "does not see the workspace", b.Dir+":"+b.Dir)
	b.wantBlamed(coppice.DockerPolicy{Service: "down", File: "compose.yaml"}, "cannot be used", "run docker compose -f compose.yaml up -d down in "+b.root)
	b.env = append(b.env, "DOCKER_HOST=unix:///no/such/socket")
	b.wantBlamed(coppice.DockerPolicy{Service: "app"}, "cannot be used", "run docker compose up -d app in "+b.root)
}

// endsInside checks that a command that is ended leaves no process in the container.
func (b *bundle) endsInside(spec coppice.CheckSpec) {
	b.t.Helper()
	pipe := filepath.Join(b.Dir, "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		b.t.Fatal(err)
	}
	spec.Policy.Setup = nil
	spec.Commands = []string{"exec 9>" + pipe + "; echo started >&9; sleep 1000000 & sleep 1000000"}
	ctx, cancel := context.WithCancel(b.ctx)
	ended := make(chan error)
	go func() {
		_, err := b.Check(ctx, spec)
		ended <- err
	}()
	in, err := os.Open(pipe)
	if err != nil {
		b.t.Fatal(err)
	}
	defer in.Close()
	lines := bufio.NewReader(in)
	if _, err := lines.ReadString('\n'); err != nil {
		b.t.Fatal(err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		b.t.Errorf("the check ended with %v", err)
	}
	if err := in.SetReadDeadline(time.Now().Add(time.Minute)); err != nil { // a safety net; the end takes a moment
		b.t.Fatal(err)
	}
	if _, err := lines.ReadString('\n'); err != io.EOF { // no process has the pipe any more
		b.t.Error(err)
	}
}
