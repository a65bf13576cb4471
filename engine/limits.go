package engine

import (
	"context"
	"fmt"
	"time"

	"coppice"
	"coppice/store"
)

// AgentLimit is an account's limit and the tasks that wait for its end.
type AgentLimit struct {
	coppice.AgentLimit
	Tasks []string // keys
}

// Limits lists the accounts that nobody can use now, and who waits for each.
func (i *Intake) Limits(r store.Reader) ([]AgentLimit, error) {
	limits, err := r.Limits.All()
	if err != nil {
		return nil, err
	}
	var out []AgentLimit
	for _, l := range limits {
		if l.Holds(i.now()) {
			out = append(out, AgentLimit{AgentLimit: l})
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	tasks, err := r.Tasks.List(store.TaskFilter{Stages: []coppice.Stage{coppice.StageQueued, coppice.StageWaiting}, OldFirst: true})
	if err != nil {
		return nil, err
	}
	for _, t := range tasks {
		for n, l := range out {
			if t.Stage == coppice.StageQueued && l.For(t.Lane().Agent) || stuckOn(t, l.Agent) {
				out[n].Tasks = append(out[n].Tasks, t.Key)
			}
		}
	}
	return out, nil
}

// stuckOn tells whether a task waits for a person to mend an agent.
func stuckOn(t coppice.Task, agent string) bool {
	return t.Stage == coppice.StageWaiting && t.Wait != nil && t.Wait.On == coppice.WaitPerson && t.Next != nil && t.Next.Agent == agent &&
		t.Failure != nil && remedies[t.Failure.Class] == shut
}

// ClearLimit says that an account can be used again: an agent, or agent:model.
// Tasks that waited for a person to mend it go on.
func (i *Intake) ClearLimit(ctx context.Context, agent string) error {
	if err := coppice.ValidChoice(agent); err != nil {
		return err
	}
	return i.store.Update(ctx, func(tx store.Tx) error {
		cleared, err := i.unlimit(tx, agent, "a person cleared it")
		if err != nil {
			return err
		}
		if !cleared {
			return coppice.Errorf(coppice.ENotFound, "%s is not limited", agent).WithFix("see `coppice limits`")
		}
		tasks, err := tx.Tasks.List(store.TaskFilter{Stages: []coppice.Stage{coppice.StageWaiting}, OldFirst: true})
		if err != nil {
			return err
		}
		for _, t := range tasks {
			if !stuckOn(t, agent) {
				continue
			}
			if err := i.goOn(tx, t, agent+" can be used again"); err != nil {
				return err
			}
		}
		return nil
	})
}

// unlimit forgets an account's limit, and tells whether there was one.
func (i *Intake) unlimit(tx store.Tx, agent, why string) (bool, error) {
	limits, err := tx.Limits.All()
	if err != nil {
		return false, err
	}
	for _, l := range limits {
		if l.Agent != agent {
			continue
		}
		if err := tx.Limits.Drop(agent); err != nil {
			return false, err
		}
		if err := tx.Timers.Set(store.Timer{Kind: string(coppice.SubjectAccount), ID: agent}); err != nil {
			return false, err
		}
		return true, tx.Log.Append(&coppice.Event{At: i.now().UTC(), Kind: coppice.EventAgentCleared, About: coppice.AccountSubject(agent), Subject: agent, By: i.by.String(), Reason: why})
	}
	return false, nil
}

// shortLimit is how long a limit may last before queued tasks go elsewhere: what
// is over so soon is waited for.
const shortLimit = 2 * time.Minute

// lasts tells whether a limit is worth going elsewhere for.
func lasts(l coppice.AgentLimit, now time.Time) bool {
	return l.Until.IsZero() || l.Until.Sub(now) > shortLimit
}

// stoodIn tells whether a task that has not begun waits for a stand-in.
func stoodIn(t coppice.Task) bool {
	n := t.Next
	return !begun(t) && n != nil && (n.Agent != t.Agent || n.Model != t.Model) && n.Role == t.FirstRole() && n.Resume == "" && !n.Screen
}

// reroute gives a queued task to another account when its own cannot be used for
// long, or until a person says so, and back when it can. One that goes on with a
// conversation waits for the agent that had it, which may use another model.
func reroute(v *View) *Decision {
	if d := relane(v); d != nil {
		return d
	}
	n := v.Task.Next
	if v.Task.Stage != coppice.StageQueued || n == nil || n.Screen {
		return nil
	}
	if _, still := v.Limited.of(v.first()); stoodIn(v.Task) && !still {
		return moved(v, &coppice.Next{Role: n.Role, Agent: v.Task.Agent, Model: v.Task.Model}, v.first()+" can be used again")
	}
	account := v.Task.Lane().Agent
	l, ok := v.Limited.of(account)
	if !ok || !lasts(l, v.Now) {
		return nil
	}
	only := ""
	if !l.Until.IsZero() && n.Resume != "" && n.Role != coppice.RoleFix {
		only = n.Agent
	}
	next := standIn(v, account, n.Role, only)
	if next == nil {
		return nil
	}
	if next.Agent == n.Agent {
		next.Resume, next.Fork = n.Resume, n.Fork
	}
	return moved(v, next, fmt.Sprintf("%s: goes on with %s", l.Text, v.account(next.Agent, next.Model)))
}

// moved queues the task anew for another account, with what its next session was
// to be told.
func moved(v *View, next *coppice.Next, why string) *Decision {
	next.Evidence, next.Note = v.Task.Next.Evidence, v.Task.Next.Note
	d := enqueue(v, next, why)
	d.By = "limits"
	return d
}
