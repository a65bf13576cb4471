package codex

import (
	"encoding/json"
	"fmt"
	"strings"

	"coppice"
	"coppice/agent"
)

// execItem is a part of a turn. Which fields are set depends on its type.
type execItem struct {
	part
	Message  string       `json:"message"`
	Output   string       `json:"aggregated_output"`
	ExitCode *int         `json:"exit_code"`
	Changes  []execChange `json:"changes"`
	Items    []execTodo   `json:"items"`
}

type execChange struct {
	Path string `json:"path"`
	Kind string `json:"kind"`
}

type execTodo struct {
	Text      string `json:"text"`
	Completed bool   `json:"completed"`
}

// item reports a part of the turn. Tools are reported when they start and when
// they complete. Everything else is reported one time, when it is complete.
func (d *execDriver) item(completed bool, it execItem) {
	switch it.Type {
	case "command_execution", "file_change", "mcp_tool_call", "web_search", "collab_tool_call":
		if !d.shown[it.ID] {
			d.shown[it.ID] = true
			d.Emit(execCall(it))
		}
		if completed {
			delete(d.shown, it.ID)
			d.Emit(coppice.AgentEvent{Kind: coppice.KindToolResult, Ref: it.ID, OK: execSucceeded(it), Text: agent.Text(execOutcome(it))})
		}
	case "todo_list":
		d.Emit(coppice.AgentEvent{Kind: coppice.KindPlan, Text: agent.Text(execPlan(it.Items))})
	case "agent_message":
		if completed {
			d.summary = agent.Text(it.Text)
			d.Emit(coppice.AgentEvent{Kind: coppice.KindText, Text: d.summary})
		}
	case "reasoning":
		if completed {
			d.Emit(coppice.AgentEvent{Kind: coppice.KindThinking, Text: agent.Text(it.Text)})
		}
	case "error":
		if completed {
			// Items of this type are warnings; a failed turn has its own line.
			d.Emit(coppice.AgentEvent{Kind: coppice.KindError, Class: coppice.ClassUnknown, Text: agent.Text(it.Message)})
		}
	}
}

func execCall(it execItem) coppice.AgentEvent {
	e := coppice.AgentEvent{Kind: coppice.KindTool, Ref: it.ID, Name: it.Type}
	input := map[string]any{}
	switch it.Type {
	case "command_execution":
		e.Tool = coppice.ToolRun
		input["command"] = agent.Text(it.Command)
		e.Text = agent.Text(oneLine(it.Command))
	case "file_change":
		e.Tool = coppice.ToolEdit
		for _, c := range it.Changes {
			e.Paths = append(e.Paths, c.Path)
		}
		input["changes"] = it.Changes
	case "web_search":
		e.Tool = coppice.ToolFetch
		input["query"] = agent.Text(it.Query)
	case "mcp_tool_call":
		e.Tool, e.Name = coppice.ToolOther, it.Server+"."+it.Tool
		if len(it.Args) > 0 {
			input["arguments"] = it.Args
		}
	default:
		e.Tool = coppice.ToolOther
	}
	if b, err := json.Marshal(input); err == nil && len(b) <= agent.MaxText {
		e.Input = b
	}
	return e
}

func execSucceeded(it execItem) bool {
	if it.ExitCode != nil {
		return *it.ExitCode == 0
	}
	return it.Status != "failed" && it.Status != "declined"
}

func execOutcome(it execItem) string {
	switch {
	case it.Output != "":
		return it.Output
	case it.ExitCode != nil && *it.ExitCode != 0:
		return fmt.Sprintf("exit %d", *it.ExitCode)
	case len(it.Changes) > 0:
		var b strings.Builder
		for _, c := range it.Changes {
			fmt.Fprintf(&b, "%s %s\n", c.Kind, c.Path)
		}
		return strings.TrimSuffix(b.String(), "\n")
	case len(it.Result) > 0 && string(it.Result) != "null":
		return string(it.Result)
	}
	return it.Status
}

func execPlan(items []execTodo) string {
	lines := make([]string, 0, len(items))
	for _, t := range items {
		lines = append(lines, agent.Todo(t.Text, t.Completed))
	}
	return strings.Join(lines, "\n")
}
