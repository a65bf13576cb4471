package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"coppice"
	"coppice/api"
	"coppice/internal/clock"
)

const (
	maxEvent       = 64 << 20 // bytes of one event on a stream
	defaultSilence = 45 * time.Second
)

// errEnd says that a stream is complete and everything was read.
var errEnd = errors.New("the stream ended")

// errSilent ends a connection that was silent for too long.
var errSilent = errors.New("the server sends nothing")

// FollowEvents calls f with every event after a position in the log, each
// exactly once and in order, until f returns an error, ctx ends, or the server
// stays away. gap can be nil. It is called if the requested events are no
// longer in the log. The stream then continues at its First.
func (c *Client) FollowEvents(ctx context.Context, q EventQuery, f func(api.Event) error, gap func(api.Bounds)) error {
	last, known := q.After, q.After >= 0
	return c.follow(ctx, func(ctx context.Context, open func()) error {
		at := ""
		if known {
			at = strconv.FormatInt(last, 10)
		}
		return c.stream(ctx, "/events", q.values(), at, open, func(m message) error {
			switch {
			case m.name == "reset":
				var b api.Bounds
				if err := json.Unmarshal(m.data, &b); err != nil {
					return final{err}
				}
				if gap != nil {
					gap(b)
				}
			case len(m.data) > 0 && m.name == "":
				if known && m.id <= last {
					return nil
				}
				if err := decoded(m, f); err != nil {
					return final{err}
				}
			}
			last, known = m.id, true
			return nil
		})
	})
}

// FollowOutput calls f with every piece that a session writes after an offset
// (-1 is before the first), each exactly once and in order. It returns nil when
// the session has ended and everything was read.
func (c *Client) FollowOutput(ctx context.Context, session string, after int64, f func(api.Output) error, kinds ...coppice.OutputKind) error {
	last := after
	return c.follow(ctx, func(ctx context.Context, open func()) error {
		path := "/sessions/" + url.PathEscape(session) + "/output/stream"
		return c.stream(ctx, path, outputValues(last, kinds), "", open, func(m message) error {
			if m.name == "end" {
				return errEnd
			}
			if len(m.data) == 0 || m.id <= last {
				return nil
			}
			if err := decoded(m, f); err != nil {
				return final{err}
			}
			last = m.id
			return nil
		})
	})
}

// final is an error that a retry cannot fix.
type final struct{ error }

func (f final) Unwrap() error { return f.error }

// follow opens one connection after another until one ends for good. errEnd
// means that everything was read. A final error is the caller's. A request that
// the server refuses is not retried.
func (c *Client) follow(ctx context.Context, connect func(ctx context.Context, open func()) error) error {
	tries, connected := 0, false
	for {
		err := connect(ctx, func() { tries, connected = 0, true })
		var f final
		switch {
		case errors.As(err, &f):
			return f.error
		case errors.Is(err, errEnd):
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !connected, !passing(err):
			return err
		}
		tries++
		if err := c.pause(ctx, tries, err); err != nil {
			return err
		}
	}
}

// passing reports whether an error might be gone after a restart of the server.
// A restarted server can have another token, which is then read from its file.
func passing(err error) bool {
	switch coppice.ErrorCode(err) {
	case coppice.EUnavailable, coppice.EUnauthorized, coppice.EInternal:
		return true
	}
	return false
}

func (c *Client) pause(ctx context.Context, n int, cause error) error {
	if c.Wait != nil {
		return c.Wait(ctx, n, cause)
	}
	const most = 40 // about a minute in total
	if n > most {
		return cause
	}
	return clock.Sleep(ctx, clock.Real(), min(time.Duration(n)*100*time.Millisecond, 2*time.Second))
}

// message is one event of a stream. Without data, it only carries the id.
type message struct {
	id   int64
	at   string // the id as it was sent
	name string
	data []byte
}

// stream reads one connection. open is called when the server has accepted it.
// An error of f ends the stream with that error. A broken connection is an
// error with code unavailable.
func (c *Client) stream(ctx context.Context, path string, query url.Values, lastID string, open func(), f func(message) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := c.Silence
	if silence == 0 {
		silence = defaultSilence
	}
	watch := time.AfterFunc(silence, func() { cancel(errSilent) })
	defer watch.Stop()

	req, err := c.request(ctx, http.MethodGet, path, query, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "text/event-stream")
	if lastID != "" {
		req.Header.Set("Last-Event-ID", lastID)
	}
	resp, err := c.send(req)
	if err != nil {
		return silent(ctx, err)
	}
	defer resp.Body.Close()
	open()
	err = readStream(resp.Body, func() { watch.Reset(silence) }, f)
	var broken brokenStream
	if errors.As(err, &broken) {
		return silent(ctx, unreachable(ctx, broken.error))
	}
	return err
}

// silent makes an error that can be retried from a connection that was ended
// for its silence.
func silent(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errSilent) {
		return &coppice.Error{Code: coppice.EUnavailable, Cause: "the coppice server does not answer", Fix: "see its log, or restart it with `coppice serve`", Err: errSilent}
	}
	return err
}

// brokenStream is the end of a connection before the end of the stream.
type brokenStream struct{ error }

// readStream reads server-sent events. An event counts when its closing blank
// line was read. A partial event is dropped. An id that is not a number keeps
// the previous id.
func readStream(r io.Reader, alive func(), f func(message) error) error {
	br := bufio.NewReaderSize(r, 64<<10)
	var m message
	var id int64
	var at string
	size, has := 0, false
	for {
		line, err := readLine(br, maxEvent-size)
		if err != nil {
			return brokenStream{err}
		}
		alive()
		if size += len(line); len(line) == 0 {
			if m.id, m.at = id, at; has {
				if err := f(m); err != nil {
					return err
				}
			}
			m, size, has = message{}, 0, false
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "id":
			at = string(value)
			if n, err := strconv.ParseInt(string(value), 10, 64); err == nil {
				id, has = n, true
			}
		case "event":
			m.name = string(value)
		case "data":
			if has = true; m.data != nil {
				m.data = append(m.data, '\n')
			}
			m.data = append(m.data, value...)
		}
	}
}

// readLine reads a line of at most this length, without its end.
func readLine(r *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > most {
			return nil, errors.New("an event on the stream is too long")
		}
		if err == nil {
			return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
	}
}
