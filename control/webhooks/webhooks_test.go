package webhooks

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"coppice"
	"coppice/forge"
	"coppice/store"
	"coppice/store/sqlite"
	"coppice/store/sqlite/sqlitetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	secretText = "a-secret-for-tests"
	sha        = "6dcb09b5b57875f334f61aebed695e2e4193db5e"
)

// bundle is a listener with the projects app, which receives webhooks of team/app, and
// plain, which receives none.
type bundle struct {
	t   *testing.T
	s   *Server
	log bytes.Buffer

	mu       sync.Mutex
	kind     string
	secret   string
	now      time.Time
	broken   error // of the store
	resolved int   // how often the secret was
	changed  []coppice.ForgeHint
}

func setup(t *testing.T, kind string, change ...func(*Config)) *bundle {
	t.Helper()
	db := sqlitetest.Open(t, sqlite.Config{})
	b := &bundle{t: t, kind: kind, secret: secretText, now: time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)}
	b.must(db.Update(t.Context(), func(tx store.Tx) error {
		policy := coppice.DefaultPolicy()
		policy.Forge.Webhook = "HOOK"
		app := coppice.Project{Prefix: "app", Path: "/app", CreatedAt: b.now, Policy: policy}
		plain := coppice.Project{Prefix: "plain", Path: "/plain", CreatedAt: b.now, Policy: coppice.DefaultPolicy()}
		return errors.Join(tx.Projects.Put(&app), tx.Projects.Put(&plain))
	}))
	c := Config{
		Listen: "127.0.0.1:0", Store: db, Log: slog.New(slog.NewTextHandler(&b.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Now: func() time.Time { b.mu.Lock(); defer b.mu.Unlock(); return b.now },
		Remote: func(context.Context, coppice.ForgeSpec) (forge.Remote, error) {
			return forge.Remote{Kind: b.kind, Owner: "team", Name: "app"}, nil
		},
		Secret: func(_ context.Context, name string) (string, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			if b.resolved++; name != "HOOK" || b.secret == "" {
				return "", errors.New("there is no such secret")
			}
			return b.secret, nil
		},
		Changed: func(_ context.Context, _ string, _ int64, h coppice.ForgeHint) error {
			b.mu.Lock()
			defer b.mu.Unlock()
			if b.broken == nil {
				b.changed = append(b.changed, h)
			}
			return b.broken
		},
	}
	for _, f := range change {
		f(&c)
	}
	b.s = New(c)
	b.must(b.s.Start(t.Context()))
	t.Cleanup(b.s.Stop)
	return b
}

func (b *bundle) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bundle) pass(d time.Duration) { b.mu.Lock(); b.now = b.now.Add(d); b.mu.Unlock() }

// body is a webhook about pull request number, which happened at the time.
func body(repo string, number int, at time.Time) string {
	return fmt.Sprintf(`{"action":"edited","number":%d,"pull_request":{"number":%[1]d,"updated_at":%q},"repository":{"full_name":%q}}`, number, at.Format(time.RFC3339), repo)
}

func sign(secret, text string) string {
	m := hmac.New(sha256.New, []byte(secret))
	m.Write([]byte(text))
	return "sha256=" + hex.EncodeToString(m.Sum(nil))
}

// send sends a signed webhook, unless edit changes it, and returns the answer.
func (b *bundle) send(text string, edit ...func(*http.Request)) (int, string) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, "http://"+b.s.Addr().String()+"/hooks/app", strings.NewReader(text))
	b.must(err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Hub-Signature-256", sign(secretText, text))
	for _, f := range edit {
		f(r)
	}
	tr := &http.Transport{DisableKeepAlives: true}
	res, err := tr.RoundTrip(r)
	b.must(err)
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	b.must(err)
	return res.StatusCode, strings.TrimSpace(string(answer))
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func path(p string) func(*http.Request) { return func(r *http.Request) { r.URL.Path = p } }

func (b *bundle) wantChanged(want ...coppice.ForgeHint) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if fmt.Sprint(b.changed) != fmt.Sprint(want) {
		b.t.Errorf("reported: %v, want %v", b.changed, want)
	}
}

