package engine

import (
	"fmt"
	"strings"
	"time"

	"coppice"
	"coppice/store"
)

// mostDiff limits what an analysis reads of the change of a failed session, and
// mostDiagnosis what the next session reads of the analysis, in bytes.
const (
	mostDiff      = 10 << 10
	mostDiagnosis = 8 << 10
)

// unclear lists the classes of failure whose cause might be the agent itself.
var unclear = map[coppice.Class]bool{coppice.ClassUnknown: true, coppice.ClassTimeout: true, coppice.ClassLost: true}

// mostUnclear is the number of unclear failures in a row after which another
// agent takes over.
const mostUnclear = 2

// nextTry returns the session that follows a failed one, with what went wrong.
func nextTry(v *View, s *coppice.Session, fail coppice.Failure) *coppice.Next {
	next := otherAgent(v, s)
	if next == nil {
		next = resumeSession(v, s)
		if !continues[fail.Class] {
			next.Resume = ""
		}
	}
	next.Evidence = evidence(s, fail)
	return next
}

// otherAgent returns a session of another agent, if an agent's last sessions
// failed in a row without a known cause and there is a fallback.
func otherAgent(v *View, s *coppice.Session) *coppice.Next {
	n := 0
	for i := len(v.Sessions) - 1; i >= 0; i-- {
		o := &v.Sessions[i]
		if o.Role.Info().Prepares || judges(o.Role) != judges(s.Role) {
			continue
		}
		if o.Agent != s.Agent || o.Failure == nil || !unclear[o.Failure.Class] {
			break
		}
		n++
	}
	if n < mostUnclear {
		return nil
	}
	return fallbackAmong(v, accountOfFailure(s), s.Role, func(agent string) bool { return agent != s.Agent })
}

// recoveryTime is the time in which the automatic recoveries of a task and its
// copies are limited.
const recoveryTime = 30 * time.Minute

// recoveries counts the failures of the last 30 minutes that another session
// follows, or would follow, of the task and its copies. What happened before a
// person started a round does not count.
func recoveries(v *View) int {
	n := 0
	for _, list := range [][]coppice.Session{v.Sessions, v.Copies} {
		for i := range list {
			if s := &list[i]; s.EndedAt.After(v.Now.Add(-recoveryTime)) && usedTry(v, s) {
				n++
			}
		}
	}
	return n
}

// tooManyRecoveries makes a task wait for a person who decides whether it continues.
func tooManyRecoveries(v *View, s *coppice.Session, fail coppice.Failure) *Decision {
	most := v.Project.Policy.Retry.MostRecoveries()
	d := needPerson(v, s, fail)
	d.Task.Wait.Text = fmt.Sprintf("was retried %d times in %s; the last failure: %s", most, durationText(recoveryTime), fail.Text)
	d.Task.Wait.Fix = "find out why its sessions fail, then run: coppice retry " + v.Task.Key
	d.Reason = d.Task.Wait.Text
	return d
}

// mostCopies limits the copies of a task whose recoveries count, and mostOrigins the
// chain of forks above it that is read for them.
const (
	mostCopies  = 20
	mostOrigins = 5
)

// viewCopies reads the sessions of a task's copies when the task's own session has
// failed: of the tasks that it was forked from, and of those that were forked from it
// or from them. Of each, the sessions of the current round count.
func (t *turn) viewCopies(v *View) error {
	s := v.lastSession()
	if v.Copies != nil || v.Task.Stage != coppice.StageSession || s == nil || !usedTry(v, s) {
		return nil
	}
	family, err := t.family(v.Task)
	if err != nil {
		return err
	}
	v.Copies = []coppice.Session{}
	for _, task := range family {
		list, err := t.tx.Sessions.Of(task.ID)
		if err != nil {
			return err
		}
		for _, s := range list {
			if s.Round == task.Round && task.ID != v.Task.ID {
				v.Copies = append(v.Copies, s)
			}
		}
	}
	return nil
}

// family returns a task with its copies, at most mostCopies tasks: the first task of
// the chain of forks, then the tasks that were forked from it, and so on.
func (t *turn) family(task coppice.Task) ([]coppice.Task, error) {
	first := task
	for range mostOrigins {
		if first.ForkOf == "" {
			break
		}
		from, err := t.tx.Tasks.ByKey(first.ForkOf)
		if coppice.ErrorCode(err) == coppice.ENotFound {
			break // it was removed
		}
		if err != nil {
			return nil, err
		}
		first = from
	}
	all := []coppice.Task{first}
	for i := 0; i < len(all) && len(all) < mostCopies; i++ {
		copies, err := t.tx.Tasks.List(store.TaskFilter{ForkOf: all[i].Key, Most: mostCopies - len(all)})
		if err != nil {
			return nil, err
		}
		all = append(all, copies...)
	}
	return all, nil
}

