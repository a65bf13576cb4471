package forge

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"coppice"
)

// The limits of one request to a forge.
const (
	MaxAnswer   = 16 << 20 // bytes of an answer
	timeout     = 30 * time.Second
	mostWait    = 24 * time.Hour // that a forge can ask for
	defaultWait = time.Minute    // if it does not say how long
)

// sharedTransport is what requests use if Options has no transport. All forges of
// the process share its connections and its stored answers.
var sharedTransport = sync.OnceValue(func() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost, t.IdleConnTimeout = Parallel, 90*time.Second
	return Conditional(t)
})

// schemes has the word before the token in the header Authorization. An API key of
// Linear has none, other than its token of OAuth.
var schemes = map[string]string{"github": "Bearer ", "gitlab": "Bearer ", "gitea": "token "}

// Client returns the HTTP client with which an implementation talks to the forge of
// r. It adds the token to requests to the host of the API, and only there. A request
// fails as the methods of Forge do. Any other answer that is not a success fails
// with a *StatusError. See Cause.
func Client(r Remote, o Options) (*http.Client, error) {
	api, err := url.Parse(r.API)
	if err != nil || api.Host == "" {
		return nil, coppice.Errorf(coppice.EInvalid, "%s is not an address of an API", coppice.Quote(r.API)).WithField(cmp.Or(o.Key, "forge") + ".url")
	}
	t := &transport{kind: r.Kind, key: cmp.Or(o.Key, "forge"), api: api, next: o.Transport, token: o.Token, now: o.Now}
	if t.next == nil {
		t.next = sharedTransport()
	}
	if t.now == nil {
		t.now = time.Now
	}
	return &http.Client{Transport: t}, nil
}

// StatusError is the answer of a forge that refuses a request, such as 409 or 422.
type StatusError struct {
	Status int
	Text   string // the forge's own, in one line
}

func (e *StatusError) Error() string { return e.Text }

// Cause returns the error that a method of Forge fails with. The libraries of forges
// add the address of the request to what the client returns. A *StatusError that the
// implementation does not expect becomes a failure.
func Cause(err error) error {
	var failure *coppice.Failure
	var public *coppice.Error
	var status *StatusError
	var refused *Refused
	switch {
	case errors.As(err, &failure):
		return failure
	case errors.As(err, &public):
		return public
	case errors.As(err, &status):
		return coppice.Failf(coppice.ClassEnvironment, fmt.Sprintf("the forge refuses the request with the status %d: %s", status.Status, status.Text), "")
	case errors.As(err, &refused):
		return refused
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), err == nil:
		return err
	}
	return coppice.Failf(coppice.ClassEnvironment, "the forge sent an answer that Coppice does not understand: "+coppice.FirstLine(err.Error()), "check the version of the forge and the value of forge.url")
}

// transport adds the token, limits answers and time, and maps failures.
type transport struct {
	kind  string
	key   string // Options.Key
	api   *url.URL
	next  http.RoundTripper
	token func(context.Context) (string, error)
	now   func() time.Time
}

// RoundTrip implements http.RoundTripper. It reads the whole answer, so that every
// failure has one place.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(req.Context(), timeout)
	defer cancel()
	sent := req.Clone(ctx)
	sent.Header.Set("User-Agent", "coppice")
	token, err := t.authorize(sent)
	if err != nil {
		return nil, err
	}
	resp, err := t.next.RoundTrip(sent)
	if err != nil {
		return nil, t.unreachable(req.Context(), err)
	}
	defer resp.Body.Close()
	body, err := readAnswer(ctx, resp.Body)
	switch {
	case err != nil:
		return nil, t.unreachable(req.Context(), err)
	case len(body) > MaxAnswer:
		return nil, coppice.Failf(coppice.ClassEnvironment, fmt.Sprintf("the answer of %s is larger than %s", t.api.Host, coppice.Bytes(MaxAnswer)), "")
	case resp.StatusCode == http.StatusBadRequest && t.kind == "linear":
		// The answer has the errors of a GraphQL operation.
	case resp.StatusCode >= 400:
		text := answerText(resp, body)
		if token != "" {
			text = strings.ReplaceAll(text, token, "…")
		}
		return nil, t.failed(resp, text)
	}
	resp.Body, resp.Request = io.NopCloser(bytes.NewReader(body)), req
	resp.ContentLength = int64(len(body))
	return resp, nil
}

// authorize adds the token to a request to the API. A redirect to another host,
// such as the storage of logs, gets none.
func (t *transport) authorize(req *http.Request) (string, error) {
	if t.token == nil || req.URL.Scheme != t.api.Scheme || req.URL.Host != t.api.Host {
		return "", nil
	}
	token, err := t.token(req.Context())
	if err != nil {
		return "", err
	}
	token = strings.TrimSpace(token)
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", coppice.Failf(coppice.ClassAuth, "the token of "+t.api.Host+" has a character that no token has", t.tokenFix())
	}
	if token != "" {
		scheme := schemes[t.kind]
		if strings.HasPrefix(token, "lin_oauth_") {
			scheme = "Bearer "
		}
		req.Header.Set("Authorization", scheme+token)
	}
	return token, nil
}

