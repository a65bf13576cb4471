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

// Permission is what a person's answer to a permission question means.
type Permission struct {
	Do     string // RuleAllow or RuleDeny
	Always bool   // it holds for later calls too
	Why    string // the reason of a refusal, "" when the person gave none
}

// ParsePermission reads a person's answer to a permission question. A text that is
// none of the answers is a refusal with that reason.
func ParsePermission(text string) Permission {
	text = strings.TrimSpace(text)
	switch strings.ToLower(text) {
	case AnswerAllow, "yes", "y", "ok":
		return Permission{Do: RuleAllow}
	case AnswerAllowAlways:
		return Permission{Do: RuleAllow, Always: true}
	case "no", "n":
		return Permission{Do: RuleDeny}
	}
	a := Permission{Do: RuleDeny, Why: text}
	if rest, ok := cutWords(text, AnswerDenyAlways); ok {
		a.Always, a.Why = true, rest
	} else if rest, ok := cutWords(text, AnswerDeny); ok {
		a.Why = rest
	}
	a.Why = strings.TrimLeft(a.Why, " :,;.-\t\r\n")
	if rest, ok := cutWords(a.Why, "because"); ok {
		a.Why = strings.TrimSpace(rest)
	}
	return a
}

// cutWords cuts words from the beginning of a text, in upper or lower case. It is
// false when the last of them goes on.
func cutWords(text, words string) (rest string, ok bool) {
	if len(text) < len(words) || !strings.EqualFold(text[:len(words)], words) {
		return text, false
	}
	rest = text[len(words):]
	r, _ := utf8.DecodeRuneInString(rest)
	return rest, rest == "" || !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// Rule is the rule that follows from the answer for what a question is about.
func (a Permission) Rule(about Rule) Rule {
	return Rule{Tool: about.Tool, Match: about.Match, Do: a.Do, Why: a.Why}
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
