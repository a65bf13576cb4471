package acp

import (
	"encoding/json"
	"strconv"
	"strings"

	"coppice"
	"coppice/agent"
	"coppice/internal/jsonrpc"
)

// protocolVersion is the one version of the protocol that this driver speaks.
const protocolVersion = 1

// errorText is all that an error says. Many agents put a word such as "Internal
// error" into the message and what happened into the data.
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

// errorClass sorts an error.
func errorClass(e *jsonrpc.Error) coppice.Class {
	if e.Code == jsonrpc.CodeAuth {
		return coppice.ClassAuth
	}
	if status := agent.StatusClass(e.Code); status == coppice.ClassRateLimit {
		return status // whatever it says of money: it goes by itself
	}
	var data struct {
		Kind string `json:"errorKind"` // such as authentication_failed
		Name string `json:"errorName"` // such as ContextOverflowError
	}
	_ = json.Unmarshal(e.Data, &data) // few agents tell it
	said := agent.WithoutAddresses(errorText(e))
	c := agent.TextClass(said)
	for _, hint := range []string{data.Kind, data.Name} {
		if c == coppice.ClassUnknown {
			c = agent.TextClass(strings.ReplaceAll(hint, "_", " "))
		}
	}
	if status := agent.StatusClass(e.Code); c == coppice.ClassUnknown && status != "" {
		c = status // some agents hand the service's status on
	}
	if c != coppice.ClassUnknown || e.Code != jsonrpc.CodeNoMethod {
		return c
	}
	return coppice.ClassCapability
}

// request answers what the agent asks. It never leaves one unanswered, for the
// agent would wait for ever.
func (d *driver) request(m jsonrpc.Message) {
	if m.Method == "session/request_permission" {
		d.permission(m)
		return
	}
	if m.Method == methodElicit {
		d.elicit(m)
		return
	}
	// Files and terminals were not offered, and nothing else is known.
	d.rpc.Refuse(m.ID, "Method not found: the client does not offer "+agent.Clip(m.Method))
	d.Emit(coppice.AgentEvent{Kind: coppice.KindNotice, Name: "refused", Text: "the agent asked for " + agent.Clip(m.Method) + ", which is not offered"})
}

// notified takes a notification. Those besides updates are extensions, which no
// client has to know.
func (d *driver) notified(m jsonrpc.Message) {
	if m.Method == "session/update" {
		d.update(m.Params)
	}
}

// stray takes an answer to nothing that was asked.
func (d *driver) stray(m jsonrpc.Message) {
	if m.Error != nil {
		d.Notice(errorText(m.Error))
	}
}
