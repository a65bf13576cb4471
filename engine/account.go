package engine

import (
	"slices"

	"coppice"
)

// Limited has the limits that hold now, by account.
type Limited map[string]coppice.AgentLimit

// of returns the limit that holds for an account; one that a person must mend
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

// account names whose limits hold for a session of an agent with a model, which
// may be auto.
func (v *View) account(agent, model string) string {
	if model == coppice.ModelAuto {
		model = ""
		if v.Auto != nil {
			model = v.Auto(agent)
		}
	}
	return v.Project.Policy.Agent.Account(agent, model)
}

// first is the account of the task's first choice.
func (v *View) first() string { return v.account(v.Task.Agent, v.Task.Model) }

// standsIn tells whether a session has the task's agent with another model,
// since its own choice cannot be used.
func (v *View) standsIn(s *coppice.Session) bool {
	a := v.account(s.Agent, s.Model)
	return s.Agent == v.Task.Agent && a != v.first() && slices.Contains(v.Project.Policy.Agent.Fallback, a)
}

// ranAs is the account of a session that its run tells of. A model that nobody
// asked for is only what the agent says it uses: such a session waited for the
// agent itself.
func ranAs(v *View, s *coppice.Session, w coppice.Work) string {
	spec, err := coppice.DecodeSpec[coppice.RunSpec](w)
	changed := func(m coppice.Message) bool {
		return m.SessionID == s.ID && m.Kind == coppice.MessageModel && !m.DeliveredAt.IsZero()
	}
	if err == nil && spec.Session.Model == "" && !slices.ContainsFunc(v.Heard, changed) {
		return s.Agent
	}
	return v.account(s.Agent, s.Model)
}

// metBy is the account that a session's failure is one of.
func metBy(s *coppice.Session) string {
	if s.Failure != nil && s.Failure.Account != "" {
		return s.Failure.Account
	}
	return s.Agent
}

// standIn returns a session for the first choice, or else the first fallback,
// whose account is not limited, is another one, and has not failed the task in
// this round for want of ability; or nil. Only restricts it to one agent.
func standIn(v *View, account string, role coppice.Role, only string) *coppice.Next {
	unable, shutOff := map[string]bool{account: true}, map[string]bool{}
	for i := range v.Sessions {
		o := &v.Sessions[i]
		if o.Failure == nil {
			continue
		}
		switch remedies[o.Failure.Class] {
		case elsewhere:
			unable[metBy(o)] = true
		case shut:
			shutOff[o.Agent] = true
		}
	}
	choices := []coppice.Next{{Agent: v.Task.Agent, Model: v.Task.Model}}
	for _, entry := range v.Project.Policy.Agent.Fallback {
		agent, model := coppice.SplitChoice(entry)
		if model == "" && v.Task.Model == coppice.ModelAuto {
			model = coppice.ModelAuto
		}
		choices = append(choices, coppice.Next{Agent: agent, Model: model})
	}
	for _, c := range choices {
		a := v.account(c.Agent, c.Model)
		if _, limited := v.Limited.of(a); limited || unable[a] || shutOff[c.Agent] || only != "" && c.Agent != only {
			continue
		}
		c.Role = role
		return &c
	}
	return nil
}

// inLane is a session that is to be queued, with its account.
func inLane(v *View, n *coppice.Next) *coppice.Next {
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

// relane moves a queued task whose account has become another one: a person
// changed its model or its words, or the project's policy changed.
func relane(v *View) *Decision {
	n := v.Task.Next
	if v.Task.Stage != coppice.StageQueued || n == nil || *inLane(v, n) == *n {
		return nil
	}
	d := enqueue(v, n, "waits for "+v.account(n.Agent, n.Model))
	d.By = "limits"
	return d
}
