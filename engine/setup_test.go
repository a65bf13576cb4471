package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"coppice"
	"coppice/store"
	"coppice/store/sqlite"
	"coppice/store/sqlite/sqlitetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// noon is now in every test.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// change makes a view of something else than the plain one.
type change func(*View)

// viewOf is a task at a stage in a project that has the default policy, the
// agent ann and the check "make".
func viewOf(stage coppice.Stage, changes ...change) *View {
	policy := coppice.DefaultPolicy()
	policy.Base, policy.Checks, policy.Agent.Use = "main", []string{"make"}, "ann"
	v := &View{
		Common: Common{
			Of: coppice.TaskSubject(7), Now: noon,
			Project: coppice.Project{ID: 1, Prefix: "app", Path: "/src/app", Policy: policy, BaseCommit: "base1"},
		},
		Queue:   coppice.Queue{ID: 1, ProjectID: 1, Tip: "base1"},
		Task:    coppice.Task{ID: 7, ProjectID: 1, Num: 7, Key: "app-7", Title: "Greet", Track: "main", Agent: "ann", Stage: stage},
		Limited: map[string]coppice.AgentLimit{},
	}
	for _, c := range changes {
		c(v)
	}
	for _, s := range append(v.Earlier, v.Sessions...) {
		v.Spent += coppice.USD(s.Usage.CostUSD)
	}
	return v
}

func task(f func(*coppice.Task)) change       { return func(v *View) { f(&v.Task) } }
func project(f func(*coppice.Project)) change { return func(v *View) { f(&v.Project) } }
func policy(f func(*coppice.Policy)) change   { return func(v *View) { f(&v.Project.Policy) } }

// ran adds a session that ended with a head, as the newest.
func ran(head string, changes ...func(*coppice.Session)) change {
	return func(v *View) {
		n := len(v.Sessions) + 1
		s := coppice.Session{
			ID: int64(10 + n), TaskID: v.Task.ID, N: n, Key: coppice.SessionKey(v.Task.Key, n), Role: coppice.RoleImplement, Track: v.Task.Track,
			Agent: "ann", Conversation: "talk1", State: coppice.SessionDone, Head: head, From: "base1",
			StartedAt: noon.Add(-time.Minute), EndedAt: noon,
		}
		for _, c := range changes {
			c(&s)
		}
		v.Sessions, v.Numbered, v.Task.Sessions = append(v.Sessions, s), n, n
	}
}

// fails makes a session end with a failure of a class.
func fails(class coppice.Class) func(*coppice.Session) {
	return func(s *coppice.Session) {
		s.State, s.Head, s.Failure = coppice.SessionFailed, "", coppice.Failf(class, "it broke", "")
	}
}

func by(agent string) func(*coppice.Session) { return func(s *coppice.Session) { s.Agent = agent } }

// verifying makes a session a verifier with a worktree of its own.
func verifying(s *coppice.Session) {
	s.Role, s.Path, s.Head, s.From = coppice.RoleVerify, "/ws/"+s.Key, "commit1", "commit1"
}

// judged makes a verifier end with a verdict.
func judged(words string) func(*coppice.Session) {
	return func(s *coppice.Session) {
		verifying(s)
		verdict := coppice.ParseVerdict(words, []string{"it greets"})
		s.Summary, s.Verdict = words, &verdict
	}
}

// steps gives the task a step, so that a verifier has to pass it.
func steps(v *View) { v.Task.Steps = []string{"it greets"} }

func fixing(s *coppice.Session) { s.Role = coppice.RoleFix }

// live makes a session run.
func live(s *coppice.Session) {
	s.State, s.Head, s.EndedAt = coppice.SessionWorking, "", time.Time{}
}

// starting makes a session one that was only decided.
func starting(s *coppice.Session) {
	live(s)
	s.State, s.StartedAt = coppice.SessionStarting, time.Time{}
}

