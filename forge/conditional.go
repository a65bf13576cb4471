package forge

import (
	"bytes"
	"container/list"
	"crypto/sha256"
	"io"
	"net/http"
	"strings"
	"sync"
)

// The limits of the answers that Conditional stores.
const (
	maxStored = 8 << 20 // bytes of all answers
	maxEntry  = 1 << 20 // bytes of one answer
)

// Conditional returns a RoundTripper that stores answers to GET requests, and asks
// the forge only whether they have changed. Forges do not count an answer that has
// not. It shares no answer between two tokens.
func Conditional(next http.RoundTripper) http.RoundTripper {
	return &conditional{next: next, entries: map[entryKey]*list.Element{}, recent: list.New()}
}

type conditional struct {
	next http.RoundTripper

	mu      sync.Mutex
	entries map[entryKey]*list.Element
	recent  *list.List // of *entry, the last used one first
	bytes   int
}

// entryKey is a digest, so that the store has no token.
type entryKey [sha256.Size]byte

type entry struct {
	key    entryKey
	header http.Header
	body   []byte
	size   int
}

// keyHeaders are the headers of a request on which the answer depends.
var keyHeaders = []string{"Accept", "Authorization", "Private-Token", "Cookie", "Range", "Sudo"}

func keyOf(req *http.Request) entryKey {
	h := sha256.New()
	io.WriteString(h, req.URL.String())
	for _, name := range keyHeaders {
		io.WriteString(h, "\n"+name+": "+strings.Join(req.Header.Values(name), "\n\t"))
	}
	return entryKey(h.Sum(nil))
}

// RoundTrip implements http.RoundTripper.
func (c *conditional) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodGet || req.Header.Get("If-None-Match") != "" || req.Header.Get("If-Modified-Since") != "" {
		return c.next.RoundTrip(req)
	}
	key := keyOf(req)
	stored := c.get(key)
	if stored != nil {
		req = req.Clone(req.Context())
		for validator, condition := range conditions {
			if v := stored.header.Get(validator); v != "" {
				req.Header.Set(condition, v)
			}
		}
	}
	resp, err := c.next.RoundTrip(req)
	switch {
	case err != nil:
		return nil, err
	case resp.StatusCode == http.StatusNotModified && stored != nil:
		resp.Body.Close()
		return stored.response(resp), nil
	case resp.StatusCode == http.StatusOK && storable(resp):
		return c.store(key, resp)
	}
	return resp, nil
}

// conditions are the headers that repeat the validators of an answer.
var conditions = map[string]string{"ETag": "If-None-Match", "Last-Modified": "If-Modified-Since"}

func storable(resp *http.Response) bool {
	if strings.Contains(resp.Header.Get("Cache-Control"), "no-store") {
		return false
	}
	return resp.Header.Get("ETag") != "" || resp.Header.Get("Last-Modified") != ""
}

// response returns the stored answer with the newer headers of an answer 304.
func (e *entry) response(fresh *http.Response) *http.Response {
	header := e.header.Clone()
	for name, values := range fresh.Header {
		if name != "Content-Length" && name != "Content-Type" {
			header[name] = values
		}
	}
	fresh.Status, fresh.StatusCode, fresh.Header = "200 OK", http.StatusOK, header
	fresh.Body, fresh.ContentLength = io.NopCloser(bytes.NewReader(e.body)), int64(len(e.body))
	return fresh
}

func (c *conditional) get(key entryKey) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	element := c.entries[key]
	if element == nil {
		return nil
	}
	c.recent.MoveToFront(element)
	return element.Value.(*entry)
}

// store keeps an answer that is not too large. It returns the answer with a body
// that can be read again.
func (c *conditional) store(key entryKey, resp *http.Response) (*http.Response, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxEntry+1))
	if err != nil {
		resp.Body.Close()
		return nil, err
	}
	if len(body) > maxEntry {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(body), resp.Body), resp.Body}
		return resp, nil
	}
	resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(body))
	e := &entry{key: key, header: resp.Header.Clone(), body: body, size: len(body) + 256}
	for name, values := range e.header {
		e.size += len(name) + len(strings.Join(values, ""))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.entries[key]; old != nil {
		c.remove(old)
	}
	c.entries[key] = c.recent.PushFront(e)
	c.bytes += e.size
	for c.bytes > maxStored {
		c.remove(c.recent.Back())
	}
	return resp, nil
}

func (c *conditional) remove(element *list.Element) {
	e := c.recent.Remove(element).(*entry)
	delete(c.entries, e.key)
	c.bytes -= e.size
}
