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

// App is served for a session while its agent works. The host starts it first,
// starts the agent when the app is ready, and ends both together.
type App struct {
	Run     string            `json:"run"`             // a shell command that serves until it is ended
	Port    int               `json:"port"`            // the port that it must listen on
	Ready   string            `json:"ready,omitempty"` // an address that answers when the app is ready; if empty, the port must accept connections
	Timeout coppice.Duration  `json:"timeout"`         // how long that can take; 0 means 1 minute
	Env     map[string]string `json:"env"`             // its whole environment
}

// Set reports whether there is an app.
func (a App) Set() bool { return a.Run != "" }

const (
	appTimeout = time.Minute
	appPoll    = 50 * time.Millisecond // time between two checks whether it is ready
	appAnswer  = 10 * time.Second      // for one answer
)

// app is the served app in progress.
type app struct {
	cmd    *exec.Cmd
	out    *os.File
	ended  chan struct{} // closed when its process has ended
	read   chan struct{} // closed when its output was read to its end
	code   int           // valid after ended is closed
	signal string

	mu  sync.Mutex
	log *appLog
}

// pid returns the id of the app's process until it is reaped, and 0 without an
// app.
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

// serveApp starts the app and waits until it is ready. While it waits, the host
// serves clients and can be stopped. If the session has ended, serveApp returns
// how.
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
		failure.Text += "; its last output:\n" + tail
	}
	h.mu.Lock()
	h.note(failure.Text)
	h.mu.Unlock()
	x := Exit{Code: -1, Error: failure.Text}
	x.Outcome.Failure = failure
	return &x
}

// stoppedEarly reports whether a stop was requested before the agent ran.
func (h *host) stoppedEarly() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stopping
}

// startApp starts the app like the agent: in a separate process group, inside
// the session's cgroup, with the session's mark.
func (h *host) startApp() *coppice.Failure {
	a := h.spec.App
	fail := func(format string, args ...any) *coppice.Failure {
		return coppice.Failf(coppice.ClassEnvironment, fmt.Sprintf(format, args...), "see workspace.serve in coppice.yaml")
	}
	if c, err := net.DialTimeout("tcp", a.address(), appAnswer); err == nil {
		c.Close()
		return fail("the app cannot be served: port %d is already in use", a.Port)
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

// appOutput passes the app's output to its log, and to the spool while it fits.
func (h *host) appOutput(b []byte) {
	h.app.mu.Lock()
	kept, err := h.app.log.write(b)
	h.app.mu.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil && !h.appLost {
		h.appLost = true
		h.note("the app's output cannot be kept: " + err.Error())
	}
	if h.spec.onlyApp() {
		kept = len(b)
	}
	if kept > 0 {
		h.append(spool.App, b[:kept])
	}
}

// stayWithApp serves the app, which is ready, until it ends or is stopped.
func (h *host) stayWithApp(ctx context.Context) Exit {
	h.tasks.Go(func() { h.reap(0) })
	h.mu.Lock()
	h.event(spool.Host, coppice.AgentEvent{Kind: coppice.KindNotice, Name: coppice.NameAppReady, Text: "the app is ready"})
	h.mu.Unlock()
	defer time.AfterFunc(leanTime(), lean).Stop()
	x := Exit{Code: -1, Stopped: true}
	select {
	case <-h.app.ended:
		x = Exit{Code: h.app.code, Signal: h.app.signal, Stopped: h.stoppedEarly()}
	case <-h.starting.Done(): // a stop
	}
	h.endApp(ctx)
	h.sweep(ctx)
	tail := h.closeApp()
	close(h.agentDone)
	if !x.Stopped {
		x.Outcome.Failure = coppice.Failf(coppice.ClassEnvironment, fmt.Sprintf("the app %s ended with %s", coppice.Quote(h.spec.App.Run), h.app.howEnded()), "fix it in the workspace, then start it again")
		if tail != "" {
			x.Outcome.Failure.Text += "; its last output:\n" + tail
		}
	}
	return x
}

// howEnded returns the exit code, or the signal, of an app that has ended.
func (a *app) howEnded() string {
	if a.signal != "" {
		return a.signal
	}
	return fmt.Sprintf("exit code %d", a.code)
}

// awaitApp waits until the app is ready, has ended, took too long, or
// cancelAppWait is called.
func (h *host) awaitApp() *coppice.Failure {
	timeout := h.spec.App.Timeout.D()
	if timeout <= 0 {
		timeout = appTimeout
	}
	ctx, cancel := context.WithTimeout(h.starting, timeout)
	defer cancel()
	look := time.NewTicker(appPoll)
	defer look.Stop()
	fix := "make workspace.serve.run serve on $COPPICE_PORT in a fresh checkout, or change workspace.serve.ready or its timeout"
	var last error
	for {
		err := h.spec.App.answers(ctx)
		if last == nil || !os.IsTimeout(err) { // the cause, rather than the timeout
			last = err
		}
		select {
		case <-h.app.ended:
			return coppice.Failf(coppice.ClassEnvironment, fmt.Sprintf("the app %s ended with %s before it was ready", coppice.Quote(h.spec.App.Run), h.app.howEnded()), fix)
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

// answers checks whether the app is ready: its port accepts a connection, or its
// address answers with a status other than "not available yet".
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
		return nil // a server with a certificate runs
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

// endApp asks the app to exit and waits a moment. The session's sweep ends the
// rest.
func (h *host) endApp(ctx context.Context) {
	if h.app == nil {
		return
	}
	select {
	case <-h.app.ended: // its pid might belong to another process by now
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

// closeApp waits for the rest of the output of an app that was ended, and
// returns its last bytes. If the middle had to be left out, it appends the end
// to the spool.
func (h *host) closeApp() string {
	if h.app == nil {
		return ""
	}
	_ = h.app.out.SetReadDeadline(time.Now().Add(drainWait)) // a child might still hold it open
	<-h.app.read
	h.app.out.Close()
	h.app.mu.Lock()
	defer h.app.mu.Unlock()
	rest, tail := h.app.log.close()
	if len(rest) > 0 && !h.spec.onlyApp() {
		h.mu.Lock()
		h.append(spool.App, rest)
		h.mu.Unlock()
	}
	return tail
}
