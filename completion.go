package coppice

import (
	"slices"
	"strings"
)

// The checks of a session that ended without a failure.
const (
	CompletionDiff   = "diff_not_empty"     // it changed something
	CompletionErrors = "no_error_in_output" // its output does not end with an error
	CompletionNone   = "none"               // no check, where a list replaces another one
)

// CompletionChecks lists the checks of a session that ended without a failure.
var CompletionChecks = []string{CompletionDiff, CompletionErrors, CompletionNone}

// completionWords says when a session is complete that must pass a check.
var completionWords = map[string]string{
	CompletionDiff: "it changed something", CompletionErrors: "its output does not end with an error", CompletionNone: "it ends without a failure",
}

// CompletionChoice is a valid list of completion checks.
type CompletionChoice struct {
	Checks []string `json:"checks"`
	Words  string   `json:"words"` // when a session is complete
}

// CompletionChoices returns all valid lists of completion checks, for forms.
func CompletionChoices() (all []CompletionChoice) {
	for set := 1; set < 1<<len(CompletionChecks); set++ {
		var c CompletionChoice
		var words []string
		for i, name := range CompletionChecks {
			if set&(1<<i) != 0 {
				c.Checks, words = append(c.Checks, name), append(words, completionWords[name])
			}
		}
		if c.Words = strings.Join(words, " and "); ValidCompletion(c.Checks) == nil {
			all = append(all, c)
		}
	}
	return all
}

// defaultCompletion has the checks of a project that names none.
var defaultCompletion = []string{CompletionDiff}

// Requires reports whether a session of a task in a role must pass a completion
// check. The task's own list comes first, then that of the role, of the track and
// of the project. An empty list says nothing.
func (t Task) Requires(p Policy, r Role, check string) bool {
	if !slices.Contains(r.Info().Completion, check) {
		return false
	}
	track, _ := p.Track(t.Track)
	for _, list := range [][]string{t.Completion, p.Agent.Completion[r], track.Completion, p.Verify.Completion, defaultCompletion} {
		if len(list) > 0 {
			return slices.Contains(list, check)
		}
	}
	return false
}

// ValidCompletion checks a list of completion checks. An empty one is valid.
func ValidCompletion(list []string) error {
	for i, name := range list {
		if !slices.Contains(CompletionChecks, name) {
			return Errorf(EInvalid, "%s is not a valid completion check", Quote(name)).
				WithFix("use some of %s", strings.Join(CompletionChecks, ", ")).WithField("completion")
		}
		if slices.Contains(list[:i], name) {
			return Errorf(EInvalid, "the completion check %s is listed twice", name).WithFix("keep one of the two").WithField("completion")
		}
	}
	if len(list) > 1 && slices.Contains(list, CompletionNone) {
		return Errorf(EInvalid, "%s cannot be combined with a completion check", CompletionNone).WithFix("leave out %s, or the others", CompletionNone).WithField("completion")
	}
	return nil
}

// RolesWithCompletion lists the names of the roles that have completion checks.
func RolesWithCompletion() []string {
	var names []string
	for _, i := range Roles {
		if len(i.Completion) > 0 {
			names = append(names, string(i.Role))
		}
	}
	return names
}
