//go:build linux

package e2e

import (
	"bufio"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
	"coppice/api"
)

// reader is a command whose lines a test reads one by one.
type reader struct {
	t     *testing.T
	lines *bufio.Scanner
	cmd   *exec.Cmd
	seen  []string
}

// reads starts a command.
func (w *world) reads(args ...string) *reader {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	w.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, w.Program, args...)
	cmd.Dir, cmd.Env = w.repo, w.Env()
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return &reader{t: w.t, lines: bufio.NewScanner(out), cmd: cmd}
}

// until reads to the next line with this text.
func (r *reader) until(text string) {
	r.t.Helper()
	for r.lines.Scan() {
		r.seen = append(r.seen, r.lines.Text())
		if r.lines.Text() == text {
			return
		}
	}
	r.t.Fatalf("%q is not seen in\n%s", text, strings.Join(r.seen, "\n"))
}

// end reads the rest.
func (r *reader) end() string {
	r.t.Helper()
	for r.lines.Scan() {
		r.seen = append(r.seen, r.lines.Text())
	}
	if err := r.cmd.Wait(); err != nil {
		r.t.Errorf("%v: %v", r.cmd.Args, err)
	}
	return strings.Join(r.seen, "\n")
}

// checked is a world whose check writes a line and then waits for a gate.
func checked(t *testing.T, more string) (w *world, open func()) {
	t.Helper()
	w = newWorld(t, files{".coppice/scripted.yaml": "cases: [{match: \"\", steps: [{say: I write.}, {write: {path: made, content: x}}]}]\n"})
	gate, open := w.Gate("gate")
	w.write(w.repo, files{"coppice.yaml": policy + fmt.Sprintf(`workspace: {setup: ["echo setting up"]}
checks: ["echo the first line; cat %s%s", "echo second; exit 0"]
`, gate, more)})
	w.git("commit", "--quiet", "--all", "--message=Check")
	return w, open
}

// People see a line of a check before the check ends: in logs -f, in the task and
// in coppice show.
func TestChecksAreSeenLive(t *testing.T) {
	t.Parallel()
	w, open := checked(t, "")
	w.serve()
	key := w.new("Write")
	logs := w.reads("logs", "-f", key)
	logs.until("the first line")
	d := w.task(key)
	now := d.Running.Now()
	if now == nil || !strings.HasPrefix(now.Command, "echo the first line") || now.StartedAt.IsZero() || len(d.Running.Commands) != 3 || d.Running.Commands[2].State != coppice.RunWaiting || len(d.CheckRuns) != 0 {
		t.Errorf("running: %+v, checks %+v", d.Running, d.CheckRuns)
	}
	if show := w.cli("show", key); !strings.Contains(show, "running for") || !strings.Contains(show, "waiting") {
		t.Errorf("coppice show says\n%s", show)
	}
	open()
	d = w.landed(key)[0]
	if d.Running != nil || len(d.CheckRuns) != 2 {
		t.Errorf("after the landing: %+v, %d checks", d.Running, len(d.CheckRuns))
	}
	if one, two := d.CheckRuns[0], d.CheckRuns[1]; one.StartedAt.IsZero() || one.EndedAt.Before(one.StartedAt) || two.StartedAt.Before(one.EndedAt) {
		t.Errorf("intervals %s to %s, %s to %s", one.StartedAt, one.EndedAt, two.StartedAt, two.EndedAt)
	}
	all := logs.end()
	at := 0
	for _, text := range []string{"I write.", "── setup: echo setting up ──", "setting up", "exit code 0 after", "── echo the first line", "the first line", "exit code 0 after", "── echo second", "second", "exit code 0 after", "done"} {
		i := strings.Index(all[at:], text)
		if i < 0 {
			t.Fatalf("%q does not follow in\n%s", text, all)
		}
		at += i + len(text)
	}
}

// A server that is killed runs the check again. A reader continues with the new
// run, and the task lands.
func TestChecksAreSeenAfterAKill(t *testing.T) {
	t.Parallel()
	w, open := checked(t, "")
	s := w.serve()
	key := w.new("Write")
	logs := w.reads("logs", "-f", key)
	logs.until("the first line")
	s.Kill()
	for _, p := range w.Processes() { // checks end with the machine, here with the test
		if strings.Contains(strings.Join(p.Argv, " "), "cat "+filepath.Join(w.Root, "gate")) {
			p.Kill()
		}
	}
	w.serve()
	logs.until("the first line")
	open()
	w.landed(key)
	if all := logs.end(); !strings.Contains(all, "the checks started again") || !strings.Contains(all, "exit code 0 after") {
		t.Errorf("logs -f shows\n%s", all)
	}
}

// A failed check says at which line its log shows the first error.
func TestChecksNameTheirFirstError(t *testing.T) {
	t.Parallel()
	w, open := checked(t, "; echo 'a.c:1: error: no'; exit 1")
	w.serve()
	key := w.new("Write")
	w.reads("logs", "-f", key).until("the first line")
	open()
	d := w.await(key, "a red check", func(d api.TaskDetail) bool { return len(d.CheckRuns) > 0 })
	if c := d.CheckRuns[0]; c.ErrorLine != 3 || strings.Split(c.Log, "\n")[2] != "a.c:1: error: no" {
		t.Errorf("line %d of %q", c.ErrorLine, c.Log)
	}
}
