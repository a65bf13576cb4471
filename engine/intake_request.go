package engine

import (
	"context"
	"slices"
	"strings"
	"time"

	"coppice"
	"coppice/store"
	"coppice/verb"
)

// As returns an Intake whose requests and events have another author.
func (i *Intake) As(by coppice.Actor) *Intake {
	c := *i
	c.by = by
	return &c
}

// Ask adds a request to a task. Package verb has the verbs, and says when each
// applies.
func (i *Intake) Ask(ctx context.Context, key string, v coppice.Verb, r verb.Request) (coppice.Task, error) {
	info := verb.Of(v)
	if info == nil {
		return coppice.Task{}, coppice.Errorf(coppice.EInvalid, "there is no verb %s", coppice.Quote(string(v)))
	}
	if err := coppice.ValidText(info.Text, r.Text, coppice.MaxMessage); err != nil {
		return coppice.Task{}, err
	}
	if v == coppice.VerbOpenPull {
		if err := i.forgeReady(ctx, key); err != nil {
			return coppice.Task{}, err
		}
	}
	return i.ask(ctx, key, info.Event, reasonOf(info, r), func(tx store.Tx, t *coppice.Task) error { return i.request(tx, t, info, r) })
}

// reasonOf returns a request as one line for the log.
func reasonOf(info *verb.Info, r verb.Request) string {
	var words []string
	if who := strings.Fields(r.Staff.Agent + " " + r.Staff.Model + " " + r.Staff.Effort); len(who) > 0 {
		words = append(words, "with "+strings.Join(who, " "))
	}
	if r.Text != "" && info.Reason == "" {
		words = append(words, r.Text)
	}
	if len(words) == 0 {
		return info.Reason
	}
	return strings.Join(words, ": ")
}

// request checks a request against the facts, withdraws the requests that it
// replaces, and stores it.
func (i *Intake) request(tx store.Tx, t *coppice.Task, info *verb.Info, r verb.Request) error {
	if !info.May(i.by) {
		return coppice.Errorf(coppice.EForbidden, "%s cannot %s a task", i.by, info.Verb)
	}
	f, err := i.facts(tx.Reader(), *t)
	if err != nil {
		return err
	}
	if err := info.Fits(f); err != nil {
		return err
	}
	if t.Checkout && t.Ended() {
		if err := refuseCheckout(tx.Reader(), *t); err != nil {
			return err
		}
	}
	if t.Ended() && slices.Contains(reopening, info.Verb) {
		if err := refuseClosed(tx.Reader(), *t); err != nil {
			return err
		}
	}
	if info.Check != nil {
		if err := info.Check(f, r); err != nil {
			return err
		}
	}
	if len(r.Images) > 0 && !info.Images {
		return coppice.Errorf(coppice.EInvalid, "a request to %s a task has no images", info.Verb).WithField("images")
	}
	if err := i.attach(tx, t, r.Images); err != nil {
		return err
	}
	a := coppice.Ask{Verb: info.Verb, Text: r.Text}
	if also := requests[info.Verb]; also != nil {
		if err := also(i, tx, t, f, r, &a); err != nil {
			return err
		}
	}
	return i.replace(tx, *t, f.Asks, info, a)
}

// replace stores a request, and withdraws the open requests that it replaces.
func (i *Intake) replace(tx store.Tx, t coppice.Task, asks []coppice.Ask, info *verb.Info, a coppice.Ask) error {
	for _, open := range asks {
		if !slices.Contains(info.Withdraws, open.Verb) {
			continue
		}
		open.SettledAt, open.Outcome = i.now().UTC(), "withdrawn by "+string(info.Verb)
		if err := tx.Asks.Put(&open); err != nil {
			return err
		}
	}
	return i.add(tx, t, asks, a)
}

// add stores a request, unless the same one is open.
func (i *Intake) add(tx store.Tx, t coppice.Task, open []coppice.Ask, a coppice.Ask) error {
	text := ""
	for _, o := range open {
		if o.Verb != a.Verb {
			continue
		}
		if o.Text == a.Text && string(o.Args) == string(a.Args) {
			return nil
		}
		text = joinNotes(text, o.Text)
	}
	if err := coppice.ValidText(verb.Of(a.Verb).Text, joinNotes(text, a.Text), coppice.MaxMessage); err != nil {
		return err // both texts are kept until they are settled
	}
	a.Subject, a.ProjectID, a.By, a.At = coppice.TaskSubject(t.ID), t.ProjectID, i.by, i.now().UTC()
	return tx.Asks.Put(&a)
}

