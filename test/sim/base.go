package sim

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"coppice"
	"coppice/store"
	"coppice/verb"
)

// decided counts what people decided about tasks that no session can help.
type decided struct {
	Skipped, Despite, Fixed int // about a red base: left out, continued, landed again
	AsItIs, More            int // about a session without changes: done, continued
}

// breakBase is a person who commits a change that fails a check, or one that
// removes it again. At times a command is missing instead.
func (s *sim) breakBase() error {
	r := s.world.repos[fmt.Sprintf("/repo/%d", s.choices.IntN(len(s.world.repos)))]
	tree := clone(s.world.tree(r.base))
	if tree["red"]+tree["missing"] != "" {
		delete(tree, "red")
		delete(tree, "missing")
	} else {
		tree[[]string{"red", "red", "missing"}[s.choices.IntN(3)]] = fmt.Sprint("check ", s.choices.IntN(2))
	}
	s.made++
	r.base = s.world.add(r.base, tree, "", fmt.Sprint(s.made))
	r.history = append(r.history, r.base)
	return s.seeBase(r)
}

// seeBase lets the server see, at times, that a person has committed to a base.
func (s *sim) seeBase(r *repo) error {
	if s.choices.IntN(2) == 0 {
		return nil
	}
	var all []coppice.Project
	err := s.st.View(s.ctx, func(reader store.Reader) (err error) {
		all, err = reader.Projects.All()
		return err
	})
	for _, p := range all {
		if s.world.repos[p.Path] == r && !s.world.suspects(p.BaseCommit, r.base) {
			err = errors.Join(err, s.intake.BaseSeen(s.ctx, p.ID, p.BaseCommit, r.base))
		}
	}
	return err
}

// unskip is a person who puts back checks that were left out.
func (s *sim) unskip() error {
	key, err := s.oneOf("", func(t coppice.Task) bool { return len(t.Skip) > 0 && !t.Ended() })
	if err != nil || key == "" {
		return err
	}
	_, err = s.intake.Ask(s.ctx, key, coppice.VerbUnskipCheck, verb.Request{})
	return err
}

// decide is a person who decides about a task that no session can help.
func (s *sim) decide() error {
	var waiting []coppice.Task
	err := s.st.View(s.ctx, func(r store.Reader) error {
		tasks, err := r.Tasks.List(store.TaskFilter{OldFirst: true, Stages: []coppice.Stage{coppice.StageWaiting}})
		for _, t := range tasks {
			if f := t.Failure; f != nil && (f.Class == coppice.ClassBase || f.Class == coppice.ClassUnchanged) {
				waiting = append(waiting, t)
			}
		}
		return err
	})
	if err != nil || len(waiting) == 0 {
		return err
	}
	return s.choose(waiting[s.choices.IntN(len(waiting))])
}

// choose makes one of the three choices that a task offers. It is refused for any
// other task.
func (s *sim) choose(t coppice.Task) error {
	ask := func(v coppice.Verb, text string, n *int) error {
		_, err := s.intake.Ask(s.ctx, t.Key, v, verb.Request{Text: text})
		if err == nil {
			*n++
		}
		return err
	}
	n := s.choices.IntN(3)
	switch f := t.Failure; {
	case f != nil && f.Class == coppice.ClassBase && n == 0:
		return ask(coppice.VerbSkipCheck, "", &s.decided.Skipped)
	case f != nil && f.Class == coppice.ClassBase && n == 1:
		return ask(coppice.VerbContinue, "anyway", &s.decided.Despite)
	case f != nil && f.Class == coppice.ClassBase && s.opt.Red:
		if err := s.breakBase(); err != nil { // it is broken, and this fixes it
			return err
		}
		return ask(coppice.VerbRetry, "", &s.decided.Fixed)
	case f != nil && f.Class == coppice.ClassUnchanged && n == 0:
		return ask(coppice.VerbDone, "", &s.decided.AsItIs)
	case f != nil && f.Class == coppice.ClassUnchanged && n == 1:
		return ask(coppice.VerbContinue, "change something", &s.decided.More)
	}
	return coppice.Errorf(coppice.EConflict, "%s offers no choice", t.Key)
}

