package host

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"coppice"
	"coppice/internal/spool"
)

// ErrGone says that the host went away, or dropped us, without a last word.
// Inspect tells which.
var ErrGone = errors.New("host: gone")

// ErrOld says that a host is of an older release and does not know an operation.
var ErrOld = errors.New("host: too old")

func tooOld(op string) error {
	e := coppice.Errorf(coppice.EUnavailable, "the session's host is of an older version and does not know how to %s", op).
		WithFix("wait for the session to end; the next one does")
	e.Err = ErrOld
	return e
}

// maxPath is what every system allows for the path of a unix socket.
const maxPath = 100

// Client talks to a running host. It is safe for concurrent use; a request that
// waits holds up no other.
type Client struct {
	dir     string
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	version int // of the host
}

// Dial finds the host of the session in dir. It fails with ErrGone when there
// is none that answers. The Client lives until Close, or until ctx ends.
func Dial(ctx context.Context, dir string) (*Client, error) {
	own, cancel := context.WithCancel(ctx)
	c := &Client{dir: dir, ctx: own, cancel: cancel}
	a, err := c.ask(ctx, request{Op: opPing})
	if err != nil {
		cancel()
		return nil, err
	}
	c.version = a.Version
	return c, nil
}

// Version returns the version of the host.
func (c *Client) Version() int { return c.version }

// knows fails with ErrOld when the host does not know an operation.
func (c *Client) knows(op string) error {
	if since[op] > c.version {
		return tooOld(op)
	}
	return nil
}

// Close ends every call that is under way.
func (c *Client) Close() error {
	c.cancel()
	return nil
}

// Message is something to say to an agent. A message with an ID is said once,
// however often it is sent.
type Message struct {
	ID   string
	Text string
	Ref  string // of the question it answers
}

// Send hands the agent a message. It returns nil when the agent's stdin accepted
// the bytes, and agent.ErrCannot when the protocol has no way. When ctx ends
// first it is not known whether they arrived.
func (c *Client) Send(ctx context.Context, m Message) error {
	_, err := c.ask(ctx, request{Op: opSend, ID: m.ID, Text: m.Text, Ref: m.Ref})
	return err
}

// Interrupt ends the agent's turn, not its process. The message's text, if any,
// is said right after; what Send promises of it holds. Either is done once, by
// the message's ID.
func (c *Client) Interrupt(ctx context.Context, m Message) error {
	_, err := c.ask(ctx, request{Op: opInterrupt, ID: m.ID, Text: m.Text})
	return err
}

// Model has the agent use another model from its next turn on; agent.ErrCannot
// when its protocol has no way.
func (c *Client) Model(ctx context.Context, name string) error {
	_, err := c.ask(ctx, request{Op: opModel, Text: name})
	return err
}

// Stop begins to stop the agent and returns when that is under way; Follow
// tells the end. Every step is bounded by grace, or by the session's own when
// it is zero. To ask again is harmless.
func (c *Client) Stop(ctx context.Context, grace time.Duration) error {
	_, err := c.ask(ctx, request{Op: opStop, GraceMS: grace.Milliseconds()})
	return err
}

// Keep keeps a picture as evidence, as a piece of the session's output. It
// returns when the picture is in the spool.
func (c *Client) Keep(ctx context.Context, picture []byte) error {
	if err := keepable(picture); err != nil {
		return err
	}
	_, err := c.ask(ctx, request{Op: opKeep, Data: picture})
	return err
}

// Snapshot returns the session's state and the last of its output.
func (c *Client) Snapshot(ctx context.Context) (Snapshot, error) {
	a, err := c.ask(ctx, request{Op: opSnapshot})
	if err != nil || a.Snapshot == nil {
		return Snapshot{}, errors.Join(err, context.Cause(ctx))
	}
	return *a.Snapshot, nil
}

// Follow calls grew with the spool's end, at once and whenever it grew. It
// returns nil when the session is over and its Exit written, ErrGone when the
// host went away without, and else when ctx ends.
func (c *Client) Follow(ctx context.Context, grew func(offset int64)) error {
	return c.talk(ctx, request{Op: opFollow}, func(a answer) bool {
		grew(a.End)
		return !a.Ended
	})
}

