package engine

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"coppice"
	"coppice/store"
	"coppice/store/sqlite"
	"coppice/verb"
)

var (
	stages   = append([]coppice.Stage{""}, coppice.Stages...)
	outcomes = []coppice.Outcome{coppice.OutcomeDone, coppice.OutcomeFailed, coppice.OutcomeCancelled}
	states   = []coppice.SessionState{
		coppice.SessionStarting, coppice.SessionWorking, coppice.SessionWaiting, coppice.SessionIdle,
		coppice.SessionDone, coppice.SessionFailed, coppice.SessionLost, coppice.SessionCancelled,
	}
	landingOutcomes = []coppice.LandingOutcome{
		"", coppice.LandingLanded, coppice.LandingConflict, coppice.LandingRefused, coppice.LandingEmpty, coppice.LandingFailed, coppice.LandingDropped,
	}
	workStates = []coppice.WorkState{coppice.WorkOffered, coppice.WorkTaken, coppice.WorkFinished}
)

// one draws from a list, or has a chance to be true.
func one[T any](rt *rapid.T, name string, of []T) T { return rapid.SampledFrom(of).Draw(rt, name) }

func chance(rt *rapid.T, name string) bool { return rapid.IntRange(0, 3).Draw(rt, name) == 0 }

func moment(rt *rapid.T, name string) time.Time {
	return noon.Add(time.Duration(rapid.IntRange(-300, 60).Draw(rt, name)) * time.Minute)
}

// randomView draws facts that need not fit together.
func randomView(rt *rapid.T) *View {
	v := viewOf(one(rt, "stage", stages), policy(func(p *coppice.Policy) {
		p.Retry.Max, p.Verify.Attempts = rapid.IntRange(0, 2).Draw(rt, "retries"), rapid.IntRange(0, 2).Draw(rt, "fixes")
		p.Land.How = one(rt, "how", coppice.LandingMethods).Name
		p.Land.Push = chance(rt, "push")
		if chance(rt, "ask") {
			p.Land.Ask = coppice.LandAsk{Paths: []string{"migrations/*"}, Lines: 500, Categories: []string{"security"}}
		}
		p.Agent.Fallback = one(rt, "fallback", [][]string{nil, {"bob"}, {"ann", "bob"}, {"ann:small"}, {"bob:large", "ann:small", "bob"}})
	}))
	t := &v.Task
	for _, info := range verb.Table {
		if chance(rt, string(info.Verb)) {
			say(info.Verb, one(rt, "text", []string{"", "more"}))(v)
		}
	}
	if chance(rt, "steps") {
		steps(v)
	}
	t.Budget, t.Category = one(rt, "budget", []coppice.USD{0, 1, 3}), one(rt, "category", []string{"", "docs", "security"})
	if t.Ended() {
		endedAs(one(rt, "outcome", outcomes))(v)
	} else if chance(rt, "wait") {
		kinds := []coppice.WaitKind{coppice.WaitDependency, coppice.WaitSchedule, coppice.WaitBackoff, coppice.WaitPerson}
		t.Wait = &coppice.Wait{On: one(rt, "on", kinds), Text: "waits", Until: moment(rt, "until")}
		if chance(rt, "decides") {
			t.Failure, t.Blocking = coppice.Failf(one(rt, "for", []coppice.Class{coppice.ClassBase, coppice.ClassUnchanged}), "it broke", ""), []string{"make"}
		}
	}
	if t.Stage == coppice.StageQueued || t.Stage == coppice.StageWaiting && chance(rt, "next") {
		t.Next = &coppice.Next{Role: one(rt, "next role", []coppice.Role{coppice.RoleImplement, coppice.RoleVerify}), Agent: "ann", Screen: chance(rt, "next screen")}
		t.Model = one(rt, "model", []string{"", "big", "small", coppice.ModelAuto})
		t.Next.Model, t.Next.Account = one(rt, "next model", []string{"", "big", "small", coppice.ModelAuto}), one(rt, "account", []string{"", "", "ann:small"})
	}
	for range rapid.IntRange(0, 3).Draw(rt, "sessions") {
		randomSession(rt, v)
	}
	if chance(rt, "limited") {
		for range rapid.IntRange(1, 3).Draw(rt, "limits") {
			limited(one(rt, "agent", []string{"ann", "bob", "ann:small", "bob:large"}))(v)
		}
	} else if chance(rt, "shut") {
		a := one(rt, "agent", []string{"ann", "bob"})
		v.Limited[a] = coppice.AgentLimit{Agent: a, Class: coppice.ClassAuth, Text: "log in"}
	}
	switch rapid.IntRange(0, 3).Draw(rt, "workspace") {
	case 1:
		space()(v)
	case 2:
		space(func(w *coppice.Workspace) { w.ReadyAt, w.Tries = time.Time{}, 1 })(v)
	case 3:
		removed(v)
	}
	if chance(rt, "landing") {
		randomLanding(rt, v)
	}
	if chance(rt, "message") {
		kinds := []string{coppice.MessageNow, coppice.MessageNext, coppice.MessageInterrupt, coppice.MessageModel}
		v.Messages = []coppice.Message{{ID: 1, TaskID: 7, Kind: one(rt, "kind of message", kinds), Text: one(rt, "text", []string{"also", "auto"}), SentAt: noon}}
		if v.Messages[0].Kind == coppice.MessageInterrupt && chance(rt, "no text") {
			v.Messages[0].Text = ""
		}
	}
	if s := v.lastSession(); s != nil && chance(rt, "question") {
		v.Questions = []coppice.Question{{ID: 1, TaskID: 7, SessionID: s.ID, Ref: "q", Text: "?", AskedAt: noon}}
	}
	randomWork(rt, v)
	return v
}

