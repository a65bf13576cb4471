package host

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"coppice/agent"
)

const (
	privateDir = "private" // 0700; the launch's files, removed when the agent has ended
	hookPath   = "/hook"
	maxHook    = 4 << 20 // bytes of a hook's body
	hookWait   = 30 * time.Second
)

// hooks answers the calls that an agent makes before it uses a tool. It listens
// on loopback while the agent runs, if the agent's driver takes such calls. A
// caller without the session's hook token gets "not found".
type hooks struct {
	listener net.Listener
	server   *http.Server
	token    string
	ready    chan struct{} // closed when the driver has started
	once     sync.Once
	ask      func(body []byte) ([]byte, error)

	mu   sync.Mutex // held while a call is answered
	over bool       // the agent is gone; no call is answered any more
}

// setupLaunch creates what the agent's launch might need: a private directory,
// the session's token, and the address for hooks.
func (h *host) setupLaunch(p agent.Protocol) error {
	dir := h.path(privateDir)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("the session's private directory could not be created: %w", err)
	}
	h.spec.Request.Private = dir
	h.spec.Request.Token, h.spec.Request.Secrets = h.spec.Env[agent.TokenVar], h.spec.Secrets
	if !takesHooks(p, h.spec) {
		return nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("the address for the agent's hooks could not be opened: %w", err)
	}
	k := &hooks{listener: l, token: "cop_" + rand.Text(), ready: make(chan struct{}), ask: h.hook}
	k.server = &http.Server{
		Handler: k, ReadHeaderTimeout: hookWait, ReadTimeout: hookWait, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(h.log.Handler(), slog.LevelDebug),
	}
	h.hooks = k
	h.spec.Request.HookURL = "http://" + l.Addr().String() + hookPath
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

// writeFiles writes the launch's files into the private directory.
func (h *host) writeFiles(files map[string][]byte) error {
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
func (k *hooks) addEnv(env map[string]string) {
	if k == nil {
		return
	}
	env[agent.HookTokenVar] = k.token
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		env[name] = strings.TrimPrefix(env[name]+",127.0.0.1", ",")
	}
}

// begin lets calls through after the driver has started.
func (k *hooks) begin() {
	if k != nil {
		k.once.Do(func() { close(k.ready) })
	}
}

// end lets no more calls through, and returns when no call is being answered. A
// driver that has concluded must not be called again.
func (k *hooks) end() {
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
	if h.hooks != nil {
		h.hooks.end()
		_ = h.hooks.server.Close()
		_ = h.hooks.listener.Close()
	}
	if err := os.RemoveAll(h.path(privateDir)); err != nil {
		h.log.Warn("private directory not removed", "error", err)
	}
}

// ServeHTTP answers one call. Any other request gets "not found".
func (k *hooks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	given, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	known := subtle.ConstantTimeCompare([]byte(given), []byte(k.token)) == 1
	if !known || !bearer || r.Method != http.MethodPost || r.URL.Path != hookPath {
		http.NotFound(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxHook))
	if err != nil {
		http.Error(w, "the body is too large, or was cut off", http.StatusRequestEntityTooLarge)
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

func (k *hooks) answer(body []byte) ([]byte, error) {
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
