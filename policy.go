package coppice

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
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
	Trackers  Trackers    `json:"tracker,omitempty" yaml:"tracker"`     // the sources of issues that become tasks
	Trust     string      `json:"trust,omitempty" yaml:"trust"`         // where reactions can pass text from outside to agents; see TrustLevels

	Notify []string `json:"notify,omitempty" yaml:"notify"` // the user's notifiers that get notices of the project; empty: all

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

// BudgetFor returns what a task can cost; 0 means no limit.
func (p Policy) BudgetFor(t Task) USD {
	if t.Budget > 0 || t.IsFlow() { // each step of a flow has the project's
		return t.Budget
	}
	return p.Budget.Task
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

// ModelFor returns the model that a task asks for, or the default of its agent.
func (p Policy) ModelFor(agent, model string) string {
	if model == "" && agent == p.Agent.Use {
		return p.Agent.Model
	}
	return model
}

// EffortFor returns how hard an agent thinks if a task does not say it; empty for the
// agent's own level. Another agent than the first has other levels.
func (p Policy) EffortFor(agent string) string {
	if agent == p.Agent.Use {
		return p.Agent.Effort
	}
	return ""
}

// BranchTemplate returns how the branches of new tasks are named: see BranchFrom.
func (p Policy) BranchTemplate() string { return cmp.Or(p.Workspace.Branch, TaskBranch(branchKey)) }
