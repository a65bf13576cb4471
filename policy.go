package coppice

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Policy is what a project's coppice.yaml says, defaults filled in. It is
// committed with the code; nothing in it names a machine.
type Policy struct {
	Base      string             `json:"base" yaml:"base"`           // the branch work lands on
	Tracks    []Track            `json:"tracks" yaml:"tracks"`       // lanes; the default one is always there
	Limits    Limits             `json:"limits" yaml:"limits"`       // how much at once
	Agent     AgentChoice        `json:"agent" yaml:"agent"`         // who does the work
	Agents    map[string]Profile `json:"agents" yaml:"agents"`       // the project's own agent CLIs
	Workspace WorkspacePolicy    `json:"workspace" yaml:"workspace"` // what a new workspace gets
	Checks    []string           `json:"checks" yaml:"checks"`       // shell commands whose exit code judges a tree
	Verify    VerifyPolicy       `json:"verify" yaml:"verify"`       // how often a refused candidate is mended
	Retry     RetryPolicy        `json:"retry" yaml:"retry"`         // what follows a failed session
	Health    HealthPolicy       `json:"health" yaml:"health"`       // when a session is stalled, long or over
	Land      LandPolicy         `json:"land" yaml:"land"`           // how it reaches the base
	Trash     TrashPolicy        `json:"trash" yaml:"trash"`         // what is kept of removed workspaces

	Permissions PermissionPolicy     `json:"permissions" yaml:"permissions"` // what agents may do without asking
	MCP         map[string]MCPServer `json:"mcp,omitempty" yaml:"mcp"`       // tool servers that sessions are given

	Features     string           `json:"features,omitempty" yaml:"features"`         // a file of the repository that lists tasks
	Instructions string           `json:"instructions,omitempty" yaml:"instructions"` // a file of the repository that every session follows
	Progress     string           `json:"progress,omitempty" yaml:"progress"`         // a file of the workspace in which sessions leave notes for the next
	Budget       BudgetPolicy     `json:"budget" yaml:"budget"`                       // how much a task may cost, and a day
	Prices       map[string]Price `json:"prices,omitempty" yaml:"prices"`             // of models, besides those that are known
	Critical     []FailurePattern `json:"critical_patterns" yaml:"critical_patterns"` // output that means the environment is broken

	// What stands beside coppice.yaml: the project's own prompts by role, and
	// what is wrong with those that cannot be used.
	Prompts  map[string]string `json:"prompts,omitempty" yaml:"-"`
	Problems []string          `json:"problems,omitempty" yaml:"-"`
}

// BudgetPolicy bounds what is spent.
type BudgetPolicy struct {
	Task USD `json:"task,omitempty" yaml:"task"` // by one task; 0 means no bound
	Day  USD `json:"day,omitempty" yaml:"day"`   // by the project in a day, which begins at midnight UTC; 0 means no bound
}

// FailurePattern names output that means more than the failure of one task.
type FailurePattern struct {
	Match string `json:"match" yaml:"match"`           // a regular expression over what a session or check wrote
	Label string `json:"label,omitempty" yaml:"label"` // what it means, in a few words
}

// Track is a lane of a project with a limit of its own. Limit 0 means no more
// than the project's.
type Track struct {
	Name       string   `json:"name" yaml:"name"`
	Default    bool     `json:"default,omitempty" yaml:"default"`
	Limit      int      `json:"limit,omitempty" yaml:"limit"`
	Categories []string `json:"categories,omitempty" yaml:"categories"` // of the tasks that stand here
	Color      string   `json:"color,omitempty" yaml:"color"`           // #rrggbb, for people's eyes
}

