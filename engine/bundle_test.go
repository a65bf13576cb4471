package engine

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"coppice"
	"coppice/store"
	"coppice/store/sqlite"
	"coppice/store/sqlite/sqlitetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bundle is an engine and an intake on a real store, with a clock that the test
// moves.
type bundle struct {
	*Intake
	t      *testing.T
	store  store.Store
	engine *Engine
	clock  time.Time
	nodes  []coppice.Node
}

func open(t *testing.T, cfg ...func(*Config)) *bundle {
	t.Helper()
	var err error
	s := sqlitetest.Open(t, sqlite.Config{})
	b := &bundle{t: t, store: s, clock: noon, nodes: []coppice.Node{{Name: PoolLocal}}}
	c := Config{Store: s, Now: b.now, Nodes: func(context.Context) ([]coppice.Node, error) { return b.nodes, nil }}
	for _, f := range cfg {
		f(&c)
	}
	if b.engine, err = New(c); err != nil {
		t.Fatal(err)
	}
	b.Intake = NewIntake(s, b.now, inspected, func(_ coppice.Project, agent string) error {
		if agent == "nobody" {
			return coppice.Errorf(coppice.EInvalid, "there is no agent nobody").WithField("agent")
		}
		return nil
	}, func(_ coppice.Project, agent string) error {
		if agent == "blind" {
			return coppice.Errorf(coppice.EConflict, "blind has no screen")
		}
		return nil
	})
	return b
}

// openApp opens a bundle that has the project app.
func openApp(t *testing.T, changes ...func(*coppice.Project)) *bundle {
	t.Helper()
	b := open(t)
	b.project(changes...)
	return b
}

// preparedTask opens a bundle whose task app-1 is about to run for the first time.
func preparedTask(t *testing.T) *bundle {
	t.Helper()
	b := openApp(t)
	b.create(coppice.NewTask{Title: "a"})
	b.prepares("app-1")
	return b
}

func (b *bundle) now() time.Time { return b.clock }

// inspected is the project that every directory belongs to.
func inspected(_ context.Context, dir string) (coppice.Project, error) {
	p := viewOf(coppice.StageWaiting).Project
	p.ID, p.Path = 0, dir
	return p, nil
}

// project adds the project app.
func (b *bundle) project(changes ...func(*coppice.Project)) coppice.Project {
	b.t.Helper()
	p, err := b.AddProject(b.t.Context(), "/src/app")
	b.must(err)
	for _, c := range changes {
		c(&p)
	}
	b.update(func(tx store.Tx) error { return tx.Projects.Put(&p) })
	return p
}

func (b *bundle) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bundle) update(f func(store.Tx) error) {
	b.t.Helper()
	b.must(b.store.Update(b.t.Context(), f))
}

func (b *bundle) view(f func(store.Reader) error) {
	b.t.Helper()
	b.must(b.store.View(b.t.Context(), f))
}

// read returns what f reads from the store.
func read[T any](b *bundle, f func(store.Reader) (T, error)) T {
	b.t.Helper()
	out, err := store.Read(b.t.Context(), b.store, f)
	b.must(err)
	return out
}

func (b *bundle) turn() Turned {
	b.t.Helper()
	got, err := b.engine.Turn(b.t.Context())
	b.must(err)
	return got
}

// create adds tasks of a title each.
func (b *bundle) create(tasks ...coppice.NewTask) []coppice.Task {
	b.t.Helper()
	made, err := b.CreateTasks(b.t.Context(), "app", tasks)
	b.must(err)
	return made
}

// prepares takes a task to its first run.
func (b *bundle) prepares(key string) {
	b.t.Helper()
	b.turn()
	b.finish(key, coppice.WorkPrepare, coppice.PrepareResult{Path: "/ws", BaseCommit: "base1", Head: "base1"})
}

func (b *bundle) task(key string) coppice.Task {
	b.t.Helper()
	return read(b, func(r store.Reader) (coppice.Task, error) { return r.Tasks.ByKey(key) })
}

// projectNow returns the project app as it is stored.
func (b *bundle) projectNow() coppice.Project {
	b.t.Helper()
	return read(b, func(r store.Reader) (coppice.Project, error) { return r.Projects.ByPrefix("app") })
}

