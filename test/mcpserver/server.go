// Package mcpserver is a small tool server for tests: the Model Context
// Protocol over HTTP, behind a bearer token, or over stdin and stdout, with one
// tool, echo. It notes what it was asked.
package mcpserver

import (
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
)

// Server implements http.Handler. It is safe for concurrent use.
type Server struct {
	token string

	mu      sync.Mutex
	calls   []Call
	refused int
}

// Call is one call of the tool.
type Call struct {
	Tool    string
	Text    string      // what was to be echoed
	Headers http.Header // of the request
}

// New makes a server that takes requests with this bearer token only.
func New(token string) *Server { return &Server{token: token} }

// Calls returns the tool calls so far.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Call(nil), s.calls...)
}

// Refused returns how many requests came without the token.
func (s *Server) Refused() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused
}

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Version   string `json:"protocolVersion"`
		Name      string `json:"name"`
		Arguments struct {
			Text string `json:"text"`
		} `json:"arguments"`
	} `json:"params"`
}

// ServeHTTP answers one message of the protocol.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+s.token)) != 1 {
		s.mu.Lock()
		s.refused++
		s.mu.Unlock()
		http.Error(w, "no such token", http.StatusUnauthorized)
		return
	}
	switch r.Method {
	case http.MethodPost:
	case http.MethodDelete:
		w.WriteHeader(http.StatusNoContent)
		return
	default:
		w.Header().Set("Allow", "POST, DELETE")
		http.Error(w, "no stream is offered", http.StatusMethodNotAllowed)
		return
	}
	var m request
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&m); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if len(m.ID) == 0 { // a notification
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(s.reply(m, r.Header)) // who left needs no answer
}

// reply is the whole message that answers another.
func (s *Server) reply(m request, h http.Header) map[string]any {
	result, fault := s.answer(m, h)
	if fault != "" {
		return map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": -32601, "message": fault}}
	}
	return map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result}
}

func (s *Server) answer(m request, h http.Header) (any, string) {
	switch m.Method {
	case "initialize":
		version := m.Params.Version
		if version == "" {
			version = "2025-06-18"
		}
		return map[string]any{
			"protocolVersion": version, "capabilities": map[string]any{"tools": map[string]any{}},
			"serverInfo": map[string]string{"name": "mcpserver", "version": "1"},
		}, ""
	case "ping":
		return map[string]any{}, ""
	case "tools/list":
		return map[string]any{"tools": []any{map[string]any{
			"name": "echo", "description": "Returns its text.",
			"inputSchema": map[string]any{"type": "object", "properties": map[string]any{"text": map[string]string{"type": "string"}}, "required": []string{"text"}},
		}}}, ""
	case "tools/call":
		if m.Params.Name != "echo" {
			return nil, fmt.Sprintf("there is no tool %q", m.Params.Name)
		}
		s.mu.Lock()
		s.calls = append(s.calls, Call{Tool: m.Params.Name, Text: m.Params.Arguments.Text, Headers: h.Clone()})
		s.mu.Unlock()
		return map[string]any{"content": []any{map[string]string{"type": "text", "text": "echo: " + m.Params.Arguments.Text}}}, ""
	}
	return nil, "there is no method " + m.Method
}
