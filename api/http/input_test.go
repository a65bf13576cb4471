package http_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/api"
	"coppice/api/apitest"
	apihttp "coppice/api/http"
)

// The tests of this file send requests that Coppice's own clients would not
// send.

func TestBadAmountsAreRefused(t *testing.T) {
	t.Parallel()
	b := setupApp(t)
	b.Task("app", coppice.NewTask{Title: "there already", Budget: 3})
	for _, amount := range []string{`"NaN"`, `"nan USD"`, `"Inf"`, `"+Inf"`, `"infinity USD"`, `"-1"`, `"0x1p3"`, `"1e3"`, `"1_000"`, `"1000001"`, `"` + strings.Repeat("9", 400) + `"`, `"5 EUR"`, `""`, `"."`} {
		if p := refuses(t, b, http.StatusUnprocessableEntity, "POST", "/api/v1/projects/app/tasks", `{"tasks":[{"title":"x","budget":`+amount+`}]}`); !strings.Contains(p.Detail, "amount of money") {
			t.Errorf("%s: %s", amount, p.Detail)
		}
		refuses(t, b, http.StatusUnprocessableEntity, "PATCH", "/api/v1/tasks/app-1", `{"budget":`+amount+`}`)
	}
	page, err := b.Client.Status(b.Ctx, "")
	b.Must(err)
	d, err := b.Client.Task(b.Ctx, "app-1")
	b.Must(err)
	if page.Counts[coppice.StatusReady]+page.Counts[coppice.StatusWaiting] != 1 || d.Budget != 3 {
		t.Errorf("a refused amount was written: %+v, %v", page.Counts, d.Budget)
	}
}

func TestDuplicateKeysAreRefused(t *testing.T) {
	t.Parallel()
	b := setupApp(t)
	for body, key := range map[string]string{
		`{"tasks":[{"title":"a","title":"b"}]}`:                                "title",
		`{"tasks":[{"title":"a"}],"tasks":[]}`:                                 "tasks",
		`{"tasks":[{"title":"a","after":[{"":1,"":2}]}]}`:                      "",
		`{"tasks":[{"title":"a"},{"title":"b","budget":"1","\u0062udget":1}]}`: "budget",
	} {
		if p := refuses(t, b, http.StatusBadRequest, "POST", "/api/v1/projects/app/tasks", body); !strings.Contains(p.Detail, fmt.Sprintf("%q occurs twice", key)) {
			t.Errorf("%s: %s", body, p.Detail)
		}
	}
	if resp, text := call(t, b, "POST", "/api/v1/projects/app/tasks", `{"tasks":[{"title":"a","checks":["title","title"]},{"title":"title"}]}`); resp.StatusCode != http.StatusCreated {
		t.Errorf("the same key in two objects: %s", text)
	}
}

func TestTitlesThatNobodyCanReadAreRefused(t *testing.T) {
	t.Parallel()
	b := setupApp(t, "there already")
	for _, title := range []string{"\u200b", "\ufeff\u2060 ", "pay \u202eeurt\u202c", "a\u2066b\u2069", "one\u2028two", "one\u2029two"} {
		text, err := json.Marshal(title)
		b.Must(err)
		refuses(t, b, http.StatusUnprocessableEntity, "POST", "/api/v1/projects/app/tasks", fmt.Sprintf(`{"tasks":[{"title":%s}]}`, text))
		refuses(t, b, http.StatusUnprocessableEntity, "PATCH", "/api/v1/tasks/app-1", fmt.Sprintf(`{"title":%s}`, text))
		refuses(t, b, http.StatusUnprocessableEntity, "PATCH", "/api/v1/tasks/app-1", fmt.Sprintf(`{"category":%s}`, text))
	}
}

