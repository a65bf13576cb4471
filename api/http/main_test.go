package http_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"coppice"
	"coppice/api"
	"coppice/api/apitest"
	apihttp "coppice/api/http"
	"coppice/store/sqlite"
	"coppice/store/sqlite/sqlitetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// setup starts a server on a real store in memory.
func setup(t testing.TB, change ...func(*apihttp.Config)) *apitest.Bundle {
	t.Helper()
	s := sqlitetest.Open(t, sqlite.Config{})
	return apitest.Start(t, s, change...)
}

// setupApp is a server with the project app and a task for each title.
func setupApp(t testing.TB, titles ...string) *apitest.Bundle {
	t.Helper()
	b := setup(t)
	b.Project("/src/app")
	for _, title := range titles {
		b.Task("app", coppice.NewTask{Title: title})
	}
	return b
}

// call sends a request with the token, unless edit removes it.
func call(t testing.TB, b *apitest.Bundle, method, path, body string, edit ...func(*http.Request)) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, b.Server.URL()+path, strings.NewReader(body))
	b.Must(err)
	if method != http.MethodGet {
		req.Header.Set("Content-Type", "application/json")
	}
	resp := send(b, req, edit)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	b.Must(err)
	return resp, string(text)
}

// send sends an edited request with the token, on its own connection.
func send(b *apitest.Bundle, req *http.Request, edit []func(*http.Request)) *http.Response {
	b.T.Helper()
	req.Header.Set("Authorization", "Bearer "+apitest.Token)
	for _, f := range edit {
		f(req)
	}
	tr := &http.Transport{DisableKeepAlives: true}
	defer tr.CloseIdleConnections()
	resp, err := tr.RoundTrip(req)
	b.Must(err)
	return resp
}

// refused checks that a request got a problem with this status, and returns it.
func refused(t testing.TB, resp *http.Response, text string, status int) api.Problem {
	t.Helper()
	if resp.StatusCode != status {
		t.Fatalf("status %d, want %d: %s", resp.StatusCode, status, text)
	}
	if ct := resp.Header.Get("Content-Type"); ct != api.ProblemType {
		t.Fatalf("content type %q: %s", ct, text)
	}
	var p api.Problem
	if err := json.Unmarshal([]byte(text), &p); err != nil || p.Detail == "" || p.Code == "" {
		t.Fatalf("not a problem (%v): %s", err, text)
	}
	return p
}

// refuses checks that the server refuses a request with this status, and returns
// the problem.
func refuses(t testing.TB, b *apitest.Bundle, status int, method, path, body string, edit ...func(*http.Request)) api.Problem {
	t.Helper()
	resp, text := call(t, b, method, path, body, edit...)
	return refused(t, resp, text, status)
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) {
		if name == "Host" {
			r.Host = value
		} else if value == "" {
			r.Header.Del(name)
		} else {
			r.Header.Set(name, value)
		}
	}
}
