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

// Limits lists the limited accounts, and the tasks that wait for each.
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

// stuckOn reports whether a task waits for a person to fix an agent.
func stuckOn(t coppice.Task, agent string) bool {
	return t.Stage == coppice.StageWaiting && t.Wait != nil && t.Wait.On == coppice.WaitPerson && t.Next != nil && t.Next.Agent == agent &&
		t.Failure != nil && remedies[t.Failure.Class] == blockAgent
}

// ClearLimit records that an account can be used again: an agent, or
// agent:model. Tasks that waited for a person to fix it continue.
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
			if err := i.retryWaiting(tx, t, agent+" can be used again"); err != nil {
				return err
			}
		}
		return nil
	})
}

// unlimit removes an account's limit, and reports whether there was one.
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

// shortLimit is how long a limit can last before queued tasks use a fallback.
// Tasks wait for a shorter one.
const shortLimit = 2 * time.Minute

// isLong reports whether a limit is long enough for a fallback.
func isLong(l coppice.AgentLimit, now time.Time) bool {
	return l.Until.IsZero() || l.Until.Sub(now) > shortLimit
}

// waitsForFallback reports whether a task that has not started waits for a
// fallback.
func waitsForFallback(t coppice.Task) bool {
	n := t.Next
	return !hasStarted(t) && n != nil && (n.Agent != t.Agent || n.Model != t.Model) && n.Role == t.FirstRole() && n.Resume == "" && !n.Screen
}

// reroute gives a queued task to another account if its own cannot be used for
// long, or until a person acts, and back when it can. A task that continues a
// conversation waits for the agent that has it, but can use another model.
func reroute(v *View) *Decision {
	if d := requeueForAccount(v); d != nil {
		return d
	}
	n := v.Task.Next
	if v.Task.Stage != coppice.StageQueued || n == nil || n.Screen {
		return nil
	}
	if _, still := v.Limited.of(v.preferredAccount()); waitsForFallback(v.Task) && !still {
		return requeueWith(v, &coppice.Next{Role: n.Role, Agent: v.Task.Agent, Model: v.Task.Model}, v.preferredAccount()+" can be used again")
	}
	account := v.Task.Lane().Agent
	l, ok := v.Limited.of(account)
	if !ok || !isLong(l, v.Now) {
		return nil
	}
	only := ""
	if !l.Until.IsZero() && n.Resume != "" && n.Role != coppice.RoleFix {
		only = n.Agent
	}
	next := fallbackFor(v, account, n.Role, only)
	if next == nil {
		return nil
	}
	if next.Agent == n.Agent {
		next.Resume, next.Fork = n.Resume, n.Fork
	}
	return requeueWith(v, next, fmt.Sprintf("%s: continues with %s", l.Text, v.account(next.Agent, next.Model)))
}

// requeueWith queues the task again for another account, with the evidence and
// note of its next session.
func requeueWith(v *View, next *coppice.Next, why string) *Decision {
	next.Evidence, next.Note = v.Task.Next.Evidence, v.Task.Next.Note
	d := enqueue(v, next, why)
	d.By = "limits"
	return d
}
