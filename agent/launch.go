package agent

import (
	"bytes"
	"encoding/json"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"coppice"
)

// The placeholders in a profile's arguments.
const (
	SlotPromptFile   = "{prompt_file}"
	SlotConversation = "{conversation}"
	SlotModel        = "{model}"
	SlotEffort       = "{effort}"
	SlotUSD          = "{usd}"
	SlotSchema       = "{schema}"
	SlotSchemaFile   = "{schema_file}"
)

// Files of a launch: the schema, and the prompt for profiles that pass a file.
const (
	schemaFile = "schema.json"
	promptFile = "prompt"
)

// LaunchProfile makes the Launch that a profile describes: its command, its
// arguments, and those for a model, an effort, a budget, a schema and a
// conversation, each only if the request has one. If a profile has no arguments
// for one of them, it is left out: the prompt of a follow-up is complete
// without the conversation, and the engine keeps the budget. A conversation
// that is to be copied is never continued itself: a profile that cannot copy
// starts a new one.
func LaunchProfile(p coppice.Profile, r Request) (Launch, error) {
	if len(p.Command) == 0 || p.Command[0] == "" {
		return Launch{}, coppice.Errorf(coppice.EInvalid, "the agent's profile has no command").
			WithFix("name the program under agents.<name>.command in coppice.yaml")
	}
	var l Launch
	args, err := l.prompt(p, r)
	if err != nil {
		return Launch{}, err
	}
	argv := append(slices.Clone(p.Command), args...)
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
	l.Env = maps.Clone(p.Env)
	held, err := l.schema(p, r)
	if err != nil {
		return Launch{}, err
	}
	argv = append(argv, held...)
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
	l.Argv = argv
	return l, l.files(p, r)
}

// prompt returns the profile's arguments. It adds the file with the prompt to the
// launch if one of them names it.
func (l *Launch) prompt(p coppice.Profile, r Request) ([]string, error) {
	path, err := l.fileOf(r, p.Args, SlotPromptFile, promptFile, []byte(r.Prompt))
	return fill(nil, p.Args, SlotPromptFile, path), err
}

// schema returns the arguments that make the agent's final message match the
// request's schema. It adds the file that some of them name to the launch.
func (l *Launch) schema(p coppice.Profile, r Request) ([]string, error) {
	schema := r.SchemaLine()
	if schema == nil {
		return nil, nil
	}
	path, err := l.fileOf(r, p.Schema, SlotSchemaFile, schemaFile, append(slices.Clone(schema), '\n'))
	if err != nil {
		return nil, err
	}
	return fill(nil, fill(nil, p.Schema, SlotSchemaFile, path), SlotSchema, string(schema)), nil
}

// fileOf adds a file to the launch, and returns its path, if an argument has the
// slot.
func (l *Launch) fileOf(r Request, args []string, slot, name string, data []byte) (string, error) {
	if !slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, slot) }) {
		return "", nil
	}
	return l.AddFile(r, name, data)
}

// SchemaLine returns the schema for the final message on one line, or nil if
// there is none. A schema is a JSON object.
func (r Request) SchemaLine() json.RawMessage {
	var line bytes.Buffer
	if err := json.Compact(&line, r.Schema); err != nil || !bytes.HasPrefix(line.Bytes(), []byte("{")) {
		return nil
	}
	return line.Bytes()
}

func fill(argv, args []string, slot, value string) []string {
	for _, a := range args {
		argv = append(argv, strings.ReplaceAll(a, slot, value))
	}
	return argv
}

// With returns the launch with further variables.
func (l Launch) With(env map[string]string) Launch {
	if len(env) > 0 {
		all := maps.Clone(l.Env)
		if all == nil {
			all = map[string]string{}
		}
		maps.Copy(all, env)
		l.Env = all
	}
	return l
}

// AddFile adds a file to the request's private directory, and returns its path.
func (l *Launch) AddFile(r Request, name string, data []byte) (string, error) {
	if r.Private == "" || !filepath.IsAbs(r.Private) {
		return "", coppice.Errorf(coppice.EUnavailable, "the session has no private directory for the agent's %s", name)
	}
	if l.Files == nil {
		l.Files = map[string][]byte{}
	}
	l.Files[name] = data
	return filepath.Join(r.Private, name), nil
}

// Values of a profile's MCP for agents of any protocol.
const (
	MCPNone  = "none"  // the agent gets no tool servers
	MCPStdio = "stdio" // the agent gets the tools of Coppice as a program
)

// Servers returns the tool servers for an agent with this profile, by name,
// each with a valid name, and with an address or a program. Headers and
// variables refer to the session's token and to secrets as ${VARIABLE}: see
// Expand.
func Servers(p coppice.Profile, r Request) (map[string]coppice.MCPServer, error) {
	if p.MCP == MCPNone {
		return nil, nil
	}
	for name, s := range r.MCP {
		if err := coppice.ValidName("tool server", name); err != nil {
			return nil, err
		}
		if len(s.Command) > 0 {
			if err := validProgram(name, s); err != nil {
				return nil, err
			}
			continue
		}
		if a := address(s.URL); a.host == "" || !(strings.HasPrefix(a.text, "http://") || strings.HasPrefix(a.text, "https://")) {
			return nil, coppice.Errorf(coppice.EInvalid, "the tool server %s has no valid address: %s", name, coppice.Quote(s.URL)).
				WithFix("write mcp.%s.url as http://… or https://…", name)
		}
	}
	program, ok := r.ToolProgram()
	if p.MCP != MCPStdio || !ok {
		return r.MCP, nil
	}
	all := maps.Clone(r.MCP)
	all[ToolServer] = program
	return all, nil
}

// validProgram checks a tool server that each session starts.
func validProgram(name string, s coppice.MCPServer) error {
	bad := func(fix, format string, args ...any) error {
		return coppice.Errorf(coppice.EInvalid, format, args...).WithFix("%s", fix).WithField("mcp." + name)
	}
	switch {
	case s.URL != "" || len(s.Headers) > 0:
		return bad("keep url, or command", "the tool server %s has an address and a program", name)
	case s.Command[0] == "":
		return bad("name it first in mcp."+name+".command", "the tool server %s has a command without a program", name)
	case slices.ContainsFunc(s.Command, func(a string) bool { return strings.ContainsRune(a, 0) }):
		return bad("remove it", "the command of the tool server %s has a zero byte", name)
	}
	for _, k := range slices.Sorted(maps.Keys(s.Env)) {
		if k == "" || strings.ContainsAny(k, "=\x00") || strings.ContainsRune(s.Env[k], 0) {
			return bad("use letters, digits and underscores", "the tool server %s sets a variable with an invalid name: %s", name, coppice.Quote(k))
		}
	}
	return nil
}

var referenceRE = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$\{(` + TokenVar + `|` + secretVar + `[A-Za-z0-9_]+)\}`)
})

// Expand replaces each reference to a variable with the session's token or a
// secret, in a header or variable of a tool server.
func Expand(text string, with func(variable string) string) string {
	return referenceRE().ReplaceAllStringFunc(text, func(ref string) string { return with(ref[2 : len(ref)-1]) })
}

// Refers reports whether a text contains such a reference.
func Refers(text string) bool { return referenceRE().MatchString(text) }

// Fill replaces references by their values, for agents that get them over their
// stdin.
func (r Request) Fill(text string) string {
	return Expand(text, func(variable string) string {
		if variable == TokenVar {
			return r.Token
		}
		return r.Secrets[variable]
	})
}
