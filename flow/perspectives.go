package flow

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"coppice"
)

// Perspective is how a worker of a goal looks at its task. Its prompt is
// perspective-<name>.
type Perspective struct {
	Name    string `json:"name"`
	About   string `json:"about"`
	Changes bool   `json:"changes"` // its work lands on the branch of the goal; otherwise it answers
}

// Implementer is the perspective of a worker if none is named, and Verifier that of
// the tool verify. Reviewer is that of cross reviews.
const (
	Implementer = "implementer"
	Reviewer    = "reviewer"
	Verifier    = "verifier"
)

// Perspectives lists the perspectives of workers.
var Perspectives = []Perspective{
	{Implementer, "implements a task with the smallest change that does it", true},
	{"tester", "writes tests for success and for at least one failure of each public function, and changes no production code", true},
	{Reviewer, "reviews code, and reports numbered findings with file and line", false},
	{"security", "checks authentication, injection, secrets and cryptography, and reports findings with a severity", false},
	{"performance", "looks for repeated queries, quadratic work and blocking calls, and reports findings", false},
	{Verifier, "runs the whole test suite and the linters, and reports the exit codes", false},
	{"researcher", "answers a question with 3 to 5 searches, names its sources, and marks those older than 18 months", false},
}

// perspective returns a perspective by its name, or nil.
func perspective(name string) *Perspective {
	n := slices.IndexFunc(Perspectives, func(p Perspective) bool { return p.Name == name })
	if n < 0 {
		return nil
	}
	return &Perspectives[n]
}

// Limits of a request for a worker.
const (
	MostScope     = 20       // files or patterns
	mostScopeName = 500      // bytes of each
	MostCriteria  = 400      // characters
	MostContext   = 1500     // characters
	mostTask      = 64 << 10 // bytes
)

// Spawn is a request of a lead for a worker. The request names the key of the step, so
// that the lead has it before the step exists.
type Spawn struct {
	Key         string   `json:"key"`
	Perspective string   `json:"perspective"`
	Hint        string   `json:"hint,omitempty"` // the agent that the lead names
	Agent       string   `json:"agent"`          // the choice
	Task        string   `json:"task"`
	Scope       []string `json:"scope,omitempty"`
	Criteria    string   `json:"criteria,omitempty"`
	Context     string   `json:"context,omitempty"`
}

// Check returns why a request for a worker is not valid.
func (s Spawn) Check() error {
	if perspective(s.Perspective) == nil {
		names := make([]string, len(Perspectives))
		for n, p := range Perspectives {
			names[n] = p.Name
		}
		return coppice.Errorf(coppice.EInvalid, "there is no perspective %s", coppice.Quote(s.Perspective)).WithFix("use one of: %s", strings.Join(names, ", ")).WithField("perspective")
	}
	if !coppice.Visible(s.Task) {
		return coppice.Errorf(coppice.EInvalid, "the task is empty").WithFix("say what the worker should do").WithField("task")
	}
	if err := coppice.ValidText("task", s.Task, mostTask); err != nil {
		return err
	}
	if err := CheckScope(s.Scope); err != nil {
		return err
	}
	if err := CheckLength("pass_criteria", s.Criteria, MostCriteria); err != nil {
		return err
	}
	return CheckLength("extra_context", s.Context, MostContext)
}

// CheckScope returns why files or patterns cannot be the scope of a worker.
func CheckScope(scope []string) error {
	if len(scope) > MostScope {
		return coppice.Errorf(coppice.EInvalid, "the scope has %d entries", len(scope)).WithFix("name at most %d files or patterns", MostScope).WithField("file_scope")
	}
	for _, s := range scope {
		if problem := scopeProblem(s); problem != "" {
			return coppice.Errorf(coppice.EInvalid, "%s cannot be in a scope: %s", coppice.Quote(s), problem).WithFix("use paths of the repository, such as src/*.go").WithField("file_scope")
		}
	}
	return nil
}

func scopeProblem(s string) string {
	switch {
	case strings.TrimSpace(s) == "" || len(s) > mostScopeName:
		return fmt.Sprintf("it is empty or longer than %d bytes", mostScopeName)
	case strings.TrimSpace(s) != s || strings.ContainsAny(s, ",\n\r"):
		return "it has a comma, a line break, or blanks around it"
	case strings.HasPrefix(s, "/") || strings.HasPrefix(path.Clean(s), ".."):
		return "it is outside of the repository"
	}
	return ""
}