func (b *bundle) session(key string) coppice.Session {
	b.t.Helper()
	return read(b, func(r store.Reader) (coppice.Session, error) { return r.Sessions.ByKey(key) })
}

func (b *bundle) sessionsOf(task int64) []coppice.Session {
	b.t.Helper()
	return read(b, func(r store.Reader) ([]coppice.Session, error) { return r.Sessions.Of(task) })
}

func (b *bundle) messages(task int64) []coppice.Message {
	b.t.Helper()
	return read(b, func(r store.Reader) ([]coppice.Message, error) { return r.Messages.Of(task) })
}

func (b *bundle) work(id int64) coppice.Work {
	b.t.Helper()
	return read(b, func(r store.Reader) (coppice.Work, error) { return r.Work.Get(id) })
}

func (b *bundle) trash(id int64) coppice.Trash {
	b.t.Helper()
	return read(b, func(r store.Reader) (coppice.Trash, error) { return r.Trash.Get(id) })
}

func (b *bundle) agentLimits() []coppice.AgentLimit {
	b.t.Helper()
	return read(b, func(r store.Reader) ([]coppice.AgentLimit, error) { return r.Limits.All() })
}

func (b *bundle) events(f store.EventFilter) []coppice.Event {
	b.t.Helper()
	return read(b, func(r store.Reader) ([]coppice.Event, error) { return r.Log.Events(0, 1000, f) })
}

// unsettled returns the newest unsettled work of a task.
func (b *bundle) unsettled(key string) (w coppice.Work) {
	b.t.Helper()
	id := b.task(key).ID
	b.view(func(r store.Reader) error {
		subjects := []coppice.Subject{coppice.TaskSubject(id)}
		queues, err := r.Queues.In(1)
		for _, q := range queues {
			subjects = append(subjects, coppice.QueueSubject(q.ID))
		}
		for _, s := range subjects {
			all, err := r.Work.Unsettled(s)
			if err != nil {
				return err
			}
			for _, x := range all {
				if x.TaskID == id && x.ID > w.ID {
					w = x
				}
			}
		}
		return err
	})
	return w
}

// finish gives the newest unsettled work of a task a result and takes a turn.
func (b *bundle) finish(key string, kind coppice.WorkKind, result any) {
	b.t.Helper()
	b.result(key, kind, result)
	b.turn()
}

// result gives the newest unsettled work of a task a result.
func (b *bundle) result(key string, kind coppice.WorkKind, result any) {
	b.t.Helper()
	w := b.unsettled(key)
	if w.Kind != kind {
		b.t.Fatalf("%s has %q to do, not %s", key, w.Kind, kind)
	}
	b.settle(w, result)
}

// movesAndEnds moves the base to a task's commit, which ends the task after that many
// sessions.
func (b *bundle) movesAndEnds(key, commit string, sessions int) {
	b.t.Helper()
	b.finish(key, coppice.WorkMove, coppice.MoveResult{Moved: true, Now: commit})
	if x := b.task(key); x.Outcome != coppice.OutcomeDone || x.Landed != commit || x.Sessions != sessions || x.Failure != nil {
		b.t.Errorf("%s: %+v", key, x)
	}
}

// specOf returns what a work item asks for.
func specOf[T any](b *bundle, w coppice.Work) T {
	b.t.Helper()
	spec, err := coppice.DecodeSpec[T](w)
	b.must(err)
	return spec
}

// settle gives work a result, as a worker does.
func (b *bundle) settle(w coppice.Work, result any) {
	b.t.Helper()
	w.State, w.Attempt, w.FinishedAt = coppice.WorkFinished, max(1, w.Attempt), b.clock
	if f, ok := result.(*coppice.Failure); ok {
		w.Failure = f
	} else {
		w.Result = coppice.Raw(result)
	}
	b.update(func(tx store.Tx) error {
		if err := tx.Work.Put(&w); err != nil {
			return err
		}
		return tx.Log.Append(&coppice.Event{At: b.clock, Kind: coppice.EventWorkFinished, ProjectID: w.ProjectID, TaskID: w.TaskID, About: w.Subject, By: "worker"})
	})
}
