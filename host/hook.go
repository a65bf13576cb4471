package host

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"coppice"
	"coppice/agent"
)

const (
	privateDir = "private" // 0700; the launch's files, removed when the agent has ended
	hookPath   = "/hook"
	maxHook    = 4 << 20 // bytes of a hook's body
	hookWait   = 30 * time.Second
)

// endpoint is the address at which the host answers its agent, on loopback,
// while the agent runs. It answers the hooks that the agent calls before it uses
// a tool, if the agent's driver takes them, and the calls of Coppice's tools.
// Each has a separate token. A caller without it gets "not found".
type endpoint struct {
	listener net.Listener
	server   *http.Server
	tools    string           // the token for tools; empty if the agent gets none
	call     http.HandlerFunc // answers a call of a tool
	token    string           // the token for hooks; empty if the driver takes none
	ready    chan struct{}    // closed when the driver has started
	once     sync.Once
	ask      func(body []byte) ([]byte, error)

	mu   sync.Mutex // held while a call is answered
	over bool       // the agent is gone; no call is answered any more
}

// setupLaunch prepares what the agent's launch might need: the path of a private
// directory, the session's token, and the address for hooks.
func (h *host) setupLaunch(p agent.Protocol) error {
	h.spec.Request.Private = h.path(privateDir)
	h.spec.Request.Token, h.spec.Request.Secrets = h.spec.Env[agent.TokenVar], h.spec.Secrets
	hooks := takesHooks(p, h.spec)
	if !hooks && !h.spec.Tools {
		return nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("the address for the agent's tools and hooks could not be opened: %w", err)
	}
	k := &endpoint{listener: l, ready: make(chan struct{}), ask: h.hook, call: h.serveCall}
	k.server = &http.Server{
		Handler: k, ReadHeaderTimeout: hookWait, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(h.log.Handler(), slog.LevelDebug),
	}
	h.endpoint = k
	address := "http://" + l.Addr().String()
	if hooks {
		k.token = "cop_" + rand.Text()
		h.spec.Request.HookURL = address + hookPath
	}
	if h.spec.Tools {
		k.tools = h.spec.Request.Token
		servers := maps.Clone(h.spec.Request.MCP)
		if servers == nil {
			servers = map[string]coppice.MCPServer{}
		}
		servers[agent.ToolServer] = coppice.MCPServer{URL: address + toolsPath, Headers: map[string]string{"Authorization": "Bearer ${" + agent.TokenVar + "}"}}
		h.spec.Request.MCP = servers
		h.spec.Request.Program, _ = os.Executable() // without it, the agent gets the address only
		h.spec.Env[agent.ToolsURLVar] = address + toolsPath
	}
	h.tasks.Go(func() { _ = k.server.Serve(l) }) // returns when the server is closed
	return nil
}

// takesHooks creates a driver and checks whether it takes hooks. A protocol that
// panics here panics again, and is reported, when the real driver is created.
func takesHooks(p agent.Protocol, spec Spec) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	_, ok = p.Driver(spec.Profile, spec.Request).(agent.Hooker)
	return ok
}

// writeFiles writes the launch's files into the private directory, which exists only
// if there are any.
func (h *host) writeFiles(files map[string][]byte) error {
	if len(files) > 0 {
		if err := os.Mkdir(h.path(privateDir), 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return fmt.Errorf("the session's private directory could not be created: %w", err)
		}
	}
	for name, data := range files {
		if name == "" || name == "." || name == ".." || filepath.Base(name) != name {
			return fmt.Errorf("the agent's launch has %q, which is not a valid file name", name)
		}
		if err := writeFile(filepath.Join(h.path(privateDir), name), data); err != nil {
			return fmt.Errorf("the agent's %s could not be written: %w", name, err)
		}
	}
	return nil
}

// addEnv adds the token to the agent's environment, and that no proxy is between
// the agent and the address.
func (k *endpoint) addEnv(env map[string]string) {
	if k == nil {
		return
	}
	if k.token != "" {
		env[agent.HookTokenVar] = k.token
	}
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		env[name] = strings.TrimPrefix(env[name]+",127.0.0.1", ",")
	}
}

// begin lets calls through after the driver has started.
func (k *endpoint) begin() {
	if k != nil {
		k.once.Do(func() { close(k.ready) })
	}
}

// end lets no more calls through, and returns when no call is being answered. A
// driver that has concluded must not be called again.
func (k *endpoint) end() {
	if k == nil {
		return
	}
	k.mu.Lock()
	k.over = true
	k.mu.Unlock()
	k.begin() // for a call that still waits
}

// teardownLaunch removes what setupLaunch created, when the agent is gone.
func (h *host) teardownLaunch() {
	if h.endpoint != nil {
		h.endpoint.end()
		h.calls.close()
		_ = h.endpoint.server.Close()
		_ = h.endpoint.listener.Close()
	}
	if err := os.RemoveAll(h.path(privateDir)); err != nil {
		h.log.Warn("private directory not removed", "error", err)
	}
}

// ServeHTTP answers one request. A request without the right token gets "not
// found".
func (k *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	given, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	known := func(token string) bool {
		return bearer && token != "" && subtle.ConstantTimeCompare([]byte(given), []byte(token)) == 1
	}
	switch {
	case r.URL.Path == toolsPath && known(k.tools) && !local(r):
		http.Error(w, "only requests of this machine are accepted", http.StatusForbidden)
	case r.URL.Path == toolsPath && known(k.tools):
		k.call(w, r)
	case r.URL.Path == hookPath && r.Method == http.MethodPost && known(k.token):
		k.hook(w, r)
	default:
		http.NotFound(w, r)
	}
}

// local reports whether a request names this machine, and comes from no other
// site. A page that gives its own name the address of this machine is refused.
func local(r *http.Request) bool {
	named := func(host string) bool {
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		ip := net.ParseIP(strings.Trim(host, "[]"))
		return host == "localhost" || ip != nil && ip.IsLoopback()
	}
	origin := r.Header.Get("Origin")
	_, site, _ := strings.Cut(origin, "://")
	return named(r.Host) && (origin == "" || named(site))
}

// hook answers one hook.
func (k *endpoint) hook(w http.ResponseWriter, r *http.Request) {
	body, ok := readBody(w, r)
	if !ok {
		return
	}
	select {
	case <-k.ready:
	case <-r.Context().Done():
		return
	}
	answer, err := k.answer(body)
	if err != nil {
		http.Error(w, "the session cannot answer", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(answer) // the agent might have left
}

func (k *endpoint) answer(body []byte) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.over {
		return nil, errNoDriver
	}
	return k.ask(body)
}

// hook lets the driver answer. Without a driver there is no answer, and the
// agent does not use the tool.
func (h *host) hook(body []byte) ([]byte, error) {
	var answer []byte
	_, err := h.drive(func(d agent.Driver) (agent.Step, error) {
		k, ok := d.(agent.Hooker)
		if !ok {
			return agent.Step{}, errNoDriver
		}
		var step agent.Step
		step, answer = k.Hook(body)
		return step, nil
	})
	return answer, err
}

// readBody reads the body of a request. If it cannot, it answers and returns
// false. The time limit is for the body only: a limit of the server would also
// end calls that wait for their answer.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(time.Now().Add(hookWait))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxHook))
	_ = c.SetReadDeadline(time.Time{})
	if err != nil {
		http.Error(w, "the body is too large, or was cut off", http.StatusRequestEntityTooLarge)
	}
	return body, err == nil
}