// checksOf returns the commands that a task's commit must have passed.
func (s *sim) checksOf(key string, all []string) (checks []string, err error) {
	err = s.st.View(s.ctx, func(r store.Reader) error {
		t, err := r.Tasks.ByKey(key)
		for _, c := range all {
			if !slices.Contains(t.Skip, c) {
				checks = append(checks, c)
			}
		}
		return err
	})
	return checks, err
}

// basesHold checks the sessions of a task: no fix session follows a candidate that
// only the base or a missing command refused, and no session follows one that
// changed nothing, unless a person asked for it.
func (s *sim) basesHold(r store.Reader, t taskFacts) error {
	for i, x := range t.sessions {
		var last *coppice.Landing
		for n := range t.landings {
			if l := &t.landings[n]; !l.EndedAt.IsZero() && !l.EndedAt.After(x.CreatedAt) && l.Round == x.Round {
				last = l
			}
		}
		if x.Role == coppice.RoleFix && last != nil && last.Outcome == coppice.LandingRefused {
			if err := s.fixHolds(r, t.Task, x, *last); err != nil {
				return err
			}
		}
		if i == 0 {
			continue
		}
		was := t.sessions[i-1]
		if was.Round == x.Round && was.Role.Lands() && x.Role.Lands() && was.State == coppice.SessionDone && was.Answer != nil && was.StopWhy == "" && !was.Screen {
			if err := asked(r, t.Task, was.CreatedAt, x.CreatedAt); err != nil {
				return fmt.Errorf("%s follows %s, which changed nothing: %w", x.Key, was.Key, err)
			}
		}
	}
	return nil
}

// fixHolds checks a fix session that follows a refused landing.
func (s *sim) fixHolds(r store.Reader, t coppice.Task, x coppice.Session, l coppice.Landing) error {
	if l.Green || l.Tries >= 3 || l.Base == "" { // refused by a verifier; or the base could not be checked
		return nil
	}
	runs, err := r.Checks.Of(t.ID)
	if err != nil {
		return err
	}
	red, late := map[string]coppice.Check{}, map[string]coppice.Check{}
	for _, c := range runs {
		switch {
		case c.LandingID != l.ID || c.Tree != l.Tree || c.OnBase || c.Killed():
		case c.Passed():
			delete(late, c.Command)
		case c.TimedOut:
			late[c.Command] = c
		default:
			red[c.Command] = c
		}
	}
	if len(red) == 0 {
		red = late
	}
	for _, command := range slices.Sorted(maps.Keys(red)) {
		if !red[command].Missing() && s.world.exit(l.Base, command) == 0 {
			continue
		}
		if err := asked(r, t, l.EndedAt, x.CreatedAt); err != nil {
			return fmt.Errorf("%s was started, and its base fails %q as well: %w", x.Key, command, err)
		}
	}
	return nil
}

// asked returns an error if no person asked something of a task in a time.
func asked(r store.Reader, t coppice.Task, from, to time.Time) error {
	events, err := r.Log.Events(0, 10_000, store.EventFilter{TaskID: t.ID})
	byPerson := func(e coppice.Event) bool {
		return (strings.HasPrefix(e.By, string(coppice.ActorPerson)) || e.Kind == coppice.EventReaction) && !e.At.Before(from) && !e.At.After(to)
	}
	if err == nil && !slices.ContainsFunc(events, byPerson) {
		err = errors.New("no person asked for it")
	}
	return err
}

// moveBase is a person who commits to the base.
func (s *sim) moveBase() error {
	path := fmt.Sprintf("/repo/%d", s.rng.IntN(len(s.world.repos)))
	r := s.world.repos[path]
	s.made++
	tree := clone(s.world.tree(r.base))
	tree[fmt.Sprintf("f%d", s.rng.IntN(6))] = fmt.Sprintf("person#%d", s.made)
	r.base = s.world.add(r.base, tree, "", fmt.Sprint(s.made))
	r.history = append(r.history, r.base)
	return nil
}
