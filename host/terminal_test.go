package host

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"coppice"
	"coppice/internal/process"
	"coppice/internal/vt"
)

// watcher is a viewer of a session and its terminal.
type watcher struct {
	b       *bundle
	v       *View
	screen  *vt.Screen
	notices []string
	end     *End
}

func (b *bundle) attach(o ViewOptions) *watcher {
	b.t.Helper()
	v, err := b.dial().Attach(b.ctx, o)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { v.Close() })
	return &watcher{b: b, v: v, screen: vt.NewScreen(max(o.Size.Columns, 80), max(o.Size.Rows, 24))}
}

// until reads what is shown until ok is satisfied.
func (w *watcher) until(what string, ok func(*watcher) bool) {
	w.b.t.Helper()
	for !ok(w) {
		s, err := w.v.Next()
		if err != nil {
			w.b.t.Fatalf("%s did not come about: %v\n%s\nnotices %q, end %v", what, err, w.screen, w.notices, w.end)
		}
		w.screen.Write(s.Screen)
		w.screen.Write(s.Output)
		switch {
		case s.Size != nil:
			w.v.Size = *s.Size
		case s.Notice != "":
			w.notices = append(w.notices, s.Notice)
		case s.Ended != nil:
			w.end = s.Ended
		}
	}
}

func (w *watcher) sees(text string) {
	w.b.t.Helper()
	w.until(text, func(w *watcher) bool { return strings.Contains(strings.Join(w.screen.Text(), "\n"), text) })
}

func (w *watcher) typeText(text string) {
	w.b.t.Helper()
	if err := w.v.Type([]byte(text)); err != nil {
		w.b.t.Fatal(err)
	}
}

// shell makes a shell that runs a command the session's agent.
func (b *bundle) shell(command string) {
	b.spec.Profile.Command, b.spec.Profile.Args = []string{"/bin/sh", "-c"}, []string{command}
}

func size(columns, rows int) ViewOptions {
	return ViewOptions{Size: Size{Columns: columns, Rows: rows}}
}

func TestTerminal(t *testing.T) {
	t.Parallel()
	for _, runtime := range []string{RuntimePty, RuntimeTmux} {
		t.Run(runtime, func(t *testing.T) {
			t.Parallel()
			b := setup(t, runtime)
			b.spec.Profile.Args = []string{"screen"}
			b.start("")
			one := b.attach(size(100, 30))
			one.sees("size 100x30")
			one.until("its size", func(w *watcher) bool { return w.v.Size == Size{Columns: 100, Rows: 30} })
			two := b.attach(size(90, 50))
			two.until("the smaller size", func(w *watcher) bool { return w.v.Size == Size{Columns: 90, Rows: 30} })
			three := b.attach(ViewOptions{Size: Size{Columns: 20, Rows: 10}, ReadOnly: true})
			three.typeText("nothing")
			three.until("a notice", func(w *watcher) bool { return slices.Contains(w.notices, "this view is read-only") })
			one.typeText("from one 世\n")
			for _, w := range []*watcher{one, two} {
				w.sees("got from one 世")
				w.sees("size 90x30")
			}
			if err := two.v.Resize(Size{Columns: 120, Rows: 25}); err != nil {
				t.Fatal(err)
			}
			one.until("the size of both", func(w *watcher) bool { return w.v.Size == Size{Columns: 100, Rows: 25} })
			two.typeText("from two\n")
			one.sees("got from two")
			one.sees("size 100x25")
			two.v.Close()
			one.until("its own size", func(w *watcher) bool { return w.v.Size == Size{Columns: 100, Rows: 30} })
			one.v.Close()
			again := b.attach(size(100, 30))
			again.sees("got from two") // the screen is drawn again for a viewer who returns
			again.typeText("bye\n")
			again.until("the end", func(w *watcher) bool { return w.end != nil })
			if again.end.Code != 5 {
				t.Errorf("ended with %+v", again.end)
			}
			if x := b.ended(); x.Code != 5 || x.Signal != "" || (x.Memory > 0) != (runtime == RuntimePty) {
				t.Errorf("exit %+v", x)
			}
			for _, once := range []string{"got from one 世", "got from two"} {
				if n := bytes.Count(b.output(coppice.OutputStdout), []byte(once+"\r\n")); n != 1 {
					t.Errorf("the spool holds %q %d times", once, n)
				}
			}
		})
	}
}

