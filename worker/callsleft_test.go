package worker

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coppice/fabric"
	"coppice/host"
)

// waitingLedger is a ledger whose calls wait until their context ends.
type waitingLedger struct {
	fabric.Ledger
	calls chan fabric.Call
}

func (l waitingLedger) Call(ctx context.Context, c fabric.Call) (fabric.Reply, error) {
	l.calls <- c
	if c.Gone {
		return fabric.Reply{}, nil
	}
	<-ctx.Done()
	return fabric.Reply{}, ctx.Err()
}

// fakeHost answers clients as a host does whose agent calls, and leaves when leave
// is closed.
func fakeHost(t *testing.T, leave <-chan struct{}) (dir string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "calls") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "sock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	serve := func(c net.Conn) {
		defer c.Close()
		line, _ := bufio.NewReader(c).ReadString('\n')
		if strings.Contains(line, `"ping"`) {
			_, _ = c.Write([]byte(`{"ok":true,"version":99}` + "\n"))
			return
		}
		_, _ = c.Write([]byte(`{"ok":true,"call":{"id":"app-1.1/1","method":"POST"}}` + "\n"))
		<-leave
		_, _ = c.Write([]byte(`{"ok":true,"call":{"id":"app-1.1/1","gone":true}}` + "\n"))
		_, _ = io.Copy(io.Discard, c) // until the client leaves
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serve(c)
		}
	}()
	return dir
}

// A worker ends a call that the agent no longer waits for, and reports it. It does
// not report calls that end because the worker stops.
func TestCallThatAgentLeft(t *testing.T) {
	t.Parallel()
	for _, leaves := range []bool{true, false} {
		leave := make(chan struct{})
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		c, err := host.Dial(ctx, fakeHost(t, leave))
		if err != nil {
			t.Fatal(err)
		}
		ledger := waitingLedger{calls: make(chan fabric.Call, 4)}
		f := &follower{id: 7, w: &Worker{cfg: Config{Ledger: ledger, Logger: slog.New(slog.DiscardHandler)}}}
		all := f.answerCalls(ctx, c)
		if got := <-ledger.calls; got.Gone || got.ID != "app-1.1/1" {
			t.Fatalf("%+v", got)
		}
		if leaves {
			close(leave)
			if got := <-ledger.calls; !got.Gone || got.Session != 7 || got.ID != "app-1.1/1" {
				t.Errorf("%+v", got)
			}
		}
		stop()
		all.Wait()
		if !leaves {
			close(leave)
		}
		if n := len(ledger.calls); n > 0 {
			t.Errorf("%d more calls", n)
		}
	}
}
