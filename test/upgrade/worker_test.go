package upgrade

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"coppice"
	"coppice/engine"
	"coppice/fabric"
	"coppice/fabric/local"
	"coppice/store"
	"coppice/store/sqlite"
)

// machine is an engine on the dumped state, with a worker that does all work at
// once and well. Sessions run until they are ended.
type machine struct {
	t      *testing.T
	now    time.Time
	store  *sqlite.Store
	fabric *local.Fabric
	engine *engine.Engine
	intake *engine.Intake
	runs   map[string]coppice.Lease      // the running sessions, by key
	sent   map[string][]coppice.SendSpec // what they received
	moves  int

	messages []coppice.NotifySpec // that were sent
	writes   []coppice.TrackerWriteSpec
}

// newMachine loads the dump and opens it as a server would.
func newMachine(t *testing.T) *machine {
	t.Helper()
	path := filepath.Join(t.TempDir(), "coppice.db")
	text, err := os.ReadFile("testdata/state.sql")
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), string(text)); err != nil {
		t.Fatal("testdata/state.sql:", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	m := &machine{t: t, runs: map[string]coppice.Lease{}, sent: map[string][]coppice.SendSpec{}}
	if m.store, err = sqlite.Open(t.Context(), sqlite.Config{Path: path, Sync: sqlite.SyncOff}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.store.Close() })
	m.view(func(r store.Reader) error {
		_, last, err := r.Log.Bounds()
		if err != nil {
			return err
		}
		events, err := r.Log.Events(last-1, 1, store.EventFilter{})
		m.now = events[0].At.Add(time.Second)
		return err
	})
	clock := func() time.Time { return m.now }
	m.fabric = local.New(local.Config{Store: m.store, Now: clock})
	if err := m.fabric.Announce(t.Context(), coppice.Node{Name: engine.PoolLocal}); err != nil {
		t.Fatal(err)
	}
	if m.engine, err = engine.New(engine.Config{
		Store: m.store, Now: clock, Nodes: m.fabric.Nodes, Notify: func() coppice.NotifyPolicy { return notifyPolicy },
	}); err != nil {
		t.Fatal(err)
	}
	known := func(coppice.Project, string) error { return nil }
	m.intake = engine.NewIntake(m.store, clock, func(context.Context, string) (coppice.Project, error) { return coppice.Project{}, nil }, known, known)
	return m
}

func (m *machine) view(f func(store.Reader) error) {
	m.t.Helper()
	if err := m.store.View(m.t.Context(), f); err != nil {
		m.t.Fatal(err)
	}
}

// settle lets the engine decide and the worker work until nothing more happens.
func (m *machine) settle() {
	m.t.Helper()
	held, err := m.fabric.Held(m.t.Context(), engine.PoolLocal)
	if err != nil {
		m.t.Fatal(err)
	}
	for _, l := range held { // what the old server's worker had begun
		m.work(l)
	}
	for range 1000 {
		if _, err := m.engine.Turn(m.t.Context()); err != nil {
			m.t.Fatal(err)
		}
		leases, err := m.fabric.TryTake(m.t.Context(), fabric.Request{
			Worker: engine.PoolLocal, Pools: []string{engine.PoolControl, engine.PoolLocal},
			Wants: []fabric.Want{{Most: 100, Kinds: []coppice.WorkKind{
				coppice.WorkPrepare, coppice.WorkRemove, coppice.WorkRestore, coppice.WorkPurge, coppice.WorkRun, coppice.WorkSend,
				coppice.WorkStop, coppice.WorkCheck, coppice.WorkMerge, coppice.WorkPush, coppice.WorkMove, coppice.WorkNotify, coppice.WorkTrackerRead, coppice.WorkTrackerWrite,
			}}},
		})
		if err != nil {
			m.t.Fatal(err)
		}
		if len(leases) == 0 {
			return
		}
		for _, l := range leases {
			m.work(l)
		}
	}
	m.t.Fatal("the engine does not come to rest")
}

