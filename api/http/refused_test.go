package http_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"coppice"
	"coppice/api"
	"coppice/api/apitest"
	"coppice/store"
	"coppice/verb"
)

// putLanding gives a task a refused landing of a tree.
func putLanding(b *apitest.Bundle, key, tree string) {
	b.Update(func(tx store.Tx) error {
		t, err := tx.Tasks.ByKey(key)
		if err != nil {
			return err
		}
		return tx.Landings.Put(&coppice.Landing{
			ProjectID: t.ProjectID, TaskID: t.ID, Candidate: coppice.Candidate{Tree: tree}, EndedAt: b.Clock.Now(), Outcome: coppice.LandingRefused,
		})
	})
}

// A failed task has the lines around the first error of the check that refused
// its newest candidate.
func TestFailedCheckOfATask(t *testing.T) {
	t.Parallel()
	b := seedBoard(t)
	var log strings.Builder
	for i := 1; i <= 100; i++ {
		fmt.Fprintf(&log, "line %d\n", i)
	}
	failed := func(line int, tree string) func(*coppice.Check) {
		return func(c *coppice.Check) { c.Exit, c.Log, c.ErrorLine, c.Tree = 1, log.String(), line, tree }
	}
	show := func() string {
		f := read[api.TaskDetail](t, b, "/tasks/app-9").Refused
		if f == nil {
			return "none"
		}
		return fmt.Sprintf("%s at %d, from %d: %s", f.Command, f.Line, f.From, strings.Join(f.Lines, ","))
	}
	putLanding(b, "app-9", "one")
	putCheck(b, "app-9", "old", failed(1, "one"))
	if got := show(); got != "old at 1, from 1: line 1,line 2,line 3,line 4,line 5,line 6,line 7,line 8" {
		t.Error(got)
	}
	putLanding(b, "app-9", "two")
	if got := show(); got != "none" {
		t.Errorf("before the newest candidate was checked: %s", got)
	}
	putCheck(b, "app-9", "build", func(c *coppice.Check) { c.Tree = "two" })
	putCheck(b, "app-9", "late", func(c *coppice.Check) { c.Exit, c.TimedOut, c.Tree = 124, true, "two" })
	putCheck(b, "app-9", "test", failed(98, "two"))
	putCheck(b, "app-9", "killed", func(c *coppice.Check) { c.Exit, c.Signal, c.Tree = 137, "SIGKILL", "two" })
	putCheck(b, "app-9", "late", failed(0, "two"))
	if got := show(); got != "test at 98, from 93: line 93,line 94,line 95,line 96,line 97,line 98,line 99,line 100" {
		t.Error(got)
	}
	putCheck(b, "app-9", "test", failed(0, "two"))
	if got := show(); got != "late at 0, from 93: line 93,line 94,line 95,line 96,line 97,line 98,line 99,line 100" {
		t.Errorf("without a known error, the end: %s", got)
	}
	putCheck(b, "app-9", "late", func(c *coppice.Check) { c.Exit, c.Log, c.Tree = 1, strings.Repeat("é", 1000), "two" })
	if f := read[api.TaskDetail](t, b, "/tasks/app-9").Refused; f.Command != "test" {
		t.Errorf("the first of a run: %s", f.Command)
	}
	putLanding(b, "app-9", "three")
	putCheck(b, "app-9", "wide", func(c *coppice.Check) { c.Exit, c.Log, c.Tree = 1, strings.Repeat("é", 1000), "three" })
	if f := read[api.TaskDetail](t, b, "/tasks/app-9").Refused; len(f.Lines) != 1 || f.Lines[0] != strings.Repeat("é", 150)+"…" {
		t.Errorf("a long line: %q", f.Lines)
	}
	b.Change("app-9", func(k *coppice.Task) { k.Stage, k.Outcome = coppice.StageQueued, "" })
	if got := show(); got != "none" {
		t.Errorf("while it is retried: %s", got)
	}
}

// A failed task whose work did not land can be landed, after a person has fixed
// its branch. One without work cannot.
func TestFailedWorkCanLand(t *testing.T) {
	t.Parallel()
	b := seedBoard(t)
	b.Change("app-9", func(k *coppice.Task) { k.Sessions = 1 })
	can := func() string { return fmt.Sprint(read[api.TaskDetail](t, b, "/tasks/app-9").Can) }
	if got := can(); got != "[continue retry archive]" {
		t.Errorf("without a landing: %s", got)
	}
	putLanding(b, "app-9", "one")
	if got := can(); got != "[land continue retry archive]" {
		t.Errorf("refused: %s", got)
	}
}

