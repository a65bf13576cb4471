package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"coppice"
	"coppice/agent"
)

func init() {
	if os.Getenv(roleVar) == "agent" && len(os.Args) > 1 && os.Args[1] == "call" {
		os.Exit(callTools())
	}
}

// callTools is an agent that sends each line of its input to the tools, all at
// the same time, and prints the answers.
func callTools() int {
	fmt.Println("ready", os.Getenv(agent.ToolsURLVar))
	var all sync.WaitGroup
	in := json.NewDecoder(os.Stdin)
	for {
		var line json.RawMessage
		if in.Decode(&line) != nil {
			break
		}
		all.Go(func() {
			r, _ := http.NewRequest(http.MethodPost, os.Getenv(agent.ToolsURLVar), bytes.NewReader(line))
			r.Header.Set("Authorization", "Bearer "+os.Getenv(agent.TokenVar))
			r.Header.Set("Content-Type", "application/json")
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				fmt.Println("failed", err)
				return
			}
			defer res.Body.Close()
			body, _ := io.ReadAll(res.Body)
			fmt.Printf("%s: %d %s\n", line, res.StatusCode, body)
		})
	}
	all.Wait()
	return 0
}

const testToken = "cop_" + "QWERTYUIOPASDFGHJKLZXCVBNM"

// withTools runs an agent that calls tools, and returns a client of its host and
// the address of the tools.
func withTools(t *testing.T) (*bundle, *Client, string) {
	t.Helper()
	b := setup(t, "talk", "call")
	b.spec.Tools = true
	b.spec.Env[agent.TokenVar] = testToken
	b.run()
	_, rest, _ := strings.Cut(string(b.output(coppice.OutputStdout)), "ready ")
	address, _, _ := strings.Cut(rest, "\n")
	return b, b.dial(), address
}

// say sends a line to the agent.
func (b *bundle) say(c *Client, line string) {
	b.t.Helper()
	if err := c.Send(b.ctx, Message{ID: line, Text: line}); err != nil {
		b.t.Fatal(err)
	}
}

// nextCalls starts to follow the calls over a separate client.
func (b *bundle) nextCalls() (next func() Call, stop func()) {
	b.t.Helper()
	c := b.dial()
	got := make(chan Call, 3*mostCalls)
	ctx, cancel := context.WithCancel(b.ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = c.Calls(ctx, func(call Call) { got <- call })
	}()
	stop = func() { cancel(); <-done }
	b.t.Cleanup(stop)
	return func() Call {
		select {
		case call := <-got:
			return call
		case <-b.ctx.Done():
			b.t.Fatal("no call")
			return Call{}
		}
	}, stop
}

func (b *bundle) calls() (all []coppice.AgentEvent) {
	b.t.Helper()
	for _, p := range b.pieces(coppice.OutputEvent) {
		if e, ok := coppice.ReadAgentEvent(p); ok && e.Kind == coppice.KindCall {
			all = append(all, e)
		}
	}
	return all
}

const useTool = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"report_status","arguments":{"message":"hi"}}}`

// A call waits while nobody follows the session. Each new client gets the open
// calls, the agent gets one answer, and the call is written once.
func TestCalls(t *testing.T) {
	t.Parallel()
	b, c, _ := withTools(t)
	b.say(c, useTool)
	next, stop := b.nextCalls()
	first := next()
	if first.ID != "app-1.1/1" || first.Method != "POST" || string(first.Body) != useTool || first.Header["Content-Type"] != "application/json" {
		t.Errorf("call %+v %s", first, first.Body)
	}
	stop()
	next, _ = b.nextCalls()
	if again := next(); again.ID != first.ID || !bytes.Equal(again.Body, first.Body) {
		t.Errorf("the next client gets %+v", again)
	}
	answer := Reply{Status: 200, Body: []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"noted"}]}}`)}
	for _, err := range []error{c.Reply(b.ctx, "app-1.1/9", answer), c.Reply(b.ctx, first.ID, answer), c.Reply(b.ctx, first.ID, Reply{Status: 500})} {
		if err != nil {
			t.Error(err)
		}
	}
	b.until(contains(": 200 {"))
	if err := c.Reply(b.ctx, first.ID, Reply{Status: 7}); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("a reply without a status: %v", err)
	}
	if all := b.calls(); len(all) != 1 || all[0].Ref != first.ID || all[0].Name != "report_status" || string(all[0].Input) != `{"message":"hi"}` || !all[0].OK || all[0].Text != "noted" {
		t.Errorf("recorded %+v", all)
	}
	b.clean()
}

