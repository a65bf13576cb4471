package engine

import (
	"cmp"
	"slices"
	"time"

	"coppice"
	"coppice/flow"
	"coppice/store"
)

// View is what the deciders see: one task and everything that concerns it, at
// one moment. It has no sessions and landings of earlier rounds, except Earlier.
type View struct {
	Common
	Task      coppice.Task
	Deps      []coppice.Task
	Sessions  []coppice.Session      // of this round, oldest first
	Earlier   []coppice.Session      // of earlier rounds, oldest first
	Numbered  int                    // number of sessions of all rounds
	Spent     coppice.USD            // by the task and the tasks below it, in all rounds
	Awaited   []coppice.Task         // those for which the newest session waits
	results   string                 // of the tasks for which the session before the next one waited, while that one starts
	issue     string                 // what its first message has of its issue, while a session starts
	Above     []Above                // the tasks above it, the nearest first; while it has not ended
	Budgets   map[string]coppice.USD // of accounts, per day
	Workspace *coppice.Workspace
	Preview   *coppice.Preview // nil if none runs
	Trash     *coppice.Trash   // of the workspace, if it was removed
	Landing   *coppice.Landing // the newest of this round
	Checks    []coppice.Check  // on the landing's tree, until it is green
	CheckEnv  string           // the environment whose results count; known with Checks

	BaseChecks []coppice.Check // on the tree of the base, after a check has refused the landing's tree
	FirstRed   int64           // of the landings on this base that a check has refused, the one that runs the check on the base
	redOn      string          // that tree, as of the last read
	Trashed    []coppice.Trash // all of the task, after it has ended
	ForkWaits  string          // if some of Trashed has expired: the key of a fork that will start from it
	Questions  []coppice.Question
	Messages   []coppice.Message // not delivered yet
	Delivered  []coppice.Message // all others
	Queue      coppice.Queue     // of the branch on which it lands
	Behind     string            // the commit of the landing before it in the queue, while that one is being pushed or moved
	Fork       string            // the branch or commit from which a forked task's branch starts
	Copies     []coppice.Session // of its copies, see viewCopies; known when its session has failed
	BeforeLand []configured      // the hooks before a landing, known to its queue
	HookRuns   []coppice.HookRun // their runs for the landing's candidate
	Limited    Limited
	Pause      time.Duration // see Config
	Nodes      []coppice.Node

	Pull     *coppice.Pull  // its pull request, or nil
	Below    []coppice.Pull // the open pull requests of the tasks that it depends on, if requests are stacked
	Blockers []int64        // tasks of issues that block its own since they were last read, for which it can wait
	Complete bool           // it was the last open task of its project; known if a rule follows that

	Reacted []coppice.Reacted // the history of its reactions, oldest first; known if reactions apply to it

	// Of a flow that its kind plans.
	Steps     []coppice.Task // those that count, oldest first
	Stopping  map[int64]bool // those that were asked to stop
	StepsOpen bool           // a task below it has not ended; known when the flow has
	Closed    string         // the key of the flow on whose branch it would land, if that takes no more work
	FlowTip   string         // where its branch is; empty if no step has landed there
	// Docs has the newest versions of its documents, which its kind has seen.
	Docs map[string]coppice.Document `json:"-"`
	// Plan returns what its kind plans. Draft returns the task of a new step.
	Plan  func() (flow.Plan, error)                `json:"-"`
	Draft func(flow.NewStep) (coppice.Task, error) `json:"-"`

	// Follow returns a task that a reaction creates, complete and not stored.
	Follow func(coppice.NewTask) (coppice.Task, error) `json:"-"`

	// Today has what was spent since midnight UTC, for each budget for a day from
	// which the running session spends.
	Today map[coppice.Subject]coppice.USD `json:"-"`
	// Auto returns the model that auto means for the task with an agent. Nil
	// means that the agent chooses.
	Auto func(agent string) string `json:"-"`
	// Cheap returns the model of an agent for simple work. Nil or "" means that
	// there is none.
	Cheap func(agent string) string `json:"-"`
	// Resumes reports whether the conversation of a session can continue in
	// another one. Nil means that none can.
	Resumes func(*coppice.Session) bool `json:"-"`
}

