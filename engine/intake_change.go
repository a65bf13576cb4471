package engine

import (
	"context"
	"errors"
	"slices"
	"strings"

	"coppice"
	"coppice/store"
	"coppice/verb"
)

// ChangeTask changes a task's request. What a failed or cancelled task gets
// counts when it is retried.
func (i *Intake) ChangeTask(ctx context.Context, key string, c coppice.TaskChange) (coppice.Task, error) {
	if c.Marks() {
		return i.markTask(ctx, key, c)
	}
	judged := i.levelAfter(ctx, key, c)
	return i.ask(ctx, key, coppice.EventTaskChanged, "", func(tx store.Tx, t *coppice.Task) error {
		was := *t
		if !t.Changeable() {
			return coppice.Errorf(coppice.EConflict, "%s has ended (%s)", t.Key, t.Outcome)
		}
		if c.Title != nil {
			if err := coppice.ValidTitle(*c.Title); err != nil {
				return err
			}
			t.Title = strings.TrimSpace(*c.Title)
		}
		if c.Body != nil {
			if err := coppice.ValidText("body", *c.Body, coppice.MaxBody); err != nil {
				return err
			}
			t.Body = *c.Body
		}
		if err := prioritize(tx, t, c); err != nil {
			return err
		}
		if err := i.mark(tx, t, c); err != nil {
			return err
		}
		if c.NotBefore != nil {
			t.NotBefore = c.NotBefore.UTC()
			unqueue(t)
		}
		if err := i.changeWork(tx, t, c); err != nil {
			return err
		}
		relevel(t, was, judged)
		if c.After == nil {
			return nil
		}
		return changeAfter(tx, t, *c.After)
	})
}

// prioritize gives a task a priority, or the one that puts it between two others.
func prioritize(tx store.Tx, t *coppice.Task, c coppice.TaskChange) error {
	if c.Priority != nil {
		if err := validPriority(*c.Priority); err != nil {
			return err
		}
		t.Priority = *c.Priority
	}
	p := c.Between
	switch {
	case p == nil:
		return nil
	case c.Priority != nil:
		return coppice.Errorf(coppice.EInvalid, "the request has both a priority and a place in the queue").WithFix("leave one of them out").WithField("between")
	case p.Above == "" && p.Below == "":
		return coppice.Errorf(coppice.EInvalid, "the place in the queue names no task").WithFix("name the task above it, the one below it, or both").WithField("between")
	}
	above, err := neighbour(tx, *t, p.Above, "between.above")
	if err != nil {
		return err
	}
	below, err := neighbour(tx, *t, p.Below, "between.below")
	if err != nil {
		return err
	}
	t.Priority = coppice.PriorityBetween(*t, above, below)
	return nil
}

// neighbour returns the task with a key, next to which another one goes; nil if the
// key is empty.
func neighbour(tx store.Tx, t coppice.Task, key, field string) (*coppice.Task, error) {
	switch key {
	case "":
		return nil, nil
	case t.Key:
		return nil, coppice.Errorf(coppice.EInvalid, "%s cannot be next to itself", key).WithFix("name another task").WithField(field)
	}
	next, err := knownTask(tx.Reader(), key)
	return &next, err
}

// changeWork changes what a task is, its agent and its track. Agent and track
// can change only before its work has started, or before it is retried.
func (i *Intake) changeWork(tx store.Tx, t *coppice.Task, c coppice.TaskChange) error {
	if c.Category != nil {
		t.Category = *c.Category
	}
	if c.Steps != nil && !slices.Equal(t.Steps, *c.Steps) {
		t.Steps = *c.Steps
		if err := unverify(tx, t); err != nil {
			return err
		}
	}
	if c.Budget != nil {
		t.Budget = *c.Budget
		if err := errors.Join(i.affords(tx, t), i.affordsBelow(tx, *t)); err != nil {
			return err
		}
	}
	if err := i.changeLimits(tx, t, c); err != nil {
		return err
	}
	if c.Retry != nil {
		if err := coppice.ValidRetry(*c.Retry); err != nil {
			return err
		}
		t.Retry = *c.Retry
	}
	if c.Completion != nil {
		if err := coppice.ValidCompletion(*c.Completion); err != nil {
			return err
		}
		t.Completion = *c.Completion
	}
	if c.Track == nil && c.Agent == nil && c.Model == nil && c.Effort == nil {
		return validFeature(t)
	}
	if working(t) {
		return coppice.Errorf(coppice.EConflict, "%s has started; its agent, model and track can no longer change", t.Key)
	}
	p, err := tx.Projects.Get(t.ProjectID)
	if err != nil {
		return err
	}
	for _, f := range []struct {
		to   *string
		from *string
	}{{&t.Track, c.Track}, {&t.Agent, c.Agent}, {&t.Model, c.Model}, {&t.Effort, c.Effort}} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
	if err := i.complete(p, t); err != nil {
		return err
	}
	unqueue(t)
	if t.Next != nil {
		next := *t.Next
		next.Agent, next.Model = t.Agent, t.Model
		t.Next = &next
	}
	return nil
}

// working reports whether the work on a task has started, and it has not ended.
func working(t *coppice.Task) bool {
	return !t.Ended() && (t.Sessions > 0 || t.Stage != coppice.StageWaiting && t.Stage != coppice.StageQueued)
}