// A signed webhook is passed on one time, however often it arrives. One that is old is
// ignored.
func TestWebhook(t *testing.T) {
	t.Parallel()
	b := setup(t, "github")
	one := body("team/app", 7, b.now)
	for _, want := range []string{"accepted", "ignored: this delivery has arrived before"} {
		if status, answer := b.send(one); status != 200 || answer != `{"result":"`+want+`"}` {
			t.Errorf("%d %s, want %s", status, answer, want)
		}
	}
	// The sign of the same content in other letters is the same delivery.
	if _, answer := b.send(one, header("X-Hub-Signature-256", "sha256="+strings.ToUpper(sign(secretText, one)[7:]))); !strings.Contains(answer, "before") {
		t.Error(answer)
	}
	if _, answer := b.send(body("Team/App", 8, b.now)); !strings.Contains(answer, "accepted") {
		t.Error(answer)
	}
	if _, answer := b.send(body("team/app", 9, b.now.Add(-Window-time.Minute))); !strings.Contains(answer, "more than an hour old") {
		t.Error(answer)
	}
	b.pass(Window + time.Minute) // the delivery is forgotten, and too old
	if _, answer := b.send(one); !strings.Contains(answer, "more than an hour old") {
		t.Error(answer)
	}
	ping := `{"zen":"Design for failure.","repository":{"full_name":"team/app"}}`
	if status, answer := b.send(ping); status != 200 {
		t.Errorf("ping: %d %s", status, answer)
	}
	b.wantChanged(coppice.ForgeHint{Number: 7}, coppice.ForgeHint{Number: 8}, coppice.ForgeHint{None: true})
}

// A webhook that could not be stored can be sent again.
func TestWebhookIsSentAgain(t *testing.T) {
	t.Parallel()
	b := setup(t, "github")
	b.broken = errors.New("the disk is full")
	one := body("team/app", 7, b.now)
	if status, answer := b.send(one); status != 503 || strings.Contains(answer, "disk") {
		t.Errorf("%d %s", status, answer)
	}
	b.broken = nil
	if status, answer := b.send(one); status != 200 || !strings.Contains(answer, "accepted") {
		t.Errorf("%d %s", status, answer)
	}
	b.wantChanged(coppice.ForgeHint{Number: 7})
}

// Whatever is wrong with a webhook, the answer is the same, and it has neither the
// secret nor the body. The listener serves nothing else.
func TestRefused(t *testing.T) {
	t.Parallel()
	const private = "a-private-text"
	refused := ""
	for name, c := range map[string]struct {
		status int
		edit   func(*http.Request)
	}{
		"forged":            {403, header("X-Hub-Signature-256", sign("another secret", private))},
		"no signature":      {403, func(r *http.Request) { r.Header.Del("X-Hub-Signature-256") }},
		"gitlab's token":    {403, func(r *http.Request) { r.Header.Del("X-Hub-Signature-256"); r.Header.Set("X-Gitlab-Token", secretText) }},
		"an unknown one":    {403, path("/hooks/other")},
		"without a webhook": {403, path("/hooks/plain")},
		"another repo":      {403, func(r *http.Request) { resign(r, `{"zen":"x","repository":{"full_name":"team/other"}}`) }},
		"not JSON":          {400, func(r *http.Request) { resign(r, private) }},
		"a form":            {400, header("Content-Type", "application/x-www-form-urlencoded")},
		"no type":           {400, func(r *http.Request) { r.Header.Del("Content-Type") }},
		"read":              {405, func(r *http.Request) { r.Method = http.MethodGet }},
		"another method":    {405, func(r *http.Request) { r.Method = http.MethodPut }},
		"too large":         {413, func(r *http.Request) { resign(r, strings.Repeat(" ", 10<<20)) }},
		"too large, of unknown length": {413, func(r *http.Request) {
			resign(r, strings.Repeat(" ", MaxBody+1))
			r.ContentLength = -1
		}},
		"the dashboard": {404, path("/")},
		"the API":       {404, path("/api/v1/status")},
		"the tools":     {404, path("/mcp")},
		"health":        {404, path("/healthz")},
		"sign in":       {404, path("/login")},
		"no project":    {404, path("/hooks/")},
		"below":         {404, path("/hooks/app/x")},
		"upwards":       {404, path("/hooks/../api/v1/status")},
	} {
		b := setup(t, "github")
		status, answer := b.send(body(private, 7, b.now), c.edit)
		if status != c.status {
			t.Errorf("%s: %d %s, want %d", name, status, answer, c.status)
		}
		if status == 403 && refused == "" {
			refused = answer
		}
		if status == 403 && answer != refused {
			t.Errorf("%s: %s differs from %s", name, answer, refused)
		}
		b.s.Stop()
		for _, text := range []string{secretText, private, "plain", "other\""} {
			if strings.Contains(answer, text) || text != "other\"" && strings.Contains(b.log.String(), text) {
				t.Errorf("%s shows %s: %s\n%s", name, text, answer, &b.log)
			}
		}
		b.wantChanged()
	}
}

// resign gives a request another body, with a valid signature.
func resign(r *http.Request, text string) {
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
	r.Header.Set("X-Hub-Signature-256", sign(secretText, text))
}

