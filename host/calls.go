package host

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"coppice"
	"coppice/agent"
	"coppice/internal/spool"
)

const (
	toolsPath     = "/mcp"
	mostCalls     = 64       // open calls of one agent
	mostCallBytes = 16 << 20 // of the bodies of open calls
)

// streamAfter and streamEvery are when a call that waits shows its agent a sign of
// life. A known client gives up after 60 seconds without an answer.
const (
	streamAfter = 40 * time.Second
	streamEvery = 50 * time.Second
)

// passed are the headers of a request that the host passes on. The token is not
// among them.
var passed = []string{"Accept", "Content-Type", "Mcp-Protocol-Version", "Mcp-Session-Id", "Mcp-Method", "Mcp-Name", "Last-Event-Id"}

// Call is a request that the agent sent to the tools of Coppice. The host keeps
// it until it is answered, or until the agent no longer waits for it.
type Call struct {
	ID     string            `json:"id"` // the session's key and a number
	Method string            `json:"method,omitempty"`
	Header map[string]string `json:"header,omitempty"`
	Body   []byte            `json:"body,omitempty"`
	// Gone says that the agent no longer waits. All other fields except ID are
	// empty.
	Gone bool `json:"gone,omitempty"`
}

// Reply is the answer to a Call.
type Reply struct {
	Status int               `json:"status"`
	Header map[string]string `json:"header,omitempty"`
	Body   []byte            `json:"body,omitempty"`
}

// calls are the open calls of an agent.
type calls struct {
	session string // key
	quiet   func() // called a moment after the last open call has ended; nil means not at all

	serving sync.WaitGroup // calls that the host has not answered or recorded

	mu       sync.Mutex
	last     int
	open     []*openCall // oldest first
	bytes    int         // of their bodies
	over     bool        // no more calls are accepted
	watchers map[*callWatcher]struct{}
	rest     *time.Timer // calls quiet
}

type openCall struct {
	Call
	reply chan Reply    // takes one without a reader
	drop  chan struct{} // closed when the agent has ended
}

// callWatcher learns about open calls. wake has a value if news is not empty.
type callWatcher struct {
	news []Call
	wake chan struct{}
}

// add adds news. A call that ended before the client got it is left out.
func (w *callWatcher) add(c Call) {
	if c.Gone {
		before := len(w.news)
		w.news = slices.DeleteFunc(w.news, func(n Call) bool { return n.ID == c.ID })
		if len(w.news) < before {
			return
		}
	}
	w.news = append(w.news, c)
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// begin adds a call. It returns nil if too many are open, or if the agent has
// ended. The caller calls end.
func (k *calls) begin(c Call) *openCall {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.over || len(k.open) >= mostCalls || k.bytes+len(c.Body) > mostCallBytes {
		return nil
	}
	k.last++
	c.ID = k.session + "/" + strconv.Itoa(k.last)
	o := &openCall{Call: c, reply: make(chan Reply, 1), drop: make(chan struct{})}
	k.open = append(k.open, o)
	k.bytes += len(c.Body)
	k.serving.Add(1)
	for w := range k.watchers {
		w.add(c)
	}
	return o
}

// end removes a call, because it was answered or because its agent left.
func (k *calls) end(o *openCall, gone bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.open = slices.DeleteFunc(k.open, func(c *openCall) bool { return c == o })
	k.bytes -= len(o.Body)
	switch {
	case len(k.open) > 0 || k.quiet == nil || k.over:
	case k.rest == nil:
		k.rest = time.AfterFunc(leanTime(), k.quiet)
	default:
		k.rest.Reset(leanTime())
	}
	if gone {
		for w := range k.watchers {
			w.add(Call{ID: o.ID, Gone: true})
		}
	}
}

// close ends all open calls, because the agent has ended. It returns when each of
// them is recorded.
func (k *calls) close() {
	k.mu.Lock()
	if !k.over {
		k.over = true
		if k.rest != nil {
			k.rest.Stop()
		}
		for _, o := range k.open {
			close(o.drop)
		}
	}
	k.mu.Unlock()
	k.serving.Wait()
}

// answer passes a reply to the agent. A second reply to the same call, and one
// for which no agent waits, does nothing.
func (k *calls) answer(id string, r Reply) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, o := range k.open {
		if o.ID == id {
			select {
			case o.reply <- r:
			default:
			}
		}
	}
}

