package engine

import (
	"fmt"
	"time"

	"coppice"
)

// action is what follows a failed session.
type action int

const (
	retry         action = iota // another session, with the evidence, a limited number of times
	continueLater               // another session in the same conversation, when its lane has a free session
	waitOut                     // wait until the account's limit ends, or use a fallback
	fallback                    // another account, or else a person
	blockAgent                  // the same, and nobody uses the agent until a person acts
	askPerson                   // a person has to act first
	cancel                      // nothing follows
)

// remedies has one action for each class of failure.
var remedies = map[coppice.Class]action{
	coppice.ClassRateLimit:      waitOut,
	coppice.ClassOverload:       waitOut,
	coppice.ClassAuth:           blockAgent,
	coppice.ClassBilling:        blockAgent,
	coppice.ClassBudget:         askPerson,
	coppice.ClassDayBudget:      continueLater,
	coppice.ClassLimit:          askPerson,
	coppice.ClassCapability:     fallback,
	coppice.ClassEnvironment:    retry, // and the track pauses after two in a row
	coppice.ClassTestOnly:       retry,
	coppice.ClassImplementation: retry,
	coppice.ClassVerification:   retry,
	coppice.ClassConflict:       retry,
	coppice.ClassMemory:         retry,
	coppice.ClassDisk:           askPerson,
	coppice.ClassContext:        retry,
	coppice.ClassMCP:            retry,
	coppice.ClassTimeout:        retry,
	coppice.ClassLost:           retry,
	coppice.ClassCancelled:      cancel,
	coppice.ClassBase:           askPerson,
	coppice.ClassUnchanged:      askPerson,
	coppice.ClassUnknown:        retry,
}

// continues lists the classes after which the agent's conversation is worth
// continuing: the agent had not finished.
var continues = map[coppice.Class]bool{
	coppice.ClassRateLimit: true, coppice.ClassOverload: true, coppice.ClassMCP: true,
	coppice.ClassTimeout: true, coppice.ClassLost: true,
}

// mostWaits limits how often a round waits for a limited agent.
const mostWaits = 50

// remedy applies the action for the failure's class.
func remedy(v *View, s *coppice.Session, fail coppice.Failure) *Decision {
	fail.Diff = "" // the session keeps it
	switch remedies[fail.Class] {
	case continueLater:
		next := resumeSession(v, s)
		next.Evidence = evidence(s, fail)
		return enqueue(v, next, fail.Text)
	case waitOut:
		return waitOutLimit(v, s, fail)
	case fallback, blockAgent:
		d := needPerson(v, s, fail)
		if n := fallbackFor(v, accountOfFailure(s), s.Role, ""); n != nil {
			n.Evidence = evidence(s, fail)
			d = enqueue(v, n, fmt.Sprintf("%s: continues with %s", fail.Text, v.account(n.Agent, n.Model)))
		}
		if remedies[fail.Class] == blockAgent {
			d.Requests = append(d.Requests, limit(coppice.AgentLimit{Agent: s.Agent, Class: fail.Class, Text: fail.Text}))
		}
		return d
	case askPerson:
		return needPerson(v, s, fail)
	case cancel:
		return endTask(v, coppice.OutcomeCancelled, nil)
	}
	return tryAgain(v, s, fail)
}

// tryAgain starts another session after a pause, if the policy allows it and
// tries are left.
func tryAgain(v *View, s *coppice.Session, fail coppice.Failure) *Decision {
	n := failures(v)
	var d *Decision
	if n > v.Project.Policy.Retry.Max || v.Project.Policy.RetryFor(v.Task) == coppice.RetryNone {
		d = endTask(v, coppice.OutcomeFailed, &fail)
	} else if recoveries(v) > v.Project.Policy.Retry.MostRecoveries() {
		d = tooManyRecoveries(v, s, fail)
	} else {
		next := nextTry(v, s, fail)
		if analyzes(v, s) {
			next = analysis(v, s, fail)
		}
		pause := doubled(v.Project.Policy.Retry.Backoff.D(), n, 10*time.Minute)
		t := v.Task
		t.Stage, t.Next, t.Failure = coppice.StageWaiting, next, &fail
		t.Wait = &coppice.Wait{
			On: coppice.WaitBackoff, Until: v.Now.Add(pause),
			Text: fmt.Sprintf("retries (%d of %d) after: %s", n, v.Project.Policy.Retry.Max, fail.Text),
		}
		if next.Agent != s.Agent && next.Role == s.Role {
			t.Wait.Text += "; continues with " + v.account(next.Agent, next.Model)
		}
		d = &Decision{Kind: coppice.EventTaskStage, Reason: t.Wait.Text, Task: &t}
	}
	if fail.Class == coppice.ClassEnvironment {
		d.Requests = append(d.Requests, strike(v, fail))
	}
	return d
}