// A task offers a preview if its project serves an app and it has a workspace,
// and the end of one that runs. Lists say so too.
func TestPreviewIsOffered(t *testing.T) {
	t.Parallel()
	b := seedBoard(t)
	now := b.Clock.Now()
	at := func() string {
		for _, v := range read[api.TaskPage](t, b, "/tasks?status=working").Tasks {
			if v.Key != "app-1" {
				continue
			}
			var words []string
			for _, c := range v.Can {
				if strings.Contains(string(c), "preview") {
					words = append(words, string(c))
				}
			}
			return strings.Join(append(words, v.App), " ")
		}
		return "missing"
	}
	b.Change("app-1", func(k *coppice.Task) { k.Sessions = 1 })
	task := read[api.TaskDetail](t, b, "/tasks/app-1")
	update := func(what, want string, f func(store.Tx) error) {
		t.Helper()
		b.Update(f)
		if got := at(); got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	ws := coppice.Workspace{ProjectID: 1, TaskID: task.ID, CreatedAt: now, ReadyAt: now}
	update("a project without an app", "", func(tx store.Tx) error { return tx.Workspaces.Put(&ws) })
	update("with an app", "preview ", func(tx store.Tx) error {
		p, err := tx.Projects.ByPrefix("app")
		if err != nil {
			return err
		}
		ws.ProjectID, p.Policy.Workspace.Serve.Run = p.ID, "serve"
		return tx.Projects.Put(&p)
	})
	p := coppice.Preview{ProjectID: ws.ProjectID, TaskID: task.ID, State: coppice.PreviewReady, CreatedAt: now}
	update("running", "stop-preview ready", func(tx store.Tx) error { return tx.Previews.Put(&p) })
	update("being stopped", "stopping", func(tx store.Tx) error { p.StopAt = now; return tx.Previews.Put(&p) })
	update("stopped", "preview ", func(tx store.Tx) error {
		p.State, p.EndedAt = coppice.PreviewStopped, now
		return tx.Previews.Put(&p)
	})
	removal := coppice.Work{Kind: coppice.WorkRemove, Key: "remove", ProjectID: ws.ProjectID, TaskID: task.ID, State: coppice.WorkOffered}
	update("while its workspace is being removed", "", func(tx store.Tx) error { return tx.Work.Put(&removal) })
	update("without a workspace", "", func(tx store.Tx) error {
		removal.State, ws.RemovedAt = coppice.WorkCancelled, now
		if err := tx.Work.Put(&removal); err != nil {
			return err
		}
		return tx.Workspaces.Put(&ws)
	})
}

// The request to land can name the commit that the person has read.
func TestLandNamesAHead(t *testing.T) {
	t.Parallel()
	b := setupApp(t)
	task := b.Task("app", coppice.NewTask{Title: "One"})
	const head, other = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	b.Update(func(tx store.Tx) error {
		x, err := tx.Tasks.ByKey(task.Key)
		if err != nil {
			return err
		}
		x.Stage, x.Wait = coppice.StageReview, nil
		l := coppice.Landing{ProjectID: x.ProjectID, TaskID: x.ID, Round: x.Round, Head: head, Candidate: coppice.Candidate{Tree: "t", Green: true}}
		return errors.Join(tx.Tasks.Put(&x), tx.Landings.Put(&l))
	})
	for _, c := range []struct {
		body, want string
		status     int
	}{
		{`{"head":"` + other + `"}`, "the change of app-1 is now at aaaaaaaaaa, not at bbbbbbbbbb", 409},
		{`{"head":"main"}`, "expected string to be a commit, or at least its first 7 characters", 422},
		{`{"head":"aaaaaaa"}`, `"key":"app-1"`, 200},
		{`{"head":"` + head + `"}`, `"key":"app-1"`, 200},
		{`{}`, `"key":"app-1"`, 200},
		{``, `"key":"app-1"`, 200},
	} {
		resp, text := call(t, b, "POST", "/api/v1/tasks/app-1/land", c.body)
		if resp.StatusCode != c.status || !strings.Contains(text, c.want) {
			t.Errorf("%s: %d %s", c.body, resp.StatusCode, text)
		}
	}
	if _, err := b.Client.Ask(b.Ctx, "app-1", coppice.VerbLand, verb.Request{Head: other}); coppice.ErrorCode(err) != coppice.EConflict {
		t.Errorf("the client: %v", err)
	}
}
