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

// batch is how many events or pieces of output a stream or page reads at a
// time.
const batch = 256

// sse writes server-sent events. Each write has its own deadline, so that a
// reader that stops reading loses its stream.
type sse struct {
	w       http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
}

// follow runs a stream until its reader leaves, the server stops or f returns.
// It refuses more followers than the server's limit.
func (s *Server) follow(c huma.Context, f func(context.Context, *sse) error) {
	r, w := humago.Unwrap(c)
	s.followAs(w, r, func(ctx context.Context) {
		out, err := s.newSSE(c)
		if err == nil {
			err = f(ctx, out)
		}
		s.ended(ctx, err)
	})
}

// followAs is follow for a stream that f writes itself.
func (s *Server) followAs(w http.ResponseWriter, r *http.Request, f func(context.Context)) {
	defer s.followers.Add(-1)
	if s.followers.Add(1) > int64(s.cfg.Followers) {
		w.Header().Set("Retry-After", "10")
		s.fail(w, r, coppice.Errorf(coppice.EUnavailable, "%d streams are open, which is the server's limit", s.cfg.Followers).
			WithFix("close dashboards and `coppice logs -f` that you do not need"))
		return
	}
	ctx, cancel := s.stream(r.Context())
	defer cancel()
	f(ctx)
}

// rest pauses a follower after each write, longer if there are more followers.
// What happens in the pause is then sent together, and the followers leave most
// of the machine to the work.
func (s *Server) rest(ctx context.Context) error {
	const each, least = 100 * time.Microsecond, 5 * time.Millisecond
	pause := time.Duration(s.followers.Load()) * each
	if pause < least {
		return nil
	}
	return clock.Sleep(ctx, clock.Real(), pause)
}

// newSSE starts a stream. It lifts the server's limits on the length of a
// request and of a response.
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

// eventAt writes an event of a stream whose positions are not numbers.
func (o *sse) eventAt(id, name string, data any) error {
	var b bytes.Buffer
	if err := encode(&b, fmt.Sprintf("id: %s\nevent: %s\n", id, name), data); err != nil {
		return err
	}
	return o.write(b.Bytes())
}

// note writes an event of a stream without positions.
func (o *sse) note(data any) error {
	var b bytes.Buffer
	if err := encode(&b, "", data); err != nil {
		return err
	}
	return o.write(b.Bytes())
}

// encodeEvent writes an event in the format of the stream.
func encodeEvent(w io.Writer, id int64, name string, data any) error {
	if name != "" {
		name = "event: " + name + "\n"
	}
	return encode(w, fmt.Sprintf("id: %d\n%s", id, name), data)
}

// encode writes an event after its head. JSON has no raw line breaks, so the
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

// alive writes a heartbeat. Its id without data gives the reader its position
// even if no event matched.
func (o *sse) alive(id int64) error { return o.sign(fmt.Sprintf("id: %d\n", id)) }

// beat writes a heartbeat on a stream without positions.
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

// waitOr waits for f, at most for a heartbeat. It reports whether f returned by
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

// place returns where a stream resumes: after the last id that the reader saw,
// else after the requested position, else at a default.
func place(lastID, after string, def int64) (int64, error) {
	for _, c := range []struct{ name, text string }{{"Last-Event-ID", lastID}, {"after", after}} {
		if c.text == "" {
			continue
		}
		n, err := strconv.ParseInt(c.text, 10, 64)
		if err != nil || n < -1 {
			return 0, coppice.Errorf(coppice.EInvalid, "%s is not a valid position in a stream", coppice.Quote(c.text)).
				WithFix("pass the id of the last event that you got").WithField(c.name)
		}
		return n, nil
	}
	return def, nil
}

// ended logs why a stream broke, unless its reader left or the server stops.
func (s *Server) ended(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		s.log.Warn("a stream broke off", "err", err)
	}
}
