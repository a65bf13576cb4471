//go:build linux

package e2e

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coppice"
	"coppice/api/client"
	"coppice/notify"
)

const hookSecret = "a-secret-of-the-webhook"

// received is a message as a receiver got it.
type received struct {
	from string
	notify.PayloadData
	raw string
}

// receivers are a webhook, an ntfy server and a mail server on this machine.
type receivers struct {
	t    *testing.T
	hook *httptest.Server
	ntfy *httptest.Server
	mail net.Listener
	got  chan received
	hold chan chan struct{} // a webhook that takes one from it waits until it is closed
}

func newReceivers(t *testing.T) *receivers {
	t.Helper()
	r := &receivers{t: t, got: make(chan received, 1000), hold: make(chan chan struct{}, 1)}
	r.hook = httptest.NewServer(http.HandlerFunc(r.serveHook))
	r.ntfy = httptest.NewServer(http.HandlerFunc(r.serveNtfy))
	var err error
	if r.mail, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	go r.serveMail()
	t.Cleanup(func() { r.hook.Close(); r.ntfy.Close(); r.mail.Close() })
	return r
}

// serveHook checks the signature of a webhook.
func (r *receivers) serveHook(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	var p notify.Payload
	if err == nil {
		err = json.Unmarshal(body, &p)
	}
	mac := hmac.New(sha256.New, []byte(hookSecret))
	mac.Write([]byte(req.Header.Get("Webhook-Id") + "." + req.Header.Get("Webhook-Timestamp") + "."))
	mac.Write(body)
	if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); err != nil || req.Header.Get("Webhook-Signature") != want || req.Header.Get("Webhook-Id") != p.Data.ID || p.Data.ID == "" {
		r.t.Errorf("a webhook with the signature %q, want %q: %v\n%s", req.Header.Get("Webhook-Signature"), want, err, body)
	}
	r.got <- received{"hook", p.Data, string(body)}
	select {
	case wait := <-r.hold:
		<-wait
	default:
	}
}

func (r *receivers) serveNtfy(_ http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		r.t.Error(err)
	}
	r.got <- received{from: "ntfy", raw: string(body)}
}

// serveMail accepts mail.
func (r *receivers) serveMail() {
	for {
		c, err := r.mail.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			in := bufio.NewReader(c)
			fmt.Fprint(c, "220 here\r\n")
			for {
				line, err := in.ReadString('\n')
				if err != nil {
					return
				}
				switch verb, _, _ := strings.Cut(strings.TrimSpace(strings.ToUpper(line)), " "); verb {
				case "QUIT":
					fmt.Fprint(c, "221 bye\r\n")
					return
				case "DATA":
					fmt.Fprint(c, "354 go ahead\r\n")
					var text strings.Builder
					for line, err = in.ReadString('\n'); err == nil && line != ".\r\n"; line, err = in.ReadString('\n') {
						text.WriteString(line)
					}
					r.got <- received{from: "mail", raw: text.String()}
				}
				fmt.Fprint(c, "250 ok\r\n")
			}
		}()
	}
}

// next returns the next message of a receiver. Those of others stay for later.
func (r *receivers) next(from string, f func(received) bool) received {
	r.t.Helper()
	var others []received
	defer func() {
		for _, o := range others {
			r.got <- o
		}
	}()
	for {
		select {
		case m := <-r.got:
			if m.from == from && f(m) {
				return m
			}
			others = append(others, m)
		case <-r.t.Context().Done():
			r.t.Fatalf("no message from %s; there are %+v", from, others)
		}
	}
}

// configure writes the user's configuration, and stores the secret of the webhook.
func (w *world) configure(text string) {
	w.t.Helper()
	dir := filepath.Join(w.Home, ".config", "coppice")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	if r := w.try(w.Root, hookSecret+"\n", "secret", "set", "HOOK"); r.code != 0 {
		w.t.Fatalf("%+v", r)
	}
}

const asksOne = `cases:
  - match: Ask
    steps: [{ask: "Which colour?"}, {write: {path: a, content: "${answer}"}}]
  - steps: [{write: {path: "${session}.txt", content: "done\n"}}]
`

