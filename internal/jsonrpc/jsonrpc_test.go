package jsonrpc

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// tested is a peer, and all that it returned.
type tested struct {
	Peer
	sent []string
	got  []string
}

func newPeer(t *testing.T) *tested {
	h := &tested{}
	note := func(kind string) func(Message) {
		return func(m Message) {
			h.got = append(h.got, fmt.Sprintf("%s %s%s%s", kind, m.ID, m.Method, m.Params))
		}
	}
	h.Peer = Peer{
		Version: "2.0",
		Send: func(v any) {
			b, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			h.sent = append(h.sent, string(b))
		},
		Request: note("request"), Notified: note("notified"), Stray: note("stray"),
		Garbage: func(b []byte) { h.got = append(h.got, "garbage "+string(b)) },
	}
	return h
}

func (h *tested) then(name string) func(Message) {
	return func(m Message) {
		if m.Error != nil {
			h.got = append(h.got, fmt.Sprintf("%s failed: %d %s", name, m.Error.Code, m.Error.Message))
			return
		}
		h.got = append(h.got, name+" "+string(m.Result))
	}
}

func same(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant:\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestSent(t *testing.T) {
	t.Parallel()
	h := newPeer(t)
	h.Call("open", map[string]int{"n": 1}, nil)
	h.Notify("ready", nil)
	h.Notify("stop", map[string]string{"id": "x"})
	h.Reply(json.RawMessage(`"a"`), struct{}{})
	h.Refuse(json.RawMessage(`7`), "not offered")
	h.Version = ""
	h.Call("open", nil, nil)
	same(t, "sent", h.sent,
		`{"jsonrpc":"2.0","id":1,"method":"open","params":{"n":1}}`,
		`{"jsonrpc":"2.0","method":"ready"}`,
		`{"jsonrpc":"2.0","method":"stop","params":{"id":"x"}}`,
		`{"jsonrpc":"2.0","id":"a","result":{}}`,
		`{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"not offered"}}`,
		`{"id":2,"method":"open"}`,
	)
}

// Answers may come in any order, and between them anything else.
func TestCallsAtTheSameTime(t *testing.T) {
	t.Parallel()
	h := newPeer(t)
	for _, name := range []string{"a", "b", "c"} {
		h.Call("do", nil, h.then(name))
	}
	for _, line := range []string{
		`{"id":3,"result":30}`,
		`{"id":9,"method":"ask","params":[1]}`,
		`{"id":1,"error":{"code":-32000,"message":"log in"}}`,
		`{"method":"news","params":{"x":1}}`,
		`{"id":null,"method":"news"}`,
		`{"id":2,"result":null}`,
	} {
		h.Line([]byte(line))
	}
	same(t, "received", h.got, "c 30", "request 9ask[1]", "a failed: -32000 log in", `notified news{"x":1}`, "notified nullnews", "b null")
}

// What follows an answer may call again.
func TestCallWithinAnAnswer(t *testing.T) {
	t.Parallel()
	h := newPeer(t)
	h.Call("first", nil, func(Message) { h.Call("second", nil, h.then("second")) })
	h.Line([]byte(`{"id":1,"result":1}`))
	h.Line([]byte(`{"id":2,"result":2}`))
	same(t, "received", h.got, "second 2")
}

func TestAnswersToNothing(t *testing.T) {
	t.Parallel()
	h := newPeer(t)
	h.Call("do", nil, h.then("do"))
	for _, line := range []string{`{"id":"1","result":0}`, `{"id":2,"result":0}`, `{"id":1,"result":1}`, `{"id":1,"result":2}`, `{"id":1.0,"result":3}`} {
		h.Line([]byte(line))
	}
	same(t, "received", h.got, `stray "1"`, "stray 2", "do 1", "stray 1", "stray 1.0")
}

// The last line may be cut off where the stream ended. It answers nothing.
func TestGarbage(t *testing.T) {
	t.Parallel()
	h := newPeer(t)
	h.Call("do", nil, h.then("do"))
	lines := []string{"Warning: old version", "{}", "[]", "null", `{"method":5}`, `{"id":1,"error":"no object"}`, `{"id":1,"result":{"a":`}
	var want []string
	for _, line := range lines {
		h.Line([]byte(line))
		want = append(want, "garbage "+line)
	}
	same(t, "received", h.got, want...)
}

func TestHugeLine(t *testing.T) {
	t.Parallel()
	h := newPeer(t)
	size := 0
	h.Call("do", nil, func(m Message) { size = len(m.Result) })
	line := []byte(`{"id":1,"result":"` + strings.Repeat("x", 8<<20) + `"}`)
	h.Line(line)
	if size != 8<<20+2 {
		t.Errorf("the result has %d bytes", size)
	}
}

// A message is valid after its line was overwritten.
func TestMessagesAreKept(t *testing.T) {
	t.Parallel()
	h := newPeer(t)
	var kept Message
	h.Request = func(m Message) { kept = m }
	line := []byte(`{"id":"abc","method":"ask","params":{"x":1}}`)
	h.Line(line)
	clear(line)
	if string(kept.ID) != `"abc"` || string(kept.Params) != `{"x":1}` {
		t.Errorf("id %s and params %s", kept.ID, kept.Params)
	}
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	p := Peer{Send: func(any) {}}
	p.Call("do", nil, nil)
	for _, line := range []string{`{"id":1}`, `{"id":2}`, `{"id":3,"method":"x"}`, `{"method":"x"}`, "garbage"} {
		p.Line([]byte(line))
	}
}

func FuzzLine(f *testing.F) {
	f.Add(`{"id":1,"result":{}}`)
	f.Add(`{"id":1,"method":"x","params":[]}`)
	f.Add(`{"jsonrpc":"2.0","id":18446744073709551616,"error":{}}`)
	f.Fuzz(func(t *testing.T, line string) {
		h := newPeer(t)
		h.Call("do", nil, h.then("do"))
		h.Line([]byte(line))
		h.Line([]byte(line))
		if len(h.got) != 2 {
			t.Errorf("%q twice gives %v", line, h.got)
		}
	})
}
