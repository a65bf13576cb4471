package agent

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"coppice"
)

// maxQuestion limits the text of a permission question, in runes.
const maxQuestion = 200

// Question returns the event that asks a person whether a call is allowed. Its
// Rule is the one that "always" remembers.
func Question(c Call, ref string) coppice.AgentEvent {
	rule := always(c)
	return coppice.AgentEvent{
		Kind: coppice.KindQuestion, Ref: ref, Name: c.Name, Tool: c.Kind, Input: Bounded(c.Input), Paths: slices.Clone(c.Paths),
		Text:    oneLine(questionText(c)),
		Options: []string{coppice.AnswerAllow, coppice.AnswerAllowAlways, coppice.AnswerDeny, coppice.AnswerDenyAlways},
		Rule:    &rule,
	}
}

// verbs name what a kind of tool does.
var verbs = map[coppice.ToolKind]string{coppice.ToolRead: "read", coppice.ToolEdit: "edit", coppice.ToolRun: "run", coppice.ToolSearch: "search", coppice.ToolFetch: "fetch"}

func questionText(c Call) string {
	verb, plain := verbs[c.Kind]
	if !plain {
		verb = "use " + c.Name
	}
	var what string
	switch {
	case c.Command != "":
		what = c.Command
	case len(c.Paths) > 0:
		names := make([]string, 0, len(c.Paths))
		for _, p := range c.Paths {
			names = append(names, relative(c.Dir, p))
		}
		what = strings.Join(names, ", ")
	case c.URL != "":
		what = c.URL
	case plain:
		what = "something, with " + c.Name
	default:
		return "may it " + verb + "?"
	}
	return "may it " + verb + ": " + what
}

// oneLine makes a text fit on one line of a person's screen.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) > maxQuestion {
		s = string([]rune(s)[:maxQuestion-1]) + "…"
	}
	return s
}

// always returns the rule that "always" remembers: the same kind of tool on
// similar things.
func always(c Call) coppice.Rule {
	r := coppice.Rule{Tool: string(c.Kind), Do: coppice.RuleAllow}
	if _, plain := verbs[c.Kind]; !plain {
		r.Tool = c.Name
	}
	switch {
	case c.Command != "":
		r.Match = firstWords(c.Command)
	case len(c.Paths) > 0:
		r.Match = folder(c)
	case c.URL != "":
		a := address(c.URL)
		if r.Match = a.host; r.Match == "" {
			r.Match = a.text
		}
	}
	return r
}

// firstWords returns the pattern for commands like this one: the program, its
// first options and the first word that is not an option. Lines with several
// commands or quotes, and lines that cannot be parsed, are remembered as they
// are.
func firstWords(command string) string {
	line := strings.TrimSpace(command)
	if parts, parsed := commands(line); !parsed || len(parts) != 1 || parts[0].text != line {
		return line
	}
	words := strings.Fields(line)
	for i, w := range words {
		if strings.ContainsAny(w, "'\"\\`$*") {
			return line
		}
		if i == 0 || strings.HasPrefix(w, "-") || launches[w] {
			continue
		}
		return strings.Join(words[:i+1], " ") + " *"
	}
	return line
}

// launches are words that need the next word to identify a command.
var launches = map[string]bool{"run": true, "exec": true, "x": true}

// folder returns the pattern for files next to those of the call. Files of
// different folders are asked about one by one.
func folder(c Call) string {
	first := relative(c.Dir, c.Paths[0])
	dir := path.Dir(first)
	if dir == "." || dir == "/" {
		return first
	}
	return dir + "/*"
}

// Answered returns the verdict of a person's answer to a permission question
// that offered to remember a rule. The second result is the rule to remember,
// if the person said always.
func Answered(answer string, rule coppice.Rule) (Verdict, *coppice.Rule) {
	a := coppice.ParsePermission(answer)
	a.Why = Text(a.Why)
	v := Verdict{Do: coppice.RuleDeny, Why: a.Why}
	switch {
	case a.Allow:
		v.Do = coppice.RuleAllow
	case v.Why == "":
		v.Why = refused
	}
	if !a.Always {
		return v, nil
	}
	remember := a.Rule(rule)
	return v, &remember
}

const refused = "a person did not allow this"

// Asker keeps the permissions of one run: the policy, the answers with
// "always", and the calls that wait for an answer. A driver has one and calls
// it from one goroutine at a time.
//
// It also has the run's copy of the project's locks. A call that the rules or a
// person allow is refused if it edits what is locked. A driver embeds its Asker,
// and is a Locker by that.
type Asker struct {
	policy coppice.PermissionPolicy
	open   []asked
	locks  locks
}

type asked struct {
	ref  string
	call Call
}

// NewAsker makes an Asker for a session.
func NewAsker(r Request) *Asker {
	return &Asker{policy: r.Permissions, locks: locks{session: r.Session, mode: r.Locks}}
}

// Restricts reports whether the rules and locks do anything other than allow.
func (a *Asker) Restricts() bool { return Restricts(a.policy) || coppice.EnforcesLocks(a.locks.mode) }

// Decide returns the verdict on a call.
func (a *Asker) Decide(c Call) Verdict { return a.locks.judge(Decide(a.policy, c), c) }

// Ask records that a call waits for a person and returns the question. For a
// ref that waits already it returns false.
func (a *Asker) Ask(c Call, ref string) (coppice.AgentEvent, bool) {
	if a.Asked(ref) {
		return coppice.AgentEvent{}, false
	}
	a.open = append(a.open, asked{ref, c})
	return Question(c, ref), true
}

// Asked reports whether a call waits under that ref.
func (a *Asker) Asked(ref string) bool {
	return slices.ContainsFunc(a.open, func(o asked) bool { return o.ref == ref })
}

// Answer takes a person's answer to the question of that ref. A rule to
// remember comes before all other rules, for the rest of the run.
func (a *Asker) Answer(answer, ref string) (Verdict, Call, bool) {
	i := slices.IndexFunc(a.open, func(o asked) bool { return o.ref == ref })
	if i < 0 {
		return Verdict{}, Call{}, false
	}
	c := a.open[i].call
	a.open = slices.Delete(a.open, i, i+1)
	v, rule := Answered(answer, always(c))
	if rule != nil {
		a.policy.Rules = append([]coppice.Rule{*rule}, a.policy.Rules...)
	}
	return a.locks.judge(v, c), c, true
}

// Withdraw removes a question. It reports whether there was one.
func (a *Asker) Withdraw(ref string) bool {
	n := len(a.open)
	a.open = slices.DeleteFunc(a.open, func(o asked) bool { return o.ref == ref })
	return len(a.open) < n
}

// Waiting lists the refs of the questions without an answer, oldest first.
func (a *Asker) Waiting() []string {
	var refs []string
	for _, o := range a.open {
		refs = append(refs, o.ref)
	}
	return refs
}
