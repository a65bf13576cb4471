package host

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"coppice"
	"coppice/agent"
	"coppice/internal/process"
)

func TestSession(t *testing.T) {
	t.Parallel()
	b := setup(t, "talk", "echo")
	b.phase(PhaseNone)
	st := b.run()
	if !process.Alive(st.PID, st.Started) || st.AgentPID == 0 {
		t.Fatalf("state %+v", st)
	}
	c := b.dial()
	for range 2 { // the second time does nothing: the message was delivered
		if err := c.Send(b.ctx, Message{ID: "m1", Text: "hello"}); err != nil {
			t.Fatal(err)
		}
	}
	b.until(contains("got: hello\n"))
	if err := c.Interrupt(b.ctx, Message{}); !errors.Is(err, agent.ErrCannot) {
		t.Errorf("interrupt: %v", err)
	}
	snap, err := c.Snapshot(b.ctx)
	if err != nil || string(snap.Output) != "ready\ngot: hello\n" || snap.State.PID != st.PID {
		t.Errorf("snapshot %+v, %v", snap, err)
	}
	if err := Clean(b.dir); coppice.ErrorCode(err) != coppice.EConflict {
		t.Errorf("clean: %v", err)
	}
	if err := Kill(b.ctx, b.dir); coppice.ErrorCode(err) != coppice.EConflict {
		t.Errorf("kill: %v", err)
	}
	if err := c.Stop(b.ctx, time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := c.Stop(b.ctx, time.Minute); err != nil && !errors.Is(err, ErrGone) { // the session might have ended
		t.Fatal(err)
	}
	x := b.ended()
	if x.Code != 3 || !x.Stopped || x.Outcome.Summary != "17 bytes, exit 3 " || x.Error != "" {
		t.Errorf("exit %+v", x)
	}
	b.start("") // does nothing
	if _, again := b.phase(PhaseEnded); !again.EndedAt.Equal(x.EndedAt) {
		t.Error("it ran again")
	}
	if _, err := Dial(b.ctx, b.dir); !errors.Is(err, ErrGone) {
		t.Errorf("dial: %v", err)
	}
	checkFiles(t, b)
	if err := Clean(b.dir); err != nil {
		t.Fatal(err)
	}
	b.phase(PhaseNone)
}

// checkFiles checks modes, and that only the documented files stay.
func checkFiles(t *testing.T, b *bundle) {
	t.Helper()
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		info, _ := e.Info()
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", e.Name(), info.Mode())
		}
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != "exit.json host.log lock spool state.json" {
		t.Errorf("files: %s", got)
	}
}

