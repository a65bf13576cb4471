// Package jsonrpc is one side of a conversation in JSON-RPC, one message per
// line. A Peer is a state machine: lines and requests in, messages out. It does
// no I/O.
package jsonrpc

import (
	"encoding/json"
	"strconv"
)

// Codes of errors.
const (
	CodeAuth     = -32000 // some protocols: log in first
	CodeNotFound = -32002 // some protocols: there is no such thing
	CodeNoMethod = -32601 // the method is not known
)

// Message is what the other side sent: a request, a notification or an answer.
type Message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *Error          `json:"error"`
}

// Error is the answer to a request that failed.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// message is what this side sends.
type message struct {
	Version string          `json:"jsonrpc,omitempty"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// Peer is this side. Its methods are called one at a time. A function that is
// nil ignores what it would get, except Send.
type Peer struct {
	Version  string        // 2.0, or nothing for programs that leave it out
	Send     func(v any)   // writes v as a line of JSON
	Request  func(Message) // takes a request, which Reply or Refuse answers, now or later
	Notified func(Message) // takes a notification
	Stray    func(Message) // takes an answer to nothing that was asked
	Garbage  func([]byte)  // takes a line that is not a message

	last  int                   // id of the latest call
	calls map[int]func(Message) // what to do with answers that have not come yet
}

// Call sends a request. then takes the answer, or its error.
func (p *Peer) Call(method string, params any, then func(Message)) {
	if p.calls == nil {
		p.calls = map[int]func(Message){}
	}
	p.last++
	p.calls[p.last] = then
	p.Send(message{Version: p.Version, ID: strconv.AppendInt(nil, int64(p.last), 10), Method: method, Params: params})
}

// Notify sends a notification. It has no parameters when params is nil.
func (p *Peer) Notify(method string, params any) {
	p.Send(message{Version: p.Version, Method: method, Params: params})
}

// Reply answers the request of that id.
func (p *Peer) Reply(id json.RawMessage, result any) {
	p.Send(message{Version: p.Version, ID: id, Result: result})
}

// Refuse answers the request of that id: the method is not offered.
func (p *Peer) Refuse(id json.RawMessage, text string) {
	p.Send(message{Version: p.Version, ID: id, Error: &Error{Code: CodeNoMethod, Message: text}})
}

// Line takes a line of the other side's.
func (p *Peer) Line(b []byte) {
	var m Message
	if err := json.Unmarshal(b, &m); err != nil || m.Method == "" && len(m.ID) == 0 {
		if p.Garbage != nil {
			p.Garbage(b)
		}
		return
	}
	take := p.Notified
	switch {
	case m.Method == "":
		take = p.answer(m)
	case len(m.ID) > 0 && string(m.ID) != "null":
		take = p.Request
	}
	if take != nil {
		take(m)
	}
}

// answer returns what takes an answer. An answer is taken once.
func (p *Peer) answer(m Message) func(Message) {
	id, err := strconv.Atoi(string(m.ID))
	then, ours := p.calls[id]
	if err != nil || !ours {
		return p.Stray
	}
	delete(p.calls, id)
	return then
}
