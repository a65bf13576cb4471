package coppice

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The actions of a rule.
const (
	RuleAllow = "allow"
	RuleDeny  = "deny"
	RuleAsk   = "ask" // a person decides
)

// Rule says what an agent can do with a tool. The first rule that matches
// decides.
type Rule struct {
	// Tool is a kind of tool (read, edit, run, search, fetch, other) or the
	// agent's own name for one, with * for anything. Empty matches every tool.
	Tool string `json:"tool,omitempty" yaml:"tool"`
	// Match is a pattern for the argument of the tool: the command, the path
	// within the workspace or the address, with * for anything. Empty matches
	// all.
	Match string `json:"match,omitempty" yaml:"match"`
	// Do is allow, deny or ask.
	Do string `json:"do" yaml:"do"`
	// Why is the reason that a denied agent gets.
	Why string `json:"why,omitempty" yaml:"why"`
	// Set replaces fields of the tool's input. It needs allow.
	Set map[string]string `json:"set,omitempty" yaml:"set"`
}

// PermissionPolicy says what agents can do without asking.
type PermissionPolicy struct {
	Rules   []Rule `json:"rules,omitempty" yaml:"rules"`     // rules from "always" answers come before these
	Default string `json:"default,omitempty" yaml:"default"` // if no rule matches: allow (each session has its own workspace, and nothing lands unchecked), ask or deny

	Roles map[Role]RolePermissions `json:"roles,omitempty" yaml:"roles"` // in addition, for the sessions of a role
}

// RolePermissions says what agents can do in one role.
type RolePermissions struct {
	Rules   []Rule `json:"rules,omitempty" yaml:"rules"`     // before all others, remembered ones included
	Default string `json:"default,omitempty" yaml:"default"` // instead of the project's, if it is set
}

// For returns the policy for sessions of a role, with rules that are remembered.
func (p PermissionPolicy) For(r Role, remembered []Rule) PermissionPolicy {
	own := p.Roles[r]
	return PermissionPolicy{Rules: slices.Concat(own.Rules, remembered, p.Rules), Default: cmp.Or(own.Default, p.Default)}
}

// MCPServer is a tool server for sessions. It listens at an address, or it is a
// program that each session starts and talks to over its stdin and stdout.
// Exactly one of URL and Command is set.
type MCPServer struct {
	URL     string            `json:"url,omitempty" yaml:"url"`
	Headers map[string]string `json:"headers,omitempty" yaml:"headers"` // ${COPPICE_TOKEN} is replaced by the session's token, ${secret:NAME} by a secret
	Command []string          `json:"command,omitempty" yaml:"command"` // program and arguments
	Env     map[string]string `json:"env,omitempty" yaml:"env"`         // set for the program, in addition to what the agent passes on; ${secret:NAME} is replaced by a secret
}

// Permission is a parsed answer to a permission question.
type Permission struct {
	Allow  bool
	Always bool   // the project remembers it
	Why    string // the reason of a refusal; empty if the person gives none
}

// Rule returns the rule that the answer adds for the subject of a question.
func (p Permission) Rule(about Rule) Rule {
	r := Rule{Tool: about.Tool, Match: about.Match, Do: RuleDeny, Why: p.Why}
	if p.Allow {
		r.Do = RuleAllow
	}
	return r
}

// ParsePermission reads the answer to a permission question: allow or deny, once
// or always, and the reason of a refusal. Case and blanks around the answer do
// not matter. Any other text is a refusal, and the whole text is its reason.
// ParsePermission is the only parser of such answers.
func ParsePermission(text string) Permission {
	text = strings.TrimSpace(text)
	switch asciiLower(text) {
	case AnswerAllow, "yes", "y", "ok":
		return Permission{Allow: true}
	case AnswerAllowAlways:
		return Permission{Allow: true, Always: true}
	case "no", "n":
		return Permission{}
	}
	if rest, ok := cutWords(text, AnswerDenyAlways); ok {
		return Permission{Always: true, Why: reason(rest)}
	}
	if rest, ok := cutWords(text, AnswerDeny); ok {
		return Permission{Why: reason(rest)}
	}
	return Permission{Why: reason(text)}
}

// reason returns the reason in the text after a refusal.
func reason(rest string) string {
	rest = strings.TrimLeft(rest, " :,;.-\t\r\n")
	if after, ok := cutWords(rest, "because"); ok && strings.HasPrefix(after, " ") {
		return strings.TrimSpace(after)
	}
	return rest
}

// cutWords removes words from the start of a text. No letter or digit can follow
// them.
func cutWords(text, words string) (rest string, ok bool) {
	if len(text) < len(words) || asciiLower(text[:len(words)]) != words {
		return text, false
	}
	rest = text[len(words):]
	r, _ := utf8.DecodeRuneInString(rest)
	return rest, rest == "" || !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// asciiLower lowers the letters A to Z only. Letters of other scripts that look
// like them, or fold to them, do not change.
func asciiLower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
