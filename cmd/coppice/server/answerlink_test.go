package server

import (
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/api"
)

// The link of a message answers the question of a real session: it opens on the server's
// address and on the listener for webhooks, and works one time. After a restart it is
// still valid.
func TestAnswerLink(t *testing.T) {
	t.Parallel()
	b := setup(t)
	user := filepath.Join(b.dir, ".config", "coppice")
	b.must(os.MkdirAll(user, 0o700))
	b.must(os.WriteFile(filepath.Join(user, "config.yaml"), []byte("webhooks: {listen: \"127.0.0.1:0\"}\n"), 0o600))
	s := b.start()
	c, project := b.added(b.repo(map[string]string{
		"coppice.yaml":           "agent: {use: scripted}\nbase: main\nlimits: {memory: 100%}\nland: {how: branch}\n",
		".coppice/scripted.yaml": asks,
	}))
	task := b.create(c, project, coppice.NewTask{Title: "Greet"})
	b.await(c, coppice.EventQuestionAsked)
	asked := b.task(c, task.Key, func(d api.TaskDetail) bool { return len(d.Questions) > 0 }).Questions[0]
	link, err := s.answers.Link(b.ctx, asked.ID, time.Now().Add(time.Hour))
	b.must(err)
	s.Stop()
	s = b.start()
	call := func(method, address string, form url.Values) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(b.ctx, method, address, strings.NewReader(form.Encode()))
		b.must(err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "cross-site") // it is opened from a chat
		resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
		b.must(err)
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		b.must(err)
		return resp.StatusCode, string(text)
	}
	here, outside := s.URL()+link, "http://"+s.webhooks.Addr().String()+link
	for _, address := range []string{here, outside} {
		if status, page := call(http.MethodGet, address, nil); status != http.StatusOK || !strings.Contains(page, "Which greeting?") {
			t.Errorf("%s: %d: %s", address, status, page)
		}
	}
	if status, page := call(http.MethodGet, outside+"x", nil); status != http.StatusNotFound || strings.Contains(page, "greeting") {
		t.Errorf("%d: %s", status, page)
	}
	if status, page := call(http.MethodPost, outside, url.Values{"text": {"Servus"}}); status != http.StatusOK {
		t.Errorf("%d: %s", status, page)
	}
	if status, page := call(http.MethodPost, here, url.Values{"text": {"Moin"}}); status != http.StatusGone {
		t.Errorf("%d: %s", status, page)
	}
	got := b.task(b.client(), task.Key, func(d api.TaskDetail) bool { return d.Stage == coppice.StageHeld }).Questions[0]
	if got.Answer != "Servus" {
		t.Errorf("the answer is %q", got.Answer)
	}
}
