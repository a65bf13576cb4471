package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coppice"
	"coppice/store"
)

// gate is a check command that waits until the test lets it through.
type gate struct {
	b    *bundle
	path string
}

func (b *bundle) gate(name string) gate {
	b.t.Helper()
	g := gate{b, filepath.Join(b.dir, name)}
	b.must(syscall.Mkfifo(g.path, 0o600))
	return g
}

// spec is a check that waits at the gate.
func (g gate) spec() coppice.CheckSpec {
	head := g.b.git("rev-parse", "HEAD")
	return coppice.CheckSpec{
		Repo: g.b.repo, Commit: head, Tree: g.b.git("rev-parse", "HEAD^{tree}"), Commands: []string{"cat " + g.path},
		Timeout: coppice.Duration(1 << 36), Policy: coppice.WorkspacePolicy{Kind: "worktree"},
	}
}

// reached waits until the check waits at the gate. The function that it returns
// lets the check through.
func (g gate) reached() (open func()) {
	g.b.t.Helper()
	f, err := os.OpenFile(g.path, os.O_WRONLY, 0)
	g.b.must(err)
	g.b.t.Cleanup(func() { f.Close() })
	return func() { f.Close() }
}

// A group without capacity takes nothing more, and delays no other group.
func TestCapacityOfAGroup(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.capacity = map[Group]int{GroupCheck: 1, GroupGit: 1}
	b.open()
	one, two := b.gate("one"), b.gate("two")
	first := b.offer(coppice.WorkCheck, "check/1", one.spec(), 0)
	second := b.offer(coppice.WorkCheck, "check/2", two.spec(), 0)
	b.start()
	letOne := one.reached()
	for n := range 2 {
		id := b.offer(coppice.WorkPrepare, fmt.Sprint("prepare/", n), coppice.PrepareSpec{
			Key: fmt.Sprint("app-", n+2), Repo: b.repo, Branch: fmt.Sprint("coppice/app-", n+2), Base: "main", Policy: b.project.Policy.Workspace,
		}, 0)
		if r := result[coppice.PrepareResult](b, b.finished(id)); r.Head != b.git("rev-parse", "main") {
			t.Errorf("prepared at %s", r.Head)
		}
	}
	if a, c := b.work(first), b.work(second); a.State != coppice.WorkTaken || c.State != coppice.WorkOffered {
		t.Errorf("checks are %s and %s, want one taken and one offered", a.State, c.State)
	}
	letOne()
	r := result[coppice.CheckResult](b, b.finished(first))
	if len(r.Checks) != 1 || !r.Checks[0].Passed() || r.Env == "" {
		t.Errorf("checks %+v", r)
	}
	two.reached()()
	b.finished(second)
}

// A worker repeats the work that it had when it stopped, as the same attempt.
func TestContinuesAfterARestart(t *testing.T) {
	t.Parallel()
	b := setup(t)
	g := b.gate("gate")
	id := b.offer(coppice.WorkCheck, "check/1", g.spec(), 0)
	stop := b.start()
	g.reached()
	stop() // in the middle of the check
	if w := b.work(id); w.State != coppice.WorkTaken || w.Worker != "local" || w.Attempt != 1 {
		t.Fatalf("a stopped worker left it %s, attempt %d", w.State, w.Attempt)
	}
	b.must(os.Remove(g.path))
	b.must(os.WriteFile(g.path, nil, 0o600)) // the gate stays open
	b.open()
	b.start()
	w := b.finished(id)
	if w.Attempt != 1 {
		t.Errorf("attempt %d", w.Attempt)
	}
	if r := result[coppice.CheckResult](b, w); !r.Checks[0].Passed() {
		t.Errorf("check %+v", r.Checks[0])
	}
}

// takenCheck is a worker that has taken a check, which waits at a gate.
func takenCheck(t *testing.T) (*bundle, gate, int64) {
	t.Helper()
	b := setup(t)
	g := b.gate("gate")
	id := b.offer(coppice.WorkCheck, "check/1", g.spec(), 0)
	_, err := b.takeOnce(b.ctx, groups)
	b.must(err)
	return b, g, id
}

// A result that comes after its work was cancelled is dropped.
func TestLateResultIsDropped(t *testing.T) {
	t.Parallel()
	b, g, id := takenCheck(t)
	open := g.reached()
	b.takeBack(id)
	open()
	b.wg.Wait()
	if w := b.work(id); w.State != coppice.WorkCancelled || len(w.Result) != 0 || w.Failure != nil {
		t.Errorf("work %s, result %s, failure %v", w.State, w.Result, w.Failure)
	}
}

