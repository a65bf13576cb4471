package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Headers and versions of the protocol. Clients of sessionless versions have no
// session: each of their requests says what the server must know.
const (
	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"
	sessionless   = "2026-07-28" // and newer
)

// Limits of sessions without an open request.
const (
	mostIdle = 64
	idleTime = 10 * time.Minute
)

// handler serves a server over HTTP.
//
// A client's session has an id that contains what the client can do. So the memory
// of a session is only a cache: it is created for a request whose id is not known,
// which is the first one of a session and the first one after a restart of the server.
// It is dropped when the client ends the session, when it was idle for idleTime, and
// when more than mostIdle sessions are idle.
type handler struct {
	ctx    context.Context // of new sessions; it does not end
	server *mcp.Server
	single http.Handler // answers a request without a session by one document
	stream http.Handler // answers a request of a sessionless version

	mu   sync.Mutex
	over bool
	kept map[string]*kept // by id
	idle []*kept          // longest first
}

// kept is a session in memory.
type kept struct {
	id        string
	transport *transport
	open      int         // requests
	expires   *time.Timer // runs while the session is idle
}

// Handler serves a server over HTTP. The server can send requests and notifications
// to clients. The callers check tokens and the Host header. ctx ends all sessions.
func Handler(ctx context.Context, server *mcp.Server, log *slog.Logger) http.Handler {
	h := &handler{ctx: context.WithoutCancel(ctx), server: server, single: single(server, log), stream: alone(server, log, false), kept: map[string]*kept{}}
	context.AfterFunc(ctx, h.close)
	return h
}

// single serves a server over HTTP without memory: each request is answered by one
// JSON document, without requests to the client.
func single(server *mcp.Server, log *slog.Logger) http.Handler {
	return withID(alone(server, log, true))
}

func alone(server *mcp.Server, log *slog.Logger, oneDocument bool) http.Handler {
	if log != nil {
		log = slog.New(problems{log.Handler()})
	}
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: oneDocument, Logger: log, DisableLocalhostProtection: true})
}

// withID gives a client that initializes a session its id.
func withID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			body, ok := readBody(w, r)
			if !ok {
				return
			}
			var m struct {
				Method string
				Params mcp.InitializeParams
			}
			if json.Unmarshal(body, &m) == nil && m.Method == "initialize" {
				w.Header().Set(sessionHeader, newSessionID(m.Params))
			}
		}
		next.ServeHTTP(w, r)
	})
}

// readBody reads the body of a request, which can be read again afterwards. If it
// fails, the request is answered.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mcp.DefaultMaxRequestBodyBytes))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		http.Error(w, "the body is too large", http.StatusRequestEntityTooLarge)
	case err != nil:
		http.Error(w, "the body cannot be read", http.StatusBadRequest)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body, err == nil
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, version := r.Header.Get(sessionHeader), r.Header.Get(versionHeader)
	if version >= sessionless {
		h.stream.ServeHTTP(w, r)
		return
	}
	if id == "" {
		h.single.ServeHTTP(w, r)
		return
	}
	client, ok := parseSessionID(id)
	switch {
	case !ok:
		http.Error(w, "session not found", http.StatusNotFound) // the client starts a new one
		return
	case version != "" && !slices.Contains(mcp.SupportedProtocolVersions(), version):
		http.Error(w, "the version of the protocol is not supported", http.StatusBadRequest)
		return
	case r.Method == http.MethodDelete:
		h.drop(id)
		w.WriteHeader(http.StatusNoContent)
		return
	case r.Method == http.MethodPost:
		body, ok := readBody(w, r)
		if !ok {
			return
		}
		if isBatch(body) {
			http.Error(w, noBatches, http.StatusBadRequest)
			return
		}
	case r.Method != http.MethodGet:
		w.Header().Set("Allow", "GET, POST, DELETE")
		http.Error(w, "Method Not Allowed", http.StatusMethodNotAllowed)
		return
	}
	k, err := h.session(id, client)
	if err != nil {
		http.Error(w, "the session cannot be started", http.StatusServiceUnavailable)
		return
	}
	defer h.release(k)
	k.transport.ServeHTTP(w, r)
}

const noBatches = "batches are not supported; send one message in each request"

func isBatch(body []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) }

// session returns a session for one request. The caller calls release.
func (h *handler) session(id string, client *mcp.InitializeParams) (*kept, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over {
		return nil, errors.New("tools: the server is stopping")
	}
	k := h.kept[id]
	if k == nil {
		k = &kept{id: id, transport: newTransport(id)}
		_, err := h.server.Connect(h.ctx, k.transport, &mcp.ServerSessionOptions{State: &mcp.ServerSessionState{
			InitializeParams: client, InitializedParams: &mcp.InitializedParams{}, LogLevel: "info",
		}})
		if err != nil {
			return nil, err
		}
		h.kept[id] = k
	}
	if k.open++; k.open == 1 {
		h.wake(k)
	}
	return k, nil
}

// release ends a request of a session.
func (h *handler) release(k *kept) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if k.open--; k.open > 0 || h.kept[k.id] != k {
		return
	}
	h.idle = append(h.idle, k)
	k.expires = time.AfterFunc(idleTime, func() { h.expire(k) })
	if len(h.idle) > mostIdle {
		h.remove(h.idle[0])
	}
}

// wake takes a session out of the idle ones. The caller holds mu.
func (h *handler) wake(k *kept) {
	if k.expires != nil {
		k.expires.Stop()
	}
	h.idle = slices.DeleteFunc(h.idle, func(o *kept) bool { return o == k })
}

func (h *handler) expire(k *kept) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if k.open == 0 && h.kept[k.id] == k {
		h.remove(k)
	}
}

// drop ends a session, with its open requests.
func (h *handler) drop(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if k := h.kept[id]; k != nil {
		h.remove(k)
	}
}

// remove forgets a session. The caller holds mu.
func (h *handler) remove(k *kept) {
	h.wake(k)
	delete(h.kept, k.id)
	k.transport.end()
}

// close ends all sessions. No more are started.
func (h *handler) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
	for _, k := range h.kept {
		h.remove(k)
	}
}
