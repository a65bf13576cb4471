package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"coppice"
	"coppice/store"
)

// TaskStatus is what a person reads about a task: its derived status and the
// rows from which it was derived.
type TaskStatus struct {
	Project  string // its prefix
	Status   coppice.Status
	Reason   string
	Fix      string
	Sessions []coppice.Session // oldest first
	Session  *coppice.Session  // the newest
	Landing  *coppice.Landing  // the newest
	Question *coppice.Question // the oldest open one
	Asks     []coppice.Ask     // open, oldest first
	Serves   bool              // its project says how its app is served
}

// Statuses derives the statuses of tasks from one snapshot. The number of its
// queries depends on the number of projects with landings, not on the number of
// tasks. It is safe for concurrent use.
func (e *Engine) Statuses(ctx context.Context, r store.Reader, tasks []coppice.Task) ([]TaskStatus, error) {
	capacity, err := e.capacityFor(ctx, r, tasks)
	if err != nil {
		return nil, err
	}
	p, err := loadPage(r, tasks)
	if err != nil {
		return nil, err
	}
	capacity.Projects = p.projects
	waiting, err := checkSlots(r, tasks)
	if err != nil {
		return nil, err
	}
	out := make([]TaskStatus, len(tasks))
	lines := map[int64]*queueStatus{} // the landing queues, by id
	for i, t := range tasks {
		out[i] = p.status(capacity, t)
		l := out[i].Landing
		queued := t.Stage == coppice.StageLanding && l != nil && l.QueueID != 0
		if queued && lines[l.QueueID] == nil {
			if lines[l.QueueID], err = loadQueueStatus(r, l.QueueID); err != nil {
				return nil, err
			}
		}
		switch text := waiting[t.ID]; {
		case text != "" && (!queued || lines[l.QueueID].first == t.Key): // all others wait for the first
			out[i].Reason, out[i].Fix = text, ""
		case queued && landingNeed(p.needs(t), t) == nil:
			out[i].Reason, out[i].Fix = lines[l.QueueID].reason(t, l)
		}
	}
	return out, nil
}

// capacityFor reads what the statuses of queued tasks depend on. Without queued
// tasks it reads nothing, because that means reading every live session.
func (e *Engine) capacityFor(ctx context.Context, r store.Reader, tasks []coppice.Task) (Capacity, error) {
	if !slices.ContainsFunc(tasks, func(t coppice.Task) bool { return t.Stage == coppice.StageQueued }) {
		return Capacity{}, nil
	}
	nodes, err := e.cfg.Nodes(ctx)
	if err != nil {
		return Capacity{}, err
	}
	return loadCapacity(r, e.cfg.Now(), nodes, e.cfg)
}

// checkSlots returns, for tasks whose check waits for a slot, which checks run
// instead.
func checkSlots(r store.Reader, tasks []coppice.Task) (map[int64]string, error) {
	if !slices.ContainsFunc(tasks, func(t coppice.Task) bool { return t.Stage == coppice.StageChecking || t.Stage == coppice.StageLanding }) {
		return nil, nil
	}
	checks, err := r.Work.Open(coppice.WorkCheck)
	if err != nil {
		return nil, err
	}
	var running, waiting []int64
	for _, w := range checks {
		if w.State == coppice.WorkTaken {
			running = append(running, w.TaskID)
		} else {
			waiting = append(waiting, w.TaskID)
		}
	}
	if len(running) == 0 || len(waiting) == 0 {
		return nil, nil // nobody waits for more than a moment
	}
	keys, err := r.Tasks.Keys(running)
	names := named(running, keys)
	text := "waiting for a check slot; running: " + strings.Join(names[:min(len(names), mostNamed)], ", ")
	if more := len(names) - mostNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	reasons := make(map[int64]string, len(waiting))
	for _, id := range waiting {
		reasons[id] = text
	}
	return reasons, err
}

// named returns the keys of tasks.
func named(ids []int64, keys map[int64]string) []string {
	var out []string
	for _, id := range ids {
		out = append(out, keys[id])
	}
	return out
}

// page has the rows from which statuses are derived: projects by id, asks by
// subject, everything else by task.
type page struct {
	projects  map[int64]coppice.Project
	sessions  map[int64][]coppice.Session
	landings  map[int64]coppice.Landing
	questions map[int64]coppice.Question
	messages  map[int64][]coppice.Message       // of those whose session is idle
	asks      map[coppice.Subject][]coppice.Ask // open
	others    map[branch]coppice.Needs          // of branches besides the base
	tasks     map[int64]coppice.Task            // for which sessions wait
}

// branch names a branch on which work lands.
type branch struct {
	project int64
	name    string
}

// needs returns what a person must do before work lands on a task's branch.
func (p page) needs(t coppice.Task) coppice.Needs {
	if t.Onto == "" {
		return p.projects[t.ProjectID].Needs
	}
	return p.others[branch{t.ProjectID, t.Onto}]
}