// analyzes reports whether a failed session is analyzed before the next one. The
// failure of a verifier says nothing about the work.
func analyzes(v *View, s *coppice.Session) bool {
	return v.Project.Policy.RetryFor(v.Task) == coppice.RetryAnalyze && !judges(s.Role) && !s.Screen && !s.Role.Info().Prepares
}

// analysis returns the session that finds out why another one failed. It uses
// the model that the agent's profile names for simple work, if it names one.
func analysis(v *View, s *coppice.Session, fail coppice.Failure) *coppice.Next {
	next := nextTry(v, s, fail)
	n := &coppice.Next{Role: coppice.RoleAnalyze, Agent: next.Agent, Model: next.Model, Evidence: next.Evidence}
	if a := v.Project.Policy.Agent.Roles[coppice.RoleAnalyze]; a != "" && a != n.Agent {
		n.Agent, n.Model = a, ""
	}
	if v.Cheap != nil {
		if model := v.Cheap(n.Agent); model != "" {
			n.Model = model
		}
	}
	if s.Failure != nil && s.Failure.Diff != "" {
		n.Evidence += "\nThe start of what it changed:\n" + s.Failure.Diff + "\n"
	}
	return n
}

// cheap returns the model of an agent for simple work, or "".
func (t *turn) cheap(p coppice.Project, agent string) string {
	if t.cfg.Models == nil {
		return ""
	}
	var own *coppice.Profile
	if found, ok := p.Policy.Agents[agent]; ok {
		own = &found
	}
	return t.cfg.Models(agent, own)[LevelSimple]
}

// failedBefore returns the session that an analysis is about, and why it failed.
// It returns nil if the round has none.
func failedBefore(v *View) (*coppice.Session, coppice.Failure) {
	for i := len(v.Sessions) - 1; i >= 0; i-- {
		s := &v.Sessions[i]
		switch {
		case s.Role.Info().Prepares:
		case s.Failure != nil:
			return s, *s.Failure
		case s.Role == coppice.RoleAnswer:
			return s, *noAnswer(s)
		default: // a person decides about a session that changed nothing
			return nil, coppice.Failure{}
		}
	}
	return nil, coppice.Failure{}
}

// judgeAnalysis starts the session that an analysis has prepared. An analysis
// that failed, or found nothing, changes nothing about that session.
func judgeAnalysis(v *View, s *coppice.Session) *Decision {
	failed, fail := failedBefore(v)
	switch {
	case s.State == coppice.SessionCancelled:
		return endTask(v, coppice.OutcomeCancelled, nil)
	case failed == nil:
		return enqueue(v, firstSession(v.Task, ""), "there is no session to analyze")
	case v.asked(coppice.VerbTake) != nil || s.StopWhy == coppice.StopTaken:
		return takeAnalyzed(v)
	case v.sending(s.ID):
		return nil // it might be an interrupt
	case interrupted(v, s) && len(v.Messages) == 0:
		return pause(v, failed)
	}
	next := nextTry(v, failed, fail)
	why := fmt.Sprintf("%s found out why %s failed", s.Key, failed.Key)
	switch text := strings.TrimSpace(s.Summary); {
	case s.Failure != nil:
		why = fmt.Sprintf("retries without an analysis: %s", s.Failure.Text)
	case text == "":
		why = "retries without an analysis: it found nothing"
	default:
		if len(text) > mostDiagnosis {
			text = strings.ToValidUTF8(text[:mostDiagnosis], "") + "\n[... the rest is left out ...]"
		}
		next.Evidence += fmt.Sprintf("\nAnother session (%s, %s) read this and analyzed it:\n%s\n", s.Key, s.Agent, text)
	}
	return enqueue(v, next, why)
}

// takeAnalyzed lets a person continue the session that is analyzed, or waits for
// its analysis, on the agent's own screen.
func takeAnalyzed(v *View) *Decision {
	failed, _ := failedBefore(v)
	if failed == nil {
		return nil
	}
	n := resumeSession(v, failed)
	n.Screen = true
	if v.Task.Next != nil {
		n.Note = v.Task.Next.Note // no session has read it
	}
	d := enqueue(v, n, "a person takes over")
	d.Asks = v.settled(coppice.VerbTake, coppice.VerbGive)
	return d
}
