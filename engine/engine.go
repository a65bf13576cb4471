// Package engine decides. A turn reads facts and writes facts and work items, in
// one transaction. The engine uses no process, file, network or clock, so all of
// it runs in a simulation.
//
// A turn collects the subjects to which something happened since the last turn,
// or whose timer is due. It asks the deciders about each subject until none has
// a new decision. Then it gives free sessions to queued tasks. A subject is a
// task, a landing queue, a project, its hooks, a schedule or an account. Deciders are pure functions
// from a view of the facts to a Decision. People, agents and workers only add
// facts, through the Intake and through the results of work. So a race is only
// two facts in some order.
//
// Files that start with decide_ have deciders. Files that start with intake_
// take requests. Files that start with view_ load views and derive statuses. The
// other files run turns.
package engine

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"time"

	"coppice"
	"coppice/store"
)

// cursor names the engine among the readers of the log.
const cursor = "engine"

// Pools to which work is offered. The repository is on the control machine.
// Sessions and checks run on the node that has the workspace.
const (
	PoolControl = "control"
	PoolLocal   = "local"
)

// Kinds of timer besides those of subjects.
const (
	TimerWork  = "work"  // the end of a lease
	TimerLanes = "lanes" // a lane might have a free session again; every turn checks
)

// Config has the dependencies of an Engine. Store, Now and Nodes are required.
type Config struct {
	Store  store.Store
	Now    func() time.Time
	Nodes  func(ctx context.Context) ([]coppice.Node, error) // the nodes alive
	Logger *slog.Logger
	// MaxSessions limits the live sessions of all projects together. 0 means
	// that only the projects' own limits count.
	MaxSessions int
	// Reserve is the memory that a session is expected to use soon after its
	// start, before any session of its agent has ended. 0 means 256 MiB.
	Reserve coppice.Bytes
	// After returns the channel that wakes Run at a due time; nil means
	// time.After.
	After func(time.Duration) <-chan time.Time
	// KeepEvents and KeepFor limit the log: events beyond the newest KeepEvents,
	// or older than KeepFor, are removed. Zero means no limit.
	KeepEvents int
	KeepFor    time.Duration
	// Models returns the models that an agent's profile names by level of work,
	// for tasks whose model is auto. own is the project's profile of the agent,
	// if it has one. Nil means that no agent names any.
	Models func(agent string, own *coppice.Profile) map[string]string
	// Resumes reports whether an agent can resume a conversation that has ended.
	// own is the project's profile of the agent, if it has one. Nil means that
	// no agent can.
	Resumes func(agent string, own *coppice.Profile) bool
	// Tools returns the tools of Coppice that a session of an agent has in a role, as
	// its first message lists them. own is the project's profile of the agent, if it
	// has one. lead means that the session leads a goal. Nil means that no session has
	// any.
	Tools func(agent string, own *coppice.Profile, r coppice.Role, lead bool) []coppice.ToolLine
	// Pause is the first pause of a landing whose move was blocked. It doubles
	// up to a minute. 0 means 2 seconds. Intake.RetryLanding usually ends the
	// wait sooner.
	Pause time.Duration
	// Hooks returns the hooks of the user's configuration. Nil means that there are
	// none.
	Hooks func() coppice.Hooks
	// Notify returns who gets notifications by the user's configuration. Nil means
	// nobody.
	Notify func() coppice.NotifyPolicy
	// Looking returns until when a person counts as looking at the dashboard. Nil means
	// that nobody does.
	Looking func() time.Time
	// Known returns an error if a project cannot use an agent, for the steps of flows.
	// Nil means that it can use each.
	Known Agents
	// Zone is the time zone of the cron lines of schedules; nil means UTC.
	Zone *time.Location
	// Usable returns the agents that a project can use, the best lead first, for flows
	// that schedules create.
	Usable func(coppice.Project) []coppice.FlowAgent
	// Classify returns the level of a task; nil means Level.
	Classify Classify
}

// Engine runs turns. Turn must not be called concurrently with itself or Run.
type Engine struct {
	cfg     Config
	trimmed time.Time // when the log was last trimmed
	// rerouted has the limits at the time when the tasks of a lane were last
	// given to other accounts. A lane that is missing is checked again.
	rerouted map[coppice.Lane]string
}

