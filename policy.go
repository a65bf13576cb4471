package coppice

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Policy is a project's coppice.yaml, with defaults filled in. It is committed
// with the code, so nothing in it names a machine.
type Policy struct {
	Base      string             `json:"base" yaml:"base"`           // the branch on which work lands
	Tracks    []Track            `json:"tracks" yaml:"tracks"`       // lanes; the default one always exists
	Limits    Limits             `json:"limits" yaml:"limits"`       // how much runs in parallel
	Agent     AgentChoice        `json:"agent" yaml:"agent"`         // the agent that does the work
	Agents    map[string]Profile `json:"agents" yaml:"agents"`       // the project's own agent CLIs
	Workspace WorkspacePolicy    `json:"workspace" yaml:"workspace"` // what a new workspace gets
	Checks    []string           `json:"checks" yaml:"checks"`       // shell commands whose exit code decides about a tree
	Verify    VerifyPolicy       `json:"verify" yaml:"verify"`       // how often a refused candidate is fixed
	Retry     RetryPolicy        `json:"retry" yaml:"retry"`         // what follows a failed session
	Health    HealthPolicy       `json:"health" yaml:"health"`       // when a session is stalled, long or stopped
	Land      LandPolicy         `json:"land" yaml:"land"`           // how work reaches the base
	Trash     TrashPolicy        `json:"trash" yaml:"trash"`         // what is kept of removed workspaces

	Permissions PermissionPolicy     `json:"permissions" yaml:"permissions"` // what agents can do without asking
	MCP         map[string]MCPServer `json:"mcp,omitempty" yaml:"mcp"`       // tool servers for sessions
	Locks       string               `json:"locks,omitempty" yaml:"locks"`   // whether edits without a lock are refused; see LockModes

	Features     string           `json:"features,omitempty" yaml:"features"`         // a file of the repository that lists tasks
	Instructions string           `json:"instructions,omitempty" yaml:"instructions"` // a file of the repository that every session follows
	Progress     string           `json:"progress,omitempty" yaml:"progress"`         // a file of the workspace in which sessions leave notes for the next
	Budget       BudgetPolicy     `json:"budget" yaml:"budget"`                       // how much a task can cost, and a day
	Prices       map[string]Price `json:"prices,omitempty" yaml:"prices"`             // of models, in addition to the known ones
	Critical     []FailurePattern `json:"critical_patterns" yaml:"critical_patterns"` // output that means the environment is broken
	Hooks        Hooks            `json:"hooks,omitempty" yaml:"hooks"`               // commands that follow what happens

	Forge     ForgePolicy `json:"forge,omitzero" yaml:"forge"`          // where pull requests are
	Reactions Reactions   `json:"reactions,omitempty" yaml:"reactions"` // what follows events of pull requests and agents
	Trust     string      `json:"trust,omitempty" yaml:"trust"`         // where reactions can pass text from outside to agents; see TrustLevels

	Prompt PromptPolicy `json:"prompt,omitzero" yaml:"prompt"` // what the first message of a session has
	Goal   GoalPolicy   `json:"goal,omitzero" yaml:"goal"`     // defaults of goals

	// Context has the files that are part of each first message: see ContextFile.
	Context []ContextFile `json:"context,omitempty" yaml:"-"`

	// The project's own prompts by role, from files next to coppice.yaml, and
	// the errors of those that cannot be used.
	Prompts  map[string]string `json:"prompts,omitempty" yaml:"-"`
	Problems []string          `json:"problems,omitempty" yaml:"-"`
}

// PromptPolicy says what the first message of a session has.
type PromptPolicy struct {
	Context Bytes `json:"context,omitempty" yaml:"context"` // the most bytes of context files; see MostContext
}

// MaxGoalWorkers is the highest limit of the open workers of a goal.
const MaxGoalWorkers = 20

// GoalPolicy has defaults of goals.
type GoalPolicy struct {
	Workers int `json:"workers,omitempty" yaml:"workers"` // the most that are open at the same time; 0 means the default
}

// DefaultContext is the default limit of context files in a first message.
const DefaultContext Bytes = 24 << 10

// MostContext returns the limit of context files in a first message.
func (p PromptPolicy) MostContext() Bytes {
	return cmp.Or(p.Context, DefaultContext)
}

// ContextFile is a file of the repository that is part of the first message of each
// session, as far as the limit allows.
type ContextFile struct {
	Name string `json:"name"` // relative to the repository
	Text string `json:"text"` // its beginning, if it was cut
	Size int    `json:"size"` // of the whole file
}

