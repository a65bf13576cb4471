package sim

import (
	"errors"
	"fmt"
	"time"

	"coppice"
	"coppice/store"
	"coppice/verb"
)

// create is a person who asks for tasks, some of which come after others.
func (s *sim) create() error {
	if s.owed == 0 {
		return nil
	}
	n := coppice.NewTask{Title: fmt.Sprintf("task %d", s.owed), Priority: s.rng.IntN(21) - 10}
	prefix := "p"
	if len(s.world.repos) > 1 && s.rng.IntN(2) == 0 {
		prefix = "p2"
	}
	if len(s.keys) > 0 && s.rng.IntN(3) == 0 && !s.opt.Asks {
		n.After = append(n.After, s.keys[s.rng.IntN(len(s.keys))])
	}
	if s.rng.IntN(4) == 0 {
		n.Track = "side"
	}
	if s.rng.IntN(4) == 0 {
		n.Agent = "beta"
	}
	if s.rng.IntN(8) == 0 {
		n.NotBefore = s.now.Add(time.Duration(s.rng.IntN(600)) * time.Second)
	}
	if !s.opt.Plain && s.rng.IntN(8) == 0 {
		n.Answer = true
		if s.rng.IntN(2) == 0 {
			n.Schema = []byte(integer)
		}
	} else if !s.opt.Plain {
		n.Category = []string{"", "", "docs", "secret"}[s.reviews.IntN(4)]
		n.Steps = []string{"it runs", "it greets", "it ends"}[:s.rng.IntN(4)]
	}
	s.own(&n)
	n.Retry, n.Completion = s.retryPolicy(), s.completion()
	s.branch(&n, prefix)
	s.interact(&n)
	tasks, err := s.createOne(prefix, n)
	if s.removing && len(n.After) > 0 && coppice.ErrorCode(err) == coppice.EInvalid {
		return nil // the task that it comes after is gone already
	}
	if err != nil {
		return err
	}
	s.owed--
	s.keys = append(s.keys, tasks[0].Key)
	s.world.names(tasks[0])
	return nil
}

// someTask picks a random task, or returns "" if there is none.
func (s *sim) someTask() string {
	if len(s.keys) == 0 {
		return ""
	}
	return s.verified(s.keys[s.rng.IntN(len(s.keys))])
}

// tasksWith returns the keys of the tasks for which has returns true.
func (s *sim) tasksWith(has func(r store.Reader, t coppice.Task) (bool, error)) (keys []string, err error) {
	err = s.st.View(s.ctx, func(r store.Reader) error {
		for _, key := range s.keys {
			t, err := r.Tasks.ByKey(key)
			if err != nil {
				return err
			}
			if yes, err := has(r, t); err != nil {
				return err
			} else if yes {
				keys = append(keys, key)
			}
		}
		return nil
	})
	return keys, err
}

// person is somebody who says something about a random task.
func (s *sim) person(key string) (err error) {
	switch s.rng.IntN(12) {
	case 0:
		err = s.stop(key)
	case 1, 2:
		_, err = s.intake.Ask(s.ctx, key, coppice.VerbRetry, verb.Request{Text: "please"})
	case 3, 4:
		err = s.land(key)
	case 5, 6:
		_, err = s.intake.Send(s.ctx, key, fmt.Sprintf("message %d", s.rng.IntN(1e9)))
	case 7:
		_, err = s.intake.Undo(s.ctx, key, "")
	case 8:
		p := s.rng.IntN(21) - 10
		_, err = s.intake.ChangeTask(s.ctx, key, coppice.TaskChange{Priority: &p})
	case 9:
		_, err = s.intake.Pause(s.ctx, "p", "", s.rng.IntN(3) == 0)
	default:
		_, err = s.intake.Answer(s.ctx, key, 0, "that way")
	}
	return err
}

// stopLate is a person who stops a task when it is about to land.
func (s *sim) stopLate() error {
	for _, key := range s.keys {
		stage, err := s.stage(key)
		if err != nil {
			return err
		}
		if stage == coppice.StageLanding && s.rng.IntN(2) == 0 {
			return s.stop(key)
		}
	}
	return nil
}