// CheckLength returns why a text is longer than a number of characters.
func CheckLength(field, text string, most int) error {
	if n := len([]rune(text)); n > most {
		return coppice.Errorf(coppice.EInvalid, "%s has %d characters, %d are allowed", field, n, most).WithFix("shorten it").WithField(field)
	}
	return coppice.ValidText(field, text, 4*most)
}

// Same reports whether two requests are for the same worker.
func (s Spawn) Same(o Spawn) bool {
	return s.Perspective == o.Perspective && s.Hint == o.Hint && s.Task == o.Task && slices.Equal(s.Scope, o.Scope)
}

// WorkerKey returns the key of the step of a lead's worker, from 1.
func WorkerKey(n int) string { return "w" + strconv.Itoa(n) }

// workerNumber returns the number of a worker that a lead started, or 0.
func workerNumber(key string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(key, "w"))
	if err != nil || WorkerKey(n) != key {
		return 0
	}
	return n
}

// plannedWorker is the start of the key of a worker that the plan of a goal names.
const plannedWorker = "w-"

// IsWorker reports whether the step of a goal is a worker.
func IsWorker(key string) bool {
	return workerNumber(key) > 0 || strings.HasPrefix(key, plannedWorker)
}

// IsLead reports whether the step of a goal is a lead, which has the tools for workers.
func IsLead(key string) bool { return key == leadKey || strings.HasPrefix(key, leadKey+"-") }

// Mark is the start of a line with which an agent without tools reports its result.
type Mark string

// The marks of leads and workers.
const (
	MarkDone      Mark = "GOAL_DONE"
	MarkFailed    Mark = "GOAL_FAILED"
	MarkContinues Mark = "LEAD_CONTINUES" // a further session of the lead follows
	MarkWorker    Mark = "WORKER_DONE"
	MarkBlocked   Mark = "WORKER_BLOCKED"
	MarkBroken    Mark = "WORKER_FAILED"
)

// Line returns the text of a mark.
func (m Mark) Line(text string) string { return string(m) + ": " + text }

// ReadMark finds the last of some marks in a final message, with the text after it. It
// returns "" if there is none.
func ReadMark(message string, marks ...Mark) (m Mark, text string) {
	lines := strings.Split(message, "\n")
	for n := len(lines) - 1; n >= 0; n-- {
		line := strings.TrimLeft(lines[n], " \t*_`#>-")
		for _, m := range marks {
			if rest, ok := strings.CutPrefix(line, string(m)); ok {
				if rest, ok = strings.CutPrefix(strings.TrimLeft(rest, "*_` "), ":"); ok {
					rest = strings.Join(append([]string{strings.TrimLeft(rest, "*_` ")}, lines[n+1:]...), "\n")
					return m, strings.TrimSpace(rest)
				}
			}
		}
	}
	return "", ""
}

// Overlaps returns the entries that two scopes have in common, as pairs. A pattern that
// might match the same file as another one counts.
func Overlaps(a, b []string) []string {
	var list []string
	for _, x := range a {
		for _, y := range b {
			if overlap(x, y) {
				pair := x
				if x != y {
					pair += " and " + y
				}
				list = append(list, pair)
			}
		}
	}
	return list
}

// overlap reports whether two paths or patterns can name the same file.
func overlap(a, b string) bool {
	a, b = path.Clean(a), path.Clean(b)
	fixedA, globA := fixed(a)
	fixedB, globB := fixed(b)
	switch {
	case !globA && !globB:
		return a == b || below(a, b) || below(b, a)
	case !globB:
		return matches(a, b)
	case !globA:
		return matches(b, a)
	}
	return strings.HasPrefix(fixedA, fixedB) || strings.HasPrefix(fixedB, fixedA)
}

// below reports whether a file is below a directory.
func below(file, dir string) bool { return dir == "." || strings.HasPrefix(file, dir+"/") }

// fixed returns what is before the first wildcard of a pattern.
func fixed(pattern string) (string, bool) {
	n := strings.IndexAny(pattern, "*?[")
	if n < 0 {
		return pattern, false
	}
	return pattern[:n], true
}

// matches reports whether a pattern can match a path, or something below it.
func matches(pattern, name string) bool {
	before, _ := fixed(pattern)
	if name == "." || strings.HasPrefix(before, name+"/") {
		return true
	}
	if n := strings.Index(pattern, "**"); n >= 0 { // everything below what is before it
		if before == pattern[:n] {
			return strings.HasPrefix(name, before)
		}
		pattern = pattern[:n] + "*"
	}
	for q := name; q != "." && q != "/"; q = path.Dir(q) {
		if ok, err := path.Match(pattern, q); ok || err != nil {
			return true
		}
	}
	return false
}
