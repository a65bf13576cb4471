package sim

import (
	"fmt"
	"strings"

	"coppice"
	"coppice/store"
)

// retryPolicy is what a project or a task says about failed sessions, if anything.
func (s *sim) retryPolicy() string {
	if s.opt.Plain {
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

// usedTry reports whether a session's failure is one after which another session
// would try.
func usedTry(x coppice.Session) bool {
	if x.Failure == nil || x.Role.Info().Prepares || x.Screen || x.StopWhy == coppice.StopTaken {
		return false
	}
	switch x.Failure.Class {
	case coppice.ClassRateLimit, coppice.ClassOverload, coppice.ClassAuth, coppice.ClassBilling, coppice.ClassBudget, coppice.ClassDayBudget,
		coppice.ClassCapability, coppice.ClassDisk, coppice.ClassCancelled:
		return false
	}
	return true
}

// retriesHold looks at the sessions of a task's round. With the policy none, no
// session follows one that failed, unless a person asked for it. An analysis
// follows only a failed session, and only with the policy analyze. It counts
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
	policy := p.Policy.RetryFor(t)
	for i, x := range list {
		if i == 0 || list[i-1].Round != x.Round {
			if x.Role == coppice.RoleAnalyze {
				return fmt.Errorf("%s analyzes nothing", x.Key)
			}
			continue
		}
		before := list[i-1]
		switch {
		case x.Role == coppice.RoleAnalyze && (policy != coppice.RetryAnalyze || before.State == coppice.SessionDone && before.Failure == nil && t.Wants == coppice.WantsChange && before.Head != before.From):
			return fmt.Errorf("%s analyzes %s, with the policy %s", x.Key, before.Key, policy)
		case policy == coppice.RetryNone && usedTry(before) && !before.State.Live():
			return fmt.Errorf("%s follows %s, which failed (%s), with the policy none", x.Key, before.Key, before.Failure.Class)
		case x.Role == coppice.RoleAnalyze && x.Budget > coppice.RoleAnalyze.Info().Budget:
			return fmt.Errorf("%s can spend %v", x.Key, x.Budget)
		}
		if before.Role != coppice.RoleAnalyze || before.Summary == "" || before.Failure != nil || x.Role == coppice.RoleAnalyze || x.Screen {
			continue
		}
		full, err := r.Sessions.Get(x.ID)
		if err != nil {
			return err
		}
		if strings.Contains(full.Prompt, before.Summary) {
			s.diagnosed[x.ID] = true
		}
	}
	return nil
}