// work does one item.
func (m *machine) work(l coppice.Lease) {
	m.t.Helper()
	switch l.Work.Kind {
	case coppice.WorkRun:
		m.begin(l)
	case coppice.WorkStop:
		v := decoded[coppice.StopSpec](m.t, l)
		if run, ok := m.runs[v.Session]; ok {
			m.end(v.Session, coppice.RunResult{Stopped: true, Conversation: decoded[coppice.RunSpec](m.t, run).Session.Conversation, From: "from", Head: "from"})
		}
		m.finish(l, coppice.StopResult{})
	case coppice.WorkSend:
		v := decoded[coppice.SendSpec](m.t, l)
		m.sent[v.Session] = append(m.sent[v.Session], v)
		m.finish(l, coppice.SendResult{Delivered: true})
	case coppice.WorkCheck:
		var r coppice.CheckResult
		for _, command := range decoded[coppice.CheckSpec](m.t, l).Commands {
			r.Checks = append(r.Checks, coppice.Check{Command: command, EndedAt: m.now})
		}
		m.finish(l, r)
	case coppice.WorkMerge:
		v := decoded[coppice.MergeSpec](m.t, l)
		m.finish(l, coppice.MergeResult{Base: v.Seen, Tree: "tree of " + v.Head, Commit: fmt.Sprintf("%s on %.8s", v.Head, v.Seen)})
	case coppice.WorkPush:
		m.finish(l, coppice.PushResult{Pushed: true})
	case coppice.WorkMove:
		m.moves++
		m.finish(l, coppice.MoveResult{Moved: true, Now: decoded[coppice.MoveSpec](m.t, l).New})
	case coppice.WorkPrepare, coppice.WorkRestore:
		m.finish(l, coppice.PrepareResult{Path: "/workspace/" + l.Work.Key, BaseCommit: "base", Head: "head of " + l.Work.Key})
	case coppice.WorkRemove:
		m.finish(l, coppice.RemoveResult{Head: "head", Ref: "refs/coppice/trash/" + l.Work.Key})
	case coppice.WorkNotify:
		m.messages = append(m.messages, decoded[coppice.NotifySpec](m.t, l))
		m.finish(l, coppice.NotifyResult{})
	case coppice.WorkTrackerRead, coppice.WorkTrackerWrite:
		m.track(l)
	default:
		m.finish(l, struct{}{})
	}
}

func decoded[T any](t *testing.T, l coppice.Lease) T {
	t.Helper()
	v, err := coppice.DecodeSpec[T](l.Work)
	if err != nil {
		t.Fatal(l.Work.Key, err)
	}
	return v
}

func (m *machine) finish(l coppice.Lease, result any) {
	m.t.Helper()
	if err := m.fabric.Finish(m.t.Context(), l, coppice.Raw(result), nil); err != nil {
		m.t.Fatal(l.Work.Key, err)
	}
}

// begin starts a session, or follows one that runs already.
func (m *machine) begin(l coppice.Lease) {
	m.t.Helper()
	v := decoded[coppice.RunSpec](m.t, l)
	m.runs[v.Session.Key] = l
	err := m.store.Update(m.t.Context(), func(tx store.Tx) error {
		s, err := tx.Sessions.Get(v.Session.ID)
		if err != nil || !s.StartedAt.IsZero() {
			return err
		}
		s.StartedAt, s.State = m.now, coppice.SessionIdle
		if err := tx.Sessions.Put(&s); err != nil {
			return err
		}
		return tx.Log.Append(&coppice.Event{At: m.now, Kind: coppice.EventSessionStarted, ProjectID: s.ProjectID, TaskID: s.TaskID, SessionID: s.ID, Subject: s.Key, By: "worker"})
	})
	if err != nil {
		m.t.Fatal(err)
	}
}

// end ends a running session.
func (m *machine) end(key string, r coppice.RunResult) {
	m.t.Helper()
	m.finish(m.runs[key], r)
	delete(m.runs, key)
}

// endAll lets every running session end well, with something to land.
func (m *machine) endAll() {
	m.t.Helper()
	zero := 0
	for key, l := range m.runs {
		r := coppice.RunResult{Exit: &zero, Conversation: "talk of " + key, From: "from", Head: "head of " + key}
		if decoded[coppice.RunSpec](m.t, l).Session.Role == coppice.RoleVerify {
			r.Head, r.Summary = r.From, "STEP 1: PASS it is there"
		}
		m.end(key, r)
	}
	m.settle()
}
