package claude

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"coppice"
	"coppice/agent"
)

// The lines that the driver writes.
type (
	userLine struct {
		Type    string      `json:"type"`
		Message userMessage `json:"message"`
	}
	userMessage struct {
		Role    string `json:"role"`
		Content any    `json:"content"` // a text, or blocks if the message has images
	}
	textBlock struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	imageBlock struct {
		Type   string      `json:"type"`
		Source imageSource `json:"source"`
	}
	imageSource struct {
		Type  string `json:"type"`
		Media string `json:"media_type"`
		Data  []byte `json:"data"`
	}
	controlRequest struct {
		Type    string            `json:"type"`
		ID      string            `json:"request_id"`
		Request map[string]string `json:"request"`
	}
)

// message has the fields of all of the agent's lines that matter here.
type message struct {
	Type         string          `json:"type"`
	Subtype      string          `json:"subtype"`
	Session      string          `json:"session_id"`
	Parent       string          `json:"parent_tool_use_id"`
	Timestamp    string          `json:"timestamp"`
	Message      json.RawMessage `json:"message"`
	IsReplay     bool            `json:"isReplay"`
	RequestID    string          `json:"request_id"`
	Request      json.RawMessage `json:"request"`
	Model        string          `json:"model"`
	Version      string          `json:"claude_code_version"`
	Attempt      int             `json:"attempt"`
	MaxRetries   int             `json:"max_retries"`
	RetryDelayMS float64         `json:"retry_delay_ms"`
	ErrorStatus  *int            `json:"error_status"`
	Error        json.RawMessage `json:"error"`
	Content      json.RawMessage `json:"content"`
	MCPServers   []mcpServer     `json:"mcp_servers"`
	Limit        *limitInfo      `json:"rate_limit_info"`
	Response     json.RawMessage `json:"response"`
}

type mcpServer struct {
	Name   string `json:"name"`
	Status string `json:"status"`
}

type limitInfo struct {
	Status   string  `json:"status"`
	ResetsAt float64 `json:"resetsAt"` // unix seconds
	Type     string  `json:"rateLimitType"`
}

// line takes one line of stdout. A line that is not a JSON object is a notice:
// the agent sometimes prints warnings there.
func (d *driver) line(b []byte) {
	var m message
	if err := json.Unmarshal(b, &m); err != nil || m.Type == "" {
		d.lenient(b)
		return
	}
	if at, err := time.Parse(time.RFC3339, m.Timestamp); err == nil && at.Year() < 9000 {
		d.now = at
	}
	switch m.Type {
	case "system":
		d.system(m)
	case "assistant":
		d.assistant(m)
	case "user":
		d.user(m)
	case "result":
		d.result(b)
	case "control_request":
		d.request(m)
	case "control_cancel_request":
		d.withdraw(m.RequestID)
	case "control_response":
		d.confirmed(m)
	case "rate_limit_event":
		d.rateLimit(m)
	}
	// Other lines (stream_event, keep_alive, …) repeat what another line says.
}

// lenient reads a line that does not match the message type. The end of a turn
// and a permission request must not be missed because some other field changed
// its shape.
func (d *driver) lenient(b []byte) {
	var m struct {
		Type      string          `json:"type"`
		RequestID string          `json:"request_id"`
		Request   json.RawMessage `json:"request"`
	}
	err := json.Unmarshal(b, &m)
	switch {
	case err == nil && m.Type == "result":
		d.result(b)
	case err == nil && m.Type == "control_request":
		d.request(message{RequestID: m.RequestID, Request: m.Request})
	default:
		d.Notice(string(b))
	}
}

func (d *driver) system(m message) {
	switch m.Subtype {
	case "init":
		d.conversation = m.Session
		d.Emit(coppice.AgentEvent{Kind: coppice.KindInit, Conversation: m.Session, Model: m.Model, Version: m.Version})
		d.warnOldVersion(m.Version)
		for _, s := range m.MCPServers {
			if s.Status == "failed" && !d.lostServers[s.Name] {
				d.lostServers[s.Name] = true
				d.Emit(coppice.AgentEvent{Kind: coppice.KindError, Class: coppice.ClassMCP, Text: "the tool server " + s.Name + " cannot be reached"})
			}
		}
		d.Become(coppice.SessionWorking)
	case "api_retry":
		d.retry(m)
	case "model_fallback", "informational", "notification", "permission_denied":
		if t := textOf(m.Content); t != "" {
			d.Emit(coppice.AgentEvent{Kind: coppice.KindNotice, Name: m.Subtype, Text: agent.Text(t)})
		}
	}
}

