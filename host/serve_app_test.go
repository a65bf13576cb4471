package host

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"coppice"
	"coppice/internal/process"
	"coppice/test/ports"
)

// runWeb is an app on $COPPICE_PORT that does what its arguments say.
func runWeb(args []string) int {
	fmt.Println("pid", os.Getpid())
	switch args[0] {
	case "broken":
		fmt.Println("the database is missing")
		return 4
	case "deaf": // never listens
		stay()
	case "loud":
		n, _ := strconv.Atoi(args[1])
		runAgent([]string{"flood", args[1]})
		fmt.Println("wrote", n)
	}
	var asked atomic.Int32
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/slow" && asked.Add(1) < 3:
			http.Error(w, "not yet", http.StatusServiceUnavailable)
		case r.URL.Path == "/bad":
			http.Error(w, "a mistake", http.StatusInternalServerError)
		default:
			fmt.Fprintf(w, "the app's page, asked %d times; secret %q, session %q, marked %t", asked.Load(), os.Getenv("SECRET"),
				os.Getenv(process.SessionVar), os.Getenv(process.MarkVar) != "")
		}
	})
	if err := http.ListenAndServe("127.0.0.1:"+os.Getenv("COPPICE_PORT"), handler); err != nil {
		fmt.Println(err)
	}
	return 1
}

func fetch() int {
	res, err := http.Get(os.Getenv("COPPICE_URL"))
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	fmt.Println(string(b), err)
	return 0
}

// withApp makes the session serve an app.
func (b *bundle) withApp(args string) *bundle {
	port := ports.Block(b.t)
	b.spec.App = App{
		Run: "exec '" + b.l.Argv[0] + "' web " + args, Port: port, Timeout: coppice.Duration(time.Hour), // longer than any test
		Env: map[string]string{"PATH": os.Getenv("PATH"), roleVar: "agent", "COPPICE_PORT": strconv.Itoa(port)},
	}
	b.spec.Env["COPPICE_URL"] = fmt.Sprintf("http://127.0.0.1:%d/", port)
	b.spec.Env["SECRET"] = "the agent's own"
	return b
}

// appPID returns the pid that the app printed.
func (b *bundle) appPID() int {
	b.t.Helper()
	log, err := os.ReadFile(filepath.Join(b.dir, appFile))
	if err != nil {
		b.t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(log), "\n")
	pid, err := strconv.Atoi(strings.TrimPrefix(line, "pid "))
	if err != nil {
		b.t.Fatalf("the app's log begins with %q", line)
	}
	return pid
}

func (b *bundle) appGone() {
	b.t.Helper()
	if err := syscall.Kill(b.appPID(), 0); err != syscall.ESRCH {
		b.t.Errorf("the app runs on: %v", err)
	}
}

func TestTheAppIsServedWhileTheAgentWorks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ ready, says string }{
		"the port accepts":    {"", "asked 0 times"},
		"the address answers": {"http://127.0.0.1:${COPPICE_PORT}/slow", "asked 3 times"},
		"with an error":       {"http://127.0.0.1:${COPPICE_PORT}/bad", "asked 0 times"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, "once", "fetch").withApp("serve")
			b.spec.App.Ready = c.ready
			b.start("")
			x := b.ended()
			out := string(b.output(coppice.OutputStdout))
			if x.Code != 0 || x.Error != "" || !strings.Contains(out, c.says) || !strings.Contains(out, `secret "", session "app-1.1", marked true`) {
				t.Errorf("%+v with %q", x, out)
			}
			if app := b.output(coppice.OutputApp); !bytes.HasPrefix(app, []byte("pid ")) {
				t.Errorf("the app's output is %q", app)
			}
			b.appGone()
		})
	}
}

func TestAnAppThatDoesNotGetReady(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args  string
		spoil func(*testing.T, *bundle)
		says  []string
	}{
		"ends":      {"broken", nil, []string{"ended with exit code 4 before it was ready", "the database is missing"}},
		"not found": {"", func(_ *testing.T, b *bundle) { b.spec.App.Run = "no-such-program" }, []string{"ended with exit code 127", "not found"}},
		"never":     {"deaf", func(_ *testing.T, b *bundle) { b.spec.App.Timeout = coppice.Duration(300 * time.Millisecond) }, []string{"was not ready within 300ms"}},
		"no address": {"serve", func(_ *testing.T, b *bundle) {
			b.spec.App.Ready, b.spec.App.Timeout = "http://127.0.0.1:1/", coppice.Duration(300*time.Millisecond)
		}, []string{"was not ready"}},
		"port in use": {"serve", occupy, []string{"is already in use"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, "once", "fetch").withApp(c.args)
			if c.spoil != nil {
				c.spoil(t, b)
			}
			b.start("")
			x := b.ended()
			f := x.Outcome.Failure
			if x.Code != -1 || f == nil || f.Class != coppice.ClassEnvironment || f.Fix == "" {
				t.Fatalf("%+v", x)
			}
			for _, part := range c.says {
				if !strings.Contains(f.Text, part) {
					t.Errorf("%q is missing in %q", part, f.Text)
				}
			}
			if out := b.output(coppice.OutputStdout); len(out) > 0 {
				t.Errorf("the agent ran: %q", out)
			}
			if _, err := os.Stat(filepath.Join(b.dir, appFile)); err == nil && name != "not found" {
				b.appGone()
			}
		})
	}
}

