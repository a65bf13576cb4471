package post

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"coppice"
	"coppice/notify"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var at = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// received is a server that notes the bytes of each request.
type received struct {
	*httptest.Server
	mu    sync.Mutex
	dumps []string
	last  []byte
}

func receive(t *testing.T, answer func(w http.ResponseWriter, r *http.Request)) *received {
	t.Helper()
	s := &received{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		var dump strings.Builder
		fmt.Fprintf(&dump, "%s %s %s\n", r.Method, r.RequestURI, r.Proto)
		for _, name := range slices.Sorted(maps.Keys(r.Header)) {
			fmt.Fprintf(&dump, "%s: %s\n", name, strings.Join(r.Header[name], ", "))
		}
		var pretty bytes.Buffer
		if json.Indent(&pretty, body, "", "  ") != nil {
			pretty.Write(body)
		}
		fmt.Fprintf(&dump, "\n%s\n", &pretty)
		s.mu.Lock()
		s.dumps, s.last = append(s.dumps, dump.String()), body
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *received) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.dumps, "\n")
}

func (s *received) body() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

// hostile has what an agent could write into a title or a message.
var hostile = notify.Message{
	ID: "n-7-slack", Priority: coppice.PriorityUrgent,
	Title: "app-4 asks\n@everyone <!channel> *bold* [x](http://evil.test)",
	Text:  "Which one?\n<@U123> @here <http://evil.test|docs> [docs](http://evil.test) `a` \\ & \"q\" @ada_l \x1b[31mred\x1b[0m\u202e\x00\n1. yes  2. no",
	Link:  "https://coppice.test/tasks/app-4?a=1&b=2", Answer: "https://coppice.test/answer/abc.def", Project: "app", Count: 2, At: at,
}

func newSenders(s *received) map[string]notify.Sender {
	return Senders(Config{Client: notify.NewClient(nil, func() time.Time { return at.Add(time.Minute) }), Slack: s.URL})
}

func targets(s *received) map[string]notify.Target {
	return map[string]notify.Target{
		"slack":     {Name: "team", Notifier: coppice.Notifier{Kind: "slack", URL: s.URL + "/services/T0/B0/secretpath"}},
		"slack-bot": {Name: "team", Notifier: coppice.Notifier{Kind: "slack", To: []string{"#builds", "C0123456789"}}, Token: "xoxb-a-token-for-tests"},
		"discord":   {Name: "team", Notifier: coppice.Notifier{Kind: "discord", URL: s.URL + "/api/webhooks/1/secretpath?thread_id=9"}},
		"telegram":  {Name: "phone", Notifier: coppice.Notifier{Kind: "telegram", URL: s.URL, To: []string{"-1001234567890"}}, Token: "123:a-token-for-tests"},
		"teams":     {Name: "team", Notifier: coppice.Notifier{Kind: "teams", URL: s.URL + "/workflows/secretpath?sig=secretquery"}},
		"ntfy":      {Name: "phone", Notifier: coppice.Notifier{Kind: "ntfy", URL: s.URL, To: []string{"my-topic"}}, Token: "tk_a-token-for-tests"},
		"ntfy-user": {Name: "phone", Notifier: coppice.Notifier{Kind: "ntfy", URL: s.URL, To: []string{"my-topic"}, User: "ada"}, Token: "a-password-for-tests"},
		"webhook":   {Name: "post", Notifier: coppice.Notifier{Kind: "webhook", URL: s.URL + "/in"}, Token: "whsec_" + base64.StdEncoding.EncodeToString([]byte("a-secret-for-tests"))},
	}
}

// Each kind sends exactly these bytes.
func TestBytes(t *testing.T) {
	t.Parallel()
	names := slices.Sorted(maps.Keys(targets(&received{Server: &httptest.Server{}})))
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := receive(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"ok":true}`) })
			to, sender := targets(s)[name], newSenders(s)
			if err := sender[to.Kind].Check(to); err != nil {
				t.Fatal(err)
			}
			small := notify.Message{ID: "n-8", Priority: coppice.PriorityInfo, Title: "app is done", Count: 1, At: at, Test: true}
			for _, m := range []notify.Message{hostile, small} {
				if err := sender[to.Kind].Send(t.Context(), to, m); err != nil {
					t.Fatal(err)
				}
			}
			got := strings.ReplaceAll(s.all(), s.URL, "http://HOST")
			file := filepath.Join("testdata", name+".http")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil || got != string(want) {
				t.Errorf("%v; got\n%s", err, got)
			}
		})
	}
}

// People recognize a message that is sent again, or the service does, as NotifyKinds says.
func TestRepeats(t *testing.T) {
	t.Parallel()
	m := notify.Message{ID: "20260301T120000-7-2", Title: "title", Text: "text", Count: 1, At: at}
	found := 0
	for _, k := range coppice.NotifyKinds {
		if services[k.Name].request == nil {
			continue
		}
		found++
		s := receive(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"ok":true}`) })
		if err := newSenders(s)[k.Name].Send(t.Context(), targets(s)[k.Name], m); err != nil {
			t.Fatal(err)
		}
		switch got := s.all(); k.Repeats {
		case coppice.RepeatsByText:
			if n := strings.Count(got, "7-2"); n != 1 || !strings.Contains(got, " · ") {
				t.Errorf("%s has the mark %d times: %s", k.Name, n, got)
			}
		case coppice.RepeatsByID:
			if !strings.Contains(got, m.ID) || strings.Contains(got, m.Mark()) {
				t.Errorf("%s: %s", k.Name, got)
			}
		default:
			t.Errorf("%s: %q", k.Name, k.Repeats)
		}
	}
	if found != len(services) {
		t.Errorf("%d of %d services are kinds", found, len(services))
	}
}

