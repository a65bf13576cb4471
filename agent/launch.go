package agent

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"coppice"
)

// The names that stand for a value in a profile's arguments.
const (
	SlotPromptFile   = "{prompt_file}"
	SlotConversation = "{conversation}"
	SlotModel        = "{model}"
	SlotEffort       = "{effort}"
	SlotUSD          = "{usd}"
)

// LaunchProfile makes the Launch that a profile describes: its command, its
// arguments, and those for a model, an effort, a budget and a conversation, each
// only where the request has one. A profile without arguments for one of them is
// started without: the prompt of a follow-up stands on its own, and a budget is
// the engine's to keep. A conversation that is to be copied is never continued
// itself: a profile that cannot copy begins a new one.
func LaunchProfile(p coppice.Profile, r Request) (Launch, error) {
	if len(p.Command) == 0 || p.Command[0] == "" {
		return Launch{}, coppice.Errorf(coppice.EInvalid, "the agent's profile has no command").
			WithFix("name the program under agents.<name>.command in coppice.yaml")
	}
	file := strings.NewReplacer(SlotPromptFile, r.PromptFile)
	argv := slices.Clone(p.Command)
	for _, a := range p.Args {
		argv = append(argv, file.Replace(a))
	}
	if r.Model != "" {
		if err := coppice.ValidModel(r.Model); err != nil {
			return Launch{}, err
		}
		argv = fill(argv, p.Model, SlotModel, r.Model)
	}
	if r.Effort != "" {
		if err := coppice.ValidName("effort", r.Effort); err != nil {
			return Launch{}, err
		}
		argv = fill(argv, p.Effort, SlotEffort, r.Effort)
	}
	if r.Budget > 0 {
		argv = fill(argv, p.Budget, SlotUSD, strconv.FormatFloat(r.Budget, 'f', -1, 64))
	}
	if r.Resume != "" {
		if err := coppice.ValidName("conversation", r.Resume); err != nil {
			return Launch{}, err
		}
		args := p.Resume
		if r.Fork {
			args = p.Fork
		}
		argv = fill(argv, args, SlotConversation, r.Resume)
	}
	return Launch{Argv: argv, Env: maps.Clone(p.Env)}, nil
}

func fill(argv, args []string, slot, value string) []string {
	for _, a := range args {
		argv = append(argv, strings.ReplaceAll(a, slot, value))
	}
	return argv
}

// AddFile has a file written to the request's private directory, and returns
// the path it will have.
func (l *Launch) AddFile(r Request, name string, data []byte) (string, error) {
	if r.Private == "" || !filepath.IsAbs(r.Private) {
		return "", coppice.Errorf(coppice.EUnavailable, "the session has no directory of its own for the agent's %s", name)
	}
	if l.Files == nil {
		l.Files = map[string][]byte{}
	}
	l.Files[name] = data
	return filepath.Join(r.Private, name), nil
}

// MCPNone is what a profile's MCP says of an agent that is given no tool
// servers.
const MCPNone = "none"

// Servers are the tool servers that an agent of this profile is given, by name,
// each with a sound name, and with an address or a program of its own. The headers hold ${COPPICE_TOKEN} as it
// was written.
func Servers(p coppice.Profile, r Request) (map[string]coppice.MCPServer, error) {
	if p.MCP == MCPNone {
		return nil, nil
	}
	for name, s := range r.MCP {
		if err := coppice.ValidName("tool server", name); err != nil {
			return nil, err
		}
		if len(s.Command) > 0 {
			continue
		}
		if a := address(s.URL); a.host == "" || !(strings.HasPrefix(a.text, "http://") || strings.HasPrefix(a.text, "https://")) {
			return nil, coppice.Errorf(coppice.EInvalid, "the tool server %s has no web address: %s", name, coppice.Quote(s.URL)).
				WithFix("write mcp.%s.url as http://… or https://…", name)
		}
	}
	return r.MCP, nil
}

// Fill fills the session's token into a header's value, for agents that must
// be told it word by word.
func (r Request) Fill(header string) string {
	return strings.ReplaceAll(header, "${"+TokenVar+"}", r.Token)
}
