package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"coppice"
	"coppice/store"
)

// queueNeeds are the kinds of need that a blocked move reports. A project has
// one of them at most, and has it exactly while the first landing of its queue
// waits for it: the landing then waits with the need's text.
var queueNeeds = []coppice.NeedKind{coppice.NeedCheckout, coppice.NeedGit}

// blockedMove makes a landing wait whose move was blocked. When a person has to
// act, the project gets a need, and the landing waits for that.
func blockedMove(v *View, w coppice.Work, l coppice.Landing, r coppice.MoveResult) *Decision {
	l.Waits = r.Blocked
	d := &Decision{Kind: coppice.EventLandingWaits, Landing: &l}
	if r.Need != nil && slices.Contains(queueNeeds, r.Need.Kind) {
		need := *r.Need
		need.Since = v.Now
		if need.Text == "" {
			need.Text = r.Blocked
		}
		l.Waits = need.Text
		p := v.Project
		p.Needs = p.SetNeed(need)
		d.Project, d.Data = &p, map[string]any{"need": need.Kind, "paths": need.Paths}
	}
	d.Reason = l.Waits
	if l.RetryAt.After(w.OfferedAt) { // something changed while the move was under way
		l.RetryAt = v.Now
		return d
	}
	l.Tries++
	l.RetryAt = v.Now.Add(blockedPause(v, l.Tries))
	return d
}

// blockedPause is how long a landing waits before its move is tried again
// though nothing that it waits for has changed, as far as anybody noticed.
func blockedPause(v *View, tries int) time.Duration {
	first := v.Pause
	if first == 0 {
		first = 2 * time.Second
	}
	return doubled(first, tries, max(first, time.Minute))
}

// dropNeeds drops the needs that the first landing of the project's queue no
// longer waits for: it landed or left the queue, it waits for something else, or
// the queue is empty.
func (t *turn) dropNeeds(v *View, d *Decision) error {
	stale := func(n coppice.Need) bool { return slices.Contains(queueNeeds, n.Kind) }
	if d.Landing == nil || !slices.ContainsFunc(v.Project.Needs, stale) {
		return nil
	}
	first, err := t.firstInQueue(v.Project.ID)
	if err != nil {
		return err
	}
	p := v.Project
	p.Needs = slices.DeleteFunc(slices.Clone(p.Needs), func(n coppice.Need) bool {
		return stale(n) && (first == nil || first.Waits != n.Text)
	})
	if len(p.Needs) == len(v.Project.Needs) {
		return nil
	}
	v.Project = p
	return t.tx.Projects.Put(&p)
}

// RetryLanding lets the first landing of a project's queue try again now, when
// it waits: something changed that it may wait for. A landing whose move is under way is tried once more if that move is blocked.
func (i *Intake) RetryLanding(ctx context.Context, project int64, reason string) error {
	return i.store.Update(ctx, func(tx store.Tx) error {
		queued, err := tx.Landings.Queued(project, 1)
		if err != nil || len(queued) == 0 {
			return err
		}
		l, now := queued[0], i.now().UTC()
		work, err := tx.Work.Unsettled(l.TaskID)
		if err != nil {
			return err
		}
		moves := slices.ContainsFunc(work, func(w coppice.Work) bool { return w.Kind == coppice.WorkMove })
		if !moves && !l.RetryAt.After(now) {
			return nil
		}
		t, err := tx.Tasks.Get(l.TaskID)
		if err != nil {
			return err
		}
		l.RetryAt = now
		if err := tx.Landings.Put(&l); err != nil {
			return err
		}
		return tx.Log.Append(&coppice.Event{
			At: now, Kind: coppice.EventLandingRetried, ProjectID: project, TaskID: t.ID, Subject: t.Key, By: i.by.String(), Reason: reason,
		})
	})
}

// line is a project's landing queue as a status shows it.
type line struct {
	first string        // the key of the task that lands next
	waits string        // why it does not
	need  *coppice.Need // what a person has to do about that
	place map[int64]int // of each landing, from 1
}

// mostPlaces bounds how far a queue is counted.
const mostPlaces = 1000

// lineOf reads a project's landing queue: its first landing, and the ids of the
// others.
func lineOf(r store.Reader, project int64) (*line, error) {
	q := &line{place: map[int64]int{}}
	first, err := r.Landings.Queued(project, 1)
	if err != nil || len(first) == 0 {
		return q, err
	}
	t, err := r.Tasks.Get(first[0].TaskID)
	if err != nil {
		return nil, err
	}
	p, err := r.Projects.Get(project)
	if err != nil {
		return nil, err
	}
	q.first, q.waits = t.Key, first[0].Waits
	for i, n := range p.Needs {
		if n.Text == q.waits && slices.Contains(queueNeeds, n.Kind) {
			q.need = &p.Needs[i]
		}
	}
	ids, err := r.Landings.Places(project, mostPlaces)
	for i, id := range ids {
		q.place[id] = i + 1
	}
	return q, err
}

// reason says why a task does not land yet, and what a person can do about it.
func (q *line) reason(t coppice.Task, l *coppice.Landing) (text, fix string) {
	switch {
	case l == nil || !l.EndedAt.IsZero() || l.QueuedAt.IsZero() || q.first == "":
		return "", ""
	case q.first == t.Key && q.need != nil:
		return q.waits, q.need.Fix
	case q.first == t.Key:
		return q.waits, ""
	case q.waits != "":
		return fmt.Sprintf("waiting for %s, which cannot land: %s", q.first, q.waits), ""
	case q.place[l.ID] == 0:
		return fmt.Sprintf("waiting for %s to land (after %d others)", q.first, len(q.place)), ""
	}
	of := fmt.Sprint(len(q.place))
	if len(q.place) == mostPlaces {
		of += " or more"
	}
	return fmt.Sprintf("waiting for %s to land (%s of %s)", q.first, ordinal(q.place[l.ID]), of), ""
}

// ordinal writes a place in English: 1st, 2nd, 3rd, 4th.
func ordinal(n int) string {
	end := "th"
	if teen := n%100 >= 11 && n%100 <= 13; !teen {
		switch n % 10 {
		case 1:
			end = "st"
		case 2:
			end = "nd"
		case 3:
			end = "rd"
		}
	}
	return fmt.Sprint(n) + end
}
