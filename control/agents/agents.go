// Package agents looks for the agent CLIs that are installed: where they are,
// which version, who is logged in, and what can be done with them.
package agents

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"

	"coppice"
	"coppice/agent/profiles"
	"coppice/worker"
)

// Agent is an agent CLI that Coppice knows.
type Agent struct {
	Name     string   `json:"name"`
	Path     string   `json:"path,omitempty"`     // its program; empty when it is not there
	Version  string   `json:"version,omitempty"`  // as it says itself; empty when it is not there
	Tested   string   `json:"tested,omitempty"`   // the version Coppice was tested with
	Install  string   `json:"install,omitempty"`  // how to get it
	Problem  string   `json:"problem,omitempty"`  // why it does not work although it is there
	Login    string   `json:"login,omitempty"`    // yes, no or unknown; empty when it needs none
	LoginBy  string   `json:"login_by,omitempty"` // the variable, file or command that says so
	LoginEnv []string `json:"login_env,omitempty"`
	Protocol string   `json:"protocol,omitempty"` // how Coppice talks to it
	Can      []string `json:"can,omitempty"`      // what can be done with it

	Deprecated []string `json:"deprecated,omitempty"` // what the project's profile of it should say otherwise

	Lead      int               `json:"lead,omitempty"`      // how well it leads, 0 to 10
	Implement int               `json:"implement,omitempty"` // and implements
	Models    map[string]string `json:"models,omitempty"`    // by the kind of work
	Source    string            `json:"source,omitempty"`    // where facts come from that were not tested
}

// NoVersion is the version of an agent that is there and does not tell it.
const NoVersion = "unknown"

// LoggedOut is the login of an agent that nobody is logged in to.
const LoggedOut = "no"

var versionNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d+(?:\.\d+)+(?:-[0-9A-Za-z.]+)?`) })

// Number is the version without the words that some agents put around it.
func (a Agent) Number() string {
	if n := versionNumber().FindString(a.Version); n != "" {
		return n
	}
	words := strings.Fields(a.Version)
	if len(words) == 0 {
		return a.Version
	}
	return words[len(words)-1]
}

// Warnings tell what is to be seen to before an agent is relied on, and that
// nobody has tried this version: it is used all the same.
func (a Agent) Warnings() []string {
	var all []string
	if a.Login == LoggedOut {
		fix := "nobody is logged in: log in with the program itself"
		if len(a.LoginEnv) > 0 {
			fix += ", or set " + a.LoginEnv[0]
		}
		all = append(all, fix)
	}
	switch {
	case a.Version == NoVersion:
		all = append(all, "it did not tell its version in time, or tells none: whether it was tested is not known")
	case a.Tested != "" && a.Tested != a.Number():
		all = append(all, "not tested with this version, only with "+a.Tested)
	}
	return append(all, a.Deprecated...)
}

// Search is where agents are looked for.
type Search struct {
	Self string                         // path of the coppice program, which is an agent as well
	Env  []string                       // in which agents are started
	Can  func(coppice.Profile) []string // what can be done with an agent of that profile
}

// Find looks for every agent that there is a profile of, those of a project
// included. Programs are asked under ctx.
func (s Search) Find(ctx context.Context, own map[string]coppice.Profile) []Agent {
	set, err := profiles.Load()
	if err == nil {
		set, err = set.With(own)
	}
	if err != nil {
		return []Agent{{Name: "profiles", Problem: err.Error()}}
	}
	set = set.Self(s.Self)
	names := set.Names()
	found := make([]Agent, len(names))
	// Each takes a moment to tell its version and its login, so they are asked
	// side by side.
	var probes sync.WaitGroup
	for i, name := range names {
		probes.Go(func() { found[i] = s.look(ctx, name, set[name]) })
	}
	probes.Wait()
	for i, name := range names {
		_, found[i].Deprecated, _ = profiles.Modern(name, own[name]) // With has refused those that fail
	}
	return found
}

// look finds one agent and asks its version and its login.
func (s Search) look(ctx context.Context, name string, p coppice.Profile) Agent {
	a := Agent{
		Name: name, Tested: p.Tested, Install: p.Install, Protocol: p.Protocol, Can: s.Can(p),
		Lead: p.Scores.Lead, Implement: p.Scores.Implement, Models: p.Models, LoginEnv: p.LoginEnv, Source: p.Source,
	}
	// An agent is asked in the environment in which it works, and gets no more
	// than there; what would tell of a login is looked for besides.
	passed := p
	passed.PassEnv = slices.Concat(p.PassEnv, p.LoginEnv)
	env := worker.AgentEnv(s.Env, passed)
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
		a.Version = NoVersion
	}
	return a
}
