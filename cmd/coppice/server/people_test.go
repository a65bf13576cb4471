package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"coppice"
	"coppice/api"
	"coppice/api/apitest"
	"coppice/api/client"
)

// people is a person's MCP client.
type people struct {
	*bundle
	s *Server
}

// post sends a message to /mcp with the token, unless edit removes it.
func (p people) post(method string, params any, edit ...func(*http.Request)) (int, string) {
	p.t.Helper()
	_, token, err := p.client().Server()
	p.must(err)
	body := coppice.Raw(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	r, err := http.NewRequestWithContext(p.ctx, http.MethodPost, p.s.URL()+"/mcp", bytes.NewReader(body))
	p.must(err)
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for _, f := range edit {
		f(r)
	}
	tr := &http.Transport{DisableKeepAlives: true}
	res, err := tr.RoundTrip(r)
	p.must(err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	p.must(err)
	return res.StatusCode, string(text)
}

// use calls a tool and returns its text.
func (p people) use(tool string, in any) (text string, failed bool) {
	p.t.Helper()
	status, body := p.post("tools/call", map[string]any{"name": tool, "arguments": in})
	var got struct {
		Result struct {
			IsError bool
			Content []struct{ Text string }
		}
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil || status != 200 || len(got.Result.Content) != 1 {
		p.t.Fatalf("%s: %d %s, %v", tool, status, body, err)
	}
	return got.Result.Content[0].Text, got.Result.IsError
}

// A person's own MCP client creates, reads and lists tasks, answers, lands and
// searches, with the rules and errors of the API.
func TestPeoplesTools(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := people{b, b.start()}
	c, project := b.added(b.repo(map[string]string{
		"coppice.yaml":           "agent: {use: scripted}\nbase: main\nlimits: {memory: 100%}\nland: {how: branch}\n",
		".coppice/scripted.yaml": asks,
	}))
	if text, failed := p.use("status", map[string]any{}); failed || !strings.Contains(text, `"`+project.Prefix+`"`) {
		t.Errorf("status: %s", text)
	}
	text, failed := p.use("create_task", map[string]any{"project": project.Prefix, "title": "Find the walrus", "description": "It hides."})
	var made struct{ Key, Title string }
	if err := json.Unmarshal([]byte(text), &made); failed || err != nil || made.Title != "Find the walrus" {
		t.Fatalf("create_task: %s", text)
	}
	b.await(c, coppice.EventQuestionAsked)
	if text, failed := p.use("read_task", map[string]any{"task": made.Key}); failed || !strings.Contains(text, "It hides.") || !strings.Contains(text, "Which greeting?") {
		t.Errorf("read_task: %s", text)
	}
	if text, failed := p.use("list_tasks", map[string]any{"project": project.Prefix, "limit": 5}); failed || !strings.Contains(text, made.Key) {
		t.Errorf("list_tasks: %s", text)
	}
	if text, failed := p.use("send_message", map[string]any{"task": made.Key, "text": "look under the ice"}); failed || !strings.Contains(text, "look under the ice") {
		t.Errorf("send_message: %s", text)
	}
	if text, failed := p.use("search", map[string]any{"query": "walrus"}); failed || !strings.Contains(text, `"hits"`) {
		t.Errorf("search: %s", text)
	}
	if text, failed := p.use("answer_question", map[string]any{"task": made.Key, "text": "Servus"}); failed || !strings.Contains(text, "Servus") {
		t.Errorf("answer_question: %s", text)
	}
	err := c.FollowEvents(b.ctx, client.EventQuery{}, func(api.Event) error {
		if d, err := c.Task(b.ctx, made.Key); err != nil || d.Stage != coppice.StageHeld {
			return err
		}
		return errSeen
	}, nil)
	if !errors.Is(err, errSeen) {
		t.Fatal(err)
	}
	if text, failed := p.use("land_task", map[string]any{"task": made.Key}); failed || !strings.Contains(text, made.Key) {
		t.Errorf("land_task: %s", text)
	}
	b.await(c, coppice.EventTaskEnded)
	for tool, in := range map[string]any{
		"answer_question": map[string]any{"task": made.Key, "text": "yes"},
		"land_task":       map[string]any{"task": made.Key},
		"read_task":       map[string]any{"task": "../projects"},
		"create_task":     map[string]any{"project": "nothing", "title": "x"},
		"list_tasks":      map[string]any{"status": []string{"lost"}},
	} {
		text, failed := p.use(tool, in)
		if !failed || text == "" || strings.Contains(text, "status 5") {
			t.Errorf("%s: %s", tool, text)
		}
	}
	_, list := p.post("tools/list", map[string]any{})
	for _, name := range []string{"status", "list_tasks", "read_task", "create_task", "answer_question", "land_task", "send_message", "search"} {
		if !strings.Contains(list, `"name":"`+name+`"`) {
			t.Errorf("no tool %s in %s", name, list)
		}
	}
	if strings.Contains(list, "report_status") {
		t.Error("a person has the tools of sessions")
	}
}

// /mcp has the checks of the API.
func TestPeoplesToolsAreGuarded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := people{b, b.start()}
	for name, c := range map[string]struct {
		edit func(*http.Request)
		want int
	}{
		"no token":       {func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		"another token":  {func(r *http.Request) { r.Header.Set("Authorization", "Bearer cop_X") }, 401},
		"another host":   {func(r *http.Request) { r.Host = "evil.example" }, 403},
		"another origin": {func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, 403},
		"another site":   {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		"another type":   {func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, 415},
		"read":           {func(r *http.Request) { r.Method, r.Body, r.ContentLength = http.MethodGet, nil, 0 }, 405},
	} {
		if status, text := p.post("tools/list", map[string]any{}, c.edit); status != c.want {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
}

// withToken adds the server's token to requests.
type withToken struct {
	*http.Transport
	token string
}

func (w withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+w.token)
	return w.Transport.RoundTrip(r)
}

// A client with a session and an open stream does not delay a stop of the server, and
// continues with the same session after a restart.
func TestPeoplesSessionSurvivesARestart(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var log apitest.Log
	b.cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
	s := b.start()
	_, token, err := b.client().Server()
	b.must(err)
	connections := &http.Transport{}
	defer connections.CloseIdleConnections()
	c, err := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil).Connect(b.ctx, &mcp.StreamableClientTransport{
		Endpoint: s.URL() + "/mcp", HTTPClient: &http.Client{Transport: withToken{connections, token}},
	}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	b.must(err)
	id := c.ID()
	for range 3 {
		if got, err := c.CallTool(b.ctx, &mcp.CallToolParams{Name: "status"}); err != nil || got.IsError || c.ID() != id || id == "" {
			t.Fatalf("%+v, %v; session %q, then %q", got, err, id, c.ID())
		}
		b.cfg.Listen = strings.TrimPrefix(s.URL(), "http://")
		s.Stop()
		connections.CloseIdleConnections() // a request on a connection that the server has closed fails, and a POST is not repeated
		s = b.start()
	}
	b.must(c.Close())
	if strings.Contains(log.String(), "interrupted") {
		t.Error(log.String())
	}
}
