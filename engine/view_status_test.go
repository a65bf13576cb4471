package engine

import (
	"errors"
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

// status reads what a person reads about a task.
func (b *bundle) status(key string) (s TaskStatus) {
	b.t.Helper()
	b.view(func(r store.Reader) error {
		t, err := r.Tasks.ByKey(key)
		if err != nil {
			return err
		}
		all, err := b.engine.Statuses(b.t.Context(), r, []coppice.Task{t})
		if err == nil {
			s = all[0]
		}
		return err
	})
	return s
}

// The life of a task as a person sees it, and that waiting and needing somebody
// always come with a reason.
func TestStatuses(t *testing.T) {
	t.Parallel()
	b := openApp(t, func(p *coppice.Project) { p.Policy.Land.How, p.Policy.Limits.Sessions = coppice.LandBranch, 1 })
	see := func(key string, want coppice.Status, reason, fix string) TaskStatus {
		t.Helper()
		s := b.status(key)
		if s.Status != want || s.Reason != reason || s.Fix != fix {
			t.Errorf("%s is %s (%q, %q), want %s (%q, %q)", key, s.Status, s.Reason, s.Fix, want, reason, fix)
		}
		return s
	}
	b.create(coppice.NewTask{Title: "a", Priority: 1}, coppice.NewTask{Title: "b"}, coppice.NewTask{Title: "c", After: []string{"app-1"}}, coppice.NewTask{Title: "d", NotBefore: noon.Add(time.Hour)})
	see("app-1", coppice.StatusWaiting, "not looked at yet", "")
	b.turn()
	see("app-1", coppice.StatusWorking, "", "")
	see("app-2", coppice.StatusWaiting, "all 1 sessions of the project are taken", "")
	see("app-3", coppice.StatusWaiting, "waits for app-1", "")
	see("app-4", coppice.StatusWaiting, "starts at 2026-03-01T13:00:00Z", "")

	b.finish("app-1", coppice.WorkPrepare, coppice.PrepareResult{Path: "/ws", BaseCommit: "base1", Head: "base1"})
	b.update(func(tx store.Tx) error {
		return tx.Questions.Put(&coppice.Question{TaskID: 1, SessionID: 1, Ref: "q", Text: "which one?", AskedAt: noon})
	})
	if s := see("app-1", coppice.StatusNeedsYou, "which one?", ""); s.Question == nil || s.Session == nil || s.Landing != nil {
		t.Errorf("rows behind the status: %+v", s)
	}
	_, err := b.Answer(t.Context(), "app-1", 0, "that one")
	b.must(err)
	see("app-1", coppice.StatusWorking, "", "")
	b.finish("app-1", coppice.WorkRun, coppice.RunResult{Head: "head1"})
	see("app-1", coppice.StatusChecking, "", "")
	b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "base1", Tree: "tree1", Commit: "commit1"})
	b.finish("app-1", coppice.WorkCheck, coppice.CheckResult{Env: "e", Checks: []coppice.Check{{Command: "make"}}})
	see("app-1", coppice.StatusNeedsYou, "checks passed; to land it, run: coppice land app-1", "")
	_, err = b.Land(t.Context(), "app-1")
	b.must(err)
	b.turn()
	see("app-1", coppice.StatusLanding, "", "")
	b.finish("app-1", coppice.WorkMove, coppice.MoveResult{Now: "base1", Blocked: "the checkout has changes"})
	see("app-1", coppice.StatusLanding, "the checkout has changes", "")
	b.clock = b.clock.Add(time.Minute)
	b.turn()
	b.finish("app-1", coppice.WorkMove, coppice.MoveResult{Moved: true, Now: "commit1"})
	see("app-1", coppice.StatusDone, "", "")

	b.finish("app-2", coppice.WorkPrepare, coppice.Failf(coppice.ClassDisk, "the disk is full", "free some space"))
	see("app-2", coppice.StatusNeedsYou, "the disk is full", "free some space")
	for _, key := range []string{"app-2", "app-3"} {
		_, err = b.Stop(t.Context(), key)
		b.must(err)
		b.turn()
	}
	see("app-2", coppice.StatusCancelled, "", "")
	b.nodes = nil
	b.clock = noon.Add(2 * time.Hour)
	b.turn()
	see("app-4", coppice.StatusWaiting, "no worker is alive", "")
}

// A task whose session was stopped while it waited does not need a person after the
// answer, although the engine has not looked at it yet.
func TestStatusAfterTheAnswer(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	b.create(coppice.NewTask{Title: "a"})
	b.turn()
	b.update(func(tx store.Tx) error {
		x, err := tx.Tasks.ByKey("app-1")
		if err != nil {
			return err
		}
		s, err := tx.Sessions.Get(1)
		if err != nil {
			return err
		}
		s.State, s.StopWhy, s.EndedAt = coppice.SessionDone, coppice.StopParked, noon
		x.Stage, x.Wait = coppice.StageWaiting, &coppice.Wait{On: coppice.WaitPerson, Text: "which one?"}
		return errors.Join(tx.Sessions.Put(&s), tx.Tasks.Put(&x), tx.Questions.Put(&coppice.Question{TaskID: 1, SessionID: 1, Ref: "q", Text: "which one?", AskedAt: noon}))
	})
	if s := b.status("app-1"); s.Status != coppice.StatusNeedsYou {
		t.Errorf("before the answer: %s (%s)", s.Status, s.Reason)
	}
	_, err := b.Answer(t.Context(), "app-1", 0, "that one")
	b.must(err)
	if s := b.status("app-1"); s.Status != coppice.StatusWaiting || s.Reason != coppice.ReasonAnswered {
		t.Errorf("after the answer: %s (%s)", s.Status, s.Reason)
	}
}

