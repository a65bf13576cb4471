package engine

import (
	"context"
	"fmt"
	"time"

	"coppice"
	"coppice/flow"
	"coppice/store"
)

// Intake accepts requests of people and agents. It checks a request against the
// facts and stores it, in one transaction. It decides nothing. A refused request
// changes nothing. An Intake is safe for concurrent use.
type Intake struct {
	store   store.Store
	now     func() time.Time
	inspect Inspect
	known   Agents
	screen  Agents
	levels  Levels // nil means that the rules decide
	free    FreeBranch
	usable  func(coppice.Project) []flow.Agent
	zone    *time.Location // of cron lines; nil means UTC

	templates Templates
	trackers  Trackers                    // nil means that requests to import issues are refused
	forges    Forges                      // nil means that requests about pull requests are refused
	hooks     func() coppice.Hooks        // of the user; nil means none
	notify    func() coppice.NotifyPolicy // of the user; nil means nobody
	mask      func(string) string         // masks secrets in notes; nil means that it does not
	by        coppice.Actor
	caller    *coppice.Session // inside Once, the session that calls
}

// Inspect returns the project to which a directory belongs: the root of its
// checkout, its policy with every default filled in, a suitable prefix, and
// where its base branch is. It changes nothing.
type Inspect func(ctx context.Context, dir string) (coppice.Project, error)

// Agents returns an error, with a fix, if a project cannot use an agent.
type Agents func(p coppice.Project, agent string) error

// Option is an optional part of an Intake.
type Option func(*Intake)

// WithLevels makes an Intake ask for the levels of tasks whose model is auto
// when they are created or changed.
func WithLevels(l Levels) Option { return func(i *Intake) { i.levels = l } }

// FreeBranch returns an error, with a fix, if a project's repository has a branch of
// that name, or one beside which it cannot exist.
type FreeBranch func(ctx context.Context, p coppice.Project, name string) error

// WithFreeBranch makes an Intake ask whether the branch that a person names for a
// task exists.
func WithFreeBranch(f FreeBranch) Option { return func(i *Intake) { i.free = f } }

// NewIntake returns an Intake. known is called for every agent that a request
// names, screen for one whose screen a person wants. Its requests are a
// person's. As returns one for another author.
func NewIntake(s store.Store, now func() time.Time, inspect Inspect, known, screen Agents, more ...Option) *Intake {
	i := &Intake{store: s, now: now, inspect: inspect, known: known, screen: screen, by: coppice.Actor{Kind: coppice.ActorPerson}}
	for _, o := range more {
		o(i)
	}
	return i
}

// AddProject adds the project to which a directory belongs. For a known project
// it confirms the current policy and git settings.
func (i *Intake) AddProject(ctx context.Context, dir string) (coppice.Project, error) {
	return i.AddProjectAs(ctx, dir, "")
}

// AddProjectAs does the same. A new project gets the prefix, unless that is empty.
func (i *Intake) AddProjectAs(ctx context.Context, dir, prefix string) (coppice.Project, error) {
	if err := validPrefix(prefix); prefix != "" && err != nil {
		return coppice.Project{}, err
	}
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
			if p.Prefix = prefix; prefix != "" {
				err = refusePrefix(tx.Reader(), p, prefix)
			} else {
				p.Prefix, err = freePrefix(tx.Reader(), found.Prefix)
			}
			if err != nil {
				return err
			}
			if err := tx.Projects.Put(&p); err != nil {
				return err
			}
			if err := i.event(tx, coppice.EventProjectAdded, coppice.Task{ProjectID: p.ID, Key: p.Prefix}, p.Path); err != nil {
				return err
			}
			return i.askTrust(tx, &p)
		}
		if err != nil {
			return err
		}
		if err := refuseRemoval(known); err != nil {
			return err
		}
		if prefix != "" && prefix != known.Prefix {
			return coppice.Errorf(coppice.EConflict, "%s is the project %s already", known.Path, known.Prefix).
				WithFix("run `coppice project rename %s %s`", known.Prefix, prefix).WithField("prefix")
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

// freePrefix returns the requested prefix, with a number if it is in use.
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

// Pause pauses a project, or one of its tracks: no session starts there. If on
// is false, it resumes it.
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
			p.PausedTracks, p.Strikes = clone(p.PausedTracks), clone(p.Strikes)
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
		reason := "continues"
		if on {
			reason = "paused"
		}
		return tx.Log.Append(&coppice.Event{
			At: i.now().UTC(), Kind: coppice.EventProjectChanged, ProjectID: p.ID, Subject: p.Prefix, By: i.by.String(), Reason: reason,
			Data: coppice.Raw(coppice.PauseChange{Paused: on, Track: track}),
		})
	})
	return p, err
}

// paused reports whether a project, or one of its tracks, is paused.
func paused(p coppice.Project, track string) bool {
	if track == "" {
		return !p.PausedAt.IsZero()
	}
	_, ok := p.PausedTracks[track]
	return ok
}
