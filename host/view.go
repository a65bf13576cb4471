package host

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"path/filepath"
	"sync"

	"coppice"
)

// View is a live view of a session's terminal. Next has one caller at a time.
// The other methods are safe for concurrent use.
type View struct {
	coppice.TerminalAbout // with the size at the start

	conn net.Conn
	in   *bufio.Reader
	stop func() bool

	mu sync.Mutex // held while a frame is sent
}

// Attach opens a view of the session's terminal. It lives until Close, or until
// ctx, the Client or the session ends.
func (c *Client) Attach(ctx context.Context, o ViewOptions) (_ *View, err error) {
	if err := c.knows(opAttach); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	unhook := context.AfterFunc(c.ctx, cancel)
	conn, err := connect(ctx, filepath.Join(c.dir, socketFile))
	if err != nil {
		unhook()
		cancel()
		return nil, connError(ctx, err)
	}
	closed := context.AfterFunc(ctx, func() { conn.Close() })
	v := &View{conn: conn, in: bufio.NewReader(conn), stop: func() bool { unhook(); closed(); cancel(); return true }}
	defer func() {
		if err != nil {
			v.Close()
		}
	}()
	b, err := json.Marshal(request{Op: opAttach, Columns: o.Size.Columns, Rows: o.Size.Rows, ReadOnly: o.ReadOnly})
	if err != nil {
		return nil, err
	}
	if _, err := conn.Write(append(b, '\n')); err != nil {
		return nil, connError(ctx, err)
	}
	line, err := v.in.ReadBytes('\n')
	if err != nil {
		return nil, connError(ctx, err)
	}
	var a answer
	if err := json.Unmarshal(line, &a); err != nil {
		return nil, connError(ctx, err)
	}
	if a.Error != nil {
		return nil, a.Error.err()
	}
	if a.Attached == nil {
		return nil, tooOld(opAttach)
	}
	v.TerminalAbout = coppice.TerminalAbout{Runtime: a.Attached.Runtime, ReadOnly: a.Attached.ReadOnly, Size: a.Attached.Size}
	return v, nil
}

// About describes the view.
func (v *View) About() coppice.TerminalAbout { return v.TerminalAbout }

// Next waits for the next part of the view. It fails with ErrGone if the host is
// gone without an end, and if the view was closed.
func (v *View) Next() (Shown, error) {
	kind, data, err := readFrame(v.in, maxFrame)
	if err != nil {
		return Shown{}, errors.Join(ErrGone, err)
	}
	var s Shown
	switch kind {
	case frameScreen:
		s.Screen = data
	case frameOutput:
		s.Output = data
	case frameNotice:
		s.Notice = string(data)
	case frameSize:
		err = json.Unmarshal(data, &s.Size)
	case frameEnded:
		err = json.Unmarshal(data, &s.Ended)
	default: // from a later version
		return v.Next()
	}
	return s, err
}

// Type types bytes. A notice reports what cannot be typed.
func (v *View) Type(b []byte) error {
	for len(b) > 0 {
		part := b[:min(len(b), maxTyped)]
		if err := v.send(frameInput, part); err != nil {
			return err
		}
		b = b[len(part):]
	}
	return nil
}

// Resize reports the new size of the client's terminal.
func (v *View) Resize(s Size) error {
	if err := validSize(s); err != nil {
		return err
	}
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return v.send(frameResize, b)
}

func (v *View) send(kind byte, data []byte) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	_, err := v.conn.Write(appendFrame(nil, kind, data))
	return err
}

// Close detaches. The session continues.
func (v *View) Close() error {
	v.stop()
	err := v.conn.Close()
	if errors.Is(err, net.ErrClosed) || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