// unreachable returns the failure of a request without an answer. If the caller
// gave up, it returns that.
func (t *transport) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("no answer in %s", timeout)
	}
	return coppice.Failf(coppice.ClassEnvironment, "cannot reach "+t.api.Host+": "+coppice.FirstLine(err.Error()),
		"check the network, the proxy in HTTPS_PROXY, and "+t.key+".url in coppice.yaml. For a private certificate, set SSL_CERT_FILE")
}

// failed returns the error of an answer that is not a success.
func (t *transport) failed(resp *http.Response, text string) error {
	host, wait := t.api.Host, t.waitUntil(resp)
	limited := resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusForbidden &&
		(!wait.IsZero() || strings.Contains(strings.ToLower(text), "rate limit"))
	switch {
	case limited || resp.StatusCode == http.StatusServiceUnavailable && !wait.IsZero():
		if wait.IsZero() {
			wait = t.now().Add(defaultWait)
		}
		f := coppice.Failf(coppice.ClassRateLimit, host+" limits the number of requests: "+text, "")
		f.RetryAt = wait
		return f
	case resp.StatusCode == http.StatusUnauthorized:
		return coppice.Failf(coppice.ClassAuth, host+" refuses the token: "+text, t.tokenFix())
	case resp.StatusCode == http.StatusForbidden:
		return coppice.Failf(coppice.ClassAuth, "the token of "+host+" lacks a permission: "+text, t.tokenFix())
	case resp.StatusCode == http.StatusNotFound:
		return coppice.Errorf(coppice.ENotFound, "%s does not have this, or the token cannot read it: %s", host, text).
			WithFix("check %s in coppice.yaml and the permissions of the token", t.key+map[bool]string{true: ".team", false: ".repo"}[t.kind == "linear"])
	case resp.StatusCode >= 500:
		return coppice.Failf(coppice.ClassEnvironment, fmt.Sprintf("%s answers with the error %d: %s", host, resp.StatusCode, text), "see the status page or the log of the forge")
	}
	return &StatusError{resp.StatusCode, text}
}

func (t *transport) tokenFix() string {
	for _, k := range coppice.TrackerKinds {
		if k.Name == t.kind {
			what := map[bool]string{true: "team", false: "repository"}[k.API != ""]
			return "store a token that can read and write the " + what + ": coppice secret set " + k.Token + ", or the name in " + t.key + ".token"
		}
	}
	return ""
}

// waitUntil returns until when the forge asks to wait. It is zero if the forge does
// not.
func (t *transport) waitUntil(resp *http.Response) time.Time {
	now := t.now()
	var until time.Time
	if s := resp.Header.Get("Retry-After"); s != "" {
		if n, err := strconv.Atoi(s); err == nil && n >= 0 {
			until = now.Add(min(time.Duration(n), mostWait/time.Second) * time.Second)
		} else if at, err := http.ParseTime(s); err == nil {
			until = at
		}
	}
	for _, name := range []string{"X-RateLimit-", "RateLimit-"} {
		// The reset counts only if no request is left: forges send it always.
		left := resp.Header.Get(name + "Remaining")
		n, err := strconv.ParseInt(resp.Header.Get(name+"Reset"), 10, 64)
		if until.IsZero() && err == nil && (left == "0" || resp.StatusCode == http.StatusTooManyRequests) {
			until = time.Unix(n, 0)
		}
	}
	switch {
	case until.IsZero():
		return until
	case until.Before(now):
		return now.Add(time.Second)
	case until.After(now.Add(mostWait)):
		return now.Add(mostWait)
	}
	return until
}

// answerText returns what the forge says about a failure, in one line.
func answerText(resp *http.Response, body []byte) string {
	var fields struct {
		Message, Error json.RawMessage
		Errors         []json.RawMessage
	}
	parts := []string{}
	if json.Unmarshal(body, &fields) == nil {
		for _, raw := range append([]json.RawMessage{fields.Message, fields.Error}, fields.Errors...) {
			var s string
			if json.Unmarshal(raw, &s) != nil {
				s = string(raw) // an object of a validation
			}
			if s != "" && s != "null" && len(parts) < 3 {
				parts = append(parts, s)
			}
		}
	} else if !bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) { // a page in HTML says nothing
		parts = append(parts, string(body[:min(len(body), 1<<10)]))
	}
	if text := coppice.FirstLine(strings.ToValidUTF8(strings.Join(parts, "; "), "\uFFFD")); text != "" {
		return text
	}
	return fmt.Sprintf("%d %s", resp.StatusCode, strings.ToLower(http.StatusText(resp.StatusCode)))
}
