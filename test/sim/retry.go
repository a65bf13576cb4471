package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"coppice"
	"coppice/engine"
	"coppice/store"
)

// retryPolicy is what a project or a task says about failed sessions, if anything.
// Histories of red bases need the sessions that other policies would not start.
func (s *sim) retryPolicy() string {
	if s.opt.Plain || s.opt.Red {
		return ""
	}
	return append([]string{"", ""}, coppice.RetryPolicies...)[s.retries.IntN(5)]
}

// retryActions are the actions of histories in which sessions fail often. People
// rarely help, so that what follows is decided without them.
func (s *sim) retryActions() weights {
	return weights{
		{"turn", 20}, {"take", 20}, {"work", 50}, {"agent", 20}, {"time", 6}, {"renew", 8}, {"ask", 1}, {"create", 10}, {"crash worker", 1},
		{"crash server", 1}, {"kill host", 1}, {"disk", 1}, {"converse", 1}, {"fork", 1},
	}
}

// analyze lets an analysis end: with a diagnosis, or with nothing.
func (s *sim) analyze(key string, h *hostState) {
	zero := 0
	res := coppice.RunResult{Exit: &zero, Conversation: "c-" + key, Usage: s.cost()}
	if s.retries.IntN(4) > 0 {
		res.Summary = "diagnosis of " + key
	}
	s.world.end(h, res)
}

// completion is what a project or a task says about sessions that succeed, if
// anything.
func (s *sim) completion() []string {
	if !s.completes() {
		return nil
	}
	return [][]string{nil, nil, {coppice.CompletionErrors}, {coppice.CompletionDiff, coppice.CompletionErrors}, {coppice.CompletionNone}}[s.retries.IntN(5)]
}

// completes reports whether completion checks are a subject of the history.
func (s *sim) completes() bool {
	return !s.opt.Plain && !s.opt.Red && !s.opt.Kills && !s.opt.Asks && !s.opt.Limits
}

// complain lets an agent that is about to succeed report an error, now and then.
func (s *sim) complain(h *hostState) error {
	if s.calm || !s.completes() || s.retries.IntN(2) > 0 {
		return nil
	}
	h.complained = true
	return s.say(h, coppice.AgentEvent{Kind: coppice.KindError, Class: coppice.ClassUnknown, Text: "the model is gone"})
}

// retried lists the classes of failure that a retry follows.
var retried = []coppice.Class{
	coppice.ClassEnvironment, coppice.ClassTestOnly, coppice.ClassImplementation, coppice.ClassVerification, coppice.ClassConflict,
	coppice.ClassMemory, coppice.ClassContext, coppice.ClassMCP, coppice.ClassTimeout, coppice.ClassLost, coppice.ClassUnknown,
}

// usedTry reports whether a session failed so that its policy decides what follows.
func usedTry(x coppice.Session) bool {
	return x.Failure != nil && slices.Contains(retried, x.Failure.Class) && !x.Screen && x.Role != coppice.RoleAnalyze &&
		x.StopWhy != coppice.StopTaken && x.StopWhy != coppice.StopParked
}

// retriesHold looks at the sessions of a task: what follows each of them is what the
// policies say, unless a person asked for something else.
func (s *sim) retriesHold(r store.Reader, t taskFacts) error {
	var was coppice.Session
	tries := 0
	for i, x := range t.sessions {
		if i == 0 || x.Round != was.Round {
			was, tries = coppice.Session{}, 0
		}
		if x.Role == coppice.RoleAnalyze && (was.ID == 0 || t.project.Policy.RetryFor(t.Task) != coppice.RetryAnalyze || x.Budget == 0 || x.Budget > t.RunLimits(t.project.Policy, x.Role).Budget) {
			return fmt.Errorf("%s is an analysis with the policy %s: %+v", x.Key, t.project.Policy.RetryFor(t.Task), x)
		}
		if h := s.world.hosts[x.Key]; h != nil && h.complained && x.State == coppice.SessionDone && x.StopWhy == "" && t.Requires(t.project.Policy, x.Role, coppice.CompletionErrors) {
			return fmt.Errorf("%s is done, although its output ends with an error", x.Key)
		}
		wrong, err := s.next(r, t.project.Policy, t.Task, was, x, tries)
		if err != nil {
			return err
		}
		if wrong != "" {
			if err := asked(r, t.Task, was.CreatedAt, x.CreatedAt); err != nil {
				return fmt.Errorf("%s follows %s (%s), %s: %w", x.Key, was.Key, was.State, wrong, err)
			}
		}
		if usedTry(x) && x.Role != coppice.RoleVerify {
			tries++
		}
		was = x
	}
	return nil
}