func randomSession(rt *rapid.T, v *View) {
	ran(one(rt, "head", []string{"", "base1", "head1", "head2"}), func(s *coppice.Session) {
		s.State, s.Role = one(rt, "state", states), one(rt, "role", []coppice.Role{coppice.RoleImplement, coppice.RoleFix, coppice.RoleVerify})
		s.StartedAt, s.Model = moment(rt, "started"), one(rt, "model", []string{"", "", "big", "small"})
		if s.Role == coppice.RoleVerify {
			s.Path = one(rt, "path", []string{"", "/ws/" + s.Key})
			if chance(rt, "verdict") {
				judged(one(rt, "words", []string{"", "STEP 1: PASS", "STEP 1: FAIL"}))(s)
			}
		}
		s.Screen, s.Usage.CostUSD = chance(rt, "screen"), float64(rapid.IntRange(0, 2).Draw(rt, "cost"))
		s.StopWhy = one(rt, "stopped for", []coppice.StopReason{"", "", coppice.StopTaken, coppice.StopGiven, coppice.StopBudget})
		if s.State == coppice.SessionStarting {
			s.StartedAt = time.Time{}
		}
		if s.State.Live() {
			s.EndedAt = time.Time{}
			return
		}
		if s.State != coppice.SessionDone {
			s.Failure = coppice.Failf(one(rt, "class", coppice.Classes), "it broke", "")
		}
	})(v)
	// Only the newest session of a task lives.
	for i := range v.Sessions[:len(v.Sessions)-1] {
		if v.Sessions[i].State.Live() {
			v.Sessions[i].State, v.Sessions[i].EndedAt = coppice.SessionDone, noon
		}
	}
}

func randomLanding(rt *rapid.T, v *View) {
	candidate(one(rt, "progress", []func(*coppice.Landing){func(*coppice.Landing) {}, merged, green, inQueue}), func(l *coppice.Landing) {
		l.Outcome, l.SessionID, l.Verified = one(rt, "ended", landingOutcomes), 0, chance(rt, "verified")
		if l.Outcome != "" {
			l.EndedAt = noon
		}
		if l.Outcome == coppice.LandingRefused && chance(rt, "base") {
			l.Failure = coppice.Failf(coppice.ClassBase, "it broke", "")
		}
		if !l.Green && l.Tree != "" && l.QueueID == 0 {
			l.RedOn, l.RedRuns = one(rt, "red", []string{"", "tree0", "tree1"}), one(rt, "runs", []bool{false, true})
		}
		one(rt, "rules", []func(*coppice.Landing){func(*coppice.Landing) {}, ruled, ruleApplies})(l)
		if chance(rt, "approved") {
			approved(l)
		}
		if v.Task.Stage == coppice.StageSession { // a landing joins the queue when no session is due any more
			l.QueueID, l.QueuedAt = 0, time.Time{}
		}
		if !l.Green && chance(rt, "killed") {
			l.Killed, l.RetryAt = rapid.IntRange(1, 9).Draw(rt, "kills"), moment(rt, "again")
		}
	})(v)
}

func randomWork(rt *rapid.T, v *View) {
	for range rapid.IntRange(0, 2).Draw(rt, "work") {
		kind := one(rt, "kind", everyKind)
		ofSession := kind == coppice.WorkRun || kind == coppice.WorkSend || kind == coppice.WorkStop
		if ofSession && (v.lastSession() == nil || v.Workspace == nil) {
			continue // such work is offered for a session in a workspace only
		}
		if slices.ContainsFunc(v.Work, func(w coppice.Work) bool { return w.Kind == kind }) {
			continue // a task has one work item of a kind; its key has the attempt
		}
		state := one(rt, "state", workStates)
		work(kind, state, rapid.IntRange(0, 2).Draw(rt, "attempt"), func(w *coppice.Work) {
			w.Key, w.SessionID = fmt.Sprintf("random/%d", len(v.Work)), 0
			if s := v.lastSession(); s != nil {
				w.SessionID = s.ID
			}
			if state == coppice.WorkFinished {
				w.Result = coppice.Raw(struct{}{})
				if kind == coppice.WorkCheck {
					r := checked(one(rt, "check", []coppice.Check{{}, {Exit: 1}, {Exit: 127}, killed("SIGKILL"), {Exit: 124, TimedOut: true}}))
					r.BaseTree = one(rt, "base tree", []string{"", "tree0", "tree1"})
					w.Result = coppice.Raw(r)
					w.Spec = coppice.Raw(coppice.CheckSpec{Tree: "tree0", OnBase: chance(rt, "on base")})
				}
				if chance(rt, "failed") {
					w.Result, w.Failure = nil, coppice.Failf(one(rt, "class", coppice.Classes), "it broke", "")
				}
			}
		})(v)
	}
}

