package engine

import (
	"fmt"
	"time"

	"coppice"
)

// shortLimit is how long a limit can last before queued tasks use a fallback.
// Tasks wait for a shorter one.
const shortLimit = 2 * time.Minute

// isLong reports whether a limit is long enough for a fallback.
func isLong(l coppice.AgentLimit, now time.Time) bool {
	return l.Until.IsZero() || l.Until.Sub(now) > shortLimit
}

// waitsForFallback reports whether a task that has not started waits for a
// fallback.
func waitsForFallback(t coppice.Task) bool {
	n := t.Next
	return !hasStarted(t) && n != nil && (n.Agent != t.Agent || n.Model != t.Model) && n.Role == t.FirstRole() && n.Resume == "" && !n.Screen
}

// reroute gives a queued task to another account if its own cannot be used for
// long, or until a person acts, and back when it can. A task that continues a
// conversation waits for the agent that has it, but can use another model.
func reroute(v *View) *Decision {
	if d := requeueForAccount(v); d != nil {
		return d
	}
	n := v.Task.Next
	if v.Task.Stage != coppice.StageQueued || n == nil || n.Screen {
		return nil
	}
	if _, still := v.Limited.of(v.preferredAccount()); waitsForFallback(v.Task) && !still {
		return requeueWith(v, &coppice.Next{Role: n.Role, Agent: v.Task.Agent, Model: v.Task.Model}, v.preferredAccount()+" can be used again")
	}
	account := v.Task.Lane().Agent
	l, ok := v.Limited.of(account)
	if !ok || !isLong(l, v.Now) {
		return nil
	}
	only := ""
	if !l.Until.IsZero() && n.Resume != "" && n.Role != coppice.RoleFix {
		only = n.Agent
	}
	next := fallbackFor(v, account, n.Role, only)
	if next == nil {
		return nil
	}
	if next.Agent == n.Agent {
		next.Resume, next.Fork = n.Resume, n.Fork
	}
	return requeueWith(v, next, fmt.Sprintf("%s: continues with %s", l.Text, v.account(next.Agent, next.Model)))
}

// requeueWith queues the task again for another account, with the evidence and
// note of its next session.
func requeueWith(v *View, next *coppice.Next, why string) *Decision {
	next.Evidence, next.Note = v.Task.Next.Evidence, v.Task.Next.Note
	d := enqueue(v, next, why)
	d.By = "limits"
	return d
}
