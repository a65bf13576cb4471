package client

import (
	"bytes"
	"context"
	"io"
	"mime"
	"net/http"
	"net/url"

	"coppice"
)

// Raw makes a call of the API that a person named: a method, and a path below
// /api/v1, which can have a query. It passes the answer to f, with its media type. A
// status other than 2xx is an error.
func (c *Client) Raw(ctx context.Context, method, path string, body []byte, f func(kind string, r io.Reader) error) error {
	u, err := url.Parse(path)
	if err != nil || u.Host != "" || u.Fragment != "" {
		return coppice.Errorf(coppice.EInvalid, "%s is not a path of the API", coppice.Quote(path)).WithFix("write it as in /tasks/app-4")
	}
	req, err := c.request(ctx, method, u.EscapedPath(), u.Query(), nil)
	if err != nil {
		return err
	}
	if body == nil && method != http.MethodGet {
		body = []byte("{}")
	}
	if body != nil {
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	resp, err := c.send(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return f(kind, resp.Body)
}
