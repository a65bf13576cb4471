// Package jsonl follows agents that print one JSON object per line and take no
// further input: the prompt is read from stdin (or a file), which is then
// closed.
//
// What the lines mean is data. Each file in dialects is a protocol of its own,
// called jsonl- and the file's name, so that a CLI with a format of its own is
// one file here and one profile.
package jsonl

import (
	"embed"
	"fmt"
	"path"
	"strings"
	"sync"

	"coppice"
	"coppice/agent"
)

//go:embed dialects/*.yaml
var files embed.FS

// Prefix begins the names of the protocols.
const Prefix = "jsonl-"

// Protocols returns a protocol for each dialect. A dialect is read when it is
// first used: a host uses one of them, and should not read them all.
func Protocols() []agent.Protocol {
	entries, err := files.ReadDir("dialects")
	if err != nil {
		panic("jsonl: " + err.Error()) // they are part of the program
	}
	var all []agent.Protocol
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), path.Ext(e.Name()))
		all = append(all, &protocol{name: Prefix + name, dialect: sync.OnceValues(func() (*dialect, error) {
			data, err := files.ReadFile(path.Join("dialects", e.Name()))
			if err != nil {
				return nil, err
			}
			return parse(e.Name(), data)
		})})
	}
	return all
}

type protocol struct {
	name    string
	dialect func() (*dialect, error)
}

// Name implements agent.Protocol.
func (p *protocol) Name() string { return p.name }

// Launch implements agent.Protocol.
func (p *protocol) Launch(f coppice.Profile, r agent.Request) (agent.Launch, error) {
	d, err := p.dialect()
	if err != nil {
		return agent.Launch{}, err
	}
	l, err := agent.LaunchProfile(f, r)
	if err != nil {
		return agent.Launch{}, err
	}
	if err := d.Servers.tell(&l, f, r); err != nil {
		return agent.Launch{}, err
	}
	return l, nil
}

// Driver implements agent.Protocol.
func (p *protocol) Driver(f coppice.Profile, r agent.Request) agent.Driver {
	dialect, err := p.dialect()
	if err != nil {
		panic(fmt.Sprintf("jsonl: %v", err)) // Launch told, and a test reads them all
	}
	d := &driver{dialect: dialect, model: r.Model}
	d.Line = d.line
	switch {
	case !r.Fork:
		d.conversation = r.Resume
	case len(f.Fork) == 0: // else the copy has a name of its own, which it tells
		d.cannot("the agent's profile has no way to copy a conversation; it begins a new one")
	}
	switch {
	case len(r.MCP) > 0 && !dialect.Servers.takes(f):
		d.cannot("the agent is not told of the project's tool servers: its profile has no way; it works without")
	case len(r.MCP) > 0 && !dialect.Servers.starts(r.MCP):
		d.cannot("the agent starts no tool servers itself; it works without those that are programs")
	}
	if agent.Restricts(r.Permissions) {
		d.cannot("the agent asks nobody for permission in this mode; the project's rules are not kept")
	}
	if f.Prompt != "file" {
		d.Prompt = r.Prompt
	}
	return d
}
