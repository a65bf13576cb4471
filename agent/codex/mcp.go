package codex

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"coppice"
	"coppice/agent"
)

// toolServer is a tool server in the form of the agent's configuration. It
// names the session's token and secrets by their variables, from which the
// agent reads them.
type toolServer struct {
	URL        string            `json:"url,omitempty"`
	Bearer     string            `json:"bearer_token_env_var,omitempty"`
	EnvHeaders map[string]string `json:"env_http_headers,omitempty"`
	Headers    map[string]string `json:"http_headers,omitempty"`

	// The fields of a server that the agent starts.
	Command      string            `json:"command,omitempty"`
	Args         []string          `json:"args,omitempty"`
	Env          map[string]string `json:"env,omitempty"`
	Pass         []string          `json:"env_vars,omitempty"`
	StartSeconds int               `json:"startup_timeout_sec,omitempty"`
	CallSeconds  int               `json:"tool_timeout_sec,omitempty"`
}

// startSeconds is how long the agent waits for a program to start. Its own ten
// seconds are too few on a busy machine, and a server that is late is lost for
// the session.
const startSeconds = 60

// callSeconds is how long the agent waits for a tool of Coppice, which waits for
// other tasks, or for a server that is being restarted.
const callSeconds = 600

// snapshotKey is the setting with which the agent writes its whole environment
// to a file. Sessions with secrets turn it off.
const snapshotKey = "features.shell_snapshot"

// serverRE matches the names that the agent allows for a server.
var serverRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]+$`) })

var headerRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9!#$%&'*+.^_|~-]+$`) })

// bearer returns the variable of a header that is "Bearer ${VARIABLE}", or "".
func bearer(header, value string) string {
	if rest, ok := strings.CutPrefix(value, "Bearer "); ok && strings.EqualFold(header, "Authorization") {
		return alone(rest)
	}
	return ""
}

// alone returns the variable of a text that is exactly ${VARIABLE}, or "".
func alone(text string) (variable string) {
	agent.Expand(text, func(name string) string { variable = name; return "" })
	if text != "${"+variable+"}" {
		return ""
	}
	return variable
}

// toolServers translates the servers of a session. The second result is the
// variables that they need in the agent's environment.
func toolServers(p coppice.Profile, r agent.Request) (map[string]toolServer, map[string]string, error) {
	all, err := agent.Servers(p, r)
	if err != nil {
		return nil, nil, err
	}
	out, env := make(map[string]toolServer, len(all)), map[string]string{}
	use := func(variable string) string {
		if value, ok := r.Secrets[variable]; ok { // the token is set already
			env[variable] = value
		}
		return variable
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		bad := func(fix, format string, args ...any) error {
			return coppice.Errorf(coppice.EInvalid, format, args...).WithFix("%s", fix).WithField("mcp." + name)
		}
		if !serverRE().MatchString(name) || len(name) > coppice.MaxName {
			return nil, nil, bad("use letters, digits, dashes and underscores", "%s is not a valid name of a tool server for this agent", coppice.Quote(name))
		}
		if len(all[name].Command) > 0 {
			if out[name], err = programServer(p, r, all[name], env); err != nil {
				return nil, nil, bad("use letters, digits and underscores", "the tool server %s sets a variable with an invalid name: %w", name, err)
			}
			continue
		}
		u, err := url.Parse(all[name].URL)
		if err != nil || u.User != nil {
			return nil, nil, bad("put them into a header", "the address of the tool server %s has a name or password in it", name)
		}
		s := toolServer{URL: u.String()}
		if name == agent.ToolServer {
			s.StartSeconds, s.CallSeconds = startSeconds, callSeconds
		}
		for _, k := range slices.Sorted(maps.Keys(all[name].Headers)) {
			v := all[name].Headers[k]
			if !headerRE().MatchString(k) || strings.ContainsAny(v, "\r\n\x00") {
				return nil, nil, bad("use a name and a value on one line", "the tool server %s has an invalid header: %s", name, coppice.Quote(k))
			}
			switch {
			case bearer(k, v) != "":
				s.Bearer = use(bearer(k, v))
			case alone(v) != "":
				s.EnvHeaders = with(s.EnvHeaders, k, use(alone(v)))
			case agent.Refers(v):
				s.EnvHeaders = with(s.EnvHeaders, k, keep(env, headerVar, r.Fill(v)))
			default:
				s.Headers = with(s.Headers, k, v)
			}
		}
		out[name] = s
	}
	return out, env, nil
}

// The variables for values that the agent cannot compose itself.
const (
	headerVar  = "COPPICE_MCP_HEADER_"
	programVar = "COPPICE_MCP_ENV_"
)

// keep adds a value to an environment and returns the variable that holds it.
func keep(env map[string]string, prefix, value string) string {
	for n := 1; ; n++ {
		variable := prefix + strconv.Itoa(n)
		if _, taken := env[variable]; !taken {
			env[variable] = value
			return variable
		}
	}
}

var variableRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })

// programServer translates a server that the agent starts. The agent passes
// variables on only under their own names, and its configuration can be read
// from its arguments. So a shell renames a variable that refers to a secret.
func programServer(p coppice.Profile, r agent.Request, server coppice.MCPServer, env map[string]string) (toolServer, error) {
	s := toolServer{Command: server.Command[0], Args: server.Command[1:], Pass: passed(p), StartSeconds: startSeconds}
	script := ""
	for _, k := range slices.Sorted(maps.Keys(server.Env)) {
		v := server.Env[k]
		if !agent.Refers(v) {
			s.Env = with(s.Env, k, v)
			continue
		}
		if !variableRE().MatchString(k) {
			return s, errors.New(coppice.Quote(k))
		}
		variable := keep(env, programVar, r.Fill(v))
		s.Pass = append(s.Pass, variable)
		script += fmt.Sprintf("export %s=\"$%s\"; unset %s; ", k, variable, variable)
	}
	if script != "" {
		s.Command, s.Args = "/bin/sh", slices.Concat([]string{"-c", script + `exec "$@"`, "sh"}, server.Command)
	}
	return s, nil
}

// sessionVars are the variables that every session has in its environment.
var sessionVars = []string{
	"COPPICE_BASE", "COPPICE_BRANCH", agent.ToolsURLVar, "COPPICE_PORT", "COPPICE_ROLE", "COPPICE_TASK", agent.TokenVar, "COPPICE_URL", "COPPICE_WORKSPACE",
}

// passed returns the variables that a program gets in addition to the few that
// the agent passes on: the session's, and those that the profile names, without
// the agent's own keys.
func passed(p coppice.Profile) []string {
	all := slices.Clone(sessionVars)
	for _, name := range p.PassEnv {
		if !strings.HasSuffix(name, "*") && !strings.HasPrefix(name, "CODEX_") && !strings.HasPrefix(name, "OPENAI_") {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func with(m map[string]string, k, v string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[k] = v
	return m
}
