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
	"sync"
	"time"

	"coppice"
	"coppice/internal/spool"
)

// ErrGone says that the connection to the host ended without a final message:
// the host is gone, or it dropped the client. Inspect reports which.
var ErrGone = errors.New("host: gone")

// ErrOld says that a host of an older release does not know an operation.
var ErrOld = errors.New("host: too old")

func tooOld(op string) error {
	e := coppice.Errorf(coppice.EUnavailable, "the session's host has an older version that cannot %s", op).
		WithFix("wait for the session to end; the next session can")
	e.Err = ErrOld
	return e
}

// maxPath is a length that every system allows for the path of a unix socket.
const maxPath = 100

// Client talks to a running host. It is safe for concurrent use. A request that
// waits does not delay others.
type Client struct {
	dir     string
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	version int // of the host

	mu    sync.Mutex
	calls net.Conn // the host reads replies from it; nil if Calls does not run, or the host is too old
}

// Dial finds the host of the session in dir. It fails with ErrGone if no host
// answers. The Client lives until Close, or until ctx ends.
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

// Dir returns the session's directory.
func (c *Client) Dir() string { return c.dir }

// Version returns the version of the host.
func (c *Client) Version() int { return c.version }

// knows returns ErrOld if the host does not know an operation.
func (c *Client) knows(op string) error {
	if since[op] > c.version {
		return tooOld(op)
	}
	return nil
}

// Close ends every call in progress.
func (c *Client) Close() error {
	c.cancel()
	return nil
}

// Message is a message to an agent. A message with an ID is delivered once,
// however often it is sent.
type Message struct {
	ID   string
	Text string
	Ref  string // the question that it answers
	// Images are names of images that AddImage wrote. They belong to the text.
	Images []string
}

// Send delivers a message to the agent. It returns nil when the agent's stdin
// has accepted the bytes, and agent.ErrCannot if the protocol does not support
// messages. If ctx ends first, it is unknown whether they arrived.
func (c *Client) Send(ctx context.Context, m Message) error {
	r := request{Op: opSend, ID: m.ID, Text: m.Text, Ref: m.Ref}
	if len(m.Images) > 0 {
		r.Op, r.Images = opSendImages, m.Images
	}
	_, err := c.ask(ctx, r)
	return err
}

// Interrupt ends the agent's turn, not its process. The message's text, if any,
// follows immediately, as with Send. Each of the two is done once per message
// ID.
func (c *Client) Interrupt(ctx context.Context, m Message) error {
	_, err := c.ask(ctx, request{Op: opInterrupt, ID: m.ID, Text: m.Text})
	return err
}

// Model makes the agent use another model from its next turn. It returns
// agent.ErrCannot if the protocol does not support that.
func (c *Client) Model(ctx context.Context, name string) error {
	_, err := c.ask(ctx, request{Op: opModel, Text: name})
	return err
}

// Stop starts to stop the agent and returns without waiting for its end; Follow
// reports the end. Each step takes at most grace, or the session's own grace if
// it is zero. It is safe to repeat.
func (c *Client) Stop(ctx context.Context, grace time.Duration) error {
	_, err := c.ask(ctx, request{Op: opStop, GraceMS: grace.Milliseconds()})
	return err
}

// Keep stores a picture as evidence in the session's output. It returns when the
// picture is in the spool.
func (c *Client) Keep(ctx context.Context, picture []byte) error {
	if err := validPicture(picture); err != nil {
		return err
	}
	_, err := c.ask(ctx, request{Op: opKeep, Data: picture})
	return err
}

// Snapshot returns the session's state and the end of its output.
func (c *Client) Snapshot(ctx context.Context) (Snapshot, error) {
	a, err := c.ask(ctx, request{Op: opSnapshot})
	if err != nil || a.Snapshot == nil {
		return Snapshot{}, errors.Join(err, context.Cause(ctx))
	}
	return *a.Snapshot, nil
}

// Follow calls grew with the spool's end, first immediately and then whenever it
// has grown. It returns nil when the session has ended and its Exit is written,
// ErrGone if the host is gone without one, and otherwise when ctx ends.
func (c *Client) Follow(ctx context.Context, grew func(offset int64)) error {
	return c.talk(ctx, request{Op: opFollow}, nil, func(a answer) bool {
		grew(a.End)
		return !a.Ended
	})
}

// ask sends one request and returns its answer.
func (c *Client) ask(ctx context.Context, r request) (answer, error) {
	var got answer
	err := c.talk(ctx, r, nil, func(a answer) bool {
		got = a
		return false
	})
	return got, err
}

// talk sends one request over a separate connection and passes the answers to
// take, until take returns false. It passes the connection to sent, if that is not
// nil, when the request is sent.
func (c *Client) talk(ctx context.Context, r request, sent func(net.Conn), take func(answer) bool) error {
	if err := c.knows(r.Op); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	conn, err := connect(ctx, filepath.Join(c.dir, socketFile))
	if err != nil {
		return connError(ctx, err)
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
		return connError(ctx, err)
	}
	if sent != nil {
		sent(conn)
	}
	in := json.NewDecoder(bufio.NewReaderSize(conn, 512))
	for {
		var a answer
		if err := in.Decode(&a); err != nil {
			return connError(ctx, err)
		}
		if a.Error != nil {
			return a.Error.err()
		}
		if !take(a) {
			return nil
		}
	}
}

// connError distinguishes an end that was requested from a failure.
func connError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, io.EOF) {
		return ErrGone
	}
	return fmt.Errorf("%w: %w", ErrGone, err)
}

// connect dials a unix socket whose path can be longer than the system allows.
// It uses a short link to the directory.
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

// Frame is one entry of a session's spool. Next is the offset after it.
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

// OpenSpool reads the spool of the session in dir from an offset. It needs no
// host. Frames of the kinds event and host contain a coppice.AgentEvent as JSON.
func OpenSpool(dir string, offset int64) (*Reader, error) {
	r, err := spool.NewReader(filepath.Join(dir, spoolDir), offset)
	if err != nil {
		return nil, err
	}
	return &Reader{r}, nil
}

// Next returns the next frame, without its session's id, and io.EOF at the
// current end. After any other error nothing more can be read. A lost host can
// leave half a frame, which is reported as io.EOF too.
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

// Offset returns the offset of the next frame.
func (r *Reader) Offset() int64 { return r.r.Offset() }

// Segment returns the offset from which TrimSpool cannot remove more.
func (r *Reader) Segment() int64 { return r.r.Segment() }

// Close closes the reader.
func (r *Reader) Close() error { return r.r.Close() }

// TrimSpool removes whole segments before the offset upto. Frames at upto or
// after it stay.
func TrimSpool(dir string, upto int64) error {
	return spool.Trim(filepath.Join(dir, spoolDir), upto)
}
