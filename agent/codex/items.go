package codex

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"coppice"
	"coppice/agent"
	"coppice/internal/jsonrpc"
)

// The types of item that are tools. They are also the names of commands,
// changes of files and searches.
const (
	typeCommand = "commandExecution"
	typeChange  = "fileChange"
	typeMCP     = "mcpToolCall"
	typeDynamic = "dynamicToolCall"
	typeAgent   = "collabAgentToolCall"
	typeSearch  = "webSearch"
	typeImage   = "imageView"
)

// part has the fields of a part of a turn that the app server and codex exec share.
type part struct {
	ID      string          `json:"id"`
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	Status  string          `json:"status"`
	Command string          `json:"command"`
	Server  string          `json:"server"`
	Tool    string          `json:"tool"`
	Args    json.RawMessage `json:"arguments"`
	Result  json.RawMessage `json:"result"`
	Query   string          `json:"query"`
}

// item is a part of a turn. Which fields are set depends on its type.
type item struct {
	part
	Client   string          `json:"clientId"`
	Summary  []string        `json:"summary"`
	Content  json.RawMessage `json:"content"`
	Cwd      string          `json:"cwd"` // of the command
	Actions  []action        `json:"commandActions"`
	Output   string          `json:"aggregatedOutput"`
	ExitCode *int            `json:"exitCode"`
	Changes  []change        `json:"changes"`
	Error    *struct {
		Message string `json:"message"`
	} `json:"error"`
	Search *struct {
		URL string `json:"url"`
	} `json:"action"`
	Path   string `json:"path"`
	Prompt string `json:"prompt"`
}

// action is the agent's reading of a part of a command.
type action struct {
	Type string `json:"type"` // read, listFiles, search or unknown
	Path string `json:"path"`
}

type change struct {
	Path string `json:"path"`
	Kind struct {
		Type string `json:"type"` // add, delete or update
		To   string `json:"move_path"`
	} `json:"kind"`
}

// tracked is a tool in use.
type tracked struct {
	item  item
	asked bool // the agent asked for permission
}

func (d *driver) itemNews(p jsonrpc.Message) {
	var n struct {
		Thread string          `json:"threadId"`
		Item   json.RawMessage `json:"item"`
	}
	if json.Unmarshal(p.Params, &n) != nil || d.phase == opening {
		return
	}
	it := itemOf(n.Item)
	if it.ID == "" {
		return
	}
	completed := p.Method == "item/completed"
	switch it.Type {
	case typeSearch: // its query is known at its end
		if completed {
			d.reportTool(it)
			d.reportResult(it)
		}
	case typeCommand, typeChange, typeMCP, typeDynamic, typeAgent, typeImage:
		d.reportTool(it)
		if completed {
			d.reportResult(it)
		}
	case "userMessage":
		if it.Client != "" {
			d.echoes = true
			d.seen(it.Client)
		}
	default:
		// Messages of the agent's helpers are only for the agent.
		if completed && n.Thread == d.conversation {
			d.reportItem(it)
		}
	}
}

// itemOf reads an item. If a field has an unexpected shape, the common fields
// still count.
func itemOf(raw json.RawMessage) item {
	var it item
	if json.Unmarshal(raw, &it) == nil {
		return it
	}
	var k struct {
		ID     string `json:"id"`
		Type   string `json:"type"`
		Status string `json:"status"`
		Client string `json:"clientId"`
	}
	if json.Unmarshal(raw, &k) != nil {
		return item{}
	}
	return item{part: part{ID: k.ID, Type: k.Type, Status: k.Status}, Client: k.Client}
}