// occupy listens on the app's port.
func occupy(t *testing.T, b *bundle) {
	l, err := net.Listen("tcp", b.spec.App.address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
}

func TestStopWhileTheAppStarts(t *testing.T) {
	t.Parallel()
	b := setup(t, "once", "fetch").withApp("deaf")
	b.start("")
	c, asked := b.dial(), false
	if err := c.Follow(b.ctx, func(int64) {
		if !asked && bytes.Contains(b.output(coppice.OutputApp), []byte("pid ")) {
			asked = true
			if err := b.dial().Stop(b.ctx, time.Second); err != nil {
				t.Error(err)
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	x := b.ended()
	if !x.Stopped || x.Error != "" || x.Outcome.Failure != nil {
		t.Errorf("%+v", x)
	}
	b.appGone()
}

func TestStopTheAgentThatHasAnApp(t *testing.T) {
	t.Parallel()
	b := setup(t, "talk", "echo").withApp("serve")
	b.start("")
	c := b.dial()
	if err := c.Send(b.ctx, Message{ID: "1", Text: "hello"}); err != nil { // waits for the agent
		t.Fatal(err)
	}
	b.until(contains("got: hello"))
	if err := c.Stop(b.ctx, time.Minute); err != nil {
		t.Fatal(err)
	}
	if x := b.ended(); !x.Stopped || x.Code != 3 {
		t.Errorf("%+v", x)
	}
	b.appGone()
}

func TestAMessageForAnAgentThatNeverRuns(t *testing.T) {
	t.Parallel()
	b := setup(t, "talk", "echo").withApp("deaf")
	b.spec.App.Timeout = coppice.Duration(5 * time.Second) // the host ends then, so the message has to arrive before
	b.start("")
	if err := b.dial().Send(b.ctx, Message{ID: "1", Text: "hello"}); err == nil {
		t.Error("it was delivered")
	}
	b.ended()
}

func TestAnAgentThatCannotStartHasNoAppLeft(t *testing.T) {
	t.Parallel()
	b := setup(t, "once", "fetch").withApp("serve")
	b.spec.Profile.Command = []string{"/no/such/agent"}
	b.start("")
	if x := b.ended(); x.Outcome.Failure == nil || x.Outcome.Failure.Class != coppice.ClassCapability {
		t.Errorf("%+v", x)
	}
	b.appGone()
}

func TestALostHostsAppIsKilled(t *testing.T) {
	t.Parallel()
	b := setup(t, "talk", "echo").withApp("serve")
	b.killHost(b.run())
	pid := b.appPID()
	started, err := process.StartTime(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := Kill(b.ctx, b.dir); err != nil {
		t.Fatal(err)
	}
	if process.Alive(pid, started) {
		t.Error("the app still runs")
	}
}

func TestALoudAppIsBounded(t *testing.T) {
	t.Parallel()
	b := setup(t, "once", "fetch").withApp("loud 4000000")
	b.start("")
	if x := b.ended(); x.Code != 0 {
		t.Fatalf("%+v", x)
	}
	out := b.output(coppice.OutputApp)
	if len(out) < appKeep || len(out) > 2*appKeep+100 {
		t.Errorf("%d bytes are kept", len(out))
	}
	if !bytes.HasPrefix(out, []byte("pid ")) || !bytes.HasSuffix(out, []byte("wrote 4000000\n")) || !bytes.Contains(out, []byte("bytes left out")) {
		t.Errorf("it begins with %.40q and ends with %q", out, out[len(out)-40:])
	}
}

// TestAppLogKeepsBothEnds compares the log with everything that was written.
func TestAppLogKeepsBothEnds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		l := newAppLog(filepath.Join(dir, strconv.Itoa(n)))
		var all, spooled []byte
		for _, size := range rapid.SliceOfN(rapid.IntRange(1, captureSize), 0, 80).Draw(t, "sizes") {
			b := bytes.Repeat(fmt.Appendf(nil, "%07d\n", len(all)), size/8+1)[:size]
			k, err := l.write(b)
			if err != nil {
				t.Fatal(err)
			}
			all, spooled = append(all, b...), append(spooled, b[:k]...)
		}
		rest, tail := l.close()
		switch {
		case !bytes.HasPrefix(all, spooled) || len(spooled) != min(len(all), appKeep):
			t.Fatalf("%d of %d bytes are spooled", len(spooled), len(all))
		case len(rest) > appKeep+64:
			t.Fatalf("%d bytes follow", len(rest))
		case len(all) <= appKeep && len(rest) > 0:
			t.Fatal("something follows what is whole")
		case len(all) > appKeep && !bytes.HasSuffix(all, rest[max(0, len(rest)-100):]):
			t.Fatal("the end is not the end")
		case !bytes.Contains(rest, []byte("bytes left out")) && string(spooled)+string(rest) != string(all):
			t.Fatal("something is missing and nothing says so")
		case !strings.HasSuffix(strings.TrimSpace(string(all)), tail):
			t.Fatal("the tail is not the end")
		}
	})
}
