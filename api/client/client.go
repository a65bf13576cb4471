// Package client talks to a Coppice server: typed calls, errors with their
// code, cause and fix, and followers that reconnect after a broken connection
// or a restart of the server without missing or repeating anything.
//
//	c := client.New(stateDir)
//	page, err := c.Tasks(ctx, client.TaskQuery{Project: "app"})
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"time"

	"coppice"
	"coppice/api"
)

const (
	callTimeout = 2 * time.Minute // for a whole call; creating a thousand tasks is slow
	maxProblem  = 1 << 20         // bytes of an error that are read
)

// Client calls one server. It is safe for concurrent use.
type Client struct {
	find func() (base, token string, err error)
	http *http.Client

	// Wait waits before the nth try to reconnect (from 1) and returns an error
	// to give up. Set it before first use. nil gives up after about a minute.
	Wait func(ctx context.Context, n int, cause error) error
	// Silence is how long a stream can send nothing before it counts as broken;
	// 45 s when 0.
	Silence time.Duration
}

// New makes a client for the server with this state directory. Every call looks
// the server up again, because it can restart at another address.
func New(dir string) *Client {
	return newClient(func() (string, string, error) {
		e, token, err := ReadEndpoint(dir)
		return e.URL, token, err
	})
}

// At makes a client for the server at a base URL on this machine.
func At(base, token string) (*Client, error) {
	if err := onLoopback(base); err != nil {
		return nil, err
	}
	return newClient(func() (string, string, error) { return base, token, nil }), nil
}

func newClient(find func() (string, string, error)) *Client {
	return &Client{find: find, http: &http.Client{
		// No proxy: the token stays on this machine.
		Transport: &http.Transport{
			DialContext:         (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
			MaxIdleConnsPerHost: 4,
			IdleConnTimeout:     30 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Server returns the server's address and token. They can change when the server
// restarts.
func (c *Client) Server() (base, token string, err error) { return c.find() }

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// request makes a request for a path under /api/v1, with its token.
func (c *Client) request(ctx context.Context, method, path string, query url.Values, body any) (*http.Request, error) {
	base, token, err := c.find()
	if err != nil {
		return nil, err
	}
	var r io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		r = bytes.NewReader(b)
	}
	u := base + "/api/v1" + path
	if len(query) > 0 {
		u += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, u, r)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Accept", "application/json")
	if method != http.MethodGet {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// send sends a request and turns every failure into a *coppice.Error.
func (c *Client) send(req *http.Request) (*http.Response, error) {
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, unreachable(req.Context(), err)
	}
	if resp.StatusCode >= 300 {
		defer resp.Body.Close()
		return nil, decodeProblem(resp)
	}
	return resp, nil
}

func unreachable(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.DeadlineExceeded) {
		return cause
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return noServer(err)
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return &coppice.Error{Code: coppice.EUnavailable, Cause: "the coppice server does not answer", Fix: "see its log, or restart it with `coppice serve`", Err: err}
	}
	return &coppice.Error{Code: coppice.EUnavailable, Cause: "the connection to the coppice server broke", Fix: "try again; if it fails again, see the server's log", Err: err}
}

func decodeProblem(resp *http.Response) error {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxProblem))
	var p api.Problem
	if err == nil && kind == api.ProblemType && json.Unmarshal(b, &p) == nil && p.Detail != "" {
		return p.Err()
	}
	return coppice.Errorf(api.CodeOf(resp.StatusCode), "the server answered %s", resp.Status).
		WithFix("check that it is a coppice server, or restart it with `coppice serve`")
}

// call does a JSON call and decodes its answer into a T.
func call[T any](ctx context.Context, c *Client, method, path string, query url.Values, body any) (out T, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	req, err := c.request(ctx, method, path, query, body)
	if err != nil {
		return out, err
	}
	resp, err := c.send(req)
	if err != nil {
		return out, err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
		return out, unreachable(ctx, err)
	}
	return out, nil
}

func get[T any](ctx context.Context, c *Client, path string, query url.Values) (T, error) {
	return call[T](ctx, c, http.MethodGet, path, query, nil)
}

func post[T any](ctx context.Context, c *Client, path string, body any) (T, error) {
	if body == nil {
		body = struct{}{}
	}
	return call[T](ctx, c, http.MethodPost, path, nil, body)
}
