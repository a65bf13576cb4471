package engine

import (
	"context"
	"fmt"

	"coppice"
	"coppice/store"
)

// TaskStatus is what a person reads about a task: its derived status and the
// rows it was derived from.
type TaskStatus struct {
	Status   coppice.Status
	Reason   string
	Fix      string
	Session  *coppice.Session  // the newest
	Landing  *coppice.Landing  // the newest
	Question *coppice.Question // the oldest open one
	Asks     []coppice.Ask     // open, oldest first
}

// Statuses derives the statuses of tasks from one snapshot. Safe for
// concurrent use.
func (e *Engine) Statuses(ctx context.Context, r store.Reader, tasks []coppice.Task) ([]TaskStatus, error) {
	nodes, err := e.cfg.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	room, err := loadRoom(r, e.cfg.Now(), nodes, e.cfg)
	if err != nil {
		return nil, err
	}
	open, err := r.Asks.AllOpen() // few at any moment
	if err != nil {
		return nil, err
	}
	asks := map[coppice.Subject][]coppice.Ask{}
	for _, a := range open {
		asks[a.Subject] = append(asks[a.Subject], a)
	}
	out := make([]TaskStatus, len(tasks))
	lines := map[int64]*line{} // the landing queues, by project
	for i, t := range tasks {
		if out[i], err = taskStatus(r, room, t); err != nil {
			return nil, err
		}
		out[i].Asks = asks[coppice.TaskSubject(t.ID)]
		if l := out[i].Landing; t.Stage != coppice.StageLanding || l == nil || l.QueuedAt.IsZero() || landingNeed(room.Projects[t.ProjectID], t) != nil {
			continue // it is not the queue that it waits for
		}
		if lines[t.ProjectID] == nil {
			if lines[t.ProjectID], err = lineOf(r, t.ProjectID); err != nil {
				return nil, err
			}
		}
		out[i].Reason, out[i].Fix = lines[t.ProjectID].reason(t, out[i].Landing)
	}
	return out, nil
}

func taskStatus(r store.Reader, room Room, t coppice.Task) (TaskStatus, error) {
	var s TaskStatus
	var err error
	if t.Sessions > 0 { // otherwise there is neither
		if s.Session, err = r.Sessions.Last(t.ID); err != nil {
			return s, err
		}
		if s.Landing, err = r.Landings.Last(t.ID); err != nil {
			return s, err
		}
	}
	if t.Stage == coppice.StageSession {
		if s.Question, err = r.Questions.Open(t.ID); err != nil {
			return s, err
		}
	}
	blocked := ""
	if t.Stage == coppice.StageQueued {
		if err := room.know(r, t.ProjectID); err != nil {
			return s, err
		}
		blocked, _ = room.Blocked(t.Lane())
	}
	s.Status, s.Reason = t.Status(s.Session, s.Landing, s.Question, blocked)
	if x := s.Session; t.Stage == coppice.StageSession && s.Question == nil && x != nil && x.State == coppice.SessionIdle && !x.Screen {
		// An agent that stays after its turn: was it a person who ended that?
		heard, err := r.Messages.Of(t.ID)
		if err != nil {
			return s, err
		}
		if interrupted(&View{Heard: heard}, x) {
			s.Status, s.Reason, s.Fix = coppice.StatusNeedsYou, wasInterrupted, fmt.Sprintf("say how to go on: coppice send %s \"…\"", t.Key)
		}
	}
	if t.Stage == coppice.StageChecking || t.Stage == coppice.StageLanding {
		if err := room.know(r, t.ProjectID); err != nil {
			return s, err
		}
		if n := landingNeed(room.Projects[t.ProjectID], t); n != nil {
			s.Reason, s.Fix = "waits for you: "+n.Text, n.Fix
		}
	}
	switch {
	case t.Stage == coppice.StageQueued && blocked != "":
		if p := room.Projects[t.ProjectID]; p.PausedAt.IsZero() && paused(p, t.Lane().Track) {
			s.Fix = fmt.Sprintf("mend the cause, then say `coppice project resume %s --track %s`", p.Prefix, t.Lane().Track)
			break
		}
		if l, ok := room.Limited.of(t.Lane().Agent); ok && l.Until.IsZero() {
			s.Fix = fmt.Sprintf("mend the cause, then say `coppice limits clear %s`", l.Agent)
		}
	case t.Stage == coppice.StageWaiting && t.Wait != nil:
		s.Fix = t.Wait.Fix
	case s.Landing != nil && s.Landing.EndedAt.IsZero() && s.Landing.Failure != nil && (t.Stage == coppice.StageChecking || t.Stage == coppice.StageLanding):
		s.Fix = s.Landing.Failure.Fix
	case t.Failure != nil && t.Ended():
		s.Fix = t.Failure.Fix
	}
	return s, nil
}
