package tools

//lint:file-ignore SA1019 sessions also serve features that the newest protocol no longer has

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// asking returns a server with a tool that asks the client, and one that waits.
func asking() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "asking", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "ask"}, func(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		if err := r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: "asking"}); err != nil {
			return nil, nil, err
		}
		got, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "which?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{"type": "string"}}}})
		if err != nil {
			return nil, nil, err
		}
		return textResult(got.Action+" "+got.Content["a"].(string), false), nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "work"}, func(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: 1, Total: 2})
		return textResult("done", false), nil, err
	})
	return s
}

// restarting serves a handler that restart replaces.
type restarting struct {
	t    *testing.T
	now  atomic.Pointer[handler]
	url  string
	ends context.CancelFunc
}

func serveRestarting(t *testing.T) *restarting {
	t.Helper()
	r := &restarting{t: t}
	r.restart()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) { r.now.Load().ServeHTTP(w, q) }))
	t.Cleanup(func() {
		r.ends()
		s.Close()
	})
	r.url = s.URL
	return r
}

func (r *restarting) restart() {
	ctx, end := context.WithCancel(r.t.Context())
	if r.ends != nil {
		r.ends()
	}
	r.ends = end
	r.now.Store(Handler(ctx, asking(), nil).(*handler))
}

// A client that can answer questions is asked, before and after a restart of the
// server. It keeps its session and starts no other.
func TestSessionsSurviveARestart(t *testing.T) {
	t.Parallel()
	r := serveRestarting(t)
	var logged atomic.Int64
	c := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"a": "x"}}, nil
		},
		LoggingMessageHandler: func(context.Context, *mcp.LoggingMessageRequest) { logged.Add(1) },
	})
	s, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: r.url}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-06-18"})
	if err != nil {
		t.Fatal(err)
	}
	id := s.ID()
	for range 3 {
		got, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask"})
		if err != nil || got.IsError || got.Content[0].(*mcp.TextContent).Text != "accept x" {
			t.Fatalf("%+v, %v", got, err)
		}
		r.restart()
	}
	if s.ID() != id || id == "" || logged.Load() != 3 {
		t.Errorf("session %q, then %q; %d messages", id, s.ID(), logged.Load())
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// A tool reports its progress to clients of every version. Those of the newest one
// have no session.
func TestProgress(t *testing.T) {
	t.Parallel()
	r := serveRestarting(t)
	for _, version := range []string{"2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"} {
		progress := make(chan float64, 1)
		c := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, p *mcp.ProgressNotificationClientRequest) {
			progress <- p.Params.Progress
		}})
		s, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: r.url}, &mcp.ClientSessionOptions{ProtocolVersion: version})
		if err != nil {
			t.Fatal(version, err)
		}
		params := &mcp.CallToolParams{Name: "work"}
		params.SetProgressToken("p")
		if got, err := s.CallTool(t.Context(), params); err != nil || got.IsError || (s.ID() == "") != (version == "2026-07-28") {
			t.Fatalf("%s: session %q: %+v, %v", version, s.ID(), got, err)
		}
		if at := <-progress; at != 1 {
			t.Errorf("%s: %v", version, at)
		}
		if err := s.Close(); err != nil {
			t.Errorf("%s: %v", version, err)
		}
	}
}

// request sends a message to the handler, with the id of a session unless that is
// empty.
func (r *restarting) request(method, id, version, body string) *http.Response {
	r.t.Helper()
	q, err := http.NewRequestWithContext(r.t.Context(), method, r.url, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", "application/json, text/event-stream")
	if id != "" {
		q.Header.Set(sessionHeader, id)
	}
	if version != "" {
		q.Header.Set(versionHeader, version)
	}
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { res.Body.Close() })
	return res
}

const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}}`
	ping       = `{"jsonrpc":"2.0","id":2,"method":"ping"}`
)

// Requests of a session that are not valid get an answer that says so, and create no
// session in memory.
func TestInvalidRequestsOfSessions(t *testing.T) {
	t.Parallel()
	r := serveRestarting(t)
	id := r.request("POST", "", "", initialize).Header.Get(sessionHeader)
	for name, c := range map[string]struct {
		method, id, version, body string
		want                      int
	}{
		"ping":                 {"POST", id, "2025-11-25", ping, 200},
		"without a version":    {"POST", id, "", ping, 200},
		"an unknown id":        {"POST", "walrus", "", ping, 404},
		"a part of an id":      {"POST", id[:len(id)-2], "", ping, 404},
		"a long id":            {"POST", id + strings.Repeat("A", maxSessionID), "", ping, 404},
		"an unknown version":   {"POST", id, "1999-01-01", ping, 400},
		"a batch":              {"POST", id, "2025-03-26", "[" + ping + "]", 400},
		"not a message":        {"POST", id, "", "walrus", 400},
		"another method":       {"PUT", id, "", ping, 405},
		"a large message":      {"POST", id, "", `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 5<<20) + `","method":"ping"}`, 413},
		"a stream without one": {"GET", "", "", "", 405},
		"end":                  {"DELETE", id, "", "", 204},
		"end of another":       {"DELETE", newSessionID(mcp.InitializeParams{}), "", "", 204},
	} {
		if res := r.request(c.method, c.id, c.version, c.body); res.StatusCode != c.want {
			t.Errorf("%s: %s", name, res.Status)
		}
	}
	h := r.now.Load()
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.kept) > 1 || len(h.idle) != len(h.kept) {
		t.Errorf("%d sessions, %d idle", len(h.kept), len(h.idle))
	}
}

