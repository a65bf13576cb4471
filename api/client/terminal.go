package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"github.com/coder/websocket"

	"coppice/api"
)

// Terminal is a live view of a session's terminal. Next has one caller at a
// time. The other methods are safe for concurrent use.
type Terminal struct {
	conn *websocket.Conn
}

// maxShown limits one message from the server.
const maxShown = 32 << 20

// Terminal opens the terminal of a running session.
func (c *Client) Terminal(ctx context.Context, session string, o api.TerminalOptions) (*Terminal, error) {
	query := url.Values{}
	if o.Columns > 0 && o.Rows > 0 {
		query.Set("columns", strconv.Itoa(o.Columns))
		query.Set("rows", strconv.Itoa(o.Rows))
	}
	setIf(query, "read_only", o.ReadOnly)
	req, err := c.request(ctx, http.MethodGet, "/sessions/"+url.PathEscape(session)+"/terminal", query, nil)
	if err != nil {
		return nil, err
	}
	conn, resp, err := websocket.Dial(ctx, req.URL.String(), &websocket.DialOptions{
		HTTPClient: c.http, HTTPHeader: req.Header, CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		if resp != nil && resp.StatusCode >= 300 {
			return nil, decodeProblem(resp)
		}
		return nil, unreachable(ctx, err)
	}
	conn.SetReadLimit(maxShown)
	return &Terminal{conn: conn}, nil
}

// Next waits for the next bytes of the screen, or the next message.
func (t *Terminal) Next(ctx context.Context) ([]byte, *api.TerminalControl, error) {
	kind, b, err := t.conn.Read(ctx)
	if err != nil {
		return nil, nil, unreachable(ctx, err)
	}
	if kind == websocket.MessageBinary {
		return b, nil, nil
	}
	var c api.TerminalControl
	if err := json.Unmarshal(b, &c); err != nil {
		return nil, nil, unreachable(ctx, err)
	}
	return nil, &c, nil
}

// Type types bytes.
func (t *Terminal) Type(ctx context.Context, b []byte) error {
	return t.conn.Write(ctx, websocket.MessageBinary, b)
}

// Resize reports the size of the client's terminal.
func (t *Terminal) Resize(ctx context.Context, columns, rows int) error {
	b, err := json.Marshal(api.TerminalControl{Resize: []int{columns, rows}})
	if err != nil {
		return err
	}
	return t.conn.Write(ctx, websocket.MessageText, b)
}

// Close detaches. The session continues.
func (t *Terminal) Close() error { return t.conn.Close(websocket.StatusNormalClosure, "detached") }

// CloseNow ends the connection without a closing handshake.
func (t *Terminal) CloseNow() error { return t.conn.CloseNow() }

// WaitAgain waits before the nth try to reconnect, as the followers do.
func (c *Client) WaitAgain(ctx context.Context, n int, cause error) error {
	return c.pause(ctx, n, cause)
}
