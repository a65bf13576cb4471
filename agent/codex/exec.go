package codex

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"coppice"
	"coppice/agent"
)

// NameExec is the name of the non-interactive mode's protocol in profiles.
const NameExec = "codex-exec"

// Exec implements agent.Protocol for the non-interactive mode. The agent reads
// the prompt from stdin, which is then closed: in this mode it accepts no
// further messages, asks nothing and cannot be interrupted. Its events are
// items that start and complete, and one line that ends the turn.
type Exec struct{}

// NewExec returns the protocol of the non-interactive mode.
func NewExec() Exec { return Exec{} }

// Name implements agent.Protocol.
func (Exec) Name() string { return NameExec }

// Launch implements agent.Protocol. The dash comes last: it makes the agent
// read its prompt from stdin. Permission rules and enforced locks are
// refused, because this mode never asks.
func (Exec) Launch(p coppice.Profile, r agent.Request) (agent.Launch, error) {
	l, err := agent.LaunchProfile(p, r)
	if err != nil {
		return l, err
	}
	if agent.Restricts(r.Permissions) {
		return agent.Launch{}, coppice.Errorf(coppice.EInvalid, "the project has permission rules, and the protocol %s never asks for permission", NameExec).
			WithFix("use protocol %s, or remove the rules", Name).WithField("protocol")
	}
	if r.MustAsk() {
		return agent.Launch{}, coppice.Errorf(coppice.EInvalid, "the project enforces locks, and the protocol %s never asks before it edits a file", NameExec).
			WithFix("use protocol %s, or set locks to %s", Name, coppice.LocksAdvisory).WithField("protocol")
	}
	options, env, err := execOptions(p, r)
	if err != nil {
		return agent.Launch{}, err
	}
	for _, p := range paths(r.Images) {
		options = append(options, "--image="+p) // without the sign, it would also read the words that follow
	}
	// They come before the word that continues a conversation, which has its
	// own options.
	l.Argv = append(slices.Insert(l.Argv, len(p.Command)+len(p.Args), options...), "-")
	return l.With(env), nil
}

// execOptions returns the arguments for tool servers. The values of headers go
// into the environment, because they can be secret.
func execOptions(p coppice.Profile, r agent.Request) (argv []string, env map[string]string, err error) {
	servers, env, err := toolServers(p, r)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		s := servers[name]
		if s.Command != "" {
			argv = append(argv, "-c", "mcp_servers."+name+"={"+strings.Join(s.program(), ",")+"}")
			continue
		}
		fields := []string{"url=" + quote(s.URL)}
		if s.Bearer != "" {
			fields = append(fields, "bearer_token_env_var="+quote(s.Bearer))
		}
		if s.CallSeconds > 0 {
			fields = append(fields, "startup_timeout_sec="+strconv.Itoa(s.StartSeconds), "tool_timeout_sec="+strconv.Itoa(s.CallSeconds))
		}
		var headers []string
		for _, k := range slices.Sorted(maps.Keys(s.EnvHeaders)) {
			headers = append(headers, quote(k)+"="+quote(s.EnvHeaders[k]))
		}
		for _, k := range slices.Sorted(maps.Keys(s.Headers)) {
			headers = append(headers, quote(k)+"="+quote(keep(env, headerVar, s.Headers[k])))
		}
		if len(headers) > 0 {
			fields = append(fields, "env_http_headers={"+strings.Join(headers, ",")+"}")
		}
		argv = append(argv, "-c", "mcp_servers."+name+"={"+strings.Join(fields, ",")+"}")
	}
	if len(r.Secrets) > 0 {
		argv = append(argv, "-c", snapshotKey+"=false")
	}
	return argv, env, nil
}

// program returns the fields of a server that the agent starts.
func (s toolServer) program() []string {
	fields := []string{"command=" + quote(s.Command), "startup_timeout_sec=" + strconv.Itoa(s.StartSeconds)}
	for _, list := range []struct {
		name  string
		items []string
	}{{"args", s.Args}, {"env_vars", s.Pass}} {
		var items []string
		for _, a := range list.items {
			items = append(items, quote(a))
		}
		if len(items) > 0 {
			fields = append(fields, list.name+"=["+strings.Join(items, ",")+"]")
		}
	}
	if len(s.Env) > 0 {
		var env []string
		for _, k := range slices.Sorted(maps.Keys(s.Env)) {
			env = append(env, quote(k)+"="+quote(s.Env[k]))
		}
		fields = append(fields, "env={"+strings.Join(env, ",")+"}")
	}
	return fields
}