// reportItem reports an item that is not a tool.
func (d *driver) reportItem(it item) {
	switch it.Type {
	case "agentMessage":
		if text := strings.TrimSpace(agent.Text(it.Text)); text != "" {
			d.words = text
			d.Emit(coppice.AgentEvent{Kind: coppice.KindText, Text: text})
		}
	case "reasoning":
		lines := it.Summary
		if len(lines) == 0 && json.Unmarshal(it.Content, &lines) != nil {
			return
		}
		if text := strings.TrimSpace(strings.Join(lines, "\n\n")); text != "" {
			d.Emit(coppice.AgentEvent{Kind: coppice.KindThinking, Text: agent.Text(text)})
		}
	case "plan":
		if it.Text != "" {
			d.Emit(coppice.AgentEvent{Kind: coppice.KindPlan, Text: agent.Text(it.Text)})
		}
	case "contextCompaction":
		d.Notice("the agent compacted the conversation")
	}
}

// reportTool reports that a tool is used, one time.
func (d *driver) reportTool(it item) {
	t, known := d.items[it.ID]
	if known {
		t.item = it
		return
	}
	d.items[it.ID] = &tracked{item: it}
	c := d.toolCall(it)
	e := coppice.AgentEvent{Kind: coppice.KindTool, Ref: it.ID, Name: c.Name, Tool: c.Kind, Input: agent.Bounded(c.Input), Paths: c.Paths}
	if it.Type == typeCommand {
		e.Text = agent.Text(oneLine(c.Command))
		if kind, paths := readOnlyKind(it.Actions); kind != "" {
			e.Tool, e.Paths = kind, paths
		}
	}
	d.Emit(e)
}

// reportResult reports the result of a tool.
func (d *driver) reportResult(it item) {
	t := d.items[it.ID]
	delete(d.items, it.ID)
	if !t.asked && d.Asker.Restricts() && it.Status != "declined" {
		// The person's own configuration allowed it, or the tool never asks.
		// The rules could not be applied, but the violation is reported.
		if v := d.decide(d.toolCall(it), it.Actions); !v.Allowed() {
			d.Emit(coppice.AgentEvent{Kind: coppice.KindNotice, Name: "unasked", Ref: it.ID, Text: "the agent used " + agent.Clip(d.toolCall(it).Name) + " without asking, against the rules"})
		}
	}
	d.Emit(coppice.AgentEvent{Kind: coppice.KindToolResult, Ref: it.ID, OK: succeeded(it), Text: agent.Text(outcome(it))})
}

// toolCall returns the use of a tool in common terms.
func (d *driver) toolCall(it item) agent.Call {
	c := agent.Call{Name: it.Type, Kind: coppice.ToolOther, Dir: d.request.Dir}
	input := map[string]any{}
	switch it.Type {
	case typeCommand:
		c.Kind, c.Command, c.Cwd = coppice.ToolRun, unwrap(it.Command), it.Cwd
		input["command"] = agent.Text(c.Command)
	case typeChange:
		c.Kind = coppice.ToolEdit
		changes := []map[string]string{}
		for _, ch := range it.Changes {
			m := map[string]string{"path": ch.Path, "kind": ch.Kind.Type}
			c.Paths = append(c.Paths, ch.Path)
			if ch.Kind.To != "" {
				m["to"] = ch.Kind.To
				c.Paths = append(c.Paths, ch.Kind.To)
			}
			changes = append(changes, m)
		}
		input["changes"] = changes
	case typeSearch:
		c.Kind = coppice.ToolFetch
		input["query"] = agent.Text(it.Query)
		if it.Search != nil && it.Search.URL != "" {
			c.URL = it.Search.URL
			input["url"] = it.Search.URL
		}
	case typeImage:
		c.Kind, c.Paths = coppice.ToolRead, []string{it.Path}
		input["path"] = it.Path
	case typeMCP:
		c.Name, c.Input = it.Server+"."+it.Tool, it.Args
		return c
	case typeDynamic:
		c.Name, c.Input = it.Tool, it.Args
		return c
	default:
		if it.Tool != "" {
			c.Name = it.Tool
		}
		if it.Prompt != "" {
			input["prompt"] = agent.Text(it.Prompt)
		}
	}
	c.Input = agent.Encode(input)
	return c
}

