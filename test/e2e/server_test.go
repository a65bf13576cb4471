//go:build linux

package e2e

import (
	"strings"
	"testing"

	"coppice/test/harness"
)

// server is a running `coppice serve`.
type server struct{ *harness.Server }

// serve starts the server and returns once it serves.
func (w *world) serve(flags ...string) *server {
	w.t.Helper()
	return &server{w.Serve(flags...)}
}

func decode[T any](t *testing.T, text string) T { t.Helper(); return harness.Decode[T](t, text) }

// objects decodes JSON with one value per line.
func objects[T any](t *testing.T, text string) []T {
	t.Helper()
	var all []T
	for line := range strings.Lines(text) {
		all = append(all, decode[T](t, line))
	}
	return all
}
