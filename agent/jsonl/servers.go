package jsonl

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"sync"

	"coppice"
	"coppice/agent"
)

// servers says how the agents of a dialect get their tool servers: in a
// settings file, which a profile's mcp passes. The session's token and secrets
// are never written to it: the agents fill them in from their environment.
type servers struct {
	Under string         `yaml:"under"`    // the field of the settings with the servers, by name
	URL   string         `yaml:"url"`      // the field of the address
	Set   map[string]any `yaml:"set"`      // further fields of each
	Var   string         `yaml:"variable"` // how the agent writes a variable called NAME; default: ${NAME}

	Program *program `yaml:"program"` // servers that the agent starts; nil if it starts none
}

// program says how to configure servers that the agent starts.
type program struct {
	Command string         `yaml:"command"` // the field of the program
	Args    string         `yaml:"args"`    // the field of its arguments; if empty, they are in a list with the program
	Env     string         `yaml:"env"`     // the field of its variables
	Set     map[string]any `yaml:"set"`     // further fields of each
}

const serversFile = "mcp.json"

// add adds the tool servers to a launch. A profile names an option for the file
// (mcp: --mcp-config) or a variable with its path (mcp: SOME_PATH). Otherwise
// the agent gets none, which the driver reports.
func (s *servers) add(l *agent.Launch, f coppice.Profile, r agent.Request) error {
	all, err := agent.Servers(f, r)
	if err != nil || len(all) == 0 || !s.takes(f) {
		return err
	}
	data, err := s.settings(all, l.Settings(f.MCP))
	if err != nil {
		return fmt.Errorf("jsonl: tool servers: %w", err)
	}
	path, err := l.AddFile(r, serversFile, data)
	if err != nil {
		return err
	}
	*l = l.With(r.Secrets)
	if strings.HasPrefix(f.MCP, "-") {
		l.Argv = append(l.Argv, f.MCP, path)
		return nil
	}
	*l = l.With(map[string]string{f.MCP: path})
	return nil
}

var variableRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`) })

// takes reports whether an agent of that profile can get tool servers.
func (s *servers) takes(f coppice.Profile) bool {
	return s != nil && (strings.HasPrefix(f.MCP, "-") || variableRE().MatchString(f.MCP))
}

// settings returns the file with the servers, and with the profile's own
// settings.
func (s *servers) settings(all map[string]coppice.MCPServer, own []byte) ([]byte, error) {
	file := map[string]any{}
	if len(own) > 0 {
		if err := json.Unmarshal(own, &file); err != nil {
			return nil, fmt.Errorf("driver.files: %w", err)
		}
	}
	named := map[string]map[string]any{}
	for name, server := range all {
		if len(server.Command) > 0 {
			if s.Program != nil {
				server.Env = s.words(server.Env)
				named[name] = s.Program.fields(server)
			}
			continue
		}
		fields := maps.Clone(s.Set)
		if fields == nil {
			fields = map[string]any{}
		}
		fields[s.URL], fields["headers"] = server.URL, s.words(server.Headers)
		named[name] = fields
	}
	file[s.Under] = named
	return json.Marshal(file)
}

// words returns headers or variables, with references as the agent writes them.
func (s *servers) words(texts map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range texts {
		if s.Var != "" {
			v = agent.Expand(v, func(name string) string { return strings.ReplaceAll(s.Var, "NAME", name) })
		}
		out[k] = v
	}
	return out
}

func (p *program) fields(s coppice.MCPServer) map[string]any {
	fields := maps.Clone(p.Set)
	if fields == nil {
		fields = map[string]any{}
	}
	if p.Args == "" {
		fields[p.Command] = s.Command
	} else {
		fields[p.Command], fields[p.Args] = s.Command[0], s.Command[1:]
	}
	if len(s.Env) > 0 {
		fields[p.Env] = s.Env
	}
	return fields
}

// starts reports whether the agent can start every server that is a program.
func (s *servers) starts(all map[string]coppice.MCPServer) bool {
	for _, server := range all {
		if len(server.Command) > 0 && s.Program == nil {
			return false
		}
	}
	return true
}