// changeAfter replaces a task's dependencies and refuses cycles. A task whose
// work has started does not return to waiting before it is retried, so its
// dependencies cannot change.
func changeAfter(tx store.Tx, t *coppice.Task, names []string) error {
	if t.Sessions > 0 && !t.Ended() {
		return coppice.Errorf(coppice.EConflict, "%s has started; its dependencies can no longer change", t.Key).WithField("after")
	}
	ids, err := dependencies(tx.Reader(), names, nil, 0)
	if err != nil {
		return err
	}
	if err := validAfter(tx.Reader(), *t, ids); err != nil {
		return err
	}
	t.After = ids
	unqueue(t)
	return nil
}

// validAfter refuses dependencies of a task that lead to the task itself, or to a task
// above it.
func validAfter(r store.Reader, t coppice.Task, ids []int64) error {
	above, err := r.Families.Ancestors(t.ID)
	if err != nil {
		return err
	}
	if err := refuseAbove(r, t, ids, above); err != nil {
		return err
	}
	var path []string
	seen := map[int64]bool{}
	var walk func(id int64) error
	walk = func(id int64) error {
		d, err := r.Tasks.Get(id)
		if err != nil {
			return err
		}
		path = append(path, d.Key)
		if id == t.ID {
			return cycle(append([]string{t.Key}, path...))
		}
		if !seen[id] {
			seen[id] = true
			for _, next := range d.After {
				if err := walk(next); err != nil {
					return err
				}
			}
		}
		path = path[:len(path)-1]
		return nil
	}
	for _, id := range ids {
		if err := walk(id); err != nil {
			return err
		}
	}
	return nil
}

// unqueue makes the engine check again what a queued task waits for.
func unqueue(t *coppice.Task) {
	if t.Stage == coppice.StageQueued {
		t.Stage, t.Wait = coppice.StageWaiting, nil
	}
}

// affords lets a task continue that waits for a larger budget, when it has got one.
func (i *Intake) affords(tx store.Tx, t *coppice.Task) error {
	if t.Failure == nil || t.Failure.Class != coppice.ClassBudget || t.Failure.Of != "" || !verb.WaitsForPerson(*t) {
		return nil
	}
	v := &View{Task: *t}
	var err error
	if v.Project, err = tx.Projects.Get(t.ProjectID); err != nil {
		return err
	}
	if v.Spent, err = Spent(tx.Reader(), t.ID); err != nil {
		return err
	}
	if most := v.allowed(); most > 0 && v.Spent >= most {
		return nil
	}
	return i.resume(tx, t)
}

// changeLimits changes the limits of a task's sessions. A task that waits because a
// session reached a limit continues when the limit is higher.
func (i *Intake) changeLimits(tx store.Tx, t *coppice.Task, c coppice.TaskChange) error {
	if c.Turns == nil && c.Time == nil && c.UntilDone == nil {
		return nil
	}
	was := *t
	if c.UntilDone != nil {
		if t.UntilDone = *c.UntilDone; t.UntilDone {
			t.Turns, t.Time = 0, 0
		}
	}
	if c.Turns != nil {
		t.Turns = *c.Turns
	}
	if c.Time != nil {
		t.Time = *c.Time
	}
	if (c.Turns != nil || c.Time != nil) && c.UntilDone == nil {
		t.UntilDone = false
	}
	if err := t.ValidLimits(); err != nil {
		return err
	}
	if t.Failure == nil || t.Failure.Class != coppice.ClassLimit || t.Next == nil || !verb.WaitsForPerson(*t) {
		return nil
	}
	p, err := tx.Projects.Get(t.ProjectID)
	if err != nil {
		return err
	}
	before, now := was.RunLimits(p.Policy, t.Next.Role), t.RunLimits(p.Policy, t.Next.Role)
	higher := now.Turns > before.Turns || before.Time > 0 && (now.Time == 0 || now.Time > before.Time) || before.Budget > 0 && now.Budget == 0
	if !higher {
		return nil
	}
	return i.resume(tx, t)
}

// resume lets a task continue that waits for a larger budget or limit.
func (i *Intake) resume(tx store.Tx, t *coppice.Task) error {
	open, err := tx.Asks.Open(coppice.TaskSubject(t.ID))
	if err != nil || coppice.Asked(open, coppice.VerbStop) != nil {
		return err
	}
	t.Failure = nil // nothing more needs to be granted
	return i.add(tx, *t, open, coppice.Ask{Verb: coppice.VerbRetry})
}

// unverify removes the verdict on a task's candidate, because its steps have
// changed. A verifier that runs has the old steps.
func unverify(tx store.Tx, t *coppice.Task) error {
	s, err := liveSession(tx.Reader(), t)
	if err != nil {
		return err
	}
	if s != nil && s.Role == coppice.RoleVerify {
		return coppice.Errorf(coppice.EConflict, "%s is being verified with its current steps", t.Key).WithFix("wait for the verdict, or stop it first").WithField("steps")
	}
	l, err := tx.Landings.Last(t.ID)
	if err != nil || l == nil || !l.EndedAt.IsZero() || !l.Verified {
		return err
	}
	l.Verified = false
	return tx.Landings.Put(l)
}
