package scriptedmodel

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newTestServer(t *testing.T) *httptest.Server {
	t.Helper()
	data, err := os.ReadFile("rules.json")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := ParseRules(data)
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewServer(New(rules, nil))
	t.Cleanup(ts.Close)
	return ts
}

func post(t *testing.T, ts *httptest.Server, path string, body any) (int, string) {
	t.Helper()
	res, err := http.Post(ts.URL+path, "application/json", strings.NewReader(string(mustJSON(body))))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(b)
}

// conversation builds a request in each format: the prompt, and optionally the result of
// an earlier tool call with the given id.
var formats = []struct {
	name, path string
	build      func(stream bool, id string) obj
	done       string // last marker of a complete stream
}{
	{"anthropic", "/v1/messages", func(s bool, id string) obj {
		msgs := arr{obj{"role": "user", "content": "WRITE foo.txt=hello"}}
		if id != "" {
			msgs = append(msgs, obj{"role": "assistant", "content": arr{obj{"type": "tool_use", "id": id, "name": "Write", "input": obj{}}}},
				obj{"role": "user", "content": arr{obj{"type": "tool_result", "tool_use_id": id, "content": "fine"}, obj{"type": "text", "text": "<system-reminder>WRITE no=no</system-reminder>"}}})
		}
		return obj{"model": "m", "stream": s, "system": "Working directory: /repo\n", "messages": msgs, "tools": arr{obj{"name": "Write"}, obj{"name": "Bash"}}}
	}, "message_stop"},
	{"responses", "/v1/responses", func(s bool, id string) obj {
		in := arr{obj{"type": "message", "role": "user", "content": arr{obj{"type": "input_text", "text": "<environment_context><cwd>/repo</cwd></environment_context>"}}},
			obj{"type": "message", "role": "user", "content": arr{obj{"type": "input_text", "text": "WRITE foo.txt=hello"}}}}
		if id != "" {
			in = append(in, obj{"type": "custom_tool_call_output", "call_id": id, "output": "fine"})
		}
		return obj{"model": "m", "stream": s, "input": in, "tools": arr{obj{"type": "function", "name": "exec_command"}, obj{"type": "custom", "name": "apply_patch"}}}
	}, "response.completed"},
	{"chat", "/v1/chat/completions", func(s bool, id string) obj {
		msgs := arr{obj{"role": "system", "content": "Working directory: /repo\n"}, obj{"role": "user", "content": "WRITE foo.txt=hello"}}
		if id != "" {
			msgs = append(msgs, obj{"role": "tool", "tool_call_id": id, "content": "fine"})
		}
		return obj{"model": "m", "stream": s, "messages": msgs, "tools": arr{obj{"type": "function", "function": obj{"name": "write"}}, obj{"type": "function", "function": obj{"name": "bash"}}}}
	}, "[DONE]"},
}

// TestSteps plays the write-commit rule in every format, streaming and not: first reply is
// the write, the reply to its result is the shell command.
func TestSteps(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	for _, f := range formats {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/stream=%v", f.name, stream), func(t *testing.T) {
				code, out := post(t, ts, f.path, f.build(stream, ""))
				if code != 200 || !strings.Contains(out, "/repo/foo.txt") && !stream {
					t.Fatalf("first reply: %d %s", code, out)
				}
				if stream && !strings.Contains(out, f.done) {
					t.Fatalf("stream not finished: %s", out)
				}
				id := regexp.MustCompile(`(toolu_|call_)s00c00x[0-9a-f]{16}`).FindString(out)
				if id == "" {
					t.Fatalf("no tool call in %s", out)
				}
				code, out = post(t, ts, f.path, f.build(false, id))
				if code != 200 || !strings.Contains(out, "git commit") {
					t.Fatalf("second reply: %d %s", code, out)
				}
			})
		}
	}
}

func TestGemini(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	body := obj{"contents": arr{obj{"role": "user", "parts": arr{obj{"text": "WRITE /repo/foo.txt=hello"}}}},
		"tools": arr{obj{"functionDeclarations": arr{obj{"name": "write_file"}}}}}
	for _, p := range []string{":generateContent", ":streamGenerateContent?alt=sse"} {
		code, out := post(t, ts, "/v1beta/models/g"+p, body)
		if code != 200 || !strings.Contains(out, `"functionCall"`) || !strings.Contains(out, "STOP") {
			t.Fatalf("%s: %d %s", p, code, out)
		}
	}
}

// TestTimes: a failure with "times" fires that often, then the next step is played.
func TestTimes(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	body := obj{"model": "m", "messages": arr{obj{"role": "user", "content": "FLAKY 2x429"}}}
	var codes []int
	for i := 0; i < 3; i++ {
		code, _ := post(t, ts, "/v1/messages", body)
		codes = append(codes, code)
	}
	if fmt.Sprint(codes) != "[429 429 200]" {
		t.Fatal(codes)
	}
}

// TestNoTools: side requests without tools get text, never a tool call.
func TestNoTools(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	_, out := post(t, ts, "/v1/messages", obj{"model": "m", "messages": arr{obj{"role": "user", "content": "WRITE a=b"}}})
	if strings.Contains(out, "tool_use") {
		t.Fatal(out)
	}
}

func TestDrop(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	body := obj{"model": "m", "stream": true, "messages": arr{obj{"role": "user", "content": "DROP"}}}
	if res, err := http.Post(ts.URL+"/v1/messages", "application/json", strings.NewReader(string(mustJSON(body)))); err == nil {
		if _, err = io.ReadAll(res.Body); err == nil {
			t.Fatal("connection was not cut")
		}
	}
	if _, out := post(t, ts, "/v1/messages", body); !strings.Contains(out, "after the drop") {
		t.Fatal(out)
	}
}

func TestControl(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	if code, _ := post(t, ts, "/_rules", obj{"rules": arr{obj{"name": "x", "match": "hi", "stepz": arr{}}}}); code != 400 {
		t.Fatal("a typo in the rules was accepted")
	}
	if code, _ := post(t, ts, "/_rules", obj{"rules": arr{obj{"name": "x", "match": "hi", "steps": arr{obj{"text": "new rules"}}}}}); code != 200 {
		t.Fatal(code)
	}
	if _, out := post(t, ts, "/v1/messages", obj{"model": "m", "messages": arr{obj{"role": "user", "content": "hi"}}}); !strings.Contains(out, "new rules") {
		t.Fatal(out)
	}
	res, err := http.Get(ts.URL + "/_log")
	if err != nil {
		t.Fatal(err)
	}
	var log []LogEntry
	if err := json.NewDecoder(res.Body).Decode(&log); err != nil || len(log) != 1 || log[0].Rule != "x" {
		t.Fatal(err, log)
	}
}
