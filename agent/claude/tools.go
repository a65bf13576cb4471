package claude

import (
	"bytes"
	"encoding/json"
	"strings"

	"coppice"
	"coppice/agent"
)

// toolKinds maps the agent's own tools to kinds.
var toolKinds = map[string]coppice.ToolKind{
	"Read":         coppice.ToolRead,
	"NotebookRead": coppice.ToolRead,
	"LS":           coppice.ToolRead,
	"Edit":         coppice.ToolEdit,
	"MultiEdit":    coppice.ToolEdit,
	"Write":        coppice.ToolEdit,
	"NotebookEdit": coppice.ToolEdit,
	"Bash":         coppice.ToolRun,
	"Monitor":      coppice.ToolRun,
	"Glob":         coppice.ToolSearch,
	"Grep":         coppice.ToolSearch,
	"ToolSearch":   coppice.ToolSearch,
	"WebFetch":     coppice.ToolFetch,
	"WebSearch":    coppice.ToolFetch,
}

// inward are tools that affect only the conversation.
var inward = map[string]bool{
	"TodoWrite": true, "ToolSearch": true, "ExitPlanMode": true, "EnterPlanMode": true, "Skill": true, "StructuredOutput": true,
	"TaskCreate": true, "TaskGet": true, "TaskList": true, "TaskUpdate": true, "TaskOutput": true, "TaskStop": true, "BashOutput": true, "KillShell": true,
}

func toolKind(name string) coppice.ToolKind {
	if k, ok := toolKinds[name]; ok {
		return k
	}
	return coppice.ToolOther
}

// toolInput has the common fields of the agent's own tools.
type toolInput struct {
	File     string `json:"file_path"`
	Notebook string `json:"notebook_path"`
	Path     string `json:"path"`
	Command  string `json:"command"`
	URL      string `json:"url"`
}

func (in toolInput) paths() []string {
	var all []string
	for _, p := range []string{in.File, in.Notebook, in.Path} {
		if p != "" {
			all = append(all, p)
		}
	}
	return all
}

// call returns a tool call in common terms.
func (d *driver) call(name string, input json.RawMessage) agent.Call {
	c := agent.Call{Name: name, Kind: toolKind(name), Input: bytes.Clone(input), Dir: d.dir}
	var in toolInput
	_ = json.Unmarshal(input, &in) // an input of another shape is ignored
	c.Paths = in.paths()
	switch c.Kind {
	case coppice.ToolRun:
		c.Command, c.Cwd = in.Command, d.cwd
	case coppice.ToolFetch:
		c.URL = in.URL
	}
	return c
}

func toolEvent(b block) coppice.AgentEvent {
	var in toolInput
	_ = json.Unmarshal(b.Input, &in) // an input of another shape is ignored
	return coppice.AgentEvent{Kind: coppice.KindTool, Ref: b.ID, Name: b.Name, Tool: toolKind(b.Name), Input: agent.Bounded(b.Input), Paths: in.paths()}
}

// plan returns the plan in a tool call, if the tool has one.
func plan(b block) string {
	var in struct {
		Plan  string `json:"plan"`
		Todos []struct {
			Content string `json:"content"`
			Status  string `json:"status"`
		} `json:"todos"`
	}
	if (b.Name != "ExitPlanMode" && b.Name != "TodoWrite") || json.Unmarshal(b.Input, &in) != nil {
		return ""
	}
	if in.Plan != "" {
		return in.Plan
	}
	var lines []string
	for _, t := range in.Todos {
		lines = append(lines, agent.Todo(t.Content, t.Status == "completed"))
	}
	return strings.Join(lines, "\n")
}
