package sim

import (
	"fmt"
	"slices"

	"coppice"
	"coppice/store"
)

// counting returns the steps of a flow that count.
func counting(r store.Reader, t coppice.Task) ([]coppice.Task, error) {
	steps, err := r.Families.Steps(t.ID)
	return slices.DeleteFunc(steps, func(s coppice.Task) bool { return slices.Contains(t.Flow.Left, s.ID) }), err
}

// flows returns the flows of a history that has some.
func (s *sim) flows(r store.Reader) (flows []coppice.Task, err error) {
	if !s.opt.Flows {
		return nil, nil
	}
	for _, key := range s.flowing.keys {
		t, err := r.Tasks.ByKey(key)
		if err != nil {
			return nil, err
		}
		flows = append(flows, t)
	}
	return flows, nil
}

// flowsHold checks flows after a turn: each that has not ended has a step that works,
// or a reason and a fix.
func (s *sim) flowsHold(r store.Reader) error {
	flows, err := s.flows(r)
	if err != nil || !s.opt.Flows {
		return err
	}
	for _, t := range flows {
		if t.Ended() || t.Flow.Lands {
			continue
		}
		if t.Stage == coppice.StageWaiting && t.Wait != nil && t.Wait.On == coppice.WaitPerson {
			if t.Wait.Text == "" || t.Wait.Fix == "" {
				return fmt.Errorf("%s waits for a person without a reason or a fix: %+v", t.Key, *t.Wait)
			}
			if !t.Flow.Paused && !s.flowing.blocked[t.ID] {
				s.flowing.blocked[t.ID] = true
				s.flowing.of(t).Blocked++
			}
		}
		if t.Stage != coppice.StageFlow {
			continue
		}
		steps, err := counting(r, t)
		if err != nil {
			return err
		}
		work, err := r.Work.Unsettled(coppice.TaskSubject(t.ID))
		if err != nil {
			return err
		}
		if len(work) == 0 && !slices.ContainsFunc(steps, func(s coppice.Task) bool { return !s.Ended() }) {
			return fmt.Errorf("%s (%s) has no open step, and neither ends nor waits for a person: %s", t.Key, t.Flow.Kind, t.Flow.Note)
		}
	}
	return s.schedulesHold(r)
}

// flowHolds checks a flow: its steps that count have different keys, nothing works
// below it after it was stopped, its landing has the work of its steps, and no version
// of a document is missing.
func (s *sim) flowHolds(r store.Reader, t coppice.Task) error {
	if t.Flow == nil {
		return nil
	}
	steps, err := counting(r, t)
	if err != nil {
		return err
	}
	seen := map[string]string{}
	for _, step := range steps {
		if other := seen[step.Step.Key]; other != "" {
			return fmt.Errorf("%s and %s are both the step %s of %s", other, step.Key, step.Step.Key, t.Key)
		}
		seen[step.Step.Key] = step.Key
		if step.Landed != "" && t.Outcome == coppice.OutcomeDone && t.Landed != "" && t.Flow.Branch && s.world.rounds[t.Key] == 0 && !s.world.within(step.Landed, s.world.heads[t.Landed]) {
			return fmt.Errorf("%s landed as %s without the work of its step %s (%s)", t.Key, t.Landed, step.Key, step.Landed)
		}
	}
	if err := s.restsBelow(r, t); err != nil {
		return err
	}
	docs, err := r.Documents.Newest(t.ID)
	if err != nil {
		return err
	}
	for _, d := range docs {
		versions, err := r.Documents.Versions(t.ID, d.Name)
		if err != nil {
			return err
		}
		for n, v := range versions {
			if v.Version != d.Version-int64(n) || len(versions) < coppice.MaxVersions && n == len(versions)-1 && v.Version != 1 {
				return fmt.Errorf("%s: version %d of %s is the number %d of %d", t.Key, v.Version, d.Name, n, len(versions))
			}
		}
	}
	for _, d := range s.flowing.documents {
		if d.TaskID != t.ID {
			continue
		}
		if now, err := r.Documents.Get(t.ID, d.Name, d.Version); err != nil || now.Text != d.Text || now.By != d.By {
			return fmt.Errorf("%s: a person wrote version %d of %s, which is now %+v: %w", t.Key, d.Version, d.Name, now, err)
		}
	}
	return nil
}

// restsBelow checks that no session started below a flow after it was stopped, unless
// a person asked for it.
func (s *sim) restsBelow(r store.Reader, t coppice.Task) error {
	if t.Outcome != coppice.OutcomeCancelled || t.Reverted != nil {
		return nil
	}
	all, err := r.Families.Steps(t.ID)
	if err != nil {
		return err
	}
	for _, step := range all {
		if !step.Ended() {
			if err := s.stopsWith(r, step, t); err != nil {
				return err
			}
		}
		sessions, err := r.Sessions.Of(step.ID)
		if err != nil {
			return err
		}
		late := slices.ContainsFunc(sessions, func(x coppice.Session) bool { return x.CreatedAt.After(t.EndedAt) })
		if !late {
			continue
		}
		asks, err := r.Asks.Of(step.ProjectID, coppice.TaskSubject(step.ID))
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(asks, func(a coppice.Ask) bool { return a.Verb != coppice.VerbStop && a.By.Kind == coppice.ActorPerson }) {
			return fmt.Errorf("a session of %s started after %s was stopped", step.Key, t.Key)
		}
	}
	return nil
}

// branchesHold checks at the end that the branches of flows are gone, except those of
// failed ones.
func (s *sim) branchesHold(r store.Reader) error {
	flows, err := s.flows(r)
	if err != nil {
		return err
	}
	for _, t := range flows {
		p, err := r.Projects.Get(t.ProjectID)
		if err != nil {
			return err
		}
		if s.world.repos[p.Path].flows[t.FlowBranch()] != nil && t.Ended() && t.Outcome != coppice.OutcomeFailed && t.Warning == "" {
			return fmt.Errorf("the branch of %s (%s) was left behind", t.Key, t.Outcome)
		}
	}
	return nil
}

// countFlows counts how the flows ended.
func (s *sim) countFlows(r store.Reader) (flows, error) {
	f := s.flowing
	for _, key := range f.keys {
		t, err := r.Tasks.ByKey(key)
		if err != nil {
			return f.flows, err
		}
		steps, err := r.Families.Steps(t.ID)
		if err != nil {
			return f.flows, err
		}
		c := f.of(t)
		if len(steps) > 0 {
			c.Ran++
		}
		switch {
		case t.Outcome == coppice.OutcomeDone || t.Reverted != nil:
			c.Done++
		case t.Outcome == coppice.OutcomeFailed:
			c.Failed++
		case t.Outcome == coppice.OutcomeCancelled:
			c.Stopped++
		}
		if t.Landed != "" || t.Reverted != nil {
			f.Landed++
		}
	}
	return f.flows, nil
}
