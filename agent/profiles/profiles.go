// Package profiles holds what is known of agent CLIs as data: one YAML file
// for each, embedded. A project adds its own, or changes single fields of
// these, in its coppice.yaml.
package profiles

import (
	"embed"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"coppice"
	"coppice/agent"
)

//go:embed *.yaml
var files embed.FS

// SlotSelf stands for the running program's own path in a command.
const SlotSelf = "{coppice}"

// Set is profiles by the name people use for the agent.
type Set map[string]coppice.Profile

// Load reads the built-in profiles.
func Load() (Set, error) {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil, err
	}
	s := Set{}
	for _, e := range entries {
		data, err := files.ReadFile(e.Name())
		if err != nil {
			return nil, err
		}
		p, err := Parse(e.Name(), data)
		if err != nil {
			return nil, err
		}
		s[strings.TrimSuffix(e.Name(), path.Ext(e.Name()))] = p
	}
	return s, nil
}

// Parse reads one profile. Unknown keys are refused; errors tell the line and
// column.
func Parse(file string, data []byte) (coppice.Profile, error) {
	var p coppice.Profile
	if err := yaml.UnmarshalWithOptions(data, &p, yaml.Strict()); err != nil {
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

// With returns the set with a project's own profiles added. Where one has the
// name of a profile that is there, the fields it sets replace that one's.
func (s Set) With(own map[string]coppice.Profile) (Set, error) {
	out := maps.Clone(s)
	for _, name := range slices.Sorted(maps.Keys(own)) {
		p := own[name]
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

// Self returns the set with the running program's path put where its profiles
// say {coppice}.
func (s Set) Self(path string) Set {
	out := make(Set, len(s))
	for name, p := range s {
		p.Command = substitute(p.Command, path)
		p.Version = substitute(p.Version, path)
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
	} {
		if *f.from != "" {
			*f.to = *f.from
		}
	}
	for _, f := range []struct{ to, from *[]string }{
		{&out.Command, &p.Command}, {&out.Args, &p.Args}, {&out.Resume, &p.Resume},
		{&out.Model, &p.Model}, {&out.PassEnv, &p.PassEnv}, {&out.Version, &p.Version},
	} {
		if *f.from != nil {
			*f.to = *f.from
		}
	}
	if p.Env != nil {
		out.Env = maps.Clone(base.Env)
		if out.Env == nil {
			out.Env = map[string]string{}
		}
		maps.Copy(out.Env, p.Env)
	}
	return out
}

var (
	slotRE = regexp.MustCompile(`\{[a-z_]+\}`)
	envRE  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	passRE = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\*?$`)
)

// Validate checks a profile. Whether its protocol exists is for those to say
// who have the protocols.
func Validate(name string, p coppice.Profile) error {
	bad := func(field, fix, format string, args ...any) error {
		return coppice.Errorf(coppice.EInvalid, format, args...).WithFix("%s", fix).WithField("agents." + name + "." + field)
	}
	if err := coppice.ValidName("agent", name); err != nil {
		return err
	}
	switch {
	case p.Protocol == "":
		return bad("protocol", "say how Coppice talks to it", "the agent has no protocol")
	case len(p.Command) == 0 || p.Command[0] == "":
		return bad("command", "name its program", "the agent has no command")
	case p.Prompt != "" && p.Prompt != "stdin" && p.Prompt != "file":
		return bad("prompt", "use stdin or file", "%s is no way to pass a prompt", coppice.Quote(p.Prompt))
	case p.Prompt == "file" && !hasSlot(p.Args, agent.SlotPromptFile):
		return bad("args", "write "+agent.SlotPromptFile+" where the file's path belongs", "the prompt is passed in a file, but no argument says where")
	}
	for _, f := range []struct {
		field string
		args  []string
		may   string
	}{
		{"command", p.Command, SlotSelf}, {"args", p.Args, agent.SlotPromptFile}, {"model", p.Model, agent.SlotModel},
		{"resume", p.Resume, agent.SlotConversation}, {"version", p.Version, SlotSelf},
	} {
		for _, a := range f.args {
			if strings.ContainsRune(a, 0) {
				return bad(f.field, "remove it", "an argument has a zero byte")
			}
			for _, slot := range slotRE.FindAllString(a, -1) {
				if slot != f.may {
					return bad(f.field, fmt.Sprintf("only %s has a meaning here", f.may), "%s is unknown", slot)
				}
			}
		}
	}
	for k := range p.Env {
		if !envRE.MatchString(k) {
			return bad("env", "use letters, digits and underscores", "%s is no name of a variable", coppice.Quote(k))
		}
	}
	for _, k := range p.PassEnv {
		if !passRE.MatchString(k) {
			return bad("pass_env", "write NAME or PREFIX_*", "%s is no name of a variable", coppice.Quote(k))
		}
	}
	return nil
}

func hasSlot(args []string, slot string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, slot) })
}