// A client that claims to be able to do a lot gets an id of limited length.
func TestSessionIDsAreShort(t *testing.T) {
	t.Parallel()
	id := newSessionID(mcp.InitializeParams{ProtocolVersion: strings.Repeat("9", 1<<20), Capabilities: &mcp.ClientCapabilities{
		Experimental: map[string]any{"x": strings.Repeat("y", 1<<20)}, RootsV2: &mcp.RootCapabilities{},
		Sampling:    &mcp.SamplingCapabilities{Context: &mcp.SamplingContextCapabilities{}, Tools: &mcp.SamplingToolsCapabilities{}},
		Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}},
	}})
	p, ok := parseSessionID(id)
	if !ok || len(id) > 200 || p.Capabilities.RootsV2 == nil || p.Capabilities.Sampling.Tools == nil || p.Capabilities.Elicitation.URL == nil {
		t.Errorf("%d bytes: %+v, %v", len(id), p, ok)
	}
}

// Idle sessions in memory are limited in number and in age. A session with an open
// request stays, however old it is.
func TestSessionsInMemoryAreLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		h := Handler(ctx, asking(), nil).(*handler)
		send := func(ctx context.Context, method, id, body string) {
			q := httptest.NewRequestWithContext(ctx, method, "/mcp", strings.NewReader(body))
			q.Header.Set("Content-Type", "application/json")
			q.Header.Set(sessionHeader, id)
			h.ServeHTTP(httptest.NewRecorder(), q)
		}
		count := func() (int, int) {
			h.mu.Lock()
			defer h.mu.Unlock()
			return len(h.kept), len(h.idle)
		}
		reader, leave := context.WithCancel(ctx)
		go send(reader, "GET", newSessionID(mcp.InitializeParams{}), "")
		synctest.Wait()
		for range mostIdle + 9 {
			send(ctx, "POST", newSessionID(mcp.InitializeParams{}), ping)
		}
		if all, idle := count(); all != mostIdle+1 || idle != mostIdle {
			t.Errorf("%d sessions, %d idle", all, idle)
		}
		<-time.After(idleTime)
		synctest.Wait()
		if all, idle := count(); all != 1 || idle != 0 {
			t.Errorf("after %v: %d sessions, %d idle", idleTime, all, idle)
		}
		leave()
		synctest.Wait()
		if all, idle := count(); all != 1 || idle != 1 {
			t.Errorf("after the reader left: %d sessions, %d idle", all, idle)
		}
		end()
		synctest.Wait()
		if all, idle := count(); all != 0 || idle != 0 {
			t.Errorf("after the end: %d sessions, %d idle", all, idle)
		}
	})
}

// A late answer to a request of an earlier transport answers nothing of this one, and
// the notification that cancels a request names it as the client knows it.
func TestAnswersOfAnEarlierTransport(t *testing.T) {
	t.Parallel()
	ids := [2]string{}
	for i := range ids {
		inner := &wire{in: make(chan jsonrpc.Message, 2)}
		c := &connection{Connection: inner, run: newTransport("x").run}
		one, err := jsonrpc.MakeID(1.0)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Write(t.Context(), &jsonrpc.Request{ID: one, Method: "elicitation/create"}); err != nil {
			t.Fatal(err)
		}
		ids[i] = inner.out.ID.Raw().(string)
		if err := c.Write(t.Context(), &jsonrpc.Request{Method: "notifications/cancelled", Params: []byte(`{"requestId":1}`)}); err != nil || !strings.Contains(string(inner.out.Params), `"`+ids[i]+`"`) {
			t.Errorf("%s, %v", inner.out.Params, err)
		}
		for _, id := range ids[:i+1] {
			of, err := jsonrpc.MakeID(id)
			if err != nil {
				t.Fatal(err)
			}
			inner.in <- &jsonrpc.Response{ID: of}
		}
		if m, err := c.Read(t.Context()); err != nil || m.(*jsonrpc.Response).ID != one || len(inner.in) > 0 {
			t.Errorf("%+v, %v", m, err)
		}
	}
}

// wire is a connection whose other side is the test.
type wire struct {
	mcp.Connection
	in  chan jsonrpc.Message
	out *jsonrpc.Request
}

func (w *wire) Read(context.Context) (jsonrpc.Message, error) { return <-w.in, nil }

func (w *wire) Write(_ context.Context, m jsonrpc.Message) error {
	w.out = m.(*jsonrpc.Request)
	return nil
}
