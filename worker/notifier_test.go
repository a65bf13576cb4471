package worker_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/internal/redact"
	"coppice/notify"
	"coppice/notify/post"
	"coppice/worker"
)

// A notification gets its secrets, its links, and no secret in its texts.
func TestNotifier(t *testing.T) {
	t.Parallel()
	var path, auth, body string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		path, auth, body = r.URL.Path, r.Header.Get("Authorization"), string(b)
		if strings.Contains(body, "refuse") {
			w.WriteHeader(http.StatusForbidden)
			io.WriteString(w, "not with a-token-for-tests, at "+path)
		}
	}))
	defer s.Close()
	hidden := redact.New()
	secrets := map[string]string{"TOKEN": "a-token-for-tests\n", "TOPIC": "a-secret-topic", "HOST": strings.TrimPrefix(s.URL, "http://")}
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	n := &worker.Notifiers{
		Kinds: post.Senders(post.Config{Client: notify.NewClient(nil, time.Now)}), Mask: hidden.String, Now: func() time.Time { return at },
		Address: func() string { return "http://127.0.0.1:4040" },
		Secret: func(_ context.Context, name string) (string, error) {
			v, ok := secrets[name]
			if !ok {
				return "", coppice.Errorf(coppice.ENotFound, "the secret %s is not set", name).WithFix("run: coppice secret set %s", name)
			}
			hidden.Add(strings.TrimSpace(v))
			return v, nil
		},
		Answer: func(_ context.Context, question int64, until time.Time) (string, error) {
			if question != 7 || !until.Equal(at.Add(time.Hour)) {
				t.Errorf("question %d until %s", question, until)
			}
			return "/answer/x", nil
		},
	}
	spec := coppice.NotifySpec{
		Key: "n-1", Name: "phone", Notifier: coppice.Notifier{Kind: "ntfy", URL: "http://${secret:HOST}", To: []string{"${secret:TOPIC}"}, Token: "TOKEN"},
		Title: "app-4 has a-token-for-tests", Text: "it says a-token-for-tests", Path: "/tasks/app-4", Question: 7, At: at, Count: 1,
	}
	if _, err := n.Send(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	if auth != "Bearer a-token-for-tests" || path != "/" || strings.Contains(body, "a-token-for-tests") || !strings.Contains(body, `"topic":"a-secret-topic"`) ||
		!strings.Contains(body, `"click":"http://127.0.0.1:4040/tasks/app-4"`) || !strings.Contains(body, `"url":"http://127.0.0.1:4040/answer/x"`) {
		t.Errorf("%s %s %s", auth, path, body)
	}
	spec.Key, spec.Address = "n-2", "https://coppice.example.org/"
	if _, err := n.Send(t.Context(), spec); err != nil || !strings.Contains(body, `"click":"https://coppice.example.org/tasks/app-4"`) {
		t.Errorf("%v: %s", err, body)
	}

	for what, c := range map[string]struct {
		change func(*coppice.NotifySpec)
		class  coppice.Class
		text   string
	}{
		"a missing secret": {func(s *coppice.NotifySpec) { s.Notifier.Token = "GONE" }, coppice.ClassAuth, "the secret GONE is not set"},
		"a bad receiver":   {func(s *coppice.NotifySpec) { s.Notifier.To = []string{"a/b"} }, coppice.ClassCapability, "to: "},
		"a kind":           {func(s *coppice.NotifySpec) { s.Notifier.Kind = "pager" }, coppice.ClassCapability, "not a kind"},
		"a refusal":        {func(s *coppice.NotifySpec) { s.Text = "refuse" }, coppice.ClassAuth, "403"},
	} {
		changed := spec
		changed.Key = what
		c.change(&changed)
		var f *coppice.Failure
		if _, err := n.Send(t.Context(), changed); !errors.As(err, &f) || f.Class != c.class || !strings.Contains(f.Text, c.text) || f.Fix == "" || strings.Contains(err.Error(), "for-tests") {
			t.Errorf("%s: %v", what, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	spec.Key = "n-3"
	if _, err := n.Send(ctx, spec); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// A receiver that does not answer has the time of the notifier.
func TestNotifierTimeout(t *testing.T) {
	t.Parallel()
	end := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-end }))
	defer s.Close()
	defer close(end)
	n := &worker.Notifiers{
		Kinds: post.Senders(post.Config{Client: notify.NewClient(nil, time.Now)}), Mask: func(s string) string { return s }, Now: time.Now, Address: func() string { return "" },
	}
	var f *coppice.Failure
	_, err := n.Send(t.Context(), coppice.NotifySpec{Key: "n-1", Name: "ntfy", Notifier: coppice.Notifier{URL: s.URL, To: []string{"x"}, Timeout: coppice.Duration(50 * time.Millisecond)}, Title: "t"})
	if !errors.As(err, &f) || f.Class != coppice.ClassEnvironment || !strings.Contains(f.Text, "within 50ms") {
		t.Errorf("%v", err)
	}
}
