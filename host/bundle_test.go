package host

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"coppice"
	"coppice/agent"
	"coppice/internal/process"
)

// bundle is a session under test.
type bundle struct {
	t    *testing.T
	ctx  context.Context
	dir  string
	spec Spec
	l    Launcher
}

func setup(t *testing.T, protocol string, args ...string) *bundle {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	b := &bundle{t: t, ctx: ctx, dir: filepath.Join(t.TempDir(), "session")}
	b.l = Launcher{Argv: []string{self, "host"}, Env: []string{roleVar + "=host"}}
	b.spec = Spec{
		Session:  "app-1.1",
		Protocol: protocol,
		Profile:  coppice.Profile{Command: []string{self}, Args: args, Install: "get it from the shop"},
		Request:  agent.Request{Dir: t.TempDir()},
		Env:      map[string]string{"PATH": os.Getenv("PATH")},
		Grace:    coppice.Duration(300 * time.Millisecond),
	}
	t.Cleanup(func() {
		_, st, _, _ := Inspect(b.dir)
		if st.PID != 0 && process.Alive(st.PID, st.Started) {
			syscall.Kill(st.PID, syscall.SIGKILL)
			b.gone()
		}
		if err := Kill(context.Background(), b.dir); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(b.dir, logFile))
			t.Logf("host.log: %s", log)
		}
	})
	return b
}

func (b *bundle) start(prompt string) {
	b.t.Helper()
	if err := Start(b.ctx, b.l, b.dir, b.spec, prompt); err != nil {
		b.t.Fatal(err)
	}
}

// run starts the session, and returns its state when the agent has printed ready.
func (b *bundle) run() State {
	b.t.Helper()
	b.start("")
	b.until(contains("ready"))
	st, _ := b.phase(PhaseRunning)
	return st
}

// connected runs a session and connects to it.
func connected(t *testing.T, protocol string, args ...string) (*bundle, *Client) {
	t.Helper()
	b := setup(t, protocol, args...)
	b.run()
	return b, b.dial()
}

// launch starts a host that has no spec yet.
func (b *bundle) launch() *Ahead {
	b.t.Helper()
	a, err := Launch(b.l, b.dir)
	if err != nil {
		b.t.Fatal(err)
	}
	return a
}

// killHost kills the host and waits until it is gone.
func (b *bundle) killHost(st State) {
	b.t.Helper()
	if err := syscall.Kill(st.PID, syscall.SIGKILL); err != nil {
		b.t.Fatal(err)
	}
	b.gone()
}

func (b *bundle) dial() *Client {
	b.t.Helper()
	c, err := Dial(b.ctx, b.dir)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { c.Close() })
	return c
}

func (b *bundle) phase(want Phase) (State, *Exit) {
	b.t.Helper()
	got, st, x, err := Inspect(b.dir)
	if err != nil || got != want {
		b.t.Fatalf("phase %s, want %s (%v)", got, want, err)
	}
	return st, x
}

// gone waits until no host holds the lock.
func (b *bundle) gone() {
	f, err := os.Open(filepath.Join(b.dir, lockFile))
	if err != nil {
		b.t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH); err != nil {
		b.t.Fatal(err)
	}
}

// ended waits for the session's end and returns its Exit.
func (b *bundle) ended() *Exit {
	b.t.Helper()
	c, err := Dial(b.ctx, b.dir)
	if err == nil {
		defer c.Close()
		err = c.Follow(b.ctx, func(int64) {})
	}
	if err != nil && !errors.Is(err, ErrGone) {
		b.t.Fatal(err)
	}
	b.gone()
	_, x := b.phase(PhaseEnded)
	return x
}

// pieces returns the pieces of a kind in the spool.
func (b *bundle) pieces(kind coppice.OutputKind) (all [][]byte) {
	b.t.Helper()
	r, err := OpenSpool(b.dir, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	defer r.Close()
	for {
		f, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			b.t.Fatal(err)
		}
		if f.Kind == kind {
			all = append(all, f.Data)
		}
	}
}

// output returns all output of a kind.
func (b *bundle) output(kind coppice.OutputKind) []byte {
	b.t.Helper()
	return bytes.Join(b.pieces(kind), nil)
}

// until follows the session until its output satisfies ok.
func (b *bundle) until(ok func(stdout []byte) bool) {
	b.t.Helper()
	ctx, cancel := context.WithCancel(b.ctx)
	defer cancel()
	seen := false
	err := b.dial().Follow(ctx, func(int64) {
		if !seen && ok(b.output(coppice.OutputStdout)) {
			seen = true
			cancel()
		}
	})
	if !seen {
		b.t.Fatalf("ended with %q: %v", b.output(coppice.OutputStdout), err)
	}
}

func contains(s string) func([]byte) bool {
	return func(out []byte) bool { return bytes.Contains(out, []byte(s)) }
}