// clean checks that no file of the session has the token.
func (b *bundle) clean() {
	b.t.Helper()
	err := filepath.WalkDir(b.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(testToken)) {
			b.t.Errorf("%s contains the token", path)
		}
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		b.t.Error(err)
	}
}

// Only the session's own token opens the endpoint. A foreign one does not show
// that something is there.
func TestEndpointRefuses(t *testing.T) {
	t.Parallel()
	b, c, address := withTools(t)
	for name, r := range map[string]struct{ token, path string }{
		"missing": {"", ""}, "foreign": {"Bearer cop_OTHER", ""}, "cut": {"Bearer " + testToken[:10], ""}, "without the word": {testToken, ""},
		"another path": {"Bearer " + testToken, "/x"}, "hooks": {"Bearer " + testToken, "/../hook"},
	} {
		req, err := http.NewRequestWithContext(b.ctx, http.MethodPost, address+r.path, strings.NewReader(useTool))
		if err != nil {
			t.Fatal(err)
		}
		if r.token != "" {
			req.Header.Set("Authorization", r.token)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != 404 || bytes.Contains(body, []byte("cop_")) {
			t.Errorf("%s: %d %s", name, res.StatusCode, body)
		}
	}
	if open, err := c.ask(b.ctx, request{Op: opPing}); err != nil || open.Call != nil {
		t.Error(err)
	}
}

// do sends a request as the agent.
func do(ctx context.Context, t *testing.T, address string, body []byte) (int, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+testToken)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	res.Body.Close()
	return res.StatusCode, nil
}

// A call whose agent leaves is reported as gone. A reply to it does nothing. The
// call is written anyway, with what is known.
func TestAnAgentThatLeaves(t *testing.T) {
	t.Parallel()
	b, c, address := withTools(t)
	next, _ := b.nextCalls()
	ctx, cancel := context.WithCancel(b.ctx)
	left := make(chan struct{})
	go func() { defer close(left); _, _ = do(ctx, t, address, []byte(useTool)) }()
	call := next()
	cancel()
	<-left
	if gone := next(); gone.ID != call.ID || !gone.Gone || gone.Body != nil {
		t.Errorf("then %+v", gone)
	}
	if err := c.Reply(b.ctx, call.ID, Reply{Status: 200}); err != nil {
		t.Error(err)
	}
	b.say(c, "quit") // not JSON: the agent ends
	b.ended()
	if all := b.calls(); len(all) != 1 || all[0].OK || !strings.Contains(all[0].Text, "did not wait") {
		t.Errorf("recorded %+v", all)
	}
}

// An agent has a limited number of open calls, and of bytes in them.
func TestManyCalls(t *testing.T) {
	t.Parallel()
	b, c, address := withTools(t)
	next, _ := b.nextCalls()
	for i := range mostCalls {
		b.say(c, fmt.Sprintf(`{"id":%d}`, i))
	}
	var ids []string
	for range mostCalls {
		ids = append(ids, next().ID)
	}
	if slices.Sort(ids); len(slices.Compact(ids)) != mostCalls {
		t.Errorf("calls %v", ids)
	}
	if status, err := do(b.ctx, t, address, []byte(`{}`)); err != nil || status != 429 {
		t.Errorf("one more: %d, %v", status, err)
	}
	for _, id := range ids {
		if err := c.Reply(b.ctx, id, Reply{Status: 200}); err != nil {
			t.Fatal(err)
		}
	}
	b.until(func(out []byte) bool { return bytes.Count(out, []byte(": 200")) == mostCalls })
	if status, err := do(b.ctx, t, address, make([]byte, maxHook+1)); err != nil || status != 413 {
		t.Errorf("a huge one: %d, %v", status, err)
	}
}

// The open calls of an agent that ends are recorded before the session ends.
func TestCallsAtTheEnd(t *testing.T) {
	t.Parallel()
	b, c, _ := withTools(t)
	next, _ := b.nextCalls()
	b.say(c, useTool)
	next()
	if err := c.Stop(b.ctx, time.Millisecond); err != nil {
		t.Fatal(err)
	}
	b.ended()
	if all := b.calls(); len(all) != 1 || all[0].OK {
		t.Errorf("recorded %+v", all)
	}
}