// ToolLine describes a tool of Coppice in one line.
type ToolLine struct {
	Name  string
	About string
}

// BudgetPolicy limits spending.
type BudgetPolicy struct {
	Task USD `json:"task,omitempty" yaml:"task"` // for one task; 0 means no limit
	Day  USD `json:"day,omitempty" yaml:"day"`   // for the project per day, from midnight UTC; 0 means no limit
}

// FailurePattern describes output that means more than the failure of one task.
type FailurePattern struct {
	Match string `json:"match" yaml:"match"`           // a regular expression over the output of a session or check
	Label string `json:"label,omitempty" yaml:"label"` // what it means, in a few words
}

// Track is a lane of a project with its own limit. Limit 0 means only the
// project's limit.
type Track struct {
	Name       string   `json:"name" yaml:"name"`
	Default    bool     `json:"default,omitempty" yaml:"default"`
	Limit      int      `json:"limit,omitempty" yaml:"limit"`
	Categories []string `json:"categories,omitempty" yaml:"categories"` // categories of its tasks
	Color      string   `json:"color,omitempty" yaml:"color"`           // #rrggbb, for display
	Completion []string `json:"completion,omitempty" yaml:"completion"` // see Task.Requires
}

// Limits bound how much runs in parallel and how much of it is kept. Above
// Memory, a share of the machine's memory, no further session starts.
type Limits struct {
	Sessions int            `json:"sessions" yaml:"sessions"`
	PerAgent map[string]int `json:"per_agent,omitempty" yaml:"per_agent"`
	Memory   Percent        `json:"memory" yaml:"memory"`
	Reserve  Bytes          `json:"reserve,omitempty" yaml:"reserve"` // memory reserved for a session that has just started; 0 means what its agent used before
	Output   Bytes          `json:"output" yaml:"output"`             // limit of a session's kept output
	Disk     Bytes          `json:"disk,omitempty" yaml:"disk"`       // no session starts if less is free; see LeastDisk
	// Workspaces limits the tasks between the start of a session and their
	// landing; see MostWorkspaces.
	Workspaces int `json:"workspaces,omitempty" yaml:"workspaces"`
	Parked     int `json:"parked,omitempty" yaml:"parked"`     // limit of sessions that can only wait; see MostParked
	Previews   int `json:"previews,omitempty" yaml:"previews"` // limit of apps that people look at; see MostPreviews
	Hooks      int `json:"hooks,omitempty" yaml:"hooks"`       // limit of hooks that run at the same time; see MostHooks
	Depth      int `json:"depth,omitempty" yaml:"depth"`       // levels of tasks that sessions create; see MostDepth
	Children   int `json:"children,omitempty" yaml:"children"` // open tasks that the sessions of one task created; see MostChildren
}

// MostHooks returns how many hooks of a project can run at the same time.
func (l Limits) MostHooks() int {
	return cmp.Or(l.Hooks, defaultHooks)
}

const defaultHooks = 4

// MostPreviews returns how many previews can run at the same time.
func (l Limits) MostPreviews() int {
	return cmp.Or(l.Previews, defaultPreviews)
}

const defaultPreviews = 4

// MostWorkspaces returns how many tasks can be between the start of a session
// and their landing before another one starts. The default is twice the number
// of sessions.
func (l Limits) MostWorkspaces() int {
	return cmp.Or(l.Workspaces, 2*l.Sessions)
}

// MostParked returns how many sessions that can only wait stay alive. The
// default is twice the number of sessions.
func (l Limits) MostParked() int {
	return cmp.Or(l.Parked, 2*l.Sessions)
}

// DefaultOutput is the default limit of a session's kept output.
const DefaultOutput Bytes = 256 << 20

// Kept returns the limit of a session's kept output. A policy that was stored
// before the key existed has none.
func (l Limits) Kept() Bytes {
	return cmp.Or(l.Output, DefaultOutput)
}

// AgentChoice names the agent that does the work, and its fallbacks: another
// agent, or agent:model for another model.
type AgentChoice struct {
	Use      string          `json:"use" yaml:"use"`
	Model    string          `json:"model,omitempty" yaml:"model"`
	Effort   string          `json:"effort,omitempty" yaml:"effort"` // how hard the first agent thinks, in the agent's words
	Fallback []string        `json:"fallback,omitempty" yaml:"fallback"`
	Roles    map[Role]string `json:"roles,omitempty" yaml:"roles"`

	Limits map[Role]RunLimits `json:"limits,omitempty" yaml:"limits"` // of each session in a role

	Completion map[Role][]string `json:"completion,omitempty" yaml:"completion"` // of each session in a role; see Task.Requires
	Identity   map[string]string `json:"identity,omitempty" yaml:"identity"`     // the author of commits by an agent, by its name; see ParseIdentity
}

