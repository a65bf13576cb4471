package engine

import (
	"context"
	"fmt"
	"time"

	"coppice"
	"coppice/store"
)

// Intake takes in what people and agents ask for. It checks a request against
// the facts and adds it to them, in one transaction; it decides nothing. A
// request that is refused changes nothing. Safe for concurrent use.
type Intake struct {
	store   store.Store
	now     func() time.Time
	inspect Inspect
	known   Agents
	screen  Agents
	levels  Levels // nil leaves it to the rules
}

// Inspect looks at a directory and tells the project it belongs to: the root of
// its checkout, its policy with every default filled in, a prefix that suits
// its name, and where its base branch is. It changes nothing.
type Inspect func(ctx context.Context, dir string) (coppice.Project, error)

// Agents tells whether a project can use an agent of that name, with the way
// out when it cannot.
type Agents func(p coppice.Project, agent string) error

// Option is something that an Intake can do without.
type Option func(*Intake)

// WithLevels has the levels of tasks whose model is auto asked for when they are
// created or changed.
func WithLevels(l Levels) Option { return func(i *Intake) { i.levels = l } }

// NewIntake makes an Intake. Known is asked about every agent that somebody
// names, screen about one whose screen a person wants.
func NewIntake(s store.Store, now func() time.Time, inspect Inspect, known, screen Agents, more ...Option) *Intake {
	i := &Intake{store: s, now: now, inspect: inspect, known: known, screen: screen}
	for _, o := range more {
		o(i)
	}
	return i
}

// AddProject adds the project that a directory belongs to. Of a known one it
// confirms the policy and the git settings as they are now.
func (i *Intake) AddProject(ctx context.Context, dir string) (coppice.Project, error) {
	found, err := i.inspect(ctx, dir)
	if err != nil {
		return coppice.Project{}, err
	}
	var p coppice.Project
	err = i.store.Update(ctx, func(tx store.Tx) error {
		known, err := tx.Projects.ByPath(found.Path)
		if coppice.ErrorCode(err) == coppice.ENotFound {
			p = found
			p.CreatedAt = i.now().UTC()
			if p.Prefix, err = freePrefix(tx.Reader(), found.Prefix); err != nil {
				return err
			}
			if err := tx.Projects.Put(&p); err != nil {
				return err
			}
			return i.event(tx, coppice.EventProjectAdded, coppice.Task{ProjectID: p.ID, Key: p.Prefix}, p.Path)
		}
		if err != nil {
			return err
		}
		if err := stays(known); err != nil {
			return err
		}
		p = known
		if found.Git != nil {
			p.Git = found.Git
		}
		if err := i.endNeeds(tx, &p, "a person confirmed it", coppice.NeedPolicy, coppice.NeedGit); err != nil {
			return err
		}
		if err := tx.Projects.Put(&p); err != nil {
			return err
		}
		return i.takePolicy(tx, &p, found)
	})
	return p, err
}

// freePrefix returns the wanted prefix, or that with a number when taken.
func freePrefix(r store.Reader, want string) (string, error) {
	if err := coppice.ValidPrefix(want); err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		try := want
		if n > 1 {
			suffix := fmt.Sprint(n)
			try = want[:min(len(want), 16-len(suffix))] + suffix
		}
		_, err := r.Projects.ByPrefix(try)
		if coppice.ErrorCode(err) == coppice.ENotFound {
			return try, nil
		}
		if err != nil {
			return "", err
		}
	}
}

// Pause stops sessions from starting in a project, or in one of its tracks; off
// lets them start again.
func (i *Intake) Pause(ctx context.Context, project, track string, on bool) (coppice.Project, error) {
	var p coppice.Project
	err := i.store.Update(ctx, func(tx store.Tx) error {
		var err error
		if p, err = tx.Projects.ByPrefix(project); err != nil {
			return err
		}
		if _, ok := p.Policy.Track(track); !ok {
			return unknownTrack(p, track)
		}
		if paused(p, track) == on {
			return nil
		}
		if track != "" {
			p.PausedTracks, p.Strikes = copyMap(p.PausedTracks), copyMap(p.Strikes)
			delete(p.PausedTracks, track)
			delete(p.Strikes, track)
			if on {
				p.PausedTracks[track] = "a person paused it"
			}
		} else if on {
			p.PausedAt = i.now().UTC()
		} else {
			p.PausedAt = time.Time{}
		}
		if err := tx.Projects.Put(&p); err != nil {
			return err
		}
		reason := "goes on"
		if on {
			reason = "paused"
		}
		return i.event(tx, coppice.EventProjectChanged, coppice.Task{ProjectID: p.ID, Key: p.Prefix}, reason)
	})
	return p, err
}

// paused tells whether a project, or one of its tracks, is paused.
func paused(p coppice.Project, track string) bool {
	if track == "" {
		return !p.PausedAt.IsZero()
	}
	_, ok := p.PausedTracks[track]
	return ok
}

// Stop asks for a task to end.
func (i *Intake) Stop(ctx context.Context, key string) (coppice.Task, error) {
	return i.ask(ctx, key, coppice.EventTaskStopAsked, "", func(_ store.Tx, t *coppice.Task) error {
		if t.Ended() {
			return coppice.Errorf(coppice.EConflict, "%s has ended already (%s)", t.Key, t.Outcome)
		}
		t.StopAsked = true
		if t.RetryAsked { // the last word counts
			t.RetryAsked, t.RetryNote = false, ""
		}
		return nil
	})
}