// retryWaiting asks for a retry of a task that has what it waited for, unless
// the task is being stopped.
func (i *Intake) retryWaiting(tx store.Tx, t coppice.Task, why string) error {
	open, err := tx.Asks.Open(coppice.TaskSubject(t.ID))
	if err != nil || coppice.Asked(open, coppice.VerbStop) != nil {
		return err
	}
	if err := i.add(tx, t, open, coppice.Ask{Verb: coppice.VerbRetry}); err != nil {
		return err
	}
	return i.event(tx, coppice.EventTaskRetried, t, why)
}

// facts returns the facts by which package verb decides.
func (i *Intake) facts(r store.Reader, t coppice.Task) (verb.Facts, error) {
	f := verb.Facts{Now: i.now(), Task: t}
	var err error
	if f.Session, err = r.Sessions.Last(t.ID); err != nil {
		return f, err
	}
	if f.Landing, err = r.Landings.Last(t.ID); err != nil {
		return f, err
	}
	if f.Asks, err = r.Asks.Open(coppice.TaskSubject(t.ID)); err != nil {
		return f, err
	}
	ws, err := r.Workspaces.Of(t.ID)
	if err != nil {
		return f, err
	}
	f.Branch = ws != nil
	tr, err := restorable(r, ws)
	if err != nil {
		return f, err
	}
	f.Trashed = tr != nil
	if t.Pull {
		p, err := r.Pulls.Of(t.ID)
		if err != nil {
			return f, err
		}
		f.Pull = p.Short()
	}
	f.Moving, err = moving(r, t, f.Landing)
	return f, err
}

// moving reports whether the base is being moved to a task's commit, or might
// have been moved: only the result shows it.
func moving(r store.Reader, t coppice.Task, l *coppice.Landing) (bool, error) {
	if l != nil && l.Round == t.Round && mightHaveLanded(*l) {
		return true, nil
	}
	if l == nil || l.QueueID == 0 {
		return false, nil
	}
	work, err := r.Work.Unsettled(coppice.QueueSubject(l.QueueID))
	for _, w := range work {
		if slices.Contains(lastSteps, w.Kind) && w.TaskID == t.ID && w.Attempt > 0 {
			return true, nil
		}
	}
	return false, err
}

// requests has what some verbs do in addition, in the transaction that stores
// the request.
var requests map[coppice.Verb]func(*Intake, store.Tx, *coppice.Task, verb.Facts, verb.Request, *coppice.Ask) error

func init() {
	requests = map[coppice.Verb]func(*Intake, store.Tx, *coppice.Task, verb.Facts, verb.Request, *coppice.Ask) error{
		coppice.VerbLand:    requestLand,
		coppice.VerbRetry:   requestRetry,
		coppice.VerbRequeue: requestRequeue,
		coppice.VerbTake:    requestTake,
		coppice.VerbRevert:  requestRevert,
		coppice.VerbResume:  requestResume,
	}
}

// requestLand binds the approval to the candidate that the person can see, or to
// the commit that the person has read if there is no candidate yet. It also makes
// a postponed landing retry now. A landing in the queue needs nothing else.
func requestLand(i *Intake, tx store.Tx, _ *coppice.Task, f verb.Facts, r verb.Request, a *coppice.Ask) error {
	if l := f.Candidate(); l != nil {
		a.Args = landArgs{Landing: l.ID}.raw()
	} else if r.Head != "" {
		a.Args = landArgs{Head: r.Head}.raw()
	}
	switch {
	case !f.PutOff():
		return nil
	case f.Task.Stage == coppice.StageLanding:
		a.Verb, a.Args = coppice.VerbRetry, nil
		return nil
	}
	return i.add(tx, f.Task, f.Asks, coppice.Ask{Verb: coppice.VerbRetry})
}

