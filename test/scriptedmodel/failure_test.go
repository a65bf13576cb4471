package scriptedmodel

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// askWith sends a prompt in one format, with a header.
func askWith(t *testing.T, ts *httptest.Server, path, prompt, header, value string) (int, string, error) {
	t.Helper()
	body := obj{"model": "m", "messages": arr{obj{"role": "user", "content": prompt}}}
	if strings.Contains(path, "enerateContent") {
		body = obj{"contents": arr{obj{"role": "user", "parts": arr{obj{"text": prompt}}}}}
	}
	req, err := http.NewRequest(http.MethodPost, ts.URL+path, strings.NewReader(string(mustJSON(body))))
	if err != nil {
		t.Fatal(err)
	}
	if header != "" {
		req.Header.Set(header, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return res.StatusCode, string(b), err
}

// TestFailures: errors have the form that each vendor gives them.
func TestFailures(t *testing.T) {
	t.Parallel()
	rules, err := ParseRules([]byte(`{"rules": [
	  {"name": "no-key", "no_key": true, "match": "KEY", "steps": [{"status": 401, "message": "no key"}]},
	  {"name": "key", "match": "KEY", "steps": [{"text": "welcome"}]},
	  {"name": "403", "match": "403", "steps": [{"status": 403}]},
	  {"name": "429", "match": "429", "steps": [{"status": 429}]},
	  {"name": "503", "match": "503", "steps": [{"status": 503}]},
	  {"name": "whole", "match": "WHOLE", "steps": [{"status": 418, "body": {"as": "it is"}}]},
	  {"name": "drop", "match": "DROP", "steps": [{"drop": true}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewServer(New(rules, nil))
	t.Cleanup(ts.Close)
	const chat, gemini, anthropic = "/v1/chat/completions", "/v1beta/models/g:generateContent", "/v1/messages"
	for _, c := range []struct {
		path, prompt, header, value string
		status                      int
		want                        string
	}{
		{chat, "KEY", "", "", 401, "no key"},
		{chat, "KEY", "Authorization", "Bearer ", 401, "no key"},
		{chat, "KEY", "Authorization", "Bearer x", 200, "welcome"},
		{anthropic, "KEY", "X-Api-Key", "x", 200, "welcome"},
		{gemini, "KEY", "X-Goog-Api-Key", "x", 200, "welcome"},
		{gemini + "?key=x", "KEY", "", "", 200, "welcome"},
		{chat, "403", "", "", 403, `"type":"request_forbidden"`},
		{chat, "429", "", "", 429, `"code":"rate_limit_exceeded"`},
		{chat, "503", "", "", 503, `"code":null`},
		{gemini, "403", "", "", 403, `"PERMISSION_DENIED"`},
		{gemini, "503", "", "", 503, `"UNAVAILABLE"`},
		{anthropic, "403", "", "", 403, `"permission_error"`},
		{chat, "WHOLE", "", "", 418, `{"as":"it is"}`},
	} {
		if status, out, err := askWith(t, ts, c.path, c.prompt, c.header, c.value); err != nil || status != c.status || !strings.Contains(out, c.want) {
			t.Errorf("%s %s %s%s: %d %s, %v", c.path, c.prompt, c.header, c.value, status, out, err)
		}
	}
	if _, out, err := askWith(t, ts, chat, "DROP", "", ""); err == nil {
		t.Errorf("an answer that is dropped comes: %s", out)
	}
}
