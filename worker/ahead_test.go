package worker

import (
	"testing"

	"coppice"
	"coppice/host"
	"coppice/store"
)

// A session's host starts while its workspace is prepared, and then runs the
// session. A host whose session never starts ends with the worker. A host whose
// workspace could not be prepared ends immediately.
func TestHostAhead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	run, s := b.run("cases: [{steps: [{say: Done.}]}]")
	work := b.work(run)
	b.update(func(tx store.Tx) error { // not offered yet
		work.State = coppice.WorkFinished
		return tx.Work.Put(&work)
	})
	spec := coppice.PrepareSpec{Key: b.task.Key, Repo: b.repo, Branch: coppice.TaskBranch(b.task.Key), Base: "main", Policy: b.project.Policy.Workspace}
	stop := b.start()
	if w := b.finished(b.offer(coppice.WorkPrepare, "session/1/prepare", spec, s.ID)); w.Failure != nil {
		t.Fatal(w.Failure)
	}
	bad := spec
	bad.Base = "nowhere"
	bad.Key, bad.Branch = "app-2", coppice.TaskBranch("app-2")
	if w := b.finished(b.offer(coppice.WorkPrepare, "session/7/prepare", bad, 7)); w.Failure == nil {
		t.Fatal("prepared without a base")
	}
	b.mu.Lock()
	ahead, others := b.ahead[s.ID], len(b.ahead)-1
	b.mu.Unlock()
	if ahead == nil || others != 0 {
		t.Fatalf("ahead %v, %d others", ahead, others)
	}
	if phase, _, _, err := host.Inspect(b.sessionDir(s.ID)); phase != host.PhaseNone || err != nil {
		t.Errorf("phase %s, %v", phase, err)
	}
	again := b.offer(coppice.WorkRun, "session/1/run/again", work.Spec, s.ID)
	if r := result[coppice.RunResult](b, b.finished(again)); r.Summary != "Done." {
		t.Errorf("%+v", r)
	}
	ahead.Wait()
	if n := waiting(b); n != 0 {
		t.Errorf("%d hosts wait after the session", n)
	}
	if w := b.finished(b.offer(coppice.WorkPrepare, "session/8/prepare", spec, 8)); w.Failure != nil {
		t.Fatal(w.Failure)
	}
	if n := waiting(b); n != 1 {
		t.Errorf("%d hosts wait", n)
	}
	stop()
	if n := waiting(b); n != 0 {
		t.Errorf("%d hosts wait after the worker's end", n)
	}
}

func waiting(b *bundle) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.ahead)
}

// The timer of an earlier host does not drop a later one, and a host that runs
// its session has no timer.
func TestALaterHostStays(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.launch(7)
	b.dropLater(7, first)
	second := b.launch(7)
	if first.timer.Stop() {
		t.Error("the timer of a host that was replaced still runs")
	}
	b.dropLater(7, first)
	b.drop(7, first)
	b.dropLater(7, second)
	got, err := b.launched(7)
	if err != nil || got != second.Ahead {
		t.Fatalf("the second host was dropped: %v", err)
	}
	if second.timer.Stop() {
		t.Error("the timer of a host that runs its session still runs")
	}
	got.Drop()
	got.Wait()
}
