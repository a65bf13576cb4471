package agent

import (
	"bytes"
	"encoding/json"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"coppice"
)

// Call is a tool call that needs permission, in terms common to all agents.
type Call struct {
	Name    string           // the agent's name for the tool
	Kind    coppice.ToolKind // other if it is not known
	Input   json.RawMessage  // as the agent sent it
	Paths   []string         // the files that it uses, as the agent names them
	Command string           // of a shell
	URL     string
	Dir     string // the workspace, to which paths are relative
	Cwd     string // where its command starts; Dir if it is empty
}

// Verdict is the decision about a call.
type Verdict struct {
	Do    string          // allow, deny or ask
	Why   string          // the reason for an agent that is denied
	Input json.RawMessage // replaces the call's, if a rule sets fields
	Rule  coppice.Rule    // the one that decided; zero if none matches
}

// Allowed reports whether the call is allowed.
func (v Verdict) Allowed() bool { return v.Do == coppice.RuleAllow }

// Restricts reports whether the policy can do anything other than allow, and so
// whether an agent must ask at all.
func Restricts(p coppice.PermissionPolicy) bool {
	if p.Default != "" && p.Default != coppice.RuleAllow {
		return true
	}
	return slices.ContainsFunc(p.Rules, func(r coppice.Rule) bool { return r.Do != coppice.RuleAllow || len(r.Set) > 0 })
}

// restricts reports whether the policy can do anything other than allow for a
// tool.
func restricts(p coppice.PermissionPolicy, c Call) bool {
	p.Rules = slices.DeleteFunc(slices.Clone(p.Rules), func(r coppice.Rule) bool { return !fitsTool(r.Tool, c) })
	return Restricts(p)
}

// Decide applies the policy to a call. Nothing else does.
//
// A call is used on one or more things: the files that it names, the address,
// or the commands of its shell line. For each the first rule that matches
// decides, and of several decisions the strictest counts: deny before ask
// before allow. So `true && git push` is denied by a rule for `git push*`, and
// `git status && rm x` is not allowed by one for `git status*`. A shell line
// that cannot be parsed is never allowed if rules could say otherwise: a person
// is asked, unless a rule names the whole line.
//
// The rules guide an agent. They are not a boundary against a malicious one: a
// shell has more ways to write a command than any rule foresees (bash -c '…', a
// script written first), and a path can lead elsewhere over a link.
func Decide(p coppice.PermissionPolicy, c Call) Verdict {
	all, parsed := subjects(c)
	limit, last := p, all[len(all)-1]
	d := decide(p, c, last)
	exact := d.rule >= 0 && d.do == coppice.RuleAllow && p.Rules[d.rule].Match == last.text
	if last.whole && exact {
		// The whole line is allowed word for word: only earlier rules can say
		// otherwise of its commands.
		limit = coppice.PermissionPolicy{Rules: p.Rules[:d.rule+1]}
	}
	best := decision{do: coppice.RuleAllow, rule: -1}
	var set []int // rules whose fields are set
	for i, s := range all {
		d := decide(limit, c, s)
		if i == 0 || d.stricter(best) {
			best = d
		}
		if d.rule >= 0 && len(p.Rules[d.rule].Set) > 0 && !slices.Contains(set, d.rule) {
			set = append(set, d.rule)
		}
	}
	if best.do == coppice.RuleAllow && !parsed && !exact && restricts(p, c) {
		best = decision{do: coppice.RuleAsk, rule: -1}
	}
	v := Verdict{Do: best.do}
	if best.rule >= 0 {
		v.Rule = p.Rules[best.rule]
		v.Why = v.Rule.Why
	}
	if !v.Allowed() && allowsOwn(c, v.Rule) {
		return Verdict{Do: coppice.RuleAllow}
	}
	if v.Do == coppice.RuleDeny && v.Why == "" {
		v.Why = "the project's rules do not allow this"
	}
	if v.Do != coppice.RuleAllow || len(set) == 0 {
		return v
	}
	slices.Sort(set)
	fields := map[string]string{}
	for _, i := range set {
		for k, value := range p.Rules[i].Set {
			if _, earlier := fields[k]; !earlier {
				fields[k] = value
			}
		}
	}
	input, ok := rewrite(c.Input, fields)
	if !ok {
		return Verdict{Do: coppice.RuleDeny, Why: "a rule sets fields of this tool's input, which cannot be read", Rule: v.Rule}
	}
	v.Input = input
	return v
}

// decision is the decision for one subject.
type decision struct {
	do   string
	rule int // -1 for the default
}

var strictness = map[string]int{coppice.RuleAllow: 0, coppice.RuleAsk: 1, coppice.RuleDeny: 2}

func (d decision) stricter(than decision) bool {
	a, b := strictness[d.do], strictness[than.do]
	return a > b || (a == b && d.rule >= 0 && (than.rule < 0 || d.rule < than.rule))
}

