package coppice

import (
	"bytes"
	"reflect"
)

// PolicyPart is a part of a policy that can be held back. Of returns a pointer
// to it.
type PolicyPart struct {
	Name string // its key in coppice.yaml, or prompts or context
	Of   func(*Policy) any
}

// DecidingParts are the parts of a policy that decide what lands, which programs run
// with a person's rights, and who gets notifications. If one of them changes on disk while a
// session of the project runs, the change waits for a person. All other changes
// take effect immediately.
var DecidingParts = []PolicyPart{
	{"base", func(p *Policy) any { return &p.Base }},
	{"checks", func(p *Policy) any { return &p.Checks }},
	{"verify", func(p *Policy) any { return &p.Verify }},
	{"land", func(p *Policy) any { return &p.Land }},
	{"permissions", func(p *Policy) any { return &p.Permissions }},
	{"locks", func(p *Policy) any { return &p.Locks }},
	{"critical_patterns", func(p *Policy) any { return &p.Critical }},
	{"agents", func(p *Policy) any { return &p.Agents }},
	{"mcp", func(p *Policy) any { return &p.MCP }},
	{"workspace", func(p *Policy) any { return &p.Workspace }},
	{"instructions", func(p *Policy) any { return &p.Instructions }},
	{"prompts", func(p *Policy) any { return &p.Prompts }},
	{"prompt", func(p *Policy) any { return &p.Prompt }},
	{"context", func(p *Policy) any { return &p.Context }},
	{"hooks", func(p *Policy) any { return &p.Hooks }},
	{"forge", func(p *Policy) any { return &p.Forge }},
	{"tracker", func(p *Policy) any { return &p.Trackers }},
	{"reactions", func(p *Policy) any { return &p.Reactions }},
	{"notify", func(p *Policy) any { return &p.Notify }},
	{"trust", func(p *Policy) any { return &p.Trust }},
}

// empty has the JSON of empty parts. A list or mapping from the store can be
// nil.
var empty = map[string]bool{"null": true, "[]": true, "{}": true, `""`: true}

// Hold returns the found policy with every deciding part from p, and the names
// of the parts that differ.
func (p Policy) Hold(found Policy) (held Policy, differ []string) {
	held = found
	for _, part := range DecidingParts {
		have, want := part.Of(&held), part.Of(&p)
		if a, b := Raw(have), Raw(want); bytes.Equal(a, b) || empty[string(a)] && empty[string(b)] {
			continue
		}
		differ = append(differ, part.Name)
		reflect.ValueOf(have).Elem().Set(reflect.ValueOf(want).Elem())
	}
	return held, differ
}