// New returns an Engine.
func New(c Config) (*Engine, error) {
	if c.Store == nil || c.Now == nil || c.Nodes == nil {
		return nil, fmt.Errorf("engine: Store, Now and Nodes are required")
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.After == nil {
		c.After = time.After
	}
	if c.Notify == nil {
		c.Notify = func() coppice.NotifyPolicy { return coppice.NotifyPolicy{} }
	}
	if c.Looking == nil {
		c.Looking = func() time.Time { return time.Time{} }
	}
	if c.Classify == nil {
		c.Classify = Level
	}
	if c.Known == nil {
		c.Known = func(coppice.Project, string) error { return nil }
	}
	if c.Reserve == 0 {
		c.Reserve = 256 << 20
	}
	return &Engine{cfg: c, rerouted: map[coppice.Lane]string{}}, nil
}

// Turned is the result of a turn.
type Turned struct {
	Decisions int       // number of decisions
	Seq       int64     // the newest event that it has seen
	Due       time.Time // when the next turn is due; zero means never
}

// Run takes turns until ctx ends: immediately, whenever the log grows, and when
// a timer is due.
func (e *Engine) Run(ctx context.Context) error {
	for {
		t, err := e.Turn(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			// The facts did not change. The cause, such as a full disk, might
			// pass, so the turn is retried. Waiting loses nothing.
			e.cfg.Logger.Error("turn failed", "error", err)
			select {
			case <-ctx.Done():
				return nil
			case <-e.cfg.After(time.Second):
			}
			continue
		}
		if err := e.sleep(ctx, t); err != nil {
			return nil //nolint:nilerr // only ends with ctx
		}
	}
}

// sleep waits for the log to grow beyond what the turn saw, or for its due time.
func (e *Engine) sleep(ctx context.Context, t Turned) error {
	wait, cancel := context.WithCancel(ctx)
	defer cancel()
	if !t.Due.IsZero() {
		d := t.Due.Sub(e.cfg.Now())
		if d <= 0 {
			return nil
		}
		stopped := make(chan struct{})
		defer func() { cancel(); <-stopped }()
		go func() {
			defer close(stopped)
			select {
			case <-e.cfg.After(d):
				cancel()
			case <-wait.Done():
			}
		}()
	}
	_ = e.cfg.Store.WaitEvent(wait, t.Seq)
	return ctx.Err()
}

// Turn runs one transaction: it reads what happened, decides what follows and
// commits.
func (e *Engine) Turn(ctx context.Context) (Turned, error) {
	nodes, err := e.cfg.Nodes(ctx)
	if err != nil {
		return Turned{}, fmt.Errorf("engine: nodes: %w", err)
	}
	var out Turned
	err = e.cfg.Store.Update(ctx, func(tx store.Tx) error {
		t := &turn{Engine: e, tx: tx, now: e.cfg.Now().UTC(), nodes: nodes, dirty: newQueue()}
		out, err = t.run()
		return err
	})
	if err != nil {
		clear(e.rerouted) // it was not written
	}
	return out, err
}

// turn is the state of one transaction.
type turn struct {
	*Engine
	tx        store.Tx
	now       time.Time
	nodes     []coppice.Node
	dirty     *queue
	decisions int

	limits     []coppice.AgentLimit
	limitsRead bool                   // limits are current
	budgets    map[string]coppice.USD // of accounts; nil until they are read

	wokenBelow map[int64]bool // tasks whose family was woken because their budget is reached

	issueTasks map[int64][]int64 // tasks to which something happened and that have an issue, by project; see noteIssue

	previews     []coppice.Preview // those that run
	previewsRead bool              // previews are current

	notices *noticing // nil if nobody gets notifications
}

func (t *turn) run() (Turned, error) {
	after, err := t.tx.Log.Cursor(cursor)
	if err != nil {
		return Turned{}, err
	}
	t.notices = t.noticing()
	if err := t.gather(after); err != nil {
		return Turned{}, err
	}
	if err := t.settleAll(); err != nil {
		return Turned{}, err
	}
	if err := t.dispatch(); err != nil {
		return Turned{}, err
	}
	if err := t.settleAll(); err != nil { // hooks that follow what dispatch decided
		return Turned{}, err
	}
	if err := t.takeNotices(); err != nil {
		return Turned{}, err
	}
	if err := t.settleAll(); err != nil { // the notices
		return Turned{}, err
	}
	if err := t.trim(); err != nil {
		return Turned{}, err
	}
	_, last, err := t.tx.Log.Bounds()
	if err != nil {
		return Turned{}, err
	}
	if last != after {
		if err := t.tx.Log.SetCursor(cursor, last); err != nil {
			return Turned{}, err
		}
	}
	due, err := t.tx.Timers.Next()
	return Turned{Decisions: t.decisions, Seq: last, Due: due}, err
}

// gather marks the subjects to which something happened, and those that are due.
func (t *turn) gather(after int64) error {
	const page = 1000
	spending := map[int64]bool{}
	for {
		events, err := t.tx.Log.Events(after, page, store.EventFilter{})
		if err != nil {
			return err
		}
		for _, ev := range events {
			after = ev.Seq
			if ev.Kind == coppice.EventSessionUsage || ev.Kind == coppice.EventProjectChanged || ev.Kind == coppice.EventBudgetsChanged {
				spending[ev.ProjectID] = true
			}
			if err := t.mark(ev); err != nil {
				return err
			}
			if err := t.fire(&ev); err != nil {
				return err
			}
		}
		if len(events) < page {
			break
		}
	}
	if err := t.wakeSpenders(spending); err != nil {
		return err
	}
	for {
		timers, err := t.tx.Timers.Due(t.now, page)
		if err != nil {
			return err
		}
		for _, tm := range timers {
			if err := t.tx.Timers.Set(store.Timer{Kind: tm.Kind, ID: tm.ID}); err != nil {
				return err
			}
			if err := t.timerDue(tm); err != nil {
				return err
			}
		}
		if len(timers) < page {
			return nil
		}
	}
}

// mark marks the subjects that an event concerns. Queued tasks need not be
// woken: dispatch checks their lanes in every turn.
func (t *turn) mark(ev coppice.Event) error {
	switch {
	case ev.Kind == coppice.EventReviewChanged, ev.Kind == coppice.EventSessionReport, ev.Kind == coppice.EventNoteChanged: // nothing is decided about drafts, reports and notes
	case ev.About != (coppice.Subject{}):
		t.dirty.add(ev.About)
	case ev.TaskID != 0:
		t.dirty.add(coppice.TaskSubject(ev.TaskID))
	}
	switch ev.Kind {
	case coppice.EventProjectAdded, coppice.EventProjectChanged:
		t.dirty.add(coppice.TrackerSubject(ev.ProjectID))
	}
	switch ev.Kind {
	case coppice.EventProjectChanged, coppice.EventNeedEnded:
		queues, err := t.tx.Queues.In(ev.ProjectID)
		if err != nil {
			return err
		}
		for _, q := range queues {
			t.dirty.add(coppice.QueueSubject(q.ID))
		}
		return t.wakeChecking(ev)
	}
	return nil
}

// wakeChecking wakes every task that is about to enter a queue, when a need has
// ended.
func (t *turn) wakeChecking(ev coppice.Event) error {
	if ev.Kind != coppice.EventNeedEnded || !bytes.Contains(ev.Data, []byte(coppice.NeedBase)) {
		return nil
	}
	tasks, err := t.tx.Tasks.List(store.TaskFilter{ProjectID: ev.ProjectID, Stages: coppice.StagesThat(coppice.Stage.Lands), OldFirst: true})
	for _, task := range tasks {
		t.dirty.add(coppice.TaskSubject(task.ID))
	}
	return err
}

// timerDue acts on a timer that is due.
func (t *turn) timerDue(tm store.Timer) error {
	switch tm.Kind {
	case TimerWork:
		return t.expire(tm)
	case TimerLanes:
		return nil
	}
	t.dirty.add(coppice.Subject{Kind: coppice.SubjectKind(tm.Kind), ID: tm.ID})
	return nil
}

// trimWork removes settled work that is older than the given time, or than the
// oldest event: the log limits both.
func (t *turn) trimWork(before time.Time) (int, error) {
	first, _, err := t.tx.Log.Bounds()
	if err != nil {
		return 0, err
	}
	oldest, err := t.tx.Log.Events(first-1, 1, store.EventFilter{})
	if err != nil {
		return 0, err
	}
	if len(oldest) > 0 && oldest[0].At.After(before) {
		before = oldest[0].At
	}
	return t.tx.Work.Trim(before)
}

// trim removes old events and work from time to time.
func (t *turn) trim() error {
	if t.now.Sub(t.trimmed) < time.Minute {
		return nil
	}
	t.trimmed = t.now
	if t.cfg.KeepEvents == 0 && t.cfg.KeepFor == 0 {
		return nil
	}
	var before time.Time
	if t.cfg.KeepFor > 0 {
		before = t.now.Add(-t.cfg.KeepFor)
	}
	events, err := t.tx.Log.Trim(before, t.cfg.KeepEvents)
	if err != nil {
		return err
	}
	work, err := t.trimWork(before)
	if err != nil {
		return err
	}
	asks, err := t.tx.Asks.Trim(before)
	if max(events, work, asks) >= store.MostTrimmed {
		t.trimmed = time.Time{} // the next turn removes more
	}
	return err
}