// watch returns a watcher that starts with all open calls.
func (k *calls) watch() *callWatcher {
	k.mu.Lock()
	defer k.mu.Unlock()
	w := &callWatcher{wake: make(chan struct{}, 1)}
	for _, o := range k.open {
		w.add(o.Call)
	}
	if k.watchers == nil {
		k.watchers = map[*callWatcher]struct{}{}
	}
	k.watchers[w] = struct{}{}
	return w
}

func (k *calls) unwatch(w *callWatcher) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.watchers, w)
}

func (k *calls) take(w *callWatcher) []Call {
	k.mu.Lock()
	defer k.mu.Unlock()
	news := w.news
	w.news = nil
	return news
}

// serveCall keeps a request of the agent until it is answered. While nobody
// follows the session, the agent waits.
func (h *host) serveCall(w http.ResponseWriter, r *http.Request) {
	body, ok := readBody(w, r)
	if !ok {
		return
	}
	c := Call{Method: r.Method, Body: body, Header: map[string]string{}}
	for _, name := range passed {
		if v := r.Header.Get(name); v != "" {
			c.Header[name] = v
		}
	}
	o := h.calls.begin(c)
	if o == nil {
		http.Error(w, fmt.Sprintf("this session has too many open calls; at most %d can be open", mostCalls), http.StatusTooManyRequests)
		return
	}
	defer h.calls.serving.Done()
	began := h.now()
	out := newCallWriter(w, c)
	defer out.stop()
	for {
		select {
		case a := <-o.reply:
			h.calls.end(o, false)
			h.recordCall(o.Call, a, h.now().Sub(began))
			out.reply(a)
		case <-out.wait():
			out.keepOpen()
			continue
		case <-r.Context().Done():
			h.calls.end(o, true)
			h.recordCall(o.Call, abandoned, h.now().Sub(began))
		case <-o.drop:
			h.calls.end(o, true)
			h.recordCall(o.Call, abandoned, h.now().Sub(began))
			out.reply(Reply{Status: http.StatusServiceUnavailable})
		}
		return
	}
}

// abandoned is recorded for a call whose agent left. Its effect is not known.
var abandoned = Reply{Status: http.StatusServiceUnavailable, Body: []byte("the agent did not wait for the answer")}

// recordCall writes the use of a tool to the session's output.
func (h *host) recordCall(c Call, a Reply, took time.Duration) {
	var asked struct {
		Method string
		Params struct {
			Name      string
			Arguments json.RawMessage
		}
	}
	if json.Unmarshal(c.Body, &asked) != nil || asked.Method != "tools/call" {
		return
	}
	text, ok := resultOf(a)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.recorded == nil {
		h.recorded = map[string]int{}
	}
	if len(h.recorded) < mostCalls {
		h.recorded[asked.Params.Name]++
	}
	h.wakeHeld = true
	h.event(spool.Event, coppice.AgentEvent{
		Kind: coppice.KindCall, Ref: c.ID, Name: agent.Clip(asked.Params.Name), Input: agent.Bounded(asked.Params.Arguments), OK: ok,
		Text: text, Took: coppice.Duration(took.Round(time.Millisecond)),
	})
	h.wakeHeld = false
	h.wakeSoon()
}

// recordWait is how long followers wait for the record of a call, unless the agent
// writes something. Agents often use several tools one after the other.
const recordWait = 250 * time.Millisecond

// wakeSoon wakes the followers after recordWait. The caller holds mu.
func (h *host) wakeSoon() {
	if h.wakesSoon {
		return
	}
	h.wakesSoon = true
	time.AfterFunc(recordWait, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.wakesSoon = false
		h.wake()
	})
}