// Limits bound what runs at once and what is kept of it. Memory is the share of
// the machine's memory above which no further session starts.
type Limits struct {
	Sessions int            `json:"sessions" yaml:"sessions"`
	PerAgent map[string]int `json:"per_agent,omitempty" yaml:"per_agent"`
	Memory   Percent        `json:"memory" yaml:"memory"`
	Reserve  Bytes          `json:"reserve,omitempty" yaml:"reserve"` // memory promised to a session that has just started; what its agent took when 0
	Output   Bytes          `json:"output" yaml:"output"`             // how much of a session's output is kept
	// Workspaces bounds the tasks between the start of a session and their landing;
	// see MostWorkspaces.
	Workspaces int `json:"workspaces,omitempty" yaml:"workspaces"`
	Parked     int `json:"parked,omitempty" yaml:"parked"` // sessions that can only wait; see MostParked
}

// MostWorkspaces is how many tasks may be between the start of a session and their
// landing before another one begins: twice as many as sessions where the policy
// does not say.
func (l Limits) MostWorkspaces() int {
	if l.Workspaces == 0 {
		return 2 * l.Sessions
	}
	return l.Workspaces
}

// MostParked is how many sessions stay alive that can only wait: twice as many
// as may run, where the policy does not say.
func (l Limits) MostParked() int {
	if l.Parked == 0 {
		return 2 * l.Sessions
	}
	return l.Parked
}

// DefaultOutput is how much of a session's output is kept where the policy does
// not say.
const DefaultOutput Bytes = 256 << 20

// Kept is how much of a session's output is kept. A policy that was stored
// before the key existed says nothing about it.
func (l Limits) Kept() Bytes {
	if l.Output == 0 {
		return DefaultOutput
	}
	return l.Output
}

// AgentChoice says which agent does the work, and which one follows when it
// cannot: another agent, or agent:model for another model.
type AgentChoice struct {
	Use      string          `json:"use" yaml:"use"`
	Model    string          `json:"model,omitempty" yaml:"model"`
	Effort   string          `json:"effort,omitempty" yaml:"effort"` // how hard the first agent thinks, in its own words
	Fallback []string        `json:"fallback,omitempty" yaml:"fallback"`
	Roles    map[Role]string `json:"roles,omitempty" yaml:"roles"`
}

// SplitChoice reads an entry of Fallback, or an account: an agent, or an agent
// and its model after a colon. Names of agents have no colon; models may.
func SplitChoice(text string) (agent, model string) {
	agent, model, _ = strings.Cut(text, ":")
	return agent, model
}

// ValidChoice checks what SplitChoice reads.
func ValidChoice(text string) error {
	agent, model, named := strings.Cut(text, ":")
	if err := ValidName("agent", agent); err != nil || !named {
		return err
	}
	if model == "" || model == ModelAuto {
		return Errorf(EInvalid, "%s names no model after the colon", Quote(text)).WithFix("name one in the words of its vendor, or write %s alone", agent)
	}
	return ValidModel(model)
}

// Account names whose limits hold for a session: the agent's own, or those of
// agent:model when it runs on a model that Fallback names.
func (c AgentChoice) Account(agent, model string) string {
	if one := agent + ":" + model; model != "" && slices.Contains(c.Fallback, one) {
		return one
	}
	return agent
}