func decide(p coppice.PermissionPolicy, c Call, s subject) decision {
	for i, r := range p.Rules {
		if fitsTool(r.Tool, c) && s.fits(r) {
			return decision{known(r.Do), i}
		}
	}
	switch {
	case s.whole: // its parts are judged separately
		return decision{coppice.RuleAllow, -1}
	case p.Default == "":
		return decision{coppice.RuleAllow, -1}
	}
	return decision{known(p.Default), -1}
}

// known returns the action of a rule. An unknown action is not guessed.
func known(do string) string {
	if _, ok := strictness[do]; ok {
		return do
	}
	return coppice.RuleDeny
}

func fitsTool(pattern string, c Call) bool {
	return pattern == "" || wild(pattern, string(c.Kind)) || wild(pattern, c.Name)
}

// subject is one thing that a call is used on.
type subject struct {
	text  string
	forms []string // other ways to write a command, which are denied too
	host  string   // of an address
	whole bool     // a shell line of several commands, each of which is a subject too
}

func (s subject) fits(r coppice.Rule) bool {
	m := r.Match
	switch {
	case m == "":
		// A rule for every use of a tool: the parts of a line decide.
		return !s.whole
	case m == s.text:
		return true
	case s.whole && (r.Do == coppice.RuleAllow || !strings.ContainsAny(m, ";&|\n`(")):
		return false // its commands must be allowed, and a rule for single commands applies to them
	case s.host != "" && !strings.Contains(m, "/"):
		return wild(strings.ToLower(m), s.host)
	case fitsText(m, s.text):
		return true
	}
	return r.Do != coppice.RuleAllow && slices.ContainsFunc(s.forms, func(form string) bool { return fitsText(m, form) })
}

// fitsText matches a pattern. A pattern that ends in " *" also matches without
// anything after it.
func fitsText(pattern, text string) bool {
	if pattern == text || wild(pattern, text) {
		return true
	}
	short, ok := strings.CutSuffix(pattern, " *")
	return ok && wild(short, text)
}

// wild matches a whole text against a pattern in which * stands for anything,
// separators included.
func wild(pattern, text string) bool {
	head, rest, any := strings.Cut(pattern, "*")
	if !any {
		return pattern == text
	}
	text, ok := strings.CutPrefix(text, head)
	if !ok {
		return false
	}
	for {
		var part string
		if part, rest, any = strings.Cut(rest, "*"); !any {
			return strings.HasSuffix(text, part)
		}
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
}

// subjects returns what a call is used on. A call without details has one
// subject that only rules without a pattern, or with *, match. It reports false
// for a shell line that cannot be parsed.
func subjects(c Call) (all []subject, parsed bool) {
	switch {
	case c.Command != "":
		return commandSubjects(c.Command)
	case len(c.Paths) > 0:
		for _, p := range c.Paths {
			all = append(all, subject{text: relative(c.Dir, p)})
		}
		return all, true
	case c.URL != "":
		return []subject{address(c.URL)}, true
	}
	return []subject{{}}, true
}

func commandSubjects(command string) (all []subject, parsed bool) {
	line := strings.TrimSpace(command)
	parts, parsed := commands(line)
	for _, p := range parts {
		all = append(all, subject{text: p.text, forms: p.forms})
	}
	if len(parts) == 1 && parts[0].text == line {
		return all, parsed
	}
	// A line that runs no command is judged like a command.
	return append(all, subject{text: line, whole: len(parts) > 0}), parsed
}

// relative returns a path as rules use it: relative within the workspace,
// elsewhere absolute.
func relative(dir, p string) string {
	if !filepath.IsAbs(p) {
		p = filepath.Join(dir, p)
	}
	p = filepath.Clean(p)
	if dir != "" {
		if r, err := filepath.Rel(dir, p); err == nil && filepath.IsLocal(r) {
			p = r
		}
	}
	return filepath.ToSlash(p)
}

// address returns the address of a call, normalized so that it cannot look like
// another.
func address(raw string) subject {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return subject{text: raw}
	}
	u.User = nil
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if u.Path == "" {
		u.Path = "/"
	}
	return subject{text: u.String(), host: u.Hostname()}
}

// rewrite sets fields of an input. A value gets the type of the value that it
// replaces. A new one is a number or boolean if it reads like one, else a text.
func rewrite(input json.RawMessage, fields map[string]string) (json.RawMessage, bool) {
	object := map[string]json.RawMessage{}
	if len(bytes.TrimSpace(input)) > 0 && json.Unmarshal(input, &object) != nil {
		return nil, false
	}
	if object == nil {
		return nil, false // null
	}
	for k, v := range fields {
		old := bytes.TrimSpace(object[k])
		_, notNumber := strconv.ParseFloat(v, 64)
		literal := v == "true" || v == "false" || notNumber == nil
		isText := len(old) > 0 && old[0] == '"'
		if raw := []byte(v); !isText && json.Valid(raw) && (literal || len(old) > 0) {
			object[k] = raw
			continue
		}
		text, err := json.Marshal(v)
		if err != nil {
			return nil, false
		}
		object[k] = text
	}
	out, err := json.Marshal(object)
	return out, err == nil
}
