package sim

import (
	"fmt"
	"strings"

	"coppice"
	"coppice/store"
)

// blocks are the results of moves that a checkout blocks. The first word of each
// text says what a person has to do, if anything.
var blocks = []coppice.MoveResult{
	{},
	{Blocked: "lock: another git command runs"},
	{Blocked: "checkout: f1 has changes", Need: &coppice.Need{Kind: coppice.NeedCheckout, Text: "checkout: f1 has changes", Paths: []string{"f1"}}},
	{Blocked: "checkout: f2 has changes", Need: &coppice.Need{Kind: coppice.NeedCheckout, Text: "checkout: f2 has changes", Paths: []string{"f2"}}},
	{Blocked: "git: a setting changed", Need: &coppice.Need{Kind: coppice.NeedGit, Text: "git: a setting changed"}},
}

// dirty changes a checkout. The server notices that, or it does not.
func (s *sim) dirty() error {
	path := fmt.Sprintf("/repo/%d", s.rng.IntN(len(s.world.repos)))
	r := s.world.repos[path]
	if s.opt.Plain {
		r.block = 1 - r.block
		return nil
	}
	if r.block = s.rng.IntN(len(blocks)); s.rng.IntN(3) == 0 {
		r.block = 0
	}
	if s.rng.IntN(3) == 0 {
		return nil
	}
	for _, p := range s.projects {
		if p.Path == path {
			return s.intake.RetryLanding(s.ctx, p.ID, "it changed")
		}
	}
	return nil
}

// edit is a person who edits the checkout while work lands, for a while.
func (s *sim) edit(r *repo) {
	switch {
	case s.opt.Plain:
	case r.edits < 12:
		if s.rng.IntN(2) == 0 {
			r.edits++
			r.block = s.rng.IntN(len(blocks))
		}
	case s.calm:
		r.block = 0
	}
}

// needsHold: a project has the need that the first landing of its queue waits
// for, and no other.
func (s *sim) needsHold(r store.Reader) error {
	for _, known := range s.projects {
		p, err := r.Projects.Get(known.ID)
		if err != nil {
			return err
		}
		q, err := r.Queues.Of(p.ID, "")
		if err != nil {
			return err
		}
		first, err := r.Landings.Queued(q.ID, 1)
		if err != nil {
			return err
		}
		want := ""
		if len(first) > 0 {
			if kind, _, ok := strings.Cut(first[0].Waits, ":"); ok && (kind == string(coppice.NeedCheckout) || kind == string(coppice.NeedGit)) {
				want = kind + " " + first[0].Waits
			}
		}
		var got []string
		for _, n := range p.Needs {
			if n.Kind != coppice.NeedCheckout && n.Kind != coppice.NeedGit {
				continue
			}
			got = append(got, string(n.Kind)+" "+n.Text)
			if n.Since.IsZero() {
				return fmt.Errorf("nobody knows since when %s needs somebody: %s", p.Prefix, n.Text)
			}
		}
		if strings.Join(got, ", ") != want {
			return fmt.Errorf("%s has the needs %q, its queue waits for %q", p.Prefix, got, want)
		}
	}
	return nil
}

// queueReasons checks that every task in a landing queue but the first names the
// first one and has its reason.
func (s *sim) queueReasons(r store.Reader) error {
	for _, p := range s.projects {
		q, err := r.Queues.Of(p.ID, "")
		if err != nil {
			return err
		}
		queued, err := r.Landings.Queued(q.ID, 100)
		if err != nil {
			return err
		}
		now, err := r.Projects.Get(p.ID)
		if err != nil {
			return err
		}
		if len(queued) == 0 || now.Need(coppice.NeedBase) != nil { // then all of them wait for the person
			continue
		}
		var tasks []coppice.Task
		for _, l := range queued {
			t, err := r.Tasks.Get(l.TaskID)
			if err != nil {
				return err
			}
			tasks = append(tasks, t)
		}
		st, err := s.eng.Statuses(s.ctx, r, tasks)
		if err != nil {
			return err
		}
		for i, t := range tasks {
			switch {
			case st[i].Status != coppice.StatusLanding:
				return fmt.Errorf("%s is in the queue, and it is %s", t.Key, st[i].Status)
			case i == 0 && st[i].Reason != queued[0].WaitsFor() && !strings.HasPrefix(st[i].Reason, "waiting for a check slot"):
				return fmt.Errorf("%s waits with %q, its status says %q", t.Key, queued[0].WaitsFor(), st[i].Reason)
			case i > 0 && (!strings.Contains(st[i].Reason, tasks[0].Key) || !strings.Contains(st[i].Reason, queued[0].Waits)):
				return fmt.Errorf("%s waits behind %s (%q) and says %q", t.Key, tasks[0].Key, queued[0].Waits, st[i].Reason)
			}
		}
	}
	return nil
}