// SplitChoice reads an entry of Fallback, or an account: an agent, or an agent
// and its model after a colon. Names of agents have no colon. Models can have
// one.
func SplitChoice(text string) (agent, model string) {
	agent, model, _ = strings.Cut(text, ":")
	return agent, model
}

// ValidChoice checks an entry that SplitChoice reads.
func ValidChoice(text string) error {
	agent, model, named := strings.Cut(text, ":")
	if err := ValidName("agent", agent); err != nil || !named {
		return err
	}
	if model == "" || model == ModelAuto {
		return Errorf(EInvalid, "%s has no model after the colon", Quote(text)).WithFix("add the vendor's name of a model, or write only %s", agent)
	}
	return ValidModel(model)
}

// Account returns the account whose limits apply to a session: the agent, or
// agent:model if it runs on a model that Fallback names.
func (c AgentChoice) Account(agent, model string) string {
	if one := agent + ":" + model; model != "" && slices.Contains(c.Fallback, one) {
		return one
	}
	return agent
}

// Profile describes one agent CLI as data: its protocol and how it is started.
// Prompts are never in Args: they are passed over stdin or a file.
type Profile struct {
	Protocol string            `json:"protocol" yaml:"protocol"`           // one of the protocols in package agent
	Command  []string          `json:"command" yaml:"command"`             // program and leading arguments
	Args     []string          `json:"args,omitempty" yaml:"args"`         // further arguments
	Resume   []string          `json:"resume,omitempty" yaml:"resume"`     // arguments that continue a conversation; {conversation} is replaced by its id
	Model    []string          `json:"model,omitempty" yaml:"model"`       // arguments that choose a model; {model} is replaced by its name
	Prompt   string            `json:"prompt,omitempty" yaml:"prompt"`     // how the prompt is passed: stdin (default) or file ({prompt_file} in args)
	Env      map[string]string `json:"env,omitempty" yaml:"env"`           // set for the agent
	PassEnv  []string          `json:"pass_env,omitempty" yaml:"pass_env"` // passed on from Coppice's own environment; NAME or PREFIX_*
	Version  []string          `json:"version,omitempty" yaml:"version"`   // prints its version
	Install  string            `json:"install,omitempty" yaml:"install"`   // how a person can install it
	Tested   string            `json:"tested,omitempty" yaml:"tested"`     // the version on which the facts above were tested

	Fork   []string      `json:"fork,omitempty" yaml:"fork"`     // arguments that continue a copy of a conversation, instead of Resume
	Effort []string      `json:"effort,omitempty" yaml:"effort"` // arguments that choose how hard it thinks; {effort} is replaced by the word
	Budget []string      `json:"budget,omitempty" yaml:"budget"` // arguments that limit its spending; {usd} is replaced by the amount
	Schema []string      `json:"schema,omitzero" yaml:"schema"`  // arguments that validate its final message against a JSON schema; {schema} is replaced by the schema, {schema_file} by a file with it
	MCP    string        `json:"mcp,omitempty" yaml:"mcp"`       // how tool servers are configured: if empty, as the protocol does it; none if it cannot
	Screen ScreenProfile `json:"screen,omitzero" yaml:"screen"`  // its own interactive screen, if it has one
	Login  []string      `json:"login,omitempty" yaml:"login"`   // exits with 0 if a user is logged in
	// LoginFiles and LoginEnv show the same without running it: one of them
	// present means logged in. ~ is the home directory.
	LoginFiles []string          `json:"login_files,omitempty" yaml:"login_files"`
	LoginEnv   []string          `json:"login_env,omitempty" yaml:"login_env"`
	Models     map[string]string `json:"models,omitempty" yaml:"models"`   // the model for simple, medium and complex work, for model: auto
	Efforts    []string          `json:"efforts,omitempty" yaml:"efforts"` // the levels of effort that it knows, the lowest first
	Scores     Scores            `json:"scores" yaml:"scores"`             // how good it is, as far as known
	Source     string            `json:"source,omitempty" yaml:"source"`   // the source of the facts that were not tested
	Driver     DriverProfile     `json:"driver,omitzero" yaml:"driver"`    // settings of the driver

	// LoginConfig has patterns by settings file. If a line of the file matches, the
	// agent can work without a login, so the login command decides nothing.
	LoginConfig map[string]string `json:"login_config,omitzero" yaml:"login_config"`
}