// readOnlyKind returns the kind and the files of a command that only reads or
// searches; "" for any other.
func readOnlyKind(actions []action) (coppice.ToolKind, []string) {
	kind := coppice.ToolKind("")
	var paths []string
	for _, a := range actions {
		switch a.Type {
		case "read":
			if kind == "" {
				kind = coppice.ToolRead
			}
		case "search", "listFiles":
			kind = coppice.ToolSearch
		default:
			return "", nil
		}
		if a.Path != "" && !slices.Contains(paths, a.Path) {
			paths = append(paths, a.Path)
		}
	}
	return kind, paths
}

func succeeded(it item) bool {
	if it.ExitCode != nil {
		return *it.ExitCode == 0
	}
	return it.Status != "failed" && it.Status != "declined" && it.Status != "interrupted" && it.Error == nil
}

func outcome(it item) string {
	switch {
	case it.Error != nil && it.Error.Message != "":
		return it.Error.Message
	case it.Output != "":
		return it.Output
	case it.ExitCode != nil && *it.ExitCode != 0:
		return fmt.Sprintf("exit %d", *it.ExitCode)
	case it.Status == "declined":
		return it.Status
	case len(it.Changes) > 0:
		var lines []string
		for _, c := range it.Changes {
			lines = append(lines, c.Kind.Type+" "+c.Path)
		}
		return strings.Join(lines, "\n")
	case len(it.Result) > 0 && string(it.Result) != "null":
		return resultText(it.Result)
	}
	return it.Status
}

// resultText returns a tool server's answer: its texts, or all of it.
func resultText(raw json.RawMessage) string {
	var r struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	var texts []string
	if json.Unmarshal(raw, &r) == nil {
		for _, c := range r.Content {
			if c.Text != "" {
				texts = append(texts, c.Text)
			}
		}
	}
	if len(texts) == 0 {
		return string(raw)
	}
	return strings.Join(texts, "\n")
}

// patchNews records that a change of files now has other files.
func (d *driver) patchNews(p jsonrpc.Message) {
	var n struct {
		Item    string   `json:"itemId"`
		Changes []change `json:"changes"`
	}
	if json.Unmarshal(p.Params, &n) == nil && d.items[n.Item] != nil {
		d.items[n.Item].item.Changes = n.Changes
	}
}

func (d *driver) planNews(p jsonrpc.Message) {
	var n struct {
		Thread string `json:"threadId"`
		Plan   []struct {
			Step   string `json:"step"`
			Status string `json:"status"`
		} `json:"plan"`
	}
	if json.Unmarshal(p.Params, &n) != nil || n.Thread != d.conversation || d.phase == opening {
		return
	}
	lines := make([]string, 0, len(n.Plan))
	for _, s := range n.Plan {
		lines = append(lines, agent.Todo(s.Step, s.Status == "completed"))
	}
	d.Emit(coppice.AgentEvent{Kind: coppice.KindPlan, Text: agent.Text(strings.Join(lines, "\n"))})
}

// oneLine shortens a command for a label.
func oneLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// decide returns the verdict on a call. For a command that reads files, the
// rules for reading them count too, if they are stricter.
func (d *driver) decide(c agent.Call, actions []action) agent.Verdict {
	v := d.Asker.Decide(c)
	for _, a := range actions {
		if a.Type != "read" || a.Path == "" {
			continue
		}
		r := d.Asker.Decide(agent.Call{Name: c.Name, Kind: coppice.ToolRead, Paths: []string{a.Path}, Dir: c.Dir})
		explicit := r.Rule.Do != ""
		if explicit && (r.Do == coppice.RuleDeny || (r.Do == coppice.RuleAsk && v.Allowed())) && v.Do != coppice.RuleDeny {
			v = r
		}
	}
	return v
}
