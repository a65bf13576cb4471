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

// reuseFor is how long a result of the search is reused.
const reuseFor = time.Minute

// Cache finds agents and caches the result. Requests at the same time share one
// search. A search outlives the request that started it, and has a time limit:
// what an agent has not reported by then is unknown.
type Cache struct {
	search Search
	now    func() time.Time
	most   time.Duration  // that a search can take
	wg     sync.WaitGroup // running searches

	mu    sync.Mutex
	ended bool
	seen  map[string]*agentView // by the agents of the project
}

// NewCache makes a Look. A search takes at most most.
func NewCache(s Search, now func() time.Time, most time.Duration) *Cache {
	return &Cache{search: s, now: now, most: most}
}

type agentView struct {
	done chan struct{} // closed when list and at are set
	list []api.Agent
	at   time.Time
}

// Agents returns the agents, with those of a project if it is not nil. Refresh
// starts a new search.
func (l *Cache) Agents(ctx context.Context, p *coppice.Project, refresh bool) (api.AgentList, error) {
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

// view returns a recent result, or starts a new search.
func (l *Cache) view(ctx context.Context, own map[string]coppice.Profile, refresh bool) (*agentView, error) {
	name := string(coppice.Raw(own))
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return nil, coppice.Errorf(coppice.EUnavailable, "the server is stopping").WithFix("try again when it has started")
	}
	if v := l.seen[name]; v != nil {
		select {
		case <-v.done:
			if !refresh && l.now().Sub(v.at) < reuseFor {
				return v, nil
			}
		default: // a search is running
			return v, nil
		}
	}
	if l.seen == nil || len(l.seen) > 64 { // drop results of old configurations
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

// Stop waits for running searches and starts no more.
func (l *Cache) Stop() {
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	l.wg.Wait()
}

func agentOf(a Agent, own bool) api.Agent {
	out := api.Agent{
		Name: a.Name, Own: own, Path: a.Path, Version: a.Version, Tested: a.Tested, Unproven: a.Unproven, Install: a.Install, Problem: strings.TrimSpace(a.Problem),
		Login: a.Login, LoginBy: a.LoginBy, LoginEnv: a.LoginEnv, Settings: a.Settings, Protocol: a.Protocol, Can: slices.Clone(a.Can),
		Scores: coppice.Scores{Lead: a.Lead, Implement: a.Implement}, Models: a.Models, Efforts: a.Efforts, Source: a.Source,
	}
	if a.Version != "" {
		out.Version, out.Warnings = a.Number(), a.Warnings()
	}
	return out
}
