package engine

import (
	"strings"
	"testing"

	"coppice"
	"coppice/store"
)

func TestContinue(t *testing.T) {
	t.Parallel()
	asked := func(v *View) { v.Task.Round = 1; say(coppice.VerbContinue, "now also this")(v) }
	as := func(o coppice.Outcome, c ...change) *View {
		return viewOf(coppice.StageEnded, append([]change{endedAs(o), ran("head1"), asked}, c...)...)
	}
	again := func(rest string) string {
		return "continue: task.retry_asked; to waiting; round 2; outcome \"\"; " + rest
	}
	run(t, continueTask, []decision{
		{"nobody asked", viewOf(coppice.StageEnded, endedAs(coppice.OutcomeDone)), "nothing"},
		{"not ended", viewOf(coppice.StageQueued, asked), "continue: task.changed"},
		{"failed: on its branch", as(coppice.OutcomeFailed, space()), again(`next implement by ann resuming talk1 with "now also this"`)},
		{"cancelled: its workspace comes back by itself", as(coppice.OutcomeCancelled, removed), again(`next implement by ann resuming talk1 with "now also this"`)},
		{"done: a new workspace", as(coppice.OutcomeDone, removed),
			again(`next implement by ann resuming talk1 with "now also this"; workspace ready=false removed=false kept=false tries=0`)},
		{"done, its workspace is still there", as(coppice.OutcomeDone, space()), "continue: work.offered; offer workspace.remove workspace/3/remove/1 to local"},
		{"done, a kept one as well", as(coppice.OutcomeDone, space(func(w *coppice.Workspace) { w.Kept = true })), "continue: work.offered; offer workspace.remove workspace/3/remove/1 to local"},
		{"done, it is being removed", as(coppice.OutcomeDone, space(), taken(coppice.WorkRemove)), "nothing"},
		{"done, it cannot be removed", as(coppice.OutcomeDone, space(func(w *coppice.Workspace) { w.Tries = mostRemovals })),
			`continue: task.warned; warns "cannot continue: its old workspace could not be removed"`},
		{"an earlier round had the conversation", as(coppice.OutcomeFailed, space(), func(v *View) { v.Earlier, v.Sessions = v.Sessions, nil }),
			again(`next implement by ann resuming talk1 with "now also this"`)},
		{"a fallback had it", as(coppice.OutcomeFailed, space(), ran("head2", by("bob"))), again(`next implement by bob resuming talk1 with "now also this"`)},
		{"its budget was used up", as(coppice.OutcomeFailed, space(), policy(func(p *coppice.Policy) { p.Budget.Task = 2 }), func(v *View) { v.Sessions[0].Usage.CostUSD = 3 }),
			again(`next implement by ann resuming talk1 with "now also this"; budget 5`)},
		{"nobody said anything yet", viewOf(coppice.StageEnded, endedAs(coppice.OutcomeCancelled), asked), again(`next implement by ann with "now also this"`)},
	})
}

// lands takes a task from its run to its landing.
func (b *bundle) lands(key, head, commit string) {
	b.t.Helper()
	b.finish(key, coppice.WorkRun, coppice.RunResult{Head: head, From: "base1", Conversation: "talk of " + head})
	b.finish(key, coppice.WorkMerge, coppice.MergeResult{Base: b.projectNow().BaseCommit, Tree: "tree of " + head, Commit: commit})
	b.finish(key, coppice.WorkCheck, coppice.CheckResult{Env: "e", Checks: []coppice.Check{{Command: "make"}}})
	b.finish(key, coppice.WorkMove, coppice.MoveResult{Moved: true, Now: commit})
}

// A task that has landed continues in its conversation, in a workspace made again
// from the base, and lands once more.
func TestContinueAfterLanding(t *testing.T) {
	t.Parallel()
	b := preparedTask(t)
	b.lands("app-1", "head1", "commit1")
	if x := b.task("app-1"); x.Outcome != coppice.OutcomeDone {
		t.Fatalf("%+v", x)
	}
	_, err := b.Continue(t.Context(), "app-1", "now also this") // while its workspace is being removed
	b.must(err)
	b.turn()
	b.finish("app-1", coppice.WorkRemove, coppice.RemoveResult{Head: "head1", Ref: "refs/trash/1"})
	w := b.unsettled("app-1")
	spec := specOf[coppice.PrepareSpec](b, w)
	if w.Kind != coppice.WorkPrepare || spec.From != "" {
		t.Fatalf("it needs %s %+v, not a new workspace", w.Kind, spec)
	}
	b.finish("app-1", coppice.WorkPrepare, coppice.PrepareResult{Path: "/ws2", BaseCommit: "commit1", Head: "commit1"})
	run := specOf[coppice.RunSpec](b, b.unsettled("app-1"))
	if run.Session.Resume != "talk of head1" || run.Session.Role != coppice.RoleImplement || run.Path != "/ws2" {
		t.Errorf("it continues as %+v", run.Session)
	}
	if s := b.session("app-1.2"); !strings.Contains(s.Prompt, "A person adds: now also this") || !strings.Contains(s.Prompt, "is part of main") {
		t.Errorf("its prompt is:\n%s", s.Prompt)
	}
	b.lands("app-1", "head2", "commit2")
	if x := b.task("app-1"); x.Outcome != coppice.OutcomeDone || x.Landed != "commit2" || x.Round != 1 {
		t.Errorf("%+v", x)
	}
}

