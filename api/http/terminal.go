package http

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"coppice"
	"coppice/api"
)

// Attach opens the terminal of a running session, until ctx ends.
type Attach func(ctx context.Context, s coppice.Session, o api.TerminalOptions) (api.Terminal, error)

// maxMessage limits one message from a client.
const maxMessage = 1 << 20

type terminalIn struct {
	SessionIn
	Columns  int  `query:"columns" minimum:"0" maximum:"65535" doc:"Of the client's terminal"`
	Rows     int  `query:"rows" minimum:"0" maximum:"65535" doc:"Of the client's terminal"`
	ReadOnly bool `query:"read_only" doc:"Only watch; the size does not count"`
}

func (s *Server) terminalRoutes(a huma.API) {
	o := op{method: http.MethodGet, path: "/sessions/{key}/terminal", id: "session-terminal", tag: "sessions",
		about: "A session's terminal, live, as a WebSocket"}.operation(http.StatusNotFound, http.StatusConflict, http.StatusServiceUnavailable)
	o.Responses = map[string]*huma.Response{"101": {
		Description: "A WebSocket. Binary messages are the terminal's bytes: from the server, the current screen and then the agent's output; " +
			"from the client, what was typed. Text messages are a TerminalControl: the server's first one describes the terminal, its last one says how the session ended; " +
			"a client sends its size as resize.",
	}}
	huma.Register(a, o, func(ctx context.Context, in *terminalIn) (*huma.StreamResponse, error) {
		session, err := s.attachable(ctx, in.Key)
		if err != nil {
			return nil, s.problem(ctx, err)
		}
		return &huma.StreamResponse{Body: func(c huma.Context) {
			r, w := humago.Unwrap(c)
			s.serveTerminal(w, r, session, api.TerminalOptions{Columns: in.Columns, Rows: in.Rows, ReadOnly: in.ReadOnly})
		}}, nil
	})
}

// attachable finds a running session.
func (s *Server) attachable(ctx context.Context, key string) (session coppice.Session, err error) {
	if s.cfg.Attach == nil {
		return session, coppice.Errorf(coppice.EUnavailable, "this server has no terminals")
	}
	session, err = s.session(ctx, key)
	if err == nil && !session.State.Live() {
		err = coppice.Errorf(coppice.EConflict, "the session %s has ended (%s)", session.Key, session.State).
			WithFix("see its log with `coppice logs %s`", session.Key)
	}
	return session, err
}

// upgrade refuses requests that are not WebSockets, and those of browsers
// without an Origin, because a terminal accepts input.
func (s *Server) upgrade(r *http.Request) error {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		return coppice.Errorf(coppice.EInvalid, "this address is a WebSocket").WithFix("use `coppice attach`, or the dashboard")
	}
	if s.identify(r) != bearer && r.Header.Get("Origin") == "" {
		return coppice.Errorf(coppice.EForbidden, "the request has no Origin header")
	}
	return nil
}

func (s *Server) serveTerminal(w http.ResponseWriter, r *http.Request, session coppice.Session, o api.TerminalOptions) {
	ctx, cancel := s.stream(r.Context())
	defer cancel()
	if err := s.upgrade(r); err != nil {
		s.fail(w, r, err)
		return
	}
	t, err := s.cfg.Attach(ctx, session, o)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	defer t.Close()
	// The HTTP server no longer owns the connection, so Stop waits for this
	// group.
	s.terminals.Add(1)
	defer s.terminals.Done()
	// The guard has compared the Origin with the Host. The library does it
	// again.
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		s.log.Debug("no terminal", "err", err) // Accept has sent the answer
		return
	}
	defer conn.CloseNow()
	conn.SetReadLimit(maxMessage)
	v := &terminalView{s: s, conn: conn, t: t}
	v.run(ctx)
}

// terminalView is one client of a terminal.
type terminalView struct {
	s    *Server
	conn *websocket.Conn
	t    api.Terminal
}

// run copies both directions until one side ends.
func (v *terminalView) run(ctx context.Context) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var others sync.WaitGroup
	defer others.Wait()
	defer v.t.Close()
	others.Go(func() { cancel(v.listen(ctx)) })
	others.Go(func() { cancel(v.beat(ctx)) })
	stop := context.AfterFunc(ctx, func() { v.t.Close() })
	defer stop()
	err := v.show(ctx)
	switch {
	case err == nil:
		_ = v.conn.Close(websocket.StatusNormalClosure, "the session has ended")
	case errors.Is(context.Cause(ctx), errStopping):
		_ = v.conn.Close(websocket.StatusGoingAway, "the server is stopping")
	default:
		_ = v.conn.Close(websocket.StatusInternalError, "the terminal failed")
	}
	cancel(err)
}

// show sends what the terminal shows. It returns nil at the end.
func (v *terminalView) show(ctx context.Context) error {
	about := v.t.About()
	if err := v.control(ctx, about); err != nil {
		return err
	}
	for {
		b, control, err := v.t.Next()
		if err != nil {
			return err
		}
		if control != nil {
			err = v.control(ctx, *control)
		}
		if err == nil && len(b) > 0 {
			err = v.write(ctx, websocket.MessageBinary, b)
		}
		if err != nil {
			return err
		}
		if control != nil && control.Ended != nil {
			return nil
		}
	}
}

func (v *terminalView) control(ctx context.Context, c api.TerminalControl) error {
	if c.Ended != nil {
		c.Ended.Text = c.Ended.String()
	}
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return v.write(ctx, websocket.MessageText, b)
}

func (v *terminalView) write(ctx context.Context, kind websocket.MessageType, b []byte) error {
	ctx, cancel := context.WithTimeout(ctx, v.s.cfg.WriteTimeout)
	defer cancel()
	return v.conn.Write(ctx, kind, b)
}

// listen reads what the client sends.
func (v *terminalView) listen(ctx context.Context) error {
	for {
		kind, b, err := v.conn.Read(ctx)
		if err != nil {
			return err
		}
		if kind == websocket.MessageBinary {
			if err := v.t.Type(b); err != nil {
				return err
			}
			continue
		}
		var c api.TerminalControl
		if err := json.Unmarshal(b, &c); err != nil || len(c.Resize) != 2 {
			_ = v.conn.Close(websocket.StatusUnsupportedData, `a text message is {"resize":[columns,rows]}`)
			return errors.New("http: the message is not valid")
		}
		if err := v.t.Resize(c.Resize[0], c.Resize[1]); err != nil {
			_ = v.conn.Close(websocket.StatusUnsupportedData, "this is not a valid size of a terminal")
			return err
		}
	}
}

// beat checks whether the client is still connected.
func (v *terminalView) beat(ctx context.Context) error {
	tick := time.NewTicker(v.s.cfg.Heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		wait, cancel := context.WithTimeout(ctx, v.s.cfg.WriteTimeout)
		err := v.conn.Ping(wait)
		cancel()
		if err != nil {
			return err
		}
	}
}
