package sim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"coppice"
	"coppice/forge"
	"coppice/reaction"
	"coppice/store"
)

// mergeHolds checks that Coppice merges only what it has proven.
func (s *sim) mergeHolds(task int64, v coppice.ForgeWriteSpec) error {
	return s.st.View(s.ctx, func(r store.Reader) error {
		landings, err := r.Landings.Of(task)
		for _, l := range landings {
			if l.Head == v.Head && l.Green {
				return nil
			}
		}
		return errors.Join(err, fmt.Errorf("#%d is merged at %s, which is not proven", v.Number, v.Head))
	})
}

// pullsHold checks requests after a turn: a forge is read while a request is open and
// not otherwise, and what waits for a forge says so.
func (s *sim) pullsHold(r store.Reader) error {
	if s.pulling == nil {
		return nil
	}
	for _, p := range s.projects {
		open, err := openPulls(r, p.ID)
		if err != nil {
			return err
		}
		row, err := r.Forges.Of(p.ID)
		if err != nil {
			return err
		}
		work, err := r.Work.Unsettled(coppice.ForgeSubject(p.ID))
		switch {
		case err != nil:
			return err
		case len(open) == 0 && len(work) == 0 && !row.NextAt.IsZero() && !row.NextAt.After(s.now):
			return fmt.Errorf("the forge of %s is read at %s, and no request is open", p.Prefix, row.NextAt)
		case len(open) > 0 && row.NextAt.IsZero() && len(work) == 0:
			return fmt.Errorf("%s has %d open requests, and nobody reads the forge", p.Prefix, len(open))
		}
	}
	tasks, err := r.Tasks.List(store.TaskFilter{Stages: []coppice.Stage{coppice.StagePull}})
	if err != nil || len(tasks) == 0 {
		return err
	}
	statuses, err := s.eng.Statuses(s.ctx, r, tasks)
	for i, st := range statuses {
		if st.Reason == "" {
			return fmt.Errorf("%s waits for its request without a reason", tasks[i].Key)
		}
	}
	return err
}

// openPulls returns the requests of a project that its forge has and that are open.
func openPulls(r store.Reader, project int64) (open []coppice.Pull, err error) {
	all, err := r.Pulls.Followed(project)
	for _, f := range all {
		p, err := r.Pulls.Of(f.TaskID)
		if err != nil {
			return nil, err
		}
		open = append(open, *p)
	}
	return open, err
}

// pullMarks counts the events except those of reading forges, which continues while
// a request is open.
func (s *sim) pullMarks() (int64, error) {
	pl := s.pulling
	err := s.st.View(s.ctx, func(r store.Reader) error {
		for {
			events, err := r.Log.Events(pl.seq, 500, store.EventFilter{})
			if err != nil || len(events) == 0 {
				return err
			}
			for _, e := range events {
				pl.seq = e.Seq
				if e.Kind != coppice.EventForgeRead && e.By != "forge" && e.Kind != coppice.EventWorkFinished {
					pl.marks++
				}
			}
		}
	})
	return pl.marks, err
}

// endPulls continues a history in which nothing happens any more except that forges
// are read: what webhooks did not report is known, and then people merge or close
// what is open. It reports whether something changed.
func (s *sim) endPulls() (bool, error) {
	before, err := s.pullMarks()
	if err != nil {
		return false, err
	}
	s.now = s.now.Add(11 * time.Minute) // no request is read in every pass any more
	for _, f := range s.pulling.forges {
		for _, p := range f.requests {
			if p.State == coppice.PullOpen && p.finished == 0 { // CI repeats a check, which no list shows and no webhook reports
				p.Checks = []coppice.PullCheck{{Name: "build", State: coppice.CIPassed, Text: "repeated"}}
			}
		}
	}
	s.now = s.now.Add(31 * time.Minute)
	for range 5 {
		s.now = s.now.Add(11 * time.Minute) // a pass might have begun before
		if err := s.round(); err != nil {
			return false, err
		}
	}
	if after, err := s.pullMarks(); err != nil || after != before {
		return true, err
	}
	if err := s.st.View(s.ctx, s.reportsHold); err != nil {
		return false, err
	}
	acted := false
	for _, last := range []bool{false, true} { // those at the bottom of a stack first
		for _, f := range s.pulling.forges {
			for _, p := range f.requests {
				if p.State == coppice.PullOpen && (p.Base == "main" || last) && (!last || !acted) {
					acted = true
					if err := s.finishPull(f, p); err != nil {
						return false, err
					}
				}
			}
		}
	}
	return acted, nil
}

