package sim

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"coppice"
	"coppice/store"
)

// parks counts what parked sessions went through.
type parks struct {
	Parked  int // sessions were parked,
	Waited  int // had their answer at the end of a turn, and no free session,
	Stopped int // were stopped because they were parked,
	Passed  int // and the next session got the answer
}

// resumes says which agents can resume a conversation.
func resumes(agent string, _ *coppice.Profile) bool { return agent == "alpha" }

// resumable reports whether another session can continue a session's conversation.
func resumable(x coppice.Session) bool {
	return resumes(x.Agent, nil) && x.Role.Lands() && x.Conversation+x.Resume != ""
}

// counted lists the live sessions that count against the limits.
func counted(live []coppice.Session) []coppice.Session {
	return slices.DeleteFunc(slices.Clone(live), coppice.Session.Parked)
}

// parkedHold checks parked sessions after a turn. None is on a person's screen,
// none that could continue waits while a session is free, and those that can be
// stopped are neither too many nor parked for too long.
func (s *sim) parkedHold(r store.Reader) error {
	live, err := r.Sessions.Live()
	if err != nil {
		return err
	}
	for _, p := range s.projects {
		alive, can := 0, 0
		for _, x := range live {
			if x.ProjectID != p.ID || !x.Parked() || !x.StopAt.IsZero() {
				continue
			}
			alive++
			if x.Screen || x.State != coppice.SessionWaiting && !inCall(r, x) {
				return fmt.Errorf("%s is parked, and is %s", x.Key, x.State)
			}
			if !x.ReadyAt.IsZero() {
				s.parks.Waited++
				if why := s.free(p, x, counted(live)); why != nil {
					return why
				}
			}
			if !resumable(x) {
				continue
			}
			can++
			if s.now.Sub(x.ParkedAt) >= 15*time.Minute {
				return fmt.Errorf("%s has been parked since %s, and it is %s", x.Key, x.ParkedAt, s.now)
			}
		}
		if most := p.Policy.Limits.MostParked(); alive > most && can > 0 {
			return fmt.Errorf("%d sessions of %s are parked, %d may be, and %d could be stopped", alive, p.Prefix, most, can)
		}
	}
	return nil
}

// free says that there is a free session for one that waits for it.
func (s *sim) free(p coppice.Project, x coppice.Session, running []coppice.Session) error {
	project, track, agent := 0, 0, 0
	for _, o := range running {
		if o.ProjectID != p.ID {
			continue
		}
		project++
		if o.Track == x.Track {
			track++
		}
		if o.Agent == x.Agent {
			agent++
		}
	}
	if len(running) >= mostSessions || project >= p.Policy.Limits.Sessions || x.Track == "side" && track >= 1 || x.Agent == "beta" && agent >= 1 {
		return nil
	}
	return fmt.Errorf("%s has its answer, there is a free session, and it is still parked", x.Key)
}

// follows looks at a session that begins after one that was stopped because it
// could only wait: it continues that one's conversation, has the answers, and need
// not ask for the same permission again.
func (s *sim) follows(spec coppice.RunSpec) error {
	return s.st.View(s.ctx, func(r store.Reader) error {
		x, err := r.Sessions.Get(spec.Session.ID)
		if err != nil {
			return err
		}
		all, err := r.Sessions.Of(x.TaskID)
		if err != nil {
			return err
		}
		n := slices.IndexFunc(all, func(o coppice.Session) bool { return o.ID == x.ID })
		if err := s.resultsFollow(r, x, all[:max(n, 0)]); err != nil {
			return err
		}
		if n < 1 || !all[n-1].Rests() || all[n-1].Round != x.Round {
			return nil
		}
		before := all[n-1]
		if x.Agent == before.Agent && (x.Resume == "" || x.Resume != before.Conversation && x.Resume != before.Resume) {
			return fmt.Errorf("%s continues %q, %s had %q", x.Key, x.Resume, before.Key, before.Conversation)
		}
		questions, err := r.Questions.Of(x.TaskID)
		if err != nil {
			return err
		}
		for _, q := range questions {
			if q.SessionID == before.ID && !q.AnsweredAt.IsZero() && !s.world.hosts[before.Key].loose {
				err = errors.Join(err, s.answerOnce(r, x, q, spec.Permissions.Rules))
			}
		}
		return err
	})
}

