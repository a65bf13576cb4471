package engine

import (
	"context"
	"maps"

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

// SetBudgets stores how much accounts can spend per day, if that has changed. 0 means
// no limit.
func (i *Intake) SetBudgets(ctx context.Context, accounts map[string]coppice.USD) error {
	want := maps.Clone(accounts)
	maps.DeleteFunc(want, func(_ string, usd coppice.USD) bool { return usd == 0 })
	same := false
	err := i.store.View(ctx, func(r store.Reader) error {
		have, err := r.Spend.Budgets()
		same = maps.Equal(have, want)
		return err
	})
	if err != nil || same {
		return err
	}
	return i.store.Update(ctx, func(tx store.Tx) error {
		if err := tx.Spend.SetBudgets(want); err != nil {
			return err
		}
		return tx.Log.Append(&coppice.Event{At: i.now().UTC(), Kind: coppice.EventBudgetsChanged, By: i.by.String()})
	})
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
