package ingest_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"coppice"
	"coppice/fabric"
	"coppice/fabric/fabrictest"
	"coppice/ingest"
	"coppice/internal/redact"
	"coppice/store"
	"coppice/store/sqlite"
	"coppice/store/sqlite/sqlitetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// bundle is a store with one task, and a ledger.
type bundle struct {
	*ingest.Ledger
	t     *testing.T
	store *sqlite.Store
	task  coppice.Task
	lost  sync.Map // commits that Publish cannot find
	live  *ingest.Live
}

func setup(t *testing.T, critical ...coppice.FailurePattern) *bundle {
	t.Helper()
	s := sqlitetest.Open(t, sqlite.Config{})
	b := &bundle{t: t, store: s, live: ingest.NewLive(redact.New("my given value"))}
	b.update(func(tx store.Tx) error {
		p := coppice.Project{Prefix: "app", Path: "/src/app", Policy: coppice.DefaultPolicy()}
		p.Policy.Critical = critical
		if err := tx.Projects.Put(&p); err != nil {
			return err
		}
		b.task = coppice.Task{ProjectID: p.ID, Num: 1, Key: "app-1", Title: "a", Stage: coppice.StageSession}
		return tx.Tasks.Put(&b.task)
	})
	b.Ledger = b.reopen()
	return b
}

func (b *bundle) reopen() *ingest.Ledger {
	b.t.Helper()
	l, err := ingest.New(ingest.Config{
		Store: b.store, Now: func() time.Time { return noon }, Worker: "local", Redact: redact.New("my given value"), Live: b.live,
		Tools: fabrictest.Answer,
		Publish: func(_ context.Context, _, _, commit string) error {
			if _, lost := b.lost.Load(commit); lost {
				return coppice.Errorf(coppice.EUnavailable, "there is no %s", commit)
			}
			return nil
		},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return l
}

func (b *bundle) update(f func(store.Tx) error) {
	b.t.Helper()
	if err := b.store.Update(context.WithoutCancel(b.t.Context()), f); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bundle) put(s *coppice.Session) {
	b.t.Helper()
	s.ProjectID, s.TaskID = b.task.ProjectID, b.task.ID
	b.update(func(tx store.Tx) error { return tx.Sessions.Put(s) })
}

// check returns checks that the worker has taken.
func (b *bundle) check() coppice.Work {
	b.t.Helper()
	w := coppice.Work{
		Kind: coppice.WorkCheck, Key: "check/1", ProjectID: b.task.ProjectID, TaskID: b.task.ID, Subject: coppice.TaskSubject(b.task.ID),
		State: coppice.WorkTaken, Worker: "local", Attempt: 2,
	}
	b.update(func(tx store.Tx) error { return tx.Work.Put(&w) })
	return w
}

func (b *bundle) output(session int64) (out []coppice.Output) {
	b.t.Helper()
	b.update(func(tx store.Tx) (err error) {
		out, err = tx.Outputs.After(session, -1, 10_000)
		return err
	})
	return out
}

func TestLedger(t *testing.T) {
	t.Parallel()
	fabrictest.RunLedger(t, func(t *testing.T) fabrictest.LedgerBundle {
		b := setup(t)
		run := func(state coppice.WorkState) func(*testing.T, int64) {
			return func(_ *testing.T, session int64) {
				b.update(func(tx store.Tx) error {
					key := fmt.Sprintf("session/%d/run", session)
					w := coppice.Work{Kind: coppice.WorkRun, Key: key, ProjectID: b.task.ProjectID, TaskID: b.task.ID, SessionID: session}
					if old, err := tx.Work.ByKey(key); err != nil || old != nil {
						w = *old
					}
					w.State = state
					return tx.Work.Put(&w)
				})
			}
		}
		return fabrictest.LedgerBundle{
			Ledger: b, Reopen: func(*testing.T) fabric.Ledger { return b.reopen() },
			Put:   func(_ *testing.T, s *coppice.Session) { b.put(s) },
			Offer: run(coppice.WorkOffered), Settle: run(coppice.WorkSettled),
			Get: func(_ *testing.T, id int64) (s coppice.Session) {
				b.update(func(tx store.Tx) (err error) { s, err = tx.Sessions.Get(id); return err })
				return s
			},
			Image:  func(_ *testing.T, i coppice.Image) { b.update(func(tx store.Tx) error { return tx.Images.Put(i) }) },
			Output: func(_ *testing.T, id int64) []coppice.Output { return b.output(id) },
			Questions: func(*testing.T) (q []coppice.Question) {
				b.update(func(tx store.Tx) (err error) { q, err = tx.Questions.Of(b.task.ID); return err })
				return q
			},
			Lose:  func(commit string) { b.lost.Store(commit, true) },
			Check: func(*testing.T) coppice.Work { return b.check() },
			Shown: func(_ *testing.T, work int64) *coppice.Run {
				if r := b.live.Run(work); r != nil {
					run := r.Read(coppice.RunPosition{}, 1<<20)
					return &run
				}
				return nil
			},
		}
	})
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	if _, err := ingest.New(ingest.Config{Worker: "local"}); err == nil {
		t.Error("a ledger without a store was made")
	}
}

// Two ledgers take turns, as during an upgrade. Each knows the masks that it wrote
// last, which are not the latest.
func TestTwoLedgers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := coppice.Session{Key: "app-1.1", State: coppice.SessionWorking, StartedAt: noon}
	b.put(&s)
	ledgers := []*ingest.Ledger{b.Ledger, b.reopen()}
	at := int64(0)
	for i, text := range []string{"my", " gi", "ven", " va", "lue", " and", " my", " given", " value"} {
		f := fabric.Frame{Output: coppice.Output{Offset: at, At: noon, Kind: coppice.OutputStdout, Data: []byte(text)}, Next: at + int64(len(text))}
		standing, err := ledgers[i%2].Record(t.Context(), fabric.Batch{Session: s.ID, From: at, Frames: []fabric.Frame{f}, Quiet: true})
		if err != nil {
			t.Fatal(text, err)
		}
		at = standing.Cursor
	}
	if at != int64(len("my given value and my given value")) {
		t.Errorf("recorded up to %d", at)
	}
}

// A batch without facts returns the usage that is stored, also if another ledger
// stored it.
func TestABatchWithoutFactsHasTheUsage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := coppice.Session{Key: "app-1.1", State: coppice.SessionWorking, StartedAt: noon}
	b.put(&s)
	one, two := b.Ledger, b.reopen()
	at, want := int64(0), 0.0
	record := func(l *ingest.Ledger, kind coppice.OutputKind, text string) {
		t.Helper()
		f := fabric.Frame{Output: coppice.Output{Offset: at, At: noon, Kind: kind, Data: []byte(text)}, Next: at + 10}
		standing, err := l.Record(t.Context(), fabric.Batch{Session: s.ID, From: at, Frames: []fabric.Frame{f}, Quiet: true})
		if err != nil {
			t.Fatal(err)
		}
		if at += 10; standing.Cursor != at || standing.Usage.CostUSD != want {
			t.Errorf("after %q: up to %d, %g USD; want %d, %g USD", text, standing.Cursor, standing.Usage.CostUSD, at, want)
		}
	}
	record(one, coppice.OutputStdout, "a line\n")
	record(one, coppice.OutputStdout, "a line\n")
	want = 0.5
	record(two, coppice.OutputEvent, `{"kind":"usage","usage":{"cost_usd":0.5}}`)
	record(one, coppice.OutputStdout, "a line\n")
	record(one, coppice.OutputStdout, "a line\n")
}
