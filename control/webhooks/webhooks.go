// Package webhooks receives webhooks of forges, on a listener that serves nothing else
// except the signed links that answer a question (package answerlink).
//
// A webhook carries no facts. A valid one says that a pull request, a commit or a
// branch changed, and Coppice then reads the forge itself. So nobody can forge a fact,
// and an event that arrives by webhook and by polling is handled once.
package webhooks

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"coppice"
	"coppice/forge"
	"coppice/store"
)

// Path is where the webhooks of a project arrive: its prefix follows.
const Path = "/hooks/"

// The limits of the listener.
const (
	MaxBody     = 1 << 20
	maxDiscard  = 32 << 20 // of a larger body; GitHub sends at most 25 MB
	maxHeader   = 16 << 10
	maxConns    = 32               // at the same time; further ones wait to be accepted
	bodyTime    = 10 * time.Second // headers included
	answerTime  = 10 * time.Second // after the request
	stopTime    = 5 * time.Second
	retryListen = 10 * time.Second
)

// Config has the dependencies of a Server. All fields except Answers, After and BodyTime
// are required.
type Config struct {
	Listen string // an IP address and a port
	Store  store.Store
	// Remote returns where a project's repository is on its forge.
	Remote func(context.Context, coppice.ForgeSpec) (forge.Remote, error)
	// Secret resolves a secret by its name, and makes sure that its value is masked.
	Secret func(ctx context.Context, name string) (string, error)
	// Changed stores that a forge of this kind reports a change.
	Changed func(ctx context.Context, kind string, project int64, h coppice.ForgeHint) error
	Now     func() time.Time
	Log     *slog.Logger
	// Answers serves the signed links below AnswerPath that answer a question; nil means
	// that there are none.
	Answers    http.Handler
	AnswerPath string
	After      func(time.Duration) <-chan time.Time // nil means time.After
	// BodyTime is how long a request can take to arrive; 0 means 10 s.
	BodyTime time.Duration
}

// Server receives webhooks. It is a startstop.Service. If its address is in use, it
// tries again later, and Problem says so.
type Server struct {
	cfg     Config
	targets targets
	seen    replays
	cancel  context.CancelFunc
	wg      sync.WaitGroup

	mu      sync.Mutex
	addr    net.Addr
	problem error
}

// New returns a Server.
func New(c Config) *Server {
	if c.After == nil {
		c.After = time.After
	}
	c.BodyTime = cmp.Or(c.BodyTime, bodyTime)
	return &Server{cfg: c, targets: newTargets(c)}
}

// Problem returns why the server receives nothing, or nil.
func (s *Server) Problem() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.problem
}

// Addr returns where the server listens, or nil.
func (s *Server) Addr() net.Addr {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addr
}

// Start listens. It does not fail: Coppice works without webhooks.
func (s *Server) Start(ctx context.Context) error {
	ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	ln := s.listen(ctx)
	s.wg.Go(func() {
		for {
			if ln != nil {
				s.serve(ctx, ln)
			}
			select {
			case <-ctx.Done():
				return
			case <-s.cfg.After(retryListen):
				ln = s.listen(ctx)
			}
		}
	})
	return nil
}

// Stop ends the listener. Requests that are being answered have some seconds.
func (s *Server) Stop() {
	if s.cancel != nil {
		s.cancel()
	}
	s.wg.Wait()
}

// listen returns a listener, or nil if the address cannot be used. It logs a problem
// one time.
func (s *Server) listen(ctx context.Context) net.Listener {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", s.cfg.Listen)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		if s.problem == nil && ctx.Err() == nil {
			s.cfg.Log.Error("webhooks cannot be received; it is tried again", "listen", s.cfg.Listen, "error", err)
		}
		s.addr, s.problem = nil, err
		return nil
	}
	s.addr, s.problem = ln.Addr(), nil
	s.cfg.Log.Info("receiving webhooks", "listen", ln.Addr().String())
	return limited{ln, make(chan struct{}, maxConns)}
}

// serve answers until ctx ends, or the listener fails.
func (s *Server) serve(ctx context.Context, ln net.Listener) {
	srv := &http.Server{
		Handler: s, ReadHeaderTimeout: s.cfg.BodyTime, ReadTimeout: s.cfg.BodyTime, WriteTimeout: s.cfg.BodyTime + answerTime, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
		ErrorLog:    slog.NewLogLogger(s.cfg.Log.Handler(), slog.LevelDebug),
	}
	srv.SetKeepAlivesEnabled(false) // a connection that waits would take the place of another
	stopped := make(chan struct{})
	end := context.AfterFunc(ctx, func() {
		defer close(stopped)
		wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		if srv.Shutdown(wait) != nil {
			_ = srv.Close() // what still runs is ended
		}
	})
	err := srv.Serve(ln)
	if end() {
		s.mu.Lock()
		s.addr, s.problem = nil, err
		s.mu.Unlock()
		s.cfg.Log.Error("the listener for webhooks ended", "error", err)
		return
	}
	<-stopped
}

// limited accepts a limited number of connections.
type limited struct {
	net.Listener
	slots chan struct{}
}

