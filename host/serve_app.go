package host

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"coppice"
	"coppice/internal/spool"
)

// App is what is served for a session while its agent works. It is started
// before the agent, which begins once the app is ready, and ends with it.
type App struct {
	Run     string            `json:"run"`             // a shell command that serves until it is ended
	Port    int               `json:"port"`            // that it is to listen on
	Ready   string            `json:"ready,omitempty"` // an address that answers once it is ready; when empty the port must accept
	Timeout coppice.Duration  `json:"timeout"`         // how long that may take; 1 m when 0
	Env     map[string]string `json:"env"`             // its whole environment
}

// Set tells whether there is an app.
func (a App) Set() bool { return a.Run != "" }

const (
	appTimeout = time.Minute
	appLook    = 50 * time.Millisecond // between two looks whether it is ready
	appAnswer  = 10 * time.Second      // for one answer of it
)

// app is the served app in progress.
type app struct {
	cmd    *exec.Cmd
	out    *os.File
	ended  chan struct{} // closed when its process has ended
	read   chan struct{} // closed when its output was read to its end
	code   int           // once ended
	signal string

	mu  sync.Mutex
	log *appLog
}

// pid is the number of the app's process while nobody has taken leave of it; 0
// for no app.
func (a *app) pid() int {
	if a == nil {
		return 0
	}
	select {
	case <-a.ended:
		return 0
	default:
		return a.cmd.Process.Pid
	}
}

// serveApp starts the app and waits until it is ready. Meanwhile clients are
// served and a stop is obeyed. It returns how the session ended when it did.
func (h *host) serveApp(ctx context.Context) *Exit {
	if h.stoppedEarly() {
		return &Exit{Code: -1, Stopped: true}
	}
	failure := h.startApp()
	if failure == nil {
		failure = h.awaitApp()
	}
	if failure == nil {
		return nil
	}
	h.endApp(ctx)
	h.sweep(ctx)
	tail := h.closeApp()
	if h.stoppedEarly() {
		return &Exit{Code: -1, Stopped: true}
	}
	if tail != "" {
		failure.Text += "; the last it wrote:\n" + tail
	}
	h.mu.Lock()
	h.note(failure.Text)
	h.mu.Unlock()
	x := Exit{Code: -1, Error: failure.Text}
	x.Outcome.Failure = failure
	return &x
}

// stoppedEarly tells whether a stop came before the agent ran.
func (h *host) stoppedEarly() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stopping
}

// startApp starts the app like the agent: in a process group of its own, inside
// the session's cgroup, with the session's mark.
func (h *host) startApp() *coppice.Failure {
	a := h.spec.App
	fail := func(format string, args ...any) *coppice.Failure {
		return coppice.Failf(coppice.ClassEnvironment, fmt.Sprintf(format, args...), "see workspace.serve in coppice.yaml")
	}
	if c, err := net.DialTimeout("tcp", a.address(), appAnswer); err == nil {
		c.Close()
		return fail("the app cannot be served: somebody listens on port %d already", a.Port)
	}
	in, out, err := os.Pipe()
	if err != nil {
		return fail("the app cannot be served: %v", err)
	}
	defer out.Close()
	env := maps.Clone(a.Env)
	if env == nil {
		env = map[string]string{}
	}
	c := h.command("app", []string{"sh", "-c", a.Run}, env)
	c.Path, c.Stdout, c.Stderr = "/bin/sh", out, out
	cmd, err := c.Start()
	if err != nil {
		in.Close()
		return fail("the app %s cannot be started: %v", coppice.Quote(a.Run), err)
	}
	h.app = &app{cmd: cmd, out: in, ended: make(chan struct{}), read: make(chan struct{}), log: newAppLog(h.path(appFile))}
	h.tasks.Go(func() {
		defer close(h.app.read)
		read(in, h.appOutput)
	})
	h.tasks.Go(func() {
		h.app.code, h.app.signal = wait(cmd)
		close(h.app.ended)
	})
	return nil
}

