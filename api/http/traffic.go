package http

import (
	"net/http"
	"sync"
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

// count adds one. Methods nobody serves share a label, so that a caller cannot
// grow the map.
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

// recorder notes the status of a response. http.ResponseController reaches the
// connection through Unwrap.
type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// WriteHeader also closes the connection of a request that was not read to its
// end: what is left of it would be held open for nothing.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	if status == http.StatusRequestTimeout || status == http.StatusRequestEntityTooLarge {
		r.Header().Set("Connection", "close")
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	return r.ResponseWriter.Write(b)
}
