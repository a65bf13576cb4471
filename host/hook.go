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
	privateDir = "private" // 0700; what the agent is told in files, gone with it
	hookPath   = "/hook"
	maxHook    = 4 << 20 // bytes of a hook's body
	hookWait   = 30 * time.Second
)

// hooks answers the calls that an agent makes before it uses a tool. It listens
// on loopback, for as long as the agent runs, and only when the agent's driver
// takes such calls. Whoever does not know the session's hook token finds
// nothing there.
type hooks struct {
	listener net.Listener
	server   *http.Server
	token    string
	ready    chan struct{} // closed when the driver has started
	once     sync.Once
	ask      func(body []byte) ([]byte, error)

	mu   sync.Mutex // held while one is answered
	over bool       // the agent is gone; nobody is answered any more
}

// furnish makes what the agent's launch may need: a private directory, the
// session's token, and the address for hooks.
func (h *host) furnish(p agent.Protocol) error {
	dir := h.path(privateDir)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("the session's private directory could not be made: %w", err)
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
	h.tasks.Go(func() { _ = k.server.Serve(l) }) // it ends when it is closed
	return nil
}

// takesHooks asks the protocol for a driver and looks what it can do. A protocol
// that fails here fails again, and is reported, when it is asked for good.
func takesHooks(p agent.Protocol, spec Spec) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	_, ok = p.Driver(spec.Profile, spec.Request).(agent.Hooker)
	return ok
}

// writeFiles writes what the launch wants to have in the private directory.
func (h *host) writeFiles(files map[string][]byte) error {
	for name, data := range files {
		if name == "" || name == "." || name == ".." || filepath.Base(name) != name {
			return fmt.Errorf("the agent's launch names no file: %q", name)
		}
		if err := writeFile(filepath.Join(h.path(privateDir), name), data); err != nil {
			return fmt.Errorf("the agent's %s could not be written: %w", name, err)
		}
	}
	return nil
}

// into tells the agent's environment the token, and that the address is not
// behind a proxy.
func (k *hooks) into(env map[string]string) {
	if k == nil {
		return
	}
	env[agent.HookTokenVar] = k.token
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		env[name] = strings.TrimPrefix(env[name]+",127.0.0.1", ",")
	}
}

// begin lets calls through: the driver has started.
func (k *hooks) begin() {
	if k != nil {
		k.once.Do(func() { close(k.ready) })
	}
}

// end lets no more calls through, and returns when none is being answered: a
// driver that has concluded is not asked again.
func (k *hooks) end() {
	if k == nil {
		return
	}
	k.mu.Lock()
	k.over = true
	k.mu.Unlock()
	k.begin() // for one that still waits
}

// unfurnish takes back what furnish made, when the agent is gone.
func (h *host) unfurnish() {
	if h.hooks != nil {
		h.hooks.end()
		_ = h.hooks.server.Close()
		_ = h.hooks.listener.Close()
	}
	if err := os.RemoveAll(h.path(privateDir)); err != nil {
		h.log.Warn("private directory stays", "error", err)
	}
}

// ServeHTTP answers one call. Everything that is not one is not found.
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
		http.Error(w, "nobody can answer", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(answer) // an agent that left needs no answer
}

func (k *hooks) answer(body []byte) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.over {
		return nil, errNoDriver
	}
	return k.ask(body)
}

// hook has the driver answer. Without one there is no answer, and the agent
// uses no tool.
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
