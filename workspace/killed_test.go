package workspace

import (
	"errors"
	"strings"
	"testing"
	"time"

	"coppice"
)

// A command that something else killed is reported as killed, with the signal's
// name. A command that failed or crashed is not.
func TestKilledChecks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	head := run(t, b.root, "git", "rev-parse", "main")
	for _, c := range []struct {
		name, command string
		exit          int
		signal        string
	}{
		{"the shell itself", "echo begun; kill -9 $$", 137, "SIGKILL"},
		{"the shell itself is asked to end", "kill -TERM $$", 143, "SIGTERM"},
		{"the shell itself hangs up", "kill -HUP $$", 129, "SIGHUP"},
		{"the shell's last program", "sh -c 'kill -9 $$'", 137, "SIGKILL"},
		{"a child before the last", "sh -c 'kill -9 $$' || exit $?", 137, "SIGKILL"},
		{"a child in a pipe", "sh -c 'kill -9 $$' | cat", 0, ""},
		{"a child whose parent continues", "sh -c 'kill -9 $$'; exit 3", 3, ""},
		{"a program in place of the shell crashes", "exec sh -c 'kill -SEGV $$'", 139, ""},
		{"the shell itself crashes", "kill -ABRT $$", 134, ""},
		{"a child crashes", "sh -c 'kill -SEGV $$' || exit $?", 139, ""},
		{"a child is asked to end", "sh -c 'kill -TERM $$' || exit $?", 143, ""},
		{"git's usage", "exit 129", 129, ""},
		{"its own timeout", "exit 124", 124, ""},
		{"fails", "exit 1", 1, ""},
		{"passes", "true", 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := must[coppice.CheckResult](t)(b.Check(b.ctx, b.checkSpec(head, c.command, "echo next"))).Checks
			if k := got[0]; k.Exit != c.exit || k.Signal != c.signal || k.TimedOut || k.Killed() != (c.signal != "") || k.Passed() != (c.exit == 0) {
				t.Errorf("%q ended as %+v", c.command, k)
			}
			if len(got) != 2 || !got[1].Passed() {
				t.Errorf("the next command: %+v", got)
			}
		})
	}
}

// The log of a killed command has what it wrote until then.
func TestKilledCheckKeepsItsLog(t *testing.T) {
	t.Parallel()
	b := setup(t)
	spec := b.checkSpec(run(t, b.root, "git", "rev-parse", "main"), "echo begun; kill -9 $$", "printf begun; kill -9 $$")
	for i, want := range []string{"begun\nkilled by signal 9 (killed)\n", "begun\nkilled by signal 9 (killed)\n"} {
		if got := must[coppice.CheckResult](t)(b.Check(b.ctx, spec)).Checks[i].Log; got != want {
			t.Errorf("command %d wrote %q", i, got)
		}
	}
}

// A command that runs out of time is reported as timed out, not as killed by
// the signal that ends it.
func TestTimedOutCheck(t *testing.T) {
	t.Parallel()
	b := setup(t)
	spec := b.checkSpec(run(t, b.root, "git", "rev-parse", "main"), "echo begun; sleep 1000", "true")
	spec.Timeout = coppice.Duration(time.Second)
	got := must[coppice.CheckResult](t)(b.Check(b.ctx, spec)).Checks
	if k := got[0]; !k.TimedOut || k.Killed() || k.Passed() || k.Exit != exitTimeout || !strings.Contains(k.Log, "begun\nstopped after 1s") {
		t.Errorf("%+v", k)
	}
	if k := got[1]; k.TimedOut || !k.Passed() {
		t.Errorf("%+v", k)
	}
}

// A setup command that was killed is reported like a check that was killed: it
// judges nothing either, and no check runs without its setup. A caller that prepares a
// workspace gets a failure of the environment.
func TestKilledSetup(t *testing.T) {
	t.Parallel()
	b := setup(t)
	spec := b.checkSpec(run(t, b.root, "git", "rev-parse", "main"), "echo never")
	spec.Policy.Setup = []string{"echo wanted; kill -9 $$"}
	got := must[coppice.CheckResult](t)(b.Check(b.ctx, spec))
	if len(got.Checks) != 1 || got.Env == "" {
		t.Fatalf("%+v", got)
	}
	if k := got.Checks[0]; k.Signal != "SIGKILL" || k.Command != spec.Policy.Setup[0] || !strings.HasPrefix(k.Log, "wanted\n") || k.Tree != spec.Tree || k.Env != got.Env {
		t.Errorf("%+v", k)
	}
	fails := b.checkSpec(spec.Commit, "echo never")
	fails.Policy.Setup = []string{"exit 3"}
	_, err := b.Check(b.ctx, fails)
	failure(t, err, coppice.ClassEnvironment, "exited with 3")

	prepare := b.spec("app-1")
	prepare.Policy.Setup = spec.Policy.Setup
	_, err = b.Prepare(b.ctx, prepare)
	failure(t, err, coppice.ClassEnvironment, "was killed by SIGKILL")
}

func failure(t *testing.T, err error, class coppice.Class, text string) {
	t.Helper()
	var f *coppice.Failure
	if !errors.As(err, &f) || f.Class != class || !strings.Contains(f.Text, text) || f.Fix == "" {
		t.Errorf("%v (%+v)", err, f)
	}
}
