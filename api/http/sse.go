package http

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"coppice"
)

// batch is how many events or pieces of output a stream or page reads at once.
const batch = 256

// sse writes server-sent events. Each write has a deadline of its own, so a
// reader that stops reading loses its stream instead of holding it.
type sse struct {
	w       http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
}

// newSSE begins a stream. The server's limits on the length of a request and
// of a response would end it, so they are lifted.
func (s *Server) newSSE(c huma.Context) (*sse, error) {
	_, w := humago.Unwrap(c)
	out := &sse{w: w, control: http.NewResponseController(w), timeout: s.cfg.WriteTimeout}
	if err := out.control.SetReadDeadline(time.Time{}); err != nil {
		return nil, err
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	return out, out.control.Flush()
}

func (o *sse) deadline() error { return o.control.SetWriteDeadline(time.Now().Add(o.timeout)) }

// event writes one event; an empty name means the default one.
func (o *sse) event(id int64, name string, data any) error {
	if name != "" {
		name = "event: " + name + "\n"
	}
	return o.write(fmt.Sprintf("id: %d\n%s", id, name), data)
}

// note writes an event of a stream that has no places.
func (o *sse) note(data any) error { return o.write("", data) }

// write writes an event. JSON has no raw line breaks, so the data is always one
// line.
func (o *sse) write(head string, data any) error {
	b, err := json.Marshal(data)
	if err != nil {
		return err
	}
	if err := o.deadline(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.w, "%sdata: %s\n\n", head, b)
	return err
}

// alive shows that the stream lives and, by an id without data, how far the
// reader has come even when nothing was for it.
func (o *sse) alive(id int64) error { return o.sign(fmt.Sprintf("id: %d\n", id)) }

// beat shows that a stream lives that has no places.
func (o *sse) beat() error { return o.sign("") }

func (o *sse) sign(place string) error {
	if err := o.deadline(); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(o.w, ": alive\n%s\n", place); err != nil {
		return err
	}
	return o.control.Flush()
}

func (o *sse) flush() error { return o.control.Flush() }

// waitOr waits for f, at most a heartbeat long. It tells whether f came back by
// itself.
func (s *Server) waitOr(ctx context.Context, f func(context.Context) error) (bool, error) {
	wait, cancel := context.WithTimeout(ctx, s.cfg.Heartbeat)
	defer cancel()
	err := f(wait)
	switch {
	case err == nil:
		return true, nil
	case ctx.Err() != nil:
		return false, ctx.Err()
	case errors.Is(wait.Err(), context.DeadlineExceeded):
		return false, nil
	}
	return false, err
}

// place reads where a stream resumes: after the last id the reader saw, else
// after what it asks for, else at a default.
func place(lastID, after string, def int64) (int64, error) {
	for _, c := range []struct{ name, text string }{{"Last-Event-ID", lastID}, {"after", after}} {
		if c.text == "" {
			continue
		}
		n, err := strconv.ParseInt(c.text, 10, 64)
		if err != nil || n < -1 {
			return 0, coppice.Errorf(coppice.EInvalid, "%s is no place in a stream", coppice.Quote(c.text)).
				WithFix("pass the id of the last thing you saw").WithField(c.name)
		}
		return n, nil
	}
	return def, nil
}

// ended logs why a stream broke off, unless its reader left or the server stops.
func (s *Server) ended(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		s.log.Warn("a stream broke off", "err", err)
	}
}
