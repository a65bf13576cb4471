package engine

import (
	"strings"
	"testing"

	"coppice"
	"coppice/store"
	"coppice/verb"
)

func inCheckout(v *View) { v.Task.Wants, v.Task.Checkout = coppice.WantsAnswer, true }

func checkoutSession(s *coppice.Session) { s.Role, s.Conversation = coppice.RoleCheckout, "c1" }

// After a session in the person's checkout the task is done. No failure starts another
// session.
func TestJudgeCheckout(t *testing.T) {
	t.Parallel()
	done := pipeline(viewOf(coppice.StageSession, inCheckout, ran("snap2", checkoutSession, func(s *coppice.Session) { s.Stat = " a.go | +1 -0" })))
	if done == nil || done.Task == nil || done.Task.Outcome != coppice.OutcomeDone || !strings.Contains(done.Task.Note, "coppice diff") || done.Landing != nil || done.Workspace != nil {
		t.Errorf("%+v", done)
	}
	if d := pipeline(viewOf(coppice.StageSession, inCheckout, ran("snap1", checkoutSession))); d.Task.Outcome != coppice.OutcomeDone || !strings.Contains(d.Task.Note, "changed nothing") {
		t.Errorf("without a change: %+v", d.Task)
	}
	for _, class := range coppice.Classes {
		d := pipeline(viewOf(coppice.StageSession, inCheckout, ran("snap1", checkoutSession, fails(class))))
		if class == coppice.ClassCancelled {
			continue
		}
		if d == nil || d.Task == nil || d.Task.Stage != coppice.StageWaiting || d.Task.Wait == nil || d.Task.Wait.On != coppice.WaitPerson || d.Offer != nil {
			t.Errorf("%s: %+v; want that a person decides", class, d)
		}
	}
	limited := pipeline(viewOf(coppice.StageSession, inCheckout, ran("snap1", checkoutSession, fails(coppice.ClassRateLimit))))
	if len(limited.Requests) == 0 {
		t.Error("the limit of the account is forgotten")
	}
	late := pipeline(viewOf(coppice.StageSession, inCheckout, ran("snap1", checkoutSession), func(v *View) { v.Messages = []coppice.Message{{ID: 1, Text: "and why?"}} }))
	if late.Task.Stage != coppice.StageQueued || late.Task.Next.Resume != "c1" || late.Task.Next.Role != coppice.RoleCheckout {
		t.Errorf("a late message: %+v", late.Task)
	}
}

// A task in the person's checkout needs no workspace, and leaves none.
func TestCarryCheckout(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.project(func(p *coppice.Project) { p.Policy.Progress = "progress.md" })
	b.create(coppice.NewTask{Title: "here", Workspace: coppice.WorkspaceNone})
	b.turn()
	w := b.unsettled("app-1")
	spec, err := coppice.DecodeSpec[coppice.RunSpec](w)
	if err != nil || w.Kind != coppice.WorkRun || !spec.Checkout || spec.Path != "/src/app" || spec.Branch != "" || spec.Progress != "" || spec.ReadOnly {
		t.Fatalf("%s: %+v, %v", w.Kind, spec, err)
	}
	zero := 0
	b.finish("app-1", coppice.WorkRun, coppice.RunResult{Exit: &zero, Summary: "Did it.", From: "snap1", Head: "snap2", Stat: " a.go | +1 -0"})
	b.turn()
	k := b.task("app-1")
	if k.Outcome != coppice.OutcomeDone || b.unsettled("app-1").ID != 0 {
		t.Errorf("%+v, and there is more to do: %+v", k, b.unsettled("app-1"))
	}
	b.view(func(r store.Reader) error {
		ws, err := r.Workspaces.Of(k.ID)
		if err != nil || ws != nil {
			t.Errorf("it has the workspace %+v, %v", ws, err)
		}
		s, err := r.Sessions.Last(k.ID)
		if err != nil || s.Answer == nil || s.Answer.Text != "Did it." || s.Path != "" {
			t.Errorf("%+v, %v", s, err)
		}
		return err
	})
	for _, v := range []coppice.Verb{coppice.VerbLand, coppice.VerbTake, coppice.VerbRevert} {
		if _, err := b.Ask(t.Context(), "app-1", v, verb.Request{}); coppice.ErrorCode(err) != coppice.EConflict {
			t.Errorf("%s: %v", v, err)
		}
	}
}

