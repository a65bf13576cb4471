//go:build upgrade && linux

package upgrade

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coppice"
	"coppice/api"
	"coppice/test/baseline"
	"coppice/test/harness"
)

var dump = flag.String("dump", "", "write the state that the old program leaves to this file, as SQL, and end")

// TestUpgrade has the commit BASE create a state, and the working tree continue
// it: once after a stop, once after a kill.
func TestUpgrade(t *testing.T) {
	rev := os.Getenv("BASE")
	if rev == "" {
		t.Fatal("BASE is not set; run: make test-upgrade BASE=<commit>")
	}
	asker := baseline.Program{Name: "asker", Package: "test/upgrade/asker"}
	commit, dir, err := baseline.Build(t.Context(), rev, baseline.Coppice, asker)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "coppice")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "coppice/cmd/coppice").CombinedOutput(); err != nil {
		t.Fatalf("build the working tree: %v\n%s", err, out)
	}
	for _, how := range []string{"stopped", "killed"} {
		t.Run(how, func(t *testing.T) {
			w := newWorld(t, filepath.Join(dir, "coppice"), filepath.Join(dir, "asker"), program)
			t.Logf("the server of %s makes the state", commit[:10])
			w.begin()
			w.leave(how)
			if *dump != "" {
				w.dump(*dump, commit)
				return
			}
			w.resume()
			w.check(commit)
		})
		if *dump != "" {
			return
		}
	}
}

// leave ends the old server while sessions run, and leaves requests open.
func (w *world) leave(how string) {
	w.T.Helper()
	t, s := w.T, w.Server()
	if how == "killed" {
		s.Kill()
	} else if code := s.Stop(t); code != 0 {
		t.Errorf("the old server ended with %d", code)
	}
	if w.left = len(w.hosts(w.old)); w.left == 0 {
		t.Fatal("no session runs on")
	}
	t.Logf("the old server is %s; %d hosts run on; these requests are left open:", how, w.left)
	w.ask()
	for i, p := range w.parts {
		if strings.Contains(p.title, "without a server") && *dump == "" {
			w.endAlone(w.keys[i] + ".1")
			t.Logf("the session of %s ends in the meantime", w.keys[i])
		}
	}
}

// resume has the new program continue with everything.
func (w *world) resume() {
	w.T.Helper()
	w.Program = w.new
	w.Write(w.Root, harness.Files{"accept": ""}) // of the notifier phone
	w.Serve()
	w.T.Log("the new server continues with the state")
	if out := w.cli("rules", "--project", "asks"); !strings.Contains(out, "npm test") {
		w.T.Errorf("the remembered rule is forgotten:\n%s", out)
	}
	for i, p := range w.parts {
		if p.new != nil {
			p.new(w, w.keys[i])
		}
		if p.ask != "" && !w.knows(p) {
			w.cli(p.ask, w.keys[i], "--note", p.text) // it could not be left open
		}
	}
	for i, p := range w.parts {
		d := w.await(w.keys[i], "the end", func(d api.TaskDetail) bool {
			return d.Stage == coppice.StageEnded && (p.after == nil || p.after(d))
		})
		if d.Outcome != p.ends {
			w.T.Errorf("%s (%s) ended as %s, not %s: %v", d.Key, p.title, d.Outcome, p.ends, d.Failure)
		}
		w.T.Logf("  %-8s %s: %s, %d sessions, %d landings", d.Key, p.title, d.Status, len(d.History), len(d.Landings))
	}
}