// space gives the task a workspace that is ready.
func space(changes ...func(*coppice.Workspace)) change {
	return func(v *View) {
		w := coppice.Workspace{
			ID: 3, TaskID: v.Task.ID, Kind: "worktree", Node: PoolLocal, Path: "/ws/app-7", Branch: "coppice/app-7",
			BaseCommit: "base1", CreatedAt: noon, ReadyAt: noon,
		}
		for _, c := range changes {
			c(&w)
		}
		v.Workspace = &w
	}
}

// removed puts a workspace into the trash.
func removed(v *View) {
	space(func(w *coppice.Workspace) { w.RemovedAt, w.TrashID = noon, 4 })(v)
	v.Trash = &coppice.Trash{ID: 4, TaskID: v.Task.ID, What: "workspace", Head: "head1", Ref: "refs/trash/4", RemovedAt: noon, ExpiresAt: noon.Add(time.Hour)}
}

// candidate opens a landing of head1.
func candidate(changes ...func(*coppice.Landing)) change {
	return func(v *View) {
		l := coppice.Landing{ID: 5, ProjectID: 1, TaskID: v.Task.ID, SessionID: 11, Head: "head1", CreatedAt: noon}
		for _, c := range changes {
			c(&l)
		}
		v.Landing = &l
	}
}

func merged(l *coppice.Landing) { l.Base, l.Tree, l.Commit = "base1", "tree1", "commit1" }

func green(l *coppice.Landing) { merged(l); l.Green = true }

func inQueue(l *coppice.Landing) { green(l); l.QueueID, l.QueuedAt = 1, noon }

func ended(o coppice.LandingOutcome) func(*coppice.Landing) {
	return func(l *coppice.Landing) { merged(l); l.Outcome, l.EndedAt, l.Evidence = o, noon, "the evidence" }
}

// inQueueOf makes a queue's view whose first landing is a task's.
func inQueueOf(v *View) *QueueView {
	q := &QueueView{Common: v.Common, Queue: v.Queue, Head: v}
	q.Of = coppice.QueueSubject(1)
	q.share()
	return q
}

// anyLanding takes a landing one step on: by its task, or by the queue that it
// stands in.
func anyLanding(v *View) *Decision {
	if l := v.Landing; l != nil && l.QueueID != 0 && l.EndedAt.IsZero() {
		return queued(nextStep)(v)
	}
	return landing(v)
}

// anySettle settles the work of a task, or of the queue that its landing stands
// in.
func anySettle(v *View) *Decision {
	if l := v.Landing; l != nil && l.QueueID != 0 && l.EndedAt.IsZero() {
		return queued(settleQueue)(v)
	}
	return settle(v)
}

// queued is a decider of a queue, as one of the task whose landing is first.
func queued(f func(*QueueView) *Decision) func(*View) *Decision {
	return func(v *View) *Decision {
		c := *v
		q := inQueueOf(&c)
		d := f(q)
		if d != nil {
			q.keep(d)
		}
		return d
	}
}

func work(kind coppice.WorkKind, state coppice.WorkState, attempt int, changes ...func(*coppice.Work)) change {
	return func(v *View) {
		w := coppice.Work{
			ID: int64(20 + len(v.Work)), Kind: kind, Key: "key/" + string(kind), Pool: PoolLocal, ProjectID: 1, TaskID: v.Task.ID,
			SessionID: 11, State: state, Attempt: attempt, Spec: coppice.Raw(struct{}{}),
		}
		if kind == coppice.WorkRemove {
			w.SessionID = 0 // it is of the task's workspace
		}
		for _, c := range changes {
			c(&w)
		}
		v.Work = append(v.Work, w)
	}
}

func offered(kind coppice.WorkKind) change { return work(kind, coppice.WorkOffered, 0) }
func taken(kind coppice.WorkKind) change   { return work(kind, coppice.WorkTaken, 1) }

// finished is work with a result; a *coppice.Failure is one that failed.
func finished(kind coppice.WorkKind, result any, changes ...func(*coppice.Work)) change {
	return work(kind, coppice.WorkFinished, 1, append([]func(*coppice.Work){func(w *coppice.Work) {
		if f, ok := result.(*coppice.Failure); ok {
			w.Failure = f
		} else {
			w.Result = coppice.Raw(result)
		}
	}}, changes...)...)
}