// One task at a time works in the checkout of a project, also while a request to
// restart another one is open.
func TestOneTaskInACheckout(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.project()
	none := coppice.NewTask{Title: "here", Workspace: coppice.WorkspaceNone}
	busy := func(what, by string, err error) {
		t.Helper()
		if e := coppice.Public(err); e == nil || e.Code != coppice.EConflict || !strings.Contains(e.Error(), by+" works in your checkout already") {
			t.Errorf("%s: %v", what, err)
		}
	}
	create := func() error { _, err := b.CreateTasks(t.Context(), "app", []coppice.NewTask{none}); return err }
	b.create(none)
	busy("a second one", "app-1", create())
	ask := func(v coppice.Verb) error { _, err := b.Ask(t.Context(), "app-1", v, verb.Request{}); return err }
	b.must(ask(coppice.VerbStop))
	b.turn()
	b.must(ask(coppice.VerbRetry))
	busy("while a retry is requested", "app-1", create())
	b.turn()
	b.must(ask(coppice.VerbStop))
	b.turn()
	if k := b.task("app-1"); !k.Ended() {
		t.Fatalf("%+v", k)
	}
	b.must(create())
	busy("a retry of the first", "app-2", ask(coppice.VerbRetry))
	b.create(coppice.NewTask{Title: "elsewhere"}) // any other task is not concerned
}

func TestCheckoutRefuses(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.project()
	b.create(coppice.NewTask{Title: "there"})
	here := func(change func(*coppice.NewTask)) []coppice.NewTask {
		n := coppice.NewTask{Title: "here", Workspace: coppice.WorkspaceNone}
		change(&n)
		return []coppice.NewTask{n}
	}
	for name, c := range map[string]struct {
		tasks []coppice.NewTask
		field string
		says  string
	}{
		"unknown kind": {here(func(n *coppice.NewTask) { n.Workspace = "clone" }), "workspace", "not a valid value"},
		"a batch":      {append(here(func(*coppice.NewTask) {}), coppice.NewTask{Title: "b"}), "tasks[0].workspace", "created alone"},
		"after":        {here(func(n *coppice.NewTask) { n.After = []string{"app-1"} }), "after", "waits for no other task"},
		"a time":       {here(func(n *coppice.NewTask) { n.NotBefore = noon }), "not_before", "time before"},
		"an answer":    {here(func(n *coppice.NewTask) { n.Answer = true }), "workspace", "cannot"},
		"checks":       {here(func(n *coppice.NewTask) { n.Checks = []string{"make"} }), "checks", "has no checks"},
		"steps":        {here(func(n *coppice.NewTask) { n.Steps = []string{"it runs"} }), "steps", "has no steps"},
		"a branch":     {here(func(n *coppice.NewTask) { n.Branch = "x" }), "branch", "has no branch"},
	} {
		before := b.seq()
		_, err := b.CreateTasks(t.Context(), "app", c.tasks)
		if e := coppice.Public(err); e == nil || e.Code != coppice.EInvalid || e.Field != c.field || !strings.Contains(e.Error(), c.says) {
			t.Errorf("%s: %v (%+v)", name, err, e)
		}
		if b.seq() != before {
			t.Errorf("%s: the log has grown", name)
		}
	}
	file := b.As(coppice.Actor{Kind: coppice.ActorFile, Name: "features.json"})
	if _, err := file.CreateTasks(t.Context(), "app", here(func(*coppice.NewTask) {})); coppice.ErrorCode(err) != coppice.EForbidden {
		t.Errorf("the features file: %v", err)
	}
}
