package engine

import (
	"cmp"
	"context"
	"time"

	"coppice"
	"coppice/internal/nearest"
	"coppice/store"
)

// WithHooks makes an Intake know the hooks of the user's configuration.
func WithHooks(f func() coppice.Hooks) Option { return func(i *Intake) { i.hooks = f } }

// UserHooks returns the hooks of the user's configuration.
func (i *Intake) UserHooks() coppice.Hooks {
	if i.hooks == nil {
		return nil
	}
	return i.hooks()
}

// ServerStarted records that the server started.
func (i *Intake) ServerStarted(ctx context.Context) error {
	return i.store.Update(ctx, func(tx store.Tx) error {
		return tx.Log.Append(&coppice.Event{
			At: i.now().UTC(), Kind: coppice.EventServerStarted, About: coppice.HooksSubject(0), Subject: "server", By: "server",
		})
	})
}

// TestHooks runs the hooks of an event without the event: with the facts of a task,
// or with a sample. Nothing follows from their results.
func (i *Intake) TestHooks(ctx context.Context, test coppice.HookTest) ([]coppice.HookRun, error) {
	if !test.Event.Known() {
		hint := ""
		if near := nearest.Name(string(test.Event), coppice.HookEventNames()); near != "" {
			hint = ", did you mean " + coppice.Quote(near) + "?"
		}
		return nil, coppice.Errorf(coppice.EInvalid, "%s is not an event of hooks%s", coppice.Quote(string(test.Event)), hint).
			WithFix("run `coppice hooks --events` to list the events").WithField("event")
	}
	var runs []coppice.HookRun
	err := i.store.Update(ctx, func(tx store.Tx) error {
		ev := &coppice.Event{At: i.now().UTC(), Kind: coppice.EventHookTested, By: i.by.String(), Reason: "a person tests the hooks of " + string(test.Event)}
		f, err := i.testFiring(tx.Reader(), test, ev)
		if err != nil {
			return err
		}
		hooks := hooksOf(test.Event, f.project.Policy.Hooks, i.UserHooks())
		if len(hooks) == 0 {
			return coppice.Errorf(coppice.ENotFound, "%s has no hook for %s", cmp.Or(f.project.Prefix, "the user's configuration"), test.Event).
				WithFix("add one under hooks in coppice.yaml, or in the user's config.yaml").WithField("event")
		}
		ev.ProjectID, ev.About, ev.Subject = f.project.ID, coppice.HooksSubject(f.project.ID), cmp.Or(f.project.Prefix, "server")
		if err := tx.Log.Append(ev); err != nil {
			return err
		}
		runs = f.runs(test.Event, hooks)
		for n := range runs {
			if err := tx.Hooks.Put(&runs[n]); err != nil {
				return err
			}
		}
		return nil
	})
	return runs, err
}

// testFiring returns the facts with which hooks are tested.
func (i *Intake) testFiring(r store.Reader, test coppice.HookTest, ev *coppice.Event) (*firing, error) {
	f := &firing{ev: ev, test: true}
	if test.Task == "" {
		if test.Project != "" {
			p, err := r.Projects.ByPrefix(test.Project)
			if err != nil {
				return f, err
			}
			f.project = p
		}
		if f.project.ID != 0 || test.Event != coppice.HookServerStarted {
			sampleFacts(f, test.Event, i.now().UTC())
		}
		return f, refuseRemoval(f.project)
	}
	t, err := knownTask(r, test.Task)
	if err != nil {
		return f, err
	}
	p, err := r.Projects.Get(t.ProjectID)
	if err != nil {
		return f, err
	}
	if test.Project != "" && test.Project != p.Prefix {
		return f, coppice.Errorf(coppice.EInvalid, "the task %s belongs to the project %s", t.Key, p.Prefix).WithFix("leave out the project").WithField("project")
	}
	ev.TaskID = t.ID
	s, err := r.Sessions.Last(t.ID)
	if err != nil {
		return f, err
	}
	if s != nil {
		ev.SessionID = s.ID
	}
	if f, err = loadFiring(r, ev, p); err != nil {
		return f, err
	}
	f.test = true
	if all, err := r.Questions.Of(t.ID); err != nil {
		return f, err
	} else if test.Event == coppice.HookQuestionAsked && len(all) > 0 {
		f.question = &all[len(all)-1]
	}
	return f, nil
}

// sampleFacts gives a test the facts of a task that does not exist.
func sampleFacts(f *firing, event coppice.HookEvent, now time.Time) {
	prefix := cmp.Or(f.project.Prefix, "sample")
	f.task = &coppice.Task{Key: prefix + "-0", Title: "A sample task", Stage: coppice.StageSession, Track: "main", Agent: "sample-agent", CreatedAt: now}
	f.session = &coppice.Session{Key: prefix + "-0.1", Role: coppice.RoleImplement, Agent: "sample-agent", State: coppice.SessionWorking}
	switch event {
	case coppice.HookTaskCreated, coppice.HookPaused, coppice.HookResumed, coppice.HookServerStarted:
		f.session = nil
	case coppice.HookQuestionAsked:
		f.question = &coppice.Question{Text: "Which color?", Options: []string{"green", "blue"}}
	case coppice.HookTaskFailed:
		f.task.Stage, f.task.Outcome, f.task.Failure = coppice.StageEnded, coppice.OutcomeFailed, coppice.Failf(coppice.ClassImplementation, "a sample failure", "")
	}
	if event == coppice.HookPaused || event == coppice.HookResumed || event == coppice.HookServerStarted {
		f.task = nil
	}
	const commit = "0123456789abcdef0123456789abcdef01234567"
	f.landing = &coppice.Landing{Head: commit, Candidate: coppice.Candidate{Base: commit, Commit: commit, Tree: commit, Green: true}}
	if event == coppice.HookLanded {
		f.landing.Outcome, f.task.Stage, f.task.Outcome, f.task.Landed = coppice.LandingLanded, coppice.StageEnded, coppice.OutcomeDone, commit
	}
}
