package coppice

import (
	"slices"
	"strings"
)

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

// Set reports whether the agent has a screen.
func (s ScreenProfile) Set() bool { return s.Runtime != "" }