// quote writes a text as TOML, which has the same escapes as JSON.
func quote(s string) string { return string(agent.Encode(s)) }

// Driver implements agent.Protocol.
func (Exec) Driver(p coppice.Profile, r agent.Request) agent.Driver {
	d := &execDriver{OneShot: agent.OneShot{Prompt: r.Prompt}, conversation: r.Resume, model: r.Model, total: r.Spent, shown: map[string]bool{}}
	d.Line = d.line
	if r.Fork {
		d.conversation = "" // the copy has another name
		if len(p.Fork) == 0 {
			d.total = coppice.Usage{} // it is a new conversation, not a copy
		}
	}
	return d
}

// SendImages implements agent.Viewer: the prompt can have images.
func (d *execDriver) SendImages(text string, _ []agent.Image) (agent.Step, error) {
	return d.Send(text, "")
}

type execDriver struct {
	agent.OneShot

	model string

	conversation string
	completed    bool            // the turn was completed
	failed       string          // why the turn failed
	summary      string          // the final message
	total        coppice.Usage   // of the conversation, as last reported
	shown        map[string]bool // tool items whose start was reported
}

// Exit implements agent.Driver.
func (d *execDriver) Exit(x agent.Exit) (agent.Step, agent.Outcome) {
	d.End()
	return d.Take(), agent.Outcome{Failure: d.failure(x), Summary: d.summary, Conversation: d.conversation, Usage: d.Usage}
}

func (d *execDriver) failure(x agent.Exit) *coppice.Failure {
	switch {
	case d.Stopped && !d.completed:
		return agent.Died(x, "", true)
	case d.failed != "":
		return agent.Fail(agent.TextClass(agent.WithoutAddresses(d.failed)), d.failed)
	case d.completed && x.Code == 0:
		return nil
	case unknownThread().MatchString(d.Stderr.String()):
		return agent.Gone(d.Stderr.String())
	}
	return d.Died(x)
}

// execLine is one event. The agent's items share most of their fields.
type execLine struct {
	Type     string     `json:"type"`
	ThreadID string     `json:"thread_id"`
	Message  string     `json:"message"`
	Item     *execItem  `json:"item"`
	Usage    *execUsage `json:"usage"`
	Error    struct {
		Message string `json:"message"`
	} `json:"error"`
}

type execUsage struct {
	Input      int64 `json:"input_tokens"` // cached ones included
	Cached     int64 `json:"cached_input_tokens"`
	CacheWrite int64 `json:"cache_write_input_tokens"`
	Output     int64 `json:"output_tokens"`
}

func (d *execDriver) line(b []byte) {
	var l execLine
	if err := json.Unmarshal(b, &l); err != nil || l.Type == "" {
		d.Notice(string(b))
		return
	}
	switch l.Type {
	case "thread.started":
		d.conversation = l.ThreadID
		d.Emit(coppice.AgentEvent{Kind: coppice.KindInit, Conversation: l.ThreadID, Model: d.model})
	case "turn.started":
		d.Become(coppice.SessionWorking)
	case "item.started", "item.updated", "item.completed":
		if l.Item != nil {
			d.item(l.Type == "item.completed", *l.Item)
		}
	case "turn.completed":
		d.completed, d.failed = true, ""
		d.spend(l.Usage)
		d.Emit(coppice.AgentEvent{Kind: coppice.KindTurn, Reason: "completed", Text: d.summary})
		d.Become(coppice.SessionIdle)
	case "turn.failed":
		d.completed = false
		d.failed = agent.Text(l.Error.Message)
		if d.failed == "" {
			d.failed = "the agent's turn failed without a reason"
		}
		d.spend(l.Usage)
		d.Emit(coppice.AgentEvent{Kind: coppice.KindTurn, Reason: "failed", Text: d.failed})
		d.Become(coppice.SessionIdle)
	case "error":
		text := agent.Text(l.Message)
		d.Emit(coppice.AgentEvent{Kind: coppice.KindError, Class: agent.TextClass(agent.WithoutAddresses(text)), Text: text})
	}
}

// spend turns the conversation's total into the usage since the last one.
func (d *execDriver) spend(u *execUsage) {
	if u == nil {
		return
	}
	now := coppice.Usage{InputTokens: max(u.Input-u.Cached-u.CacheWrite, 0), OutputTokens: u.Output, CacheRead: u.Cached, CacheWrite: u.CacheWrite}
	d.Spend(since(d.total, now))
	d.total = now
}