// From any facts, the deciders come to rest: applied to a real store, again and
// again as time passes, none undoes another's decision indefinitely.
func TestDecidersComeToRest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		v := randomView(rt)
		f := newFacts(rt, v, nil)
		defer f.store.Close()
		for range 3 {
			if err := f.turn(); err != nil {
				rt.Fatal(err)
			}
			if got, err := f.engine.Turn(context.Background()); err != nil || got.Decisions != 0 {
				rt.Fatalf("a second turn took %d decisions (%v), want none", got.Decisions, err)
			}
			f.now = f.now.Add(time.Hour)
		}
	})
}

// facts are a view's facts in a real store, with an engine and its time.
type facts struct {
	store  *sqlite.Store
	engine *Engine
	task   int64
	now    time.Time
}

func newFacts(rt *rapid.T, v *View, models func(string, *coppice.Profile) map[string]string) *facts {
	s, err := sqlite.Open(context.Background(), sqlite.Config{Path: sqlite.Memory, Sync: sqlite.SyncOff})
	if err != nil {
		rt.Fatal(err)
	}
	f := &facts{store: s, now: noon}
	f.engine, err = New(Config{
		Store: s, Now: func() time.Time { return f.now }, Models: models,
		Nodes: func(context.Context) ([]coppice.Node, error) { return []coppice.Node{{Name: PoolLocal}}, nil },
	})
	if err != nil {
		rt.Fatal(err)
	}
	if f.task, err = put(s, v); err != nil {
		rt.Fatal(err)
	}
	return f
}

// turn runs the deciders on the task.
func (f *facts) turn() error {
	return f.store.Update(context.Background(), func(tx store.Tx) error {
		t := &turn{Engine: f.engine, tx: tx, now: f.now, nodes: []coppice.Node{{Name: PoolLocal}}, dirty: newQueue()}
		t.dirty.add(coppice.TaskSubject(f.task))
		_, err := t.run()
		return err
	})
}

// put writes the facts of a view as they are, with the ids that the store gives.
func put(s store.Store, v *View) (id int64, err error) {
	err = s.Update(context.Background(), func(tx store.Tx) error {
		p, t := v.Project, v.Task
		p.ID, t.ID, t.CreatedAt = 0, 0, noon
		if err := tx.Projects.Put(&p); err != nil {
			return err
		}
		t.ProjectID = p.ID
		if err := tx.Tasks.Put(&t); err != nil {
			return err
		}
		id = t.ID
		sessions := map[int64]int64{}
		for _, x := range v.Sessions {
			old := x.ID
			x.ID, x.ProjectID, x.TaskID, x.CreatedAt = 0, p.ID, t.ID, noon
			if err := tx.Sessions.Put(&x); err != nil {
				return err
			}
			sessions[old] = x.ID
		}
		return putRest(tx, v, p.ID, t.ID, sessions)
	})
	return id, err
}

func putRest(tx store.Tx, v *View, project, task int64, sessions map[int64]int64) error {
	var trash int64
	if v.Trash != nil {
		tr := *v.Trash
		tr.ID, tr.ProjectID, tr.TaskID = 0, project, task
		if err := tx.Trash.Put(&tr); err != nil {
			return err
		}
		trash = tr.ID
	}
	if v.Workspace != nil {
		w := *v.Workspace
		w.ID, w.ProjectID, w.TaskID, w.TrashID = 0, project, task, trash
		if err := tx.Workspaces.Put(&w); err != nil {
			return err
		}
	}
	if v.Landing != nil {
		l := *v.Landing
		l.ID, l.ProjectID, l.TaskID = 0, project, task
		if err := tx.Landings.Put(&l); err != nil {
			return err
		}
	}
	for _, w := range v.Work {
		w.ID, w.ProjectID, w.TaskID, w.SessionID = 0, project, task, sessions[w.SessionID]
		if err := tx.Work.Put(&w); err != nil {
			return err
		}
	}
	for _, m := range v.Messages {
		m.ID, m.TaskID = 0, task
		if err := tx.Messages.Put(&m); err != nil {
			return err
		}
	}
	for _, q := range v.Questions {
		q.ID, q.TaskID, q.SessionID = 0, task, sessions[q.SessionID]
		if err := tx.Questions.Put(&q); err != nil {
			return err
		}
	}
	for _, l := range v.Limited {
		if err := tx.Limits.Put(l); err != nil {
			return err
		}
	}
	return nil
}

// Deciders look at a view and nothing else: they neither panic on any, nor
// change it.
func TestDecideChangesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		v := randomView(rt)
		before := string(coppice.Raw(v))
		_ = v.decide()
		_ = v.due()
		if after := string(coppice.Raw(v)); after != before {
			rt.Fatalf("before: %s\nafter: %s", before, after)
		}
	})
}
