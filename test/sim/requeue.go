package sim

import (
	"fmt"
	"slices"
	"strings"

	"coppice"
	"coppice/store"
	"coppice/verb"
)

// requeued is a requeue of a task while a session of it was live.
type requeued struct {
	session string // its key
	round   int
	note    string
}

// requeue is a person who requeues a random task, whatever it is doing, at times
// with another agent. A task that is about to land is chosen often.
func (s *sim) requeue() error {
	if len(s.keys) == 0 {
		return nil
	}
	key := s.keys[s.rng.IntN(len(s.keys))]
	if s.rng.IntN(3) == 0 {
		var err error
		if key, err = s.oneOf(key, func(t coppice.Task) bool { return t.Stage == coppice.StageLanding }); err != nil {
			return err
		}
	}
	r := verb.Request{Text: fmt.Sprintf("note %d.", s.rng.IntN(1e9)), Staff: coppice.Staff{Agent: []string{"", "", "alpha", "beta"}[s.rng.IntN(4)]}}
	var was *coppice.Session
	err := s.st.View(s.ctx, func(r store.Reader) error {
		t, err := r.Tasks.ByKey(key)
		if err != nil {
			return err
		}
		was, err = r.Sessions.Last(t.ID)
		return err
	})
	if err != nil {
		return err
	}
	t, err := s.intake.Ask(s.ctx, key, coppice.VerbRequeue, r)
	if err != nil {
		return err
	}
	if was != nil && was.State.Live() {
		s.requeued[key] = append(s.requeued[key], requeued{session: was.Key, round: t.Round, note: r.Text})
	}
	return nil
}

// stop is a person who stops a task, which withdraws its requeue.
func (s *sim) stop(key string) error {
	delete(s.requeued, key)
	_, err := s.intake.Ask(s.ctx, key, coppice.VerbStop, verb.Request{})
	return err
}

// requeuesHold checks requeued tasks: no request is open, the session that ran
// has ended in an earlier round, and a later session has the note.
func (s *sim) requeuesHold(r store.Reader, tasks []coppice.Task) error {
	for _, t := range tasks {
		open, err := r.Asks.Open(coppice.TaskSubject(t.ID))
		if err != nil {
			return err
		}
		if a := coppice.Asked(open, coppice.VerbStop, coppice.VerbRetry, coppice.VerbRequeue, coppice.VerbTake, coppice.VerbGive, coppice.VerbContinue, coppice.VerbUndo, coppice.VerbRevert, coppice.VerbUnstop); a != nil {
			return fmt.Errorf("%s: a request was left undone: %+v", t.Key, *a)
		}
		for _, a := range s.requeued[t.Key] {
			if t.Round <= a.round {
				return fmt.Errorf("%s was requeued in round %d while %s ran, and is still in it", t.Key, a.round, a.session)
			}
			noted, err := hasNote(r, t, a)
			if err != nil {
				return err
			}
			if t.Outcome == coppice.OutcomeDone && !noted {
				return fmt.Errorf("%s was requeued with %q, and no session has the note", t.Key, a.note)
			}
		}
	}
	return nil
}

// hasNote reports whether a later session has the note of a requeue. Without a later
// session, the request of the task was merged on the forge before one started.
func hasNote(r store.Reader, t coppice.Task, a requeued) (bool, error) {
	sessions, err := r.Sessions.Of(t.ID)
	if err != nil {
		return false, err
	}
	if n := len(sessions); n == 0 || sessions[n-1].Round <= a.round {
		p, err := r.Pulls.Of(t.ID)
		return p != nil && p.Report.State == coppice.PullMerged, err
	}
	for _, x := range sessions {
		whole, err := r.Sessions.Get(x.ID) // lists leave the prompts out
		if err != nil || x.Round > a.round && strings.Contains(whole.Prompt, a.note) {
			return err == nil, err
		}
	}
	messages, err := r.Messages.Of(t.ID)
	return slices.ContainsFunc(messages, func(m coppice.Message) bool { return strings.Contains(m.Text, a.note) }), err
}