// Unproven reports whether no version of the real CLI was ever run with this
// profile: all of its facts come from elsewhere. A profile without a source was
// written by the people who use it.
func (p Profile) Unproven() bool { return p.Tested == "" && p.Source != "" }

// DriverProfile has the settings of an agent's driver. All fields except Files
// concern one protocol. The others ignore them.
type DriverProfile struct {
	Files    map[string]string `json:"files,omitzero" yaml:"files"`          // text by variable: the session gets a file with the text, and its path in the variable
	Auth     string            `json:"auth,omitempty" yaml:"auth"`           // acp: the login that is chosen if the agent refuses a session without one
	Messages string            `json:"messages,omitempty" yaml:"messages"`   // acp: now, if the agent reads a message during a turn; else later
	AskEnv   map[string]string `json:"ask_env,omitzero" yaml:"ask_env"`      // acp: variables that make the agent ask for permission, set if there are rules
	AskArgs  []string          `json:"ask_args,omitzero" yaml:"ask_args"`    // acp: arguments that do the same
	Secrets  string            `json:"secrets,omitempty" yaml:"secrets"`     // acp: named, if the agent inserts secrets of tool servers from its environment; else filled
	Meta     string            `json:"meta,omitempty" yaml:"meta"`           // acp: a JSON object for _meta of a new session; "{usd}" in it is replaced by the budget
	RetryLog string            `json:"retry_log,omitempty" yaml:"retry_log"` // acp: how the agent reports on stderr that a service refused it and that it retries; the first group is the cause
	Sandbox  string            `json:"sandbox,omitempty" yaml:"sandbox"`     // its own sandbox, for agents that have one; if empty, danger-full-access, which means none
}

// Values of fields of a DriverProfile.
const (
	MessagesNow  = "now"
	SecretsNamed = "named"
	NoSandbox    = "danger-full-access"
)

// All valid values of these fields.
var (
	DriverMessages  = []string{MessagesNow, "later"}
	DriverSecrets   = []string{SecretsNamed, "filled"}
	DriverSandboxes = []string{"read-only", "workspace-write", NoSandbox}
)

// Scores say how good an agent is at a kind of work, from 1 to 10; 0 is unknown.
// Coppice shows them, and decides nothing by them.
type Scores struct {
	Lead      int `json:"lead,omitempty" yaml:"lead" doc:"How well it leads others"`
	Implement int `json:"implement,omitempty" yaml:"implement" doc:"How well it implements"`
}

// ScreenProfile describes an agent's own interactive screen.
type ScreenProfile struct {
	Runtime string       `json:"runtime,omitempty" yaml:"runtime"` // pty or tmux; if empty, it has no screen
	Command []string     `json:"command,omitempty" yaml:"command"` // instead of the profile's
	Args    []string     `json:"args,omitempty" yaml:"args"`       // instead of the profile's
	Resume  []string     `json:"resume,omitempty" yaml:"resume"`   // instead of the profile's
	Submit  string       `json:"submit,omitempty" yaml:"submit"`   // the keys that send the typed text; a carriage return if empty
	Stop    string       `json:"stop,omitempty" yaml:"stop"`       // the keys that interrupt a turn; escape if empty
	Quit    string       `json:"quit,omitempty" yaml:"quit"`       // the text that ends it when submitted, such as /exit
	Rules   []ScreenRule `json:"rules,omitempty" yaml:"rules"`     // how its state is read from the screen; the first match decides
}

// ScreenRule reads a state from the screen.
type ScreenRule struct {
	Match string       `json:"match" yaml:"match"`           // a regular expression over the screen's text
	Lines int          `json:"lines,omitempty" yaml:"lines"` // only the last N lines that are not blank; 0 means all
	State SessionState `json:"state" yaml:"state"`           // working, waiting or idle
	Keys  string       `json:"keys,omitempty" yaml:"keys"`   // typed once each time the rule starts to match: for a screen that waits for a key
}

