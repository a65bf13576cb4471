package engine

import (
	"context"
	"fmt"
	"strings"
	"time"

	"coppice"
	"coppice/store"
)

// requeueText is the request in a line.
func requeueText(r coppice.Requeue) string {
	who := strings.TrimSpace(r.Agent + " " + r.Model)
	switch {
	case who == "":
		return r.Note
	case r.Note == "":
		return "with " + who
	}
	return "with " + who + ": " + r.Note
}

// Requeue sends a task back to the queue, whatever it is doing: what runs is
// ended, and it begins anew in the workspace it has. It is a stop and a retry in
// one word, and stands in the facts as both. A task that ended without landing
// is only retried.
func (i *Intake) Requeue(ctx context.Context, key string, r coppice.Requeue) (coppice.Task, error) {
	if err := coppice.ValidText("note", r.Note, coppice.MaxMessage); err != nil {
		return coppice.Task{}, err
	}
	return i.ask(ctx, key, coppice.EventTaskRequeued, requeueText(r), func(tx store.Tx, t *coppice.Task) error {
		if t.Outcome == coppice.OutcomeDone {
			return coppice.Errorf(coppice.EConflict, "%s is done", t.Key).WithFix("say what is missing with `coppice continue %s`, or make a new task", t.Key)
		}
		moves, err := moving(tx.Reader(), *t)
		if err != nil {
			return err
		}
		if moves {
			return coppice.Errorf(coppice.EConflict, "%s is landing at this moment; the base may have its work already", t.Key).
				WithFix("see how that ends with `coppice show %s`: what landed goes on with `coppice continue %s`, what did not can be requeued then", t.Key, t.Key)
		}
		stuck := t.Next != nil && stuckOn(*t, t.Next.Agent)
		if err := i.handTo(tx, t, r); err != nil {
			return err
		}
		if err := addNote(t, r.Note); err != nil {
			return err
		}
		t.RetryAsked, t.StopAsked = true, !t.Ended()
		if !stuck || t.Next.Agent != t.Agent {
			return nil
		}
		_, err = i.unlimit(tx, t.Agent, "a person said requeue")
		return err
	})
}

// moving tells whether the base is being moved to a task's commit, or may have
// been: only the outcome of that tells.
func moving(r store.Reader, t coppice.Task) (bool, error) {
	work, err := r.Work.Unsettled(t.ID)
	if err != nil {
		return false, err
	}
	for _, w := range work {
		if w.Kind == coppice.WorkMove && w.Attempt > 0 {
			return true, nil
		}
	}
	l, err := r.Landings.Last(t.ID)
	return err == nil && l != nil && l.Round == t.Round && unsure(*l), err
}

// handTo gives the task to another agent or model, where one is named. Another
// agent comes with the model that the project's policy has for it.
func (i *Intake) handTo(tx store.Tx, t *coppice.Task, r coppice.Requeue) error {
	if r.Agent == "" && r.Model == "" {
		return nil
	}
	p, err := tx.Projects.Get(t.ProjectID)
	if err != nil {
		return err
	}
	was := t.Model
	if r.Agent != "" && r.Agent != t.Agent {
		t.Agent, t.Model = r.Agent, ""
	}
	if r.Model != "" {
		t.Model = r.Model
	}
	if err := i.staff(p, t); err != nil {
		return err
	}
	if t.Model != was {
		t.Level = "" // the rules judge it anew
	}
	return nil
}

// addNote adds what a person says to what the task's next session is told.
func addNote(t *coppice.Task, note string) error {
	if t.RetryAsked || t.GiveAsked {
		note = joinNotes(t.RetryNote, note) // the engine has not acted on that yet
	}
	if err := coppice.ValidText("note", note, coppice.MaxMessage); err != nil {
		return err
	}
	t.RetryNote = note
	return nil
}

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
	d := &Decision{Kind: coppice.EventTaskStage, Reason: "begins anew", Task: &t}
	if n := t.Next; n != nil && len(v.Sessions) == 0 && n.Role == coppice.RoleImplement {
		t.Next = unbegun(t, *n)
		d.Reason = "waits for its turn"
	} else {
		t.Next = firstSession(v, "A person ended the work on this task and had it begun anew.\n"+soFar(v))
		if n != nil {
			t.Next.Note = n.Note // nobody has heard it
		}
		t.Round++
	}
	beginAnew(v, &t)
	t.LandAsked, t.TakeAsked, t.GiveAsked = false, false, false
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

// beginAnew puts a task before its next session, with a person's note and
// nothing left of what went wrong before.
func beginAnew(v *View, t *coppice.Task) {
	grant(v, t)
	t.Next.Note, t.RetryNote = joinNotes(t.Next.Note, t.RetryNote), ""
	t.Stage, t.Outcome, t.EndedAt, t.Failure, t.Wait, t.Warning = coppice.StageWaiting, "", time.Time{}, nil, nil, ""
	t.RetryAsked, t.StopAsked = false, false
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
			if s.Role != coppice.RoleVerify && s.Head != "" && s.Head != s.From {
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
