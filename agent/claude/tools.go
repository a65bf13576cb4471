package claude

import (
	"encoding/json"
	"strings"

	"coppice/agent"
)

// toolKinds sorts the agent's own tools.
var toolKinds = map[string]agent.ToolKind{
	"Read":         agent.ToolRead,
	"NotebookRead": agent.ToolRead,
	"LS":           agent.ToolRead,
	"Edit":         agent.ToolEdit,
	"MultiEdit":    agent.ToolEdit,
	"Write":        agent.ToolEdit,
	"NotebookEdit": agent.ToolEdit,
	"Bash":         agent.ToolRun,
	"Monitor":      agent.ToolRun,
	"Glob":         agent.ToolSearch,
	"Grep":         agent.ToolSearch,
	"ToolSearch":   agent.ToolSearch,
	"WebFetch":     agent.ToolFetch,
	"WebSearch":    agent.ToolFetch,
}

func toolEvent(b block) agent.Event {
	e := agent.Event{Kind: agent.KindTool, Ref: b.ID, Name: b.Name, Tool: agent.ToolOther, Input: bounded(b.Input)}
	if k, ok := toolKinds[b.Name]; ok {
		e.Tool = k
	}
	var in struct {
		File     string `json:"file_path"`
		Notebook string `json:"notebook_path"`
		Path     string `json:"path"`
	}
	// An input of another shape names no path.
	if json.Unmarshal(b.Input, &in) == nil {
		for _, p := range []string{in.File, in.Notebook, in.Path} {
			if p != "" {
				e.Paths = append(e.Paths, p)
			}
		}
	}
	return e
}

// plan returns the plan a tool call states, if it is one of the tools that do.
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
		mark := "[ ] "
		if t.Status == "completed" {
			mark = "[x] "
		}
		lines = append(lines, mark+t.Content)
	}
	return strings.Join(lines, "\n")
}
