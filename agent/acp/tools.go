package acp

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"coppice"
	"coppice/agent"
)

// toolKinds maps the protocol's kinds of tools.
var toolKinds = map[string]coppice.ToolKind{
	"read":    coppice.ToolRead,
	"edit":    coppice.ToolEdit,
	"delete":  coppice.ToolEdit,
	"move":    coppice.ToolEdit,
	"search":  coppice.ToolSearch,
	"execute": coppice.ToolRun,
	"fetch":   coppice.ToolFetch,
}

// toolUpdate describes a tool call. Each update has what is new.
type toolUpdate struct {
	ID        string          `json:"toolCallId"`
	Title     string          `json:"title"`
	Kind      string          `json:"kind"`
	Status    string          `json:"status"`
	Input     json.RawMessage `json:"rawInput"`
	Output    json.RawMessage `json:"rawOutput"`
	Content   []toolContent   `json:"content"`
	Locations []location      `json:"locations"`
	Meta      json.RawMessage `json:"_meta"`
}

type toolContent struct {
	Type    string  `json:"type"`
	Content content `json:"content"`
	Path    string  `json:"path"` // of a diff
}

type location struct {
	Path string `json:"path"`
}

// tool is what is known about a call.
type tool struct {
	name, title string
	kind        coppice.ToolKind
	input       json.RawMessage
	paths       []string
	text        string // its result
	shown, done bool
}

// tool follows a call. Agents announce calls before they know the input, so a
// call is reported when its input arrives, when it starts, or when it ends.
func (d *driver) tool(announced bool, raw json.RawMessage) {
	var u toolUpdate
	if json.Unmarshal(raw, &u) != nil {
		var least struct {
			ID     string `json:"toolCallId"`
			Status string `json:"status"`
		}
		if json.Unmarshal(raw, &least) != nil {
			return
		}
		u = toolUpdate{ID: least.ID, Status: least.Status}
	}
	d.endMessage()
	t := d.merge(u)
	over := u.Status == "completed" || u.Status == "failed"
	if over || u.Status == "in_progress" || (!announced && hasInput(u.Input)) {
		d.show(u.ID, t)
	}
	if over && !t.done {
		t.done = true
		d.Emit(coppice.AgentEvent{Kind: coppice.KindToolResult, Ref: u.ID, OK: u.Status == "completed", Text: t.text})
	}
}

func hasInput(raw json.RawMessage) bool {
	s := string(raw)
	return s != "" && s != "null" && s != "{}"
}

// merge adds an update to a call.
func (d *driver) merge(u toolUpdate) *tool {
	t := d.tools[u.ID]
	if t == nil {
		t = &tool{kind: coppice.ToolOther, name: toolName(u)}
		d.tools[u.ID] = t
	}
	if u.Title != "" {
		t.title = u.Title
	}
	if k, ok := toolKinds[u.Kind]; ok {
		t.kind = k
	}
	if hasInput(u.Input) {
		t.input = bytes.Clone(u.Input)
	}
	for _, l := range u.Locations {
		t.path(l.Path, d.dir)
	}
	var texts []string
	for _, c := range u.Content {
		if c.Type == "diff" {
			t.path(c.Path, d.dir)
		} else if c.Content.Text != "" {
			texts = append(texts, c.Content.Text)
		}
	}
	if out := rawOutput(u.Output); out != "" {
		t.text = agent.Text(out)
	} else if len(texts) > 0 {
		t.text = agent.Text(strings.Join(texts, "\n"))
	}
	return t
}

// path records a file that a call is about. The workspace itself is not one.
func (t *tool) path(p, dir string) {
	if p != "" && p != dir && !slices.Contains(t.paths, p) && len(t.paths) < 100 {
		t.paths = append(t.paths, p)
	}
}

// rawOutput returns the result of a tool, if it is a text.
func rawOutput(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return ""
	}
	for _, k := range []string{"output", "aggregated_output", "stdout"} {
		if json.Unmarshal(m[k], &s) == nil && s != "" {
			return s
		}
	}
	return ""
}

// toolName returns the agent's name for the tool. The protocol has no field for
// it: some agents send it separately, some as the title of the announcement,
// and for the rest only the kind is known.
func toolName(u toolUpdate) string {
	var m map[string]json.RawMessage
	var own struct {
		Name string `json:"toolName"`
	}
	if json.Unmarshal(u.Meta, &m) == nil {
		if json.Unmarshal(u.Meta, &own) == nil && own.Name != "" {
			return own.Name
		}
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if json.Unmarshal(m[k], &own) == nil && own.Name != "" {
				return own.Name
			}
		}
	}
	switch {
	case u.Title != "" && !strings.ContainsAny(u.Title, " \n"):
		return agent.Clip(u.Title)
	case u.Kind != "":
		return agent.Clip(u.Kind)
	}
	return "tool"
}

// show reports a call one time.
func (d *driver) show(id string, t *tool) {
	if t.shown {
		return
	}
	t.shown = true
	d.endMessage()
	title, _, _ := strings.Cut(t.title, "\n")
	d.Emit(coppice.AgentEvent{
		Kind: coppice.KindTool, Ref: id, Name: t.name, Tool: t.kind, Text: agent.Text(title),
		Input: agent.Bounded(t.input), Paths: slices.Clone(t.paths),
	})
}