// A client that gets calls replies over the same connection. A large reply, and one
// to a host of version 4, uses another connection.
func TestRepliesToCalls(t *testing.T) {
	t.Parallel()
	b, c, _ := withTools(t)
	got := make(chan Call)
	follow := func(c *Client) (stop func()) {
		ctx, cancel := context.WithCancel(b.ctx)
		done := make(chan struct{})
		go func() { defer close(done); _ = c.Calls(ctx, func(call Call) { got <- call }) }()
		return func() { cancel(); <-done }
	}
	stop := follow(c)
	for i, body := range []string{"small", strings.Repeat("x", smallReply+1)} {
		b.say(c, fmt.Sprintf(`{"id":%d}`, i))
		call := <-got
		sent, err := c.replySmall(b.ctx, "unknown", Reply{Status: 200})
		if !sent || err != nil {
			t.Errorf("a reply over the connection of the calls: %v, %v", sent, err)
		}
		if err := c.Reply(b.ctx, call.ID, Reply{Status: 200, Body: []byte(body)}); err != nil {
			t.Error(err)
		}
		b.until(contains(": 200 " + body + "\n"))
	}
	stop()
	old := &Client{dir: c.dir, ctx: b.ctx, version: 4}
	defer follow(old)()
	b.say(c, `{"id":2}`)
	call := <-got
	if sent, err := old.replySmall(b.ctx, call.ID, Reply{Status: 200}); sent || err != nil {
		t.Errorf("a host of version 4 reads replies: %v, %v", sent, err)
	}
	if err := old.Reply(b.ctx, call.ID, Reply{Status: 200, Body: []byte("old")}); err != nil {
		t.Error(err)
	}
	b.until(contains(": 200 old"))
	if err := c.Reply(b.ctx, call.ID, Reply{Status: 7}); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("a reply without a status: %v", err)
	}
}

// A host of version 2 has no calls. Nothing is sent to it.
func TestCallsOfAnOlderHost(t *testing.T) {
	t.Parallel()
	old := &Client{dir: oldHost(t), ctx: t.Context(), version: 2}
	if err := old.Calls(t.Context(), func(Call) {}); !errors.Is(err, ErrOld) {
		t.Errorf("calls: %v", err)
	}
	if err := old.Reply(t.Context(), "1", Reply{Status: 200}); !errors.Is(err, ErrOld) {
		t.Errorf("reply: %v", err)
	}
}

// News that nobody reads does not grow: a call that came and went is left out.
func TestNewsIsBounded(t *testing.T) {
	t.Parallel()
	k := &calls{session: "a"}
	w := k.watch()
	for range 1000 {
		o := k.begin(Call{Body: []byte("x")})
		k.end(o, true)
		k.serving.Done()
	}
	if len(w.news) != 0 || k.bytes != 0 || len(k.open) != 0 {
		t.Errorf("%d news, %d bytes, %d open", len(w.news), k.bytes, len(k.open))
	}
	big := k.begin(Call{Body: make([]byte, mostCallBytes)})
	if big == nil || k.begin(Call{Body: []byte("x")}) != nil {
		t.Error("the bytes of open calls are not bounded")
	}
	k.end(big, false)
	k.serving.Done()
	k.close()
	if k.begin(Call{}) != nil {
		t.Error("a call begins after the end")
	}
}

// flushed is a response that a test reads while it is written.
type flushed struct {
	mu     sync.Mutex
	header http.Header
	status int
	body   bytes.Buffer
}

func (f *flushed) Header() http.Header    { return f.header }
func (f *flushed) WriteHeader(status int) { f.status = status }
func (f *flushed) Flush()                 {}
func (f *flushed) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.body.Write(b)
}

// The answer to a call that waits is a stream. A client that waits for the headers
// or for a byte does not give up.
func TestACallThatWaits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		accept string
		after  time.Duration
		reply  Reply
		want   string
	}{
		"soon":         {"application/json, text/event-stream", streamAfter - 1, Reply{Status: 200, Body: []byte(`{"id":7}`)}, `{"id":7}`},
		"late":         {"application/json, text/event-stream", streamAfter + 2*streamEvery + 1, Reply{Status: 200, Body: []byte("{\"id\":7}\n")}, ": waiting\n\n: waiting\n\n: waiting\n\nevent: message\ndata: {\"id\":7}\n\n"},
		"late failure": {"text/event-stream", streamAfter + 1, Reply{Status: 404}, ": waiting\n\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32000,\"message\":\"Not Found\"}}\n\n"},
		"only json":    {"application/json", time.Hour, Reply{Status: 200, Body: []byte(`{"id":7}`)}, `{"id":7}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := &host{now: time.Now}
				h.calls.session = "a"
				w := &flushed{header: http.Header{}}
				r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", strings.NewReader(`{"id":7}`))
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Accept", c.accept)
				done := make(chan struct{})
				go func() { defer close(done); h.serveCall(w, r) }()
				<-time.After(c.after)
				synctest.Wait()
				h.calls.answer("a/1", c.reply)
				<-done
				if got := w.body.String(); got != c.want {
					t.Errorf("%q", got)
				}
			})
		})
	}
}