// view loads a task's view.
func (t *turn) view(id int64) (*View, error) {
	v := &View{Pause: t.cfg.Pause, Nodes: t.nodes}
	v.Auto = func(agent string) string { return t.auto(v, agent) }
	v.Cheap = func(agent string) string { return t.cheap(v.Project, agent) }
	v.Resumes = func(s *coppice.Session) bool { return t.resumes(v.Project, s) }
	v.Follow = func(n coppice.NewTask) (coppice.Task, error) { return t.draftFollowing(v, n) }
	task, err := t.tx.Tasks.Get(id)
	if err != nil {
		return nil, gone(err)
	}
	v.Task = task
	if v.Common, err = t.common(coppice.TaskSubject(id)); err != nil {
		return nil, err
	}
	if v.Project, err = t.tx.Projects.Get(v.Task.ProjectID); err != nil {
		return nil, err
	}
	if err := t.viewDeps(v); err != nil {
		return nil, err
	}
	sessions, err := t.tx.Sessions.Of(id)
	if err != nil {
		return nil, err
	}
	v.Numbered = len(sessions)
	for _, s := range sessions {
		if s.Round == v.Task.Round {
			v.Sessions = append(v.Sessions, s)
		} else {
			v.Earlier = append(v.Earlier, s)
		}
	}
	if v.Spent, err = Spent(t.tx.Reader(), id); err != nil {
		return nil, err
	}
	if err := t.viewFamily(v); err != nil {
		return nil, err
	}
	if err := t.viewToday(v); err != nil {
		return nil, err
	}
	if v.Workspace, err = t.tx.Workspaces.Of(id); err != nil {
		return nil, err
	}
	if v.Workspace != nil && v.Workspace.TrashID != 0 {
		tr, err := t.tx.Trash.Get(v.Workspace.TrashID)
		if err != nil {
			return nil, err
		}
		v.Trash = &tr
	}
	if v.Preview, err = t.preview(id); err != nil {
		return nil, err
	}
	if v.Landing, err = t.tx.Landings.Last(id); err != nil {
		return nil, err
	}
	if v.Landing != nil && v.Landing.Round != v.Task.Round {
		v.Landing = nil
	}
	if err := t.viewLanding(v); err != nil {
		return nil, err
	}
	return v, t.viewRest(v)
}

// viewDeps reads the tasks that come first.
func (t *turn) viewDeps(v *View) error {
	v.Deps = nil
	for _, dep := range v.Task.After {
		d, err := t.tx.Tasks.Get(dep)
		if err != nil {
			return err
		}
		v.Deps = append(v.Deps, d)
	}
	return nil
}

// viewToday reads the budgets for a day from which the running session spends.
func (t *turn) viewToday(v *View) (err error) {
	if v.Budgets, err = t.accountBudgets(); err != nil {
		return err
	}
	s := v.lastSession()
	if s == nil || !s.State.Live() {
		return nil
	}
	v.Today = map[coppice.Subject]coppice.USD{}
	for _, b := range v.dayBudgets(s) {
		spent, err := t.tx.Spend.Of(b.of, coppice.Day(t.now))
		if err != nil {
			return err
		}
		v.Today[b.of] = coppice.USD(spent.CostUSD)
	}
	return nil
}

func (t *turn) viewLanding(v *View) error {
	l := v.Landing
	v.Checks, v.BaseChecks, v.FirstRed, v.redOn = nil, nil, 0, ""
	if l == nil || !l.EndedAt.IsZero() || l.Tree == "" || l.Green { // a green one has passed them
		return nil
	}
	var err error
	if v.CheckEnv, err = t.tx.Checks.Env(v.Project.ID); err != nil {
		return err
	}
	if v.Checks, err = t.tx.Checks.On(v.Project.ID, l.Tree); err != nil || l.RedOn == "" {
		return err
	}
	v.redOn = l.RedOn
	if v.FirstRed, _, err = t.tx.Landings.FirstRed(v.Project.ID, l.RedOn); err != nil {
		return err
	}
	v.BaseChecks, err = t.tx.Checks.On(v.Project.ID, l.RedOn)
	return err
}

