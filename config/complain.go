package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"

	"coppice"
	"coppice/agent"
	"coppice/agent/profiles"
	"coppice/internal/environ"
	"coppice/internal/nearest"
)

// wrongType says which type the key needs and which type the value has.
func (d *decoder) wrongType(n ast.Node, path, want string) *coppice.Error {
	e := d.fail(n, "%s must be %s, this is %s", what(path), want, kind(n))
	if path == "notify" { // a mapping in one file, and a list in the other
		return e.WithFix("write names of notifiers to coppice.yaml, as in notify: %s; write the notifiers themselves to %s in the user's configuration, below notify.notifiers", keys()[path].example, UserFile)
	}
	if example := keys()[path].example; example != "" {
		name := path[strings.LastIndex(path, ".")+1:]
		return e.WithFix("write it as in %s: %s", name, example)
	}
	if path == "" {
		return e.WithFix("start with a key and a colon")
	}
	return e.WithFix("see `coppice config` for its form")
}

func kind(n ast.Node) string {
	switch n.Type() {
	case ast.MappingType, ast.MappingValueType:
		return "a mapping"
	case ast.SequenceType:
		return "a list"
	case ast.StringType, ast.LiteralType:
		return "text"
	case ast.BoolType:
		return "true or false"
	case ast.IntegerType, ast.FloatType, ast.InfinityType, ast.NanType:
		return "a number"
	case ast.NullType:
		return "empty"
	}
	return "something else"
}

// unknown says that a key does not exist here, and which ones do.
func (d *decoder) unknown(e *ast.MappingValueNode, path, name string, known []string) error {
	if planned[path+"."+name] || (path == "" && planned[name]) {
		return d.fail(e.Key, "this version does not know %s yet", coppice.Quote(join(path, cut(name)))).
			WithFix("remove it; known here: %s", list(known))
	}
	if join(path, name) == "secrets" { // the user's configuration has it
		return d.fail(e.Key, "secrets are not configured here: the repository only names them").
			WithFix("write them to %s in the user's configuration, or run `coppice secret set`", UserFile)
	}
	switch join(path, name) {
	case "budget.accounts": // the user's configuration has it
		return d.fail(e.Key, "budgets of accounts are not configured here: accounts belong to a user, and all projects share them").
			WithFix("write budget.accounts to %s in the user's configuration", UserFile)
	case "webhooks": // likewise
		return d.fail(e.Key, "the address for webhooks is not configured here: it belongs to the machine").
			WithFix("write webhooks.listen to %s in the user's configuration", UserFile)
	case "budget.task", "budget.day": // coppice.yaml has them
		return d.fail(e.Key, "%s belongs to a project", join(path, name)).WithFix("write it to the project's coppice.yaml; here: %s", list(known))
	}
	hint := ""
	if near := nearest.Name(name, known); near != "" {
		hint = ", did you mean " + coppice.Quote(near) + "?"
	}
	return d.fail(e.Key, "unknown key %s%s", coppice.Quote(name), hint).WithFix("known here: %s", list(known))
}

func (d *decoder) notOneOf(n ast.Node, path, s string, known []string) error {
	if planned[path+"="+s] {
		return d.fail(n, "this version does not know %s for %s yet", coppice.Quote(s), what(path)).WithFix("use one of: %s", list(known))
	}
	hint := ""
	if near := nearest.Name(s, known); near != "" {
		hint = ", did you mean " + coppice.Quote(near) + "?"
	}
	return d.fail(n, "%s is not a valid value for %s%s", coppice.Quote(s), what(path), hint).WithFix("use one of: %s", list(known))
}

// refuse adds the place in the file to an error of the domain.
func (d *decoder) refuse(n ast.Node, err error) error {
	var e *coppice.Error
	if errors.As(err, &e) {
		return d.fail(n, "%s", e.Cause).WithFix("%s", e.Fix)
	}
	return d.fail(n, "%s", err.Error())
}

// whole checks the rules that involve several values.
func (d *decoder) whole(p *coppice.Policy) error {
	if err := d.tracks(p); err != nil {
		return err
	}
	if err := d.fallback(p.Agent); err != nil {
		return err
	}
	if p.Health.Long > p.Health.Timeout && d.set["health.long"] > 0 {
		return d.fail(d.values["health.long"], "health.long is longer than health.timeout: it would never be reached").
			WithFix("make it shorter, or the timeout longer")
	}
	for i, path := range p.Workspace.Link {
		for _, c := range p.Workspace.Copy {
			if path == c {
				return d.fail(d.elements["workspace.link"][i], "%s is both copied and linked", coppice.Quote(path)).WithFix("keep one of the two")
			}
		}
	}
	if err := d.servers(p); err != nil {
		return err
	}
	if err := d.profiles(p); err != nil {
		return err
	}
	if err := d.hooks(p.Hooks); err != nil {
		return err
	}
	if err := d.reactions(p.Reactions); err != nil {
		return err
	}
	if err := d.forge(p.Forge); err != nil {
		return err
	}
	if err := d.trackers(p.Trackers); err != nil {
		return err
	}
	return d.passEnv(p)
}

