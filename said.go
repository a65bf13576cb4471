package coppice

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// SaidKind sorts what an agent's protocol tells of it: the events among its
// output. Every agent's are of the same kinds.
type SaidKind string

// The kinds of what agents say and do.
const (
	SaidInit       SaidKind = "init"
	SaidText       SaidKind = "text"
	SaidThinking   SaidKind = "thinking"
	SaidTool       SaidKind = "tool"
	SaidToolResult SaidKind = "tool_result"
	SaidPlan       SaidKind = "plan"
	SaidPermission SaidKind = "permission"
	SaidQuestion   SaidKind = "question"
	SaidUsage      SaidKind = "usage"
	SaidLimit      SaidKind = "limit"
	SaidError      SaidKind = "error"
	SaidTurn       SaidKind = "turn"
	SaidState      SaidKind = "state"
	SaidNotice     SaidKind = "notice"
)

// Tells tells whether who says such things tells all that it does, so that its
// raw bytes add nothing.
func (k SaidKind) Tells() bool {
	return k == SaidText || k == SaidThinking || k == SaidTool || k == SaidToolResult
}

// Silent tells whether it has nothing to read, or repeats what others said.
func (k SaidKind) Silent() bool {
	return k == SaidInit || k == SaidUsage || k == SaidState || k == SaidTurn
}

// Said is the part of an agent's event that people read.
type Said struct {
	Kind    SaidKind        `json:"kind"`
	Name    string          `json:"name"`
	Text    string          `json:"text"`
	Paths   []string        `json:"paths"`
	Options []string        `json:"options"`
	Input   json.RawMessage `json:"input"`
}

// ReadSaid reads an event as it stands in a session's output. It is false for
// what is none.
func ReadSaid(data []byte) (s Said, ok bool) {
	if json.Unmarshal(data, &s) != nil || s.Kind == "" {
		return Said{}, false
	}
	return s, true
}

// Words are all the words of it, one part below the other; none when it is
// silent.
func (s Said) Words() string {
	if s.Kind.Silent() {
		return ""
	}
	var b strings.Builder
	for _, part := range append([]string{s.Name, s.Text}, s.Options...) {
		writeLine(&b, part)
	}
	var input any
	if len(s.Input) > 0 && json.Unmarshal(s.Input, &input) == nil {
		writeValues(&b, input)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func writeLine(b *strings.Builder, s string) {
	if s != "" {
		b.WriteString(s)
		b.WriteByte('\n')
	}
}

// writeValues writes the values of a tool's input, without their names.
func writeValues(b *strings.Builder, v any) {
	switch v := v.(type) {
	case string:
		writeLine(b, v)
	case float64, bool:
		fmt.Fprintln(b, v)
	case []any:
		for _, x := range v {
			writeValues(b, x)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			writeValues(b, v[name])
		}
	}
}

// Line tells in a line what was said or done; it is empty for what is not worth
// one.
func (s Said) Line() string {
	switch s.Kind {
	case SaidText, SaidPlan:
		return FirstLine(s.Text)
	case SaidTool:
		return FirstLine(strings.Join(append([]string{s.Name}, s.Paths...), " "))
	case SaidThinking:
		return "thinking"
	}
	return ""
}

// mostLine bounds a line that FirstLine makes, in characters.
const mostLine = 160

// FirstLine is the first line of a text that holds anything, without control
// characters, cut where it is long.
func FirstLine(s string) string {
	for line := range strings.Lines(s) {
		line = strings.Join(strings.FieldsFunc(line, func(r rune) bool {
			return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
		}), " ")
		if runes := []rune(line); len(runes) > mostLine {
			line = string(runes[:mostLine-1]) + "…"
		}
		if line != "" {
			return line
		}
	}
	return ""
}
