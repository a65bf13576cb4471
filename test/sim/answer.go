package sim

import (
	"errors"
	"fmt"

	"coppice"
	"coppice/store"
)

// integer is the schema of tasks that are not steps.
const integer = `{"type": "integer"}`

// answer lets a session end with an answer: a number, which every schema here
// accepts, words, which only a task without a schema accepts, or nothing.
func (s *sim) answer(key string, h *hostState) {
	zero := 0
	res := coppice.RunResult{Exit: &zero, Conversation: "c-" + key, Usage: s.used(h)}
	switch s.rng.IntN(5) {
	case 0:
	case 1:
		res.Summary = "it depends"
	default:
		res.Summary = "42"
	}
	if s.rng.IntN(8) == 0 {
		res.Changed = []string{"README"}
	}
	s.world.end(h, res)
}

// saidDone reports whether a session ended so that a person can say that its task is
// done as it is.
func saidDone(x *coppice.Session) bool {
	return x != nil && x.Failure != nil && x.Failure.Class == coppice.ClassUnchanged
}

// answersHold looks at a task that wants an answer: nothing of it lands, and it is
// done exactly when a session of its round has answered.
func (s *sim) answersHold(r store.Reader, t coppice.Task) error {
	if t.Wants != coppice.WantsAnswer {
		return nil
	}
	l, err := r.Landings.Last(t.ID)
	if err != nil {
		return err
	}
	ws, err := r.Workspaces.Of(t.ID)
	if err != nil {
		return err
	}
	if l != nil || ws != nil || t.Landed != "" || len(s.world.landed[t.Key]) > 0 {
		return fmt.Errorf("%s wants an answer, and has a branch or a landing", t.Key)
	}
	last, err := r.Sessions.Last(t.ID)
	if err != nil || t.Checkout {
		return errors.Join(err, s.checkoutHolds(r, t, last))
	}
	if t.Outcome != coppice.OutcomeDone || saidDone(last) {
		return nil
	}
	if last == nil || last.Answer == nil || last.Answer.Problem != "" || string(t.Schema) == integer && string(last.Answer.Value) != "42" {
		return fmt.Errorf("%s is done without an answer: %+v", t.Key, last)
	}
	return nil
}
