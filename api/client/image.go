package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
)

// Image returns a picture that a session took: a piece of its output of kind
// image, by its offset.
func (c *Client) Image(ctx context.Context, session string, offset int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	path := "/sessions/" + url.PathEscape(session) + "/images/" + strconv.FormatInt(offset, 10)
	req, err := c.request(ctx, http.MethodGet, path, nil, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "image/*")
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