// reportsHold checks that Coppice knows every open request as its forge has it.
func (s *sim) reportsHold(r store.Reader) error {
	for _, known := range s.projects {
		open, err := openPulls(r, known.ID)
		if err != nil {
			return err
		}
		f := s.forgeOf(known.Path)
		for _, p := range open {
			if got, want := coppice.Raw(p.Report), coppice.Raw(forge.Clip(f.read(f.request(p.Number)))); !bytes.Equal(got, want) {
				return fmt.Errorf("#%d of %s is known as\n%s, and its forge has\n%s", p.Number, known.Prefix, got, want)
			}
		}
	}
	return nil
}

// finishPull is a person who merges a request, or asks Coppice to, or closes it.
func (s *sim) finishPull(f *forgeRepo, p *request) error {
	var row *coppice.Pull
	var task coppice.Task
	err := s.st.View(s.ctx, func(r store.Reader) (err error) {
		if task, err = r.Tasks.ByKey(s.world.branchOf[p.Branch]); err == nil {
			row, err = r.Pulls.Of(task.ID)
		}
		return err
	})
	if err != nil {
		return err
	}
	p.finished++
	switch {
	case f.conflicts(p) || p.Draft || p.Base != "main" || p.finished > 3:
		f.end(p, coppice.PullClosed)
	case task.Ended() || row.Pushed != f.head(p) || s.pulling.rng.IntN(2) == 0:
		f.merge(p)
	default:
		p.Checks = []coppice.PullCheck{{Name: "build", State: coppice.CIPassed}}
		f.review(p, "ann", coppice.ReviewApproved)
		f.review(p, "bob", coppice.ReviewApproved)
		if p.State == coppice.PullOpen {
			if err := s.land(task.Key); err != nil && !refused(err) {
				return err
			}
		}
	}
	return nil
}

// helpPull is a person who helps a task whose request has a problem: somebody else
// pushed to its branch. What waits for a merge is left to endPulls.
func (s *sim) helpPull(t coppice.Task) error {
	var row *coppice.Pull
	err := s.st.View(s.ctx, func(r store.Reader) (err error) {
		row, err = r.Pulls.Of(t.ID)
		return err
	})
	if err != nil || row == nil || row.Tries == 0 {
		return err
	}
	for _, f := range s.pulling.forges {
		if p := f.opened(row.Branch); p != nil {
			return s.finishPull(f, p)
		}
		if !f.pushed[f.branches[row.Branch]] {
			delete(f.branches, row.Branch) // somebody pushed to it after its request had ended
		}
	}
	return nil
}

// pullsAtRest checks requests when nothing moves any more: none is open, and what was
// merged has landed here.
func (s *sim) pullsAtRest(r store.Reader) error {
	if s.pulling == nil {
		return nil
	}
	s.pulling.Landed = 0
	for _, known := range s.projects {
		open, err := openPulls(r, known.ID)
		if err != nil || len(open) > 0 {
			return fmt.Errorf("%s has open requests at the end: %+v: %w", known.Prefix, open, err)
		}
		for _, p := range s.forgeOf(known.Path).requests {
			t, err := r.Tasks.ByKey(s.world.branchOf[p.Branch])
			if err != nil {
				return err
			}
			row, err := r.Pulls.Of(t.ID)
			if err != nil || p.State != coppice.PullMerged || row.Number != p.Number {
				continue
			}
			switch {
			case row.Report.State != coppice.PullMerged && p.known != coppice.PullClosed && !row.EndedAt.Before(p.changed):
				return fmt.Errorf("#%d of %s was merged, and Coppice knows it as %s", p.Number, t.Key, row.Report.State)
			case row.Report.State == coppice.PullMerged && !s.world.within(p.Merged, s.world.repos[known.Path].base):
				return fmt.Errorf("#%d of %s was merged as %s, which did not land: the task is %s, %v", p.Number, t.Key, p.Merged, t.Stage, t.Failure)
			}
			s.pulling.Landed++
		}
	}
	return nil
}

var outsideText = regexp.MustCompile(`outside\d+x`)

