package engine

import (
	"fmt"
	"time"

	"coppice"
)

// action is what follows a failed session.
type action int

const (
	again     action = iota // another session with what went wrong, a bounded number of times
	onward                  // another session in the same conversation, when its lane has a place
	patient                 // the account rests until its limit is over; another one goes on if it may
	elsewhere               // another account, or else a person
	shut                    // the same, and nobody uses the agent until a person says so
	person                  // somebody has to act first
	over                    // nothing
)

// remedies has one policy for each class of failure.
var remedies = map[coppice.Class]action{
	coppice.ClassRateLimit:      patient,
	coppice.ClassOverload:       patient,
	coppice.ClassAuth:           shut,
	coppice.ClassBilling:        shut,
	coppice.ClassBudget:         person,
	coppice.ClassDayBudget:      onward,
	coppice.ClassCapability:     elsewhere,
	coppice.ClassEnvironment:    again, // and the track pauses after two in a row
	coppice.ClassTestOnly:       again,
	coppice.ClassImplementation: again,
	coppice.ClassVerification:   again,
	coppice.ClassConflict:       again,
	coppice.ClassMemory:         again,
	coppice.ClassDisk:           person,
	coppice.ClassContext:        again,
	coppice.ClassMCP:            again,
	coppice.ClassTimeout:        again,
	coppice.ClassLost:           again,
	coppice.ClassCancelled:      over,
	coppice.ClassUnknown:        again,
}

// continues lists the classes after which the agent's conversation is worth
// continuing: it did not end by itself.
var continues = map[coppice.Class]bool{
	coppice.ClassRateLimit: true, coppice.ClassOverload: true, coppice.ClassMCP: true,
	coppice.ClassTimeout: true, coppice.ClassLost: true,
}

// mostPatience bounds how often a round waits for an agent that is limited.
const mostPatience = 50

// remedy applies the policy of the failure's class.
func remedy(v *View, s *coppice.Session, fail coppice.Failure) *Decision {
	switch remedies[fail.Class] {
	case onward:
		next := follows(v, s)
		next.Evidence = evidence(s, fail)
		return enqueue(v, next, fail.Text)
	case patient:
		return bePatient(v, s, fail)
	case elsewhere, shut:
		d := needPerson(v, s, fail)
		if n := standIn(v, metBy(s), s.Role, ""); n != nil {
			n.Evidence = evidence(s, fail)
			d = enqueue(v, n, fmt.Sprintf("%s: goes on with %s", fail.Text, v.account(n.Agent, n.Model)))
		}
		if remedies[fail.Class] == shut {
			d.Tell = append(d.Tell, limit(coppice.AgentLimit{Agent: s.Agent, Class: fail.Class, Text: fail.Text}))
		}
		return d
	case person:
		return needPerson(v, s, fail)
	case over:
		return endTask(v, coppice.OutcomeCancelled, nil)
	}
	return tryAgain(v, s, fail)
}

// tryAgain starts another session after a pause, while tries are left.
func tryAgain(v *View, s *coppice.Session, fail coppice.Failure) *Decision {
	n := failures(v)
	var d *Decision
	if n > v.Project.Policy.Retry.Max {
		d = endTask(v, coppice.OutcomeFailed, &fail)
	} else {
		next := follows(v, s)
		next.Evidence = evidence(s, fail)
		if !continues[fail.Class] {
			next.Resume = ""
		}
		pause := doubled(v.Project.Policy.Retry.Backoff.D(), n, 10*time.Minute)
		t := v.Task
		t.Stage, t.Next, t.Failure = coppice.StageWaiting, next, &fail
		t.Wait = &coppice.Wait{
			On: coppice.WaitBackoff, Until: v.Now.Add(pause),
			Text: fmt.Sprintf("tries again (%d of %d) after: %s", n, v.Project.Policy.Retry.Max, fail.Text),
		}
		d = &Decision{Kind: coppice.EventTaskStage, Reason: t.Wait.Text, Task: &t}
	}
	if fail.Class == coppice.ClassEnvironment {
		d.Tell = append(d.Tell, strike(v, fail))
	}
	return d
}

// failures counts the sessions of the round whose failure uses up a try: of
// those that work on the task, or of those that verify its newest candidate.
func failures(v *View) int {
	last := v.session()
	verifier := last != nil && judges(last.Role)
	n := 0
	for _, s := range v.Sessions {
		if verifier && !judges(s.Role) {
			n = 0 // what came before was another candidate
		}
		switch {
		case judges(s.Role) != verifier:
		case s.State.Live(), s.Screen, s.StopWhy == coppice.StopTaken, s.Rests():
		case s.Failure != nil && remedies[s.Failure.Class] == again:
			n++
		case s.Failure == nil && roleOf(&s).failed != nil && roleOf(&s).failed(v, &s):
			n++
		}
	}
	return n
}

// bePatient tells everybody that the account is limited and queues the task for
// another one, or for this one, whose lane stays shut until the limit ends. With
// another model of the same agent it goes on in the same conversation.
func bePatient(v *View, s *coppice.Session, fail coppice.Failure) *Decision {
	n := 0
	for _, o := range v.Sessions {
		if o.Failure != nil && remedies[o.Failure.Class] == patient {
			n++
		}
	}
	if n > mostPatience {
		return endTask(v, coppice.OutcomeFailed, &fail)
	}
	until := fail.RetryAt
	if !until.After(v.Now) {
		until = v.Now.Add(doubled(30*time.Second, n, 10*time.Minute))
	}
	met := coppice.AgentLimit{Agent: metBy(s), Until: until, Class: fail.Class, Text: fail.Text}
	next := standIn(v, met.Agent, s.Role, "")
	if next == nil {
		next = follows(v, s)
	} else if next.Agent == s.Agent {
		next.Resume = follows(v, s).Resume
	}
	next.Evidence = evidence(s, fail)
	d := enqueue(v, next, fmt.Sprintf("%s is limited until %s: %s", met.Agent, until.UTC().Format(time.RFC3339), fail.Text))
	d.Tell = append(d.Tell, limit(met))
	return d
}

// needPerson leaves the task waiting until a person says retry.
func needPerson(v *View, s *coppice.Session, fail coppice.Failure) *Decision {
	t := v.Task
	fix := fail.Fix
	if fix == "" {
		fix = "mend the cause, then retry the task"
	}
	t.Stage, t.Failure = coppice.StageWaiting, &fail
	t.Next = follows(v, s)
	t.Next.Evidence = evidence(s, fail)
	t.Wait = &coppice.Wait{On: coppice.WaitPerson, Text: fail.Text, Fix: fix}
	return &Decision{Kind: coppice.EventTaskStage, Reason: fail.Text, Task: &t}
}

// evidence tells the next session what happened to this one.
func evidence(s *coppice.Session, fail coppice.Failure) string {
	text := fmt.Sprintf("The session before this one (%s, %s) failed: %s\n", s.Key, s.Agent, fail.Text)
	if s.Head != "" && s.Head != s.From {
		text += fmt.Sprintf("\nWhat it did is committed on your branch, from %s to %s:\n%s\n", short(s.From), short(s.Head), s.Stat)
	}
	if s.Summary != "" {
		text += "\nIts last words:\n" + s.Summary + "\n"
	}
	return text
}
