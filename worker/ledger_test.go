package worker

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"coppice"
	"coppice/fabric"
	"coppice/store"
	"coppice/workspace"
)

var _ Workspaces = (*workspace.Workspaces)(nil)

// failingFabric is a fabric whose Wait and TryTake fail a number of times.
type failingFabric struct {
	fabric.Fabric
	waits, takes atomic.Int64 // how many calls still fail
	offers       chan coppice.Lease
	finished     chan coppice.Lease
}

var errNoConnection = errors.New("no connection")

func (f *failingFabric) Held(context.Context, string) ([]coppice.Lease, error) { return nil, nil }

func (f *failingFabric) Wait(ctx context.Context) error {
	if f.waits.Add(-1) >= 0 {
		return errNoConnection
	}
	<-ctx.Done()
	return ctx.Err()
}

func (f *failingFabric) TryTake(_ context.Context, r fabric.Request) ([]coppice.Lease, error) {
	if f.takes.Add(-1) >= 0 {
		return nil, errNoConnection
	}
	for _, want := range r.Wants {
		if !slices.Contains(want.Kinds, coppice.WorkPurge) {
			continue
		}
		select {
		case l := <-f.offers:
			return []coppice.Lease{l}, nil
		default:
		}
	}
	return nil, nil
}

func (f *failingFabric) Finish(_ context.Context, l coppice.Lease, _ json.RawMessage, _ *coppice.Failure) error {
	f.finished <- l
	return nil
}

// idle is a ledger without sessions, and bare are workspaces that only purge.
type (
	idle struct{ fabric.Ledger }
	bare struct{ Workspaces }
)

func (idle) Over(context.Context, []int64) ([]int64, error) { return nil, nil }
func (bare) Purge(context.Context, coppice.PurgeSpec) error { return nil }

// A worker whose fabric fails waits longer each time and then continues. Nothing
// stops it permanently.
func TestAFabricThatFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		waits, takes int64
		within       time.Duration
	}{
		"waiting": {waits: 9, within: 0},
		"taking":  {takes: 4, within: 15 * time.Second}, // 1 + 2 + 4 + 8
		"both":    {waits: 9, takes: 4, within: 15 * time.Second},
		"long":    {takes: 9, within: 159 * time.Second}, // 1 + 2 + 4 + 8 + 16 + 4 * 32
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := &failingFabric{offers: make(chan coppice.Lease, 2), finished: make(chan coppice.Lease)}
				f.waits.Store(c.waits)
				f.takes.Store(c.takes)
				w, err := New(Config{
					Name: "local", Pools: []string{"local"}, Fabric: f, Ledger: idle{}, Workspaces: bare{}, Sessions: t.TempDir(), Now: time.Now,
					Profile: func(string, *coppice.Profile) (coppice.Profile, error) { return coppice.Profile{}, nil }, Renew: time.Hour,
				})
				if err != nil {
					t.Fatal(err)
				}
				f.offers <- coppice.Lease{Work: coppice.Work{ID: 1, Kind: coppice.WorkPurge, Spec: coppice.Raw(coppice.PurgeSpec{})}}
				began := time.Now()
				if err := w.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				defer w.Stop()
				select {
				case <-f.finished:
				case <-time.After(time.Hour):
					t.Fatal("the work was never done")
				}
				if took := time.Since(began); took > c.within {
					t.Errorf("the work was done after %v", took)
				}
			})
		})
	}
}

// noted is a ledger that records what is published.
type noted struct {
	fabric.Ledger
	heads chan fabric.Head
}

func (n noted) Publish(ctx context.Context, h fabric.Head) error {
	n.heads <- h
	return n.Ledger.Publish(ctx, h)
}

// The head of a session's branch is published before the result that names it is
// reported. The head of a read-only session is not.
func TestPublishes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, s := b.run("cases: [{steps: [{write: {path: new.txt, content: a}}]}]")
	heads := make(chan fabric.Head, 9)
	b.cfg.Ledger = noted{b.ledger, heads}
	b.start()
	r := result[coppice.RunResult](b, b.finished(id))
	want := fabric.Head{Session: s.ID, Repo: b.repo, Branch: coppice.TaskBranch(b.task.Key), Commit: r.Head}
	if len(heads) != 1 {
		t.Fatalf("%d heads were published", len(heads))
	}
	if got := <-heads; got != want || r.Head == r.From {
		t.Errorf("published %+v, want %+v", got, want)
	}
	if err := b.spaces.Published(b.ctx, b.repo, want.Branch, want.Commit); err != nil {
		t.Error(err)
	}
	if err := b.spaces.Published(b.ctx, b.repo, want.Branch, r.From); err == nil {
		t.Error("a branch is where it is not")
	}
	id, _ = b.verify("cases: [{steps: [{say: hello}]}]", nil)
	result[coppice.RunResult](b, b.finished(id))
	if len(heads) > 0 {
		t.Errorf("a session that only looks published %+v", <-heads)
	}
}

// A secret that an agent writes in two pieces is masked, with or without a pause
// between them. The possible start of a secret is shown if nothing follows.
func TestASecretInTwoPieces(t *testing.T) {
	t.Parallel()
	b := setup(t)
	g := b.gate("gate")
	token := "ghp_" + strings.Repeat("aB3", 12)
	b.profile = coppice.Profile{Protocol: "command", Command: []string{"sh", "-c", "printf 'x " + token[:10] + "'; cat " + g.path + "; printf '" + token[10:] + " y\\n'"}}
	id, s := b.run("")
	b.start()
	open := g.reached()
	text := func() string {
		var all strings.Builder
		for _, o := range b.output(s.ID) {
			all.Write(o.Data)
		}
		return all.String()
	}
	watch := b.store.Watch(store.TopicSession(s.ID))
	defer watch.Close()
	for !strings.Contains(text(), "x "+token[:10]) { // shown when the agent is quiet
		if _, err := watch.Wait(b.ctx); err != nil {
			t.Fatal(err)
		}
	}
	open()
	result[coppice.RunResult](b, b.finished(id))
	if got := text(); strings.Contains(got, token[10:]) || !strings.Contains(got, " y\n") {
		t.Errorf("kept %q", got)
	}
}
