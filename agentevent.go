package coppice

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// AgentEventKind is the kind of an AgentEvent.
type AgentEventKind string

// The kinds of event, the same for every agent, with the fields that each has.
const (
	KindInit       AgentEventKind = "init"        // Conversation, Model, Version
	KindText       AgentEventKind = "text"        // Text
	KindThinking   AgentEventKind = "thinking"    // Text
	KindTool       AgentEventKind = "tool"        // Ref, Name, Tool, Input, Paths
	KindToolResult AgentEventKind = "tool_result" // Ref, OK, Text
	KindPlan       AgentEventKind = "plan"        // Text
	KindPermission AgentEventKind = "permission"  // Ref, Name, Input, and the answer in Text
	KindQuestion   AgentEventKind = "question"    // Ref, Text, Options, Descriptions, Several; with Rule it asks whether the agent can use a tool
	KindUsage      AgentEventKind = "usage"       // Usage, as a delta
	KindLimit      AgentEventKind = "limit"       // Until, Text
	KindError      AgentEventKind = "error"       // Class, Text
	KindTurn       AgentEventKind = "turn"        // Reason, Text: a turn ended
	KindState      AgentEventKind = "state"       // State: working, waiting, idle
	KindCall       AgentEventKind = "call"        // Ref, Name, Input, OK, Text, Took: the agent used a tool of Coppice; the host writes it
	KindNotice     AgentEventKind = "notice"      // Text: anything else worth a line
)

// Names of notices that programs read.
const (
	NameUndelivered = "undelivered" // the agent will never read a message
	NameDropped     = "dropped"     // output was not kept
	NameAppReady    = "app_ready"   // the app of a preview answers
)

// ToolKind is the kind of a tool call, the same for every agent.
type ToolKind string

// The kinds of tool call.
const (
	ToolRead   ToolKind = "read"
	ToolEdit   ToolKind = "edit"
	ToolRun    ToolKind = "run"
	ToolSearch ToolKind = "search"
	ToolFetch  ToolKind = "fetch"
	ToolOther  ToolKind = "other"
)

// AgentEvent is one thing that an agent said or did. Its form is the same for
// every agent.
type AgentEvent struct {
	Kind         AgentEventKind  `json:"kind"`
	Text         string          `json:"text,omitempty"`
	Ref          string          `json:"ref,omitempty"`
	Name         string          `json:"name,omitempty"`
	Tool         ToolKind        `json:"tool,omitempty"`
	Input        json.RawMessage `json:"input,omitempty"`
	Paths        []string        `json:"paths,omitempty"`
	OK           bool            `json:"ok,omitempty"`
	Options      []string        `json:"options,omitempty"`
	Descriptions []string        `json:"descriptions,omitempty"` // of the options, in the same order
	Several      bool            `json:"several,omitempty"`      // several options can be chosen
	Rule         *Rule           `json:"rule,omitempty"`
	State        SessionState    `json:"state,omitempty"`
	Class        Class           `json:"class,omitempty"`
	Reason       string          `json:"reason,omitempty"`
	Until        time.Time       `json:"until,omitzero"`
	Usage        *Usage          `json:"usage,omitempty"`
	Conversation string          `json:"conversation,omitempty"`
	Model        string          `json:"model,omitempty"`
	Version      string          `json:"version,omitempty"`
	Bytes        int64           `json:"bytes,omitempty"` // of output that was not kept
	Took         Duration        `json:"took,omitempty"`  // how long a call took
	Own          bool            `json:"own,omitempty"`   // the agent's report of a tool of Coppice, which a call shows too
}

// ReadAgentEvent decodes an event of a session's output. It reports false for
// output that is not an event.
func ReadAgentEvent(data []byte) (e AgentEvent, ok bool) {
	if json.Unmarshal(data, &e) != nil || e.Kind == "" {
		return AgentEvent{}, false
	}
	return e, true
}

// FactKinds are the kinds of event from which facts about a session follow.
var FactKinds = []AgentEventKind{KindInit, KindUsage, KindState, KindQuestion}

// ChangesFacts reports whether facts about the session follow from the event.
func (e AgentEvent) ChangesFacts() bool {
	return slices.Contains(FactKinds, e.Kind) || e.Kind == KindNotice && (e.Name == NameUndelivered || e.Name == NameDropped)
}

// Complete reports whether an agent that sends such events reports everything
// that it does. Its raw output then adds nothing.
func (k AgentEventKind) Complete() bool {
	return k == KindText || k == KindThinking || k == KindTool || k == KindToolResult
}

// Prose reports whether the text of the event is a message to people, which can be
// Markdown. Other texts are those of commands and files.
func (k AgentEventKind) Prose() bool {
	return k == KindText || k == KindThinking || k == KindQuestion
}

// Silent reports whether the event has no text that readers or the search need.
func (k AgentEventKind) Silent() bool {
	return k == KindInit || k == KindUsage || k == KindState || k == KindTurn
}

// Words returns all texts of the event, one per line, for the search index. A
// silent event has none, and neither does one that a call repeats. A permission has only
// its answer, and the question for it has none: the event of the tool call that they are
// about has the rest.
func (e AgentEvent) Words() string {
	switch {
	case e.Kind.Silent() || e.Own || e.Kind == KindQuestion && e.Rule != nil:
		return ""
	case e.Kind == KindPermission && e.Ref != "":
		return e.Text
	}
	var b strings.Builder
	for _, part := range slices.Concat([]string{e.Name, e.Text}, e.Options, e.Descriptions) {
		writeLine(&b, part)
	}
	var input any
	if len(e.Input) > 0 && json.Unmarshal(e.Input, &input) == nil {
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

// ToolNames has words for names of tools that are only types of a protocol. Rules of
// permissions use the names themselves.
var ToolNames = map[string]string{
	"commandExecution": "run", "fileChange": "edit", "webSearch": "web search", "imageView": "view image", "collabAgentToolCall": "agent",
	"command_execution": "run", "file_change": "edit", "web_search": "web search",
}

// Label returns the name of the tool for people.
func (e AgentEvent) Label() string { return cmp.Or(ToolNames[e.Name], e.Name) }

// Line returns the event as one line, or "" if it is not worth a line.
func (e AgentEvent) Line() string {
	if e.Own {
		return ""
	}
	switch e.Kind {
	case KindText, KindPlan:
		return FirstLine(e.Text)
	case KindCall:
		return e.Name
	case KindTool:
		return FirstLine(strings.Join(append([]string{e.Label()}, e.Paths...), " "))
	case KindThinking:
		return "thinking"
	}
	return ""
}
