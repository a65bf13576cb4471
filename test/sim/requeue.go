package sim

import (
	"fmt"
	"slices"
	"strings"

	"coppice"
	"coppice/store"
	"coppice/verb"
)

// begunAnew is a requeue of a task while a session of it was live.
type begunAnew struct {
	session string // its key
	round   int
	note    string
}

// requeue is a person who has a random task begun anew, whatever it is doing, at
// times with another agent. One that is about to land is chosen often.
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
	r := verb.Request{Text: fmt.Sprintf("anew %d.", s.rng.IntN(1e9)), Staff: coppice.Staff{Agent: []string{"", "", "alpha", "beta"}[s.rng.IntN(4)]}}
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
		s.anew[key] = append(s.anew[key], begunAnew{session: was.Key, round: t.Round, note: r.Text})
	}
	return nil
}

// stop is a person who stops a task; what was to begin anew is not.
func (s *sim) stop(key string) error {
	delete(s.anew, key)
	_, err := s.intake.Ask(s.ctx, key, coppice.VerbStop, verb.Request{})
	return err
}

// anewHolds looks at what people had begun anew: no word was left undone, what
// ran then has ended in a round that is over, and a later session was told why.
func (s *sim) anewHolds(r store.Reader, tasks []coppice.Task) error {
	for _, t := range tasks {
		open, err := r.Asks.Open(coppice.TaskSubject(t.ID))
		if err != nil {
			return err
		}
		if a := coppice.Asked(open, coppice.VerbStop, coppice.VerbRetry, coppice.VerbRequeue, coppice.VerbTake, coppice.VerbGive, coppice.VerbContinue, coppice.VerbUndo); a != nil {
			return fmt.Errorf("%s: a request was left undone: %+v", t.Key, *a)
		}
		for _, a := range s.anew[t.Key] {
			if t.Round <= a.round {
				return fmt.Errorf("%s was requeued in round %d while %s ran, and is still in it", t.Key, a.round, a.session)
			}
			told, err := wasTold(r, t, a)
			if err != nil {
				return err
			}
			if t.Outcome == coppice.OutcomeDone && !told {
				return fmt.Errorf("%s was requeued with %q, and nobody was told", t.Key, a.note)
			}
		}
	}
	return nil
}

// wasTold tells whether the note of a requeue has reached a later session.
func wasTold(r store.Reader, t coppice.Task, a begunAnew) (bool, error) {
	sessions, err := r.Sessions.Of(t.ID)
	if err != nil {
		return false, err
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
