package engine

import (
	"context"
	"slices"
	"strings"

	"coppice"
	"coppice/store"
	"coppice/verb"
)

// mostNamed is how many tasks a refusal or a reason names.
const mostNamed = 5

// openStages are the stages of a task that has not ended.
var openStages = coppice.StagesThat(func(s coppice.Stage) bool { return !s.Ended() })

// RemoveProject starts to remove a project: from then on nothing new starts in
// it. The server forgets the project when none of its work runs. Repeated, it
// only adds options.
func (i *Intake) RemoveProject(ctx context.Context, project string, how coppice.Remove) (coppice.Project, error) {
	var p coppice.Project
	err := i.store.Update(ctx, func(tx store.Tx) error {
		var err error
		if p, err = tx.Projects.ByPrefix(project); err != nil {
			return err
		}
		removal := coppice.Removal{At: i.now().UTC()}
		if p.Removal != nil {
			removal = *p.Removal
		} else if err := refuseOpen(tx.Reader(), p, how); err != nil {
			return err
		}
		removal.Force, removal.Purge = removal.Force || how.Force, removal.Purge || how.Purge
		if p.Removal != nil && removal == *p.Removal {
			return nil
		}
		removal.Problem = ""
		p.Removal = &removal
		if err := tx.Projects.Put(&p); err != nil {
			return err
		}
		if err := i.stopPreviews(tx, p.ID); err != nil {
			return err
		}
		return i.event(tx, coppice.EventProjectChanged, coppice.Task{ProjectID: p.ID, Key: p.Prefix}, "is being removed")
	})
	return p, err
}

// refuseOpen refuses to remove a project on which open tasks of another one
// depend, or that has open tasks itself, unless they will be stopped.
func refuseOpen(r store.Reader, p coppice.Project, how coppice.Remove) error {
	outside, err := r.Projects.Dependants(p.ID, mostNamed)
	if err != nil {
		return err
	}
	if len(outside) > 0 {
		return coppice.Errorf(coppice.EConflict, "tasks of other projects depend on tasks of %s: %s", p.Prefix, strings.Join(outside, ", ")).
			WithFix("stop them, or change their dependencies with `coppice set %s --after …`", outside[0])
	}
	if how.Force {
		return nil
	}
	f := store.TaskFilter{ProjectID: p.ID, Stages: openStages, OldFirst: true, Most: mostNamed}
	tasks, err := r.Tasks.List(f)
	if err != nil || len(tasks) == 0 {
		return err
	}
	f.Most = 0
	n, err := r.Tasks.Count(f)
	if err != nil {
		return err
	}
	var keys []string
	for _, t := range tasks {
		keys = append(keys, t.Key)
	}
	if n > len(keys) {
		keys = append(keys, "…")
	}
	noun := "tasks that have"
	if n == 1 {
		noun = "task that has"
	}
	return coppice.Errorf(coppice.EConflict, "%s has %d %s not ended: %s", p.Prefix, n, noun, strings.Join(keys, ", ")).
		WithFix("stop each with `coppice stop KEY`, or use --force, which stops all of them first")
}

// Forget removes some rows of a project that is being removed, and reports
// whether it has more. It fails with code conflict while some of its work runs.
func (i *Intake) Forget(ctx context.Context, p coppice.Project, most int) (more bool, err error) {
	err = i.store.Update(ctx, func(tx store.Tx) error {
		before, err := tx.Projects.Dependants(p.ID, most)
		if err != nil {
			return err
		}
		if more, err = tx.Projects.Forget(p.ID, most); err != nil {
			return err
		}
		after, err := tx.Projects.Dependants(p.ID, most)
		if err != nil {
			return err
		}
		for _, key := range before {
			if slices.Contains(after, key) {
				continue
			}
			t, err := tx.Tasks.ByKey(key)
			if err != nil {
				return err
			}
			if err := i.event(tx, coppice.EventTaskChanged, t, "a task on which it depended was removed"); err != nil {
				return err
			}
		}
		if more {
			return nil
		}
		return i.event(tx, coppice.EventProjectRemoved, coppice.Task{ProjectID: p.ID, Key: p.Prefix}, p.Path)
	})
	return more, err
}

// RemovalFailed records why a project cannot be removed.
func (i *Intake) RemovalFailed(ctx context.Context, id int64, problem string) error {
	return i.store.Update(ctx, func(tx store.Tx) error {
		p, err := tx.Projects.Get(id)
		if err != nil || p.Removal == nil || p.Removal.Problem == problem {
			return err
		}
		removal := *p.Removal
		removal.Problem = problem
		p.Removal = &removal
		if err := tx.Projects.Put(&p); err != nil {
			return err
		}
		return i.event(tx, coppice.EventProjectChanged, coppice.Task{ProjectID: p.ID, Key: p.Prefix}, "cannot be removed: "+problem)
	})
}

// StopOpen asks open tasks of a project to stop: of those with an id below
// before, the newest most, where 0 means all. It returns the value of before for
// the next ones, or 0 if there are none.
func (i *Intake) StopOpen(ctx context.Context, project, before int64, most int) (next int64, err error) {
	err = i.store.Update(ctx, func(tx store.Tx) error {
		tasks, err := tx.Tasks.List(store.TaskFilter{ProjectID: project, Stages: openStages, BeforeID: before, Most: most})
		if err != nil {
			return err
		}
		if next = 0; len(tasks) == most {
			next = tasks[most-1].ID
		}
		for _, t := range tasks {
			open, err := tx.Asks.Open(coppice.TaskSubject(t.ID))
			if err != nil {
				return err
			}
			if coppice.Asked(open, coppice.VerbStop) != nil {
				continue
			}
			if err := i.request(tx, &t, verb.Of(coppice.VerbStop), verb.Request{}); err != nil {
				return err
			}
			if err := i.event(tx, coppice.EventTaskStopAsked, t, "its project is being removed"); err != nil {
				return err
			}
		}
		return nil
	})
	return next, err
}

// knownTask returns a task for a request. It refuses a task whose project is
// being removed.
func knownTask(r store.Reader, key string) (coppice.Task, error) {
	t, err := r.Tasks.ByKey(key)
	if err != nil {
		return t, err
	}
	_, err = knownProject(r.Projects.Get(t.ProjectID))
	return t, err
}

// knownProject returns a project that was read for a request. It refuses one that is
// being removed.
func knownProject(p coppice.Project, err error) (coppice.Project, error) {
	if err == nil {
		err = refuseRemoval(p)
	}
	return p, err
}

// refuseRemoval refuses to start something in a project that is being removed.
func refuseRemoval(p coppice.Project) error {
	if p.Removal == nil {
		return nil
	}
	return coppice.Errorf(coppice.EConflict, "the project %s is being removed", p.Prefix).
		WithFix("wait until `coppice project list` no longer shows it; `coppice project add %s` adds it again", p.Path)
}
