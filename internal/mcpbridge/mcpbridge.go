// Package mcpbridge passes messages of the Model Context Protocol between a client
// that speaks lines on stdin and stdout, and a server that speaks HTTP.
//
// It knows little of the protocol: which message is a request, and which headers
// the server needs. Requests run concurrently, and each response is written when
// it arrives.
package mcpbridge

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Limits of a bridge.
const (
	MaxLine     = 4 << 20  // bytes of a message from the client
	maxResponse = 32 << 20 // bytes of a response
	mostOpen    = 64       // requests at the same time
	endWait     = 2 * time.Second
)

// Bridge connects a client to a server. All fields except Patience are required.
type Bridge struct {
	In  io.Reader
	Out io.Writer
	// Find returns the server's address and token. It is called for each
	// request, because the server can restart at another address.
	Find func() (address, token string, err error)
	// Patience is how long a request waits for a server that cannot be reached.
	// One minute when 0.
	Patience time.Duration

	http *http.Client

	mu      sync.Mutex // guards the fields below, and Out
	version string     // of the protocol, as negotiated
	open    map[string]context.CancelFunc
	failed  error // Out cannot be written
}

// message is what a bridge reads of a message.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Meta struct {
			Version string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
		Name    string          `json:"name"`
		URI     string          `json:"uri"`
		Request json.RawMessage `json:"requestId"`
	} `json:"params"`
}

// Run passes messages until the client closes In, or ctx ends. Then requests that
// are still open get a moment.
func (b *Bridge) Run(ctx context.Context) error {
	if b.Patience == 0 {
		b.Patience = time.Minute
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 4, IdleConnTimeout: 30 * time.Second} // no proxy: the token stays on this machine
	defer transport.CloseIdleConnections()
	b.http = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	b.open = map[string]context.CancelFunc{}
	lines := make(chan []byte)
	stop := make(chan struct{})
	defer close(stop)
	var ended error
	go func() { // ends with In, which nobody can interrupt
		defer close(lines)
		ended = b.read(lines, stop)
	}()
	requests, cancel := context.WithCancel(ctx)
	defer cancel()
	var running sync.WaitGroup
	slots := make(chan struct{}, mostOpen)
	for {
		select {
		case line, ok := <-lines:
			if !ok {
				b.finish(&running, cancel)
				return errors.Join(ended, b.failure())
			}
			b.take(requests, line, slots, &running)
		case <-ctx.Done():
			cancel()
			running.Wait()
			return nil
		}
	}
}

// finish waits a moment for open requests, and ends the others.
func (b *Bridge) finish(running *sync.WaitGroup, cancel context.CancelFunc) {
	done := make(chan struct{})
	go func() { running.Wait(); close(done) }()
	t := time.NewTimer(endWait)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
		cancel()
		<-done
	}
}

func (b *Bridge) failure() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failed
}