func (s *sim) stage(key string) (stage coppice.Stage, err error) {
	err = s.st.View(s.ctx, func(r store.Reader) error {
		t, err := r.Tasks.ByKey(key)
		stage = t.Stage
		return err
	})
	return stage, err
}

// holds looks whether every promise that can be seen from outside holds now.
func (s *sim) holds() error {
	if s.world.broken != "" {
		return errors.New(s.world.broken)
	}
	return s.st.View(s.ctx, func(r store.Reader) error {
		if err := s.limitsHold(r); err != nil {
			return err
		}
		if s.steps%16 == 0 {
			return s.tasksHold(r)
		}
		return nil
	})
}

func (s *sim) limitsHold(r store.Reader) error {
	live, err := r.Sessions.Live()
	if err != nil {
		return err
	}
	isLive, n := map[string]bool{}, 0
	perProject, perTrack, perAgent := map[int64]int{}, map[string]int{}, map[string]int{}
	for _, x := range live {
		isLive[x.Key] = true
		if h := s.world.hosts[x.Key]; x.Parked() || h != nil && h.loose {
			continue
		}
		n++
		perProject[x.ProjectID]++
		perTrack[fmt.Sprint(x.ProjectID, x.Track)]++
		perAgent[fmt.Sprint(x.ProjectID, x.Agent)]++
	}
	if n > mostSessions {
		return fmt.Errorf("%d sessions run, %d are allowed", n, mostSessions)
	}
	for _, key := range s.running() {
		if !isLive[key] {
			return fmt.Errorf("the host of %s runs, its session is not live", key)
		}
	}
	if err := errors.Join(s.accountsHold(r, live), s.diskHolds(live)); err != nil {
		return err
	}
	for _, p := range s.projects {
		if n := perProject[p.ID]; n > p.Policy.Limits.Sessions {
			return fmt.Errorf("%s has %d live sessions, %d are allowed", p.Prefix, n, p.Policy.Limits.Sessions)
		}
		if n := perTrack[fmt.Sprint(p.ID, "side")]; n > 1 {
			return fmt.Errorf("track side of %s has %d live sessions", p.Prefix, n)
		}
		if n := perAgent[fmt.Sprint(p.ID, "beta")]; n > 1 {
			return fmt.Errorf("beta has %d live sessions in %s", n, p.Prefix)
		}
	}
	return nil
}

// taskFacts is a task with what several promises are about.
type taskFacts struct {
	coppice.Task
	project  coppice.Project
	sessions []coppice.Session
	landings []coppice.Landing
}

func factsOf(r store.Reader, t coppice.Task) (f taskFacts, err error) {
	f.Task = t
	if f.project, err = r.Projects.Get(t.ProjectID); err != nil {
		return f, err
	}
	if f.sessions, err = r.Sessions.Of(t.ID); err != nil {
		return f, err
	}
	f.landings, err = r.Landings.Of(t.ID)
	return f, err
}

// tasksHold checks every task: none is lost, none is done without having landed,
// and each that waits has a reason.
func (s *sim) tasksHold(r store.Reader) error {
	tasks, err := r.Tasks.List(store.TaskFilter{})
	if err != nil {
		return err
	}
	if len(tasks) < len(s.keys) && (s.gone || !s.removing) {
		return fmt.Errorf("%d tasks of %d are left", len(tasks), len(s.keys))
	}
	for _, t := range tasks {
		if err := s.world.takesOffEmpty(r, t); err != nil {
			return err
		}
		landed, rounds := s.world.landed[t.Key], s.world.rounds[t.Key]
		if t.Outcome == coppice.OutcomeDone && t.Landed != "" && (len(landed) == 0 || len(landed) > 1+rounds || landed[len(landed)-1] != t.Landed) {
			return fmt.Errorf("%s is done as %s, the world saw %v", t.Key, t.Landed, s.world.landed[t.Key])
		}
		if t.Ended() && t.Outcome != coppice.OutcomeDone && len(landed) > rounds && (!s.opt.Pulls || t.Reverted == nil) { // a merged request can be empty
			return fmt.Errorf("%s is %s and has landed", t.Key, t.Outcome)
		}
		if t.Stage == coppice.StageWaiting && t.Wait != nil && t.Wait.Text == "" {
			return fmt.Errorf("%s waits without a reason", t.Key)
		}
		facts, err := factsOf(r, t)
		if err != nil {
			return err
		}
		if err := errors.Join(s.verdictsHold(r, t), s.answersHold(r, t), s.reviewsHold(r, facts), s.basesHold(r, facts), s.retriesHold(r, facts), revertsHold(r, t), s.straysHold(r, t), interactiveHolds(r, t), s.killsHold(r, facts)); err != nil {
			return err
		}
		if err := errors.Join(spendHolds(r, t), s.familyHolds(r, t), s.flowHolds(r, t)); err != nil {
			return err
		}
	}
	if err := s.daysHold(r); err != nil {
		return err
	}
	return s.strikesHold(r)
}