// received returns what a session got to read: its prompt, and on a screen the messages
// of its task.
func received(r store.Reader, x coppice.Session) (string, error) {
	text := x.Prompt
	if !x.Screen {
		return text, nil
	}
	messages, err := r.Messages.Of(x.TaskID)
	for _, m := range messages {
		text += m.Text
	}
	return text, err
}

// answerOnce checks that the answer to a question of the session before was
// delivered once: to that session, or to the next one.
func (s *sim) answerOnce(r store.Reader, x coppice.Session, q coppice.Question, rules []coppice.Rule) error {
	text, err := received(r, x)
	if err != nil {
		return err
	}
	if s.world.answered[q.Ref] {
		if strings.Contains(text, q.Text) {
			return fmt.Errorf("%s has the answer to %q, which the session before it had", x.Key, q.Text)
		}
		return nil
	}
	s.parks.Passed++
	if strings.Count(text, q.Text) != 1 || !strings.Contains(text, "The answer is: "+q.Answer) {
		return fmt.Errorf("%s does not have once that the answer to %q is %q: %s", x.Key, q.Text, q.Answer, text)
	}
	if q.Kind != coppice.QuestionPermission {
		return nil
	}
	if want := coppice.ParsePermission(q.Answer).Rule(*q.Rule); len(rules) == 0 || rules[0].Tool != want.Tool || rules[0].Match != want.Match || rules[0].Do != want.Do {
		return fmt.Errorf("%s may %v, and a person said %q", x.Key, rules, q.Answer)
	}
	return nil
}

// deliverAnswer gives an agent that waits the answer. The agent continues.
func (s *sim) deliverAnswer(h *hostState, ref string) coppice.SendResult {
	if h.asked != ref {
		return coppice.SendResult{Delivered: true} // it has it already
	}
	h.asked, s.world.answered[ref] = "", true
	if err := s.say(h, coppice.AgentEvent{Kind: coppice.KindState, State: coppice.SessionWorking}); err != nil {
		return coppice.SendResult{Why: err.Error()}
	}
	return coppice.SendResult{Delivered: true}
}

// askingActions are what happens where agents ask a lot: people answer, and less
// goes wrong, so that many sessions get to ask.
func (s *sim) askingActions() weights {
	return weights{
		{"turn", 20}, {"take", 20}, {"work", 60}, {"agent", 15}, {"time", 4}, {"renew", 10}, {"ask", 1}, {"create", 10}, {"crash worker", 1},
		{"crash server", 1}, {"converse", 1}, {"answer", 2},
	}
}

// answerOne is a person who answers one of the open questions.
func (s *sim) answerOne() error {
	asks, err := s.tasksWith(func(r store.Reader, t coppice.Task) (bool, error) {
		q, err := r.Questions.Open(t.ID)
		return q != nil, err
	})
	if err != nil || len(asks) == 0 {
		return err
	}
	_, err = s.intake.Answer(s.ctx, asks[s.rng.IntN(len(asks))], 0, []string{"left", coppice.AnswerAllow, coppice.AnswerDeny}[s.rng.IntN(3)])
	return err
}

// loosen records that the engine got a failure for an answer that the session
// has. The session continues, but the engine has it as parked.
func (s *sim) loosen(v coppice.SendSpec) {
	if h := s.world.hosts[v.Session]; h != nil && s.world.answered[v.Question] {
		h.loose = true
	}
}

// asking is how often in a hundred an agent asks a person.
func (s *sim) asking(h *hostState) int {
	if s.opt.Limits {
		return 1
	}
	switch {
	case s.opt.Asks && len(h.spool.frames) == 0 && !s.calm:
		return 90 // before it does anything
	case s.opt.Asks:
		return 30
	}
	return 8
}

// rests reports whether a session was stopped because it could only wait.
func (s *sim) rests(r store.Reader, id int64) bool {
	x, err := r.Sessions.Get(id)
	return err == nil && x.Rests()
}
