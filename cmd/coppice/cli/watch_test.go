package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"coppice"
	"coppice/cmd/coppice/cli"
)

// frames reads what a command writes until a text has come.
type frames struct {
	t   *testing.T
	r   *io.PipeReader
	all bytes.Buffer
}

func (f *frames) until(text string) {
	f.t.Helper()
	buf := make([]byte, 64<<10)
	for at := f.all.Len(); !strings.Contains(f.all.String()[at:], text); {
		n, err := f.r.Read(buf)
		f.all.Write(buf[:n])
		if err != nil {
			f.t.Fatalf("%v instead of %q:\n%s", err, text, f.all.String())
		}
	}
}

// watch starts a command and returns its frames, and a function that ends it as
// Ctrl-C does.
func (s *shell) watch(t *testing.T, args ...string) (*frames, func() int) {
	r, w := io.Pipe()
	ctx, cancel := context.WithTimeout(s.Ctx, time.Minute) // a safety net only
	code := make(chan int, 1)
	go func() {
		env := s.env
		env.Stdin, env.Stdout, env.Stderr = strings.NewReader(""), w, os.Stderr
		root := &cobra.Command{Use: "coppice"}
		root.AddCommand(cli.Commands(env)...)
		cli.Finish(root, env)
		code <- cli.Run(ctx, root, env, args)
		_ = w.Close()
	}()
	return &frames{t: t, r: r}, func() int {
		cancel()
		go func() { _, _ = io.Copy(io.Discard, r) }()
		return <-code
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.three()
	f, end := s.watch(t, "status", "--watch")
	f.until("3 waiting\n")
	s.Clock.Move(5 * time.Second)
	s.becomes("app-1", func(t *coppice.Task) { t.Stage, t.Wait, t.StageAt = coppice.StageChecking, nil, s.Clock.Now() })
	f.until("1 checking, 2 waiting\n")
	s.Clock.Move(time.Minute)
	s.ends("app-1", coppice.OutcomeFailed)
	f.until("1 entry in the inbox; see: coppice inbox\n")
	if code := end(); code != 0 {
		t.Errorf("exit %d after Ctrl-C", code)
	}
	path := "testdata/status-watch.golden"
	if *update {
		s.Must(os.WriteFile(path, f.all.Bytes(), 0o644))
	}
	want, err := os.ReadFile(path)
	s.Must(err)
	if diff := cmp.Diff(string(want), f.all.String()); diff != "" {
		t.Errorf("frames (-want +got):\n%s", diff)
	}
}

func TestWatchJSON(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.three()
	f, end := s.watch(t, "status", "--watch", "--json")
	f.until("\n")
	s.ends("app-1", coppice.OutcomeDone)
	f.until("\n")
	_ = end()
	for l := range strings.Lines(f.all.String()) {
		var st struct{ Seq int64 }
		if err := json.Unmarshal([]byte(l), &st); err != nil || st.Seq == 0 {
			t.Errorf("%v: %s", err, l)
		}
	}
}

// TestWatchOnATerminal draws over the frame before, within the terminal's size.
func TestWatchOnATerminal(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.fill()
	s.env.Terminal, s.env.Width, s.env.Height = true, 40, 8
	f, end := s.watch(t, "status", "--watch")
	f.until("\x1b[J")
	f.until("\x1b[J") // the times grow without an event
	_ = end()
	frame, _, _ := strings.Cut(f.all.String(), "\x1b[J")
	if !strings.HasPrefix(frame, "\x1b[?25l\x1b[H") || strings.Count(frame, "\n") != 7 || !strings.Contains(frame, "more lines; the terminal is") {
		t.Errorf("%q", frame)
	}
}
