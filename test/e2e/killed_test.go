//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
	"coppice/api"
)

// A check that is killed once runs again, and what it says then counts. No agent
// is asked to fix anything.
func TestAKilledCheckRunsAgain(t *testing.T) {
	t.Parallel()
	w := killedOnce(t, "9")
	w.serve()
	key := w.new("Write")
	d := w.landed(key)[0]
	want(t, "landings", outcomes(d), []coppice.LandingOutcome{coppice.LandingLanded})
	if d.Sessions != 1 {
		t.Errorf("%d sessions", d.Sessions)
	}
	want(t, "checks", signals(d), []string{"SIGKILL", ""})
	if got := w.cli("show", key); !strings.Contains(got, "killed by SIGKILL") {
		t.Errorf("coppice show says\n%s", got)
	}
}

// A landing whose check is killed every time waits and says so. The other tasks
// of its track land, and a person has it tried again by saying land.
func TestAlwaysKilledCheckWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": `cases:
  - {match: heavy, steps: [{write: {path: big, content: x}}]}
  - {match: light, steps: [{write: {path: light, content: x}}]}
  - {match: small, steps: [{write: {path: small, content: x}}]}
`})
	memory := filepath.Join(w.Root, "memory")
	w.write(w.repo, files{"coppice.yaml": policy + fmt.Sprintf("checks: [\"test ! -e big || test -e %s || kill -9 $$\"]\n", memory)})
	w.git("commit", "--quiet", "--all", "--message=Check")
	w.serve()
	heavy := w.new("The heavy one")
	d := w.await(heavy, "a landing that waits", func(d api.TaskDetail) bool { return len(d.Landings) > 0 && last(d.Landings).Failure != nil })
	if l := last(d.Landings); !l.EndedAt.IsZero() || l.Failure.Class != coppice.ClassEnvironment || l.RetryAt.IsZero() {
		t.Errorf("landing %+v", l)
	}
	if !strings.Contains(d.Reason, "was killed by SIGKILL") || !strings.Contains(d.Fix, "limits.sessions") || d.Status != coppice.StatusChecking {
		t.Errorf("it is %s: %q, %q", d.Status, d.Reason, d.Fix)
	}
	w.landed(w.new("A light one"), w.new("A small one"))

	w.write(w.Root, files{"memory": "more\n"})
	w.cli("land", heavy)
	d = w.landed(heavy)[0]
	want(t, "landings", outcomes(d), []coppice.LandingOutcome{coppice.LandingLanded})
	if d.Sessions != 1 {
		t.Errorf("%d sessions", d.Sessions)
	}
	p, err := w.client.Project(t.Context(), d.Project)
	if err != nil || len(p.PausedTracks) > 0 || len(p.Strikes) > 0 {
		t.Errorf("project %+v, %v", p, err)
	}
}

// A server that was started under nohup ignores hangups. Its checks do not.
func TestChecksObeyHangups(t *testing.T) {
	t.Parallel()
	w := killedOnce(t, "HUP")
	w.write(w.Root, files{"nohup.sh": fmt.Sprintf("#!/bin/sh\ntrap '' HUP\nexec %s \"$@\"\n", w.Program)})
	w.Program = filepath.Join(w.Root, "nohup.sh")
	if err := os.Chmod(w.Program, 0o700); err != nil {
		t.Fatal(err)
	}
	w.serve()
	want(t, "checks", signals(w.landed(w.new("Write"))[0]), []string{"SIGHUP", ""})
}

// killedOnce makes a world whose check kills itself when it runs first.
func killedOnce(t *testing.T, signal string) *world {
	t.Helper()
	w := newWorld(t, files{".coppice/scripted.yaml": "cases: [{steps: [{write: {path: a, content: b}}]}]\n"})
	flag := filepath.Join(w.Root, "flag")
	w.write(w.repo, files{"coppice.yaml": policy + fmt.Sprintf("checks: [\"test -e %s || { touch %s; kill -%s $$; }\"]\n", flag, flag, signal)})
	w.git("commit", "--quiet", "--all", "--message=Check")
	return w
}

// signals returns how the checks of a task were killed, and "" for the others.
func signals(d api.TaskDetail) []string {
	var all []string
	for _, c := range d.CheckRuns {
		all = append(all, c.Signal)
	}
	return all
}
