// Package features reads and writes a features file: a JSON list of features
// that people maintain, in which Coppice writes the status of each feature. It
// also derives what should follow from such a list for a project's tasks.
//
// The list is an array, or an object with the member features. Nothing of the
// file is lost: statuses are edited in place, and everything else keeps its
// bytes, including unknown fields, order and formatting.
//
//	{"features": [
//	  {"id": 1, "category": "core", "name": "Log in", "steps": ["The form is there"], "status": "open"}
//	]}
package features

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"coppice"
)

// MaxSize limits a features file, in bytes.
const MaxSize = 16 << 20

// Status is the status of a feature in the file.
type Status string

// The statuses of a feature.
const (
	Open      Status = "open"      // to be done, or being done
	Verifying Status = "verifying" // done, being checked
	Passed    Status = "passed"    // landed
	Failed    Status = "failed"    // see failure_reason
)

var statuses = []Status{Open, Verifying, Passed, Failed}

// Feature is one entry of the list.
type Feature struct {
	ID          string   `json:"id"`
	Category    string   `json:"category,omitempty"`
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Steps       []string `json:"steps,omitempty"`
	Status      Status   `json:"status"`
	Reason      string   `json:"failure_reason,omitempty"`
	Failure     string   `json:"failure_category,omitempty"`
	Progress    string   `json:"progress,omitempty"`
	coppice.FeatureTask
}

// Wanted reports whether the feature is to be done. A feature that a crash left
// in verifying is.
func (f Feature) Wanted() bool { return f.Status == Open || f.Status == Verifying }

// List is a features file that was read.
type List struct {
	Name     string // the name of the file in errors
	Features []Feature

	text  []byte
	nodes []node // of the features, in order
	byID  map[string]int
}

// Find returns a feature by its id.
func (l *List) Find(id string) (Feature, bool) {
	i, ok := l.byID[id]
	if !ok {
		return Feature{}, false
	}
	return l.Features[i], true
}

// Line returns the line on which a feature starts, 0 if there is none.
func (l *List) Line(id string) int {
	i, ok := l.byID[id]
	if !ok {
		return 0
	}
	return place(l.Name, l.text, l.nodes[i].start).Line
}

// Text returns the file as it was read.
func (l *List) Text() []byte { return l.text }

// At is the place of a problem in a file. Every error that concerns a place
// wraps it.
type At struct {
	File         string
	Line, Column int // from 1; the column counts characters
}

func (a *At) Error() string { return fmt.Sprintf("%s:%d:%d", a.File, a.Line, a.Column) }

// place finds the line and column of an offset.
func place(name string, text []byte, offset int) *At {
	before := text[:min(offset, len(text))]
	start := bytes.LastIndexByte(before, '\n') + 1
	line := bytes.TrimPrefix(before[start:], []byte("\uFEFF"))
	return &At{File: name, Line: bytes.Count(before, []byte("\n")) + 1, Column: utf8.RuneCount(line) + 1}
}

// problem makes the error for a place.
func problem(name string, text []byte, offset int, cause, fix string) *coppice.Error {
	at := place(name, text, offset)
	return &coppice.Error{Code: coppice.EInvalid, Cause: at.Error() + ": " + cause, Fix: fix, Err: at}
}

// Problem makes the error for a feature's field, at its place in the file.
func (l *List) Problem(id, key, cause, fix string) *coppice.Error {
	i, ok := l.byID[id]
	if !ok {
		return coppice.Errorf(coppice.EInvalid, "%s: %s", l.Name, cause).WithFix("%s", fix)
	}
	at := l.nodes[i].start
	if m := l.nodes[i].find(key); m != nil {
		at = m.value.start
	}
	return problem(l.Name, l.text, at, fmt.Sprintf("feature %s: %s", id, cause), fix)
}

