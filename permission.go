package coppice

// What a rule does.
const (
	RuleAllow = "allow"
	RuleDeny  = "deny"
	RuleAsk   = "ask" // a person decides
)

// Rule says what an agent may do with a tool. Rules are asked in order; the
// first that fits decides.
type Rule struct {
	// Tool is a kind of tool (read, edit, run, search, fetch, other) or the
	// agent's own name for one, with * for anything. Empty fits every tool.
	Tool string `json:"tool,omitempty" yaml:"tool"`
	// Match is a pattern for what the tool is used on: the command, the path
	// within the workspace or the address, with * for anything. Empty fits all.
	Match string `json:"match,omitempty" yaml:"match"`
	// Do is allow, deny or ask.
	Do string `json:"do" yaml:"do"`
	// Why is told to the agent that is denied.
	Why string `json:"why,omitempty" yaml:"why"`
	// Set replaces fields of the tool's input; with allow only.
	Set map[string]string `json:"set,omitempty" yaml:"set"`
}

// PermissionPolicy says what agents may do without asking.
type PermissionPolicy struct {
	Rules   []Rule `json:"rules,omitempty" yaml:"rules"`     // what people say "always" to comes before these
	Default string `json:"default,omitempty" yaml:"default"` // what no rule fits: allow (in a workspace of its own, and nothing lands unchecked), ask or deny
}

// MCPServer is a tool server that sessions are given: one that listens at an
// address, or a program that each session starts for itself and talks to over
// its stdin and stdout. Exactly one of URL and Command is set.
type MCPServer struct {
	URL     string            `json:"url,omitempty" yaml:"url"`
	Headers map[string]string `json:"headers,omitempty" yaml:"headers"` // ${COPPICE_TOKEN} stands for the session's own token, ${secret:NAME} for a secret
	Command []string          `json:"command,omitempty" yaml:"command"` // program and arguments
	Env     map[string]string `json:"env,omitempty" yaml:"env"`         // set for the program, besides what the agent hands on; ${secret:NAME} stands for a secret
}
