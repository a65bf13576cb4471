package http_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/api/apitest"
	apihttp "coppice/api/http"
	"coppice/verb"
)

// The tests of this file attack the row "any web page talks to the local
// server" of the security design, one test per rule, and the other rows that
// concern the server.

func TestAnyWebPageTalksToTheLocalServer_BindsLoopbackOnly(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, listen := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.168.1.5:80", "example.com:80", "10.0.0.1:7420", "127.0.0.1", "127.0.0.1:http", "127.0.0.1:99999", "localhost.evil.com:1"} {
		c := b.Config
		c.Listen = listen
		_, err := apihttp.New(c)
		var e *coppice.Error
		if !errors.As(err, &e) || e.Code != coppice.EInvalid || e.Fix == "" {
			t.Errorf("%s: %v", listen, err)
		}
	}
	for _, listen := range []string{"127.0.0.1:0", "localhost:0", "127.8.8.8:0"} {
		c := b.Config
		c.Listen = listen
		s, err := apihttp.New(c)
		b.Must(err)
		b.Must(s.Start(b.Ctx))
		if !strings.HasPrefix(s.URL(), "http://127.") {
			t.Errorf("%s listens at %s", listen, s.URL())
		}
		s.Stop()
		s.Stop()
	}
}

func TestAnyWebPageTalksToTheLocalServer_EveryRequestNeedsAToken(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tokens := []string{"", "Bearer", "Bearer ", "Bearer wrong", "Basic " + apitest.Token, apitest.Token, "bearer  " + apitest.Token,
		"Bearer " + apitest.Token + "x", "Bearer " + apitest.Token[1:], "Bearer " + strings.ToUpper(apitest.Token)}
	for _, pattern := range b.Server.Routes() {
		method, path, _ := strings.Cut(pattern, " ")
		path = strings.NewReplacer("{key}", "app-1", "{project}", "app", "{$}", "").Replace(path)
		if path == "/healthz" || path == "/readyz" || path == "/login" {
			continue
		}
		for _, token := range tokens {
			refuses(t, b, http.StatusUnauthorized, method, path, "{}", header("Authorization", token))
		}
	}
	refuses(t, b, http.StatusUnauthorized, "GET", "/api/v1/version?token="+apitest.Token, "", header("Authorization", ""))
}

func TestAnyWebPageTalksToTheLocalServer_HostMustBeAKnownName(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *apihttp.Config) { c.Names = []string{"coppice.localhost"} })
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(b.Server.URL(), "http://"))
	for _, host := range []string{"evil.com", "evil.com:" + port, "localhost", "localhost:1", "127.0.0.1", "127.0.0.1." + ":" + port, "localhost.evil.com:" + port, "0.0.0.0:" + port, "127.0.0.2:" + port} {
		for _, path := range []string{"/api/v1/version", "/healthz", "/", "/login?code=x"} {
			refuses(t, b, http.StatusForbidden, "GET", path, "", header("Host", host))
		}
	}
	for _, host := range []string{"localhost:" + port, "127.0.0.1:" + port, "[::1]:" + port, "coppice.localhost:" + port} {
		if resp, text := call(t, b, "GET", "/api/v1/version", "", header("Host", host)); resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", host, text)
		}
	}
}

func TestAnyWebPageTalksToTheLocalServer_OriginIsChecked(t *testing.T) {
	t.Parallel()
	b := setupApp(t)
	host := strings.TrimPrefix(b.Server.URL(), "http://")
	_, port, _ := net.SplitHostPort(host)
	body := `{"tasks":[{"title":"planted"}]}`
	for _, origin := range []string{"http://evil.com", "null", "http://localhost:3000", "http://127.0.0.1:1", "http://localhost:" + port, "file://", "http://" + host + ".evil.com"} {
		refuses(t, b, http.StatusForbidden, "POST", "/api/v1/projects/app/tasks", body, header("Origin", origin))
		refuses(t, b, http.StatusForbidden, "GET", "/api/v1/tasks", "", header("Origin", origin))
	}
	for _, site := range []string{"cross-site", "same-site", "none"} {
		refuses(t, b, http.StatusForbidden, "POST", "/api/v1/projects/app/tasks", body, header("Sec-Fetch-Site", site))
	}
	page, err := b.Client.Status(b.Ctx, "")
	b.Must(err)
	if len(page.Waiting) != 0 {
		t.Error("a refused request planted a task")
	}
	resp, text := call(t, b, "POST", "/api/v1/projects/app/tasks", body, header("Origin", "http://"+host), header("Sec-Fetch-Site", "same-origin"))
	if resp.StatusCode != http.StatusCreated {
		t.Errorf("our own page: %s", text)
	}
}