// A question reaches a webhook, ntfy, mail and a program. The link in the message
// answers it, one time, and the agent continues.
func TestNotificationsAnswerAQuestion(t *testing.T) {
	t.Parallel()
	r := newReceivers(t)
	w := newWorld(t, files{".coppice/scripted.yaml": asksOne})
	out := filepath.Join(w.Root, "program")
	w.configure(fmt.Sprintf(`notify:
  pause: 1s
  notifiers:
    pager: {kind: webhook, url: %q, token: HOOK}
    phone: {kind: ntfy, url: %q, to: [me]}
    post: {kind: mail, url: "smtp://%s", from: coppice@example.org, to: [me@example.org]}
    script: {kind: program, run: "cat >> %s"}
    broken: {kind: webhook, url: "http://127.0.0.1:1", token: HOOK}
  routes: [{to: [pager, phone, post, script]}]
`, r.hook.URL, r.ntfy.URL, r.mail.Addr(), out))
	w.serve()
	all := func(received) bool { return true }

	test := w.try(w.repo, "", "notify", "test")
	if test.code != 1 || strings.Count(test.out, "  sent\n") != 4 || !strings.Contains(test.out, "broken  webhook  failed\n") || !strings.Contains(test.out, "fix: ") {
		t.Errorf("coppice notify test: %+v", test)
	}
	for _, from := range []string{"hook", "ntfy", "mail"} {
		if m := r.next(from, all); !strings.Contains(m.raw, "Test message from Coppice") {
			t.Errorf("the test of %s: %s", from, m.raw)
		}
	}

	key := w.new("Ask me")
	m := r.next("hook", all)
	if m.Title != key+" asks: Ask me" || m.Text != "Which colour?" || m.Priority != coppice.PriorityAction || m.Count != 1 || m.Project != "app" || !strings.HasSuffix(m.Link, "/tasks/"+key) || m.Answer == "" {
		t.Errorf("the message: %+v", m.PayloadData)
	}
	for _, from := range []string{"ntfy", "mail"} {
		if got := r.next(from, all); !strings.Contains(got.raw, "asks: Ask me") {
			t.Errorf("%s got %s", from, got.raw)
		}
	}
	w.eventually("the program has the message", func() bool {
		b, err := os.ReadFile(out)
		return err == nil && strings.Contains(string(b), "asks: Ask me")
	})
	page := opensLink(t, m.Answer, nil)
	if !strings.Contains(page, "Which colour?") || !strings.Contains(page, "<form method=\"post\">") {
		t.Errorf("the page of the link:\n%s", page)
	}
	if page := opensLink(t, m.Answer, url.Values{"text": {"blue"}}); !strings.Contains(page, "The answer was sent") {
		t.Errorf("after the answer:\n%s", page)
	}
	w.landed(key)
	w.wantOnBase("a", "blue")
	if page := opensLink(t, m.Answer, url.Values{"text": {"red"}}); !strings.Contains(page, "has an answer") {
		t.Errorf("the link works twice:\n%s", page)
	}
	if log := w.cli("notify", "log"); strings.Count(log, "sent  action  "+key+" asks: Ask me") != 4 {
		t.Errorf("coppice notify log says\n%s", log)
	}
	if list := w.cli("notify"); !strings.Contains(list, "only tests") || !strings.Contains(list, "urgent, action") {
		t.Errorf("coppice notify says\n%s", list)
	}
}

// opensLink gets or posts the page of a link, without a login.
func opensLink(t *testing.T, link string, form url.Values) string {
	t.Helper()
	get := func() (*http.Response, error) { return http.Get(link) }
	if form != nil {
		get = func() (*http.Response, error) { return http.PostForm(link, form) }
	}
	resp, err := get()
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A message that is being sent when the server is killed is sent again, with the same
// id. What happens in the meantime is in the next message.
func TestNotificationsSurviveAKill(t *testing.T) {
	t.Parallel()
	r := newReceivers(t)
	w := newWorld(t, files{".coppice/scripted.yaml": asksOne})
	w.configure(fmt.Sprintf("notify:\n  pause: 1s\n  notifiers:\n    pager: {kind: webhook, url: %q, token: HOOK}\n  routes: [{to: [pager], priority: [urgent, action, warning, info]}]\n", r.hook.URL))
	s := w.serve()
	release := make(chan struct{})
	r.hold <- release
	first := w.new("Ask me")
	about := func(key string) func(received) bool {
		return func(m received) bool { return strings.Contains(m.Title+m.Text, key) }
	}
	m := r.next("hook", about(first))
	s.Kill()
	close(release)
	w.serve()
	if again := r.next("hook", about(first)); again.ID != m.ID || again.Title != m.Title || again.Text != m.Text {
		t.Errorf("the message %+v is repeated as %+v", m.PayloadData, again.PayloadData)
	}
	second := w.new("Write it")
	r.next("hook", about(second+" is done"))
	page, err := w.client.Notifications(t.Context(), client.NotificationQuery{})
	if err != nil {
		t.Fatal(err)
	}
	sent := 0
	for _, n := range page.Notifications {
		if n.ID == m.ID {
			sent++
		}
	}
	if sent != 1 {
		t.Errorf("the message is listed %d times: %+v", sent, page)
	}
}

// Many questions at the same time give a handful of messages that count each of them
// once.
func TestNotificationsOfAFlood(t *testing.T) {
	t.Parallel()
	const tasks = 24
	r := newReceivers(t)
	w := newWorld(t, files{".coppice/scripted.yaml": asksOne})
	w.configure(fmt.Sprintf("notify:\n  pause: 15s\n  notifiers:\n    pager: {kind: webhook, url: %q, token: HOOK}\n", r.hook.URL))
	w.serve()
	var keys []string
	for i := range tasks {
		keys = append(keys, w.new(fmt.Sprintf("Ask me %d", i)))
	}
	count, messages := 0, 0
	seen := map[string]bool{}
	for count < tasks {
		m := r.next("hook", func(received) bool { return true })
		if seen[m.ID] {
			t.Fatalf("the message %s arrives twice", m.ID)
		}
		seen[m.ID] = true
		count, messages = count+m.Count, messages+1
		if m.Count > 1 && (m.Answer != "" || !strings.Contains(m.Title, "questions") || len(m.Text) > 4000) {
			t.Errorf("a message about %d questions: %+v", m.Count, m.PayloadData)
		}
	}
	if count != tasks || messages > 8 {
		t.Errorf("%d messages about %d of %d questions", messages, count, tasks)
	}
	t.Logf("%d messages about %d questions", messages, count)
	w.cli(append([]string{"stop"}, slices.Compact(keys)...)...)
}