// ownResult returns an agent's report of the result of a tool of Coppice. If the
// call did not reach the host, the report is the only one, and it is shown.
func (h *host) ownResult(e coppice.AgentEvent) coppice.AgentEvent {
	if !e.Own || e.Kind != coppice.KindToolResult {
		return e
	}
	if h.recorded[e.Name] > 0 {
		h.recorded[e.Name]--
	} else if !e.OK {
		e.Own = false
	}
	return e
}

// resultOf returns the text of a tool's result, and whether the call succeeded.
func resultOf(a Reply) (text string, ok bool) {
	var got struct {
		Error  *struct{ Message string }
		Result struct {
			IsError bool
			Content []struct{ Text string }
		}
	}
	if json.Unmarshal(a.Body, &got) != nil {
		return agent.Text(a.Body), a.Status < 300
	}
	if got.Error != nil {
		return agent.Text(got.Error.Message), false
	}
	for _, part := range got.Result.Content {
		text += part.Text
	}
	return agent.Text(text), !got.Result.IsError
}

// followCalls reports the open calls to a client, and each further one. It reads
// the client's replies.
func (h *host) followCalls(c net.Conn, next func(*request) error) {
	w := h.calls.watch()
	defer h.calls.unwatch(w)
	left := make(chan struct{})
	go func() {
		defer close(left)
		for {
			var r request
			if next(&r) != nil {
				return
			}
			if r.Op == opReply && r.Reply.valid() == nil {
				h.calls.answer(r.ID, *r.Reply)
			}
		}
	}()
	defer func() {
		c.Close()
		<-left
	}()
	for {
		select {
		case <-w.wake:
		case <-h.done:
			_ = reply(c, answer{OK: true, Ended: true})
			return
		case <-left:
			return
		}
		for _, call := range h.calls.take(w) {
			if reply(c, answer{OK: true, Call: &call}) != nil {
				return
			}
		}
	}
}

// valid checks a reply.
func (r *Reply) valid() error {
	if r == nil || r.Status < 100 || r.Status > 999 {
		return coppice.Errorf(coppice.EInvalid, "the reply has no valid status")
	}
	return nil
}

// Calls passes every open call of the agent to take, and each further one, until
// the session has ended. A call that was passed to an earlier client and is still
// open is passed again. It returns like Follow.
func (c *Client) Calls(ctx context.Context, take func(Call)) error {
	use := func(conn net.Conn) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.calls = conn
	}
	op, sent := opAnswerCalls, use
	if c.knows(op) != nil {
		op, sent = opCalls, nil
	}
	defer use(nil)
	return c.talk(ctx, request{Op: op}, sent, func(a answer) bool {
		if a.Call != nil {
			take(*a.Call)
		}
		return !a.Ended
	})
}

// smallReply limits replies that use the connection of Calls. The host keeps a
// buffer of the largest one as long as the connection exists.
const smallReply = 64 << 10

// Reply answers a call. A call that is no longer open is not an error. While Calls
// runs, the reply can use its connection, and Reply does not wait until the host
// has read it. If the connection ends before that, the call is still open, and the
// next Calls gets it.
func (c *Client) Reply(ctx context.Context, id string, r Reply) error {
	if err := r.valid(); err != nil {
		return err
	}
	if len(r.Body) <= smallReply {
		if sent, err := c.replySmall(ctx, id, r); sent {
			return err
		}
	}
	_, err := c.ask(ctx, request{Op: opReply, ID: id, Reply: &r})
	return err
}

// replySmall sends a reply over the connection of Calls. It reports false if there
// is none.
func (c *Client) replySmall(ctx context.Context, id string, r Reply) (sent bool, err error) {
	b, err := json.Marshal(request{Op: opReply, ID: id, Reply: &r})
	if err != nil {
		return true, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls == nil {
		return false, nil
	}
	if _, err := c.calls.Write(append(b, '\n')); err != nil {
		return true, connError(ctx, err)
	}
	return true, nil
}