// ask sends one request and returns its answer.
func (c *Client) ask(ctx context.Context, r request) (answer, error) {
	var got answer
	err := c.talk(ctx, r, func(a answer) bool {
		got = a
		return false
	})
	return got, err
}

// talk sends one request over a connection of its own and hands its answers to
// take, until that wants no more.
func (c *Client) talk(ctx context.Context, r request, take func(answer) bool) error {
	if err := c.knows(r.Op); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	conn, err := connect(ctx, filepath.Join(c.dir, socketFile))
	if err != nil {
		return broken(ctx, err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if len(b) > maxRequest {
		return coppice.Errorf(coppice.ETooLarge, "a message of %d bytes is too large", len(r.Text))
	}
	if _, err := conn.Write(append(b, '\n')); err != nil {
		return broken(ctx, err)
	}
	in := json.NewDecoder(bufio.NewReaderSize(conn, 512))
	for {
		var a answer
		if err := in.Decode(&a); err != nil {
			return broken(ctx, err)
		}
		if a.Error != nil {
			return a.Error.err()
		}
		if !take(a) {
			return nil
		}
	}
}

// broken tells an end that was asked for from one that was not.
func broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, io.EOF) {
		return ErrGone
	}
	return fmt.Errorf("%w: %w", ErrGone, err)
}

// connect dials a unix socket whose path may be longer than the system allows
// for one: through a short link to its directory.
func connect(ctx context.Context, path string) (net.Conn, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	if len(path) <= maxPath {
		return d.DialContext(ctx, "unix", path)
	}
	tmp, err := os.MkdirTemp("", "host")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	link := filepath.Join(tmp, "d")
	if err := os.Symlink(filepath.Dir(path), link); err != nil {
		return nil, err
	}
	return d.DialContext(ctx, "unix", filepath.Join(link, filepath.Base(path)))
}

// Frame is one entry of a session's spool. Next is the offset behind it.
type Frame struct {
	coppice.Output
	Next int64
}

// Reader reads a session's spool. It is not safe for concurrent use.
type Reader struct{ r *spool.Reader }

var kinds = map[spool.Kind]coppice.OutputKind{
	spool.Stdout: coppice.OutputStdout,
	spool.Stderr: coppice.OutputStderr,
	spool.Event:  coppice.OutputEvent,
	spool.Host:   coppice.OutputHost,
	spool.App:    coppice.OutputApp,
	spool.Image:  coppice.OutputImage,
}

// OpenSpool reads the spool of the session in dir from offset on. It needs no
// host. Frames of kind event and host hold a coppice.AgentEvent as JSON.
func OpenSpool(dir string, offset int64) (*Reader, error) {
	r, err := spool.NewReader(filepath.Join(dir, spoolDir), offset)
	if err != nil {
		return nil, err
	}
	return &Reader{r}, nil
}

// Next returns the next frame, without its session's id, and io.EOF at the
// present end. Any other error is the end for good: behind it nothing can be
// read. A lost host may leave half a frame, which is io.EOF as well.
func (r *Reader) Next() (Frame, error) {
	f, err := r.r.Next()
	if err != nil {
		return Frame{}, err
	}
	kind, ok := kinds[f.Kind]
	if !ok {
		return Frame{}, fmt.Errorf("host: frame of kind %d at offset %d is unknown: %w", f.Kind, f.Offset, spool.ErrCorrupt)
	}
	return Frame{Output: coppice.Output{Offset: f.Offset, At: f.At, Kind: kind, Data: f.Data}, Next: f.Next}, nil
}

// Offset returns the offset of what Next returns next.
func (r *Reader) Offset() int64 { return r.r.Offset() }

// Segment returns the offset from which TrimSpool cannot remove more.
func (r *Reader) Segment() int64 { return r.r.Segment() }

// Close closes the reader.
func (r *Reader) Close() error { return r.r.Close() }

// TrimSpool removes what lies before upto, in whole segments. Frames at or
// behind upto stay.
func TrimSpool(dir string, upto int64) error {
	return spool.Trim(filepath.Join(dir, spoolDir), upto)
}