func loadPage(r store.Reader, tasks []coppice.Task) (p page, err error) {
	var projects, other, begun, running, asking, idle []int64
	for _, t := range tasks {
		if t.Onto != "" && !slices.Contains(other, t.ProjectID) {
			other = append(other, t.ProjectID)
		}
		if !slices.Contains(projects, t.ProjectID) {
			projects = append(projects, t.ProjectID)
		}
		if t.Sessions > 0 || t.IsFlow() { // otherwise it has neither a session nor a landing
			begun = append(begun, t.ID)
		}
		if t.Stage == coppice.StageSession {
			running = append(running, t.ID)
		}
	}
	if p.projects, err = r.Projects.Some(projects); err != nil {
		return p, err
	}
	if p.sessions, err = r.Sessions.OfEach(begun); err != nil {
		return p, err
	}
	if p.landings, err = r.Landings.LastOfEach(begun); err != nil {
		return p, err
	}
	if err := p.awaited(r.Tasks.Some); err != nil {
		return p, err
	}
	for _, t := range tasks {
		if x := last(p.sessions[t.ID]); t.Stage == coppice.StageSession || x != nil && x.Rests() {
			asking = append(asking, t.ID)
		}
	}
	if p.questions, err = r.Questions.OpenOfEach(asking); err != nil {
		return p, err
	}
	for _, id := range running {
		if x := last(p.sessions[id]); x != nil && x.State == coppice.SessionIdle {
			idle = append(idle, id)
		}
	}
	if p.messages, err = r.Messages.OfEach(idle); err != nil {
		return p, err
	}
	if p.others, err = otherNeeds(r, other); err != nil {
		return p, err
	}
	open, err := r.Asks.AllOpen() // usually few
	p.asks = map[coppice.Subject][]coppice.Ask{}
	for _, a := range open {
		p.asks[a.Subject] = append(p.asks[a.Subject], a)
	}
	return p, err
}

// otherNeeds reads the needs of all branches on which work of the projects
// lands.
func otherNeeds(r store.Reader, projects []int64) (map[branch]coppice.Needs, error) {
	all := map[branch]coppice.Needs{}
	for _, id := range projects {
		queues, err := r.Queues.In(id)
		if err != nil {
			return nil, err
		}
		for _, q := range queues {
			all[branch{id, q.Branch}] = q.Needs
		}
	}
	return all, nil
}

// last returns the last element of a list, or nil.
func last[T any](list []T) *T {
	if len(list) == 0 {
		return nil
	}
	return &list[len(list)-1]
}

// answered reports whether a task that waits for an answer has it. The next turn
// queues the task.
func (s TaskStatus) answered(t coppice.Task) bool {
	waits := t.Stage == coppice.StageWaiting && t.Failure == nil && t.Wait != nil && t.Wait.On == coppice.WaitPerson
	return waits && s.Session != nil && s.Session.Rests() && s.Question == nil
}

func (p page) status(capacity Capacity, t coppice.Task) TaskStatus {
	project := p.projects[t.ProjectID]
	s := TaskStatus{Project: project.Prefix, Serves: project.Policy.Workspace.Serve.Set(), Sessions: p.sessions[t.ID], Asks: p.asks[coppice.TaskSubject(t.ID)]}
	s.Session = last(s.Sessions)
	if l, ok := p.landings[t.ID]; ok {
		s.Landing = &l
	}
	if q, ok := p.questions[t.ID]; ok {
		s.Question = &q
	}
	blocked := ""
	if t.Stage == coppice.StageQueued {
		if blocked, _ = capacity.Blocked(t.Lane()); blocked == "" && !hasStarted(t) {
			blocked = capacity.tooManyOpen(t.ProjectID)
		}
		if x := s.Session; blocked != "" && blocked == capacity.full(t.Lane()) && x != nil && x.Continues() && s.Question == nil {
			blocked = coppice.ReasonAnswered
		}
	}
	s.Status, s.Reason = t.Status(s.Session, s.Landing, s.Question, blocked)
	if text := p.waitsFor(s.Session); text != "" && s.Question == nil {
		s.Status, s.Reason = coppice.StatusWaiting, text
		return s
	}
	if s.answered(t) {
		s.Status, s.Reason = coppice.StatusWaiting, coppice.ReasonAnswered
		return s
	}
	if x := s.Session; t.Stage == coppice.StageSession && s.Question == nil && x != nil && x.State == coppice.SessionIdle && !x.Screen {
		// An agent that stays after its turn might have been interrupted by a
		// person.
		if interrupted(&View{Delivered: p.messages[t.ID]}, x) {
			s.Status, s.Reason, s.Fix = coppice.StatusNeedsYou, wasInterrupted, fmt.Sprintf("to continue, run: coppice send %s \"…\"", t.Key)
		}
	}
	if n := landingNeed(p.needs(t), t); n != nil {
		s.Reason, s.Fix = "waits for you: "+n.Text, n.Fix
	}
	switch {
	case t.Stage == coppice.StageQueued && blocked != "":
		if p := capacity.Projects[t.ProjectID]; p.PausedAt.IsZero() && paused(p, t.Lane().Track) {
			s.Fix = fmt.Sprintf("fix the problem, then run `coppice project resume %s --track %s`", p.Prefix, t.Lane().Track)
			break
		}
		if l, ok := capacity.Limited.of(t.Lane().Agent); ok && l.Until.IsZero() {
			s.Fix = fmt.Sprintf("fix the problem, then run `coppice limits clear %s`", l.Agent)
		} else if why, fix, _ := capacity.dayBudgetSpent(t.Lane()); blocked == why {
			s.Fix = fix
		}
	case t.Stage == coppice.StageWaiting && t.Wait != nil:
		s.Fix = t.Wait.Fix
	case t.Stage.Awaits():
		s.Fix = t.AwaitsFix()
	case s.Landing != nil && s.Landing.EndedAt.IsZero() && s.Landing.Failure != nil && (t.Stage == coppice.StageChecking || t.Stage == coppice.StageLanding):
		s.Fix = s.Landing.Failure.Fix
	case t.Failure != nil && t.Ended():
		s.Fix = t.Failure.Fix
	}
	return s
}