// read reads lines. A line that is too long is answered with an error and
// skipped.
func (b *Bridge) read(lines chan<- []byte, stop <-chan struct{}) error {
	in := bufio.NewReaderSize(b.In, 64<<10)
	for {
		line, long, err := readLine(in)
		if long {
			b.problem(json.RawMessage("null"), -32600, fmt.Sprintf("a message can have at most %d bytes", MaxLine))
		} else if line = bytes.TrimSpace(line); len(line) > 0 {
			select {
			case lines <- line:
			case <-stop:
				return nil
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func readLine(in *bufio.Reader) (line []byte, long bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > MaxLine {
			long, line = true, nil
		}
		if !long {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}

// take starts to pass a message on.
func (b *Bridge) take(ctx context.Context, line []byte, slots chan struct{}, running *sync.WaitGroup) {
	var m message
	if json.Unmarshal(line, &m) != nil && !json.Valid(line) {
		b.problem(json.RawMessage("null"), -32700, "the line is not valid JSON")
		return
	}
	id := string(m.ID)
	if m.Method == "notifications/cancelled" {
		// The server cannot know which client uses an id. Leaving says the same.
		b.mu.Lock()
		if end, ok := b.open[string(m.Params.Request)]; ok {
			end()
		}
		b.mu.Unlock()
		return
	}
	select {
	case slots <- struct{}{}:
	case <-ctx.Done():
		return
	}
	own, end := context.WithCancel(ctx)
	if id != "" {
		b.mu.Lock()
		b.open[id] = end
		b.mu.Unlock()
	}
	running.Go(func() {
		defer func() { <-slots }()
		defer end()
		err := b.pass(own, m, line)
		if id == "" {
			return
		}
		b.mu.Lock()
		delete(b.open, id)
		b.mu.Unlock()
		if err != nil && own.Err() == nil {
			b.problem(m.ID, -32000, err.Error())
		}
	})
}

// pass sends a message until the server has answered. What might have had an
// effect is not sent again.
func (b *Bridge) pass(ctx context.Context, m message, line []byte) error {
	deadline := time.Now().Add(b.Patience)
	for try := 0; ; try++ {
		err := b.post(ctx, m, line)
		var away *unreachable
		if err == nil || !errors.As(err, &away) || ctx.Err() != nil {
			return err
		}
		if time.Now().After(deadline) {
			return away.err
		}
		t := time.NewTimer(min(100*time.Millisecond<<min(try, 5), 2*time.Second))
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		}
	}
}

// unreachable is the error of a request that can be sent again.
type unreachable struct{ err error }

func (u *unreachable) Error() string { return u.err.Error() }

// post sends a message and writes the response.
func (b *Bridge) post(ctx context.Context, m message, line []byte) error {
	address, token, err := b.Find()
	if err != nil {
		return &unreachable{err}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(line))
	if err != nil {
		return errors.New("the address of the server is not valid") // the error could contain the token
	}
	b.headers(r, m, token)
	res, err := b.http.Do(r)
	if err != nil {
		var op *net.OpError
		if errors.As(err, &op) && op.Op == "dial" || m.Method != "tools/call" {
			return &unreachable{errors.New("the server cannot be reached")}
		}
		return errors.New("the connection to the server broke; the call might have had an effect")
	}
	defer res.Body.Close()
	body := io.LimitReader(res.Body, maxResponse)
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if kind == "text/event-stream" {
		return b.events(m, body)
	}
	all, err := io.ReadAll(body)
	if err != nil {
		return errors.New("the connection to the server broke; the call might have had an effect")
	}
	switch {
	case kind == "application/json" && json.Valid(all) && (res.StatusCode < 300 || bytes.Contains(all, []byte(`"jsonrpc"`))):
		b.write(m, all)
	case res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusNotFound:
		return fmt.Errorf("the server does not accept the token (status %d)", res.StatusCode)
	case res.StatusCode >= 300:
		return fmt.Errorf("status %d: %.500s", res.StatusCode, strings.TrimSpace(string(all)))
	}
	return nil
}

// headers sets the headers that the protocol requires. Those of a request that
// carries its version have the same values as the request.
func (b *Bridge) headers(r *http.Request, m message, token string) {
	b.mu.Lock()
	version := b.version
	b.mu.Unlock()
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if own := m.Params.Meta.Version; own != "" {
		version = own
		r.Header.Set("Mcp-Method", m.Method)
		if name := m.Params.Name + m.Params.URI; name != "" {
			r.Header.Set("Mcp-Name", name)
		}
	}
	if version != "" && m.Method != "initialize" {
		r.Header.Set("Mcp-Protocol-Version", version)
	}
}

// events writes the messages of a stream.
func (b *Bridge) events(m message, body io.Reader) error {
	in := bufio.NewReader(body)
	var data []byte
	for {
		line, err := in.ReadBytes('\n')
		line = bytes.TrimRight(line, "\r\n")
		if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = append(data, bytes.TrimPrefix(value, []byte(" "))...)
		}
		if len(line) == 0 && len(data) > 0 {
			if json.Valid(data) {
				b.write(m, data)
			}
			data = nil
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return errors.New("the connection to the server broke; the call might have had an effect")
		}
	}
}

// write writes a message to the client, on one line.
func (b *Bridge) write(m message, body []byte) {
	var line bytes.Buffer
	if json.Compact(&line, body) != nil {
		return
	}
	line.WriteByte('\n')
	b.mu.Lock()
	defer b.mu.Unlock()
	if m.Method == "initialize" {
		var got struct {
			Result struct{ ProtocolVersion string }
		}
		if json.Unmarshal(body, &got) == nil && got.Result.ProtocolVersion != "" {
			b.version = got.Result.ProtocolVersion
		}
	}
	if _, err := b.Out.Write(line.Bytes()); err != nil && b.failed == nil {
		b.failed = err
	}
}

// problem writes an error of the protocol.
func (b *Bridge) problem(id json.RawMessage, code int, text string) {
	type problem struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	body, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   problem         `json:"error"`
	}{"2.0", id, problem{code, text}})
	if err == nil {
		b.write(message{}, body)
	}
}
