package http_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	apihttp "coppice/api/http"
)

// A signed link is opened from a message: without a token, by another site, with a form.
// Everything else keeps its checks, and the log does not have the link.
func TestAnswerLinks(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	b := setup(t, func(c *apihttp.Config) {
		c.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		c.AnswerPath = "/answer/"
		c.Answers = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			w.Header().Set("Content-Security-Policy", "default-src 'none'; form-action 'self'")
			io.WriteString(w, r.Method+" "+r.URL.Path+" "+string(body))
		})
	})
	none := header("Authorization", "")
	for method, body := range map[string]string{"GET": "", "POST": "text=red"} {
		resp, text := call(t, b, method, "/answer/the-link", body, none, header("Sec-Fetch-Site", "cross-site"), header("Content-Type", "application/x-www-form-urlencoded"))
		if resp.StatusCode != http.StatusOK || text != method+" /answer/the-link "+body || resp.Header.Get("Content-Security-Policy") != "default-src 'none'; form-action 'self'" {
			t.Errorf("%s: %d: %s", method, resp.StatusCode, text)
		}
	}
	refuses(t, b, http.StatusForbidden, "GET", "/answer/the-link", "", none, header("Host", "evil.com"))
	refuses(t, b, http.StatusUnauthorized, "GET", "/answer", "", none)
	refuses(t, b, http.StatusUnauthorized, "GET", "/api/v1/tasks", "", none)
	b.Server.Stop()
	if strings.Contains(log.String(), "the-link") {
		t.Errorf("the log has the link: %s", log.String())
	}
}

// Without links, the path is like any other.
func TestNoAnswerLinks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	refuses(t, b, http.StatusUnauthorized, "GET", "/answer/the-link", "", header("Authorization", ""))
}