// Profile describes one agent CLI as data: which protocol it speaks and how it
// is started. Prompts never stand in Args: they go over stdin or a file.
type Profile struct {
	Protocol string            `json:"protocol" yaml:"protocol"`           // one of the protocols the agent room has
	Command  []string          `json:"command" yaml:"command"`             // program and leading arguments
	Args     []string          `json:"args,omitempty" yaml:"args"`         // further arguments
	Resume   []string          `json:"resume,omitempty" yaml:"resume"`     // arguments that continue a conversation; {conversation} stands for its id
	Model    []string          `json:"model,omitempty" yaml:"model"`       // arguments that choose a model; {model} stands for its name
	Prompt   string            `json:"prompt,omitempty" yaml:"prompt"`     // how the prompt is passed: stdin (default) or file ({prompt_file} in args)
	Env      map[string]string `json:"env,omitempty" yaml:"env"`           // set for the agent
	PassEnv  []string          `json:"pass_env,omitempty" yaml:"pass_env"` // taken over from Coppice's own environment; NAME or PREFIX_*
	Version  []string          `json:"version,omitempty" yaml:"version"`   // prints its version
	Install  string            `json:"install,omitempty" yaml:"install"`   // tells a person how to get it
	Tested   string            `json:"tested,omitempty" yaml:"tested"`     // the version the facts above were tested on

	Fork   []string      `json:"fork,omitempty" yaml:"fork"`     // arguments that continue a copy of a conversation, instead of Resume
	Effort []string      `json:"effort,omitempty" yaml:"effort"` // arguments that choose how hard it thinks; {effort} stands for the word
	Budget []string      `json:"budget,omitempty" yaml:"budget"` // arguments that bound what it spends; {usd} stands for the amount
	Schema []string      `json:"schema,omitzero" yaml:"schema"`  // arguments that hold its last words to a JSON schema; {schema} stands for the schema, {schema_file} for a file that holds it
	MCP    string        `json:"mcp,omitempty" yaml:"mcp"`       // how tool servers are wired: the protocol's own way when empty, none when it has none
	Screen ScreenProfile `json:"screen,omitzero" yaml:"screen"`  // its own interactive screen, where it has one
	Login  []string      `json:"login,omitempty" yaml:"login"`   // ends with 0 when somebody is logged in
	// LoginFiles and LoginEnv tell the same without running it: any of them
	// present means logged in. ~ stands for the home directory.
	LoginFiles []string          `json:"login_files,omitempty" yaml:"login_files"`
	LoginEnv   []string          `json:"login_env,omitempty" yaml:"login_env"`
	Models     map[string]string `json:"models,omitempty" yaml:"models"` // the model for simple, medium and complex work, for model: auto
	Scores     Scores            `json:"scores" yaml:"scores"`           // how well it does, 0 to 10, as far as is known
	Source     string            `json:"source,omitempty" yaml:"source"` // where the facts come from that were not tested
}

// Scores say how well an agent does in a kind of work.
type Scores struct {
	Lead      int `json:"lead,omitempty" yaml:"lead"`
	Implement int `json:"implement,omitempty" yaml:"implement"`
}

// ScreenProfile describes an agent's own interactive screen.
type ScreenProfile struct {
	Runtime string       `json:"runtime,omitempty" yaml:"runtime"` // pty or tmux; without one there is no screen
	Command []string     `json:"command,omitempty" yaml:"command"` // instead of the profile's
	Args    []string     `json:"args,omitempty" yaml:"args"`       // instead of the profile's
	Resume  []string     `json:"resume,omitempty" yaml:"resume"`   // instead of the profile's
	Submit  string       `json:"submit,omitempty" yaml:"submit"`   // the keys that send what was typed; a carriage return when empty
	Stop    string       `json:"stop,omitempty" yaml:"stop"`       // the keys that interrupt a turn; escape when empty
	Quit    string       `json:"quit,omitempty" yaml:"quit"`       // what ends it when typed and submitted, such as /exit
	Rules   []ScreenRule `json:"rules,omitempty" yaml:"rules"`     // how its state is read off the screen; the first that fits decides
}

// ScreenRule reads a state off the screen.
type ScreenRule struct {
	Match string       `json:"match" yaml:"match"`           // a regular expression over the screen's text
	Lines int          `json:"lines,omitempty" yaml:"lines"` // only the last so many lines that hold anything; all when 0
	State SessionState `json:"state" yaml:"state"`           // working, waiting or idle
	Keys  string       `json:"keys,omitempty" yaml:"keys"`   // typed when it fits, once for each time it appears: for a screen that only wants a key
}

