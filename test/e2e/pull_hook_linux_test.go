package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	sdk "code.gitea.io/sdk/gitea"

	"coppice"
	"coppice/api"
	"coppice/api/client"
	"coppice/test/forges"
)

// delivery is a webhook that Gitea has sent, and the answer.
type delivery struct {
	header http.Header
	body   []byte
	answer string
}

// recorder is between Gitea and the listener.
type recorder struct {
	t  *testing.T
	to string // the listener's address

	mu  sync.Mutex
	all []delivery
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // Gitea ended with the test
	}
	d := delivery{header: req.Header.Clone(), body: body}
	status := 0
	if status, d.answer, err = r.send(req.Context(), http.MethodPost, req.URL.Path, d); err != nil {
		w.WriteHeader(http.StatusBadGateway) // the server restarts
		return
	}
	r.mu.Lock()
	r.all = append(r.all, d)
	r.mu.Unlock()
	w.WriteHeader(status)
}

func (r *recorder) send(ctx context.Context, method, path string, d delivery) (int, string, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+r.to+path, bytes.NewReader(d.body))
	if err != nil {
		return 0, "", err
	}
	req.Header = d.header.Clone()
	tr := &http.Transport{DisableKeepAlives: true}
	res, err := tr.RoundTrip(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return res.StatusCode, string(text), err
}

// wants sends a request to the listener.
func (r *recorder) wants(method, path string, d delivery, status int, part string) {
	r.t.Helper()
	got, answer, err := r.send(r.t.Context(), method, path, d)
	if err != nil || got != status || !strings.Contains(answer, part) {
		r.t.Errorf("%s %s: %d %s, %v; want %d and %q", method, path, got, answer, err, status, part)
	}
}

// withWebhooks restarts the server of a world. It reads the forge once in an hour, and
// Gitea sends webhooks.
func (p *pullWorld) withWebhooks() *recorder {
	p.t.Helper()
	p.server.Kill()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		p.t.Fatal(err)
	}
	r := &recorder{t: p.t, to: l.Addr().String()}
	l.Close()
	user := filepath.Join(p.Home, ".config", "coppice", "config.yaml")
	text, err := os.ReadFile(user)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(user, fmt.Appendf(text, "webhooks: {listen: %q}\n", r.to), 0o600); err != nil {
		p.t.Fatal(err)
	}
	const secret = "a-secret-of-webhooks"
	if r := p.try(p.world.repo, secret+"\n", "secret", "set", "FORGE_WEBHOOK"); r.code != 0 {
		p.t.Fatal(r.err)
	}
	policy, err := os.ReadFile(filepath.Join(p.world.repo, "coppice.yaml"))
	if err != nil {
		p.t.Fatal(err)
	}
	p.write(p.world.repo, files{"coppice.yaml": strings.Replace(string(policy), "every: 5s", "every: 1h, webhook: FORGE_WEBHOOK", 1)})
	p.git("commit", "--quiet", "--all", "--message", "Use webhooks")
	p.git("push", "--quiet", "origin", "main")
	p.server = p.serve()
	srv := httptest.NewServer(r)
	p.t.Cleanup(srv.Close)
	_, _, err = p.api[forges.Owner].CreateRepoHook(forges.Owner, p.repo.Name, sdk.CreateHookOption{
		Type: sdk.HookTypeGitea, Active: true, Config: map[string]string{"url": srv.URL + "/hooks/app", "content_type": "json", "secret": secret},
		Events: []string{"push", "pull_request", "pull_request_comment", "pull_request_review_approved", "pull_request_review_rejected", "pull_request_sync", "status"},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

// A failure of CI reaches the agent only by webhook. The same deliveries again, also
// after a restart that forgets them, lead to no second message. The listener serves
// nothing else.
func TestWebhooksOfGitea(t *testing.T) {
	t.Parallel()
	p := newPullWorld(t, `cases:
  - {match: 'undefined: foo', steps: [{write: {path: fixed.txt, content: "fixed\n"}}]}
  - steps: [{write: {path: work.txt, content: "work\n"}}]
`)
	r := p.withWebhooks()
	key := p.new("Work in a request")
	d := p.pushed(key, "")
	p.status(d.Pull.Pushed, sdk.StatusFailure)
	d = p.pushed(key, d.Pull.Pushed)
	r.mu.Lock()
	sent := r.all
	r.mu.Unlock()
	accepted := 0
	for _, s := range sent {
		if strings.Contains(s.answer, "accepted") {
			accepted++
			r.wants(http.MethodPost, "/hooks/app", s, http.StatusOK, "before")
		}
		forged := delivery{s.header, bytes.Replace(s.body, []byte("failure"), []byte("success"), 1), ""}
		if !bytes.Equal(forged.body, s.body) {
			r.wants(http.MethodPost, "/hooks/app", forged, http.StatusForbidden, "not accepted")
		}
		r.wants(http.MethodPost, "/hooks/other", s, http.StatusForbidden, "not accepted")
	}
	if accepted < 2 {
		t.Errorf("%d deliveries were accepted: %v", accepted, sent)
	}
	p.server.Kill()
	p.serve()
	page, err := p.client.Events(t.Context(), client.EventQuery{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sent {
		r.wants(http.MethodPost, "/hooks/app", s, http.StatusOK, "accepted")
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	err = p.client.FollowEvents(ctx, client.EventQuery{After: page.Last}, func(e api.Event) error {
		if e.Kind == coppice.EventForgeRead {
			return errSeen
		}
		return nil
	}, nil)
	if err != errSeen {
		t.Errorf("the forge was not read again: %v", err)
	}
	if d = p.task(key); len(d.History) != 2 || len(d.Reactions) != 1 {
		t.Errorf("%d sessions and %d reactions", len(d.History), len(d.Reactions))
	}
	token, err := os.ReadFile(filepath.Join(p.State, "token"))
	if err != nil {
		t.Fatal(err)
	}
	asPerson := delivery{header: http.Header{"Authorization": {"Bearer " + strings.TrimSpace(string(token))}}}
	for _, path := range []string{"/", "/api/v1/status", "/api/v1/events", "/mcp", "/healthz", "/metrics"} {
		r.wants(http.MethodGet, path, asPerson, http.StatusNotFound, "nothing here")
	}
}