func (t *turn) viewRest(v *View) error {
	var err error
	if v.Task.Ended() || v.Task.IsFlow() && !v.Task.Flow.Dropped.IsZero() || slices.ContainsFunc(v.Work, func(w coppice.Work) bool { return w.Kind == coppice.WorkPurge }) {
		if v.Trashed, err = t.tx.Trash.Of(v.Task.ID); err != nil {
			return err
		}
		if slices.ContainsFunc(v.Trashed, func(tr coppice.Trash) bool { return !tr.ExpiresAt.After(v.Now) }) {
			if v.ForkWaits, err = waitingFork(t.tx.Reader(), v.Task); err != nil {
				return err
			}
		}
	}
	if v.Questions, err = t.tx.Questions.Of(v.Task.ID); err != nil {
		return err
	}
	messages, err := t.tx.Messages.Of(v.Task.ID)
	if err != nil {
		return err
	}
	for _, m := range messages {
		if m.Open() {
			v.Messages = append(v.Messages, m)
		} else {
			v.Delivered = append(v.Delivered, m)
		}
	}
	if v.Limited, err = t.limited(); err != nil {
		return err
	}
	if v.Queue, err = t.queueOf(v.Task); err != nil {
		return err
	}
	if v.Task.ForkOf != "" {
		if v.Fork, err = forkPoint(t.tx.Reader(), v.Task.ForkOf); err != nil {
			return err
		}
	}
	if err := t.viewFlow(v); err != nil {
		return err
	}
	if err := t.viewBlockers(v); err != nil {
		return err
	}
	if err := t.viewPull(v); err != nil {
		return err
	}
	return t.viewCopies(v)
}

// queueOf returns the queue of the branch on which a task lands. The first task
// that lands there creates it.
func (t *turn) queueOf(task coppice.Task) (coppice.Queue, error) {
	q, err := t.tx.Queues.Of(task.ProjectID, task.Onto)
	if task.Onto != "" && coppice.ErrorCode(err) == coppice.ENotFound {
		q = coppice.Queue{ProjectID: task.ProjectID, Branch: task.Onto}
		err = t.tx.Queues.Put(&q)
	}
	return q, err
}

// onto returns the branch on which the task's work lands.
func (v *View) onto() string { return v.Project.Onto(v.Task) }

// remote returns the remote to which work of the project is pushed.
func (v *View) remote() string { return cmp.Or(v.Project.Policy.Land.Remote, "origin") }

// tip returns the commit on which a queued landing must be based.
func (v *View) tip() string { return cmp.Or(v.Behind, v.Queue.Tip) }

// forkPoint returns the head of the branch from which a task was forked: the
// branch itself, what the trash keeps of it, or "" if its work is on the base,
// or gone.
func forkPoint(r store.Reader, key string) (string, error) {
	from, err := r.Tasks.ByKey(key)
	if coppice.ErrorCode(err) == coppice.ENotFound {
		return "", nil // it was removed, so its work has landed
	}
	if err != nil || from.Outcome == coppice.OutcomeDone {
		return "", err
	}
	ws, err := r.Workspaces.Of(from.ID)
	if err != nil || ws == nil {
		return "", err
	}
	if ws.RemovedAt.IsZero() {
		if ws.Path == "" {
			return "", nil // it is being created
		}
		return ws.Branch, nil
	}
	if ws.TrashID == 0 {
		return "", nil
	}
	tr, err := r.Trash.Get(ws.TrashID)
	if err != nil || !tr.Open() {
		return "", err
	}
	return tr.Head, nil
}

// limited returns the current limits. They are read once per turn, and again
// after the turn has changed one.
func (t *turn) limited() (Limited, error) {
	if !t.limitsRead {
		var err error
		if t.limits, err = t.tx.Limits.All(); err != nil {
			return nil, err
		}
		t.limitsRead = true
	}
	m := make(Limited, len(t.limits))
	for _, l := range t.limits {
		if l.Holds(t.now) {
			m[l.Agent] = l
		}
	}
	return m, nil
}

// lastSession returns the newest session of the round, or nil.
func (v *View) lastSession() *coppice.Session {
	if len(v.Sessions) == 0 {
		return nil
	}
	return &v.Sessions[len(v.Sessions)-1]
}

// lastWorkSession returns the newest session of the round that worked in the
// task's workspace, or nil.
func (v *View) lastWorkSession() *coppice.Session {
	return coppice.LastWork(v.Sessions, func(coppice.Session) bool { return true })
}

