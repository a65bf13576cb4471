package sqlite

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"coppice"
)

// maxText bounds what is indexed of one piece of output or one description.
const maxText = 64 << 10

// A row of output_words names a session and a place in what it wrote.
const (
	placeBits     = 36 // of a row's number: 64 GiB of output
	maxRowPlace   = 1<<placeBits - 1
	maxRowSession = 1<<(63-placeBits) - 1
)

func rowOf(session, place int64) int64 { return session<<placeBits | place }

func placeOf(row int64) (session, place int64) { return row >> placeBits, row & maxRowPlace }

// scope is a project as a word of the index.
func scope(project int64) string { return "p" + strconv.FormatInt(project, 10) }

func taskText(t coppice.Task) string {
	return cutText(t.Key + "\n" + t.Title + "\n" + t.Body)
}

// cutText bounds a text and makes it one that can be searched.
func cutText(s string) string {
	if len(s) > maxText {
		s = s[:maxText]
	}
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", " "), "\uFFFD")
}

// said are the kinds of event by which an agent tells what it says and does.
var said = map[string]bool{"text": true, "thinking": true, "tool": true, "tool_result": true}

// silent are those that have nothing to read, or repeat what others said.
var silent = map[string]bool{"init": true, "usage": true, "state": true, "turn": true}

// outputText is what can be read of a piece of output, and whether it tells
// that the agent's protocol says what the agent does.
func outputText(o coppice.Output) (text string, says bool) {
	switch o.Kind {
	case coppice.OutputStdout, coppice.OutputStderr:
		return cutText(ansi.Strip(string(o.Data[:min(len(o.Data), maxText)]))), false
	case coppice.OutputEvent:
		return eventText(o.Data)
	}
	return "", false
}

func eventText(data []byte) (text string, says bool) {
	var e struct {
		Kind    string          `json:"kind"`
		Name    string          `json:"name"`
		Text    string          `json:"text"`
		Input   json.RawMessage `json:"input"`
		Options []string        `json:"options"`
	}
	if err := json.Unmarshal(data, &e); err != nil || silent[e.Kind] {
		return "", false
	}
	parts := make([]string, 0, 4)
	for _, s := range append([]string{e.Name, e.Text}, e.Options...) {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if len(e.Input) > 0 {
		parts = append(parts, inputText(e.Input))
	}
	return cutText(strings.Join(parts, "\n")), said[e.Kind]
}

// inputText is the values of a tool's input, without their names.
func inputText(raw json.RawMessage) string {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return ""
	}
	var b strings.Builder
	writeValues(&b, v)
	return b.String()
}

func writeValues(b *strings.Builder, v any) {
	switch v := v.(type) {
	case string:
		b.WriteString(v)
		b.WriteByte('\n')
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