// retry reports that the agent waits and retries automatically.
func (d *driver) retry(m message) {
	e := coppice.AgentEvent{Kind: coppice.KindError, Class: coppice.ClassOverload}
	if m.ErrorStatus != nil {
		d.status = *m.ErrorStatus
		if c := agent.StatusClass(d.status); c != "" {
			e.Class = c
		}
	}
	e.Text = fmt.Sprintf("the model's service answered %s; retrying (%d of %d)", cause(m, d.status), m.Attempt, m.MaxRetries)
	d.Emit(e)
}

func cause(m message, status int) string {
	var s string
	if json.Unmarshal(m.Error, &s) == nil && s != "" {
		return strings.ReplaceAll(s, "_", " ")
	}
	if m.ErrorStatus != nil {
		return fmt.Sprint(status)
	}
	return "nothing"
}

// rateLimit records when the account's limit ends. The agent also reports
// limits that are not reached. Only a refusal counts.
func (d *driver) rateLimit(m message) {
	if m.Limit == nil || m.Limit.Status != "rejected" {
		return
	}
	d.limit = agent.Unix(m.Limit.ResetsAt)
	d.Emit(coppice.AgentEvent{Kind: coppice.KindLimit, Until: d.limit, Text: "the account's " + strings.ReplaceAll(m.Limit.Type, "_", " ") + " limit is reached"})
	d.Become(coppice.SessionLimited)
}

// confirmed takes the answer to a request of the driver. Only the answer about
// a model matters.
func (d *driver) confirmed(m message) {
	var r struct {
		Subtype string `json:"subtype"`
		ID      string `json:"request_id"`
		Error   string `json:"error"`
	}
	if json.Unmarshal(m.Response, &r) != nil {
		return
	}
	name, ours := d.models[r.ID]
	if !ours {
		return
	}
	delete(d.models, r.ID)
	if r.Subtype == "success" {
		d.Emit(coppice.AgentEvent{Kind: coppice.KindNotice, Name: "model", Model: name, Text: "the agent continues with " + name})
		return
	}
	d.Emit(coppice.AgentEvent{Kind: coppice.KindError, Class: coppice.ClassCapability, Model: name,
		Text: agent.Text("the agent does not accept the model " + coppice.Quote(name) + ": " + r.Error)})
}

// block is one part of a message's content.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

func blocks(raw json.RawMessage) []block {
	var m struct {
		Content []block `json:"content"`
	}
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m.Content
}

// assistant reports what the model said. Messages of its subagents are not part
// of the conversation, but their tool calls are shown.
func (d *driver) assistant(m message) {
	d.checkHooks()
	if d.State == coppice.SessionLimited && !synthetic(m.Message) {
		d.Become(coppice.SessionWorking) // it continued without a message
	}
	for _, b := range blocks(m.Message) {
		switch b.Type {
		case "text":
			if b.Text != "" && m.Parent == "" {
				d.lastText = agent.Text(b.Text)
				d.Emit(coppice.AgentEvent{Kind: coppice.KindText, Text: d.lastText})
			}
		case "thinking":
			if b.Thinking != "" && m.Parent == "" {
				d.Emit(coppice.AgentEvent{Kind: coppice.KindThinking, Text: agent.Text(b.Thinking)})
			}
		case "tool_use":
			d.Emit(toolEvent(b))
			if p := plan(b); p != "" {
				d.Emit(coppice.AgentEvent{Kind: coppice.KindPlan, Text: agent.Text(p)})
			}
		}
	}
}

// synthetic reports whether the agent itself wrote a message in the model's
// place, as it does for errors.
func synthetic(raw json.RawMessage) bool {
	var m struct {
		Model string `json:"model"`
	}
	return json.Unmarshal(raw, &m) == nil && m.Model == "<synthetic>"
}

// reminder starts the agent's message to a model that did not follow the
// schema.
const reminder = "[structured-output-enforce]"

// user takes the agent's echo of what it got, and the results of its tools.
func (d *driver) user(m message) {
	if m.IsReplay {
		d.replayed++
		if d.replayed > 1 { // the first is the prompt
			d.Emit(coppice.AgentEvent{Kind: coppice.KindNotice, Name: "delivered", Text: "the agent has read the message"})
		}
		return
	}
	for _, b := range blocks(m.Message) {
		if b.Type == "text" && strings.HasPrefix(b.Text, reminder) {
			d.textBeforeReminder = d.lastText
		}
		if b.Type == "tool_result" {
			d.Emit(coppice.AgentEvent{Kind: coppice.KindToolResult, Ref: b.ToolUseID, OK: !b.IsError, Text: agent.Text(textOf(b.Content))})
		}
	}
}

// textOf flattens content that is a text or a list of blocks with texts.
func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var bs []block
	if json.Unmarshal(raw, &bs) != nil {
		return ""
	}
	var out []string
	for _, b := range bs {
		if b.Text != "" {
			out = append(out, b.Text)
		}
	}
	return strings.Join(out, "\n")
}
