package child

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"coppice"
	"coppice/notify"
)

// The test's program is the child, too.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Command {
		os.Exit(Main(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

var message = notify.Message{
	ID: "n-1", Priority: coppice.PriorityUrgent, Title: "app-4 asks <b>@everyone</b>", Text: "Which <i>colour</i> & [which](http://evil.test)?",
	Link: "http://127.0.0.1:4040/tasks/app-4", Count: 1, At: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
}

func senders(env ...string) map[string]notify.Sender {
	return Senders(os.Args[0], append([]string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent"}, env...))
}

func shoutrrr(address string) notify.Target {
	return notify.Target{Name: "more", Notifier: coppice.Notifier{Kind: "shoutrrr", URL: address}}
}

// Two services of shoutrrr get the message by the child.
func TestShoutrrr(t *testing.T) {
	t.Parallel()
	var got atomic.Value
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got.Store(r.Method + " " + r.URL.Path + " " + string(body))
		io.WriteString(w, `{"id":1}`)
	}))
	defer s.Close()
	host := strings.TrimPrefix(s.URL, "http://")
	text := "app-4 asks <\u2060b>@\u2060everyone<\u2060/b>\n\nWhich <\u2060i>colour<\u2060/i> & [\u2060which]\u2060(http://evil.test)?\n\nOpen: http://127.0.0.1:4040/tasks/app-4 · #1"
	for address, want := range map[string]string{
		"generic://" + host + "/in?disabletls=yes":             "POST /in " + text,
		"generic+http://" + host + "/in":                       "POST /in " + text,
		"gotify://" + host + "/AnAppToken.1234?disabletls=yes": "POST /message",
	} {
		to := shoutrrr(address)
		if err := errors.Join(senders()["shoutrrr"].Check(to), senders()["shoutrrr"].Send(t.Context(), to, message)); err != nil {
			t.Errorf("%s: %v", address, err)
		}
		if g, _ := got.Load().(string); !strings.HasPrefix(g, want) {
			t.Errorf("%s: %q", address, g)
		}
	}
}

func TestShoutrrrFailures(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	defer elsewhere.Close()
	for what, c := range map[string]struct {
		status int
		class  coppice.Class
	}{"login": {401, coppice.ClassAuth}, "limit": {429, coppice.ClassRateLimit}, "broken": {500, coppice.ClassEnvironment}, "wrong": {404, coppice.ClassCapability}, "redirect": {307, coppice.ClassCapability}} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", elsewhere.URL)
			w.Header().Set("Retry-After", "30")
			w.WriteHeader(c.status)
		}))
		err := senders()["shoutrrr"].Send(t.Context(), shoutrrr("generic://"+strings.TrimPrefix(s.URL, "http://")+"/secretpath?disabletls=yes"), message)
		s.Close()
		var f *coppice.Failure
		if !errors.As(err, &f) || f.Class != c.class || strings.Contains(err.Error(), "secretpath") || (c.class == coppice.ClassRateLimit) == f.RetryAt.IsZero() {
			t.Errorf("%s: %v", what, err)
		}
	}
	for address, class := range map[string]coppice.Class{
		"nosuch://a-secret-token@host":                        coppice.ClassCapability,
		"slack://a-secret-token":                              coppice.ClassCapability,
		"gotify://a-secret-token":                             coppice.ClassEnvironment,
		"generic://127.0.0.1:1/a-secret-token?disabletls=yes": coppice.ClassEnvironment,
	} {
		var f *coppice.Failure
		err := senders()["shoutrrr"].Send(t.Context(), shoutrrr(address), message)
		if !errors.As(err, &f) || f.Class != class || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", address, err)
		}
	}
	for address, fix := range map[string]string{"logger://": "services", "slack://hook:a-b-c@webhook": "kind: slack", "smtp://h": "kind: mail", "nothing": "service://", "TEAMS+https://h": "kind: teams"} {
		if err := senders()["shoutrrr"].Check(shoutrrr(address)); coppice.Public(err).Field != "url" || !strings.Contains(coppice.Public(err).Fix, fix) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// A machine without a desktop says so, and starts nothing.
func TestNoDesktop(t *testing.T) {
	t.Parallel()
	var f *coppice.Failure
	err := senders("DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent/bus", "PATH=/nonexistent")["desktop"].Send(t.Context(), notify.Target{Name: "desktop"}, message)
	if !errors.As(err, &f) || f.Class != coppice.ClassCapability || !strings.Contains(f.Fix, "dunst") {
		t.Errorf("%v", err)
	}
}

// A child that breaks is a failure.
func TestBrokenChild(t *testing.T) {
	t.Parallel()
	for _, argv := range [][]string{{"/bin/false"}, {"/nonexistent/coppice"}, {"/bin/sh", "-c", "echo '{}'"}} {
		var f *coppice.Failure
		if err := (Sender{"desktop", argv, nil}).Send(t.Context(), notify.Target{}, message); !errors.As(err, &f) || f.Class != coppice.ClassEnvironment {
			t.Errorf("%v: %v", argv, err)
		}
	}
	for _, text := range []string{"", "{", `{"kind":"pager"}`} {
		if Main(strings.NewReader(text), io.Discard) == 0 {
			t.Errorf("%q", text)
		}
	}
	if hide("see gotify://h.test/A1b2C3d4?title=x", "gotify://h.test/A1b2C3d4?title=x") != "see …" {
		t.Error("an address is not hidden")
	}
	if _, err := json.Marshal(reply{}); err != nil {
		t.Error(err)
	}
}
