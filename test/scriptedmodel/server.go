// Package scriptedmodel is a deterministic replacement for a model vendor's HTTP
// API. It lets real agent CLIs run end to end with no network and no
// credentials: the CLI is the real program, only the model is a script.
//
// One handler serves four wire formats at once:
//
//	POST /v1/messages                        Anthropic Messages  (SSE and JSON)
//	POST /v1/messages/count_tokens
//	POST /v1/responses                       OpenAI Responses    (SSE and JSON)
//	POST /v1/chat/completions                OpenAI Chat         (SSE and JSON)
//	POST /v1beta/models/{m}:generateContent  Gemini              (SSE and JSON)
//	GET  /v1/models, /v1beta/models          model lists
//
// and a small control surface for those who drive it from another process:
//
//	GET  /_health   200 "ok"
//	GET  /_log      every model request so far, as a JSON array of LogEntry
//	POST /_rules    replace the rules
//	POST /_reset    clear the log and the counters behind "times"
//
// See rules.go for the rules, and cmd for a program that serves them.
package scriptedmodel

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// LogEntry describes one request.
type LogEntry struct {
	N       int               `json:"n"`
	Time    time.Time         `json:"time"`
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	API     string            `json:"api,omitempty"` // anthropic, responses, chat, gemini
	Model   string            `json:"model,omitempty"`
	Session string            `json:"session,omitempty"`
	Stream  bool              `json:"stream,omitempty"`
	Rule    string            `json:"rule,omitempty"`
	Step    int               `json:"step"`
	Did     string            `json:"did,omitempty"` // what was answered, in words
	User    string            `json:"user,omitempty"`
	Tools   []string          `json:"tools,omitempty"`
	Header  map[string]string `json:"header,omitempty"`
	Bytes   int               `json:"bytes"`            // request body size
	Images  int               `json:"images,omitempty"` // in the request
	Schema  json.RawMessage   `json:"schema,omitempty"` // of the reply, where the API has a field for it
}

// maxBody bounds a request; a prompt of a few megabytes fits well.
const maxBody = 64 << 20

// Server answers model requests by its rules. It is an http.Handler and safe
// for concurrent use.
type Server struct {
	trace io.Writer

	mu     sync.Mutex
	rules  *Rules
	counts map[string]int // how often each status or drop step has fired; see pick
	log    []LogEntry
}

// New returns a server that plays the rules. Nil rules answer every prompt with
// "ok". If trace is not nil, each LogEntry is also written to it as a line.
func New(rules *Rules, trace io.Writer) *Server {
	if rules == nil {
		rules = &Rules{}
	}
	return &Server{trace: trace, rules: rules, counts: map[string]int{}}
}

// Log returns every request so far.
func (s *Server) Log() []LogEntry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]LogEntry(nil), s.log...)
}

// ServeHTTP routes by path suffix, so that any prefix a client puts in front
// (/v1, /openai/v1, none) works.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := readBody(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	p := strings.TrimSuffix(r.URL.Path, "/")
	switch {
	case p == "/_health":
		io.WriteString(w, "ok")
	case p == "/_log":
		writeJSON(w, 200, s.Log())
	case p == "/_reset" && r.Method == http.MethodPost:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.log, s.counts = nil, map[string]int{}
		io.WriteString(w, "ok")
	case p == "/_rules" && r.Method == http.MethodPost:
		rules, err := ParseRules(body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.rules, s.counts = rules, map[string]int{}
		io.WriteString(w, "ok")

	case strings.HasSuffix(p, "/messages/count_tokens"):
		s.record(r, LogEntry{API: "anthropic", Did: "count_tokens", Bytes: len(body)})
		writeJSON(w, 200, obj{"input_tokens": len(body) / 4})
	case r.Method == http.MethodPost && strings.HasSuffix(p, "/messages"):
		s.serve(w, r, body, anthropicAPI{})
	case r.Method == http.MethodPost && strings.HasSuffix(p, "/responses"):
		s.serve(w, r, body, responsesAPI{})
	case r.Method == http.MethodPost && strings.HasSuffix(p, "/chat/completions"):
		s.serve(w, r, body, chatAPI{})
	case r.Method == http.MethodPost && strings.HasSuffix(p, ":countTokens"):
		s.record(r, LogEntry{API: "gemini", Did: "countTokens", Bytes: len(body)})
		writeJSON(w, 200, obj{"totalTokens": len(body) / 4})
	case r.Method == http.MethodPost && strings.Contains(p, "enerateContent"):
		s.serve(w, r, body, geminiAPI{})
	case r.Method == http.MethodGet && strings.HasSuffix(p, "/models"):
		s.record(r, LogEntry{Did: "models"})
		writeJSON(w, 200, obj{"object": "list", "has_more": false, "data": arr{obj{"id": "scripted", "object": "model",
			"type": "model", "display_name": "scripted", "created": 0, "owned_by": "local"}}})
	case r.Method == http.MethodHead || (p == "" && r.Method == http.MethodGet):
		s.record(r, LogEntry{Did: "200"})
		w.WriteHeader(200)
	default:
		s.record(r, LogEntry{Did: "404 not scripted", Bytes: len(body)})
		writeJSON(w, 404, obj{"type": "error", "error": obj{"type": "not_found_error", "message": "scriptedmodel: no such endpoint " + p}})
	}
}

