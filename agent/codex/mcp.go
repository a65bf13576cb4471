package codex

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"coppice"
	"coppice/agent"
)

// toolServer is a tool server in the words of the agent's configuration. The
// session's token is named by its variable, from which the agent reads it.
type toolServer struct {
	URL        string            `json:"url,omitempty"`
	Bearer     string            `json:"bearer_token_env_var,omitempty"`
	EnvHeaders map[string]string `json:"env_http_headers,omitempty"`
	Headers    map[string]string `json:"http_headers,omitempty"`

	// Of one that the agent starts itself.
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Pass    []string          `json:"env_vars,omitempty"`
	Patient int               `json:"startup_timeout_sec,omitempty"`
}

// startSeconds is how long the agent waits for a program to start. Its own ten
// seconds are few on a busy machine, and such a server is lost for the session.
const startSeconds = 60

// serverRE is what the agent allows for a server's name.
var serverRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]+$`) })

var headerRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9!#$%&'*+.^_|~-]+$`) })

const tokenSlot = "${" + agent.TokenVar + "}"

// toolServers translates the servers that a session is given.
func toolServers(p coppice.Profile, r agent.Request) (map[string]toolServer, error) {
	all, err := agent.Servers(p, r)
	if err != nil {
		return nil, err
	}
	out := make(map[string]toolServer, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		bad := func(fix, format string, args ...any) error {
			return coppice.Errorf(coppice.EInvalid, format, args...).WithFix("%s", fix).WithField("mcp." + name)
		}
		if !serverRE().MatchString(name) || len(name) > coppice.MaxName {
			return nil, bad("use letters, digits, dashes and underscores", "%s is no name of a tool server for this agent", coppice.Quote(name))
		}
		if argv := all[name].Command; len(argv) > 0 {
			out[name] = toolServer{Command: argv[0], Args: argv[1:], Env: all[name].Env, Pass: passed(p), Patient: startSeconds}
			continue
		}
		u, err := url.Parse(all[name].URL)
		if err != nil || u.User != nil {
			return nil, bad("put them into a header", "the address of the tool server %s has a name or password in it", name)
		}
		s := toolServer{URL: u.String()}
		for _, k := range slices.Sorted(maps.Keys(all[name].Headers)) {
			v := all[name].Headers[k]
			switch {
			case !headerRE().MatchString(k) || strings.ContainsAny(v, "\r\n\x00"):
				return nil, bad("use a name and a value on one line", "the tool server %s has a header that is none: %s", name, coppice.Quote(k))
			case strings.EqualFold(k, "Authorization") && v == "Bearer "+tokenSlot:
				s.Bearer = agent.TokenVar
			case v == tokenSlot:
				s.EnvHeaders = with(s.EnvHeaders, k, agent.TokenVar)
			case strings.Contains(v, tokenSlot):
				return nil, bad(`write "Bearer `+tokenSlot+`" for Authorization, or `+tokenSlot+` alone for another header`,
					"this agent cannot put the session's token into the middle of the header %s", k)
			default:
				s.Headers = with(s.Headers, k, v)
			}
		}
		out[name] = s
	}
	return out, nil
}

// sessionVars are what every session finds in its environment.
var sessionVars = []string{
	"COPPICE_BASE", "COPPICE_BRANCH", "COPPICE_PORT", "COPPICE_ROLE", "COPPICE_TASK", agent.TokenVar, "COPPICE_URL", "COPPICE_WORKSPACE",
}

// passed are the variables that a program gets besides the few that the agent
// hands on by itself: the session's, and those that the profile names. The
// agent's own keys are not among them.
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
