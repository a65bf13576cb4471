// Package agents finds the agent CLIs that are installed: their programs,
// versions, logins and abilities.
package agents

import (
	"cmp"
	"context"
	"fmt"
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
	Path     string   `json:"path,omitempty"`     // its program; empty if it is not installed
	Version  string   `json:"version,omitempty"`  // as it reports it; empty if it is not installed
	Tested   string   `json:"tested,omitempty"`   // the version Coppice was tested with
	Unproven bool     `json:"unproven,omitempty"` // its profile was never run with the real CLI
	Install  string   `json:"install,omitempty"`  // how to install it
	Problem  string   `json:"problem,omitempty"`  // why it does not work although it is installed
	Login    string   `json:"login,omitempty"`    // yes, no or unknown; empty if it needs no login
	LoginBy  string   `json:"login_by,omitempty"` // the variable, file or command that shows it
	LoginEnv []string `json:"login_env,omitempty"`
	Settings string   `json:"settings,omitempty"` // the file because of which it can work without a login
	Protocol string   `json:"protocol,omitempty"` // the protocol by which Coppice talks to it
	Can      []string `json:"can,omitempty"`      // what it can do

	Deprecated []string `json:"deprecated,omitempty"` // what the project's profile should change

	Lead      int               `json:"lead,omitempty"`      // how well it leads, 0 to 10
	Implement int               `json:"implement,omitempty"` // how well it implements, 0 to 10
	Models    map[string]string `json:"models,omitempty"`    // by the kind of work
	Efforts   []string          `json:"efforts,omitempty"`   // its levels of effort, the lowest first
	Source    string            `json:"source,omitempty"`    // the source of the facts that were not tested
}

// NoVersion is the version of an installed agent that does not report it.
const NoVersion = "unknown"

// LoggedOut is the login of an agent to which the user is not logged in.
const LoggedOut = "no"

var versionNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d+(?:\.\d+)+(?:-[0-9A-Za-z.]+)?`) })

// Number returns the version without the words that some agents put around it.
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

// LogIn says how to log in to an agent whose login command says no: with the program
// of that command, or with a variable.
func LogIn(name, by string, env []string, set string) string {
	program, _, _ := strings.Cut(by, " ")
	text := fmt.Sprintf("run `%s` and log in", cmp.Or(program, name))
	if len(env) > 0 {
		text += fmt.Sprintf(", or %s %s", set, env[0])
	}
	if len(env) > 1 {
		text += fmt.Sprintf(" (coppice agents %s lists more variables)", name)
	}
	return text
}

// Warnings returns what to fix before you rely on an agent, and whether its
// version was not tested. It is used anyway.
func (a Agent) Warnings() []string {
	var all []string
	if a.Login == LoggedOut {
		all = append(all, LogIn(a.Name, a.LoginBy, a.LoginEnv, "set"))
	}
	switch {
	case a.Unproven:
		all = append(all, "unproven: no test has run its profile with the real CLI")
	case a.Version == NoVersion:
		all = append(all, "it did not report its version, so Coppice does not know whether it was tested")
	case a.Tested != "" && a.Tested != a.Number():
		all = append(all, "not tested with this version, only with "+a.Tested)
	}
	return append(all, a.Deprecated...)
}

// Search configures the search for agents.
type Search struct {
	Self string                         // path of the coppice program, which is also an agent
	Env  []string                       // the environment in which agents are started
	Can  func(coppice.Profile) []string // what an agent with this profile can do
}

// Find returns every agent that has a profile, with the agents of a project. It
// runs programs under ctx.
func (s Search) Find(ctx context.Context, own map[string]coppice.Profile) []Agent {
	set, err := s.profiles(own)
	if err != nil {
		return []Agent{{Name: "profiles", Problem: err.Error()}}
	}
	names := set.Names()
	found := make([]Agent, len(names))
	// Each agent takes some time to report its version and its login, so they
	// run in parallel.
	var probes sync.WaitGroup
	for i, name := range names {
		probes.Go(func() { found[i] = s.look(ctx, name, set[name]) })
	}
	probes.Wait()
	for i, name := range names {
		_, found[i].Deprecated, _ = profiles.Modern(name, own[name]) // With has refused invalid profiles
	}
	return found
}

// One searches for one agent, and returns its profile, too.
func (s Search) One(ctx context.Context, name string, own map[string]coppice.Profile) (Agent, coppice.Profile, error) {
	set, err := s.profiles(own)
	if err != nil {
		return Agent{}, coppice.Profile{}, err
	}
	p, err := set.Get(name)
	if err != nil {
		return Agent{}, p, err
	}
	a := s.look(ctx, name, p)
	_, a.Deprecated, _ = profiles.Modern(name, own[name]) // profiles has refused an invalid one
	return a, p, nil
}

// profiles returns the built-in profiles and the project's own.
func (s Search) profiles(own map[string]coppice.Profile) (profiles.Set, error) {
	set, err := profiles.Load()
	if err == nil {
		set, err = set.With(own)
	}
	return set.Self(s.Self), err
}

// look finds one agent and asks for its version and its login.
func (s Search) look(ctx context.Context, name string, p coppice.Profile) Agent {
	a := Agent{
		Name: name, Tested: p.Tested, Unproven: p.Unproven(), Install: p.Install, Protocol: p.Protocol, Can: s.Can(p),
		Lead: p.Scores.Lead, Implement: p.Scores.Implement, Models: p.Models, Efforts: p.Efforts, LoginEnv: p.LoginEnv, Source: p.Source,
	}
	// An agent is asked in the environment in which it works. Logins are
	// searched in the whole environment.
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
	if len(p.LoginEnv)+len(p.LoginFiles)+len(p.Login) > 0 { // otherwise it needs no login, as far as is known
		a.Login, a.LoginBy, a.Settings = string(login.State), login.By, login.Settings
	}
	if a.Version = version; version == "" {
		a.Version = NoVersion
	}
	return a
}