// The largest texts fit into what each service accepts, with their links.
func TestLimits(t *testing.T) {
	t.Parallel()
	for name, most := range map[string]int{"slack": 40_000, "slack-bot": 40_000, "discord": 25_000, "telegram": 16_000, "teams": 28 << 10, "ntfy": 12_000, "webhook": 64 << 10} {
		s := receive(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"ok":true}`) })
		to, m := targets(s)[name], hostile
		m.Title, m.Text = strings.Repeat("😀@", 5000), strings.Repeat("é<😀[", 50_000)
		if err := newSenders(s)[to.Kind].Send(t.Context(), to, m); err != nil {
			t.Error(err)
		}
		body := s.body()
		if len(body) > most || !utf8.Valid(body) || !bytes.Contains(body, []byte("…")) || !bytes.Contains(body, []byte("/answer/abc.def")) {
			t.Errorf("%s: %d bytes, at most %d: %.300s", name, len(body), most, body)
		}
		for _, c := range []struct {
			name, key string
			most      int
		}{{"telegram", "text", 4096}, {"slack", "text", 3000}} {
			var fields map[string]any
			if err := json.Unmarshal(body, &fields); err != nil {
				t.Fatal(err)
			}
			if text, _ := fields[c.key].(string); c.name == name && (len([]rune(text)) > c.most || text == "") {
				t.Errorf("%s: %s has %d characters", name, c.key, len([]rune(text)))
			}
		}
	}
}

// Every failure of a service has a class, and no secret.
func TestFailures(t *testing.T) {
	t.Parallel()
	now := at.Add(time.Minute)
	for what, c := range map[string]struct {
		kind   string
		status int
		header http.Header
		body   string
		class  coppice.Class
		wait   time.Duration
		text   string
	}{
		"a refused token":       {"ntfy", 401, nil, `{"code":40101,"http":401,"error":"unauthorized tk_a-token-for-tests"}`, coppice.ClassAuth, 0, "401: unauthorized …"},
		"a forbidden topic":     {"ntfy", 403, nil, `{"error":"forbidden"}`, coppice.ClassAuth, 0, "forbidden"},
		"too many":              {"ntfy", 429, nil, `{"error":"limit reached"}`, coppice.ClassRateLimit, time.Minute, "limits the number of messages: limit reached"},
		"too many, with a time": {"discord", 429, http.Header{"Retry-After": {"0.3"}}, `{"message":"You are being rate limited."}`, coppice.ClassRateLimit, time.Second, "being rate limited"},
		"until a date":          {"webhook", 503, http.Header{"Retry-After": {now.Add(90 * time.Second).Format(http.TimeFormat)}}, "", coppice.ClassRateLimit, 90 * time.Second, "service unavailable"},
		"for a year":            {"webhook", 429, http.Header{"Retry-After": {"31536000"}}, "", coppice.ClassRateLimit, 24 * time.Hour, ""},
		"in the past":           {"webhook", 429, http.Header{"Retry-After": {"-5"}}, "", coppice.ClassRateLimit, time.Second, ""},
		"Telegram's wait":       {"telegram", 429, nil, `{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 7","parameters":{"retry_after":7}}`, coppice.ClassRateLimit, 7 * time.Second, "Too Many Requests"},
		"Telegram's token":      {"telegram", 401, nil, `{"ok":false,"error_code":401,"description":"Unauthorized bot123:a-token-for-tests"}`, coppice.ClassAuth, 0, "Unauthorized"},
		"Telegram's chat":       {"telegram", 400, nil, `{"ok":false,"description":"Bad Request: chat not found"}`, coppice.ClassCapability, 0, "chat not found"},
		"Slack's token":         {"slack-bot", 200, nil, `{"ok":false,"error":"invalid_auth"}`, coppice.ClassAuth, 0, "invalid_auth"},
		"Slack's channel":       {"slack-bot", 200, nil, `{"ok":false,"error":"channel_not_found"}`, coppice.ClassCapability, 0, "channel_not_found"},
		"Slack's limit":         {"slack-bot", 200, http.Header{"Retry-After": {"3"}}, `{"ok":false,"error":"ratelimited"}`, coppice.ClassRateLimit, 3 * time.Second, "ratelimited"},
		"Slack's problem":       {"slack-bot", 200, nil, `{"ok":false,"error":"internal_error"}`, coppice.ClassEnvironment, 0, "internal_error"},
		"Slack's webhook":       {"slack", 403, nil, "action_prohibited", coppice.ClassAuth, 0, "action_prohibited"},
		"a removed webhook":     {"slack", 404, nil, "no_service for /services/T0/B0/secretpath", coppice.ClassCapability, 0, "no_service for …"},
		"a broken service":      {"teams", 502, nil, "<html>secretpath</html>", coppice.ClassEnvironment, 0, "502: bad gateway"},
		"a service that echoes": {"teams", 400, nil, "bad request /workflows/secretpath?sig=secretquery", coppice.ClassCapability, 0, "bad request"},
		"a redirect":            {"webhook", 307, http.Header{"Location": {"http://127.0.0.1:1/"}}, "", coppice.ClassCapability, 0, "redirect (307)"},
		"a huge answer":         {"webhook", 500, nil, strings.Repeat("x", 1<<20), coppice.ClassEnvironment, 0, "500: xxx"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := receive(t, func(w http.ResponseWriter, _ *http.Request) {
				maps.Copy(w.Header(), c.header)
				w.WriteHeader(c.status)
				io.WriteString(w, c.body)
			})
			to := targets(s)[c.kind]
			err := newSenders(s)[to.Kind].Send(t.Context(), to, hostile)
			var f *coppice.Failure
			if !errors.As(err, &f) {
				t.Fatalf("%v", err)
			}
			if f.Class != c.class || !strings.Contains(f.Text, c.text) || f.Class != coppice.ClassRateLimit && f.Fix == "" {
				t.Errorf("%+v", f)
			}
			if want := now.Add(c.wait); c.wait > 0 && !f.RetryAt.Equal(want) || c.wait == 0 && !f.RetryAt.IsZero() {
				t.Errorf("it is sent again at %s, want %s", f.RetryAt, want)
			}
			for _, secret := range []string{"secretpath", "secretquery", "for-tests"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("the error has the secret %s: %v", secret, err)
				}
			}
		})
	}
}