// tell says in a line what a decision changes about a view.
func tell(v *View, d *Decision) string {
	if d == nil {
		return "nothing"
	}
	p := []string{fmt.Sprintf("%s: %s", d.By, d.Kind)}
	add := func(format string, args ...any) { p = append(p, fmt.Sprintf(format, args...)) }
	if d.Task != nil {
		p = append(p, tellTask(v, *d.Task)...)
	}
	if s := d.Session; s != nil {
		add("session %s%s", s.State, tellParked(v, *s))
		if s.Failure != nil {
			add("session fails: %s", s.Failure.Class)
		}
		if s.Verdict != nil && (v.byID(s.ID) == nil || v.byID(s.ID).Verdict == nil) {
			add("verdict pass=%t", s.Verdict.Pass())
		}
		if old := v.byID(s.ID); old != nil && old.Path != s.Path {
			add("in %q", s.Path)
		}
		if s.StopTries > 0 {
			add("stop %d for %s", s.StopTries, s.StopWhy)
		}
	}
	if l := d.Landing; l != nil {
		p = append(p, tellLanding(*l)...)
	}
	if w := d.Workspace; w != nil {
		add("workspace ready=%t removed=%t kept=%t tries=%d", w.Ready(), !w.RemovedAt.IsZero(), w.Kept, w.Tries)
	}
	if t := d.Trash; t != nil {
		add("trash restored=%t purged=%t", !t.RestoredAt.IsZero(), !t.PurgedAt.IsZero())
	}
	if q := d.Queue; q != nil {
		was, now := v.Project, v.Project
		was.BaseCommit, was.Needs = v.Queue.Tip, v.Queue.Needs
		now.BaseCommit, now.Needs = q.Tip, q.Needs
		p = append(p, tellProject(was, now)...)
	}
	for _, a := range d.Tell {
		p = append(p, tellAsk(v, a))
	}
	for _, q := range d.Questions {
		add("question %d closed=%t", q.ID, !q.ClosedAt.IsZero())
	}
	for _, m := range d.Messages {
		add("message %d heard=%t %s", m.ID, !m.DeliveredAt.IsZero(), m.Failed)
	}
	for _, c := range d.Checks {
		add("check %s on %s in %s: %d", c.Command, c.Tree, c.Env, c.Exit)
	}
	if d.Cancel != nil {
		add("cancel %s", d.Cancel.Kind)
	}
	if d.Settle != nil {
		add("settled")
	}
	if w := d.Offer; w != nil {
		add("offer %s %s to %s", w.Kind, w.Key, w.Pool)
	}
	for i := range p {
		p[i] = strings.TrimSpace(p[i])
	}
	return strings.Join(p, "; ")
}

// tellParked says what a decision changes about a session's being parked.
func tellParked(v *View, s coppice.Session) (text string) {
	old := v.byID(s.ID)
	if old == nil || old.ParkedAt.Equal(s.ParkedAt) && old.ReadyAt.Equal(s.ReadyAt) {
		return ""
	}
	if s.Parked() {
		text += " parked"
	}
	if !s.ReadyAt.IsZero() {
		text += " ready"
	}
	if s.ParkedFor != old.ParkedFor {
		text += " after " + s.ParkedFor.D().String()
	}
	return text
}

func tellAsk(v *View, a coppice.Ask) string {
	switch a.Verb {
	case coppice.VerbLimit:
		var l coppice.AgentLimit
		if err := json.Unmarshal(a.Args, &l); err != nil {
			return err.Error()
		}
		if l.Until.IsZero() {
			return fmt.Sprintf("limit %s until a person clears it", l.Agent)
		}
		return fmt.Sprintf("limit %s for %s", l.Agent, l.Until.Sub(v.Now))
	}
	return fmt.Sprintf("asks %s to %s %s", a.Subject, a.Verb, a.Args)
}

