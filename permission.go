package coppice

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

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

// Permission is what a person means who answers a permission question.
type Permission struct {
	Allow  bool
	Always bool   // the project remembers it
	Why    string // the reason of a refusal; empty when the person gives none
}

// Rule is the rule that follows from the answer for what a question is about.
func (p Permission) Rule(about Rule) Rule {
	r := Rule{Tool: about.Tool, Match: about.Match, Do: RuleDeny, Why: p.Why}
	if p.Allow {
		r.Do = RuleAllow
	}
	return r
}

// ParsePermission reads the answer to a permission question: allow or deny, once or
// always, and the reason of a refusal. Case and blanks around the answer do not
// matter. A text that is none of the answers is a refusal, and the whole text is
// its reason. ParsePermission is the only reader of such answers.
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

// reason is the reason in what follows a refusal.
func reason(rest string) string {
	rest = strings.TrimLeft(rest, " :,;.-\t\r\n")
	if after, ok := cutWords(rest, "because"); ok && strings.HasPrefix(after, " ") {
		return strings.TrimSpace(after)
	}
	return rest
}

// cutWords cuts words off the front of a text. The words must not go on there.
func cutWords(text, words string) (rest string, ok bool) {
	if len(text) < len(words) || asciiLower(text[:len(words)]) != words {
		return text, false
	}
	rest = text[len(words):]
	r, _ := utf8.DecodeRuneInString(rest)
	return rest, rest == "" || !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// asciiLower lowers the letters A to Z. A letter of another script that only
// looks like one of them, or folds to one, is not that letter.
func asciiLower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