// pullsHeld checks the whole history of reactions: one entry for each event, no more
// of them than a rule allows, each comment in one message, and no text from outside
// where it must not be.
func (s *sim) pullsHeld(r store.Reader, events []coppice.Event) (pulls, error) {
	if s.pulling == nil {
		return pulls{}, nil
	}
	tally := s.pulling.pulls
	seen, sent, acted := map[string]bool{}, map[string]string{}, map[string]int{}
	ended := 0 // commands of reactions, also those that a worker could not start
	for _, e := range events {
		if e.Kind == coppice.EventHookEnded {
			ended++
		}
		if e.Kind != coppice.EventReaction {
			continue
		}
		var re coppice.Reacted
		if err := json.Unmarshal(e.Data, &re); err != nil {
			return tally, err
		}
		t, err := r.Tasks.Get(e.TaskID)
		if err != nil {
			return tally, err
		}
		p, err := r.Projects.Get(e.ProjectID)
		if err != nil {
			return tally, err
		}
		tally.Reacted++
		if id := t.Key + " " + re.Key; seen[id] {
			return tally, fmt.Errorf("%s reacted to %s twice", t.Key, re.Key)
		} else {
			seen[id] = true
		}
		if merged := s.forgeOf(p.Path).ended(t, coppice.PullMerged); re.Event == coppice.OnMerged {
			if acted[t.Key+" merged"]++; acted[t.Key+" merged"] > merged {
				return tally, fmt.Errorf("%d requests of %s were merged, and it reacted to more", merged, t.Key)
			}
		}
		switch re.Do {
		case coppice.ReactRun:
			tally.Run++
		case coppice.ReactNotify:
			if re.Why != "" {
				tally.Limited++
			}
		case coppice.ReactSend, coppice.ReactTask:
			tally.Sent++
			id := fmt.Sprint(t.Key, " ", re.Event, " ", re.Do)
			if acted[id]++; acted[id] > mostReactions(p.Policy, re.Event) {
				return tally, fmt.Errorf("%s: %s was done %d times for %s", t.Key, re.Do, acted[id], re.Event)
			}
		}
		for _, c := range re.Seen {
			if of := sent[t.Key+" "+c]; of != "" {
				return tally, fmt.Errorf("%s: %s is part of %s and of %s", t.Key, c, of, re.Key)
			}
			sent[t.Key+" "+c] = re.Key
		}
	}
	if tally.Run != ended || len(s.pulling.runs) > ended {
		return tally, fmt.Errorf("%d commands of reactions ran, %d ended, and %d were to run", len(s.pulling.runs), ended, tally.Run)
	}
	return tally, s.outsideHolds(r)
}

// ended counts the requests of a task that ended in a way.
func (f *forgeRepo) ended(t coppice.Task, as coppice.PullState) (n int) {
	for _, p := range f.requests {
		if p.Branch == t.BranchName() && p.State == as {
			n++
		}
	}
	return n
}

// mostReactions returns how often the rules of an event act for one request.
func mostReactions(p coppice.Policy, e coppice.ReactionEvent) int {
	most := 0
	for _, rule := range reaction.RulesOf(e, p.Reactions) {
		most = max(most, rule.Retries)
	}
	return most
}

// outsideHolds checks what agents got to read: nothing by people whose texts do not
// count, nothing from outside without trust, and each text in one message.
func (s *sim) outsideHolds(r store.Reader) error {
	tasks, err := r.Tasks.List(store.TaskFilter{})
	if err != nil {
		return err
	}
	for _, t := range tasks {
		p, err := r.Projects.Get(t.ProjectID)
		if err != nil {
			return err
		}
		texts := []string{t.Body}
		sessions, err := r.Sessions.Of(t.ID)
		for _, x := range sessions {
			whole, werr := r.Sessions.Get(x.ID) // lists leave the prompts out
			texts, err = append(texts, whole.Prompt), errors.Join(err, werr)
		}
		messages, merr := r.Messages.Of(t.ID)
		if err = errors.Join(err, merr); err != nil {
			return err
		}
		for _, m := range messages {
			texts = append(texts, m.Text)
		}
		for _, text := range texts {
			for _, token := range outsideText.FindAllString(text, -1) {
				switch said := s.pulling.said[token]; {
				case !said.counts:
					return fmt.Errorf("an agent of %s got %s, whose author does not count", t.Key, token)
				case p.Policy.Trust == "":
					return fmt.Errorf("an agent of %s got %s, and the project trusts no text from outside", t.Key, token)
				}
			}
		}
	}
	return nil
}
