package forgetest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// transport is what is between Coppice and the forge in a test. It counts, and can
// answer itself.
type transport struct {
	next   http.RoundTripper
	answer func(*http.Request) *http.Response // nil, or what it answers instead of the forge
	tags   bool                               // add validators to answers, and answer 304

	mu     sync.Mutex
	writes []string // the requests that change something
	reads  []string // the addresses of whole answers to GET
	tokens map[string]bool
}

func newTransport() *transport {
	return &transport{next: http.DefaultTransport, tokens: map[string]bool{}}
}

func (c *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	c.mu.Lock()
	c.tokens[req.Header.Get("Authorization")] = true
	if req.Method != http.MethodGet && !asks(req) {
		c.writes = append(c.writes, req.Method+" "+req.URL.Path)
	}
	c.mu.Unlock()
	if c.answer != nil {
		if resp := c.answer(req); resp != nil {
			resp.Request = req
			return resp, nil
		}
	}
	// What the forge itself says about changes is hidden, so that all forges are alike.
	tag := req.Header.Get("If-None-Match")
	if c.tags {
		req = req.Clone(req.Context())
		req.Header.Del("If-None-Match")
		req.Header.Del("If-Modified-Since")
	}
	resp, err := c.next.RoundTrip(req)
	if err != nil || req.Method != http.MethodGet {
		return resp, err
	}
	if c.tags && resp.StatusCode == http.StatusOK {
		return c.tag(resp, tag)
	}
	c.count(req)
	return resp, nil
}

// asks reports whether a request is a query of GraphQL.
func asks(req *http.Request) bool {
	if !strings.HasSuffix(req.URL.Path, "/graphql") || req.GetBody == nil {
		return false
	}
	body, err := req.GetBody()
	if err != nil {
		return false
	}
	defer body.Close()
	text, err := io.ReadAll(body)
	return err == nil && bytes.Contains(text, []byte(`"query":"query`))
}

func (c *transport) count(req *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reads = append(c.reads, req.URL.RequestURI())
}

// tag gives an answer a validator, or answers that it has not changed.
func (c *transport) tag(resp *http.Response, known string) (*http.Response, error) {
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	sum := sha256.Sum256(body)
	etag := fmt.Sprintf("%q", fmt.Sprintf("%x", sum[:8]))
	resp.Header.Del("Last-Modified")
	resp.Header.Set("ETag", etag)
	if etag == known {
		return &http.Response{StatusCode: http.StatusNotModified, Header: http.Header{"Etag": {etag}}, Body: http.NoBody, Request: resp.Request}, nil
	}
	c.count(resp.Request)
	return resp, nil
}

// take returns what was counted, and counts from the start.
func (c *transport) take() (writes, reads []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	writes, reads = c.writes, c.reads
	c.writes, c.reads = nil, nil
	return writes, reads
}

// respond returns what answers all requests in the same way.
func respond(status int, header http.Header, body string) func(*http.Request) *http.Response {
	return func(*http.Request) *http.Response {
		h := header.Clone()
		if h == nil {
			h = http.Header{}
		}
		return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}
	}
}