// sessionByID returns a session of any round, or nil.
func (v *View) sessionByID(id int64) *coppice.Session {
	for _, list := range [][]coppice.Session{v.Sessions, v.Earlier} {
		for i := range list {
			if list[i].ID == id {
				return &list[i]
			}
		}
	}
	return nil
}

// Resumable reports whether one of the sessions has a conversation that can
// continue.
func Resumable(sessions []coppice.Session) bool {
	return (&View{Sessions: sessions}).resumableSession() != nil
}

// resumableSession returns the newest session, of any round, whose conversation
// can be continued, or nil.
func (v *View) resumableSession() *coppice.Session {
	for _, list := range [][]coppice.Session{v.Sessions, v.Earlier} {
		for i := len(list) - 1; i >= 0; i-- {
			if conversation(&list[i]) != "" && !list[i].Role.Detached() {
				return &list[i]
			}
		}
	}
	return nil
}

// checks lists the commands that check the task's candidates, without those that a
// person left out.
func (v *View) checks() []string {
	seen := map[string]bool{}
	for _, c := range v.Task.Skip {
		seen[c] = true
	}
	var all []string
	for _, list := range [][]string{v.Project.Policy.Checks, v.Task.Checks} {
		for _, c := range list {
			if !seen[c] {
				seen[c] = true
				all = append(all, c)
			}
		}
	}
	return all
}

// fixes counts the fix sessions of the round. A session that ended while it could
// only wait continues in the next, and is not counted.
func (v *View) fixes() int {
	n := 0
	for _, s := range v.Sessions {
		if s.Role.Info().Fixes && !s.Continues() {
			n++
		}
	}
	return n
}

func (v *View) showTrash(tr *coppice.Trash) {
	if n := slices.IndexFunc(v.Trashed, func(o coppice.Trash) bool { return o.ID == tr.ID }); n >= 0 {
		v.Trashed[n] = *tr
	} else {
		v.Trashed = append(v.Trashed, *tr)
	}
	if tr.What == coppice.TrashWorkspace {
		v.Trash = tr
	}
}

func (v *View) showWorkspace(ws *coppice.Workspace) {
	v.Workspace = ws
	if v.Trash != nil && v.Trash.ID != ws.TrashID {
		v.Trash = nil
	}
}

func (v *View) showSession(s *coppice.Session, fresh bool) {
	if fresh {
		v.Sessions = append(v.Sessions, *s)
		v.Numbered++
	} else if old := v.sessionByID(s.ID); old != nil {
		more := coppice.USD(s.Usage.CostUSD - old.Usage.CostUSD)
		v.Spent += more
		for i := range v.Above {
			v.Above[i].Spent += more
		}
		for of := range v.Today {
			v.Today[of] += more
		}
		*old = *s
	}
}

func (v *View) showTask(t coppice.Task) {
	round := t.Round != v.Task.Round
	v.Task = t
	if round {
		v.Earlier = append(v.Earlier, v.Sessions...)
		v.Sessions, v.Checks = nil, nil
		if v.Landing != nil && v.Landing.Round != t.Round {
			v.Landing = nil
		}
	}
}

func (v *View) showQuestion(q coppice.Question) {
	for i := range v.Questions {
		if v.Questions[i].ID == q.ID {
			v.Questions[i] = q
		}
	}
}

func (v *View) showMessage(m coppice.Message) {
	open, known := []coppice.Message(nil), false
	for _, o := range v.Messages {
		if o.ID == m.ID {
			o, known = m, true
		}
		if o.Open() {
			open = append(open, o)
		}
	}
	if !known && m.TaskID == v.Task.ID && m.Open() { // it is delivered in this turn
		open = append(open, m)
	}
	v.Messages = open
	if !m.Open() {
		v.Delivered = append(v.Delivered, m)
	}
}

// preview returns the running preview of a task, or nil. There are few previews, so
// a turn reads all of them once.
func (t *turn) preview(task int64) (*coppice.Preview, error) {
	if !t.previewsRead {
		var err error
		if t.previews, err = t.tx.Previews.Live(); err != nil {
			return nil, err
		}
		t.previewsRead = true
	}
	for _, p := range t.previews {
		if p.TaskID == task {
			return &p, nil
		}
	}
	return nil, nil
}
