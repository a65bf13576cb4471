package http

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// traffic counts requests by method and status.
type traffic struct {
	mu     sync.Mutex
	counts map[trafficKey]int64
}

type trafficKey struct {
	method string
	status int
}

func newTraffic() *traffic { return &traffic{counts: map[trafficKey]int64{}} }

// count adds one. Unknown methods share a label, so that a caller cannot grow
// the map.
func (t *traffic) count(method string, status int) {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPatch:
	default:
		method = "other"
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts[trafficKey{method, status}]++
}

func (t *traffic) snapshot() map[trafficKey]int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make(map[trafficKey]int64, len(t.counts))
	for k, n := range t.counts {
		out[k] = n
	}
	return out
}

// linger is how long a connection that will be closed still reads incoming
// data: closing it immediately could lose the answer.
const linger = 500 * time.Millisecond

// recorder records the status of a response. http.ResponseController reaches
// the connection through Unwrap.
type recorder struct {
	http.ResponseWriter
	status int
	body   *requestBody
}

func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// WriteHeader closes the connection of a refused request whose body was not
// read to its end. net/http would otherwise wait for the rest of the body: up
// to 256 KiB before it sends the answer, and as much again after it.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
		if status >= http.StatusBadRequest && !r.body.ended {
			r.Header().Set("Connection", "close")
			_ = http.NewResponseController(r.ResponseWriter).SetReadDeadline(time.Now().Add(linger)) // on an error the connection is already broken
		}
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	return r.ResponseWriter.Write(b)
}

// requestBody records whether a body was read to its end.
type requestBody struct {
	io.ReadCloser
	ended bool
}

func (b *requestBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.ended = b.ended || errors.Is(err, io.EOF)
	return n, err
}