// passEnv refuses variables that a profile passes to its agent. They are the keys of
// agents, and checks, set-up commands and apps never get them.
func (d *decoder) passEnv(p *coppice.Policy) error {
	if len(p.Workspace.PassEnv) == 0 {
		return nil
	}
	all, err := profiles.Load()
	if err == nil {
		all, err = all.With(p.Agents)
	}
	if err != nil {
		return fmt.Errorf("config: the agents: %w", err)
	}
	for i, variable := range p.Workspace.PassEnv {
		for _, name := range all.Names() {
			keys := environ.Allowed(slices.Concat(all[name].PassEnv, all[name].LoginEnv))
			if key := keys.Overlaps(variable); key != "" {
				return d.fail(d.elements["workspace.pass_env"][i], "%s is only for agents: the profile of %s names %s", coppice.Quote(variable), name, coppice.Quote(key)).
					WithFix("leave it out: checks, setup commands and apps never get the keys of agents; if a check needs a key, give it one in a file of workspace.copy")
			}
		}
	}
	return nil
}

// fallback checks that each entry is unique and differs from the first choice.
func (d *decoder) fallback(c coppice.AgentChoice) error {
	seen := map[string]bool{}
	for i, entry := range c.Fallback {
		n := d.elements["agent.fallback"][i]
		switch agent, model := coppice.SplitChoice(entry); {
		case seen[entry]:
			return d.fail(n, "%s is listed twice", coppice.Quote(entry)).WithFix("name each once")
		case agent == c.Use && (model == "" || model == c.Model):
			return d.fail(n, "%s is the first choice itself", coppice.Quote(entry)).
				WithFix("leave it out, or name another model of it as %s:MODEL", agent)
		}
		seen[entry] = true
	}
	if c.Use == "" && len(c.Fallback) > 0 {
		return d.fail(d.values["agent.fallback"], "a fallback without a first agent").WithFix("add use to agent")
	}
	return nil
}

// servers checks that each tool server has an address or a program.
func (d *decoder) servers(p *coppice.Policy) error {
	return d.eachAt("mcp", func(name string, e *ast.MappingValueNode) error {
		switch s := p.MCP[name]; {
		case agent.ReservedServer(name):
			return d.fail(e.Key, "the name %s is reserved for the tools of Coppice", coppice.Quote(name)).WithFix("give the tool server another name, such as my-%s", name)
		case s.URL == "" && len(s.Command) == 0:
			return d.fail(e.Key, "the tool server %s has neither url nor command", coppice.Quote(name)).WithFix("add its url, or the command that starts it")
		case s.URL != "" && len(s.Command) > 0:
			return d.fail(e.Key, "the tool server %s has both url and command", coppice.Quote(name)).WithFix("keep one of the two")
		case s.URL == "" && len(s.Headers) > 0:
			return d.fail(e.Key, "the tool server %s has headers, but no url to send them to", coppice.Quote(name)).WithFix("use env instead")
		case s.URL != "" && len(s.Env) > 0:
			return d.fail(e.Key, "the tool server %s has env, but no command to set it for", coppice.Quote(name)).WithFix("use headers instead")
		}
		return nil
	})
}

// tracks checks that names are unique and that exactly one track is the
// default.
func (d *decoder) tracks(p *coppice.Policy) error {
	nodes, given := d.elements["tracks"]
	if !given {
		return nil
	}
	if len(p.Tracks) == 0 {
		return d.fail(d.values["tracks"], "there are no tracks in this list").WithFix("name at least one, or remove the key")
	}
	names, defaults := map[string]bool{}, 0
	for i, t := range p.Tracks {
		if names[t.Name] {
			return d.fail(nodes[i], "the track %s is defined twice", coppice.Quote(t.Name)).WithFix("give each track a unique name")
		}
		names[t.Name] = true
		if t.Default {
			if defaults++; defaults > 1 {
				return d.fail(nodes[i], "a second default track").WithFix("keep default: true on one track")
			}
		}
	}
	if defaults == 0 {
		p.Tracks[0].Default = true
	}
	return nil
}

// profiles checks the project's own agents, in the order of the file. A profile
// with the name of a built-in agent changes only the fields that it sets, so it
// is checked together with the built-in one.
func (d *decoder) profiles(p *coppice.Policy) error {
	if len(p.Agents) == 0 {
		return nil
	}
	known, err := profiles.Load()
	if err != nil {
		return fmt.Errorf("config: the built-in agents: %w", err)
	}
	return d.eachAt("agents", func(name string, e *ast.MappingValueNode) error {
		if _, err := known.With(map[string]coppice.Profile{name: p.Agents[name]}); err != nil {
			return d.refuse(e.Key, err)
		}
		return nil
	})
}

// what names a key in a sentence.
func what(path string) string {
	if path == "" {
		return "the file"
	}
	return strings.NewReplacer(".*", " entry", "[]", " entry").Replace(path)
}

func cut(s string) string {
	if len(s) <= 40 {
		return s
	}
	n := 37
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "..."
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// isKey reports whether a field of the policy is a key of the file.
func isKey(f reflect.StructField) bool { return f.Tag.Get("yaml") != "-" }

func fieldOf(t reflect.Type, name string) (reflect.StructField, bool) {
	for f := range t.Fields() {
		if isKey(f) && f.Tag.Get("yaml") == name {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

func fieldNames(t reflect.Type) []string {
	var names []string
	for f := range t.Fields() {
		if isKey(f) {
			names = append(names, f.Tag.Get("yaml"))
		}
	}
	return names
}
