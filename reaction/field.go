package reaction

import (
	"slices"
	"time"
)

// Field is a fact that conditions can use.
type Field struct {
	Name string `json:"name"`
	Type string `json:"type"` // one of the Type constants
	Help string `json:"help"`
	of   func(Facts) any
}

// The types of fields.
const (
	TypeText   = "text"
	TypeNumber = "number"
	TypeBool   = "true or false"
	TypeTexts  = "list of texts"
)

// fields are all fields. Every event has some of them.
var fields = []Field{
	{"minutes", TypeNumber, "how long the event has lasted, in whole minutes", func(f Facts) any { return int(f.Age / time.Minute) }},
	{"task", TypeText, "the key of the task", func(f Facts) any { return f.Task }},
	{"title", TypeText, "the title of the task", func(f Facts) any { return f.Title }},
	{"category", TypeText, "the category of the task", func(f Facts) any { return f.Category }},
	{"labels", TypeTexts, "the labels of the task", func(f Facts) any { return f.Labels }},
	{"number", TypeNumber, "the number of the pull request", func(f Facts) any { return f.Number }},
	{"url", TypeText, "the address of the pull request", func(f Facts) any { return f.URL }},
	{"branch", TypeText, "the branch with the work", func(f Facts) any { return f.Branch }},
	{"base", TypeText, "the branch at which the pull request aims", func(f Facts) any { return f.Base }},
	{"head", TypeText, "the commit at the head of the pull request", func(f Facts) any { return f.Head }},
	{"draft", TypeBool, "whether the pull request is a draft", func(f Facts) any { return f.Draft }},
	{"author", TypeText, "the login of the author of the comment or review; for other events, of the pull request", func(f Facts) any { return f.Author }},
	{"bot", TypeBool, "whether the author is a bot", func(f Facts) any { return f.Bot }},
	{"team", TypeTexts, "the logins whose comments and reviews count", func(f Facts) any { return f.Team }},
	{"label", TypeText, "the label that was added", func(f Facts) any { return f.Label }},
	{"text", TypeText, "the errors, comments, question or reason; its first 8 KiB", func(f Facts) any { return cut(f.Text, mostMatched) }},
	{"checks", TypeTexts, "the names of the checks that failed", func(f Facts) any { return f.Checks }},
}

// The fields that many events share.
var (
	projectFields = []string{"minutes"}
	taskFields    = slices.Concat(projectFields, []string{"task", "title", "category", "labels"})
	pullFields    = slices.Concat(taskFields, []string{"number", "url", "branch", "base", "head", "draft", "author", "bot", "team"})
)

func fieldsOf(names []string, more ...string) []Field {
	list := make([]Field, 0, len(names)+len(more))
	for _, f := range fields {
		if slices.Contains(names, f.Name) || slices.Contains(more, f.Name) {
			list = append(list, f)
		}
	}
	return list
}

// zero returns the empty value of the field's type.
func (f Field) zero() any { return f.of(Facts{}) }
