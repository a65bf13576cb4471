package engine

import (
	"fmt"
	"strings"
	"time"

	"coppice"
)

// joinNotes joins two notes without repeating a text.
func joinNotes(a, b string) string {
	switch {
	case a == "" || a == b:
		return b
	case b == "":
		return a
	}
	return a + "\n\n" + b
}

// requeue restarts a task of which nothing runs any more. If its round has no
// session yet, it keeps its place and the text for its first session: a repeated
// request has no further effect.
func requeue(v *View) *Decision {
	t := v.Task
	d := &Decision{
		Kind: coppice.EventTaskStage, Reason: "restarts", Task: &t,
		Asks: v.settled(coppice.VerbRequeue, coppice.VerbRetry, coppice.VerbLand, coppice.VerbTake, coppice.VerbGive),
	}
	if n := t.Next; n != nil && len(v.Sessions) == 0 && n.Role == t.FirstRole() {
		t.Next = firstOfRound(t, *n)
		d.Reason = "waits for its turn"
	} else {
		t.Next = firstSession(t, "A person stopped the work on this task and restarted it.\n"+workSoFar(v))
		if n != nil {
			t.Next.Note = n.Note // no session has read it
		}
		t.Round++
	}
	restartTask(v, &t, v.note(coppice.VerbRequeue, coppice.VerbRetry))
	return d
}

// firstOfRound returns the first session of a round with the task's current
// agent and model.
func firstOfRound(t coppice.Task, n coppice.Next) *coppice.Next {
	n.Screen = false
	if n.Agent != t.Agent {
		n.Agent, n.Model, n.Resume, n.Fork = t.Agent, t.Model, "", false // the conversation belongs to another agent
	}
	if t.Model != "" {
		n.Model = t.Model
	}
	return &n
}

// restartTask prepares a task for its next session, with a note and without
// earlier failures.
func restartTask(v *View, t *coppice.Task, note string) {
	grant(v, t)
	t.Next.Note = joinNotes(t.Next.Note, note)
	t.Stage, t.Outcome, t.EndedAt, t.Failure, t.Wait, t.Warning, t.HookFailed = coppice.StageWaiting, "", time.Time{}, nil, nil, "", ""
}

// mostSummaries is the number of earlier sessions in the prompt of the next one.
const mostSummaries = 5

// workSoFar describes the work on a task's branch: what its last sessions did,
// the newest one's final message, and why it was refused, if it was. Work that
// has landed is part of the base.
func workSoFar(v *View) string {
	var shown []coppice.Session
	lists := [][]coppice.Session{v.Earlier, v.Sessions}
	if v.Task.Landed != "" {
		lists = lists[1:]
	}
	for _, list := range lists {
		for _, s := range list {
			if s.Role.Lands() && s.Head != "" && s.Head != s.From {
				shown = append(shown, s)
			}
		}
	}
	var b strings.Builder
	for _, s := range shown[max(0, len(shown)-mostSummaries):] {
		fmt.Fprintf(&b, "\nWhat %s (%s) did is committed on your branch, from %s to %s:\n%s\n", s.Key, s.Agent, short(s.From), short(s.Head), s.Stat)
	}
	if s := v.lastWorkSession(); s != nil && s.Summary != "" {
		fmt.Fprintf(&b, "\nThe final message of %s:\n%s\n", s.Key, s.Summary)
	}
	if l := v.Landing; l != nil && l.Evidence != "" {
		b.WriteString("\n" + l.Evidence)
	}
	return b.String()
}
