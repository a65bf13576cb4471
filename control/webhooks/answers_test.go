package webhooks

import (
	"io"
	"net/http"
	"testing"
)

// The listener also serves signed links, and only below their path.
func TestAnswers(t *testing.T) {
	t.Parallel()
	b := setup(t, "github", func(c *Config) {
		c.AnswerPath = "/answer/"
		c.Answers = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "page of "+r.URL.Path) })
	})
	for path, want := range map[string]int{"/answer/a.b.c": http.StatusOK, "/answer": http.StatusNotFound, "/": http.StatusNotFound, "/api/v1/status": http.StatusNotFound} {
		resp, err := http.Get("http://" + b.s.Addr().String() + path)
		b.must(err)
		text, err := io.ReadAll(resp.Body)
		b.must(err)
		resp.Body.Close()
		if resp.StatusCode != want || want == http.StatusOK && string(text) != "page of "+path {
			t.Errorf("%s: %d: %s", path, resp.StatusCode, text)
		}
	}
}