func TestStatusOfAFix(t *testing.T) {
	t.Parallel()
	b := openApp(t, func(p *coppice.Project) { p.Policy.Verify.Attempts = 1 })
	b.create(coppice.NewTask{Title: "a"})
	b.turn()
	refuse := func() {
		b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "base1", Tree: "tree1", Commit: "commit1"})
		b.finish("app-1", coppice.WorkCheck, coppice.CheckResult{Env: "e", Checks: []coppice.Check{{Command: "make", Exit: 1, Log: "red"}}})
	}
	b.finish("app-1", coppice.WorkPrepare, coppice.PrepareResult{Path: "/ws", BaseCommit: "base1", Head: "base1"})
	b.finish("app-1", coppice.WorkRun, coppice.RunResult{Head: "head1"})
	refuse()
	if s := b.status("app-1"); s.Status != coppice.StatusFixing {
		t.Errorf("is %s (%s)", s.Status, s.Reason)
	}
	b.finish("app-1", coppice.WorkRun, coppice.RunResult{Head: "head2"})
	b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "base1", Tree: "tree2", Commit: "commit2"})
	b.finish("app-1", coppice.WorkCheck, coppice.CheckResult{Env: "e", Checks: []coppice.Check{{Command: "make", Exit: 1, Log: "red"}}})
	if s := b.status("app-1"); s.Status != coppice.StatusFailed || s.Reason != "its checks do not pass on the merged tree" || s.Fix == "" {
		t.Errorf("is %s (%q, %q)", s.Status, s.Reason, s.Fix)
	}
}

// A task in a track that is paused says what to do about it.
func TestStatusInAPausedTrack(t *testing.T) {
	t.Parallel()
	b := openApp(t, func(p *coppice.Project) {
		p.PausedTracks = map[string]string{"main": "2 environment failures in a row"}
	})
	b.create(coppice.NewTask{Title: "a"})
	b.turn()
	if s := b.status("app-1"); s.Reason != "track main is paused: 2 environment failures in a row" || s.Fix != "fix the problem, then run `coppice project resume app --track main`" {
		t.Errorf("is %s (%q, %q)", s.Status, s.Reason, s.Fix)
	}
}

// A task that has not begun says that landings must catch up first.
func TestCrowded(t *testing.T) {
	t.Parallel()
	b := openApp(t, func(p *coppice.Project) { p.Policy.Limits.Sessions, p.Policy.Limits.Workspaces = 9, 1 })
	b.create(coppice.NewTask{Title: "a"}, coppice.NewTask{Title: "b"})
	b.prepares("app-1")
	b.finish("app-1", coppice.WorkRun, coppice.RunResult{Head: "head1"})
	want := "waiting for other tasks to land: 1 of 1 have started (limits.workspaces)"
	if s := b.status("app-2"); s.Status != coppice.StatusWaiting || s.Reason != want {
		t.Errorf("app-2 is %s (%s)", s.Status, s.Reason)
	}
	b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "base1", Tree: "tree1", Commit: "commit1", Conflicts: []coppice.Conflict{{Path: "a"}}})
	b.update(func(tx store.Tx) error { // nobody fixes it
		t, err := tx.Tasks.ByKey("app-1")
		t.Stage, t.Outcome, t.EndedAt = coppice.StageEnded, coppice.OutcomeFailed, noon
		return errors.Join(err, tx.Tasks.Put(&t), tx.Log.Append(&coppice.Event{At: noon, Kind: coppice.EventTaskEnded, ProjectID: 1, TaskID: t.ID}))
	})
	b.turn()
	if s := b.status("app-2"); s.Status != coppice.StatusWorking {
		t.Errorf("app-2 is %s (%s) though app-1 is %s", s.Status, s.Reason, b.status("app-1").Status)
	}
}

// A task whose check waits for a slot names the tasks whose checks run.
func TestCheckSlots(t *testing.T) {
	t.Parallel()
	b := openApp(t, func(p *coppice.Project) { p.Policy.Limits.Sessions = 9 })
	b.create(coppice.NewTask{Title: "a"}, coppice.NewTask{Title: "b"})
	b.turn()
	for _, key := range []string{"app-1", "app-2"} {
		b.finish(key, coppice.WorkPrepare, coppice.PrepareResult{Path: "/ws/" + key, BaseCommit: "base1", Head: "base1"})
		b.finish(key, coppice.WorkRun, coppice.RunResult{Head: "head" + key})
		b.finish(key, coppice.WorkMerge, coppice.MergeResult{Base: "base1", Tree: "tree" + key, Commit: "commit" + key})
	}
	see := func(key, reason string) {
		t.Helper()
		if s := b.status(key); s.Status != coppice.StatusChecking || s.Reason != reason {
			t.Errorf("%s is %s (%q), want %q", key, s.Status, s.Reason, reason)
		}
	}
	see("app-2", "") // nothing runs: its worker takes it in a moment
	b.update(func(tx store.Tx) error {
		work, err := tx.Work.Unsettled(coppice.TaskSubject(1))
		if err == nil {
			work[0].State, work[0].Attempt = coppice.WorkTaken, 1
			err = tx.Work.Put(&work[0])
		}
		return err
	})
	see("app-1", "")
	see("app-2", "waiting for a check slot; running: app-1")
}
