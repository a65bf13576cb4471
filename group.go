package coppice

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
)

// GroupKind says how a group of tasks was made.
type GroupKind string

// The kinds of group.
const (
	GroupBatch  GroupKind = "batch"  // one request created its tasks
	GroupImport GroupKind = "import" // a file created its tasks
	GroupFlow   GroupKind = "flow"   // a flow created its tasks
	GroupHand   GroupKind = "hand"   // a person put tasks into it
)

// Group is a set of tasks of one project that belong together. It exists while it
// has tasks.
type Group struct {
	ID        int64
	ProjectID int64
	Name      string // unique in the project
	Title     string
	Kind      GroupKind
	CreatedBy string
	CreatedAt time.Time
}

// Limits of labels.
const (
	MaxLabels = 10 // of a task
	MaxLabel  = 40 // bytes
)

var labelRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`) })

// ValidLabel checks a label.
func ValidLabel(s string) error {
	if len(s) > MaxLabel || !labelRE().MatchString(s) {
		return Errorf(EInvalid, "%s is not a valid label", Quote(s)).
			WithFix("use up to %d lower-case letters, digits, dots, dashes and underscores, a letter or digit first", MaxLabel).WithField("labels")
	}
	return nil
}

// ValidGroup checks the name of a group. It has a letter, because a number is the
// id of a group.
func ValidGroup(s string) error {
	if err := ValidName("group", s); err != nil {
		return Public(err).WithField("group")
	}
	if !strings.ContainsFunc(s, unicode.IsLetter) {
		return Errorf(EInvalid, "%s is not a valid group name", Quote(s)).WithFix("use at least one letter").WithField("group")
	}
	return nil
}

// Labels returns a list of labels in their order, each once, or why they are not
// valid.
func Labels(list []string) ([]string, error) {
	var out []string
	for _, s := range list {
		s = strings.TrimSpace(s)
		if err := ValidLabel(s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	slices.Sort(out)
	if out = slices.Compact(out); len(out) > MaxLabels {
		return nil, Errorf(EInvalid, "the task would have %d labels, %d are allowed", len(out), MaxLabels).WithFix("remove some").WithField("labels")
	}
	return out, nil
}

// Marks reports whether the change is only about how people find the task: its
// labels, group and flag. Ended tasks can be changed in this way, too.
func (c TaskChange) Marks() bool {
	rest := c
	rest.Labels, rest.Group, rest.Flagged = nil, nil, nil
	return c != rest && rest == TaskChange{}
}