// The end of a session is recorded whole, with the file that reserved its space and
// without it.
func TestTheEndIsWritten(t *testing.T) {
	t.Parallel()
	for _, reserve := range []int{0, 1, reserveSize} {
		h := &host{dir: t.TempDir()}
		if reserve > 0 {
			if err := os.WriteFile(h.path(reserveFile), make([]byte, reserve), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want := Exit{Code: 3, Error: "it broke"}
		if err := h.writeExit(want); err != nil {
			t.Fatal(err)
		}
		var got Exit
		if found, err := readJSON(h.path(exitFile), &got); !found || err != nil || got.Code != want.Code || got.Error != want.Error {
			t.Errorf("%d bytes reserved: %+v, %v, %v", reserve, got, found, err)
		}
		if _, err := os.Stat(h.path(reserveFile)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%d bytes reserved: the reserve is still there: %v", reserve, err)
		}
	}
}

// The memory of a session is that of its agent, or of the largest process that
// the agent waited for.
func TestMemoryOfAgent(t *testing.T) {
	t.Parallel()
	const much = 256 << 20
	took := func(args ...string) int64 {
		t.Helper()
		b := setup(t, "once", args...)
		b.start("")
		x := b.ended()
		if x.Code != 0 {
			t.Fatalf("exit %+v", x)
		}
		return x.Memory
	}
	if n := took("sum"); n <= 0 || n >= much {
		t.Errorf("an agent that takes little took %d bytes", n)
	}
	for _, args := range [][]string{{"take", strconv.Itoa(much)}, {"run", "take", strconv.Itoa(much)}} {
		if n := took(args...); n < much || n > 2*much {
			t.Errorf("%v took %d bytes", args, n)
		}
	}
}

// A prompt of 1 MiB arrives by stdin. The arguments and the environment have
// nothing of it.
func TestPromptByStdin(t *testing.T) {
	t.Parallel()
	b := setup(t, "once", "sum")
	prompt := strings.Repeat("0123456789abcdef", 1<<16)
	b.start(prompt)
	x := b.ended()
	want := fmt.Sprintf("%d %x\n", len(prompt), sha256.Sum256([]byte(prompt)))
	if got := string(b.output(coppice.OutputStdout)); got != want || x.Code != 0 {
		t.Fatalf("got %q, want %q, exit %+v", got, want, x)
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	b := setup(t, "once", "env")
	b.spec.Env["GIVEN"] = "yes"
	b.start("a secret")
	b.ended()
	out := string(b.output(coppice.OutputStdout))
	st, _ := b.phase(PhaseEnded)
	for _, want := range []string{"GIVEN=yes", "COPPICE_SESSION=app-1.1\n", "COPPICE_SESSION_ID=" + st.Mark, "PWD=" + b.spec.Request.Dir} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in %s", want, out)
		}
	}
	if strings.Contains(out, "a secret") || strings.Contains(out, "HOME=") || strings.Contains(out, readyVar) {
		t.Errorf("too much in %s", out)
	}
}

// Every byte of a flood is in the spool, in order, once. A reader can start
// anywhere.
func TestFlood(t *testing.T) {
	t.Parallel()
	const size = 50_000_000
	b := setup(t, "once", "flood", strconv.Itoa(size))
	b.start("")
	x := b.ended()
	out := b.output(coppice.OutputStdout)
	if len(out) != size {
		t.Fatalf("%d bytes", len(out))
	}
	for i := 0; i < size; i += blockSize {
		end := min(i+blockSize, size)
		if !bytes.Equal(out[i:end], block(i)[:end-i]) {
			t.Fatalf("the bytes from %d on differ", i)
		}
	}
	if !strings.HasPrefix(x.Outcome.Summary, strconv.Itoa(size)) {
		t.Errorf("the driver saw %s", x.Outcome.Summary)
	}
	if err := TrimSpool(b.dir, x.Spool); err != nil {
		t.Fatal(err)
	}
	if r, err := OpenSpool(b.dir, x.Spool); err != nil {
		t.Fatal(err)
	} else if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if _, err := OpenSpool(b.dir, 0); err == nil {
		t.Fatal("nothing was trimmed")
	}
}

// A reader that loses its connection repeatedly, and resumes at its offset, gets
// every byte once.
func TestFollowAgain(t *testing.T) {
	t.Parallel()
	b := setup(t, "talk", "numbers")
	b.start("")
	c := b.dial()
	const lines = 200
	var sender sync.WaitGroup
	sender.Go(func() {
		for range lines {
			if err := c.Send(b.ctx, Message{Text: "next"}); err != nil {
				t.Error(err)
			}
		}
		if err := c.Stop(b.ctx, 0); err != nil {
			t.Error(err)
		}
	})
	defer sender.Wait()
	var got []byte
	var at int64
	for ended := false; !ended; {
		ctx, cancel := context.WithCancel(b.ctx)
		calls := 0
		err := c.Follow(ctx, func(end int64) {
			if calls++; calls > 3 {
				cancel()
			}
			r, err := OpenSpool(b.dir, at)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			for {
				f, err := r.Next()
				if err != nil {
					if !errors.Is(err, io.EOF) || r.Offset() < end {
						t.Fatalf("read to %d of %d: %v", r.Offset(), end, err)
					}
					return
				}
				at = f.Next
				if f.Kind == coppice.OutputStdout {
					got = append(got, f.Data...)
				}
			}
		})
		cancel()
		if err != nil && ctx.Err() == nil && !errors.Is(err, ErrGone) {
			t.Fatal(err)
		}
		ended = err == nil || errors.Is(err, ErrGone)
	}
	b.gone()
	if want := b.output(coppice.OutputStdout); !bytes.Equal(got, want) || len(got) != lines*8 {
		t.Fatalf("%d bytes, want %d", len(got), len(want))
	}
}

func TestTwoStarts(t *testing.T) {
	t.Parallel()
	b := setup(t, "talk", "echo")
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			if err := Start(b.ctx, b.l, b.dir, b.spec, ""); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	b.until(contains("ready\n"))
	st, _ := b.phase(PhaseRunning)
	if pids, _ := process.Find(process.Mark{ID: st.Mark}); len(pids) != 1 {
		t.Errorf("%d agents", len(pids))
	}
	if got := string(b.output(coppice.OutputStdout)); got != "ready\n" {
		t.Errorf("output %q", got)
	}
}

func TestHostCannotStart(t *testing.T) {
	t.Parallel()
	b := setup(t, "talk", "echo")
	b.l.Argv = []string{"/bin/false"}
	if err := Start(b.ctx, b.l, b.dir, b.spec, ""); coppice.ErrorCode(err) != coppice.EUnavailable {
		t.Fatalf("a host that ends at once: %v", err)
	}
	b.phase(PhaseNone)
	b.l.Argv = []string{"/nowhere/coppice"}
	if err := Start(b.ctx, b.l, b.dir, b.spec, ""); coppice.ErrorCode(err) != coppice.EUnavailable {
		t.Fatalf("a host that is not there: %v", err)
	}
	good := setup(t, "talk", "echo")
	// The socket's path is a directory, so it cannot be bound.
	if err := os.MkdirAll(filepath.Join(good.dir, socketFile, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	err := Start(good.ctx, good.l, good.dir, good.spec, "")
	if coppice.ErrorCode(err) != coppice.EUnavailable || !strings.Contains(err.Error(), "could not start") {
		t.Fatalf("no socket: %v", err)
	}
	good.phase(PhaseNone)
}

func TestNotInstalled(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*bundle){
		"by name":     func(b *bundle) { b.spec.Profile.Command = []string{"no-such-agent"} },
		"by path":     func(b *bundle) { b.spec.Profile.Command = []string{"/nowhere/agent"} },
		"no program":  func(b *bundle) { b.spec.Profile.Command = []string{filepath.Join(b.dir, "..")} },
		"no protocol": func(b *bundle) { b.spec.Protocol = "none" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, "once")
			change(b)
			b.start("")
			b.gone()
			_, x := b.phase(PhaseEnded)
			f := x.Outcome.Failure
			if x.Error == "" || f == nil || f.Class != coppice.ClassCapability {
				t.Fatalf("exit %+v", x)
			}
			if name != "no protocol" && f.Fix != "get it from the shop" {
				t.Errorf("fix %q", f.Fix)
			}
			var note coppice.AgentEvent
			if err := json.Unmarshal(b.output(coppice.OutputHost), &note); err != nil || note.Text != f.Text {
				t.Errorf("note %+v, %v", note, err)
			}
		})
	}
}