// A host that does not answer is not an error of the person's, and the address stays
// secret.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	s := receive(t, func(http.ResponseWriter, *http.Request) {})
	all, senders := targets(s), newSenders(s)
	s.Close()
	for name, to := range all {
		err := senders[to.Kind].Send(t.Context(), to, hostile)
		var f *coppice.Failure
		if !errors.As(err, &f) || f.Class != coppice.ClassEnvironment || strings.Contains(err.Error(), "secretpath") || strings.Contains(err.Error(), "for-tests") {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("stopped"))
	if err := senders["webhook"].Send(ctx, all["webhook"], hostile); err == nil || err.Error() != "stopped" {
		t.Errorf("%v", err)
	}
}

// A repetition is only for the receivers that do not have the message.
func TestRepetition(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	got := map[string]int{}
	s := receive(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		n := len(got)
		got[fmt.Sprint(n)] = n
		if n == 1 {
			w.WriteHeader(500)
		}
		io.WriteString(w, `{"ok":true}`)
	})
	to := targets(s)["slack-bot"]
	sender := newSenders(s)["slack"]
	if err := sender.Send(t.Context(), to, hostile); err == nil {
		t.Fatal("no failure")
	}
	if err := sender.Send(t.Context(), to, hostile); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(s.all(), `"channel": "#builds"`); n != 1 {
		t.Errorf("the first channel has it %d times", n)
	}
	if n := strings.Count(s.all(), `"channel": "C0123456789"`); n != 2 {
		t.Errorf("it was sent to the second channel %d times", n)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		target notify.Target
		field  string
	}{
		"a topic with a slash":  {notify.Target{Notifier: coppice.Notifier{Kind: "ntfy", To: []string{"a/b"}}}, "to"},
		"a chat's name":         {notify.Target{Notifier: coppice.Notifier{Kind: "telegram", To: []string{"my chat"}}}, "to"},
		"a channel":             {notify.Target{Notifier: coppice.Notifier{Kind: "slack", To: []string{"a b"}}}, "to"},
		"a secret without TLS":  {notify.Target{Notifier: coppice.Notifier{Kind: "slack", URL: "http://hooks.test/a"}}, "url"},
		"another scheme":        {notify.Target{Notifier: coppice.Notifier{Kind: "discord", URL: "file:///etc/passwd"}}, "url"},
		"a password":            {notify.Target{Notifier: coppice.Notifier{Kind: "webhook", URL: "https://a:b@x.test/"}}, "url"},
		"a token in two lines":  {notify.Target{Notifier: coppice.Notifier{Kind: "telegram", To: []string{"1"}}, Token: "a\nb"}, "token"},
		"an address that is ok": {notify.Target{Notifier: coppice.Notifier{Kind: "teams", URL: "https://x.test/a?b=c"}}, ""},
	} {
		err := newSenders(&received{Server: &httptest.Server{}})[c.target.Kind].Check(c.target)
		if c.field == "" && err != nil || c.field != "" && coppice.Public(err).Field != c.field {
			t.Errorf("%s: %v", what, err)
		}
	}
}
