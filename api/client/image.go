package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"coppice"
	"coppice/api"
)

// Image returns a picture that a session took: a piece of its output of kind
// image, by its offset.
func (c *Client) Image(ctx context.Context, session string, offset int64) ([]byte, error) {
	return c.bytes(ctx, "/sessions/"+url.PathEscape(session)+"/images/"+strconv.FormatInt(offset, 10), "image/*")
}

// Upload stores an image for a task or a message and returns its id.
func (c *Client) Upload(ctx context.Context, image []byte) (string, error) {
	i, err := post[coppice.Image](ctx, c, "/images", map[string]any{"data": image})
	return i.ID, err
}

// CheckLog returns the whole log of a check, which a task's detail might cut.
func (c *Client) CheckLog(ctx context.Context, task string, check int64) (string, error) {
	b, err := c.bytes(ctx, api.CheckPath(url.PathEscape(task), check), "text/plain")
	return string(b), err
}

// Evidence returns the whole evidence of a landing, which a task's detail might
// cut.
func (c *Client) Evidence(ctx context.Context, task string, landing int64) (string, error) {
	b, err := c.bytes(ctx, api.EvidencePath(url.PathEscape(task), landing), "text/plain")
	return string(b), err
}

// bytes gets a response that is not JSON.
func (c *Client) bytes(ctx context.Context, path, accept string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	req, err := c.request(ctx, http.MethodGet, path, nil, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", accept)
	resp, err := c.send(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, unreachable(ctx, err)
	}
	return b, nil
}
