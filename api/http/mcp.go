package http

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"coppice"
)

// maxToolMessage limits a message of an MCP client, in bytes.
const maxToolMessage = 4 << 20

// serveTools serves /mcp. A client reads what the server sends from a stream, which
// counts as one of the server's streams. The answer of a tool can be a stream, too: it
// can take longer than other responses, but each write has a limited time.
func (s *Server) serveTools(next http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxToolMessage))
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			err = coppice.Errorf(coppice.EInvalid, "the message is larger than %d bytes", maxToolMessage)
		}
		out := &paced{ResponseWriter: w, control: http.NewResponseController(w), timeout: s.cfg.WriteTimeout}
		if err == nil {
			err = out.control.SetReadDeadline(time.Time{}) // the client reads until it leaves
		}
		if err != nil {
			s.fail(w, r, err)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if r.Method != http.MethodGet {
			next.ServeHTTP(out, r)
			return
		}
		s.followAs(w, r, func(ctx context.Context) { next.ServeHTTP(out, r.WithContext(ctx)) })
	}
}

// paced gives each write its own deadline.
type paced struct {
	http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
}

func (p *paced) Unwrap() http.ResponseWriter { return p.ResponseWriter }

func (p *paced) Write(b []byte) (int, error) {
	if err := p.control.SetWriteDeadline(time.Now().Add(p.timeout)); err != nil {
		return 0, err
	}
	return p.ResponseWriter.Write(b)
}
