package tools

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"coppice"
	"coppice/engine"
	"coppice/flow"
	"coppice/store"
)

// The states of a worker.
const (
	stateStarting = "starting"
	stateRunning  = "running"
	stateDone     = "done"
	stateBlocked  = "blocked"
	stateFailed   = "failed"
	stateKilled   = "killed"
	stateTimeout  = "timeout"
	stateOrphaned = "orphaned"
)

// killedOutcome is the outcome of a request for a worker that was killed before it
// started.
const killedOutcome = "killed before it started"

// goalView is a goal as its lead sees it.
type goalView struct {
	flow    coppice.Task
	spec    flow.GoalSpec
	workers []*worker
	ended   *coppice.Ask // an open request of the lead that ends its work
}

// worker is a worker of a goal. Its task is nil until it has started.
type worker struct {
	key    string
	spawn  flow.Spawn // empty for a worker of the plan
	ask    coppice.Ask
	task   *coppice.Task
	live   bool // a session of it runs
	report string
	last   string // its final message, if it has ended
}

// isLead reports whether a session leads a goal.
func isLead(r store.Reader, s coppice.Session) (bool, error) {
	if s.Role != coppice.RoleAnswer {
		return false, nil
	}
	t, err := r.Tasks.Get(s.TaskID)
	if err != nil {
		return false, err
	}
	return engine.Leads(r, t, s.Role)
}

// goal returns the goal that the session leads. It fails if it leads none.
func (c *call) goal(r store.Reader) (*goalView, error) {
	lead, err := isLead(r, c.session)
	if err != nil {
		return nil, err
	}
	if !lead {
		return nil, coppice.Errorf(coppice.EForbidden, "%s does not lead a goal", c.session.Key).WithFix("create tasks with create_task")
	}
	g := &goalView{}
	if g.flow, _, err = engine.FlowOf(r, c.session); err != nil {
		return nil, err
	}
	if g.spec, err = flow.ReadGoal(g.flow.Flow.Spec); err != nil {
		return nil, err
	}
	asks, err := r.Asks.Of(g.flow.ProjectID, coppice.TaskSubject(g.flow.ID))
	if err != nil {
		return nil, err
	}
	byKey := map[string]*worker{}
	for _, a := range asks {
		if a.Open() && a.By.Name == c.session.Key && (a.Verb == coppice.VerbGoalDone || a.Verb == coppice.VerbGoalFailed) {
			g.ended = &a
		}
		w := &worker{ask: a}
		if a.Verb != coppice.VerbSpawn || json.Unmarshal(a.Args, &w.spawn) != nil {
			continue
		}
		w.key = w.spawn.Key
		byKey[w.key] = w
		g.workers = append(g.workers, w)
	}
	steps, err := r.Families.Steps(g.flow.ID)
	if err != nil {
		return nil, err
	}
	for _, t := range steps {
		if !flow.IsWorker(t.Step.Key) || slices.Contains(g.flow.Flow.Left, t.ID) {
			continue
		}
		w := byKey[t.Step.Key]
		if w == nil {
			w = &worker{key: t.Step.Key, spawn: flow.Spawn{Perspective: flow.Implementer, Task: t.Title}}
			g.workers = append(g.workers, w)
		}
		w.task = &t
		if err := w.read(r); err != nil {
			return nil, err
		}
	}
	// A request that was settled without a step has no worker, unless it was killed.
	g.workers = slices.DeleteFunc(g.workers, func(w *worker) bool { return w.task == nil && !w.ask.Open() && w.ask.Outcome != killedOutcome })
	return g, nil
}

// read reads what a started worker says.
func (w *worker) read(r store.Reader) error {
	if w.task.Ended() {
		res, err := engine.ResultOf(r, *w.task, mostResult)
		w.last = res.Result
		return err
	}
	s, err := r.Sessions.Last(w.task.ID)
	if s != nil && s.State.Live() {
		w.live, w.report = true, s.Report
	}
	return err
}

// ending refuses a request of a lead that has ended its work.
func (g *goalView) ending() error {
	if g.ended != nil {
		return coppice.Errorf(coppice.EConflict, "you have ended your work with %s", g.ended.Verb).WithFix("end your session")
	}
	if !g.flow.Planned() || g.flow.Ended() || g.flow.Flow.WrapUp {
		return coppice.Errorf(coppice.EConflict, "the goal %s takes no more requests", g.flow.Key).WithFix("end your session")
	}
	return nil
}

// worker returns a worker by its id, or by the key of its task.
func (g *goalView) worker(id string) (*worker, error) {
	var known []string
	for _, w := range g.workers {
		if w.key == id || w.task != nil && w.task.Key == id {
			return w, nil
		}
		known = append(known, w.key)
	}
	return nil, coppice.Errorf(coppice.ENotFound, "there is no worker %s", coppice.Quote(id)).
		WithFix("use one of: %s", cmp.Or(strings.Join(known, ", "), "(none has been started)")).WithField("worker_id")
}

// full refuses to wait for a worker that cannot start before another one has ended: the
// session of the lead would block that one if no other session is free.
func (g *goalView) full(of *worker) error {
	var open []string
	for _, w := range g.workers {
		if w.task != nil && w.open() {
			open = append(open, w.key)
		}
	}
	if len(open) < g.spec.Workers {
		return nil
	}
	return coppice.Errorf(coppice.EConflict, "%s starts when another worker has ended", of.key).WithFix("wait first for one of: %s", strings.Join(open, ", "))
}