// Accept implements net.Listener. A connection waits in the kernel until there is a
// slot. Close of the listener ends the wait: it closes the accepted connections, whose
// slots are then free.
func (l limited) Accept() (net.Conn, error) {
	l.slots <- struct{}{}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &slotted{Conn: c, free: sync.OnceFunc(func() { <-l.slots })}, nil
}

type slotted struct {
	net.Conn
	free func()
}

// Close implements net.Conn.
func (c *slotted) Close() error {
	defer c.free()
	return c.Conn.Close()
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.cfg.Answers != nil && strings.HasPrefix(r.URL.Path, s.cfg.AnswerPath) {
		s.cfg.Answers.ServeHTTP(w, r)
		return
	}
	result, err := s.receive(r)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	status, answer := http.StatusOK, any(map[string]string{"result": result})
	if err != nil {
		e := coppice.Public(err)
		status = cmp.Or(statuses[e.Code], http.StatusServiceUnavailable)
		answer = map[string]any{"error": map[string]string{"code": string(e.Code), "message": e.Cause, "fix": e.Fix}}
		if status == http.StatusMethodNotAllowed {
			w.Header().Set("Allow", http.MethodPost)
		}
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer) // the forge might have gone
}

// eMethod is the code of a method that is not POST.
const eMethod coppice.Code = "method_not_allowed"

var statuses = map[coppice.Code]int{
	coppice.EInvalid: http.StatusBadRequest, coppice.EForbidden: http.StatusForbidden, coppice.ENotFound: http.StatusNotFound,
	coppice.ETooLarge: http.StatusRequestEntityTooLarge, eMethod: http.StatusMethodNotAllowed,
}

// errRefused is the answer whatever is wrong: an answer that says more would show which
// projects exist.
var errRefused = coppice.Errorf(coppice.EForbidden, "the webhook is not accepted").
	WithFix("check the address and the secret of the webhook, forge.webhook in coppice.yaml, and the log of coppice serve")

// receive handles a request, and returns what happened to it.
func (s *Server) receive(r *http.Request) (string, error) {
	prefix, found := strings.CutPrefix(r.URL.Path, Path)
	switch {
	case !found || prefix == "" || strings.Contains(prefix, "/"):
		return "", coppice.Errorf(coppice.ENotFound, "there is nothing here").WithFix("send webhooks to %sPREFIX, with the prefix of the project", Path)
	case r.Method != http.MethodPost:
		return "", coppice.Errorf(eMethod, "webhooks are sent with POST").WithFix("send webhooks with POST")
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return "", coppice.Errorf(coppice.EInvalid, "the content type is not application/json").WithFix("set the content type of the webhook to application/json")
	}
	body, err := readBody(r)
	if err != nil {
		return "", err
	}
	return s.deliver(r.Context(), prefix, r.Header, body)
}

// readBody returns the body. It reads more than it accepts, and keeps none of that: a
// client that still writes would not get the answer.
func readBody(r *http.Request) ([]byte, error) {
	var body []byte
	var err error
	if r.ContentLength <= MaxBody {
		body, err = io.ReadAll(io.LimitReader(r.Body, MaxBody+1))
	}
	if r.ContentLength > MaxBody || len(body) > MaxBody {
		_, _ = io.CopyN(io.Discard, r.Body, maxDiscard) // it ends with the body, or with the time for it
		return nil, coppice.Errorf(coppice.ETooLarge, "the webhook is larger than %v", coppice.Bytes(MaxBody)).
			WithFix("nothing is lost: Coppice reads the forge at intervals")
	}
	if err != nil {
		return nil, coppice.Errorf(coppice.EInvalid, "the body did not arrive whole").WithFix("send the webhook again")
	}
	return body, nil
}

// deliver checks a webhook and stores what it reports.
func (s *Server) deliver(ctx context.Context, prefix string, h http.Header, body []byte) (string, error) {
	now := s.cfg.Now()
	t, err := s.targets.find(ctx, prefix)
	if err != nil {
		return "", s.unavailable(err)
	}
	id, signed := forge.Signed(t.remote.Kind, t.secret, h, body, now)
	if !signed {
		s.targets.warn(t, now, "its signature is wrong or missing")
		return "", errRefused
	}
	key := replay{t.project, id}
	if s.seen.has(key, now) {
		return "ignored: this delivery has arrived before", nil
	}
	hook, err := forge.ParseWebhook(t.remote.Kind, body)
	if err != nil {
		return "", err
	}
	if own := t.remote.Owner + "/" + t.remote.Name; !strings.EqualFold(hook.Repo, own) {
		s.targets.warn(t, now, "it is of the repository "+coppice.Quote(hook.Repo)+", and the project's is "+coppice.Quote(own))
		return "", errRefused
	}
	if !hook.At.IsZero() && hook.At.Before(now.Add(-Window)) {
		return "ignored: the event is more than an hour old", nil
	}
	if err := s.cfg.Changed(ctx, t.remote.Kind, t.project, hook.Hint); err != nil {
		return "", s.unavailable(err)
	}
	s.seen.add(key, now)
	return "accepted", nil
}

// unavailable logs an error of the store, which the forge does not get.
func (s *Server) unavailable(err error) error {
	s.cfg.Log.Error("a webhook could not be stored", "error", err)
	return coppice.Errorf(coppice.EUnavailable, "the webhook cannot be stored now").WithFix("send it again; the log of coppice serve has the cause")
}