// requestRetry gives the task to another agent or model, if the request names
// one. It clears the limit of the agent for which the task waits: a person says
// that it works.
func requestRetry(i *Intake, tx store.Tx, t *coppice.Task, f verb.Facts, r verb.Request, _ *coppice.Ask) error {
	if err := i.restaff(tx, t, r.Staff); err != nil {
		return err
	}
	n := t.Next
	if n == nil {
		return nil
	}
	if r.Staff != (coppice.Staff{}) && !verb.AwaitsVerdict(*t) {
		t.Next = firstOfRound(*t, *n)
	}
	if stuckOn(f.Task, t.Next.Agent) {
		_, err := i.unlimit(tx, t.Next.Agent, "a person retried a task")
		return err
	}
	return nil
}

// restaff gives a task to another agent or model. For another agent, the policy
// has the model and the effort.
func (i *Intake) restaff(tx store.Tx, t *coppice.Task, s coppice.Staff) error {
	if s == (coppice.Staff{}) {
		return nil
	}
	p, err := tx.Projects.Get(t.ProjectID)
	if err != nil {
		return err
	}
	was := t.Model
	if s.Agent != "" && s.Agent != t.Agent {
		t.Agent, t.Model, t.Effort = s.Agent, "", ""
	}
	if s.Model != "" {
		t.Model = s.Model
	}
	if s.Effort != "" {
		t.Effort = s.Effort
	}
	if err := i.staff(p, t); err != nil {
		return err
	}
	if t.Model != was {
		t.Level = "" // the rules judge it again
	}
	return nil
}

// requestRequeue gives the task to another agent or model, if the request names
// one.
func requestRequeue(i *Intake, tx store.Tx, t *coppice.Task, _ verb.Facts, r verb.Request, _ *coppice.Ask) error {
	if err := i.restaff(tx, t, r.Staff); err != nil {
		return err
	}
	if n := t.Next; n != nil && stuckOn(*t, n.Agent) && n.Agent == t.Agent {
		_, err := i.unlimit(tx, t.Agent, "a person requeued a task")
		return err
	}
	return nil
}

// requestTake refuses an agent that has no screen.
func requestTake(i *Intake, tx store.Tx, _ *coppice.Task, f verb.Facts, _ verb.Request, _ *coppice.Ask) error {
	agent, err := agentToTake(tx.Reader(), f)
	if err != nil {
		return err
	}
	p, err := tx.Projects.Get(f.Task.ProjectID)
	if err != nil {
		return err
	}
	return i.screen(p, agent)
}

// agentToTake returns the agent whose screen a person would get. The person
// continues the work, not its verifier.
func agentToTake(r store.Reader, f verb.Facts) (string, error) {
	t, s := f.Task, f.Session
	live := t.Stage == coppice.StageSession && s != nil && s.State.Live()
	switch {
	case live && s.Role == coppice.RoleVerify, !live && verb.AwaitsVerdict(t):
		all, err := r.Sessions.Of(t.ID)
		return resumeWork(&View{Task: t, Sessions: all}).Agent, err
	case live:
		return s.Agent, nil
	}
	return t.Next.Agent, nil
}

// ask adds a request to a task.
func (i *Intake) ask(ctx context.Context, key string, kind coppice.EventKind, reason string, f func(store.Tx, *coppice.Task) error) (coppice.Task, error) {
	var t coppice.Task
	err := i.store.Update(ctx, func(tx store.Tx) error {
		var err error
		if t, err = knownTask(tx.Reader(), key); err != nil {
			return err
		}
		if err := f(tx, &t); err != nil {
			return err
		}
		t.Archived = time.Time{} // a task that continues is not archived
		if err := tx.Tasks.Put(&t); err != nil {
			return err
		}
		return i.event(tx, kind, t, reason)
	})
	return t, err
}

func (i *Intake) event(tx store.Tx, kind coppice.EventKind, t coppice.Task, reason string) error {
	return tx.Log.Append(&coppice.Event{
		At: i.now().UTC(), Kind: kind, ProjectID: t.ProjectID, TaskID: t.ID, Subject: t.Key, By: i.by.String(), Reason: reason,
	})
}