// GitLab sends the secret itself.
func TestTokenOfGitLab(t *testing.T) {
	t.Parallel()
	b := setup(t, "gitlab")
	text := `{"object_kind":"build","sha":"` + sha + `","project":{"path_with_namespace":"team/app"}}`
	if status, answer := b.send(text, header("X-Gitlab-Token", secretText)); status != 200 {
		t.Errorf("%d %s", status, answer)
	}
	if status, _ := b.send(text, header("X-Gitlab-Token", secretText+"x")); status != 403 {
		t.Errorf("%d with another token", status)
	}
	b.wantChanged(coppice.ForgeHint{Commit: sha})
}

// Requests of anybody resolve the secret rarely, also one that cannot be resolved. A
// new secret counts after some seconds.
func TestTheSecretIsKeptBriefly(t *testing.T) {
	t.Parallel()
	b := setup(t, "github")
	b.secret = ""
	for range 20 {
		if status, _ := b.send(body("team/app", 7, b.now)); status != 403 {
			t.Errorf("%d without a secret", status)
		}
	}
	b.s.Stop() // all lines of the log are written
	if b.resolved != 1 || strings.Count(b.log.String(), "cannot be checked") != 1 {
		t.Errorf("resolved %d times:\n%s", b.resolved, &b.log)
	}
	b.must(b.s.Start(t.Context()))
	b.secret = secretText
	b.pass(targetKept)
	if status, answer := b.send(body("team/app", 7, b.now)); status != 200 {
		t.Errorf("%d %s with a new secret", status, answer)
	}
}

// Slow clients are cut off, and further ones wait for a place.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	b := setup(t, "github", func(c *Config) { c.BodyTime = 300 * time.Millisecond })
	dial := net.Dialer{}
	var slow []net.Conn
	for range maxConns {
		c, err := dial.DialContext(t.Context(), "tcp", b.s.Addr().String())
		b.must(err)
		defer c.Close()
		_, err = io.WriteString(c, "POST /hooks/app HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{")
		b.must(err)
		slow = append(slow, c)
	}
	// The server ends a connection whose body does not arrive: the webhook gets its place.
	if status, answer := b.send(body("team/app", 7, b.now)); status != 200 {
		t.Errorf("%d %s", status, answer)
	}
	for _, c := range slow {
		if _, err := io.ReadAll(c); err != nil && !errors.Is(err, net.ErrClosed) && !strings.Contains(err.Error(), "reset") {
			t.Error(err)
		}
	}
}

// A port in use does not stop the server. It is shown, and tried again.
func TestPortInUse(t *testing.T) {
	t.Parallel()
	var lc net.ListenConfig
	other, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	tick, waits := make(chan time.Time), make(chan bool, 1)
	log := awaited{text: "receiving webhooks", seen: make(chan bool)}
	s := New(Config{Listen: other.Addr().String(), Log: slog.New(slog.NewTextHandler(&log, nil)), After: func(time.Duration) <-chan time.Time {
		waits <- true
		return tick
	}})
	if err := s.Start(t.Context()); err != nil || s.Problem() == nil || s.Addr() != nil {
		t.Fatalf("started: %v, problem %v", err, s.Problem())
	}
	<-waits
	tick <- time.Time{}
	<-waits // it has tried again
	other.Close()
	tick <- time.Time{}
	<-log.seen
	if s.Stop(); s.Problem() != nil {
		t.Error(s.Problem())
	}
	if n := strings.Count(log.String(), "cannot be received"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, log.String())
	}
}

// awaited is a log that reports when it has a text.
type awaited struct {
	bytes.Buffer
	text string
	seen chan bool
}

func (a *awaited) Write(b []byte) (int, error) {
	n, err := a.Buffer.Write(b)
	if bytes.Contains(b, []byte(a.text)) {
		close(a.seen)
	}
	return n, err
}

// The memory of deliveries is bounded.
func TestReplaysAreBounded(t *testing.T) {
	t.Parallel()
	var r replays
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	for n := range 3 * mostSeen {
		r.add(replay{project: int64(n)}, now.Add(time.Duration(n)*time.Millisecond))
	}
	if len(r.at) != mostSeen || len(r.order) != mostSeen || r.has(replay{project: 0}, now) || !r.has(replay{project: 3*mostSeen - 1}, now) {
		t.Errorf("%d and %d are remembered", len(r.at), len(r.order))
	}
	if r.add(replay{project: 1}, now.Add(2*Window)); len(r.at) != 1 || len(r.order) != 1 {
		t.Errorf("%d and %d are remembered after the window", len(r.at), len(r.order))
	}
}
