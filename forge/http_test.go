package forge_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"coppice"
	"coppice/forge"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// roundTrip is a RoundTripper that is a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// answer returns an answer with headers, given as name and value.
func answer(status int, body string, header ...string) *http.Response {
	r := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

func client(t *testing.T, kind, api string, o forge.Options) *http.Client {
	t.Helper()
	c, err := forge.Client(forge.Remote{Kind: kind, API: api, Owner: "o", Name: "r"}, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func get(t *testing.T, c *http.Client, address string) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}

func TestFailures(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)
	at := func(s string) *http.Response { return answer(429, "", "Retry-After", s) }
	for name, c := range map[string]struct {
		answer *http.Response
		class  coppice.Class // of a failure
		code   coppice.Code  // of an error
		status int           // of a StatusError
		retry  time.Duration
		text   string
	}{
		"no token":               {answer: answer(401, `{"message":"Bad credentials"}`), class: coppice.ClassAuth, text: "Bad credentials"},
		"no permission":          {answer: answer(403, `{"message":"Resource not accessible","x":1}`), class: coppice.ClassAuth, text: "Resource not accessible"},
		"not found":              {answer: answer(404, `{"message":"Not Found"}`), code: coppice.ENotFound, text: "Not Found"},
		"seconds":                {answer: at("90"), class: coppice.ClassRateLimit, retry: 90 * time.Second},
		"a date":                 {answer: at(now.Add(time.Hour).Format(http.TimeFormat)), class: coppice.ClassRateLimit, retry: time.Hour},
		"a date in the past":     {answer: at(now.Add(-time.Hour).Format(http.TimeFormat)), class: coppice.ClassRateLimit, retry: time.Second},
		"centuries":              {answer: at("99999999999"), class: coppice.ClassRateLimit, retry: 24 * time.Hour},
		"a date in a year":       {answer: at(now.Add(9000 * time.Hour).Format(http.TimeFormat)), class: coppice.ClassRateLimit, retry: 24 * time.Hour},
		"a flood":                {answer: answer(200, strings.Repeat(" ", forge.MaxAnswer+1)), class: coppice.ClassEnvironment, text: "larger than 16 MiB"},
		"not a time":             {answer: at("soon"), class: coppice.ClassRateLimit, retry: time.Minute},
		"no time":                {answer: answer(429, ""), class: coppice.ClassRateLimit, retry: time.Minute},
		"the reset of GitHub":    {answer: answer(403, "", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1795003800"), class: coppice.ClassRateLimit, retry: time.Unix(1795003800, 0).Sub(now)},
		"the reset of GitLab":    {answer: answer(429, "", "RateLimit-Reset", "1795003800"), class: coppice.ClassRateLimit, retry: time.Unix(1795003800, 0).Sub(now)},
		"403 with requests left": {answer: answer(403, "", "X-RateLimit-Remaining", "7", "X-RateLimit-Reset", "1795003800"), class: coppice.ClassAuth},
		"the second limit":       {answer: answer(403, `{"message":"You have exceeded a secondary rate limit"}`), class: coppice.ClassRateLimit, retry: time.Minute},
		"maintenance":            {answer: answer(503, "", "Retry-After", "10"), class: coppice.ClassRateLimit, retry: 10 * time.Second},
		"an outage":              {answer: answer(503, "<html>sorry"), class: coppice.ClassEnvironment, text: "503 service unavailable"},
		"a conflict":             {answer: answer(409, `{"message":"head out of date"}`), status: 409, text: "head out of date"},
		"a validation":           {answer: answer(422, `{"message":"Validation Failed","errors":[{"field":"head"},"No commits"]}`), status: 422, text: `Validation Failed; {"field":"head"}; No commits`},
		"an echo of the token":   {answer: answer(400, "bad header: token tok-123"), status: 400, text: "bad header: token …"},
		"control characters":     {answer: answer(400, "a\x1b[31mb\nc"), status: 400, text: "a [31mb"},
	} {
		http := client(t, "gitea", "https://git.example.org/api/v1/", forge.Options{
			Transport: roundTrip(func(*http.Request) (*http.Response, error) { return c.answer, nil }),
			Token:     func(context.Context) (string, error) { return "tok-123", nil },
			Now:       func() time.Time { return now },
		})
		_, err := get(t, http, "https://git.example.org/api/v1/x")
		var failure *coppice.Failure
		var status *forge.StatusError
		switch {
		case c.class != "":
			if !errors.As(err, &failure) || failure.Class != c.class || c.retry != 0 && !failure.RetryAt.Equal(now.Add(c.retry)) || !strings.Contains(failure.Text, c.text) {
				t.Errorf("%s: %#v, want the class %s and a retry after %s", name, failure, c.class, c.retry)
			}
		case c.code != "":
			if e := coppice.Public(err); e.Code != c.code || e.Fix == "" || !strings.Contains(e.Cause, c.text) {
				t.Errorf("%s: %v, want the code %s", name, err, c.code)
			}
		default:
			if !errors.As(err, &status) || status.Status != c.status || status.Text != c.text {
				t.Errorf("%s: %#v, want the status %d with %q", name, status, c.status, c.text)
			}
			if !errors.As(forge.Cause(err), &failure) || !strings.Contains(failure.Text, c.text) {
				t.Errorf("%s: the cause is %v, want a failure", name, forge.Cause(err))
			}
		}
		if strings.Contains(err.Error(), "tok-123") {
			t.Errorf("%s: the error has the token: %v", name, err)
		}
	}
}

func TestTokenOnlyForTheAPI(t *testing.T) {
	t.Parallel()
	var elsewhere, api http.Header
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { elsewhere = r.Header; io.WriteString(w, "the log") }))
	defer other.Close()
	forgeServer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		api = r.Header
		http.Redirect(w, r, other.URL+"/log", http.StatusFound)
	}))
	defer forgeServer.Close()
	next := &http.Transport{}
	defer next.CloseIdleConnections()
	for kind, want := range map[string]string{"github": "Bearer one", "gitlab": "Bearer one", "gitea": "token one"} {
		c := client(t, kind, forgeServer.URL+"/", forge.Options{Transport: next, Token: func(context.Context) (string, error) { return " one\n", nil }})
		if body, err := get(t, c, forgeServer.URL+"/jobs/1/logs"); err != nil || body != "the log" {
			t.Fatalf("%q, %v", body, err)
		}
		if api.Get("Authorization") != want || elsewhere.Get("Authorization") != "" || elsewhere.Get("User-Agent") != "coppice" {
			t.Errorf("%s: the API got %q, the other host %q", kind, api.Get("Authorization"), elsewhere)
		}
	}
	gone := errors.New("the secret is gone")
	for name, token := range map[string]func(context.Context) (string, error){
		"a token with a line break": func(context.Context) (string, error) { return "a\nX-Evil: 1", nil },
		"no secret":                 func(context.Context) (string, error) { return "", gone },
	} {
		_, err := get(t, client(t, "gitea", forgeServer.URL+"/", forge.Options{Transport: next, Token: token}), forgeServer.URL)
		var failure *coppice.Failure
		if !errors.Is(err, gone) && (!errors.As(err, &failure) || failure.Class != coppice.ClassAuth || strings.Contains(err.Error(), "Evil")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	c := client(t, "gitea", "https://git.example.org/", forge.Options{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		return nil, &url.Error{Op: "proxyconnect", Err: errors.New("connection refused")}
	})})
	_, err := get(t, c, "https://git.example.org/x")
	var failure *coppice.Failure
	if !errors.As(err, &failure) || failure.Class != coppice.ClassEnvironment || !strings.Contains(failure.Text, "connection refused") || !strings.Contains(failure.Fix, "SSL_CERT_FILE") {
		t.Errorf("an address that cannot be reached: %#v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	c = client(t, "gitea", "https://git.example.org/", forge.Options{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
		if _, limited := req.Context().Deadline(); !limited {
			t.Error("the request has no time limit")
		}
		cancel()
		return nil, req.Context().Err()
	})})
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://git.example.org/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Do(req); !errors.Is(forge.Cause(err), context.Canceled) {
		t.Errorf("a caller that gave up: %v", err)
	}
}
