package acp

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"coppice"
	"coppice/agent"
)

// protocolVersion is the one version of the protocol that this driver speaks.
const protocolVersion = 1

// Codes of JSON-RPC and of the protocol.
const (
	codeAuth     = -32000
	codeNotFound = -32002
	codeNoMethod = -32601
)

// message is a request, a notification or an answer.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

type rpcError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// text is all that the error says. Many agents put a word such as "Internal
// error" into the message and what happened into the data.
func (e *rpcError) text() string {
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

// class sorts the error.
func (e *rpcError) class() coppice.Class {
	if e.Code == codeAuth {
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
	said := agent.WithoutAddresses(e.text())
	c := agent.TextClass(said)
	for _, hint := range []string{data.Kind, data.Name} {
		if c == coppice.ClassUnknown {
			c = agent.TextClass(strings.ReplaceAll(hint, "_", " "))
		}
	}
	if status := agent.StatusClass(e.Code); c == coppice.ClassUnknown && status != "" {
		c = status // some agents hand the service's status on
	}
	if c != coppice.ClassUnknown || e.Code != codeNoMethod {
		return c
	}
	return coppice.ClassCapability
}

// line takes one line of stdout. One that is no message is a notice: programs
// print warnings there at times.
func (d *driver) line(b []byte) {
	var m message
	if err := json.Unmarshal(b, &m); err != nil || (m.Method == "" && len(m.ID) == 0) {
		d.Notice(string(b))
		return
	}
	switch {
	case m.Method == "":
		d.answered(m)
	case len(m.ID) > 0 && string(m.ID) != "null":
		d.request(m)
	case m.Method == "session/update":
		d.update(m.Params)
	}
	// Other notifications are extensions, which no client has to know.
}

// answered takes the answer to one of our requests.
func (d *driver) answered(m message) {
	id, err := strconv.Atoi(string(m.ID))
	method, ours := d.calls[id]
	if err != nil || !ours {
		if m.Error != nil {
			d.Notice(m.Error.text())
		}
		return
	}
	delete(d.calls, id)
	if name, later := d.models[id]; later {
		delete(d.models, id)
		d.switched(name, m)
		return
	}
	switch method {
	case "initialize":
		d.initialized(m)
	case "authenticate":
		d.authenticated(m)
	case "session/new", methodLoad, methodResume, methodFork:
		d.opened(method, m)
	case methodMode:
		d.loaded() // whether it was taken or refused
	case methodModel, methodOption:
		d.chosen(m)
	case callEffort:
		d.thinks(m)
	case "session/prompt":
		d.ended(id, m)
	}
}

// request answers what the agent asks. It never leaves one unanswered, for the
// agent would wait for ever.
func (d *driver) request(m message) {
	if m.Method == "session/request_permission" {
		d.permission(m)
		return
	}
	if m.Method == methodElicit {
		d.elicit(m)
		return
	}
	// Files and terminals were not offered, and nothing else is known.
	d.write(message{Version: "2.0", ID: bytes.Clone(m.ID), Error: &rpcError{Code: codeNoMethod, Message: "Method not found: the client does not offer " + agent.Clip(m.Method)}})
	d.Emit(agent.Event{Kind: agent.KindNotice, Name: "refused", Text: "the agent asked for " + agent.Clip(m.Method) + ", which is not offered"})
}

func (d *driver) reply(id json.RawMessage, result any) {
	d.write(message{Version: "2.0", ID: bytes.Clone(id), Result: agent.Encode(result)})
}

func (d *driver) call(method string, params any) {
	d.next++
	d.calls[d.next] = method
	d.write(message{Version: "2.0", ID: strconv.AppendInt(nil, int64(d.next), 10), Method: method, Params: agent.Encode(params)})
}

func (d *driver) notify(method string, params any) {
	d.write(message{Version: "2.0", Method: method, Params: agent.Encode(params)})
}

func (d *driver) write(m message) {
	d.Write(m)
}
