package sim

import (
	"fmt"
	"slices"

	"coppice"
	"coppice/store"
)

// accounts are the ones whose limits people clear at random.
var accounts = []string{"alpha", "beta", "alpha:small", "beta:big"}

// limits are the classes of failure by which an account, or an agent, is out.
var limits = []coppice.Class{coppice.ClassRateLimit, coppice.ClassRateLimit, coppice.ClassOverload, coppice.ClassCapability, coppice.ClassAuth}

// modelled has some projects fall back on models, in any order with the agents.
func (s *sim) modelled(p *coppice.Policy) {
	if s.opt.Plain || s.rng.IntN(2) == 0 {
		return
	}
	entries := append([]string{"alpha:small", "beta:big"}, p.Agent.Fallback...)
	s.rng.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
	p.Agent.Fallback = entries
	p.Agent.Model = []string{"", "big", coppice.ModelAuto}[s.rng.IntN(3)]
}

// models are what every agent's profile names for each level of work.
func models(string, *coppice.Profile) map[string]string {
	return map[string]string{"simple": "small", "medium": "big", "complex": "big"}
}

// accountsHold checks that no limit was active for the sessions that were started
// just now. A limit with an end belongs to the agent, or to the model where the
// project falls back on it, or the account has a budget. Any other limit belongs to the whole agent.
func (s *sim) accountsHold(r store.Reader, live []coppice.Session) error {
	known, err := r.Limits.All()
	if err != nil {
		return err
	}
	for _, x := range live {
		if !x.CreatedAt.Equal(s.now) {
			continue
		}
		p, err := r.Projects.Get(x.ProjectID)
		if err != nil {
			return err
		}
		account := x.Agent
		if one := x.Agent + ":" + x.Model; x.Model != "" && (slices.Contains(p.Policy.Agent.Fallback, one) || s.budgets[one] > 0) {
			account = one
		}
		for _, l := range known {
			if l.Until.IsZero() && l.Agent == x.Agent || l.Until.After(s.now) && l.Agent == account {
				return fmt.Errorf("%s was started with %s %s, and %+v holds", x.Key, x.Agent, x.Model, l)
			}
		}
	}
	return nil
}
