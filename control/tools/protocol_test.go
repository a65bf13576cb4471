package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"coppice"
	"coppice/engine"
	"coppice/fabric"
	"coppice/store"
)

// send sends a body as the session's agent.
func (b *bundle) send(version string, body any) fabric.Reply {
	b.t.Helper()
	b.calls++
	h := map[string]string{"Content-Type": "application/json"}
	if version != "" {
		h["Mcp-Protocol-Version"] = version
	}
	if m, ok := body.(map[string]any); ok && version >= "2026" {
		h["Mcp-Method"], _ = m["method"].(string)
		if p, ok := m["params"].(map[string]any); ok && h["Mcp-Method"] == "tools/call" {
			h["Mcp-Name"], _ = p["name"].(string)
		}
	}
	r, err := b.Session(b.t.Context(), b.session, fabric.Call{Session: b.session.ID, ID: "x", Method: "POST", Header: h, Body: coppice.Raw(body)})
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// Clients of every version of the protocol that is in use list and call tools.
// Those of the newest one need no handshake.
func TestProtocolVersions(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2025-03-26", "2025-06-18", "2025-11-25"} {
		b := setup(t)
		init := b.send("", map[string]any{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": map[string]any{"protocolVersion": version, "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "t", "version": "1"}}})
		if !strings.Contains(string(init.Body), `"protocolVersion":"`+version+`"`) {
			t.Errorf("%s: %d %s", version, init.Status, init.Body)
		}
		if r := b.send(version, map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"}); r.Status != 202 {
			t.Errorf("%s: initialized: %d %s", version, r.Status, r.Body)
		}
		r := b.send(version, map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": "read_task", "arguments": map[string]any{}}})
		if text, failed := b.result(string(r.Body)); failed || !strings.Contains(text, "app-1") {
			t.Errorf("%s: %s", version, text)
		}
	}
	const newest = "2026-07-28"
	b := setup(t)
	params := func(more map[string]any) map[string]any {
		more["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion": newest, "io.modelcontextprotocol/clientInfo": map[string]any{"name": "t", "version": "1"},
			"io.modelcontextprotocol/clientCapabilities": map[string]any{},
		}
		return more
	}
	r := b.send(newest, map[string]any{"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": params(map[string]any{})})
	if !strings.Contains(string(r.Body), newest) || !strings.Contains(string(r.Body), `"tools"`) {
		t.Errorf("server/discover: %d %s", r.Status, r.Body)
	}
	r = b.send(newest, map[string]any{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params(map[string]any{"name": "read_task", "arguments": map[string]any{}})})
	if text, failed := b.result(string(r.Body)); failed || !strings.Contains(text, "app-1") {
		t.Errorf("%s: %s", newest, text)
	}
	if r := b.send("1999-01-01", map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}); r.Status != 400 {
		t.Errorf("an unknown version: %d %s", r.Status, r.Body)
	}
}

