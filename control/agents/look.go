package agents

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"coppice"
	"coppice/api"
)

// lookFor is how long what was found of the agents is used again.
const lookFor = time.Minute

// Look finds agents, and remembers for a while what it found. Two who ask
// at once share one look. A look outlives the request that began it, and ends
// within its bound: what an agent does not tell by then is not known.
type Look struct {
	search Search
	now    func() time.Time
	most   time.Duration  // that a look may take
	wg     sync.WaitGroup // looks under way

	mu    sync.Mutex
	ended bool
	seen  map[string]*agentView // by the project's own agents
}

// NewLook makes a Look. Most bounds how long one look may take.
func NewLook(s Search, now func() time.Time, most time.Duration) *Look {
	return &Look{search: s, now: now, most: most}
}

type agentView struct {
	done chan struct{} // closed when list and at are there
	list []api.Agent
	at   time.Time
}

// Agents returns the agents as a project sees them; nil means none in particular.
// Refresh asks for a new look where an older one would do.
func (l *Look) Agents(ctx context.Context, p *coppice.Project, refresh bool) (api.AgentList, error) {
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
func (l *Look) view(ctx context.Context, own map[string]coppice.Profile, refresh bool) (*agentView, error) {
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
		for _, a := range l.search.Find(ctx, own) {
			_, ours := own[a.Name]
			v.list = append(v.list, agentOf(a, ours))
		}
		v.at = l.now().UTC()
	})
	return v, nil
}

// Stop waits for looks under way and lets none begin.
func (l *Look) Stop() {
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	l.wg.Wait()
}

func agentOf(a Agent, own bool) api.Agent {
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