func TestAnyWebPageTalksToTheLocalServer_OnlyJSONBodies(t *testing.T) {
	t.Parallel()
	b := setupApp(t)
	for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain; application/json", "application/json-patch+json", "application/jsonx"} {
		for _, path := range []string{"/api/v1/projects/app/tasks", "/api/v1/backup", "/api/v1/login-link"} {
			refuses(t, b, http.StatusUnsupportedMediaType, "POST", path, `{"tasks":[{"title":"planted"}]}`, header("Content-Type", kind))
		}
	}
}

func TestAnyWebPageTalksToTheLocalServer_NoCORSAndStrictHeaders(t *testing.T) {
	t.Parallel()
	b := setup(t)
	host := strings.TrimPrefix(b.Server.URL(), "http://")
	preflight := []func(*http.Request){header("Origin", "http://"+host), header("Access-Control-Request-Method", "POST"), header("Access-Control-Request-Headers", "authorization")}
	for _, c := range []struct {
		method, path string
		edit         []func(*http.Request)
	}{
		{"OPTIONS", "/api/v1/projects", preflight}, {"GET", "/", nil}, {"GET", "/api/v1/version", preflight[:1]}, {"GET", "/nothing", nil},
		{"GET", "/healthz", nil}, {"GET", "/api/v1/version", []func(*http.Request){header("Authorization", "")}},
		{"GET", "/api/v1/version", []func(*http.Request){header("Host", "evil.com")}},
	} {
		resp, _ := call(t, b, c.method, c.path, "", c.edit...)
		for name := range resp.Header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s %s: %s", c.method, c.path, name)
			}
		}
		csp := resp.Header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s %s: policy %q lacks %s", c.method, c.path, csp, want)
			}
		}
		if resp.Header.Get("X-Content-Type-Options") != "nosniff" || resp.Header.Get("Referrer-Policy") != "no-referrer" || resp.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s: headers %v", c.method, c.path, resp.Header)
		}
	}
}

// signIn returns the cookie of a signed-in browser.
func signIn(t *testing.T, b *apitest.Bundle) *http.Cookie {
	t.Helper()
	link, err := b.Client.LoginLink(b.Ctx)
	b.Must(err)
	path := strings.TrimPrefix(link.URL, b.Server.URL())
	resp, text := call(t, b, "GET", path, "", header("Authorization", ""), header("Sec-Fetch-Site", "none"))
	if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != "/" || len(resp.Cookies()) != 1 {
		t.Fatalf("sign-in: %d %s", resp.StatusCode, text)
	}
	refuses(t, b, http.StatusUnauthorized, "GET", path, "", header("Authorization", ""))
	return resp.Cookies()[0]
}

func TestAnyWebPageTalksToTheLocalServer_BrowserSignsInOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	host := strings.TrimPrefix(b.Server.URL(), "http://")
	c := signIn(t, b)
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Domain != "" {
		t.Errorf("cookie %+v", c)
	}
	none := header("Authorization", "")
	cookie := func(r *http.Request) { r.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value}) }
	if resp, text := call(t, b, "GET", "/", "", none, cookie, header("Sec-Fetch-Site", "none")); resp.StatusCode != http.StatusOK || !strings.Contains(text, "<h1>Coppice is running</h1>") {
		t.Errorf("the page: %d %s", resp.StatusCode, text)
	}
	if resp, text := call(t, b, "POST", "/api/v1/backup", "{}", none, cookie, header("Origin", "http://"+host), header("Sec-Fetch-Site", "same-origin")); resp.StatusCode != http.StatusOK {
		t.Errorf("our own page: %s", text)
	}
	for name, edit := range map[string][]func(*http.Request){
		"without an origin":         {header("Sec-Fetch-Site", "same-origin")},
		"from another port":         {header("Origin", "http://127.0.0.1:3000")},
		"from another site":         {header("Origin", "http://evil.com"), header("Sec-Fetch-Site", "cross-site")},
		"from the same site only":   {header("Origin", "http://"+host), header("Sec-Fetch-Site", "same-site")},
		"from an opaque origin":     {header("Origin", "null")},
		"with a forged other token": {header("Origin", "http://"+host), header("Authorization", "Bearer x")},
	} {
		resp, text := call(t, b, "POST", "/api/v1/backup", "{}", append([]func(*http.Request){none, cookie}, edit...)...)
		if resp.StatusCode != http.StatusForbidden && resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", name, resp.StatusCode, text)
		}
	}
	for _, site := range []string{"cross-site", "same-site"} {
		refuses(t, b, http.StatusForbidden, "GET", "/api/v1/tasks", "", none, cookie, header("Sec-Fetch-Site", site))
	}
	b.Clock.Move(13 * time.Hour)
	refuses(t, b, http.StatusUnauthorized, "GET", "/", "", none, cookie)
}