// TestTerminalKeepsEveryByte has an agent write much more than is read. A slow
// viewer delays nobody, and sees the end.
func TestTerminalKeepsEveryByte(t *testing.T) {
	t.Parallel()
	for _, runtime := range []string{RuntimePty, RuntimeTmux} {
		t.Run(runtime, func(t *testing.T) {
			t.Parallel()
			const n = 4 << 20
			b := setup(t, runtime)
			b.spec.Profile.Args = []string{"screenflood", fmt.Sprint(n)}
			b.start("")
			slow := b.attach(size(80, 24)) // reads nothing before the end
			quick := b.attach(size(80, 24))
			quick.typeText("go\n")
			quick.until("the end", func(w *watcher) bool { return w.end != nil })
			slow.until("the end", func(w *watcher) bool { return w.end != nil })
			for _, w := range []*watcher{quick, slow} {
				if !strings.Contains(strings.Join(w.screen.Text(), "\n"), "that is all") {
					t.Errorf("the last screen:\n%s", w.screen)
				}
			}
			b.ended()
			h := sha256.New()
			for i := 0; i < n; i += blockSize {
				h.Write(bytes.ReplaceAll(block(i)[:min(blockSize, n-i)], []byte("\n"), []byte("\r\n")))
			}
			got := b.output(coppice.OutputStdout)
			got = got[bytes.Index(got, []byte("000000000000000")):]
			got, _, _ = bytes.Cut(got, []byte("that is all"))
			if sum := sha256.Sum256(got); !bytes.Equal(sum[:], h.Sum(nil)) {
				t.Errorf("%d bytes came, and not as they were written", len(got))
			}
		})
	}
}

func TestTerminalExit(t *testing.T) {
	t.Parallel()
	for _, runtime := range []string{RuntimePty, RuntimeTmux} {
		for _, c := range []struct {
			name, command string
			stop          bool
			check         func(*Exit) bool
		}{
			{"at once", "exit 3", false, func(x *Exit) bool { return x.Code == 3 && !x.Stopped }},
			{"by a signal", "kill -TERM $$", false, func(x *Exit) bool { return x.Signal == "SIGTERM" }},
			{"stopped", `trap 'echo terminated; exit 9' TERM; echo ready; while read x; do :; done; while :; do sleep 1000 & wait; done`, true,
				func(x *Exit) bool { return x.Code == 9 && x.Stopped }},
			{"stubborn", `trap '' TERM HUP; setsid sleep 1000 & echo ready; while :; do sleep 1000; done`, true,
				func(x *Exit) bool { return x.Stopped && x.Signal == "SIGKILL" }},
		} {
			t.Run(runtime+" "+c.name, func(t *testing.T) {
				t.Parallel()
				b := setup(t, runtime)
				b.shell(c.command)
				b.start("")
				if c.stop {
					b.until(contains("ready"))
					if err := b.dial().Stop(b.ctx, 200*time.Millisecond); err != nil {
						t.Fatal(err)
					}
				}
				x := b.ended()
				if !c.check(x) {
					t.Errorf("exit %+v", x)
				}
				st, _ := b.phase(PhaseEnded)
				if left, err := process.Find(st.mark()); err != nil || len(left) > 0 {
					t.Errorf("%v is left (%v)", left, err)
				}
			})
		}
	}
}

