package engine

import (
	"slices"
	"strings"

	"coppice"
)

// Limited has the current limits, by account.
type Limited map[string]coppice.AgentLimit

// of returns the current limit of an account. A limit that a person must fix
// comes first.
func (m Limited) of(account string) (coppice.AgentLimit, bool) {
	agent, _ := coppice.SplitChoice(account)
	for _, name := range []string{agent, account} {
		if l, ok := m[name]; ok && l.For(account) {
			return l, true
		}
	}
	return coppice.AgentLimit{}, false
}

// account returns the account whose limits apply to a session of an agent with a
// model. The model can be auto.
func (v *View) account(agent, model string) string {
	if model == coppice.ModelAuto {
		model = ""
		if v.Auto != nil {
			model = v.Auto(agent)
		}
	}
	if one := agent + ":" + model; model != "" && v.Budgets[one] > 0 {
		return one
	}
	return v.Project.Policy.Agent.Account(agent, model)
}

// preferredAccount returns the account of the task's first choice.
func (v *View) preferredAccount() string { return v.account(v.Task.Agent, v.Task.Model) }

// usesFallback reports whether a session has the task's agent with another
// model, because the task's choice cannot be used.
func (v *View) usesFallback(s *coppice.Session) bool {
	a := v.account(s.Agent, s.Model)
	return s.Agent == v.Task.Agent && a != v.preferredAccount() &&
		slices.ContainsFunc(v.fallbacks(), func(entry string) bool { return v.account(coppice.SplitChoice(entry)) == a })
}

// fallbacks returns the choices that can take over from the task's own. A flow chooses
// the agents of its steps, so that the project's first choice is one of them.
func (v *View) fallbacks() []string {
	a := v.Project.Policy.Agent
	if v.Task.Step == nil || a.Use == "" {
		return a.Fallback
	}
	return append(slices.Clone(a.Fallback), strings.TrimSuffix(a.Use+":"+a.Model, ":"))
}

// accountOfRun returns the account of a session that has run. If nobody chose a
// model, the session waited for the agent itself: the model is only what the
// agent reports.
func accountOfRun(v *View, s *coppice.Session, w coppice.Work) string {
	spec, err := coppice.DecodeSpec[coppice.RunSpec](w)
	changed := func(m coppice.Message) bool {
		return m.SessionID == s.ID && m.Kind == coppice.MessageModel && !m.DeliveredAt.IsZero()
	}
	if err == nil && spec.Session.Model == "" && !slices.ContainsFunc(v.Delivered, changed) {
		return s.Agent
	}
	return v.account(s.Agent, s.Model)
}

// accountOfFailure returns the account to which a session's failure belongs.
func accountOfFailure(s *coppice.Session) string {
	if s.Failure != nil && s.Failure.Account != "" {
		return s.Failure.Account
	}
	return s.Agent
}

// fallbackFor returns a session for the task's choice, or else the first
// fallback, with another account that is not limited and that was able to do the
// task's sessions in this round. It returns nil if there is none. If only is
// set, the agent must be that one.
func fallbackFor(v *View, account string, role coppice.Role, only string) *coppice.Next {
	return fallbackAmong(v, account, role, func(agent string) bool { return only == "" || agent == only })
}

// fallbackAmong is the same for the agents that a function accepts.
func fallbackAmong(v *View, account string, role coppice.Role, accepts func(agent string) bool) *coppice.Next {
	unable, blocked := map[string]bool{account: true}, map[string]bool{}
	for i := range v.Sessions {
		o := &v.Sessions[i]
		if o.Failure == nil || o.Role.Info().Prepares {
			continue
		}
		switch remedies[o.Failure.Class] {
		case fallback:
			unable[accountOfFailure(o)] = true
		case blockAgent:
			blocked[o.Agent] = true
		}
	}
	choices := []coppice.Next{{Agent: v.Task.Agent, Model: v.Task.Model}}
	for _, entry := range v.fallbacks() {
		agent, model := coppice.SplitChoice(entry)
		if model == "" && v.Task.Model == coppice.ModelAuto {
			model = coppice.ModelAuto
		}
		choices = append(choices, coppice.Next{Agent: agent, Model: model})
	}
	for _, c := range choices {
		a := v.account(c.Agent, c.Model)
		if _, limited := v.Limited.of(a); limited || unable[a] || blocked[c.Agent] || !accepts(c.Agent) {
			continue
		}
		c.Role = role
		return &c
	}
	return nil
}

// withAccount returns a session to be queued, with its account.
func withAccount(v *View, n *coppice.Next) *coppice.Next {
	if n == nil {
		return nil
	}
	c := *n
	c.Account = v.account(n.Agent, n.Model)
	if c.Account == c.Agent {
		c.Account = ""
	}
	return &c
}

// requeueForAccount moves a queued task whose account has changed, because a
// person changed its model or its text, or the project's policy changed.
func requeueForAccount(v *View) *Decision {
	n := v.Task.Next
	if v.Task.Stage != coppice.StageQueued || n == nil || *withAccount(v, n) == *n {
		return nil
	}
	d := enqueue(v, n, "waits for "+v.account(n.Agent, n.Model))
	d.By = "limits"
	return d
}
