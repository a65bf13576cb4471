package sim

import (
	"fmt"
	"slices"
	"strings"

	"coppice"
	"coppice/store"
)

// judgements are the results of checks that the engine accepted.
type judgements struct {
	against map[string]bool // trees that have a red check
	late    map[string]int  // tree and command → how often it ran out of time
	kills   map[string]int  // tree and command → how often it was killed, reported or not
	killed  int
	strikes bool // something else was wrong with the environment
}

// mostKills bounds how often one command is killed on one tree, so that every
// task ends.
const mostKills = 5

// check runs the commands. At random some are killed or run out of time.
func (s *sim) check(v coppice.CheckSpec) coppice.CheckResult {
	res := s.world.check(v)
	if s.opt.Plain {
		return res
	}
	for i := range res.Checks {
		c := &res.Checks[i]
		key := v.Tree + "\x00" + c.Command
		switch n := s.kills.IntN(20); {
		case n < 8 && s.judged.kills[key] < mostKills:
			s.judged.kills[key]++
			c.Exit, c.Signal, c.Log = 137, "SIGKILL", killedLog
		case n >= 18:
			c.Exit, c.TimedOut = 124, true
		}
	}
	return res
}

// killedLog is what a killed check wrote. It is among the signs of a broken
// environment, where a project has any.
const killedLog = "out of memory"

// given records a check's result that the engine has accepted.
func (s *sim) given(it *item) {
	res, ok := it.res.(coppice.CheckResult)
	if !ok || it.fail != nil {
		return
	}
	v, err := coppice.DecodeSpec[coppice.CheckSpec](it.lease.Work)
	if err != nil {
		return
	}
	for _, c := range res.Checks {
		switch {
		case c.Killed():
			s.judged.killed++
		case c.TimedOut:
			key := v.Tree + "\x00" + c.Command
			if s.judged.late[key]++; s.judged.late[key] > 1 {
				s.judged.against[v.Tree] = true
			}
		case !c.Passed():
			s.judged.against[v.Tree] = true
		}
	}
}

// failedAs reports whether a verifier failed with the same text.
func failedAs(f coppice.Failure) func(coppice.Session) bool {
	return func(x coppice.Session) bool {
		return x.Role == coppice.RoleVerify && x.Failure != nil && x.Failure.Text == f.Text
	}
}

// killsHold checks that killed checks of a task did not count. Only a red check of
// its tree or a verifier refused a landing, and every fix session follows a
// landing that was refused or did not merge.
func (s *sim) killsHold(r store.Reader, t taskFacts) error {
	fixes := 0
	for _, l := range t.landings {
		switch {
		case l.Outcome == coppice.LandingConflict:
			fixes++
		case l.Outcome == coppice.LandingRefused:
			fixes++
			if !l.Green && !s.judged.against[l.Tree] {
				return fmt.Errorf("a landing of %s was refused, and no check of its tree is red:\n%s", t.Key, l.Evidence)
			}
		case l.Outcome == coppice.LandingFailed && s.opt.Kills && !strings.HasPrefix(l.Failure.Text, string(coppice.WorkMerge)) && !slices.ContainsFunc(t.sessions, failedAs(*l.Failure)):
			return fmt.Errorf("a landing of %s failed, and only checks were killed: %s", t.Key, l.Failure)
		case l.EndedAt.IsZero() && l.Killed > 1 && !l.QueuedAt.IsZero():
			return fmt.Errorf("%s is in the queue, and its checks were killed %d times in a row", t.Key, l.Killed)
		}
	}
	if !s.opt.Kills {
		return nil
	}
	for _, x := range t.sessions {
		if x.Role == coppice.RoleFix && fixes == 0 {
			return fmt.Errorf("%s was started, and there is nothing to fix", x.Key)
		}
		if x.Failure != nil && x.Failure.Class == coppice.ClassEnvironment {
			s.judged.strikes = true // a workspace that nobody finished
		}
	}
	return nil
}

// strikesHold checks the projects: killed checks do not count against a track.
func (s *sim) strikesHold(r store.Reader) error {
	if !s.opt.Kills || s.judged.strikes {
		return nil
	}
	projects, err := r.Projects.All()
	for _, p := range projects {
		if len(p.Strikes) > 0 {
			return fmt.Errorf("%s has strikes %v, and only checks were killed", p.Prefix, p.Strikes)
		}
	}
	return err
}