func TestAnyWebPageTalksToTheLocalServer_LoginLinkExpires(t *testing.T) {
	t.Parallel()
	b := setup(t)
	link, err := b.Client.LoginLink(b.Ctx)
	b.Must(err)
	b.Clock.Move(3 * time.Minute)
	refuses(t, b, http.StatusUnauthorized, "GET", strings.TrimPrefix(link.URL, b.Server.URL()), "", header("Authorization", ""))
	for _, code := range []string{"", "x", apitest.Token} {
		refuses(t, b, http.StatusUnauthorized, "GET", "/login?code="+code, "", header("Authorization", ""))
	}
	refuses(t, b, http.StatusUnauthorized, "POST", "/api/v1/login-link", "{}", header("Authorization", ""))
}

func TestRequestsAreBounded(t *testing.T) {
	t.Parallel()
	b := setupApp(t, "t")
	big := `{"text":"` + strings.Repeat("x", 5<<20) + `"}`
	refuses(t, b, http.StatusRequestEntityTooLarge, "POST", "/api/v1/tasks/app-1/send", big)
	refuses(t, b, http.StatusRequestEntityTooLarge, "POST", "/api/v1/tasks/app-1/send", `{"text":"`+strings.Repeat("x", coppice.MaxMessage+1)+`"}`)
	refuses(t, b, http.StatusRequestEntityTooLarge, "POST", "/api/v1/projects", `{"path":"`+strings.Repeat("x", 100<<10)+`"}`)
	deep := `{"tasks":` + strings.Repeat("[", 100000) + strings.Repeat("]", 100000) + `}`
	resp, text := call(t, b, "POST", "/api/v1/projects/app/tasks", deep)
	refused(t, resp, text, http.StatusBadRequest)
	resp, _ = call(t, b, "GET", "/healthz", "", header("X-Big", strings.Repeat("x", 64<<10)))
	if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("a huge header: %d", resp.StatusCode)
	}
}

func TestRequestsAreRead(t *testing.T) {
	t.Parallel()
	b := setupApp(t)
	for name, c := range map[string]struct {
		path, body, field string
	}{
		"unknown field":       {"/api/v1/projects/app/tasks", `{"tasks":[{"title":"x","sudo":true}]}`, "tasks[0].sudo"},
		"other case":          {"/api/v1/projects/app/tasks", `{"tasks":[{"Title":"x"}]}`, "tasks[0]"},
		"unknown query":       {"/api/v1/projects?x=1", `{"path":"/src/app"}`, "query.x"},
		"missing field":       {"/api/v1/projects", `{}`, "body"},
		"wrong type":          {"/api/v1/projects", `{"path":7}`, "path"},
		"priority over bound": {"/api/v1/projects/app/tasks", `{"tasks":[{"title":"x","priority":11}]}`, "priority"},
		"no tasks":            {"/api/v1/projects/app/tasks", `{"tasks":[]}`, "tasks"},
		"null tasks":          {"/api/v1/projects/app/tasks", `{"tasks":null}`, "tasks"},
	} {
		resp, text := call(t, b, "POST", c.path, c.body)
		if p := refused(t, resp, text, http.StatusUnprocessableEntity); !strings.HasPrefix(p.Field, c.field) || strings.Contains(text, "sudo\":true") {
			t.Errorf("%s: %s", name, text)
		}
	}
	for _, body := range []string{"{", `{"path":"/a"} {"path":"/b"}`, "\x00", "[]x"} {
		refuses(t, b, http.StatusBadRequest, "POST", "/api/v1/projects", body)
	}
	for _, key := range []string{"..%2f..%2fetc", "$(touch%20x)", "-rf", "app-0", "APP-1", "app-1%00", "%F0%9F%98%80", strings.Repeat("a", 500)} {
		refuses(t, b, http.StatusUnprocessableEntity, "GET", "/api/v1/tasks/"+key, "")
		refuses(t, b, http.StatusUnprocessableEntity, "GET", "/api/v1/sessions/"+key+"/output/stream", "")
	}
}

