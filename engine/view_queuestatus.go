package engine

import (
	"fmt"

	"coppice"
	"coppice/store"
)

// queueStatus is a landing queue as a status shows it.
type queueStatus struct {
	first string        // the key of the task that lands next
	waits string        // why it does not land
	need  *coppice.Need // what a person must do about that
	place map[int64]int // position of each landing, from 1
}

// mostPlaces limits how many positions of a queue are counted.
const mostPlaces = 1000

// loadQueueStatus reads a landing queue: its first landing, and the ids of the
// others.
func loadQueueStatus(r store.Reader, queue int64) (*queueStatus, error) {
	q := &queueStatus{place: map[int64]int{}}
	at, err := r.Queues.Get(queue)
	if err != nil {
		return nil, err
	}
	first, err := r.Landings.Queued(at.ID, 1)
	if err != nil || len(first) == 0 {
		return q, err
	}
	t, err := r.Tasks.Get(first[0].TaskID)
	if err != nil {
		return nil, err
	}
	q.first, q.waits = t.Key, first[0].Waits
	for i, n := range at.Needs {
		if n.Text == q.waits {
			q.need = &at.Needs[i]
		}
	}
	ids, err := r.Landings.QueuedIDs(at.ID, mostPlaces)
	for i, id := range ids {
		q.place[id] = i + 1
	}
	return q, err
}

// reason says why a task does not land yet, and what a person can do about it.
func (q *queueStatus) reason(t coppice.Task, l *coppice.Landing) (text, fix string) {
	switch {
	case l == nil || !l.EndedAt.IsZero() || l.QueuedAt.IsZero() || q.first == "":
		return "", ""
	case q.first == t.Key && q.need != nil:
		return q.waits, q.need.Fix
	case q.first == t.Key:
		return l.WaitsFor(), ""
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

// ordinal writes a position in English: 1st, 2nd, 3rd, 4th.
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