func TestALoginLinkIsUsedOnlyWhenItIsOpened(t *testing.T) {
	t.Parallel()
	b := setup(t)
	link, err := b.Client.LoginLink(b.Ctx)
	b.Must(err)
	path := strings.TrimPrefix(link.URL, b.Server.URL())
	for _, ask := range []struct{ method, name, value string }{
		{"HEAD", "", ""}, {"GET", "Purpose", "prefetch"}, {"GET", "Sec-Purpose", "prefetch"}, {"GET", "Sec-Purpose", "prefetch;prerender"}, {"GET", "X-Moz", "prefetch"}, {"GET", "X-Purpose", "preview"},
	} {
		resp, _ := call(t, b, ask.method, path, "", header("Authorization", ""), header(ask.name, ask.value))
		if resp.StatusCode != http.StatusServiceUnavailable || len(resp.Cookies()) > 0 {
			t.Errorf("%+v: %s, %v", ask, resp.Status, resp.Cookies())
		}
	}
	resp, text := call(t, b, "GET", path, "", header("Authorization", ""), header("Sec-Fetch-Site", "none"), header("Sec-Fetch-Mode", "navigate"))
	if resp.StatusCode != http.StatusSeeOther || len(resp.Cookies()) != 1 {
		t.Errorf("the link was used up: %s %s", resp.Status, text)
	}
	refuses(t, b, http.StatusUnauthorized, "GET", path, "", header("Authorization", ""))
}

// TestARefusedRequestIsAnsweredWithoutItsBody announces a body and never sends
// it. The server's own timers are hours: only an answer that does not wait for
// the body comes before the safety net.
func TestARefusedRequestIsAnsweredWithoutItsBody(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *apihttp.Config) {
		c.HeaderTimeout, c.BodyTimeout, c.IdleTimeout, c.WriteTimeout = 5*time.Hour, 5*time.Hour, 5*time.Hour, 5*time.Hour
	})
	host := strings.TrimPrefix(b.Server.URL(), "http://")
	auth := "Authorization: Bearer " + apitest.Token + "\r\n"
	const isJSON = "Content-Type: application/json\r\n"
	for _, c := range []struct {
		name, head, lines string
		status            int
	}{
		{"no token", "POST /api/v1/undo", isJSON, 401},
		{"a wrong token", "POST /api/v1/undo", "Authorization: Bearer wrong\r\n" + isJSON, 401},
		{"no token, at a page", "GET /", "Accept: text/html\r\n", 401},
		{"another origin", "POST /api/v1/undo", auth + isJSON + "Origin: http://evil.com\r\n", 403},
		{"another name", "POST /api/v1/undo", auth + isJSON + "Host: evil.com\r\n", 403},
		{"not JSON", "POST /api/v1/undo", auth, 415},
		{"no such address", "POST /api/v1/nothing", auth + isJSON, 404},
		{"no such method", "DELETE /api/v1/status", auth + isJSON, 405},
		{"an open address", "POST /healthz", "", 403},
	} {
		for _, length := range []string{"Content-Length: 20\r\n", "Content-Length: 3000000\r\n", "Transfer-Encoding: chunked\r\n", "Content-Length: 20\r\nExpect: 100-continue\r\n"} {
			t.Run(c.name+" "+strings.TrimSpace(length), func(t *testing.T) {
				t.Parallel()
				lines := c.lines
				if !strings.Contains(lines, "Host: ") {
					lines += "Host: " + host + "\r\n"
				}
				resp, err := askAndWait(t, host, c.head+" HTTP/1.1\r\n"+lines+length+"\r\n")
				if err != nil || resp.StatusCode != c.status {
					t.Fatalf("%v, %v", resp, err)
				}
			})
		}
	}
}

func TestAConnectionWithoutATokenGetsOneAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *apihttp.Config) { c.IdleTimeout = 5 * time.Hour })
	host := strings.TrimPrefix(b.Server.URL(), "http://")
	for _, path := range []string{"/healthz", "/readyz", "/login?code=x", "/api/v1/version", "/"} {
		if _, err := askAndWait(t, host, "GET "+path+" HTTP/1.1\r\nHost: "+host+"\r\n\r\n"); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// askAndWait sends the beginning of a request and waits until the answer has
// come and the server has closed the connection.
func askAndWait(t *testing.T, host, request string) (*http.Response, error) {
	t.Helper()
	c, err := net.Dial("tcp", host)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Minute)) // a safety net only
	if _, err := io.WriteString(c, request); err != nil {
		return nil, err
	}
	r := bufio.NewReader(c)
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		return nil, fmt.Errorf("no answer: %w", err)
	}
	if _, err := io.ReadAll(resp.Body); err != nil {
		return resp, err
	}
	if resp.StatusCode >= 400 && resp.Header.Get("Content-Type") == api.ProblemType && !resp.Close {
		return resp, fmt.Errorf("it does not say that it closes: %v", resp.Header)
	}
	if b, err := r.ReadByte(); err != io.EOF {
		return resp, fmt.Errorf("the connection stays open: %q, %w", b, err)
	}
	return resp, nil
}
