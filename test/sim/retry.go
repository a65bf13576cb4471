package sim

import (
	"fmt"
	"strings"
	"time"

	"coppice"
	"coppice/engine"
	"coppice/store"
)

// retryPolicy is what a project or a task says about failed sessions, if anything.
// Histories of red bases need the sessions that other policies would not start.
func (s *sim) retryPolicy() string {
	if s.opt.Plain || s.opt.Red {
		return ""
	}
	return append([]string{"", ""}, coppice.RetryPolicies...)[s.retries.IntN(5)]
}

// analyze lets an analysis end: with a diagnosis, or with nothing.
func (s *sim) analyze(key string, h *hostState) {
	zero := 0
	res := coppice.RunResult{Exit: &zero, Conversation: "c-" + key, Usage: s.cost()}
	if s.retries.IntN(4) > 0 {
		res.Summary = "diagnosis of " + key
	}
	s.world.end(h, res)
}

// retriesHold looks at the sessions of a task. An analysis follows another session
// of its round, only with the policy analyze, and has its limit of money. It counts
// the sessions that got a diagnosis.
func (s *sim) retriesHold(r store.Reader, t coppice.Task) error {
	p, err := r.Projects.Get(t.ProjectID)
	if err != nil {
		return err
	}
	list, err := r.Sessions.Of(t.ID)
	if err != nil {
		return err
	}
	for i, x := range list {
		first := i == 0 || list[i-1].Round != x.Round
		if x.Role == coppice.RoleAnalyze && (first || p.Policy.RetryFor(t) != coppice.RetryAnalyze || x.Budget == 0 || x.Budget > t.RunLimits(p.Policy, x.Role).Budget) {
			return fmt.Errorf("%s is an analysis with the policy %s: %+v", x.Key, p.Policy.RetryFor(t), x)
		}
		if first || list[i-1].Role != coppice.RoleAnalyze || list[i-1].Summary == "" {
			continue
		}
		full, err := r.Sessions.Get(x.ID)
		if err != nil {
			return err
		}
		if strings.Contains(full.Prompt, list[i-1].Summary) {
			s.diagnosed[x.ID] = true
		}
	}
	return nil
}

// recovered has the times at which tasks were retried automatically, by key.
type recovered map[string][]time.Time

// see takes note of an event: with the policy none nothing is retried, and at most
// three retries of a round are within 30 minutes.
func (m recovered) see(r store.Reader, e coppice.Event) error {
	if e.Kind == coppice.EventTaskRetried || e.Reason == "restarts" {
		delete(m, e.Subject)
	}
	if e.Kind != coppice.EventTaskStage || !strings.HasPrefix(e.Reason, "retries (") {
		return nil
	}
	m[e.Subject] = append(m[e.Subject], e.At)
	if all := m[e.Subject]; len(all) > 3 && e.At.Sub(all[len(all)-4]) < 30*time.Minute {
		return fmt.Errorf("%s was retried at %v: more than 3 times in 30 minutes", e.Subject, all)
	}
	t, err := r.Tasks.ByKey(e.Subject)
	if coppice.ErrorCode(err) == coppice.ENotFound { // its project was removed
		return nil
	}
	if err != nil {
		return err
	}
	p, err := r.Projects.Get(t.ProjectID)
	if err == nil && p.Policy.RetryFor(t) == coppice.RetryNone {
		err = fmt.Errorf("%s was retried with the policy none", t.Key)
	}
	return err
}

// disk fills the disk, or frees it.
func (s *sim) disk() error {
	if s.diskFree = 1 << 40; !s.calm && !s.opt.Plain && !s.opt.Red && s.retries.IntN(2) == 0 {
		s.diskFree = 1 << 20
	}
	return s.fab.Announce(s.ctx, coppice.Node{Name: engine.PoolLocal, MemoryTotal: 100, MemoryUsed: 1, DiskFree: s.diskFree})
}

// diskHolds looks whether a session was started just now although the disk is full.
func (s *sim) diskHolds(live []coppice.Session) error {
	for _, x := range live {
		if x.CreatedAt.Equal(s.now) && s.diskFree > 0 && s.diskFree < uint64(coppice.DefaultDisk) {
			return fmt.Errorf("%s was started with %d bytes of disk", x.Key, s.diskFree)
		}
	}
	return nil
}