// appOutput takes what the app wrote: to its log, and to the spool as long as
// there is room for it.
func (h *host) appOutput(b []byte) {
	h.app.mu.Lock()
	kept, err := h.app.log.write(b)
	h.app.mu.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil && !h.appLost {
		h.appLost = true
		h.note("what the app writes cannot be kept: " + err.Error())
	}
	if kept > 0 {
		h.append(spool.App, b[:kept])
	}
}

// awaitApp waits until the app is ready, has ended, took too long or is no
// longer wanted.
func (h *host) awaitApp() *coppice.Failure {
	timeout := h.spec.App.Timeout.D()
	if timeout <= 0 {
		timeout = appTimeout
	}
	ctx, cancel := context.WithTimeout(h.starting, timeout)
	defer cancel()
	look := time.NewTicker(appLook)
	defer look.Stop()
	fix := "make workspace.serve.run serve on $COPPICE_PORT in a fresh checkout, or change workspace.serve.ready or its timeout"
	var last error
	for {
		err := h.spec.App.answers(ctx)
		if last == nil || !os.IsTimeout(err) { // why, rather than that its time was over
			last = err
		}
		select {
		case <-h.app.ended:
			how := fmt.Sprintf("exit code %d", h.app.code)
			if h.app.signal != "" {
				how = h.app.signal
			}
			return coppice.Failf(coppice.ClassEnvironment, fmt.Sprintf("the app %s ended with %s before it was ready", coppice.Quote(h.spec.App.Run), how), fix)
		default:
		}
		if err == nil {
			return nil
		}
		select {
		case <-h.app.ended:
		case <-look.C:
		case <-ctx.Done():
			return coppice.Failf(coppice.ClassEnvironment, fmt.Sprintf("the app %s was not ready within %s: %v", coppice.Quote(h.spec.App.Run), timeout, last), fix)
		}
	}
}

func (a App) address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(a.Port)) }

// answers tells whether the app is ready: its port accepts, or its address
// answers anything but that it is not there yet.
func (a App) answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, appAnswer)
	defer cancel()
	if a.Ready == "" {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", a.address())
		if err == nil {
			err = c.Close()
		}
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.ReplaceAll(a.Ready, "${COPPICE_PORT}", strconv.Itoa(a.Port)), nil)
	if err != nil {
		return err
	}
	c := http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := c.Do(req)
	var unknown *tls.CertificateVerificationError
	if errors.As(err, &unknown) {
		return nil // whoever shows a certificate is there
	}
	if err != nil {
		return err
	}
	defer res.Body.Close()
	switch res.StatusCode {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return fmt.Errorf("%s answers %s", a.Ready, res.Status)
	}
	return nil
}

// endApp asks the app to end and gives it a moment. What is left of it goes
// with everything else of the session.
func (h *host) endApp(ctx context.Context) {
	if h.app == nil {
		return
	}
	select {
	case <-h.app.ended: // its number can be another's by now
		return
	default:
	}
	if err := syscall.Kill(-h.app.cmd.Process.Pid, syscall.SIGTERM); err != nil {
		h.log.Warn("app's group not signalled", "error", err)
	}
	t := time.NewTimer(min(drainWait, h.spec.Grace.D()))
	defer t.Stop()
	select {
	case <-h.app.ended:
	case <-t.C:
	case <-ctx.Done():
	}
}

// closeApp waits for the rest of the output of an app that was ended, puts its
// end into the spool when its middle had to be left out, and returns the last
// of it.
func (h *host) closeApp() string {
	if h.app == nil {
		return ""
	}
	_ = h.app.out.SetReadDeadline(time.Now().Add(drainWait)) // should something hold it open still
	<-h.app.read
	h.app.out.Close()
	h.app.mu.Lock()
	defer h.app.mu.Unlock()
	rest, tail := h.app.log.close()
	if len(rest) > 0 {
		h.mu.Lock()
		h.append(spool.App, rest)
		h.mu.Unlock()
	}
	return tail
}
