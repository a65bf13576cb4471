package mcpbridge

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bundle is a client, a bridge and a server.
type bundle struct {
	t    *testing.T
	in   *io.PipeWriter
	out  *bufio.Scanner
	done chan error
}

func setup(t *testing.T, h http.HandlerFunc) *bundle {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	b := &bundle{t: t, in: inWrite, out: bufio.NewScanner(outRead), done: make(chan error, 1)}
	b.out.Buffer(nil, 1<<20)
	go func() {
		err := (&Bridge{In: inRead, Out: outWrite, Find: func() (string, string, error) { return server.URL, "secret-token", nil }}).Run(t.Context())
		outWrite.Close()
		b.done <- err
	}()
	t.Cleanup(func() { inWrite.Close(); outRead.Close() })
	return b
}

func (b *bundle) send(line string) {
	b.t.Helper()
	if _, err := io.WriteString(b.in, line+"\n"); err != nil {
		b.t.Error(err)
	}
}

func (b *bundle) receive() string {
	b.t.Helper()
	if !b.out.Scan() {
		b.t.Fatal("nothing was written", b.out.Err())
	}
	return b.out.Text()
}

// end closes stdin and waits for the bridge.
func (b *bundle) end() {
	b.t.Helper()
	b.in.Close()
	if err := <-b.done; err != nil {
		b.t.Error(err)
	}
}

func method(body []byte) (m message) {
	_ = json.Unmarshal(body, &m)
	return m
}

// A client speaks to the server as over HTTP: with the token, the negotiated
// version, and the headers of requests that carry their own version.
func TestBridge(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen := map[string]http.Header{}
	b := setup(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m := method(body)
		mu.Lock()
		seen[m.Method] = r.Header
		mu.Unlock()
		switch m.Method {
		case "initialize":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, "{\"jsonrpc\":\"2.0\",\n\"id\":%s,\"result\":{\"protocolVersion\":\"2025-06-18\"}}", m.ID)
		case "notifications/initialized":
			w.WriteHeader(http.StatusAccepted)
		case "stream":
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, ": waiting\n\nevent: message\ndata: {\"method\":\"notifications/x\"}\n\ndata: {\"id\":%s,\ndata: \"result\":{}}\n\n", m.ID)
		default:
			http.Error(w, "no such thing", http.StatusTeapot)
		}
	})
	b.send(`{"jsonrpc":"2.0","id":0,"method":"initialize"}`)
	if got := b.receive(); got != `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18"}}` {
		t.Error(got)
	}
	b.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	b.send("")
	b.send(`{"jsonrpc":"2.0","id":"a","method":"stream","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"},"name":"x"}}`)
	if first, second := b.receive(), b.receive(); first != `{"method":"notifications/x"}` || second != `{"id":"a","result":{}}` {
		t.Error(first, second)
	}
	b.send(`{"jsonrpc":"2.0","id":2,"method":"other"}`)
	if got := b.receive(); !strings.Contains(got, `"id":2,"error"`) || !strings.Contains(got, "no such thing") {
		t.Error(got)
	}
	b.send("this is not JSON")
	if got := b.receive(); !strings.Contains(got, `"id":null`) || !strings.Contains(got, "-32700") {
		t.Error(got)
	}
	b.end()
	h := seen["stream"]
	if h.Get("Authorization") != "Bearer secret-token" || h.Get("Mcp-Protocol-Version") != "2026-07-28" || h.Get("Mcp-Method") != "stream" || h.Get("Mcp-Name") != "x" {
		t.Errorf("headers %v", h)
	}
	if h := seen["other"]; h.Get("Mcp-Protocol-Version") != "2025-06-18" || h.Get("Mcp-Method") != "" || !strings.Contains(h.Get("Accept"), "text/event-stream") {
		t.Errorf("headers %v", h)
	}
}

