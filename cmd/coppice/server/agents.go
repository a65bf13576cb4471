package server

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"coppice"
	"coppice/agent/profiles"
	"coppice/api"
	doctor "coppice/cmd/coppice/setup"
	"coppice/worker"
)

// FindAgents looks for every agent that there is a profile of, those of a
// project included, in an environment. Programs are asked under ctx.
func FindAgents(ctx context.Context, self string, env []string, own map[string]coppice.Profile) []doctor.Agent {
	set, err := profiles.Load()
	if err == nil {
		set, err = set.With(own)
	}
	if err != nil {
		return []doctor.Agent{{Name: "profiles", Problem: err.Error()}}
	}
	set = set.Self(self)
	names := set.Names()
	found := make([]doctor.Agent, len(names))
	// Each takes a moment to tell its version and its login, so they are asked
	// side by side.
	var probes sync.WaitGroup
	for i, name := range names {
		probes.Go(func() { found[i] = look(ctx, name, set[name], env) })
	}
	probes.Wait()
	return found
}

// look finds one agent and asks its version and its login.
func look(ctx context.Context, name string, p coppice.Profile, env []string) doctor.Agent {
	a := doctor.Agent{
		Name: name, Tested: p.Tested, Install: p.Install, Protocol: p.Protocol, Can: Abilities(p),
		Lead: p.Scores.Lead, Implement: p.Scores.Implement, Models: p.Models, LoginEnv: p.LoginEnv, Source: p.Source,
	}
	// An agent is asked in the environment in which it works, and is told no more
	// than there; what would tell of a login is looked for besides.
	passed := p
	passed.PassEnv = slices.Concat(p.PassEnv, p.LoginEnv)
	env = worker.AgentEnv(env, passed)
	if profiles.Installed(name, p, env) != nil {
		return a
	}
	var login profiles.LoginFound
	var probes sync.WaitGroup
	probes.Go(func() { login = profiles.Login(ctx, p, env) })
	path, version, err := profiles.Find(ctx, name, p, env)
	probes.Wait()
	if err != nil {
		a.Problem = err.Error()
		return a
	}
	a.Path = path
	if len(p.LoginEnv)+len(p.LoginFiles)+len(p.Login) > 0 { // else it needs none, as far as is known
		a.Login, a.LoginBy = string(login.State), login.By
	}
	if a.Version = version; version == "" {
		a.Version = doctor.NoVersion
	}
	return a
}

// lookFor is how long what was found of the agents is told again.
const lookFor = time.Minute

// agentLook finds agents, and remembers for a while what it found. Two who ask
// at once share one look. A look outlives the request that began it, and ends
// within its bound: what an agent does not tell by then is not known.
type agentLook struct {
	self string
	env  []string
	now  func() time.Time
	most time.Duration  // that a look may take
	wg   sync.WaitGroup // looks under way

	mu    sync.Mutex
	ended bool
	seen  map[string]*agentView // by the project's own agents
}

type agentView struct {
	done chan struct{} // closed when list and at are there
	list []api.Agent
	at   time.Time
}

// agents implements apihttp.Config's Agents.
func (l *agentLook) agents(ctx context.Context, p *coppice.Project, refresh bool) (api.AgentList, error) {
	var own map[string]coppice.Profile
	if p != nil {
		own = p.Policy.Agents
	}
	v, err := l.view(ctx, own, refresh)
	if err != nil {
		return api.AgentList{}, err
	}
	select {
	case <-v.done:
		return api.AgentList{Agents: v.list, At: v.at}, nil
	case <-ctx.Done():
		return api.AgentList{}, ctx.Err()
	}
}

// view returns a view that is young enough, or begins a new one.
func (l *agentLook) view(ctx context.Context, own map[string]coppice.Profile, refresh bool) (*agentView, error) {
	name := string(coppice.Raw(own))
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return nil, coppice.Errorf(coppice.EUnavailable, "the server is stopping").WithFix("ask again once it has started")
	}
	if v := l.seen[name]; v != nil {
		select {
		case <-v.done:
			if !refresh && l.now().Sub(v.at) < lookFor {
				return v, nil
			}
		default: // somebody is looking
			return v, nil
		}
	}
	if l.seen == nil || len(l.seen) > 64 { // projects change their agents now and then
		l.seen = map[string]*agentView{}
	}
	v := &agentView{done: make(chan struct{})}
	l.seen[name] = v
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.most)
	l.wg.Go(func() {
		defer cancel()
		defer close(v.done)
		for _, a := range FindAgents(ctx, l.self, l.env, own) {
			_, ours := own[a.Name]
			v.list = append(v.list, agentOf(a, ours))
		}
		v.at = l.now().UTC()
	})
	return v, nil
}

// stop waits for looks under way and lets none begin.
func (l *agentLook) stop() {
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	l.wg.Wait()
}

func agentOf(a doctor.Agent, own bool) api.Agent {
	out := api.Agent{
		Name: a.Name, Own: own, Path: a.Path, Version: a.Version, Tested: a.Tested, Install: a.Install, Problem: strings.TrimSpace(a.Problem),
		Login: a.Login, LoginBy: a.LoginBy, LoginEnv: a.LoginEnv, Protocol: a.Protocol, Can: slices.Clone(a.Can),
		Scores: coppice.Scores{Lead: a.Lead, Implement: a.Implement}, Models: a.Models, Source: a.Source,
	}
	if a.Version != "" {
		out.Version, out.Warnings = a.Number(), a.Warnings()
	}
	return out
}
