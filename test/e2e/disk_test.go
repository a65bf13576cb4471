//go:build linux

package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coppice"
	"coppice/api"
	"coppice/api/client"
	"coppice/store"
)

// A session that writes far more than is kept works and lands as any other. Its
// beginning, its question and its end are kept, and the session says what is missing.
func TestASessionThatWritesTooMuch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{
		"coppice.yaml": strings.Replace(policy, "memory: 100%", "memory: 100%, output: 1 MiB", 1),
		".coppice/scripted.yaml": `cases:
  - steps:
      - say: this is the beginning
      - flood: {bytes: 12000000}
      - ask: {text: "is it enough?"}
      - flood: {bytes: 12000000}
      - write: {path: a.txt, content: "a\n"}
      - say: and this is the end
`})
	s := w.serve()
	key := w.new("Write much")
	w.await(key, "its question", func(d api.TaskDetail) bool { return len(d.Questions) == 1 })
	if live := w.session(key + ".1"); live.Dropped == 0 {
		t.Error("a running session does not say that its output is not kept")
	}
	w.cli("answer", key, "yes")
	d := w.landed(key)[0]
	if got := d.History[0].Dropped; len(d.History) != 1 || got < 20_000_000 {
		t.Errorf("%d sessions, %d bytes were dropped", len(d.History), got)
	}
	if out := w.cli("show", key); !strings.Contains(out, "of its output was not kept (limits.output)") {
		t.Errorf("show does not tell: %s", out)
	}
	log := w.cli("logs", key)
	for _, text := range []string{"this is the beginning\n", "output beyond 1 MiB is not kept", "is it enough?", "were left out here", "and this is the end\n"} {
		if strings.Count(log, text) != 1 {
			t.Errorf("%q is %d times in the log of %d bytes", text, strings.Count(log, text), len(log))
		}
	}
	if out := w.cli("logs", key, "--limit", "1"); !strings.Contains(log, out) || strings.Count(out, "\n") != 1 {
		t.Errorf("the first line is %q", out)
	}
	if out := w.cli("logs", key, "--tail", "2"); !strings.HasSuffix(log, out) || strings.Count(out, "\n") != 2 {
		t.Errorf("the last lines are %q", out)
	}
	usage := decode[api.Disk](t, w.cli("status", "--disk", "--json"))
	if len(log) < 1<<18 || len(log) > 3<<19 { // what is kept is bounded as it was written, and stored in less
		t.Errorf("%d bytes of its log are kept", len(log))
	}
	if p := usage.Projects[0].Parts[3]; p.What != "output" || p.Bytes == 0 || p.Bytes > int64(len(log)) {
		t.Errorf("its output takes %+v", p)
	}
	s.Stop(t)
	st := w.openStore()
	defer st.Close()
	err := st.View(t.Context(), func(r store.Reader) error {
		x, err := r.Sessions.ByKey(key + ".1")
		if err == nil {
			_, err = accounted(r, x)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// The use of the disk is listed by project and kind, and adds up.
func TestWhatUsesDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": `cases:
  - match: keep
    steps: [{write: {path: big.bin, content: "x"}}, {run: "head -c 5000000 /dev/zero > big.bin"}, {fail: {class: implementation, text: broken}}]
  - steps: [{write: {path: a.txt, content: a}}]
`, "coppice.yaml": strings.Replace(policy, "max: 3", "max: 0", 1)})
	w.serve()
	w.landed(w.new("Do it"))
	kept := w.new("Please keep this")
	w.await(kept, "its failure", func(d api.TaskDetail) bool { return d.Outcome == coppice.OutcomeFailed })
	d := decode[api.Disk](t, w.cli("status", "--disk", "--json"))
	if d.Partial || d.Free == 0 || len(d.Projects) != 1 || d.Projects[0].Prefix != "app" {
		t.Fatalf("the disk is %+v, want the whole use of the project app", d)
	}
	size, sum := map[string]int64{}, d.Projects[0].Total
	for _, p := range append(d.Projects[0].Parts, d.Server...) {
		size[p.What] = p.Bytes
	}
	for _, p := range d.Server {
		sum += p.Bytes
	}
	if size["workspaces"] < 5_000_000 || size["database"] == 0 || size["search index"] == 0 || size["output"] == 0 || sum != d.Total {
		t.Errorf("%v, %d in all, the sum is %d", size, d.Total, sum)
	}
	if out := w.cli("status", "--disk"); !strings.Contains(out, "workspaces") || !strings.Contains(out, "in the database") || !strings.Contains(out, " free\n") {
		t.Errorf("status --disk prints\n%s\nwant workspaces, the database and the free space", out)
	}
}

const kinds = `cases:
  - match: ": hang"
    steps: [{write: {path: half.txt, content: half}}, {hang: true}]
  - match: fail
    steps: [{write: {path: bad.txt, content: bad}}, {fail: {class: implementation, text: broken}}]
  - match: "number (\\d+)"
    steps: [{flood: {bytes: 200000}}, {write: {path: $1.txt, content: "$1\n"}}, {write: {path: .env, content: "A=1"}}]
`

// refs lists everything in the person's repository that is named after Coppice.
func (w *world) refs() string {
	return w.git("for-each-ref", "--format=%(refname)", "refs/coppice/", "refs/heads/coppice/")
}

// entries lists the names in a directory of the state.
func (w *world) entries(name string) (names []string) {
	list, _ := os.ReadDir(filepath.Join(w.State, name))
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// A project is removed with a task that runs, one that failed and some that
// landed, while the server is killed again and again. Nothing of it is left, and
// its neighbour does not notice.
func TestAProjectIsRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": kinds, ".gitignore": ".env\n", "coppice.yaml": strings.Replace(policy, "max: 3", "max: 0", 1)})
	other := w.NewRepo("lib", files{"coppice.yaml": policy, ".coppice/scripted.yaml": kinds})
	s := w.serve()
	keys := w.create(coppice.NewTask{Title: "number 1"}, coppice.NewTask{Title: "number 2"}, coppice.NewTask{Title: "number 3"})
	app := w.repo
	w.repo = other
	neighbour := w.create(coppice.NewTask{Title: "hang here"}, coppice.NewTask{Title: "number 4"})
	w.landed(neighbour[1])
	w.repo = app
	w.landed(keys...)
	failed := w.new("fail at this")
	w.await(failed, "its failure", func(d api.TaskDetail) bool { return d.Outcome == coppice.OutcomeFailed })
	hangs := w.new("hang without end")
	w.working(hangs, coppice.SessionWorking)
	path := w.task(hangs).Workspace.Path
	landed := w.git("rev-parse", "main")

	if r := w.try(w.repo, "", "project", "remove", "app"); r.code != 2 || !strings.Contains(r.err, "--yes") {
		t.Errorf("with nobody to ask: %+v", r)
	}
	if r := w.try(w.repo, "", "project", "remove", "app", "--yes"); r.code != 1 || !strings.Contains(r.err, hangs) || !strings.Contains(r.err, "--force") {
		t.Errorf("with an open task: %+v", r)
	}
	out, err := w.client.RemoveProject(t.Context(), "app", coppice.Remove{Force: true, Purge: true})
	if err != nil || out.Prefix != "app" || len(out.Left) != 0 {
		t.Fatalf("removed %+v, %v; want all of app", out, err)
	}
	for range 3 {
		s.Kill()
		s = w.serve()
	}
	gone := errors.New("it is gone")
	err = w.client.FollowEvents(t.Context(), client.EventQuery{}, func(ev api.Event) error {
		if ev.Kind == coppice.EventProjectRemoved && ev.ProjectID == out.ID {
			return gone
		}
		return nil
	}, nil)
	if !errors.Is(err, gone) {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"show", keys[0]}, {"logs", keys[0] + ".1"}, {"retry", hangs}, {"project", "pause", "app"}} {
		if r := w.try(w.repo, "", args...); r.code != 1 {
			t.Errorf("coppice %s: %+v", strings.Join(args, " "), r)
		}
	}
	if w.refs() != "" || strings.Count(w.git("worktree", "list"), "\n") != 0 || w.git("rev-parse", "main") != landed || w.git("status", "--porcelain") != "" {
		t.Errorf("refs %q, worktrees %q, status %q", w.refs(), w.git("worktree", "list"), w.git("status", "--porcelain"))
	}
	if home := filepath.Base(filepath.Dir(path)); slices.Contains(w.entries("workspaces"), home) {
		t.Errorf("%s is left", home)
	}
	if left := w.entries("trash"); len(left) > 0 {
		t.Errorf("the trash keeps %q", left)
	}
	if got := w.task(neighbour[0]).Status; got != coppice.StatusWorking {
		t.Errorf("the neighbour's task is %s", got)
	}
	next := w.new("number 9")
	if next != "app-6" {
		t.Errorf("a key was given again: %s", next)
	}
	w.landed(next)
	w.cli("stop", neighbour[0])
	w.await(neighbour[0], "its end", func(d api.TaskDetail) bool { return d.Stage == coppice.StageEnded })
	w.quiet(t)
}

// Without --purge the command says what is left. Adding the project again and a
// purge remove that as well.
func TestAProjectIsRemovedButItsFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": kinds, "coppice.yaml": strings.Replace(policy, "max: 3", "max: 0", 1)})
	w.serve()
	failed := w.new("fail at this")
	path := w.await(failed, "its failure", func(d api.TaskDetail) bool { return d.Outcome == coppice.OutcomeFailed }).Workspace.Path
	out := w.cli("project", "remove", "app", "--yes")
	if !strings.Contains(out, "removed app") || !strings.Contains(out, filepath.Dir(path)) || !strings.Contains(out, "coppice/") {
		t.Errorf("project remove prints\n%s\nwant that app is removed, and what is left", out)
	}
	if _, err := os.Stat(filepath.Join(path, "bad.txt")); err != nil {
		t.Error(err)
	}
	w.landed(w.new("number 7"))
	w.cli("project", "remove", "app", "--yes", "--purge")
	if _, err := os.Stat(path); err == nil || w.refs() != "" {
		t.Errorf("%v, refs %q", err, w.refs())
	}
}