// settle stops all faults and lets a diligent person help, until nothing moves
// any more: then every task must have ended, or wait for one that did not make
// it; and nothing may be left behind.
func (s *sim) settle() error {
	s.calm = true
	s.fault.chance = 0
	if err := s.disk(); err != nil {
		return err
	}
	for _, r := range s.world.repos {
		r.block = 0
	}
	for _, p := range []string{"p", "p2"} {
		if _, err := s.intake.Pause(s.ctx, p, "", false); err != nil && !refused(err) {
			return err
		}
	}
	if err := errors.Join(s.restSchedules(), s.raiseAccounts()); err != nil {
		return err
	}
	for quiet := 0; quiet < 3; {
		before, err := s.marks()
		if err != nil {
			return err
		}
		running := len(s.running()) // the end of an agent is not in the log until its worker has reported it
		if err := s.round(); err != nil {
			return err
		}
		if err := s.help(); err != nil {
			return err
		}
		after, err := s.marks()
		if err != nil {
			return err
		}
		if quiet++; before != after || len(s.running()) != running {
			quiet = 0
		}
		if quiet == 3 { // by chance, an agent did nothing in these rounds
			for _, key := range s.running() {
				if err := s.act(key); err != nil {
					return err
				}
			}
			if after, err = s.marks(); err != nil {
				return err
			}
			if before != after || len(s.running()) != running {
				quiet = 0
			}
		}
		if quiet == 3 && s.opt.Pulls {
			if changed, err := s.endPulls(); err != nil {
				return err
			} else if changed {
				quiet = 0
			}
		}
		if quiet == 3 && s.opt.Issues {
			if changed, err := s.endIssues(); err != nil {
				return err
			} else if changed {
				quiet = 0
			}
		}
		if s.now = s.now.Add(time.Minute); s.due.After(s.now) && quiet > 0 {
			s.now = s.due
		}
		if s.steps++; s.steps > s.opt.Steps+2000 {
			return errors.New("it never comes to rest")
		}
	}
	return s.st.View(s.ctx, s.atRest)
}

// round lets the engine, every worker and every agent do what they can.
func (s *sim) round() error {
	for _, w := range s.works {
		if err := s.renewAll(w); err != nil {
			return err
		}
	}
	if err := s.turn(); err != nil {
		return err
	}
	for _, w := range s.works {
		if err := s.takeFor(w, 4); err != nil {
			return err
		}
	}
	for range 2 {
		for _, w := range s.works {
			for n := len(w.items) - 1; n >= 0; n-- {
				if err := s.workOn(w, n); err != nil && !lost(err) {
					return err
				}
			}
		}
	}
	for range s.running() {
		if err := s.agent(); err != nil {
			return err
		}
	}
	return s.holds()
}

// marks is something that differs whenever anything has happened.
func (s *sim) marks() (n int64, err error) {
	if s.opt.Pulls {
		return s.pullMarks()
	}
	if s.opt.Issues {
		return s.issueMarks()
	}
	err = s.st.View(s.ctx, func(r store.Reader) error {
		_, n, err = r.Log.Bounds()
		return err
	})
	return n, err
}

// open lists the stages of tasks that have not ended.
var open = coppice.Stages[:len(coppice.Stages)-1]

