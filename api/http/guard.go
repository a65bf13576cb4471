package http

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"mime"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"coppice"
	"coppice/api"
)

// The checks of a request, in this order:
//
//  0. A signed link that answers a question needs only the first of these checks.
//  1. Host must be a name of this server with its port: a page that rebinds its own
//     name to loopback is refused before anything else.
//  2. Sec-Fetch-Site, if a browser sends it, must say that the request
//     comes from the server's own page or from the address bar. Another port
//     of this machine counts as foreign: what an agent serves there is untrusted.
//  3. Origin, if it is sent, must be the server's own.
//  4. A token (Authorization: Bearer) or a signed-in browser's cookie.
//  5. Unsafe methods must carry application/json, which no foreign page can
//     send without a preflight that nobody answers; with a cookie they must
//     also carry an Origin. DELETE always needs that preflight, so it can have
//     no body instead.
//
// No response has a CORS header.

// open lists the paths that need no token and return nothing confidential.
var open = map[string]bool{"/healthz": true, "/readyz": true, "/login": true}

// who says how a request is authenticated.
type who int

const (
	nobody who = iota
	bearer
	browser
)

func safe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead
}

func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := &recorder{ResponseWriter: w, body: &requestBody{ReadCloser: r.Body, ended: r.ContentLength == 0}}
		begin := s.cfg.Now()
		defer s.finish(rec, r, begin)
		secure(rec.Header())
		r.Body = http.MaxBytesReader(rec, rec.body, maxBody)
		if s.isAnswer(r) && s.knows(r.Host) {
			rec.Header().Set("Connection", "close")
			s.cfg.Answers.ServeHTTP(rec, r)
			return
		}
		err := s.admit(r)
		if err != nil || open[r.URL.Path] {
			rec.Header().Set("Connection", "close") // a client without a token gets one answer and no open connection
		}
		if err != nil {
			s.refuseBrowser(rec, r, err)
			return
		}
		next.ServeHTTP(rec, r)
	})
}

// finish counts and logs a request, and turns a panic into an internal error.
// Headers and the query are not logged: both can contain secrets.
func (s *Server) finish(rec *recorder, r *http.Request, begin time.Time) {
	if p := recover(); p != nil {
		if p == http.ErrAbortHandler {
			panic(p)
		}
		s.log.Error("a request panicked", "method", r.Method, "path", s.logged(r), "panic", p, "stack", string(debug.Stack()))
		if rec.status == 0 {
			s.fail(rec, r, coppice.Errorf(coppice.EInternal, "panic"))
		}
	}
	s.traffic.count(r.Method, rec.status)
	s.log.Debug("request", "method", r.Method, "path", s.logged(r), "status", rec.status, "took", s.cfg.Now().Sub(begin))
}

// isAnswer reports whether a request is for a signed link that answers a question. The
// link is opened from a message, so the request comes from another site and has no token:
// its signature is checked instead.
func (s *Server) isAnswer(r *http.Request) bool {
	return s.cfg.Answers != nil && strings.HasPrefix(r.URL.Path, s.cfg.AnswerPath)
}

// logged returns the path of a request as the log shows it: a signed link is a secret.
func (s *Server) logged(r *http.Request) string {
	if s.isAnswer(r) {
		return s.cfg.AnswerPath
	}
	return r.URL.Path
}

func secure(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

func (s *Server) admit(r *http.Request) error {
	if !s.knows(r.Host) {
		return coppice.Errorf(coppice.EForbidden, "%s is not a name of this server", coppice.Quote(r.Host)).
			WithFix("use 127.0.0.1 and its port, or add the name with `coppice serve --name`")
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && (site != "none" || !safe(r.Method)) {
		return coppice.Errorf(coppice.EForbidden, "requests from other sites are refused")
	}
	if !s.ownOrigin(r) {
		return coppice.Errorf(coppice.EForbidden, "requests from other origins are refused")
	}
	if len(r.Header.Values("Authorization")) > 1 || len(r.Header.Values("Origin")) > 1 {
		return coppice.Errorf(coppice.EInvalid, "a header was sent twice")
	}
	if open[r.URL.Path] {
		if !safe(r.Method) {
			return coppice.Errorf(coppice.EForbidden, "this address can only be read")
		}
		return nil
	}
	by := s.identify(r)
	if by == nobody {
		return coppice.Errorf(coppice.EUnauthorized, "the request has no valid token").
			WithFix("use the coppice command, which reads the token of the running server; a browser signs in with the link that `coppice login` prints")
	}
	if safe(r.Method) {
		return nil
	}
	if by == browser && r.Header.Get("Origin") == "" {
		return coppice.Errorf(coppice.EForbidden, "the request has no Origin header")
	}
	if r.Method == http.MethodDelete && r.ContentLength == 0 {
		return nil
	}
	return onlyJSON(r)
}

// ownOrigin reports whether the request's Origin, if it has one, is the page
// that the request goes to.
func (s *Server) ownOrigin(r *http.Request) bool {
	if len(r.Header.Values("Origin")) == 0 {
		return true
	}
	origin := r.Header.Get("Origin")
	return origin == "http://"+r.Host || origin == "https://"+r.Host
}

func onlyJSON(r *http.Request) error {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return &api.Problem{
			Status: http.StatusUnsupportedMediaType, Title: http.StatusText(http.StatusUnsupportedMediaType),
			Code: coppice.EInvalid, Detail: "only application/json is accepted", Fix: "send Content-Type: application/json",
		}
	}
	return nil
}

// identify returns how the request is authenticated. Secrets are compared by
// their hashes, in constant time.
func (s *Server) identify(r *http.Request) who {
	if auth := r.Header.Get("Authorization"); auth != "" {
		token, ok := strings.CutPrefix(auth, "Bearer ")
		if ok && sameSecret(token, s.cfg.Token) {
			return bearer
		}
		return nobody // with a wrong token, a cookie does not count
	}
	if c, err := r.Cookie(s.cookieName(r)); err == nil && s.login.signedIn(c.Value) {
		return browser
	}
	return nobody
}

func sameSecret(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// dispatch routes the request. A request without a route gets a Problem.
func (s *Server) dispatch(w http.ResponseWriter, r *http.Request) {
	h, pattern := s.mux.Handler(r)
	if pattern != "" {
		s.mux.ServeHTTP(w, r)
		return
	}
	probe := &refusal{header: http.Header{}}
	h.ServeHTTP(probe, r)
	if probe.status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", probe.header.Get("Allow"))
		s.fail(w, r, &api.Problem{
			Status: probe.status, Title: http.StatusText(probe.status), Code: coppice.EInvalid,
			Detail: "this address does not accept the method " + coppice.Quote(r.Method), Fix: "use " + probe.header.Get("Allow"),
		})
		return
	}
	s.fail(w, r, coppice.Errorf(coppice.ENotFound, "there is nothing at %s", coppice.Quote(r.URL.Path)).WithFix("see /api/openapi.json for all addresses"))
}

// refusal records the mux's answer to a request without a route.
type refusal struct {
	header http.Header
	status int
}

func (p *refusal) Header() http.Header         { return p.header }
func (p *refusal) WriteHeader(status int)      { p.status = status }
func (p *refusal) Write(b []byte) (int, error) { return len(b), nil }

// stream returns a context that ends with the request or with the server.
func (s *Server) stream(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	s.mu.Lock()
	streams := s.streams
	s.mu.Unlock()
	stop := context.AfterFunc(streams, func() { cancel(context.Cause(streams)) })
	return ctx, func() { stop(); cancel(nil) }
}
