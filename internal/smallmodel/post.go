package smallmodel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// mostAnswer bounds what is read of an answer.
const mostAnswer = 1 << 20

// client follows no redirect: a key is for the service it was meant for. It
// keeps no connection, so that nothing has to be closed.
var client = &http.Client{
	Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// post sends body to the address and reads the answer into answer. An answer
// whose status is not 200 is an error; what it says is not read. No error holds
// a header.
func post(ctx context.Context, address string, headers map[string]string, body, answer any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("asking a model: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("asking a model: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	for k, v := range headers {
		r.Header.Set(k, v)
	}
	resp, err := client.Do(r)
	if err != nil {
		return fmt.Errorf("asking a model: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("asking a model: %s answered %d", r.URL.Host, resp.StatusCode)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, mostAnswer)).Decode(answer); err != nil {
		return fmt.Errorf("asking a model: the answer of %s cannot be read: %w", r.URL.Host, err)
	}
	return nil
}

// join joins a base address and a path. The base is http or https and has no
// name or password in it.
func join(base, path string) (string, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return "", errors.New("that is not the address of a service")
	}
	return strings.TrimSuffix(base, "/") + path, nil
}
