package forge_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"coppice/forge"
)

// tagged is a server with validators. It counts whole answers.
type tagged struct {
	header string // that has the validator
	size   int
	whole  int
	body   string // that changes
	extra  []string
}

func (s *tagged) RoundTrip(req *http.Request) (*http.Response, error) {
	body := req.URL.RequestURI() + s.body + strings.Repeat(".", s.size)
	tag := fmt.Sprintf("%q", s.body+req.URL.RequestURI())
	condition := map[string]string{"ETag": "If-None-Match", "Last-Modified": "If-Modified-Since"}[s.header]
	if condition != "" && req.Header.Get(condition) == tag {
		return answer(http.StatusNotModified, "", s.header, tag, "X-RateLimit-Remaining", "59"), nil
	}
	s.whole++
	header := append([]string{"X-RateLimit-Remaining", "60", "Content-Type", "text/plain"}, s.extra...)
	if s.header != "" {
		header = append(header, s.header, tag)
	}
	return answer(http.StatusOK, body, header...), nil
}

// ask sends a request and returns whether the server sent its whole answer.
func (s *tagged) ask(t *testing.T, via http.RoundTripper, path, token string) bool {
	t.Helper()
	before := s.whole
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://git.example.org"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", token)
	resp, err := via.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body := make([]byte, 100)
	n, _ := resp.Body.Read(body)
	if resp.StatusCode != http.StatusOK || !strings.HasPrefix(string(body[:n]), path+s.body) || resp.Header.Get("Content-Type") != "text/plain" {
		t.Errorf("%s: %d %q %v", path, resp.StatusCode, body[:n], resp.Header)
	}
	if fresh := map[bool]string{true: "60", false: "59"}[s.whole > before]; resp.Header.Get("X-RateLimit-Remaining") != fresh {
		t.Errorf("%s: the limit is %s, want the newest: %s", path, resp.Header.Get("X-RateLimit-Remaining"), fresh)
	}
	return s.whole > before
}

func TestConditional(t *testing.T) {
	t.Parallel()
	for _, header := range []string{"ETag", "Last-Modified"} {
		s := &tagged{header: header}
		c := forge.Conditional(s)
		if !s.ask(t, c, "/a", "one") || s.ask(t, c, "/a", "one") || s.ask(t, c, "/a", "one") {
			t.Errorf("%s: an answer that has not changed was sent again", header)
		}
		if !s.ask(t, c, "/b", "one") || !s.ask(t, c, "/a", "two") || !s.ask(t, c, "/a?page=2", "one") {
			t.Errorf("%s: an answer was used for another token or address", header)
		}
		s.body = "new"
		if !s.ask(t, c, "/a", "one") || s.ask(t, c, "/a", "one") {
			t.Errorf("%s: an answer that has changed was not read one time", header)
		}
	}
	for name, s := range map[string]*tagged{
		"no validator": {}, "no-store": {header: "ETag", extra: []string{"Cache-Control", "private, no-store"}}, "a large answer": {header: "ETag", size: 2 << 20},
	} {
		c := forge.Conditional(s)
		for range 2 {
			if !s.ask(t, c, "/a", "one") {
				t.Errorf("%s: the answer was stored", name)
			}
		}
	}
}

func TestConditionalForgetsTheOldest(t *testing.T) {
	t.Parallel()
	s := &tagged{header: "ETag", size: 1000 << 10}
	c := forge.Conditional(s)
	for i := range 20 {
		s.ask(t, c, fmt.Sprint("/", i), "one")
		if s.ask(t, c, "/0", "one") {
			t.Fatalf("an answer that is used all the time was forgotten after %d others", i)
		}
	}
	var kept []string
	for i := range 20 {
		before := s.whole
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprint("https://git.example.org/", i), nil)
		req.Header.Set("Authorization", "one")
		if i == 0 || i > 13 {
			resp, err := c.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if s.whole == before {
				kept = append(kept, fmt.Sprint(i))
			}
		}
	}
	if got := strings.Join(kept, " "); got != "0 14 15 16 17 18 19" {
		t.Errorf("the store of 8 MiB kept %s", got)
	}
	if !s.ask(t, c, "/1", "one") {
		t.Error("the oldest answer is still stored")
	}
}
