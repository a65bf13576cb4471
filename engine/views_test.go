package engine

import (
	"time"

	"coppice"
)

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

// verifying makes a session a verifier with a detached worktree.
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
	q.shareWork()
	return q
}

// anyLanding takes a landing's next step: by its task, or by its queue.
func anyLanding(v *View) *Decision {
	if l := v.Landing; l != nil && l.QueueID != 0 && l.EndedAt.IsZero() {
		return queued(nextStep)(v)
	}
	return landing(v)
}

// anySettle settles the work of a task, or of the queue of its landing.
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
			q.keepNeed(d)
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
		if v.sessionByID(w.SessionID) == nil || kind == coppice.WorkRemove {
			w.SessionID = 0 // it is for the task's workspace
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