// Requests run at the same time. A response is written when it arrives. A request
// that the client cancels is left, and gets no response.
func TestConcurrentRequests(t *testing.T) {
	t.Parallel()
	release, left, arrived := make(chan struct{}), make(chan struct{}), make(chan struct{}, 2)
	b := setup(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m := method(body)
		switch m.Method {
		case "slow":
			arrived <- struct{}{}
			<-release
		case "never":
			arrived <- struct{}{}
			<-r.Context().Done()
			close(left)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":%s}`, m.ID)
	})
	b.send(`{"id":1,"method":"slow"}`)
	b.send(`{"id":2,"method":"never"}`)
	<-arrived
	<-arrived
	b.send(`{"id":3,"method":"fast"}`)
	if got := b.receive(); got != `{"id":3}` {
		t.Error(got)
	}
	b.send(`{"method":"notifications/cancelled","params":{"requestId":2}}`)
	<-left
	close(release)
	if got := b.receive(); got != `{"id":1}` {
		t.Error(got)
	}
	b.end()
	if b.out.Scan() {
		t.Errorf("then %s", b.out.Text())
	}
}

// A line that is too long is refused. The next one works.
func TestLongLine(t *testing.T) {
	t.Parallel()
	b := setup(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"id":1}`)
	})
	go b.send(`{"id":0,"method":"` + strings.Repeat("x", MaxLine) + `"}`)
	if got := b.receive(); !strings.Contains(got, "at most") {
		t.Error(got)
	}
	b.send(`{"id":1,"method":"ping"}`)
	if got := b.receive(); got != `{"id":1}` {
		t.Error(got)
	}
	b.end()
}

// away is a server that cannot be reached a number of times.
type away struct {
	mu    sync.Mutex
	tries int
	err   error
}

func (a *away) find() (string, string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tries--
	if a.tries >= 0 {
		return "", "", errors.New("no server is running")
	}
	return "http://127.0.0.1:1/mcp", "t", a.err
}

// A request waits for a server that is away, for Patience, and then says what is
// wrong. Nothing polls faster than every 2 seconds for long.
func TestAServerThatIsAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		a := &away{tries: 1 << 30}
		began := time.Now()
		in, hold := io.Pipe()
		b := &Bridge{In: in, Out: &out, Find: a.find, Patience: time.Minute}
		done := make(chan error, 1)
		go func() { done <- b.Run(t.Context()) }()
		io.WriteString(hold, `{"id":1,"method":"tools/list"}`+"\n")
		<-time.After(2 * time.Minute)
		synctest.Wait()
		hold.Close()
		if err := <-done; err != nil || !strings.Contains(out.String(), "no server is running") {
			t.Errorf("%s, %v", out.String(), err)
		}
		if tries := 1<<30 - a.tries; tries > 60 || time.Since(began) < time.Minute {
			t.Errorf("%d tries", tries)
		}
	})
}

// A connection that breaks after a tool was called is reported, and the tool is not
// called again. Another request is sent again.
func TestABrokenConnection(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	count := map[string]int{}
	b := setup(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m := method(body)
		mu.Lock()
		count[m.Method]++
		n := count[m.Method]
		mu.Unlock()
		if n == 1 {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":%s}`, m.ID)
	})
	b.send(`{"id":1,"method":"tools/call","params":{"name":"create_task"}}`)
	if got := b.receive(); !strings.Contains(got, "might have had an effect") || strings.Contains(got, "secret-token") {
		t.Error(got)
	}
	b.send(`{"id":2,"method":"tools/list"}`)
	if got := b.receive(); got != `{"id":2}` {
		t.Error(got)
	}
	b.end()
	if count["tools/call"] != 1 || count["tools/list"] != 2 {
		t.Errorf("%v", count)
	}
}

// The end of the context ends the bridge, although stdin is open.
func TestStopped(t *testing.T) {
	t.Parallel()
	in, hold := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- (&Bridge{In: in, Out: io.Discard, Find: (&away{}).find}).Run(ctx) }()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	hold.Close()
}