// WorkspacePolicy says what a new workspace gets. Paths are relative to the
// repository's root and never leave it.
type WorkspacePolicy struct {
	Kind string `json:"kind" yaml:"kind"` // worktree
	// Branch is a template for the names of new tasks' branches; see BranchFrom. Empty
	// means TaskBranch.
	Branch string   `json:"branch,omitempty" yaml:"branch"`
	Copy   []string `json:"copy,omitempty" yaml:"copy"`   // files copied from the checkout, such as .env
	Link   []string `json:"link,omitempty" yaml:"link"`   // paths linked to the checkout's, such as node_modules; never committed
	Setup  []string `json:"setup,omitempty" yaml:"setup"` // shell commands run once in a new workspace
	Ports  int      `json:"ports" yaml:"ports"`           // number of ports that it gets
	// PassEnv names variables that agents, checks, set-up commands and apps get from
	// Coppice's own environment: NAME or PREFIX_*. Keys of agents are refused.
	PassEnv []string `json:"pass_env,omitempty" yaml:"pass_env"`

	Serve  ServePolicy  `json:"serve,omitzero" yaml:"serve"`   // the app, for verifiers
	Docker DockerPolicy `json:"docker,omitzero" yaml:"docker"` // where its commands run, if not directly on this machine
}

// Set reports whether there is an app to serve.
func (s ServePolicy) Set() bool { return s.Run != "" }

// Set reports whether commands run in a service.
func (d DockerPolicy) Set() bool { return d.Service != "" }

// Set reports whether the agent has a screen.
func (s ScreenProfile) Set() bool { return s.Runtime != "" }

// ServePolicy says how the app is started for a verifier. $COPPICE_PORT is the
// port on which it must listen.
type ServePolicy struct {
	Run     string   `json:"run" yaml:"run"`                   // a shell command that serves until it is ended
	Ready   string   `json:"ready,omitempty" yaml:"ready"`     // an address that answers when the app is ready; ${COPPICE_PORT} is replaced by the port
	Timeout Duration `json:"timeout,omitempty" yaml:"timeout"` // how long that can take; 0 means 1 minute
}

// DockerPolicy names the compose service in which a project's commands run.
type DockerPolicy struct {
	Service string `json:"service" yaml:"service"`
	Dir     string `json:"dir,omitempty" yaml:"dir"`   // where the service has the repository's root; /app if empty
	File    string `json:"file,omitempty" yaml:"file"` // the compose file; the repository's own if empty
}

// The verifiers of a candidate, besides its checks.
const (
	VerifyNone  = "none"
	VerifyAgent = "agent" // a session that reads and cannot edit
)

// VerifyPolicy says how a candidate is proven before it lands, and how often a
// refused one goes back to an agent.
type VerifyPolicy struct {
	By       string `json:"by,omitempty" yaml:"by"`   // none or agent; if empty, agent for tasks with steps
	Attempts int    `json:"attempts" yaml:"attempts"` // how often a refused candidate goes back to an agent
	Browser  bool   `json:"browser" yaml:"browser"`   // verifiers get their own browser

	Completion []string `json:"completion,omitempty" yaml:"completion"` // see Task.Requires

	BrowserServer BrowserServer `json:"browser_server,omitzero" yaml:"browser_server"` // the tool server of that browser
}

// BrowserServer is the tool server through which a session uses its browser. It is
// chrome-devtools-mcp, or a package that takes the same arguments.
type BrowserServer struct {
	Package string   `json:"package,omitempty" yaml:"package"` // of npm, with its version; if empty, the one that Coppice was tested with
	Args    []string `json:"args,omitempty" yaml:"args"`       // before Coppice's own arguments
	Name    string   `json:"name,omitempty" yaml:"name"`       // what the agent calls it; see ServerName
}

// ServerName returns the name of the tool server. A tool server of the project with
// this name replaces it.
func (b BrowserServer) ServerName() string { return cmp.Or(b.Name, "browser") }

// HealthPolicy says when a person should look at a session, and when it is
// stopped.
type HealthPolicy struct {
	Stalled Duration `json:"stalled" yaml:"stalled"` // silence after which it is shown as stalled
	Long    Duration `json:"long" yaml:"long"`       // age after which it is shown as long-running
	Timeout Duration `json:"timeout" yaml:"timeout"` // age after which it is stopped
	Check   Duration `json:"check" yaml:"check"`     // age after which a check command is stopped
	// Question is how long a question waits for a person. Then Coppice answers that
	// nobody did. 0 means that it waits without a limit.
	Question Duration `json:"question,omitempty" yaml:"question"`
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
	Remote   string `json:"remote,omitempty" yaml:"remote"` // the remote to push to; origin if empty

	Ask LandAsk `json:"ask,omitzero" yaml:"ask"` // which changes a person reviews first, although work lands automatically

	PR PullPolicy `json:"pr,omitzero" yaml:"pr"` // with how: pr, how pull requests are opened and merged
}