// Retry asks for a task that failed, was cancelled or needs a person to go on.
func (i *Intake) Retry(ctx context.Context, key, note string) (coppice.Task, error) {
	if err := coppice.ValidText("note", note, coppice.MaxMessage); err != nil {
		return coppice.Task{}, err
	}
	return i.ask(ctx, key, coppice.EventTaskRetried, note, func(tx store.Tx, t *coppice.Task) error {
		putOff, err := i.putOff(tx.Reader(), *t)
		switch {
		case err != nil:
			return err
		case putOff && note != "":
			return coppice.Errorf(coppice.EConflict, "%s waits for its landing, and no session would hear the note", t.Key).
				WithFix("say retry without a note to try the landing at once, or `coppice requeue %s` to begin again with the note", t.Key)
		case t.Outcome == coppice.OutcomeDone:
			return coppice.Errorf(coppice.EConflict, "%s is done", t.Key).WithFix("say what is missing with `coppice continue %s`, or make a new task", t.Key)
		case !t.Ended() && !waitsForWord(*t) && !putOff:
			return coppice.Errorf(coppice.EConflict, "%s has not ended", t.Key).WithFix("use `coppice requeue %s` to begin anew at once, or send it a message", t.Key)
		}
		if err := addNote(t, note); err != nil {
			return err
		}
		t.RetryAsked = true
		if t.Next == nil || !stuckOn(*t, t.Next.Agent) {
			return nil
		}
		_, err = i.unlimit(tx, t.Next.Agent, "a person said retry")
		return err
	})
}

// putOff tells whether a task's landing was put off.
func (i *Intake) putOff(r store.Reader, t coppice.Task) (bool, error) {
	l, err := r.Landings.Last(t.ID)
	return err == nil && landsLater(t, l, i.now()), err
}

// Land asks for a task to land: one that is held, or one that ended without
// landing and whose branch a person has mended. Its checks still count. A landing
// that was put off is tried at once.
func (i *Intake) Land(ctx context.Context, key string) (coppice.Task, error) {
	return i.ask(ctx, key, coppice.EventTaskLandAsked, "", func(tx store.Tx, t *coppice.Task) error {
		putOff, err := i.putOff(tx.Reader(), *t)
		switch {
		case err != nil:
			return err
		case t.Outcome == coppice.OutcomeDone:
			return coppice.Errorf(coppice.EConflict, "%s has landed already", t.Key)
		case t.StopAsked && !t.Ended():
			return beingStopped(*t)
		case t.Stage == coppice.StageLanding && putOff:
			t.RetryAsked = true
			return nil
		case t.Stage == coppice.StageLanding:
			return coppice.Errorf(coppice.EConflict, "%s is landing already", t.Key)
		case t.Stage == coppice.StageHeld, t.Stage == coppice.StageChecking:
		case t.Ended():
			w, err := tx.Workspaces.Of(t.ID)
			if err != nil {
				return err
			}
			if w == nil {
				return coppice.Errorf(coppice.EConflict, "%s has no branch to land", t.Key).WithFix("retry it")
			}
		default:
			return coppice.Errorf(coppice.EConflict, "%s has nothing to land yet", t.Key).WithFix("wait for its session to end, or stop it first")
		}
		t.LandAsked, t.RetryAsked = true, t.RetryAsked || putOff
		return nil
	})
}

// beingStopped says why a task cannot be asked for anything at this moment.
func beingStopped(t coppice.Task) error {
	return coppice.Errorf(coppice.EConflict, "what runs of %s is being ended", t.Key).WithFix("say it again in a moment; see `coppice show %s`", t.Key)
}

// Undo brings back the workspace that was removed last: of a task, or of a
// project when key is empty.
func (i *Intake) Undo(ctx context.Context, key, project string) (coppice.Trash, error) {
	var found coppice.Trash
	err := i.store.Update(ctx, func(tx store.Tx) error {
		var t coppice.Task
		var p coppice.Project
		var err error
		if key != "" {
			if t, err = knownTask(tx.Reader(), key); err != nil {
				return err
			}
			p.ID = t.ProjectID
		} else if p, err = tx.Projects.ByPrefix(project); err != nil {
			return err
		} else if err := stays(p); err != nil {
			return err
		}
		trash, err := tx.Trash.In(p.ID)
		if err != nil {
			return err
		}
		for _, tr := range trash {
			if key == "" || tr.TaskID == t.ID {
				found = tr
				break
			}
		}
		if found.ID == 0 {
			return coppice.Errorf(coppice.ENotFound, "there is nothing to undo").WithFix("the trash keeps removed workspaces for as long as trash.ttl in coppice.yaml says")
		}
		if t, err = tx.Tasks.Get(found.TaskID); err != nil {
			return err
		}
		if !t.Ended() {
			return coppice.Errorf(coppice.EConflict, "%s is being worked on again", t.Key)
		}
		t.UndoAsked = true
		if err := tx.Tasks.Put(&t); err != nil {
			return err
		}
		return i.event(tx, coppice.EventUndoAsked, t, "")
	})
	return found, err
}

// ask adds a person's word to a task.
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
		t.Archived = time.Time{} // what goes on is not put away
		if err := tx.Tasks.Put(&t); err != nil {
			return err
		}
		return i.event(tx, kind, t, reason)
	})
	return t, err
}

func (i *Intake) event(tx store.Tx, kind coppice.EventKind, t coppice.Task, reason string) error {
	return tx.Log.Append(&coppice.Event{
		At: i.now().UTC(), Kind: kind, ProjectID: t.ProjectID, TaskID: t.ID, Subject: t.Key, By: "person", Reason: reason,
	})
}
