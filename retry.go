package coppice

import (
	"cmp"
	"slices"
	"strings"
)

// What follows a failed session.
const (
	RetryNone    = "none"    // nothing: the task fails
	RetrySame    = "same"    // another session, with what went wrong before
	RetryAnalyze = "analyze" // the same, after another session has found out why it failed
)

// RetryPolicies lists what can follow a failed session.
var RetryPolicies = []string{RetryNone, RetrySame, RetryAnalyze}

// RetryWords says in words what follows a failed session.
var RetryWords = map[string]string{RetryNone: "the task fails", RetrySame: "try again", RetryAnalyze: "find out why, then try again"}

// RetryPolicy says what follows a failed session.
type RetryPolicy struct {
	Policy  string   `json:"policy,omitempty" yaml:"policy"` // one of RetryPolicies; empty means same
	Max     int      `json:"max" yaml:"max"`                 // number of further sessions after the first
	Backoff Duration `json:"backoff" yaml:"backoff"`         // pause before the first of them; it doubles with each

	// Recoveries limits the retries of a task and its copies in 30 minutes; see
	// MostRecoveries.
	Recoveries int `json:"recoveries,omitempty" yaml:"recoveries"`
}

// DefaultRecoveries is the default of RetryPolicy.Recoveries.
const DefaultRecoveries = 3

// MostRecoveries returns how often a task is retried automatically in 30 minutes.
// A policy that was stored before the key existed has none.
func (r RetryPolicy) MostRecoveries() int { return cmp.Or(r.Recoveries, DefaultRecoveries) }

// RetryFor returns what follows a failed session of a task.
func (p Policy) RetryFor(t Task) string { return cmp.Or(t.Retry, p.Retry.Policy, RetrySame) }

// ValidRetry checks what a task names as its retry policy. Empty means that of
// its project.
func ValidRetry(text string) error {
	if text == "" || slices.Contains(RetryPolicies, text) {
		return nil
	}
	return Errorf(EInvalid, "%s is not a valid value for retry", Quote(text)).WithFix("use one of %s", strings.Join(RetryPolicies, ", ")).WithField("retry")
}