// TestTerminalLostHost shows that processes of a killed host in tmux are found.
func TestTerminalLostHost(t *testing.T) {
	t.Parallel()
	for _, runtime := range []string{RuntimePty, RuntimeTmux} {
		t.Run(runtime, func(t *testing.T) {
			t.Parallel()
			b := setup(t, runtime)
			b.shell(`trap '' HUP; echo ready; while :; do sleep 1000; done`)
			st := b.run()
			b.killHost(st)
			b.phase(PhaseLost)
			if err := Kill(b.ctx, b.dir); err != nil {
				t.Fatal(err)
			}
			if left, err := process.Find(st.mark()); err != nil || len(left) > 0 {
				t.Errorf("%v is left (%v)", left, err)
			}
		})
	}
}

// TestExitMark shows that the exit mark is found wherever the bytes are cut, and
// that no byte of the agent is lost.
func TestExitMark(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"text", "\x1b[31m", "\x1b]7778;", "\x1b]7778;abc", "\x1b]7778;abc;x;\a", "\x1b", "\a", "\x1b]2;x\a"})
		said := strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "said"), "")
		rest := append([]byte(said), exitMark("abc", 5, "SIGINT")...)
		e := exitScanner{begins: exitMarkPrefix("abc")}
		var own []byte
		over := false
		for len(rest) > 0 {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			got, code, sig, end := e.take(rest[:n])
			own = append(own, got...)
			if over = end; over && (code != 5 || sig != "SIGINT") {
				t.Fatalf("ended with %d %s", code, sig)
			}
			rest = rest[n:]
		}
		if !over || string(own) != said {
			t.Fatalf("over %v, own %q of %q", over, own, said)
		}
	})
}

func TestTerminalWithoutTmux(t *testing.T) {
	t.Parallel()
	b := setup(t, RuntimeTmux)
	b.shell("exit 0")
	b.spec.Env["PATH"] = t.TempDir()
	b.start("")
	x := b.ended()
	if f := x.Outcome.Failure; f == nil || f.Class != coppice.ClassCapability || !strings.Contains(f.Text, "tmux") || f.Fix == "" {
		t.Errorf("failure %+v", f)
	}
	b = setup(t, "hand")
	b.shell("exit 0")
	b.start("")
	if f := b.ended().Outcome.Failure; f == nil || f.Class != coppice.ClassCapability || f.Fix == "" {
		t.Errorf("failure %+v", f)
	}
}

// TestWatchPipe shows that a session without a screen can be watched, but takes
// no keys.
func TestWatchPipe(t *testing.T) {
	t.Parallel()
	b := setup(t, "talk", "echo")
	b.run()
	w := b.attach(size(80, 24))
	w.sees("ready")
	w.typeText("hello\n")
	w.until("a notice", func(w *watcher) bool { return len(w.notices) == 1 && strings.Contains(w.notices[0], "coppice send") })
	if err := b.dial().Send(b.ctx, Message{Text: "\x1b]52;c;AAAA\x07said"}); err != nil {
		t.Fatal(err)
	}
	w.sees("got: said")
	if err := b.dial().Stop(b.ctx, time.Minute); err != nil {
		t.Fatal(err)
	}
	w.until("the end", func(w *watcher) bool { return w.end != nil })
	if w.end.Code != 3 || !w.end.Stopped || w.v.Runtime != RuntimePipe || !w.v.ReadOnly {
		t.Errorf("end %+v of %+v", w.end, w.v)
	}
}