// serve is the path every model request takes, whatever the wire format:
// decode -> pick a rule and step -> expand templates -> answer.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, body []byte, api wireAPI) {
	req, err := api.decode(r, body)
	if err != nil {
		s.record(r, LogEntry{API: api.name(), Did: "400 " + err.Error(), Bytes: len(body)})
		api.writeError(w, 400, "invalid_request_error", err.Error())
		return
	}
	req.Keyed = keyed(r)
	rule, index, step := s.pick(req)
	ans := expand(rule, step, req, index)
	entry := LogEntry{API: req.API, Model: req.Model, Session: req.Session, Stream: req.Stream,
		Rule: rule.Name, Step: index, Did: ans.String(), User: clip(req.User, 300), Bytes: len(body), Images: countImages(body), Schema: req.Schema}
	for _, t := range req.Tools {
		entry.Tools = append(entry.Tools, t.Name)
	}
	s.record(r, entry)

	if step.DelayMS > 0 {
		select {
		case <-time.After(time.Duration(step.DelayMS) * time.Millisecond):
		case <-r.Context().Done():
			return
		}
	}
	for k, v := range step.Headers {
		w.Header().Set(k, v)
	}
	switch {
	case step.Status != 0 && step.Status != 200 && len(step.Body) > 0:
		writeJSON(w, step.Status, step.Body)
	case step.Status != 0 && step.Status != 200:
		api.writeError(w, step.Status, step.ErrorType, step.Message)
	case req.Stream:
		st := newStream(w, r, step)
		api.stream(st, req, ans)
	case step.Hang:
		<-r.Context().Done()
	case step.Drop:
		panic(http.ErrAbortHandler) // cuts the TCP connection
	default:
		api.writeWhole(w, req, ans)
	}
}

// record appends to the log and the trace.
func (s *Server) record(r *http.Request, e LogEntry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.N, e.Time, e.Method, e.Path = len(s.log)+1, time.Now(), r.Method, r.URL.RequestURI()
	e.Header = map[string]string{}
	for k, v := range r.Header {
		name := strings.ToLower(k)
		switch {
		case name == "authorization" || name == "x-api-key" || name == "x-goog-api-key":
			// No secret is real here; they are masked so that a trace can be shown.
			e.Header[name] = fmt.Sprintf("<%d chars>", len(v[0]))
		case keptHeaders[name] || strings.HasPrefix(name, "anthropic-") || strings.HasPrefix(name, "x-"):
			e.Header[name] = v[0]
		}
	}
	s.log = append(s.log, e)
	if s.trace != nil {
		s.trace.Write(append(mustJSON(e), '\n'))
	}
}

var keptHeaders = map[string]bool{
	"user-agent": true, "session_id": true, "session-id": true, "originator": true, "conversation_id": true, "thread_id": true,
}

func readBody(r *http.Request) ([]byte, error) {
	var rd io.Reader = r.Body
	if strings.Contains(r.Header.Get("Content-Encoding"), "gzip") {
		gz, err := gzip.NewReader(r.Body)
		if err != nil {
			return nil, err
		}
		rd = gz
	}
	return io.ReadAll(io.LimitReader(rd, maxBody))
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

func clip(s string, n int) string {
	if len(s) > n {
		return s[:n] + "..."
	}
	return s
}

// countImages counts the images in a request of an API.
func countImages(body []byte) (n int) {
	for _, mark := range []string{`"media_type":"image/`, `"image_url":"data:image/`} {
		n += bytes.Count(body, []byte(mark))
	}
	return n
}