func TestSlowlorisIsCutOff(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *apihttp.Config) {
		c.HeaderTimeout = 50 * time.Millisecond
		c.BodyTimeout = 50 * time.Millisecond
	})
	host := strings.TrimPrefix(b.Server.URL(), "http://")
	for name, text := range map[string]string{
		"in the header": "GET /healthz HTTP/1.1\r\nHost: " + host + "\r\nX-Slow: ",
		"in the body": fmt.Sprintf("POST /api/v1/projects HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
			host, apitest.Token),
	} {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", host)
		b.Must(err)
		b.Must(conn.SetDeadline(time.Now().Add(20 * time.Second))) // a safety net only
		_, err = conn.Write([]byte(text))
		b.Must(err)
		if _, err := io.Copy(io.Discard, conn); errors.Is(err, context.DeadlineExceeded) || isTimeout(err) {
			t.Errorf("%s: the connection stayed open", name)
		}
		_ = conn.Close()
	}
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

// panicking is an engine with a bug.
type panicking struct{ apihttp.Tasks }

func (panicking) Ask(_ context.Context, _ string, v coppice.Verb, _ verb.Request) (coppice.Task, error) {
	if v == coppice.VerbStop {
		panic("secret in a panic")
	}
	return coppice.Task{}, errors.New("secret in an error at /home/somebody")
}

func TestInternalErrorsSayNothing(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *apihttp.Config) { c.Tasks = panicking{c.Tasks} })
	b.Project("/src/app")
	b.Task("app", coppice.NewTask{Title: "t"})
	for _, what := range []string{"stop", "land"} {
		resp, text := call(t, b, "POST", "/api/v1/tasks/app-1/"+what, "{}")
		p := refused(t, resp, text, http.StatusInternalServerError)
		if p.Code != coppice.EInternal || strings.Contains(text, "secret") {
			t.Errorf("%s: %s", what, text)
		}
	}
	if log := b.Log.String(); !strings.Contains(log, "secret in a panic") || !strings.Contains(log, "secret in an error") {
		t.Errorf("not logged:\n%s", log)
	}
}

func TestSecretsInLogs(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := signIn(t, b)
	link, err := b.Client.LoginLink(b.Ctx)
	b.Must(err)
	_, code, _ := strings.Cut(link.URL, "code=")
	call(t, b, "GET", "/login?code="+code, "", header("Authorization", ""))
	call(t, b, "GET", "/api/v1/version?x="+apitest.Token, "")
	call(t, b, "GET", "/api/v1/version", "", header("Authorization", "Bearer wrong-but-secret"))
	log := b.Log.String()
	if !strings.Contains(log, "/api/v1/version") {
		t.Fatal("requests are not logged")
	}
	for _, secret := range []string{apitest.Token, c.Value, code, "wrong-but-secret"} {
		if strings.Contains(log, secret) {
			t.Errorf("the log has a secret:\n%s", log)
		}
	}
}

func TestAHeaderTwiceIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	host := strings.TrimPrefix(b.Server.URL(), "http://")
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", host)
	b.Must(err)
	defer conn.Close()
	fmt.Fprintf(conn, "GET /api/v1/version HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nAuthorization: Bearer x\r\nConnection: close\r\n\r\n", host, apitest.Token)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	b.Must(err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	b.Must(err)
	refused(t, resp, string(text), http.StatusUnprocessableEntity)
}