// WorkspacePolicy says what a new workspace gets. Paths are relative to the
// repository's root and never leave it.
type WorkspacePolicy struct {
	Kind  string   `json:"kind" yaml:"kind"`             // worktree
	Copy  []string `json:"copy,omitempty" yaml:"copy"`   // files copied from the checkout, such as .env
	Link  []string `json:"link,omitempty" yaml:"link"`   // paths linked to the checkout's, such as node_modules; never committed
	Setup []string `json:"setup,omitempty" yaml:"setup"` // shell commands run once in a new workspace
	Ports int      `json:"ports" yaml:"ports"`           // how many ports of its own it gets

	Serve  ServePolicy  `json:"serve,omitzero" yaml:"serve"`   // the app, for verifiers to look at
	Docker DockerPolicy `json:"docker,omitzero" yaml:"docker"` // where its commands run, when not on this machine itself
}

// Set tells whether there is an app to serve.
func (s ServePolicy) Set() bool { return s.Run != "" }

// Set tells whether commands run in a service.
func (d DockerPolicy) Set() bool { return d.Service != "" }

// Set tells whether the agent has a screen.
func (s ScreenProfile) Set() bool { return s.Runtime != "" }

// ServePolicy says how the app is started for a verifier. $COPPICE_PORT is the
// port it is to listen on.
type ServePolicy struct {
	Run     string   `json:"run" yaml:"run"`                   // a shell command that serves until it is ended
	Ready   string   `json:"ready,omitempty" yaml:"ready"`     // an address that answers once it is ready; ${COPPICE_PORT} stands for the port
	Timeout Duration `json:"timeout,omitempty" yaml:"timeout"` // how long that may take; 1 m when 0
}

// DockerPolicy names the compose service in which a project's commands run.
type DockerPolicy struct {
	Service string `json:"service" yaml:"service"`
	Dir     string `json:"dir,omitempty" yaml:"dir"`   // where the service sees the repository's root; /app when empty
	File    string `json:"file,omitempty" yaml:"file"` // the compose file; the repository's own when empty
}

// Who verifies a candidate besides its checks.
const (
	VerifyNone  = "none"
	VerifyAgent = "agent" // a session that looks and cannot edit
)

// VerifyPolicy says how a candidate is proven before it lands, and how often a
// refused one goes back to an agent.
type VerifyPolicy struct {
	By       string `json:"by,omitempty" yaml:"by"`   // none or agent; agent for tasks with steps when empty
	Attempts int    `json:"attempts" yaml:"attempts"` // how often a refused candidate goes back to an agent
	Browser  bool   `json:"browser" yaml:"browser"`   // verifiers are given a browser of their own
}

// RetryPolicy says what follows a failed session.
type RetryPolicy struct {
	Max     int      `json:"max" yaml:"max"`         // further sessions after the first
	Backoff Duration `json:"backoff" yaml:"backoff"` // before the first of them; doubles with each
}

// HealthPolicy says when a session is worth a person's look, and when it is over.
type HealthPolicy struct {
	Stalled Duration `json:"stalled" yaml:"stalled"` // silence after which it is called stalled
	Long    Duration `json:"long" yaml:"long"`       // age after which it is called long-running
	Timeout Duration `json:"timeout" yaml:"timeout"` // age after which it is stopped
	Check   Duration `json:"check" yaml:"check"`     // age after which a check command is stopped
}

// Strategies for the commits that land.
const (
	StrategySquash = "squash"
	StrategyMerge  = "merge"
	StrategyRebase = "rebase"
)

// LandPolicy says how work reaches the base.
type LandPolicy struct {
	How      string `json:"how" yaml:"how"`
	Strategy string `json:"strategy" yaml:"strategy"`
	Push     bool   `json:"push" yaml:"push"`
	Remote   string `json:"remote,omitempty" yaml:"remote"` // pushed to; origin when empty
}

// TrashPolicy says what is kept of a removed workspace besides its commits and
// uncommitted changes, and for how long.
type TrashPolicy struct {
	Keep []string `json:"keep,omitempty" yaml:"keep"` // ignored files worth keeping, as globs
	TTL  Duration `json:"ttl" yaml:"ttl"`
}