// next says what is wrong about a session that follows another one of its round,
// if no person asked for it. It counts the sessions that got a diagnosis.
func (s *sim) next(r store.Reader, p coppice.Policy, t coppice.Task, was, x coppice.Session, tries int) (string, error) {
	switch policy := p.RetryFor(t); {
	case was.Role == coppice.RoleAnalyze && was.Summary != "" && was.Failure == nil:
		full, err := r.Sessions.Get(x.ID)
		if err != nil {
			return "", err
		}
		if !strings.Contains(full.Prompt, was.Summary) {
			return "without its diagnosis", nil
		}
		s.diagnosed[x.ID] = true
	case !usedTry(was):
	case policy == coppice.RetryNone:
		return "although nothing follows a failure", nil
	case was.Role == coppice.RoleVerify: // its tries count for each candidate
	case policy == coppice.RetryAnalyze && x.Role != coppice.RoleAnalyze:
		return "without an analysis", nil
	case tries > p.Retry.Max:
		return fmt.Sprintf("after %d failures; %d retries are allowed", tries, p.Retry.Max), nil
	}
	return "", nil
}

// retries counts what followed failed sessions.
type retries struct {
	Diagnosed int // sessions with the diagnosis of an analysis
	Denied    int // tasks that failed because of the policy none
	TakenOver int // by another agent
	TooMany   int // tasks that waited for a person after too many recoveries
	Errors    int // sessions whose output ended with an error
	Unchanged int // tasks that were done without a change, as their completion checks allow
}

func (c *retries) add(o retries) {
	c.Diagnosed, c.Denied, c.TakenOver = c.Diagnosed+o.Diagnosed, c.Denied+o.Denied, c.TakenOver+o.TakenOver
	c.TooMany, c.Errors, c.Unchanged = c.TooMany+o.TooMany, c.Errors+o.Errors, c.Unchanged+o.Unchanged
}

// recovered has the automatic retries of tasks, by the key of the first task of each
// family of copies.
type recovered map[string][]coppice.Event

// see takes note of an event: at most three retries of a task and its copies are
// within 30 minutes.
func (m recovered) see(r store.Reader, e coppice.Event, c *retries) error {
	stage := e.Kind == coppice.EventTaskStage
	again, tooMany := stage && strings.HasPrefix(e.Reason, "retries ("), stage && strings.HasPrefix(e.Reason, "was retried ")
	switch {
	case again && strings.Contains(e.Reason, "; continues with "):
		c.TakenOver++
	case tooMany:
		c.TooMany++
	case e.Kind == coppice.EventSessionEnded && strings.Contains(e.Reason, coppice.CompletionErrors):
		c.Errors++
	}
	if restarts := e.Kind == coppice.EventTaskRetried || e.Reason == "restarts"; !again && !restarts {
		return nil
	}
	first := e.Subject
	for {
		t, err := r.Tasks.ByKey(first)
		if coppice.ErrorCode(err) == coppice.ENotFound { // its project was removed
			break
		}
		if err != nil {
			return err
		}
		if t.ForkOf == "" {
			break
		}
		first = t.ForkOf
	}
	if !again {
		m[first] = slices.DeleteFunc(m[first], func(o coppice.Event) bool { return o.Subject == e.Subject })
		return nil
	}
	m[first] = append(m[first], e)
	if all := m[first]; len(all) > coppice.DefaultRecoveries {
		if from := all[len(all)-1-coppice.DefaultRecoveries]; e.At.Sub(from.At) < 30*time.Minute {
			return fmt.Errorf("%s was retried at %v: with its copies more than %d times since %v", e.Subject, e.At, coppice.DefaultRecoveries, from.At)
		}
	}
	return nil
}

// countTask counts what became of a task.
func (c *retries) countTask(p coppice.Policy, t coppice.Task) error {
	allowed := !t.Requires(p, coppice.RoleImplement, coppice.CompletionDiff)
	switch {
	case t.Outcome == coppice.OutcomeFailed && p.RetryFor(t) == coppice.RetryNone && t.Failure != nil && slices.Contains(retried, t.Failure.Class):
		c.Denied++
	case t.Outcome == coppice.OutcomeDone && strings.Contains(t.Note, coppice.CompletionDiff):
		if c.Unchanged++; !allowed {
			return fmt.Errorf("%s is done without a change, which its completion checks forbid", t.Key)
		}
	}
	return nil
}

// disk fills the disk, or frees it.
func (s *sim) disk() error {
	if s.diskFree = 1 << 40; !s.calm && !s.opt.Plain && !s.opt.Red && s.retries.IntN(2) == 0 {
		s.diskFree = 1 << 20
	}
	return s.fab.Announce(s.ctx, coppice.Node{Name: engine.PoolLocal, MemoryTotal: 100, MemoryUsed: 1, DiskFree: s.diskFree})
}

// diskHolds looks whether a session was started just now although the disk is full.
func (s *sim) diskHolds(live []coppice.Session) error {
	for _, x := range live {
		if x.CreatedAt.Equal(s.now) && s.diskFree > 0 && s.diskFree < uint64(coppice.DefaultDisk) {
			return fmt.Errorf("%s was started with %d bytes of disk", x.Key, s.diskFree)
		}
	}
	return nil
}