// Parse reads a features file. Errors use the name, and have line and column.
func Parse(name string, text []byte) (*List, error) {
	if len(text) > MaxSize {
		return nil, coppice.Errorf(coppice.ETooLarge, "%s has more than %d bytes", name, MaxSize).WithFix("move finished features into another file")
	}
	root, err := parse(text)
	if err != nil {
		f := err.(*fault)
		return nil, problem(name, text, f.at, f.what, "fix the JSON; until then the list before this edit stays in effect")
	}
	items, err := entries(name, text, root)
	if err != nil {
		return nil, err
	}
	l := &List{Name: name, text: text, nodes: items, byID: make(map[string]int, len(items)), Features: make([]Feature, len(items))}
	for i, n := range items {
		d := &decoder{list: l, node: n}
		l.Features[i] = d.feature()
		if d.err != nil {
			return nil, d.err
		}
		id := l.Features[i].ID
		if other, ok := l.byID[id]; ok {
			return nil, problem(name, text, n.find("id").value.start, fmt.Sprintf("two features have the id %s", id),
				fmt.Sprintf("the other one is at %s; give one of them another id", place(name, text, items[other].start)))
		}
		l.byID[id] = i
	}
	return l, l.checkDependencies()
}

// entries finds the features in a file.
func entries(name string, text []byte, root node) ([]node, error) {
	const fix = `write [ … ] or {"features": [ … ]}`
	list := root
	if root.kind == kindObject {
		m := root.find("features")
		if m == nil {
			return nil, problem(name, text, root.start, "the object has no member features", fix)
		}
		list = m.value
	}
	if list.kind != kindArray {
		return nil, problem(name, text, list.start, fmt.Sprintf("the features are %s, not a list", list.kind), fix)
	}
	for _, n := range list.items {
		if n.kind != kindObject {
			return nil, problem(name, text, n.start, fmt.Sprintf("a feature is %s, not an object", n.kind), `write {"id": 1, "name": "…", "status": "open"}`)
		}
	}
	return list.items, nil
}

// checkDependencies refuses unknown dependencies and cycles.
func (l *List) checkDependencies() error {
	for i, f := range l.Features {
		for k, id := range f.DependsOn {
			if _, ok := l.byID[id]; !ok {
				at := l.nodes[i].find("depends_on").value.items[k].start
				return problem(l.Name, l.text, at, fmt.Sprintf("feature %s depends on %s, which does not exist", f.ID, coppice.Quote(id)), "name the id of another feature of this file")
			}
		}
	}
	const doing, done = 1, 2
	state := make([]byte, len(l.Features))
	// An explicit stack: a chain of thousands of features is fine.
	type frame struct{ at, next int }
	for first := range l.Features {
		if state[first] != 0 {
			continue
		}
		stack := []frame{{at: first}}
		state[first] = doing
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			deps := l.Features[top.at].DependsOn
			if top.next == len(deps) {
				state[top.at] = done
				stack = stack[:len(stack)-1]
				continue
			}
			next := l.byID[deps[top.next]]
			top.next++
			switch state[next] {
			case 0:
				state[next] = doing
				stack = append(stack, frame{at: next})
			case doing:
				var path []string
				for _, f := range stack {
					path = append(path, l.Features[f.at].ID)
				}
				path = append(path[slices.Index(path, l.Features[next].ID):], l.Features[next].ID)
				at := l.nodes[top.at].find("depends_on").value.items[top.next-1].start
				return problem(l.Name, l.text, at, "the dependencies form a cycle: "+cut(strings.Join(path, " → "), 300), "remove one of these dependencies")
			}
		}
	}
	return nil
}

// cut shortens text to at most this many bytes, at a character.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	at := most - len("…")
	for at > 0 && !utf8.RuneStart(s[at]) {
		at--
	}
	return s[:at] + "…"
}

// Mark is a status to write.
type Mark struct {
	ID      string
	Status  Status
	Reason  string // of a failed one
	Failure string // its category: environment, test_only, implementation, verification or unknown
}

// Write returns the file with the marks in it, and whether that differs. It
// changes nothing else.
func (l *List) Write(marks []Mark) ([]byte, bool) {
	var edits []edit
	for _, m := range marks {
		i, ok := l.byID[m.ID]
		if !ok {
			continue
		}
		fields := []field{{key: "status", value: quote(string(m.Status))}, {key: "failure_reason", drop: true}, {key: "failure_category", drop: true}}
		if m.Status == Failed {
			fields[1], fields[2] = field{key: "failure_reason", value: quote(m.Reason)}, field{key: "failure_category", value: quote(m.Failure)}
		}
		edits = append(edits, setFields(l.text, l.nodes[i], "status", fields)...)
	}
	if len(edits) == 0 {
		return l.text, false
	}
	return apply(l.text, edits), true
}