func tellTask(v *View, t coppice.Task) (p []string) {
	add := func(format string, args ...any) { p = append(p, fmt.Sprintf(format, args...)) }
	if t.Stage != v.Task.Stage {
		add("to %s", t.Stage)
	}
	if t.Round != v.Task.Round {
		add("round %d", t.Round)
	}
	if t.Outcome != v.Task.Outcome {
		add("outcome %q", t.Outcome)
	}
	if t.Landed != v.Task.Landed {
		add("landed %s", t.Landed)
	}
	if f := t.Failure; f != nil {
		add("fails: %s", f.Class)
	}
	if w := t.Wait; w != nil {
		text := fmt.Sprintf("waits on %s: %s", w.On, w.Text)
		if !w.Until.IsZero() {
			text += fmt.Sprintf(" (%s)", w.Until.Sub(v.Now))
		}
		if w.Fix != "" {
			text += " [" + w.Fix + "]"
		}
		add("%s", text)
	}
	if n := t.Next; n != nil && (v.Task.Next == nil || *v.Task.Next != *n) {
		text := fmt.Sprintf("next %s by %s", n.Role, n.Agent)
		if n.Model != "" {
			text += "/" + n.Model
		}
		if n.Resume != "" {
			text += " resuming " + n.Resume
		}
		if n.Fork {
			text += " forked"
		}
		if n.Screen {
			text += " on a screen"
		}
		if n.Note != "" {
			text += fmt.Sprintf(" with %q", n.Note)
		}
		add("%s", text)
	}
	if t.Model != v.Task.Model {
		add("model %s", t.Model)
	}
	if t.Budget != v.Task.Budget {
		add("budget %s", dollars(t.Budget))
	}
	if t.Warning != v.Task.Warning {
		add("warns %q", t.Warning)
	}
	return p
}

func tellLanding(l coppice.Landing) (p []string) {
	switch {
	case l.Outcome != "":
		p = append(p, "landing "+string(l.Outcome))
	case !l.QueuedAt.IsZero():
		p = append(p, "landing queued")
	case l.Commit != "":
		p = append(p, fmt.Sprintf("landing %s on %s green=%t", l.Commit, l.Base, l.Green))
	default:
		p = append(p, "landing of "+l.Head)
	}
	if l.Verified {
		p = append(p, "verified")
	}
	if l.Pushed {
		p = append(p, "pushed")
	}
	if l.Waits != "" {
		pause := "at once"
		if !l.RetryAt.IsZero() {
			pause = l.RetryAt.Sub(noon).String()
		}
		p = append(p, fmt.Sprintf("put off %s (%d): %s", pause, l.Tries, l.Waits))
	}
	return p
}

func tellProject(old, p coppice.Project) (out []string) {
	if old.BaseCommit != p.BaseCommit {
		out = append(out, "base "+p.BaseCommit)
	}
	if old.CheckEnv != p.CheckEnv {
		out = append(out, "check env "+p.CheckEnv)
	}
	if !cmp.Equal(old.Strikes, p.Strikes, cmpopts.EquateEmpty()) {
		out = append(out, fmt.Sprintf("strikes %v", p.Strikes))
	}
	for _, n := range p.Needs {
		if !slices.ContainsFunc(old.Needs, func(o coppice.Need) bool { return cmp.Equal(o, n) }) {
			out = append(out, fmt.Sprintf("needs %s %q %v since %s", n.Kind, n.Text, n.Paths, n.Since.Sub(noon)))
		}
	}
	for track := range p.PausedTracks {
		out = append(out, "pauses "+track)
	}
	return out
}

// decision is one row of a decider's table: facts in, decision out.
type decision struct {
	name string
	view *View
	want string
}

func run(t *testing.T, decider func(*View) *Decision, table []decision) {
	t.Helper()
	for _, c := range table {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			before := fmt.Sprintf("%+v", *c.view)
			got := tell(c.view, decider(c.view))
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("decision (-want +got):\n%s", d)
			}
			if after := fmt.Sprintf("%+v", *c.view); after != before {
				t.Errorf("the decider changed its view:\n%s", cmp.Diff(before, after))
			}
		})
	}
}

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

func (b *bundle) task(key string) (t coppice.Task) {
	b.t.Helper()
	b.view(func(r store.Reader) (err error) {
		t, err = r.Tasks.ByKey(key)
		return err
	})
	return t
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
