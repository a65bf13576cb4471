package http_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"coppice"
	"coppice/api"
	"coppice/api/apitest"
	apihttp "coppice/api/http"
)

// echo is a terminal that shows what is typed, until it gets bye.
type echo struct {
	about  api.TerminalControl
	shown  chan []byte
	sizes  chan [2]int
	closed chan struct{}
	once   sync.Once
}

func newEcho(o api.TerminalOptions) *echo {
	return &echo{
		about: api.TerminalControl{Runtime: "pty", ReadOnly: o.ReadOnly, Size: []int{o.Columns, o.Rows}},
		shown: make(chan []byte, 16), sizes: make(chan [2]int, 16), closed: make(chan struct{}),
	}
}

func (e *echo) About() api.TerminalControl { return e.about }

func (e *echo) Next() ([]byte, *api.TerminalControl, error) {
	select {
	case b := <-e.shown:
		if string(b) == "bye" {
			return nil, &api.TerminalControl{Ended: &api.TerminalEnd{TerminalEnd: coppice.TerminalEnd{Code: 7}}}, nil
		}
		return b, nil, nil
	case s := <-e.sizes:
		return nil, &api.TerminalControl{Size: s[:]}, nil
	case <-e.closed:
		return nil, nil, io.ErrClosedPipe
	}
}

func (e *echo) Type(b []byte) error {
	select {
	case e.shown <- b:
	case <-e.closed:
	}
	return nil
}

func (e *echo) Resize(columns, rows int) error {
	if columns < 1 || rows < 1 {
		return errors.New("no size")
	}
	e.sizes <- [2]int{columns, rows}
	return nil
}

func (e *echo) Close() error {
	e.once.Do(func() { close(e.closed) })
	return nil
}

// terminals starts a server with one running session.
func terminals(t *testing.T) (*apitest.Bundle, coppice.Session, chan *echo) {
	t.Helper()
	opened := make(chan *echo, 16)
	b := setup(t, func(c *apihttp.Config) {
		c.Attach = func(_ context.Context, _ coppice.Session, o api.TerminalOptions) (api.Terminal, error) {
			e := newEcho(o)
			opened <- e
			return e, nil
		}
	})
	b.Project("/src/app")
	task := b.Task("app", coppice.NewTask{Title: "paint"})
	return b, b.Session(task.Key, coppice.SessionWorking, nil), opened
}

func TestTerminalBothWays(t *testing.T) {
	t.Parallel()
	b, s, _ := terminals(t)
	term, err := b.Client.Terminal(b.Ctx, s.Key, api.TerminalOptions{Columns: 90, Rows: 30})
	b.Must(err)
	defer term.CloseNow()
	expect := func(ok func([]byte, *api.TerminalControl) bool) {
		t.Helper()
		data, control, err := term.Next(b.Ctx)
		if err != nil || !ok(data, control) {
			t.Fatalf("got %q, %+v, %v", data, control, err)
		}
	}
	expect(func(_ []byte, c *api.TerminalControl) bool {
		return c != nil && c.Runtime == "pty" && c.Size[0] == 90 && c.Size[1] == 30
	})
	b.Must(term.Type(b.Ctx, []byte("hello \x00\xff")))
	expect(func(d []byte, _ *api.TerminalControl) bool { return string(d) == "hello \x00\xff" })
	b.Must(term.Resize(b.Ctx, 70, 20))
	expect(func(_ []byte, c *api.TerminalControl) bool { return c != nil && c.Size[0] == 70 })
	b.Must(term.Type(b.Ctx, []byte("bye")))
	expect(func(_ []byte, c *api.TerminalControl) bool {
		return c != nil && c.Ended != nil && c.Ended.Code == 7 && c.Ended.Text == "exit 7"
	})
	if _, _, err := term.Next(b.Ctx); coppice.ErrorCode(err) != coppice.EUnavailable {
		t.Errorf("behind the end: %v", err)
	}
}

func TestTerminalIsLeft(t *testing.T) {
	t.Parallel()
	b, s, opened := terminals(t)
	one, err := b.Client.Terminal(b.Ctx, s.Key, api.TerminalOptions{})
	b.Must(err)
	b.Must(one.CloseNow())
	<-(<-opened).closed // who leaves leaves nothing open
	two, err := b.Client.Terminal(b.Ctx, s.Key, api.TerminalOptions{})
	b.Must(err)
	defer two.CloseNow()
	three, err := b.Client.Terminal(b.Ctx, s.Key, api.TerminalOptions{})
	b.Must(err)
	defer three.CloseNow()
	b.Must(three.Resize(b.Ctx, -1, 20)) // nonsense ends this one only
	for {
		if _, _, err := three.Next(b.Ctx); err != nil {
			break
		}
	}
	b.Must(two.Type(b.Ctx, []byte("still here")))
	for {
		d, _, err := two.Next(b.Ctx)
		b.Must(err)
		if string(d) == "still here" {
			break
		}
	}
	b.Server.Stop()
	if _, _, err := two.Next(b.Ctx); err == nil {
		t.Error("the server stopped, the terminal did not")
	}
}