// What is not a valid call gets an answer that says so. Nothing is retried.
func TestInvalidCalls(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, c := range map[string]struct {
		body any
		want string
	}{
		"unknown tool":      {map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": "nothing"}}, `unknown tool \"nothing\"`},
		"missing argument":  {map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": "report_status", "arguments": map[string]any{}}}, "message"},
		"wrong type":        {map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": "report_status", "arguments": map[string]any{"message": 7}}}, "string"},
		"unknown argument":  {map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": "report_status", "arguments": map[string]any{"message": "a", "to": "x"}}}, "to"},
		"unknown method":    {map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/drop"}, "tools/drop"},
		"a batch":           {[]any{map[string]any{"jsonrpc": "2.0", "id": 1, "method": "ping"}}, "batches are not supported"},
		"not a message":     {"hello", ""},
		"no object at all":  {7, ""},
		"without arguments": {map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}, ""},
	} {
		r := b.send("2025-06-18", c.body)
		failed := r.Status >= 400 || strings.Contains(string(r.Body), `"error"`) || strings.Contains(string(r.Body), `"isError":true`)
		if !failed || !strings.Contains(string(r.Body), c.want) {
			t.Errorf("%s: %d %s", name, r.Status, r.Body)
		}
	}
	for _, method := range []string{"GET", "DELETE"} {
		r, err := b.Session(t.Context(), b.session, fabric.Call{Method: method})
		if err != nil || r.Status != 405 || r.Header["Allow"] != "POST" {
			t.Errorf("%s: %+v, %v", method, r, err)
		}
	}
}

// A role has the tools that fit it, and no others.
func TestToolsOfRoles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	edits := reading("edits", "x", readTask).only(func(r coppice.RoleInfo, _ bool) bool { return r.Denied == "" })
	all := sessionTools
	for _, r := range coppice.Roles {
		b.session.Role = r.Role
		if list := b.post("tools/list", map[string]any{}); !strings.Contains(list, `"read_task"`) {
			t.Errorf("%s: %s", r.Role, list)
		}
		b.roles[r.Role] = b.toolset(chosen(append(slices.Clone(all), edits), r.Role, false))
		if list := b.post("tools/list", map[string]any{}); strings.Contains(list, `"edits"`) != (r.Denied == "") {
			t.Errorf("%s: %s", r.Role, list)
		}
	}
}

// with adds a tool to those of all roles.
func (b *bundle) with(t tool) {
	for role := range b.roles {
		b.roles[role] = b.toolset([]tool{t})
	}
}

// A tool that fails because of the facts makes the call itself fail, so that the
// worker repeats it. A tool that panics answers, and the server lives.
func TestToolsThatFail(t *testing.T) {
	t.Parallel()
	b := setup(t)
	bad := errors.New("the disk is full")
	b.with(waiting("fail", "x", func(*call, struct{}) (done, error) { return done{}, bad }))
	body := coppice.Raw(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": "fail", "arguments": map[string]any{}}})
	c := fabric.Call{Session: b.session.ID, ID: "a", Method: "POST", Header: map[string]string{"Content-Type": "application/json"}, Body: body}
	if r, err := b.Session(t.Context(), b.session, c); !errors.Is(err, bad) {
		t.Errorf("%d %s, %v", r.Status, r.Body, err)
	}
	b.with(waiting("fail", "x", func(*call, struct{}) (done, error) { panic("no") }))
	if r, err := b.Session(t.Context(), b.session, c); err != nil || !strings.Contains(string(r.Body), "the tool failed") {
		t.Errorf("%d %s, %v", r.Status, r.Body, err)
	}
}

// A client cancels a call with a notification, or by leaving. Of two calls with
// the same id none is cancelled.
func TestCancelledCalls(t *testing.T) {
	t.Parallel()
	b := setup(t)
	started := make(chan *call, 2)
	b.with(waiting("wait", "x", func(c *call, _ struct{}) (done, error) {
		started <- c
		<-c.ctx.Done()
		return done{}, c.ctx.Err()
	}))
	call := func(ctx context.Context) chan error {
		out := make(chan error, 1)
		go func() {
			body := coppice.Raw(map[string]any{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": map[string]any{"name": "wait", "arguments": map[string]any{}}})
			r, err := b.Session(ctx, b.session, fabric.Call{Session: b.session.ID, ID: "a", Method: "POST", Header: map[string]string{"Content-Type": "application/json"}, Body: body})
			if err == nil && !strings.Contains(string(r.Body), "cancelled") {
				err = errors.New(string(r.Body))
			}
			out <- err
		}()
		return out
	}
	cancel := func(id int) {
		b.send("", map[string]any{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": map[string]any{"requestId": id}})
	}
	one := call(t.Context())
	<-started
	cancel(8)
	cancel(7)
	if err := <-one; err != nil {
		t.Error(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	one, two := call(ctx), call(ctx)
	for range 2 {
		c := <-started
		defer c.cancel(nil)
	}
	cancel(7)
	select {
	case err := <-one:
		t.Errorf("a call with an id that two clients use was cancelled: %v", err)
	case err := <-two:
		t.Errorf("a call with an id that two clients use was cancelled: %v", err)
	default:
	}
	leave()
	for _, c := range []chan error{one, two} {
		if err := <-c; !errors.Is(err, context.Canceled) {
			t.Errorf("an agent that left: %v", err)
		}
	}
}

// A call that is carried out twice at the same time, as after a lost connection,
// gets the same answer twice and has one effect.
func TestTheSameCallTwice(t *testing.T) {
	t.Parallel()
	b := setup(t)
	count := 0
	b.with(changing("count", "x", func(*call, *engine.Intake, store.Tx, struct{}) (map[string]int, error) {
		count++
		return map[string]int{"n": count}, nil
	}))
	answers := make(chan string, 9)
	body := coppice.Raw(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": "count", "arguments": map[string]any{}}})
	for range cap(answers) {
		go func() {
			r, err := b.Session(t.Context(), b.session, fabric.Call{Session: b.session.ID, ID: "same", Method: "POST", Header: map[string]string{"Content-Type": "application/json"}, Body: body})
			if err != nil {
				t.Error(err)
			}
			answers <- string(r.Body)
		}()
	}
	for range cap(answers) {
		if got := <-answers; !strings.Contains(got, `{\"n\":1}`) {
			t.Error(got)
		}
	}
}

// The list of tools is stable and small: agents send it to their model with every
// request.
func TestListOfTools(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first, second := b.post("tools/list", map[string]any{}), b.post("tools/list", map[string]any{})
	if first != second || len(first) > 16<<10 {
		t.Errorf("%d bytes, then %d", len(first), len(second))
	}
	var list struct {
		Result struct{ Tools []mcp.Tool }
	}
	if err := json.Unmarshal([]byte(first), &list); err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Result.Tools {
		if tool.Description == "" || tool.InputSchema == nil {
			t.Errorf("%s has no description or schema", tool.Name)
		}
	}
}

// An ordinary call writes nothing to the server's log, and no call writes its
// arguments.
func TestCallsAreNotLogged(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var log bytes.Buffer
	c := b.cfg
	c.Logger = slog.New(slog.NewTextHandler(&log, nil))
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	b.Server = s
	b.use("read_task", map[string]any{"task": "cop_SECRET-1"})
	b.use("report_status", map[string]any{"message": "cop_SECRET"})
	if log.Len() > 0 {
		t.Errorf("logged %s", log.String())
	}
}