// failures counts the sessions of the round whose failure uses up a try: of
// those that work on the task, or of those that verify its newest candidate.
func failures(v *View) int {
	last := v.lastSession()
	verifier := last != nil && judges(last.Role)
	n := 0
	for _, s := range v.Sessions {
		if verifier && !judges(s.Role) {
			n = 0 // earlier ones were about another candidate
		}
		if judges(s.Role) == verifier && usedTry(v, &s) {
			n++
		}
	}
	return n
}

// usedTry reports whether a session ended in a way that uses up a try.
func usedTry(v *View, s *coppice.Session) bool {
	switch {
	case s.Role.Info().Prepares, s.State.Live(), s.Screen, s.StopWhy == coppice.StopTaken, s.Continues():
		return false
	case s.Failure != nil:
		return remedies[s.Failure.Class] == retry
	}
	return roleOf(s).failed != nil && roleOf(s).failed(v, s)
}

// waitOutLimit records the account's limit and queues the task for a fallback,
// or for the same account, whose lane is blocked until the limit ends. With
// another model of the same agent it continues the same conversation.
func waitOutLimit(v *View, s *coppice.Session, fail coppice.Failure) *Decision {
	n := 0
	for _, o := range v.Sessions {
		if o.Failure != nil && remedies[o.Failure.Class] == waitOut {
			n++
		}
	}
	if n > mostWaits {
		return endTask(v, coppice.OutcomeFailed, &fail)
	}
	until := fail.RetryAt
	if !until.After(v.Now) {
		until = v.Now.Add(doubled(30*time.Second, n, 10*time.Minute))
	}
	met := coppice.AgentLimit{Agent: accountOfFailure(s), Until: until, Class: fail.Class, Text: fail.Text}
	next := fallbackFor(v, met.Agent, s.Role, "")
	if next == nil {
		next = resumeSession(v, s)
	} else if next.Agent == s.Agent {
		next.Resume = resumeSession(v, s).Resume
	}
	next.Evidence = evidence(s, fail)
	d := enqueue(v, next, fmt.Sprintf("%s is limited until %s: %s", met.Agent, until.UTC().Format(time.RFC3339), fail.Text))
	d.Requests = append(d.Requests, limit(met))
	return d
}

// needPerson makes the task wait until a person retries it.
func needPerson(v *View, s *coppice.Session, fail coppice.Failure) *Decision {
	t := v.Task
	fix := fail.Fix
	if fix == "" {
		fix = "fix the problem, then retry the task"
	}
	t.Stage, t.Failure = coppice.StageWaiting, &fail
	t.Next = resumeSession(v, s)
	t.Next.Evidence = evidence(s, fail)
	t.Wait = &coppice.Wait{On: coppice.WaitPerson, Text: fail.Text, Fix: fix}
	return &Decision{Kind: coppice.EventTaskStage, Reason: fail.Text, Task: &t}
}

// evidence returns what happened to a session, for the next one.
func evidence(s *coppice.Session, fail coppice.Failure) string {
	text := fmt.Sprintf("The session before this one (%s, %s) failed: %s\n", s.Key, s.Agent, fail.Text)
	if s.Role.Info().Where == coppice.InCheckout && s.Stat != "" {
		text += "\nWhat it changed in the checkout:\n" + s.Stat + "\n"
	} else if s.Head != "" && s.Head != s.From {
		text += fmt.Sprintf("\nWhat it did is committed on your branch, from %s to %s:\n%s\n", short(s.From), short(s.Head), s.Stat)
	}
	if s.Summary != "" {
		text += "\nIts final message:\n" + s.Summary + "\n"
	}
	return text
}
