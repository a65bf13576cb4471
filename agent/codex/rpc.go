package codex

import (
	"bytes"
	"encoding/json"
	"strconv"

	"coppice/agent"
)

// What the driver asks for.
const (
	methodInitialize = "initialize"
	methodStart      = "thread/start"
	methodResume     = "thread/resume"
	methodFork       = "thread/fork"
	methodTurn       = "turn/start"
	methodSteer      = "turn/steer"
	methodInterrupt  = "turn/interrupt"
)

// codeNoMethod is JSON-RPC's for a method that is not known.
const codeNoMethod = -32601

// packet is a request, a notification or an answer.
type packet struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *rpcError       `json:"error,omitempty"`
}

type rpcError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// call is one of our requests.
type call struct {
	method  string
	message *message // that it hands over
	turn    string   // that it is about
}

// line takes one line of stdout. One that is no message is a notice: programs
// print warnings there at times.
func (d *driver) line(b []byte) {
	var p packet
	if err := json.Unmarshal(b, &p); err != nil || (p.Method == "" && len(p.ID) == 0) {
		d.Notice(string(b))
		return
	}
	switch {
	case p.Method == "":
		d.answered(p)
	case len(p.ID) > 0 && string(p.ID) != "null":
		d.requested(p)
	default:
		d.notified(p)
	}
}

// answered takes the answer to one of our requests.
func (d *driver) answered(p packet) {
	id, err := strconv.Atoi(string(p.ID))
	c, ours := d.calls[id]
	if err != nil || !ours {
		return
	}
	delete(d.calls, id)
	switch c.method {
	case methodInitialize:
		d.initialized(p)
	case methodStart, methodResume, methodFork:
		d.opened(p)
	case methodTurn:
		d.started(p, c.message)
	case methodSteer:
		d.steered(p, c.message)
	case methodInterrupt:
		if p.Error != nil && d.phase == turning && d.turn == c.turn {
			d.interrupting, d.interrupted = false, false // it can be tried again
			d.Notice("the turn was not interrupted: " + p.Error.text())
			d.proceed()
		}
	}
}

// notified takes a notification. Those that tell nothing about the work are
// left out: pieces of items that come whole later, and what is for other
// clients.
func (d *driver) notified(p packet) {
	switch p.Method {
	case "turn/started", "turn/completed":
		d.turnNews(p)
	case "item/started", "item/completed":
		d.itemNews(p)
	case "item/fileChange/patchUpdated":
		d.patchNews(p)
	case "turn/plan/updated":
		d.planNews(p)
	case "thread/tokenUsage/updated":
		d.usageNews(p)
	case "account/rateLimits/updated":
		d.limitNews(p)
	case "serverRequest/resolved":
		var r struct {
			ID json.RawMessage `json:"requestId"`
		}
		if json.Unmarshal(p.Params, &r) == nil {
			d.withdraw(string(r.ID))
		}
	case "error":
		d.errorNews(p)
	case "mcpServer/startupStatus/updated":
		d.serverNews(p)
	case "warning", "guardianWarning", "configWarning", "deprecationNotice":
		var w struct {
			Message string `json:"message"`
			Summary string `json:"summary"`
		}
		if json.Unmarshal(p.Params, &w) == nil {
			d.Notice(w.Message + w.Summary)
		}
	case "model/rerouted":
		var m struct {
			From string `json:"fromModel"`
			To   string `json:"toModel"`
		}
		if json.Unmarshal(p.Params, &m) == nil {
			d.Emit(agent.Event{Kind: agent.KindNotice, Model: agent.Clip(m.To), Text: "the service answers with " + agent.Clip(m.To) + " instead of " + agent.Clip(m.From)})
		}
	}
}

func (d *driver) ask(c call, params any) {
	if d.Closed {
		return
	}
	d.next++
	d.calls[d.next] = c
	d.write(packet{ID: strconv.AppendInt(nil, int64(d.next), 10), Method: c.method, Params: agent.Encode(params)})
}

func (d *driver) reply(id json.RawMessage, result any) {
	d.write(packet{ID: bytes.Clone(id), Result: agent.Encode(result)})
}

func (d *driver) refuse(id json.RawMessage, text string) {
	d.write(packet{ID: bytes.Clone(id), Error: &rpcError{Code: codeNoMethod, Message: text}})
}

func (d *driver) write(p packet) {
	if !d.Closed {
		d.Step.Write = append(append(d.Step.Write, agent.Encode(p)...), '\n')
	}
}