// openBelow names the open workers, and the open tasks that the lead created.
func (g *goalView) openBelow(r store.Reader, s coppice.Session) (names []string, err error) {
	steps := map[int64]bool{}
	for _, w := range g.workers {
		if w.open() {
			names = append(names, w.key)
		}
		if w.task != nil {
			steps[w.task.ID] = true
		}
	}
	open, err := r.Families.OpenChildren(s.TaskID)
	if err != nil {
		return nil, err
	}
	keys, err := r.Tasks.Keys(open)
	for _, id := range open {
		if !steps[id] {
			names = append(names, keys[id])
		}
	}
	return names, err
}

// number returns the number in the key of a worker, or 0.
func (w *worker) number() int {
	for n := 1; n <= mostSpawned; n++ {
		if flow.WorkerKey(n) == w.key {
			return n
		}
	}
	return 0
}

// agent returns the choice of a worker's agent.
func (w *worker) agent() string {
	switch {
	case w.spawn.Agent != "" || w.task == nil:
		return w.spawn.Agent
	case w.task.Model != "":
		return w.task.Agent + ":" + w.task.Model
	}
	return w.task.Agent
}

// open reports whether a worker has not ended.
func (w *worker) open() bool {
	if w.task == nil {
		return w.ask.Open()
	}
	return !w.task.Ended()
}

// failed reports whether a worker ended without doing its task.
func (w *worker) failed() bool {
	s := w.state()
	return !w.open() && s != stateDone && s != stateBlocked
}

// state returns the state of a worker.
func (w *worker) state() string {
	t := w.task
	switch {
	case t == nil && w.ask.Open():
		return stateStarting
	case t == nil:
		return stateKilled
	case !t.Ended():
		if t.Wait != nil && t.Wait.On == coppice.WaitPerson {
			return stateBlocked
		}
		if w.live || t.Stage.Lands() {
			return stateRunning
		}
		return stateStarting
	case t.Outcome == coppice.OutcomeCancelled:
		return stateKilled
	case t.Outcome == coppice.OutcomeFailed:
		if t.Failure != nil && t.Failure.Class == coppice.ClassTimeout {
			return stateTimeout
		}
		if t.Failure != nil && t.Failure.Class == coppice.ClassLost {
			return stateOrphaned
		}
		return stateFailed
	}
	m, _ := flow.ReadMark(w.last, flow.MarkWorker, flow.MarkBlocked, flow.MarkBroken)
	return map[flow.Mark]string{flow.MarkBlocked: stateBlocked, flow.MarkBroken: stateFailed, flow.MarkWorker: stateDone, "": stateDone}[m]
}

// summary returns what a worker says, in a line.
func (w *worker) summary() string {
	text := w.report
	if w.task != nil && w.task.Wait != nil {
		text = w.task.Wait.Text
	}
	if w.last != "" {
		if _, text = flow.ReadMark(w.last, flow.MarkWorker, flow.MarkBlocked, flow.MarkBroken); text == "" {
			text = w.last
		}
	}
	return shorten(text, mostSummary)
}

// shorten cuts a text to a number of characters.
func shorten(text string, most int) string {
	if r := []rune(strings.TrimSpace(text)); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return strings.TrimSpace(text)
}

// Worker is a worker in a list.
type Worker struct {
	ID          string `json:"worker_id"`
	Perspective string `json:"perspective"`
	Agent       string `json:"agent"`
	State       string `json:"state"`
	Summary     string `json:"summary,omitempty"`
	Task        string `json:"task"`
	Key         string `json:"task_key,omitempty"` // empty until it has started
	Branch      string `json:"branch,omitempty"`
	Worktree    string `json:"worktree,omitempty"`
	Landed      string `json:"landed,omitempty"` // the commit
}

func (w *worker) view() Worker {
	out := Worker{ID: w.key, Perspective: w.spawn.Perspective, Agent: w.agent(), State: w.state(), Summary: w.summary(), Task: shorten(w.spawn.Task, mostWorkTask)}
	if w.task != nil {
		out.Key, out.Landed = w.task.Key, w.task.Landed
	}
	return out
}

// Result is the answer of wait_for_worker.
type Result struct {
	Worker
	Timeout bool   `json:"timeout,omitempty"` // it has not ended in this time
	Result  string `json:"result,omitempty"`  // its final message
}

func (w *worker) result(r store.Reader) (Result, error) {
	v, err := w.placed(r)
	return Result{Worker: v, Timeout: w.open(), Result: w.last}, err
}

// placed returns a worker with its branch and its workspace.
func (w *worker) placed(r store.Reader) (Worker, error) {
	v := w.view()
	if w.task == nil || w.task.Wants == coppice.WantsAnswer {
		return v, nil
	}
	ws, err := r.Workspaces.Of(w.task.ID)
	if ws != nil {
		v.Branch = ws.Branch
		if ws.RemovedAt.IsZero() {
			v.Worktree = ws.Path
		}
	}
	return v, err
}

func listWorkers(c *call, r store.Reader, _ struct{}) ([]Worker, error) {
	g, err := c.goal(r)
	if err != nil {
		return nil, err
	}
	out := []Worker{}
	for _, w := range g.workers {
		v, err := w.placed(r)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}