// Renewing finds out that a lease is lost, and ends its work.
func TestLostLeaseEndsTheWork(t *testing.T) {
	t.Parallel()
	b, g, id := takenCheck(t)
	g.reached()
	b.must(b.renewOnce(b.ctx))
	b.takeBack(id)
	b.must(b.renewOnce(b.ctx))
	b.wg.Wait() // although nobody opens the gate
	if w := b.work(id); w.State != coppice.WorkCancelled {
		t.Errorf("work %s", w.State)
	}
	b.must(b.renewOnce(b.ctx))
}

func (b *bundle) takeBack(id int64) {
	b.t.Helper()
	b.update(func(tx store.Tx) error {
		w, err := tx.Work.Get(id)
		w.State = coppice.WorkCancelled
		if err != nil {
			return err
		}
		return tx.Work.Put(&w)
	})
}

func TestFailureOfAnError(t *testing.T) {
	t.Parallel()
	disk := coppice.Failf(coppice.ClassDisk, "full", "free some")
	user := coppice.Errorf(coppice.EInvalid, "no such branch").WithFix("make it")
	for _, c := range []struct {
		name string
		err  error
		want *coppice.Failure
	}{
		{"none", nil, nil},
		{"failure", disk, disk},
		{"failure within", fmt.Errorf("saving: %w", disk), disk},
		{"error for people", user, coppice.Failf(coppice.ClassEnvironment, "no such branch", "make it")},
		{"error for people within", fmt.Errorf("git: %w", user), coppice.Failf(coppice.ClassEnvironment, "no such branch", "make it")},
		{"failure before error", errors.Join(user, disk), disk},
		{"any other", errors.New("broken pipe"), coppice.Failf(coppice.ClassEnvironment, "broken pipe", "see the server's log")},
	} {
		if d := cmp.Diff(c.want, failure(c.err)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

// Failed work is reported as failed, with its class.
func TestFailuresAreReported(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.start()
	for _, c := range []struct {
		name  string
		kind  coppice.WorkKind
		spec  any
		class coppice.Class
	}{
		{"unreadable spec", coppice.WorkPrepare, []int{1}, coppice.ClassUnknown},
		{"unreadable session", coppice.WorkRun, []int{1}, coppice.ClassUnknown},
		{"no repository", coppice.WorkMerge, coppice.MergeSpec{Repo: "/nowhere", Base: "main", Head: "x"}, coppice.ClassEnvironment},
		{"a session nobody knows", coppice.WorkStop, coppice.StopSpec{Session: "app-9.9"}, coppice.ClassEnvironment},
	} {
		w := b.finished(b.offer(c.kind, c.name, c.spec, 0))
		if w.Failure == nil || w.Failure.Class != c.class || w.Failure.Text == "" || len(w.Result) != 0 {
			t.Errorf("%s: failure %+v, result %s", c.name, w.Failure, w.Result)
		}
	}
}

func TestUnknownKind(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.offer("later.kind", "k", struct{}{}, 0)
	b.update(func(tx store.Tx) error { // as if a newer version of this worker had started it
		w, err := tx.Work.Get(id)
		w.State, w.Worker, w.Attempt, w.LeaseUntil = coppice.WorkTaken, "local", 1, time.Now().Add(time.Minute)
		if err != nil {
			return err
		}
		return tx.Work.Put(&w)
	})
	b.start()
	if w := b.finished(id); w.Failure == nil || w.Failure.Class != coppice.ClassCapability {
		t.Errorf("failure %+v", w.Failure)
	}
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	if _, err := New(Config{Name: "local"}); err == nil {
		t.Error("a worker without a store was made")
	}
	b := setup(t)
	ctx, cancel := context.WithCancel(b.ctx)
	cancel()
	if err := b.Start(ctx); err == nil {
		b.Stop()
		t.Error("started though what it held could not be read")
	}
	b.Stop()
}

// A worker does not start work whose lease has expired.
func TestOldLeaseIsLeftAlone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.offer(coppice.WorkCheck, "check/1", b.gate("gate").spec(), 0)
	b.update(func(tx store.Tx) error {
		w, err := tx.Work.Get(id)
		w.State, w.Worker, w.Attempt, w.LeaseUntil = coppice.WorkTaken, "local", 1, time.Now().Add(-time.Second)
		if err != nil {
			return err
		}
		return tx.Work.Put(&w)
	})
	b.start()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.held) != 0 { // it holds what it starts, and nobody opens the gate
		t.Errorf("began work whose lease is over")
	}
}