// TestBadFrames shows that a client that sends nonsense is dropped, and no
// other.
func TestBadFrames(t *testing.T) {
	t.Parallel()
	b := setup(t, RuntimePty)
	b.shell(`while read x; do echo "got $x"; done`)
	b.start("")
	good := b.attach(size(80, 24))
	for _, bad := range []string{"x\x00\x00\x00\x00", "i\xff\xff\xff\xff", "r\x00\x00\x00\x02{}x", "r\x00\x00\x00\x18{\"columns\":-1,\"rows\":1}  ", "i\x00\x00"} {
		c, err := connect(b.ctx, filepath.Join(b.dir, socketFile))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, `{"op":"attach"}`+"\n%s", bad)
		c.(*net.UnixConn).CloseWrite()
		if _, err := bytes.NewBuffer(nil).ReadFrom(c); err != nil && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%q: %v", bad, err)
		}
		c.Close()
	}
	if _, err := b.dial().Attach(b.ctx, size(-1, 5)); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("a size that is none: %v", err)
	}
	good.typeText("still here\n")
	good.sees("got still here")
}

// TestScreenSession runs an interactive program with the terminal protocol, from
// its prompt to its end.
func TestScreenSession(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, runtime string
		args          []string
	}{
		{"pty by rules", RuntimePty, nil}, {"pty by events", RuntimePty, []string{"--events"}},
		{"tmux by rules", RuntimeTmux, nil}, {"tmux by events", RuntimeTmux, []string{"--events"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := scriptedScreen(t, c.runtime, c.args...)
			b.start("Please greet\nthe world, kindly")
			b.hasEvent(`"kind":"question"`)
			if err := b.dial().Send(b.ctx, Message{Text: "y", Ref: "screen-1"}); err != nil {
				t.Fatal(err)
			}
			x := b.ended()
			if x.Outcome.Failure != nil || !x.Done {
				t.Errorf("exit %+v %v", x, x.Outcome.Failure)
			}
			got, err := os.ReadFile(filepath.Join(b.spec.Request.Dir, "hello.txt"))
			if err != nil || string(got) != "kindly y\n" {
				t.Errorf("wrote %q, %v", got, err)
			}
			events := string(b.output(coppice.OutputEvent))
			if n := strings.Count(events, `"name":"delivered"`); n != 2 {
				t.Errorf("%d messages were delivered:\n%s", n, events)
			}
		})
	}
}

const greeting = `cases:
  - match: greet.*(kindly)
    steps:
      - say: I will greet.
      - ask: Really?
      - write: {path: hello.txt, content: "$1 ${answer}\n"}
      - say: It is done.
`

// scriptedScreen is a session of the scripted program on a screen.
func scriptedScreen(t *testing.T, runtime string, args ...string) *bundle {
	b := setup(t, "terminal")
	b.spec.Env[roleVar] = "scripted"
	b.spec.Env["LANG"] = "C.UTF-8"
	b.spec.Grace = coppice.Duration(20 * time.Second)
	b.spec.Profile.Protocol = "terminal"
	b.spec.Profile.Screen = coppice.ScreenProfile{
		Runtime: runtime, Args: append([]string{"--screen"}, append(args, "script.yaml")...), Quit: "/exit",
		Rules: []coppice.ScreenRule{
			{Match: "^working…", Lines: 2, State: coppice.SessionWorking}, {Match: "^waiting for", Lines: 2, State: coppice.SessionWaiting},
			{Match: "^ready", Lines: 2, State: coppice.SessionIdle},
		},
	}
	if err := os.WriteFile(filepath.Join(b.spec.Request.Dir, "script.yaml"), []byte(greeting), 0o644); err != nil {
		t.Fatal(err)
	}
	return b
}

// hasEvent waits until the agent's events contain a text.
func (b *bundle) hasEvent(text string) {
	b.t.Helper()
	ctx, cancel := context.WithCancel(b.ctx)
	defer cancel()
	seen := false
	err := b.dial().Follow(ctx, func(int64) {
		if !seen && bytes.Contains(b.output(coppice.OutputEvent), []byte(text)) {
			seen = true
			cancel()
		}
	})
	if !seen {
		b.t.Fatalf("no event has %s: %v\n%s\n%q", text, err, b.output(coppice.OutputEvent), b.output(coppice.OutputStdout))
	}
}
