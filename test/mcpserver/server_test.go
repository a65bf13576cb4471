package mcpserver

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestServer(t *testing.T) {
	t.Parallel()
	s := New("tok")
	for _, c := range []struct {
		method, token, body string
		status              int
		want                string
	}{
		{"POST", "tok", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`, 200, `"protocolVersion":"2025-11-25"`},
		{"POST", "tok", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, 202, ""},
		{"POST", "tok", `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, 200, `"name":"echo"`},
		{"POST", "tok", `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"echo","arguments":{"text":"hi"}}}`, 200, `echo: hi`},
		{"POST", "tok", `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"drop"}}`, 200, `there is no tool`},
		{"POST", "tok", `{"jsonrpc":"2.0","id":4,"method":"server/discover"}`, 200, `-32601`},
		{"POST", "tok", `{`, 400, ""},
		{"GET", "tok", ``, 405, ""},
		{"DELETE", "tok", ``, 204, ""},
		{"POST", "other", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, 401, ""},
		{"POST", "", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, 401, ""},
	} {
		r := httptest.NewRequest(c.method, "/mcp", strings.NewReader(c.body))
		if c.token != "" {
			r.Header.Set("Authorization", "Bearer "+c.token)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		body, _ := io.ReadAll(w.Result().Body)
		if w.Code != c.status || !strings.Contains(string(body), c.want) {
			t.Errorf("%s %s: %d %s, want %d %s", c.method, c.body, w.Code, body, c.status, c.want)
		}
	}
	if calls := s.Calls(); len(calls) != 1 || calls[0].Text != "hi" || calls[0].Headers.Get("Authorization") != "Bearer tok" {
		t.Errorf("calls: %+v", calls)
	}
	if s.Refused() != 2 {
		t.Errorf("%d refused", s.Refused())
	}
	var _ http.Handler = s
}

func TestStdio(t *testing.T) {
	t.Parallel()
	in := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hi"}}}
{"jsonrpc":"2.0","id":3,"method":"server/discover"}
`
	var out, notes strings.Builder
	if err := Stdio(strings.NewReader(in), &out, &notes); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 3 || !strings.Contains(lines[0], `"2025-11-25"`) || !strings.Contains(lines[1], "echo: hi") || !strings.Contains(lines[2], "-32601") {
		t.Errorf("answers %q", lines)
	}
	if !strings.Contains(notes.String(), `"Text":"hi"`) || strings.Count(notes.String(), "\n") != 1 {
		t.Errorf("notes %q", notes.String())
	}
	if err := Stdio(strings.NewReader("{\n"), &out, &notes); err == nil {
		t.Error("garbage is taken")
	}
}