// What comes back from the trash is out of it, also when that takes its time.
func TestRestoredTrashIsMarked(t *testing.T) {
	t.Parallel()
	b := preparedTask(t)
	_, err := b.Stop(t.Context(), "app-1")
	b.must(err)
	b.turn()
	b.finish("app-1", coppice.WorkRemove, coppice.RemoveResult{Head: "head1", Ref: "refs/trash/1"})
	_, err = b.Retry(t.Context(), "app-1", "")
	b.must(err)
	b.turn()
	b.finish("app-1", coppice.WorkRestore, coppice.PrepareResult{Path: "/ws", Head: "head1"})
	if tr := b.trash(1); tr.RestoredAt.IsZero() {
		t.Errorf("the trash still has %+v", tr)
	}
}

func TestFork(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	b.create(coppice.NewTask{Title: "a", Body: "all of it", Priority: 3, Checks: []string{"make x"}, Steps: []string{"it works"}, Feature: "7"})
	if _, err := b.Fork(t.Context(), "app-1", ""); coppice.ErrorCode(err) != coppice.EConflict {
		t.Errorf("a fork of what has no conversation: %v", err)
	}
	b.prepares("app-1")
	b.update(func(tx store.Tx) error {
		s, err := tx.Sessions.ByKey("app-1.1")
		if err != nil {
			return err
		}
		s.State, s.StartedAt, s.Conversation = coppice.SessionWorking, noon, "talk1"
		return tx.Sessions.Put(&s)
	})
	made, err := b.Fork(t.Context(), "app-1", "another way")
	b.must(err)
	if made.Key != "app-2" || made.Title != "a" || made.Body != "all of it" || made.Priority != 3 || len(made.Checks) != 1 || len(made.Steps) != 1 ||
		made.Feature != "" || made.ForkOf != "app-1" {
		t.Errorf("made %+v", made)
	}
	b.turn()
	from := func() string {
		spec := specOf[coppice.PrepareSpec](b, b.unsettled("app-2"))
		return spec.From
	}
	if got := from(); got != "coppice/app-1" {
		t.Errorf("its branch begins from %q", got)
	}
	b.finish("app-2", coppice.WorkPrepare, coppice.PrepareResult{Path: "/ws2", BaseCommit: "base1", Head: "head1"})
	run := specOf[coppice.RunSpec](b, b.unsettled("app-2"))
	if s := run.Session; s.Resume != "talk1" || !s.Fork {
		t.Errorf("it continues as %+v", s)
	}
	// What it began with is not its own: with nothing more, it changed nothing.
	b.finish("app-2", coppice.WorkRun, coppice.RunResult{From: "head1", Head: "head1"})
	if x := b.task("app-2"); x.Failure == nil || x.Failure.Class != coppice.ClassUnchanged {
		t.Errorf("%+v", x)
	}
}

func TestForkPoint(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		outcome coppice.Outcome
		ws      *coppice.Workspace
		trash   *coppice.Trash
		want    string
	}{
		"no workspace":     {"", nil, nil, ""},
		"it is being made": {"", &coppice.Workspace{Branch: "coppice/app-1"}, nil, ""},
		"a branch":         {"", &coppice.Workspace{Branch: "coppice/app-1", Path: "/ws"}, nil, "coppice/app-1"},
		"done":             {coppice.OutcomeDone, &coppice.Workspace{Branch: "coppice/app-1", Path: "/ws"}, nil, ""},
		"in the trash":     {coppice.OutcomeCancelled, &coppice.Workspace{Branch: "coppice/app-1", Path: "/ws", RemovedAt: noon}, &coppice.Trash{Head: "head1"}, "head1"},
		"forgotten":        {coppice.OutcomeCancelled, &coppice.Workspace{Branch: "coppice/app-1", Path: "/ws", RemovedAt: noon}, &coppice.Trash{Head: "head1", PurgedAt: noon}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := openApp(t)
			x := b.create(coppice.NewTask{Title: "a"})[0]
			b.update(func(tx store.Tx) error {
				x.Outcome = c.outcome
				if err := tx.Tasks.Put(&x); err != nil {
					return err
				}
				if c.trash != nil {
					if err := tx.Trash.Put(c.trash); err != nil {
						return err
					}
					c.ws.TrashID = c.trash.ID
				}
				if c.ws == nil {
					return nil
				}
				c.ws.TaskID = x.ID
				return tx.Workspaces.Put(c.ws)
			})
			if got := read(b, func(r store.Reader) (string, error) { return forkPoint(r, "app-1") }); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// On a screen a person says what comes next: what was said before comes as
// messages, one by one, and not as a prompt.
func TestScreenGetsMessages(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	b.create(coppice.NewTask{Title: "a"})
	b.working("app-1")
	_, err := b.Take(t.Context(), "app-1")
	b.must(err)
	_, err = b.SendNext(t.Context(), "app-1", "then this")
	b.must(err)
	b.turn()
	b.finish("app-1", coppice.WorkStop, coppice.StopResult{})
	b.finish("app-1", coppice.WorkRun, coppice.RunResult{Stopped: true, Head: "base1", Conversation: "talk1"})
	s := b.session("app-1.2")
	if !s.Screen || s.Resume != "talk1" || s.Prompt != "" {
		t.Errorf("its screen is %+v", s)
	}
	if all := b.messages(s.TaskID); len(all) != 1 || !all[0].Open() {
		t.Errorf("messages %+v", all)
	}
}