// check looks at what is left of it all.
func (w *world) check(commit string) {
	w.T.Helper()
	t := w.T
	w.checkLanded()
	if w.team != nil {
		w.checkIssues()
	}
	features, err := os.ReadFile(filepath.Join(w.Root, "feat", "features.json"))
	if err != nil || strings.Count(string(features), `"status": "passed"`) != 2 {
		t.Errorf("the features file is\n%s%v", features, err)
	}
	for _, name := range w.projects {
		w.checkRepository(name)
	}
	authors := w.checkAuthors()
	for _, p := range w.hosts(w.old) {
		if !p.Ends() {
			t.Errorf("a host of the old release still runs: %q", p.Argv)
		}
	}
	if code := w.Server().Stop(t); code != 0 {
		t.Errorf("the new server ended with %d", code)
	}
	for _, p := range w.Processes() {
		t.Errorf("still running: %d %q", p.PID, p.Argv)
	}
	if !t.Failed() {
		t.Logf("summary: of %s, %d hosts were followed to their end, %d requests carried out, and %d tasks of %d projects ended as they should; git fsck --strict and git status are clean; events by %s",
			commit[:10], w.left, w.asked, len(w.parts), len(w.projects), strings.Join(authors, ", "))
	}
}

// checkLanded checks what landed in the project app: the answers and messages
// that agents received, and a file of each session whose prompt has a text.
func (w *world) checkLanded() {
	w.T.Helper()
	dir := filepath.Join(w.Root, "app")
	landed := strings.Fields(w.GitIn(dir, "ls-tree", "-r", "--name-only", "main"))
	for file, text := range map[string]string{
		"running.txt": "continue", "alone.txt": "alone", "colour.txt": "blue", "shape.txt": "round", "message.txt": "a word", "later.txt": "a later word", "other.txt": "the other file", "half.txt": "half", "kept.txt": "kept", "limited.txt": "limited",
	} {
		if !slices.Contains(landed, file) {
			w.T.Errorf("%s did not land", file)
		} else if got := w.GitIn(dir, "show", "main:"+file); got != text {
			w.T.Errorf("%s landed as %q, not %q", file, got, text)
		}
	}
	for i, p := range w.parts {
		if d := w.task(w.keys[i]); p.in == "" && p.text != "" && len(d.History) > 1 && !slices.Contains(landed, d.Session+".txt") {
			w.T.Errorf("%s did not receive %q", d.Session, p.text)
		}
	}
}

// checkRepository checks the user's repository: it is whole, and has nothing of
// Coppice's but what landed.
func (w *world) checkRepository(name string) {
	w.T.Helper()
	dir := filepath.Join(w.Root, name)
	if out := w.GitIn(dir, "fsck", "--strict", "--no-progress", "--no-dangling"); out != "" {
		w.T.Errorf("git fsck --strict of %s:\n%s", name, out)
	}
	if out := w.GitIn(dir, "status", "--porcelain", "--", ".", ":!features.json"); out != "" {
		w.T.Errorf("git status of %s:\n%s", name, out)
	}
	if refs := w.GitIn(dir, "for-each-ref", "--format=%(refname)", "refs/coppice", "refs/heads/coppice"); refs != "" && refs != "refs/coppice/keep" {
		w.T.Errorf("refs in %s:\n%s", name, refs)
	}
	if out := w.GitIn(dir, "worktree", "list"); strings.Contains(out, w.State) {
		w.T.Errorf("worktrees of %s:\n%s", name, out)
	}
}

// checkAuthors checks that every event names its author, and returns the
// authors that are neither sessions nor workers.
func (w *world) checkAuthors() []string {
	w.T.Helper()
	seen, after := map[string]bool{}, int64(0)
	var authors []string
	for {
		n := 0
		for text := range strings.Lines(w.cli("events", "--json", "--after", fmt.Sprint(after), "--limit", "1000")) {
			e := decode[coppice.Event](w.T, text)
			if e.By == "" {
				w.T.Errorf("event %d (%s of %s) names no author", e.Seq, e.Kind, e.Subject)
			}
			if !seen[e.By] && !strings.ContainsAny(e.By, "-./") {
				authors = append(authors, e.By)
			}
			seen[e.By], after = true, e.Seq
			n++
		}
		if n < 1000 {
			return authors
		}
	}
}
