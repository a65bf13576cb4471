// Package jsonl follows agents that print one JSON object per line and accept
// no further input: they read the prompt from stdin (or a file), which is then
// closed.
//
// The meaning of the lines is data. Each file in dialects is a protocol, named
// jsonl- and the file's name. A CLI with its own format needs one file here and
// one profile.
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

// Prefix starts the names of the protocols.
const Prefix = "jsonl-"

// Protocols returns a protocol for each dialect. A dialect is read on first
// use: a host uses only one of them.
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
	if err := d.Servers.add(&l, f, r); err != nil {
		return agent.Launch{}, err
	}
	return l, nil
}

// Driver implements agent.Protocol.
func (p *protocol) Driver(f coppice.Profile, r agent.Request) agent.Driver {
	dialect, err := p.dialect()
	if err != nil {
		panic(fmt.Sprintf("jsonl: %v", err)) // Launch has reported it, and a test reads them all
	}
	d := &driver{dialect: dialect, model: r.Model}
	d.Line = d.line
	switch {
	case !r.Fork:
		d.conversation = r.Resume
	case len(f.Fork) == 0: // otherwise the copy has another name, which the agent reports
		d.cannot("the agent's profile cannot copy a conversation; it starts a new one")
	}
	switch {
	case r.WantsServers() && !dialect.Servers.takes(f):
		d.cannot("the agent gets no tool servers, because its profile does not say how; it works without them")
	case len(r.MCP) > 0 && !dialect.Servers.starts(r.MCP):
		d.cannot("the agent cannot start tool servers; it works without those that are programs")
	}
	if agent.Restricts(r.Permissions) {
		d.cannot("the agent does not ask for permission in this mode; the project's rules are not applied")
	}
	if f.Prompt != "file" {
		d.Prompt = r.Prompt
	}
	return d
}
