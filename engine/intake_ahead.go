package engine

import (
	"cmp"
	"context"

	"coppice"
	"coppice/flow"
	"coppice/store"
)

// ahead returns an Intake that has looked up the agents of new tasks. Whether an agent
// is installed is a question to the file system, for whose answer no transaction should
// wait.
func (i *Intake) ahead(ctx context.Context, project string, asked []coppice.NewTask) (*Intake, error) {
	var p coppice.Project
	err := i.store.View(ctx, func(r store.Reader) (err error) {
		p, err = r.Projects.ByPrefix(project)
		return err
	})
	if err != nil {
		return nil, err
	}
	known := map[string]error{}
	var usable []flow.Agent
	looked := false
	for _, n := range asked {
		if n.Flow != nil && !looked && i.usable != nil {
			usable, looked = i.usable(p), true
		}
		t, err := requestedTask(p, n)
		if err != nil {
			continue // the transaction refuses it
		}
		name := cmp.Or(t.Agent, p.Policy.AgentFor(t.FirstRole()))
		if _, done := known[name]; !done && name != "" {
			known[name] = i.known(p, name)
		}
	}
	c := *i
	c.known = func(p coppice.Project, agent string) error {
		if err, done := known[agent]; done {
			return err
		}
		return i.known(p, agent)
	}
	if looked {
		c.usable = func(coppice.Project) []flow.Agent { return usable }
	}
	return &c, nil
}

// agentsFor returns the agents that a flow can use. Those whose account is limited now
// are marked, and come last.
func (i *Intake) agentsFor(r store.Reader, p coppice.Project) ([]flow.Agent, error) {
	if i.usable == nil {
		return nil, nil
	}
	limits, err := r.Limits.All()
	if err != nil {
		return nil, err
	}
	var free, limited []flow.Agent
	for _, a := range i.usable(p) {
		for _, l := range limits {
			a.Limited = a.Limited || l.Holds(i.now()) && l.For(a.Name)
		}
		if a.Limited {
			limited = append(limited, a)
		} else {
			free = append(free, a)
		}
	}
	return append(free, limited...), nil
}