// help answers every question, and retries or lands what waits for a person.
func (s *sim) help() error {
	var tasks []coppice.Task
	err := s.st.View(s.ctx, func(r store.Reader) (err error) {
		tasks, err = r.Tasks.List(store.TaskFilter{OldFirst: true, Stages: open})
		return err
	})
	if err != nil {
		return err
	}
	for _, t := range tasks {
		switch {
		case t.Stage == coppice.StageSession:
			_, err = s.intake.Answer(s.ctx, t.Key, 0, "yes")
		case t.Stage == coppice.StagePull:
			err = s.helpPull(t)
		case t.Stage.Awaits(), verb.YourTurn(t):
			err = s.land(t.Key)
		case t.Planned() && verb.WaitsForPerson(t):
			err = s.helpFlow(t)
		case t.Stage == coppice.StageWaiting && t.Failure != nil && t.Failure.Of != "":
			if err = s.raiseAbove(t); refused(err) { // it has ended
				_, err = s.intake.Ask(s.ctx, t.Key, coppice.VerbRetry, verb.Request{})
			}
		case t.Stage == coppice.StageWaiting && t.Wait != nil && t.Wait.On == coppice.WaitPerson:
			if _, err = s.intake.Answer(s.ctx, t.Key, 0, "yes"); err == nil {
				continue
			}
			if err = s.choose(t); err == nil {
				continue
			}
			_, err = s.intake.Ask(s.ctx, t.Key, coppice.VerbRetry, verb.Request{})
		case t.Stage == coppice.StageQueued:
			err = s.intake.ClearLimit(s.ctx, t.Next.Agent)
		}
		if err != nil && !refused(err) {
			return err
		}
	}
	if err := s.decideBase(); err != nil {
		return err
	}
	for _, p := range []string{"p", "p2"} {
		if _, err := s.intake.Pause(s.ctx, p, "side", false); err != nil && !refused(err) {
			return err
		}
		if _, err := s.intake.Pause(s.ctx, p, "main", false); err != nil && !refused(err) {
			return err
		}
	}
	return nil
}

// atRest is what must be true when nothing moves any more.
func (s *sim) atRest(r store.Reader) error {
	if err := s.tasksHold(r); err != nil {
		return err
	}
	tasks, err := r.Tasks.List(store.TaskFilter{OldFirst: true})
	if err != nil {
		return err
	}
	stuck := map[int64]bool{}
	for _, t := range tasks {
		if t.Ended() {
			stuck[t.ID] = t.Outcome != coppice.OutcomeDone
			continue
		}
		waits := false
		for _, d := range t.After {
			waits = waits || stuck[d]
		}
		stuck[t.ID] = true
		if !waits {
			return fmt.Errorf("%s cannot continue: stage %s, wait %+v, failure %+v", t.Key, t.Stage, t.Wait, t.Failure)
		}
	}
	if keys := s.running(); len(keys) > 0 {
		return fmt.Errorf("hosts still run: %v", keys)
	}
	live, err := r.Sessions.Live()
	if err != nil || len(live) > 0 {
		return fmt.Errorf("%d sessions still live: %w", len(live), err)
	}
	if err := errors.Join(s.talkHolds(r, tasks), s.pullsAtRest(r)); err != nil {
		return err
	}
	if err := s.needsHold(r); err != nil {
		return err
	}
	if err := s.requeuesHold(r, tasks); err != nil {
		return err
	}
	counts, err := r.Work.Count()
	if err != nil {
		return err
	}
	for state, n := range counts {
		if n > 0 {
			return fmt.Errorf("%d items of work are still %s", n, state)
		}
	}
	if err := errors.Join(s.looksHold(), s.branchesHold(r)); err != nil {
		return err
	}
	for key, ws := range s.world.spaces {
		t, err := r.Tasks.ByKey(key)
		if err != nil {
			return err
		}
		row, err := r.Workspaces.Of(t.ID)
		if err != nil {
			return err
		}
		if !ws.removed && t.Outcome != coppice.OutcomeFailed && t.Ended() && (row == nil || !row.Kept) {
			return fmt.Errorf("the workspace of %s (%s) was left behind", key, t.Outcome)
		}
	}
	return nil
}
