package notify

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"coppice"
)

// The limits of one request.
const (
	maxAnswer   = 64 << 10
	mostWait    = 24 * time.Hour // that a service can ask for
	defaultWait = time.Minute    // if it does not say how long
	leastSecret = 8              // length of a part of an address that is hidden
)

// Client sends requests to services. It follows no redirects: the message, and a token
// in it, are only for the address of the notifier.
type Client struct {
	HTTP *http.Client
	Now  func() time.Time
}

// NewClient returns a Client. A nil transport means that of net/http.
func NewClient(transport http.RoundTripper, now func() time.Time) *Client {
	if transport == nil {
		transport = http.DefaultTransport.(*http.Transport).Clone()
	}
	refuse := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{HTTP: &http.Client{Transport: transport, CheckRedirect: refuse}, Now: now}
}

// Request is a POST request to a service.
type Request struct {
	URL     string
	Header  http.Header
	Body    []byte
	Secrets []string // that no error has, besides the parts of the path
}

// Post sends a request and returns the answer. An answer that is not a success is a
// failure. Explain can make a better one from its body; it returns nil if it cannot.
func (c *Client) Post(ctx context.Context, r Request, explain func(status int, body []byte) *coppice.Failure) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return nil, coppice.Failf(coppice.ClassCapability, "the address of the notifier is not valid", "write it as https://host/path")
	}
	for name, values := range r.Header {
		req.Header[name] = values
	}
	req.Header.Set("User-Agent", "coppice")
	hide := hider(req.URL, r.Secrets)
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return nil, unreachable(ctx, req.URL.Host, hide, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil && resp.StatusCode < 300 { // the status alone says that it has failed
		return nil, unreachable(ctx, req.URL.Host, hide, err)
	}
	var f *coppice.Failure
	if explain != nil {
		f = explain(resp.StatusCode, body)
	}
	if f == nil {
		f = c.refused(resp, body)
	}
	if f == nil {
		return body, nil
	}
	if f.Class == coppice.ClassRateLimit && f.RetryAt.IsZero() {
		f.RetryAt = c.retryAt(resp)
	}
	f.Text = coppice.FirstLine(hide(req.URL.Host + ": " + f.Text))
	return nil, f
}

// unreachable returns the failure of a request without an answer. An error of net/http
// contains the address, which can be a secret.
func unreachable(ctx context.Context, host string, hide func(string) string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var in *url.Error
	if errors.As(err, &in) {
		err = in.Err
	}
	return coppice.Failf(coppice.ClassEnvironment, "cannot reach "+host+": "+coppice.FirstLine(hide(err.Error())),
		"check the network, the proxy in HTTPS_PROXY, and the url of the notifier. For a private certificate, set SSL_CERT_FILE")
}

// refused returns the failure of an answer that is not a success, or nil.
func (c *Client) refused(resp *http.Response, body []byte) *coppice.Failure {
	text := fmt.Sprintf("it answers with the status %d: %s", resp.StatusCode, answerText(resp, body))
	switch s := resp.StatusCode; {
	case s < 300:
		return nil
	case s < 400:
		return coppice.Failf(coppice.ClassCapability, fmt.Sprintf("it answers with a redirect (%d), and a message is sent only to the address of the notifier", s), "write the new address to url")
	case s == http.StatusTooManyRequests || s == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") != "":
		return coppice.Failf(coppice.ClassRateLimit, "it limits the number of messages: "+answerText(resp, body), "")
	case s == http.StatusUnauthorized || s == http.StatusForbidden:
		return coppice.Failf(coppice.ClassAuth, text, "check the token or the address of the notifier, and store it again with `coppice secret set`")
	case s >= 500 || s == http.StatusRequestTimeout || s == http.StatusTooEarly:
		return coppice.Failf(coppice.ClassEnvironment, text, "see the status page of the service")
	case s == http.StatusNotFound || s == http.StatusGone:
		return coppice.Failf(coppice.ClassCapability, text, "check the address and the receivers of the notifier; the service might have removed them")
	}
	return coppice.Failf(coppice.ClassCapability, text, "check the fields of the notifier; see docs/notifications.md")
}

// retryAt returns when a service that limits requests accepts the next one.
func (c *Client) retryAt(resp *http.Response) time.Time {
	now := c.Now()
	header := resp.Header.Get("Retry-After")
	if at, err := http.ParseTime(header); err == nil {
		return After(now, at.Sub(now).Seconds())
	}
	seconds, err := strconv.ParseFloat(header, 64)
	if err != nil {
		seconds = defaultWait.Seconds()
	}
	return After(now, seconds)
}

// After returns the time after a number of seconds that a service asks for: at least
// one second, at most a day.
func After(now time.Time, seconds float64) time.Time {
	if math.IsNaN(seconds) {
		seconds = defaultWait.Seconds()
	}
	return now.Add(time.Duration(math.Ceil(min(max(seconds, 1), mostWait.Seconds()))) * time.Second)
}

// answerText returns what a service says about a failure, in one line.
func answerText(resp *http.Response, body []byte) string {
	var fields struct{ Message, Error, Description, Errors json.RawMessage }
	text := ""
	if json.Unmarshal(body, &fields) == nil {
		for _, raw := range []json.RawMessage{fields.Message, fields.Error, fields.Description, fields.Errors} {
			var s string
			if json.Unmarshal(raw, &s) != nil {
				s = string(raw)
			}
			if s != "" && s != "null" {
				text = s
				break
			}
		}
	} else if !bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) { // a page in HTML says nothing
		text = string(body[:min(len(body), 1<<10)])
	}
	return cmp.Or(coppice.FirstLine(strings.ToValidUTF8(text, "\uFFFD")), strings.ToLower(http.StatusText(resp.StatusCode)), "no reason")
}

// hider returns a function that hides secrets in a text: those of a request, and the
// long parts of its address, which is a secret for many services.
func hider(u *url.URL, secrets []string) func(string) string {
	hidden := slices.Clone(secrets)
	for _, part := range append(strings.Split(u.EscapedPath(), "/"), u.RawQuery, u.Path, u.EscapedPath()) {
		if len(part) >= leastSecret {
			hidden = append(hidden, part)
		}
	}
	slices.SortFunc(hidden, func(a, b string) int { return len(b) - len(a) }) // a part of one can be another
	return func(text string) string {
		for _, s := range hidden {
			if s != "" {
				text = strings.ReplaceAll(text, s, "…")
			}
		}
		return text
	}
}