// Kept is what the trash keeps of a task's workspace: what the policy names, and
// the notes for the task's next session.
func (p Policy) Kept() TrashPolicy {
	t := p.Trash
	if p.Progress != "" {
		t.Keep = append(slices.Clone(t.Keep), p.Progress)
	}
	return t
}

// DefaultPolicy is what an empty coppice.yaml means.
func DefaultPolicy() Policy {
	return Policy{
		Tracks:    []Track{{Name: "main", Default: true}},
		Limits:    Limits{Sessions: 5, Memory: 80, Output: DefaultOutput},
		Workspace: WorkspacePolicy{Kind: "worktree", Ports: 2},
		Verify:    VerifyPolicy{Attempts: 3},
		Retry:     RetryPolicy{Max: 2, Backoff: Duration(10 * time.Second)},
		Health: HealthPolicy{
			Stalled: Duration(10 * time.Minute),
			Long:    Duration(time.Hour),
			Timeout: Duration(4 * time.Hour),
			Check:   Duration(30 * time.Minute),
		},
		Land:  LandPolicy{How: LandQueue, Strategy: StrategySquash},
		Trash: TrashPolicy{Keep: []string{".env*"}, TTL: Duration(14 * 24 * time.Hour)},
	}
}

// TrackFor returns the name of the track for tasks of a category: the first one
// that lists it, else the default one.
func (p Policy) TrackFor(category string) string {
	for _, t := range p.Tracks {
		if category != "" && slices.Contains(t.Categories, category) {
			return t.Name
		}
	}
	t, _ := p.Track("")
	return t.Name
}

// Track returns the track of that name, the default one for "", and whether
// there is one.
func (p Policy) Track(name string) (Track, bool) {
	for _, t := range p.Tracks {
		if t.Name == name || (name == "" && t.Default) {
			return t, true
		}
	}
	return Track{}, false
}

// AgentFor returns the agent that a role uses when the task names none.
func (p Policy) AgentFor(r Role) string {
	if a := p.Agent.Roles[r]; a != "" {
		return a
	}
	return p.Agent.Use
}

// Duration is a time.Duration written as people write it: 90s, 30m, 4h, 14d.
type Duration time.Duration

// D returns it as the standard type.
func (d Duration) D() time.Duration { return time.Duration(d) }

// MarshalText writes the shortest form.
func (d Duration) MarshalText() ([]byte, error) {
	t := time.Duration(d)
	if t != 0 && t%(24*time.Hour) == 0 {
		return append(strconv.AppendInt(nil, int64(t/(24*time.Hour)), 10), 'd'), nil
	}
	s := t.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return []byte(s), nil
}

// UnmarshalText reads what MarshalText writes, and any Go duration.
func (d *Duration) UnmarshalText(b []byte) error {
	s := string(b)
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.Atoi(days)
		if err != nil || n < 0 || n > 36500 {
			return Errorf(EInvalid, "%s is no duration", Quote(s)).WithFix("write it as 90s, 30m, 4h or 14d")
		}
		*d = Duration(time.Duration(n) * 24 * time.Hour)
		return nil
	}
	t, err := time.ParseDuration(s)
	if err != nil || t < 0 {
		return Errorf(EInvalid, "%s is no duration", Quote(s)).WithFix("write it as 90s, 30m, 4h or 14d")
	}
	*d = Duration(t)
	return nil
}

// Percent is a share, written as 80%.
type Percent int

// MarshalText writes it with its sign.
func (p Percent) MarshalText() ([]byte, error) { return []byte(strconv.Itoa(int(p)) + "%"), nil }

// UnmarshalText reads 80 or 80%.
func (p *Percent) UnmarshalText(b []byte) error {
	n, err := strconv.Atoi(strings.TrimSuffix(string(b), "%"))
	if err != nil || n < 1 || n > 100 {
		return Errorf(EInvalid, "%s is no percentage", Quote(string(b))).WithFix("write it as 80%%, from 1%% to 100%%")
	}
	*p = Percent(n)
	return nil
}
