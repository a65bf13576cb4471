package local_test

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"coppice"
	"coppice/engine"
	"coppice/fabric"
	"coppice/fabric/fabrictest"
	"coppice/fabric/local"
	"coppice/internal/clock"
	"coppice/store"
	"coppice/store/sqlite"
	"coppice/store/sqlite/sqlitetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	t.Parallel()
	fabrictest.Run(t, open)
}

// facts is a store with one task and its engine.
type facts struct {
	store  store.Store
	clock  *clock.Manual
	engine *engine.Engine
	task   coppice.Task
}

func open(t *testing.T) fabrictest.Bundle {
	t.Helper()
	tr := newFacts(t)
	reopen := func(*testing.T) fabric.Fabric { return local.New(local.Config{Store: tr.store, Now: tr.clock.Now}) }
	return fabrictest.Bundle{
		Fabric: reopen(t), Lease: local.DefaultLease, Reopen: reopen,
		Offer: tr.offer, Cancel: tr.cancel, Work: tr.work,
		Advance: func(t *testing.T, d time.Duration) {
			tr.clock.Advance(d)
			if _, err := tr.engine.Turn(t.Context()); err != nil {
				t.Fatal(err)
			}
		},
	}
}

func newFacts(t *testing.T) *facts {
	t.Helper()
	var err error
	s := sqlitetest.Open(t, sqlite.Config{})
	tr := &facts{store: s, clock: clock.NewManual(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))}
	tr.engine, err = engine.New(engine.Config{
		Store: s, Now: tr.clock.Now, Nodes: func(context.Context) ([]coppice.Node, error) { return nil, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	tr.update(t, func(tx store.Tx) error {
		p := coppice.Project{Prefix: "app", Path: "/src/app", Policy: coppice.DefaultPolicy()}
		if err := tx.Projects.Put(&p); err != nil {
			return err
		}
		tr.task = coppice.Task{ProjectID: p.ID, Num: 1, Key: "app-1", Title: "a", Stage: coppice.StageEnded, Outcome: coppice.OutcomeFailed}
		return tx.Tasks.Put(&tr.task)
	})
	return tr
}

func (tr *facts) update(t *testing.T, f func(store.Tx) error) {
	t.Helper()
	if err := tr.store.Update(t.Context(), f); err != nil {
		t.Fatal(err)
	}
}

func (tr *facts) offer(t *testing.T, w coppice.Work) {
	t.Helper()
	w.ProjectID, w.TaskID, w.State, w.OfferedAt = tr.task.ProjectID, tr.task.ID, coppice.WorkOffered, tr.clock.Now()
	if w.Spec == nil {
		w.Spec = coppice.Raw(struct{}{})
	}
	tr.update(t, func(tx store.Tx) error { return tx.Work.Put(&w) })
}

func (tr *facts) cancel(t *testing.T, key string) {
	t.Helper()
	w := tr.work(t, key)
	w.State = coppice.WorkCancelled
	tr.update(t, func(tx store.Tx) error { return tx.Work.Put(&w) })
}

func (tr *facts) work(t *testing.T, key string) (w coppice.Work) {
	t.Helper()
	if err := tr.store.View(t.Context(), func(r store.Reader) error {
		found, err := r.Work.ByKey(key)
		if found != nil {
			w = *found
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return w
}

// A result is also an event in the log, which wakes the engine.
func TestFinishIsLogged(t *testing.T) {
	t.Parallel()
	tr := newFacts(t)
	f := local.New(local.Config{Store: tr.store, Now: tr.clock.Now})
	tr.offer(t, coppice.Work{Kind: coppice.WorkPurge, Key: "a", Pool: engine.PoolLocal})
	leases, err := f.TryTake(t.Context(), fabric.Request{Worker: "w1", Pools: []string{engine.PoolLocal}, Wants: []fabric.Want{{Kinds: []coppice.WorkKind{coppice.WorkPurge}, Most: 1}}})
	if err != nil || len(leases) != 1 {
		t.Fatalf("took %v: %v", leases, err)
	}
	if err := f.Finish(t.Context(), leases[0], coppice.Raw(coppice.PurgeResult{}), nil); err != nil {
		t.Fatal(err)
	}
	if err := tr.store.WaitEvent(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := tr.engine.Turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	if w := tr.work(t, "a"); w.State != coppice.WorkSettled {
		t.Errorf("the engine left it %s", w.State)
	}
}
