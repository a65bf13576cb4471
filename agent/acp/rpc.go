package acp

import (
	"encoding/json"
	"strconv"
	"strings"

	"coppice"
	"coppice/agent"
	"coppice/internal/jsonrpc"
)

// protocolVersion is the only version of the protocol that this driver
// supports.
const protocolVersion = 1

// errorText returns the whole text of an error. Many agents put a word such as
// "Internal error" into the message and the cause into the data.
func errorText(e *jsonrpc.Error) string {
	parts := []string{strings.TrimSpace(e.Message)}
	var s string
	var m map[string]json.RawMessage
	switch {
	case json.Unmarshal(e.Data, &s) == nil:
		parts = append(parts, s)
	case json.Unmarshal(e.Data, &m) == nil:
		for _, k := range []string{"details", "message", "error", "reason"} {
			if json.Unmarshal(m[k], &s) == nil {
				parts = append(parts, s)
			}
		}
	}
	var out []string
	for _, p := range parts {
		if p = strings.TrimSpace(p); p != "" && !strings.Contains(strings.Join(out, ": "), p) {
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		return "the agent answered with error " + strconv.Itoa(e.Code)
	}
	return agent.Text(strings.Join(out, ": "))
}

// errorClass classifies an error.
func errorClass(e *jsonrpc.Error) coppice.Class {
	if e.Code == jsonrpc.CodeAuth {
		return coppice.ClassAuth
	}
	if status := agent.StatusClass(e.Code); status == coppice.ClassRateLimit {
		return status // whatever it says about money: it ends automatically
	}
	var data struct {
		Kind string `json:"errorKind"` // such as authentication_failed
		Name string `json:"errorName"` // such as ContextOverflowError
	}
	_ = json.Unmarshal(e.Data, &data) // few agents send it
	said := agent.WithoutAddresses(errorText(e))
	c := agent.TextClass(said)
	for _, hint := range []string{data.Kind, data.Name} {
		if c == coppice.ClassUnknown {
			c = agent.TextClass(strings.ReplaceAll(hint, "_", " "))
		}
	}
	if status := agent.StatusClass(e.Code); c == coppice.ClassUnknown && status != "" {
		c = status // some agents pass the service's status on
	}
	if c != coppice.ClassUnknown || e.Code != jsonrpc.CodeNoMethod {
		return c
	}
	return coppice.ClassCapability
}

// request answers a request of the agent. It answers every one, because the
// agent would wait without limit.
func (d *driver) request(m jsonrpc.Message) {
	if m.Method == "session/request_permission" {
		d.permission(m)
		return
	}
	if m.Method == methodElicit {
		d.elicit(m)
		return
	}
	// Files and terminals were not offered, and other methods are unknown.
	d.rpc.Refuse(m.ID, "Method not found: the client does not offer "+agent.Clip(m.Method))
	d.Emit(coppice.AgentEvent{Kind: coppice.KindNotice, Name: "refused", Text: "the agent asked for " + agent.Clip(m.Method) + ", which is not offered"})
}

// notified takes a notification. All except updates are extensions, which
// clients can ignore.
func (d *driver) notified(m jsonrpc.Message) {
	if m.Method == "session/update" {
		d.update(m.Params)
	}
}

// stray takes an answer without a request.
func (d *driver) stray(m jsonrpc.Message) {
	if m.Error != nil {
		d.Notice(errorText(m.Error))
	}
}
