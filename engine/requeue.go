package engine

import (
	"fmt"
	"strings"
	"time"

	"coppice"
)

// joinNotes keeps what was said before, and says nothing twice.
func joinNotes(a, b string) string {
	switch {
	case a == "" || a == b:
		return b
	case b == "":
		return a
	}
	return a + "\n\n" + b
}

// requeue begins a task anew of which nothing runs any more. One whose round has
// no session yet keeps the place and what its first one is to be told: asked
// twice, it happens once.
func requeue(v *View) *Decision {
	t := v.Task
	d := &Decision{
		Kind: coppice.EventTaskStage, Reason: "begins anew", Task: &t,
		Asks: v.settled(coppice.VerbRequeue, coppice.VerbRetry, coppice.VerbLand, coppice.VerbTake, coppice.VerbGive),
	}
	if n := t.Next; n != nil && len(v.Sessions) == 0 && n.Role == t.FirstRole() {
		t.Next = unbegun(t, *n)
		d.Reason = "waits for its turn"
	} else {
		t.Next = firstSession(t, "A person ended the work on this task and had it begun anew.\n"+soFar(v))
		if n != nil {
			t.Next.Note = n.Note // nobody has heard it
		}
		t.Round++
	}
	beginAgain(v, &t, v.note(coppice.VerbRequeue, coppice.VerbRetry))
	return d
}

// unbegun is the first session of a round as its task has it now.
func unbegun(t coppice.Task, n coppice.Next) *coppice.Next {
	n.Screen = false
	if n.Agent != t.Agent {
		n.Agent, n.Model, n.Resume, n.Fork = t.Agent, t.Model, "", false // its conversation is another agent's
	}
	if t.Model != "" {
		n.Model = t.Model
	}
	return &n
}

// beginAgain puts a task before its next session, with a note and nothing left
// of what went wrong before.
func beginAgain(v *View, t *coppice.Task, note string) {
	grant(v, t)
	t.Next.Note = joinNotes(t.Next.Note, note)
	t.Stage, t.Outcome, t.EndedAt, t.Failure, t.Wait, t.Warning = coppice.StageWaiting, "", time.Time{}, nil, nil, ""
}

// mostTold is of how many sessions the next one is told.
const mostTold = 5

// soFar tells what is on a task's branch: what its last sessions did, the last
// words of the newest, and why it was refused if it was. What has landed is part
// of the base.
func soFar(v *View) string {
	var told []coppice.Session
	lists := [][]coppice.Session{v.Earlier, v.Sessions}
	if v.Task.Landed != "" {
		lists = lists[1:]
	}
	for _, list := range lists {
		for _, s := range list {
			if !s.Role.Detached() && s.Head != "" && s.Head != s.From {
				told = append(told, s)
			}
		}
	}
	var b strings.Builder
	for _, s := range told[max(0, len(told)-mostTold):] {
		fmt.Fprintf(&b, "\nWhat %s (%s) did is committed on your branch, from %s to %s:\n%s\n", s.Key, s.Agent, short(s.From), short(s.Head), s.Stat)
	}
	if s := v.worked(); s != nil && s.Summary != "" {
		fmt.Fprintf(&b, "\nThe last words of %s:\n%s\n", s.Key, s.Summary)
	}
	if l := v.Landing; l != nil && l.Evidence != "" {
		b.WriteString("\n" + l.Evidence)
	}
	return b.String()
}