func TestDriverPanics(t *testing.T) {
	t.Parallel()
	b := setup(t, "panic", "flood", "100000")
	b.start("")
	x := b.ended()
	if n := len(b.output(coppice.OutputStdout)); n != 100_000 || x.Code != 0 {
		t.Errorf("%d bytes, exit %+v", n, x)
	}
	if x.Outcome.Failure == nil || x.Outcome.Failure.Class != coppice.ClassUnknown {
		t.Errorf("outcome %+v", x.Outcome)
	}
	var note coppice.AgentEvent
	if err := json.Unmarshal(b.output(coppice.OutputHost), &note); err != nil || !strings.Contains(note.Text, "cannot read this") {
		t.Errorf("note %+v, %v", note, err)
	}
}

// A limit that has a duration has a time at which it ends.
func TestLimitEnds(t *testing.T) {
	t.Parallel()
	b := setup(t, "late", "echo")
	b.start("try again in 2h")
	x := b.ended()
	f := x.Outcome.Failure
	if f == nil || f.RetryAt.After(x.EndedAt.Add(2*time.Hour)) || f.RetryAt.Before(x.EndedAt.Add(time.Hour)) {
		t.Errorf("%+v, ended at %s", f, x.EndedAt)
	}
}

func TestSendCannot(t *testing.T) {
	t.Parallel()
	b := setup(t, "once", "stubborn")
	b.run()
	if err := b.dial().Send(b.ctx, Message{Text: "hello"}); !errors.Is(err, agent.ErrCannot) {
		t.Errorf("send: %v", err)
	}
}

// An agent that does not read delays the sender, not other clients and not the
// capture.
func TestSendToDeafAgent(t *testing.T) {
	t.Parallel()
	b, c := connected(t, "talk", "stubborn")
	sent := make(chan error, 1)
	go func() { sent <- c.Send(b.ctx, Message{Text: strings.Repeat("x", 1<<20)}) }()
	if _, err := c.Snapshot(b.ctx); err != nil {
		t.Fatal(err)
	}
	if err := c.Stop(b.ctx, 50*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	// The host reports the refusal, unless its exit closes the connection first.
	if err := <-sent; coppice.ErrorCode(err) != coppice.EConflict && !errors.Is(err, ErrGone) {
		t.Errorf("send: %v", err)
	}
	if x := b.ended(); x.Signal != "SIGKILL" {
		t.Errorf("exit %+v", x)
	}
}