// LandAsk has the rules by which some changes wait for a person's review. A
// change waits if one rule applies.
type LandAsk struct {
	Paths      []string `json:"paths,omitempty" yaml:"paths"`           // globs: the change touches a file that matches
	Lines      int      `json:"lines,omitempty" yaml:"lines"`           // the change adds and removes more lines than this; 0 means no limit
	Categories []string `json:"categories,omitempty" yaml:"categories"` // the task has one of these categories
}

// IsZero reports whether there is no rule.
func (a LandAsk) IsZero() bool { return len(a.Paths) == 0 && a.Lines == 0 && len(a.Categories) == 0 }

// Mark identifies the rules that concern the content of a change. It is empty if
// there are none.
func (a LandAsk) Mark() string {
	a.Categories = nil
	if a.IsZero() {
		return ""
	}
	sum := sha256.Sum256(Raw(a))
	return hex.EncodeToString(sum[:8])
}

// TrashPolicy says what is kept of a removed workspace besides its commits and
// uncommitted changes, and for how long.
type TrashPolicy struct {
	Keep []string `json:"keep,omitempty" yaml:"keep"` // ignored files worth keeping, as globs
	TTL  Duration `json:"ttl" yaml:"ttl"`
}

// Kept returns what the trash keeps of a task's workspace: what the policy
// names, and the notes for the task's next session.
func (p Policy) Kept() TrashPolicy {
	t := p.Trash
	if p.Progress != "" {
		t.Keep = append(slices.Clone(t.Keep), p.Progress)
	}
	return t
}

// DefaultPolicy returns the policy of an empty coppice.yaml.
func DefaultPolicy() Policy {
	return Policy{
		Tracks:    []Track{{Name: "main", Default: true}},
		Limits:    Limits{Sessions: 5, Memory: 80, Output: DefaultOutput},
		Workspace: WorkspacePolicy{Kind: "worktree", Ports: 2},
		Verify:    VerifyPolicy{Attempts: 3},
		Retry:     RetryPolicy{Policy: RetrySame, Max: 2, Backoff: Duration(10 * time.Second)},
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
// that lists it, or else the default one.
func (p Policy) TrackFor(category string) string {
	for _, t := range p.Tracks {
		if category != "" && slices.Contains(t.Categories, category) {
			return t.Name
		}
	}
	t, _ := p.Track("")
	return t.Name
}

// Track returns the track with that name, or the default one for "". It reports
// whether the track exists.
func (p Policy) Track(name string) (Track, bool) {
	for _, t := range p.Tracks {
		if t.Name == name || (name == "" && t.Default) {
			return t, true
		}
	}
	return Track{}, false
}

// AgentFor returns the agent of a role if the task names none.
func (p Policy) AgentFor(r Role) string {
	if a := p.Agent.Roles[r]; a != "" {
		return a
	}
	return p.Agent.Use
}

// Duration is a time.Duration that is written as people write it: 90s, 30m, 4h,
// 14d.
type Duration time.Duration

// D returns the duration as a time.Duration.
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

// UnmarshalText reads the form of MarshalText, and any Go duration.
func (d *Duration) UnmarshalText(b []byte) error {
	s := string(b)
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.Atoi(days)
		if err != nil || n < 0 || n > 36500 {
			return Errorf(EInvalid, "%s is not a valid duration", Quote(s)).WithFix("write it as 90s, 30m, 4h or 14d")
		}
		*d = Duration(time.Duration(n) * 24 * time.Hour)
		return nil
	}
	t, err := time.ParseDuration(s)
	if err != nil || t < 0 {
		return Errorf(EInvalid, "%s is not a valid duration", Quote(s)).WithFix("write it as 90s, 30m, 4h or 14d")
	}
	*d = Duration(t)
	return nil
}

// Percent is a share, written as 80%.
type Percent int

// MarshalText writes it with the percent sign.
func (p Percent) MarshalText() ([]byte, error) { return []byte(strconv.Itoa(int(p)) + "%"), nil }

// UnmarshalText reads 80 or 80%.
func (p *Percent) UnmarshalText(b []byte) error {
	n, err := strconv.Atoi(strings.TrimSuffix(string(b), "%"))
	if err != nil || n < 1 || n > 100 {
		return Errorf(EInvalid, "%s is not a valid percentage", Quote(string(b))).WithFix("write it as 80%%, from 1%% to 100%%")
	}
	*p = Percent(n)
	return nil
}
