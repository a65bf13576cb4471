package engine

import (
	"strings"
	"testing"

	"coppice"
	"coppice/store"
)

// Nothing begins in a project that is being removed, and it is refused while
// something of it is open.
func TestRemoveProject(t *testing.T) {
	t.Parallel()
	b := open(t)
	p := b.project(func(p *coppice.Project) { p.PausedAt = noon }) // so that nothing of it runs
	var tasks []coppice.NewTask
	for range 7 {
		tasks = append(tasks, coppice.NewTask{Title: "one"})
	}
	made, err := b.CreateTasks(t.Context(), p.Prefix, tasks)
	b.must(err)
	_, err = b.RemoveProject(t.Context(), p.Prefix, coppice.Remove{})
	if e := coppice.Public(err); e.Code != coppice.EConflict || !strings.Contains(e.Cause, "7 tasks") || !strings.Contains(e.Cause, "app-5, …") || !strings.Contains(e.Fix, "--force") {
		t.Errorf("with open tasks: %v", err)
	}
	if _, err := b.RemoveProject(t.Context(), "none", coppice.Remove{}); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("one that is not there: %v", err)
	}
	other, err := b.AddProject(t.Context(), "/src/other")
	b.must(err)
	outside, err := b.CreateTasks(t.Context(), other.Prefix, []coppice.NewTask{{Title: "after", After: []string{made[0].Key}}})
	b.must(err)
	if _, err := b.RemoveProject(t.Context(), p.Prefix, coppice.Remove{Force: true}); coppice.ErrorCode(err) != coppice.EConflict || !strings.Contains(err.Error(), outside[0].Key) {
		t.Errorf("with a task of another project after it: %v", err)
	}
	_, err = b.Stop(t.Context(), outside[0].Key)
	b.must(err)
	b.turns()

	p, err = b.RemoveProject(t.Context(), p.Prefix, coppice.Remove{Force: true})
	b.must(err)
	if p.Removal == nil || !p.Removal.Force || p.Removal.Purge {
		t.Fatalf("%+v", p.Removal)
	}
	if p, err = b.RemoveProject(t.Context(), p.Prefix, coppice.Remove{Purge: true}); err != nil || !p.Removal.Force || !p.Removal.Purge {
		t.Errorf("said again: %+v, %v", p.Removal, err)
	}
	key := made[0].Key
	for name, f := range map[string]func() error{
		"create": func() error { _, err := b.CreateTasks(t.Context(), p.Prefix, tasks); return err },
		"retry":  func() error { _, err := b.Retry(t.Context(), key, ""); return err },
		"fork":   func() error { _, err := b.Fork(t.Context(), key, ""); return err },
		"undo":   func() error { _, err := b.Undo(t.Context(), "", p.Prefix); return err },
		"add":    func() error { _, err := b.AddProject(t.Context(), p.Path); return err },
		"after": func() error {
			_, err := b.CreateTasks(t.Context(), other.Prefix, []coppice.NewTask{{Title: "after", After: []string{key}}})
			return err
		},
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), "being removed") && name != "after" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := b.Forget(t.Context(), p, 100); coppice.ErrorCode(err) != coppice.EConflict {
		t.Errorf("forgotten with open tasks: %v", err)
	}
	for before := int64(0); ; {
		before, err = b.StopOpen(t.Context(), p.ID, before, 3)
		b.must(err)
		if before == 0 {
			break
		}
	}
	b.turns()
	for more := true; more; {
		more, err = b.Forget(t.Context(), p, 100)
		b.must(err)
	}
	b.turns() // the events of its tasks no longer matter
	again, err := b.AddProject(t.Context(), p.Path)
	b.must(err)
	made, err = b.CreateTasks(t.Context(), again.Prefix, tasks[:1])
	b.must(err)
	if made[0].Key != "app-8" || again.ID == p.ID {
		t.Errorf("the next key is %s, the project %d after %d", made[0].Key, again.ID, p.ID)
	}
}

// turns takes turns until nothing is decided any more.
func (b *bundle) turns() {
	b.t.Helper()
	for {
		out, err := b.engine.Turn(b.t.Context())
		b.must(err)
		if out.Decisions == 0 {
			return
		}
	}
}

// A turn that finds events of a task that was forgotten since continues with the
// others.
func TestEventsOfAForgottenTask(t *testing.T) {
	t.Parallel()
	b := open(t)
	p := b.project()
	b.must(b.store.Update(t.Context(), func(tx store.Tx) error {
		return tx.Log.Append(&coppice.Event{At: b.now(), Kind: coppice.EventTaskChanged, ProjectID: p.ID, TaskID: 99, Subject: "app-99"})
	}))
	made, err := b.CreateTasks(t.Context(), p.Prefix, []coppice.NewTask{{Title: "one"}})
	b.must(err)
	b.turns()
	if k := b.task(made[0].Key); k.Stage != coppice.StageSession {
		t.Errorf("it is %s", k.Stage)
	}
}
