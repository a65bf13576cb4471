package sim

import (
	"fmt"

	"coppice"
	"coppice/store"
	"coppice/verb"
)

// mostForks bounds the tasks that are made by forking.
const mostForks = 4

// converse is a person who talks with the agent of a random task, continues one
// that has ended, or takes one over.
func (s *sim) converse(key string) (err error) {
	switch s.rng.IntN(12) {
	case 0:
		_, err = s.intake.SendNext(s.ctx, key, fmt.Sprintf("then %d", s.rng.IntN(1e9)))
	case 1:
		_, err = s.intake.Interrupt(s.ctx, key, "")
	case 2:
		_, err = s.intake.Interrupt(s.ctx, key, fmt.Sprintf("instead %d", s.rng.IntN(1e9)))
	case 3:
		_, err = s.intake.Model(s.ctx, key, []string{"big", "small", coppice.ModelAuto}[s.rng.IntN(3)])
	case 4, 5:
		if key, err = s.oneOf(key, coppice.Task.Ended); err == nil {
			err = s.continueTask(key)
		}
	case 6:
		err = s.fork(key)
	case 7, 8:
		_, err = s.intake.Ask(s.ctx, key, coppice.VerbTake, verb.Request{})
	case 9:
		_, err = s.intake.Ask(s.ctx, key, coppice.VerbGive, verb.Request{Text: "continue"})
	case 10:
		key, err = s.oneOf(key, func(t coppice.Task) bool {
			return t.Failure != nil && t.Failure.Class == coppice.ClassBudget
		})
		if err != nil {
			return err
		}
		b := coppice.USD(s.rng.IntN(12))
		_, err = s.intake.ChangeTask(s.ctx, key, coppice.TaskChange{Budget: &b})
	default:
		if s.rng.IntN(2) == 0 {
			return s.intake.ClearLimit(s.ctx, accounts[s.rng.IntN(len(accounts))])
		}
		_, err = s.intake.Answer(s.ctx, key, 0, []string{coppice.AnswerAllowAlways, coppice.AnswerDenyAlways}[s.rng.IntN(2)])
	}
	return err
}

// oneOf picks a task of a kind, or the given one when there is none.
func (s *sim) oneOf(otherwise string, fits func(coppice.Task) bool) (string, error) {
	var keys []string
	err := s.st.View(s.ctx, func(r store.Reader) error {
		tasks, err := r.Tasks.List(store.TaskFilter{OldFirst: true})
		for _, t := range tasks {
			if fits(t) {
				keys = append(keys, t.Key)
			}
		}
		return err
	})
	if err != nil || len(keys) == 0 {
		return otherwise, err
	}
	return keys[s.rng.IntN(len(keys))], nil
}

// continueTask continues a task. A task that was done can land once more.
func (s *sim) continueTask(key string) error {
	t, err := s.intake.Ask(s.ctx, key, coppice.VerbContinue, verb.Request{Text: "now also this"})
	if err == nil && t.Outcome == coppice.OutcomeDone {
		s.world.rounds[key] = max(s.world.rounds[key], len(s.world.landed[key]))
	}
	return err
}

func (s *sim) fork(key string) error {
	if s.forks == mostForks {
		return nil
	}
	t, err := s.intake.Fork(s.ctx, key, "another way")
	if err == nil {
		s.forks++
		s.keys = append(s.keys, t.Key)
		s.world.names(t)
	}
	return err
}

// talkHolds looks at what was said: nothing is in limbo once its task has ended,
// a person's own session was stopped for a person only, and what is remembered
// is bounded and said once.
func (s *sim) talkHolds(r store.Reader, tasks []coppice.Task) error {
	for _, t := range tasks {
		messages, err := r.Messages.Of(t.ID)
		if err != nil {
			return err
		}
		for _, m := range messages {
			meant := m.Kind == coppice.MessageModel || m.Kind == coppice.MessageInterrupt && m.Text == ""
			if m.DeliveredAt.IsZero() && m.Failed == "" && (t.Ended() || meant) {
				return fmt.Errorf("%s: message %d (%s) was neither delivered nor failed", t.Key, m.ID, m.Kind)
			}
		}
		sessions, err := r.Sessions.Of(t.ID)
		if err != nil {
			return err
		}
		for _, x := range sessions {
			if x.Screen && x.StopWhy != "" && x.StopWhy != coppice.StopGiven && x.StopWhy != coppice.StopCancelled {
				return fmt.Errorf("%s, which a person had taken, was stopped for %s", x.Key, x.StopWhy)
			}
		}
	}
	projects, err := r.Projects.All()
	if err != nil {
		return err
	}
	for _, p := range projects {
		seen := map[string]bool{}
		for _, rule := range p.Rules {
			if seen[rule.Tool+rule.Match] || len(p.Rules) > 200 {
				return fmt.Errorf("%s remembers %v", p.Prefix, p.Rules)
			}
			seen[rule.Tool+rule.Match] = true
		}
	}
	return nil
}

// atScreen is a person who works before an agent's screen, and leaves it.
func (s *sim) atScreen(key string, h *hostState, n int) error {
	switch {
	case s.calm: // it leaves
	case n < 40:
		return s.output(key, h)
	case n < 70:
		s.made++
		s.world.write(h, fmt.Sprintf("f%d", s.rng.IntN(6)), fmt.Sprintf("%s#%d", key, s.made))
		return nil
	}
	res := coppice.RunResult{Conversation: s.known(key, h), Usage: s.used(h)}
	if exit := s.rng.IntN(3); exit == 2 {
		res.Signal = "SIGHUP"
	} else {
		res.Exit = &exit
	}
	s.world.end(h, res)
	return nil
}

// known is the agent's name for a session's conversation. One on a screen does
// not always tell.
func (s *sim) known(key string, h *hostState) string {
	if s.opt.Plain || h.screen && s.rng.IntN(2) == 0 {
		return ""
	}
	return "c-" + key
}

// used is what a session has used in the end.
func (s *sim) used(h *hostState) coppice.Usage { return h.used.Add(s.cost()) }

// cost is what a session used since it last said so.
func (s *sim) cost() coppice.Usage {
	if s.opt.Plain {
		return coppice.Usage{}
	}
	return coppice.Usage{CostUSD: float64(s.rng.IntN(200)) / 100, Turns: s.turns()}
}
