// Package profiles describes agent CLIs as data: one YAML file for each. A
// project adds its own, or changes single fields of these, in its coppice.yaml.
// The program embeds all of them as one JSON file: a server reads them at every
// start, and reading YAML takes ten times as long.
package profiles

import (
	_ "embed"
	"encoding/json"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"coppice"
	"coppice/internal/safeyaml"
)

//go:generate go test -run TestGenerated -update
//go:embed profiles.json
var builtIn []byte

// SlotSelf is the placeholder for the running program's own path in a command.
const SlotSelf = "{coppice}"

// Set is profiles by the name of the agent.
type Set map[string]coppice.Profile

// Load returns the built-in profiles.
func Load() (Set, error) {
	s := Set{}
	return s, json.Unmarshal(builtIn, &s)
}

// Parse reads one profile. It refuses unknown keys. Errors have the line and
// column.
func Parse(file string, data []byte) (coppice.Profile, error) {
	var p coppice.Profile
	if err := safeyaml.Unmarshal(data, &p, yaml.Strict()); err != nil {
		var y yaml.Error
		if errors.As(err, &y) && y.GetToken() != nil {
			pos := y.GetToken().Position
			return p, coppice.Errorf(coppice.EInvalid, "%s:%d:%d: %s", file, pos.Line, pos.Column, y.GetMessage())
		}
		return p, coppice.Errorf(coppice.EInvalid, "%s: %s", file, err)
	}
	name := strings.TrimSuffix(path.Base(file), path.Ext(file))
	return p, Validate(name, p)
}

// With returns the set with a project's own profiles added. If a profile has
// the name of an existing one, only the fields that it sets are replaced. The
// values of deprecated variables are in the fields of the result.
func (s Set) With(own map[string]coppice.Profile) (Set, error) {
	out := maps.Clone(s)
	for _, name := range slices.Sorted(maps.Keys(own)) {
		p, _, err := Modern(name, own[name])
		if err != nil {
			return nil, err
		}
		if base, ok := s[name]; ok {
			p = overlay(base, p)
		}
		if err := Validate(name, p); err != nil {
			return nil, err
		}
		out[name] = p
	}
	return out, nil
}

// Self returns the set with the running program's path instead of {coppice}.
func (s Set) Self(path string) Set {
	out := make(Set, len(s))
	for name, p := range s {
		p.Command = substitute(p.Command, path)
		p.Version = substitute(p.Version, path)
		p.Login = substitute(p.Login, path)
		p.Screen.Command = substitute(p.Screen.Command, path)
		out[name] = p
	}
	return out
}

func substitute(args []string, path string) []string {
	out := slices.Clone(args)
	for i := range out {
		out[i] = strings.ReplaceAll(out[i], SlotSelf, path)
	}
	return out
}

// Names lists the agents, sorted.
func (s Set) Names() []string { return slices.Sorted(maps.Keys(s)) }

// Get returns the profile of an agent.
func (s Set) Get(name string) (coppice.Profile, error) {
	p, ok := s[name]
	if !ok {
		return p, coppice.Errorf(coppice.ENotFound, "there is no agent %s", coppice.Quote(name)).
			WithFix("use one of %s, or describe it under agents in coppice.yaml", strings.Join(s.Names(), ", ")).WithField("agent")
	}
	return p, nil
}

// overlay returns base with the fields that p sets.
func overlay(base, p coppice.Profile) coppice.Profile {
	out := base
	for _, f := range []struct{ to, from *string }{
		{&out.Protocol, &p.Protocol}, {&out.Prompt, &p.Prompt}, {&out.Install, &p.Install}, {&out.Tested, &p.Tested},
		{&out.MCP, &p.MCP}, {&out.Source, &p.Source}, {&out.Screen.Runtime, &p.Screen.Runtime},
		{&out.Driver.Auth, &p.Driver.Auth},
		{&out.Driver.Messages, &p.Driver.Messages}, {&out.Driver.Secrets, &p.Driver.Secrets}, {&out.Driver.Meta, &p.Driver.Meta},
		{&out.Driver.RetryLog, &p.Driver.RetryLog}, {&out.Driver.Sandbox, &p.Driver.Sandbox}, {&out.Screen.Submit, &p.Screen.Submit}, {&out.Screen.Stop, &p.Screen.Stop}, {&out.Screen.Quit, &p.Screen.Quit},
	} {
		if *f.from != "" {
			*f.to = *f.from
		}
	}
	for _, f := range []struct{ to, from *[]string }{
		{&out.Command, &p.Command}, {&out.Args, &p.Args}, {&out.Resume, &p.Resume}, {&out.Fork, &p.Fork},
		{&out.Model, &p.Model}, {&out.Effort, &p.Effort}, {&out.Budget, &p.Budget}, {&out.Schema, &p.Schema},
		{&out.Efforts, &p.Efforts}, {&out.PassEnv, &p.PassEnv}, {&out.Version, &p.Version},
		{&out.Login, &p.Login}, {&out.LoginFiles, &p.LoginFiles}, {&out.LoginEnv, &p.LoginEnv},
		{&out.Driver.AskArgs, &p.Driver.AskArgs}, {&out.Screen.Command, &p.Screen.Command}, {&out.Screen.Args, &p.Screen.Args}, {&out.Screen.Resume, &p.Screen.Resume},
	} {
		if *f.from != nil {
			*f.to = *f.from
		}
	}
	for _, f := range []struct{ to, from *map[string]string }{{&out.Driver.AskEnv, &p.Driver.AskEnv}, {&out.Driver.Files, &p.Driver.Files}, {&out.LoginConfig, &p.LoginConfig}} {
		if *f.from != nil {
			*f.to = *f.from
		}
	}
	if p.Screen.Rules != nil {
		out.Screen.Rules = p.Screen.Rules
	}
	for _, f := range []struct{ to, from *int }{
		{&out.Scores.Lead, &p.Scores.Lead}, {&out.Scores.Implement, &p.Scores.Implement},
	} {
		if *f.from != 0 {
			*f.to = *f.from
		}
	}
	out.Env, out.Models = merged(base.Env, p.Env), merged(base.Models, p.Models)
	return out
}

// merged returns base with the entries of more.
func merged(base, more map[string]string) map[string]string {
	if more == nil {
		return base
	}
	out := map[string]string{}
	maps.Copy(out, base)
	maps.Copy(out, more)
	return out
}