func TestTerminalRefused(t *testing.T) {
	t.Parallel()
	b, s, _ := terminals(t)
	for _, c := range []struct {
		key  string
		code coppice.Code
	}{{"app-9.1", coppice.ENotFound}, {"nonsense", coppice.EInvalid}} {
		if _, err := b.Client.Terminal(b.Ctx, c.key, api.TerminalOptions{}); coppice.ErrorCode(err) != c.code {
			t.Errorf("%s: %v", c.key, err)
		}
	}
	ended := b.Session(b.Task("app", coppice.NewTask{Title: "done"}).Key, coppice.SessionDone, nil)
	_, err := b.Client.Terminal(b.Ctx, ended.Key, api.TerminalOptions{})
	var e *coppice.Error
	if !errors.As(err, &e) || e.Code != coppice.EConflict || !strings.Contains(e.Fix, "coppice logs "+ended.Key) {
		t.Errorf("a session that has ended: %v", err)
	}
	refuses(t, b, http.StatusUnprocessableEntity, "GET", "/api/v1/sessions/"+s.Key+"/terminal", "")
}

// TestAnyWebPageTalksToTheLocalServer_Terminal attacks the one address where a
// GET gives power: a client that opens it can type.
func TestAnyWebPageTalksToTheLocalServer_Terminal(t *testing.T) {
	t.Parallel()
	b, s, opened := terminals(t)
	c := signIn(t, b)
	host := strings.TrimPrefix(b.Server.URL(), "http://")
	dial := func(edit func(http.Header, *websocket.DialOptions)) (*websocket.Conn, *http.Response, error) {
		h := http.Header{}
		o := &websocket.DialOptions{HTTPHeader: h, HTTPClient: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
		edit(h, o)
		ctx, cancel := context.WithTimeout(b.Ctx, time.Minute)
		defer cancel()
		return websocket.Dial(ctx, b.Server.URL()+"/api/v1/sessions/"+s.Key+"/terminal", o)
	}
	cookie := c.Name + "=" + c.Value
	token := "Bearer " + apitest.Token
	for name, edit := range map[string]func(http.Header, *websocket.DialOptions){
		"no token":                func(http.Header, *websocket.DialOptions) {},
		"a wrong token":           func(h http.Header, _ *websocket.DialOptions) { h.Set("Authorization", token+"x") },
		"a token as the protocol": func(_ http.Header, o *websocket.DialOptions) { o.Subprotocols = []string{apitest.Token} },
		"another name":            func(h http.Header, o *websocket.DialOptions) { h.Set("Authorization", token); o.Host = "evil.com" },
		"another origin": func(h http.Header, _ *websocket.DialOptions) {
			h.Set("Cookie", cookie)
			h.Set("Origin", "http://evil.com")
		},
		"another port": func(h http.Header, _ *websocket.DialOptions) {
			h.Set("Cookie", cookie)
			h.Set("Origin", "http://127.0.0.1:1")
		},
		"no origin":                  func(h http.Header, _ *websocket.DialOptions) { h.Set("Cookie", cookie); h.Set("Origin", "null") },
		"a cookie without an origin": func(h http.Header, _ *websocket.DialOptions) { h.Set("Cookie", cookie) },
		"another origin and a token": func(h http.Header, _ *websocket.DialOptions) {
			h.Set("Authorization", token)
			h.Set("Origin", "http://evil.com")
		},
		"another site": func(h http.Header, _ *websocket.DialOptions) {
			h.Set("Cookie", cookie)
			h.Set("Origin", "http://"+host)
			h.Set("Sec-Fetch-Site", "cross-site")
		},
	} {
		conn, resp, err := dial(edit)
		if err == nil {
			conn.CloseNow()
			t.Errorf("%s: let in", name)
		} else if resp == nil || (resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(opened) > 0 {
		t.Error("a terminal was opened for somebody who was refused")
	}
	conn, _, err := dial(func(h http.Header, _ *websocket.DialOptions) {
		h.Set("Cookie", cookie)
		h.Set("Origin", "http://"+host)
		h.Set("Sec-Fetch-Site", "same-origin")
	})
	b.Must(err)
	conn.CloseNow()
}
