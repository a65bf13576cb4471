package http

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"coppice"
	"coppice/internal/clock"
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

// follow runs a stream until its reader leaves, the server stops or f ends. It
// refuses more followers than the server takes.
func (s *Server) follow(c huma.Context, f func(context.Context, *sse) error) {
	defer s.followers.Add(-1)
	if s.followers.Add(1) > int64(s.cfg.Followers) {
		r, w := humago.Unwrap(c)
		w.Header().Set("Retry-After", "10")
		s.fail(w, r, coppice.Errorf(coppice.EUnavailable, "%d streams are open, and the server takes no more", s.cfg.Followers).
			WithFix("close dashboards and `coppice logs -f` that nobody looks at"))
		return
	}
	ctx, cancel := s.stream(c.Context())
	defer cancel()
	out, err := s.newSSE(c)
	if err == nil {
		err = f(ctx, out)
	}
	s.ended(ctx, err)
}

// rest lets a follower pause after what it was sent, the longer the more there
// are: what happens meanwhile is then sent together, and all followers together
// leave most of the machine to the work that they look at.
func (s *Server) rest(ctx context.Context) error {
	const each, least = 100 * time.Microsecond, 5 * time.Millisecond
	pause := time.Duration(s.followers.Load()) * each
	if pause < least {
		return nil
	}
	return clock.Sleep(ctx, clock.Real(), pause)
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
	var b bytes.Buffer
	if err := encodeEvent(&b, id, name, data); err != nil {
		return err
	}
	return o.write(b.Bytes())
}

// note writes an event of a stream that has no places.
func (o *sse) note(data any) error {
	var b bytes.Buffer
	if err := encode(&b, "", data); err != nil {
		return err
	}
	return o.write(b.Bytes())
}

// encodeEvent writes an event as it is sent.
func encodeEvent(w io.Writer, id int64, name string, data any) error {
	if name != "" {
		name = "event: " + name + "\n"
	}
	return encode(w, fmt.Sprintf("id: %d\n%s", id, name), data)
}

// encode writes an event behind its head. JSON has no raw line breaks, so the
// data is always one line.
func encode(w io.Writer, head string, data any) error {
	b, err := json.Marshal(data)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%sdata: %s\n\n", head, b)
	return err
}

// write writes encoded events.
func (o *sse) write(text []byte) error {
	if err := o.deadline(); err != nil {
		return err
	}
	_, err := o.w.Write(text)
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
