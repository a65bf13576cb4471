package host

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestLongPath(t *testing.T) {
	t.Parallel()
	b := setup(t, "talk", "echo")
	b.dir = filepath.Join(t.TempDir(), strings.Repeat("long/", 40), "session")
	b.run()
	if err := b.dial().Stop(b.ctx, time.Minute); err != nil {
		t.Fatal(err)
	}
	b.ended()
}

func TestBadRequests(t *testing.T) {
	t.Parallel()
	b := setup(t, "talk", "echo")
	b.start("")
	for _, line := range []string{"{\n", "[]\n", "nonsense\n", `{"op":"fly"}` + "\n", "\x00\xff\n"} {
		conn, err := connect(b.ctx, filepath.Join(b.dir, socketFile))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(conn, line)
		conn.(interface{ CloseWrite() error }).CloseWrite()
		if _, err := io.ReadAll(conn); err != nil {
			t.Errorf("%q: %v", line, err)
		}
		conn.Close()
	}
	if err := b.dial().Send(b.ctx, Message{Text: "still here"}); err != nil {
		t.Fatal(err)
	}
}

// TestDoneButStays ends an agent that has finished and does not exit, even when
// asked. That is not a stop, and the exit code does not count.
func TestDoneButStays(t *testing.T) {
	t.Parallel()
	b := setup(t, "done", "stubborn")
	b.start("")
	x := b.ended()
	if !x.Done || x.Stopped || x.Signal != "SIGKILL" {
		t.Fatalf("exit %+v", x)
	}
}
