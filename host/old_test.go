package host

import (
	"bufio"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"coppice"
	"coppice/agent"
)

// oldAnswers are the recorded answers of a host of the last release without
// versions, by operation.
var oldAnswers = map[string]string{
	opPing:      `{"ok":true}`,
	opSend:      `{"ok":true}`,
	opInterrupt: `{"ok":false,"error":{"code":"conflict","cause":"the agent cannot take that now","cannot":true}}`,
	opModel:     `{"ok":true}`,
	opStop:      `{"ok":true}`,
	opKeep:      `{"ok":true}`,
	opSnapshot:  `{"ok":true,"snapshot":{"state":{"pid":7,"started":1,"started_at":"2026-01-02T03:04:05Z"},"end":12,"output":"aGk=","followers":1,"dropped":0}}`,
	opFollow:    `{"ok":true,"end":12}` + "\n" + `{"ok":true,"end":34,"ended":true}`,
	opAttach:    `{"ok":true,"attached":{"runtime":"pty","columns":80,"rows":24}}` + "\n" + "s\x00\x00\x00\x02hi" + "e\x00\x00\x00\x0a" + `{"code":3}`,
	"":          `{"ok":false,"error":{"code":"invalid","cause":"there is no operation"}}`,
}

// oldState is what such a host writes into its directory.
const oldState = `{"pid":7,"started":1,"agent_pid":8,"mark":"m","started_at":"2026-01-02T03:04:05Z"}`

// oldHost answers in a directory like such a host.
func oldHost(t *testing.T) (dir string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "old") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, socketFile))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, stateFile), []byte(oldState), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	var clients sync.WaitGroup
	t.Cleanup(func() { l.Close(); clients.Wait() })
	clients.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			clients.Go(func() {
				defer c.Close()
				line, err := bufio.NewReader(c).ReadBytes('\n')
				var r struct{ Op string }
				if err != nil || json.Unmarshal(line, &r) != nil {
					return
				}
				a, ok := oldAnswers[r.Op]
				if !ok {
					a = oldAnswers[""]
				}
				_, _ = c.Write([]byte(a + "\n")) // the client might have left
			})
		}
	})
	return dir
}

// A server can use the hosts of the previous release. Every operation that they
// know works. Others are refused before they are sent.
func TestAHostOfTheReleaseBefore(t *testing.T) {
	t.Parallel()
	dir := oldHost(t)
	ctx := t.Context()
	if _, st, _, err := Inspect(dir); err != nil || st.PID != 7 || st.Version != 0 {
		t.Errorf("state %+v, %v", st, err)
	}
	c, err := Dial(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.Version() != 0 {
		t.Errorf("version %d", c.Version())
	}
	for name, err := range map[string]error{
		"send": c.Send(ctx, Message{ID: "1", Text: "hello"}), "model": c.Model(ctx, "big"), "stop": c.Stop(ctx, 0), "keep": c.Keep(ctx, []byte("\x89PNG\r\n\x1a\n")),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := c.Interrupt(ctx, Message{}); !errors.Is(err, agent.ErrCannot) {
		t.Errorf("interrupt: %v", err)
	}
	if s, err := c.Snapshot(ctx); err != nil || s.End != 12 || string(s.Output) != "hi" {
		t.Errorf("snapshot %+v, %v", s, err)
	}
	var ends []int64
	if err := c.Follow(ctx, func(end int64) { ends = append(ends, end) }); err != nil || len(ends) != 2 || ends[1] != 34 {
		t.Errorf("followed to %v: %v", ends, err)
	}
	v, err := c.Attach(ctx, ViewOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	screen, err := v.Next()
	ended, err2 := v.Next()
	if err != nil || err2 != nil || v.About().Size != (Size{Columns: 80, Rows: 24}) || string(screen.Screen) != "hi" || ended.Ended == nil || ended.Ended.Code != 3 {
		t.Errorf("%+v shows %+v and %+v: %v, %v", v.About(), screen, ended, err, err2)
	}
	older := &Client{dir: dir, ctx: c.ctx, version: -1} // older than any version
	if err := older.Send(ctx, Message{}); !errors.Is(err, ErrOld) || coppice.ErrorCode(err) != coppice.EUnavailable {
		t.Errorf("an operation that it does not know: %v", err)
	}
	if _, err := older.Attach(ctx, ViewOptions{}); !errors.Is(err, ErrOld) {
		t.Errorf("an attach that it does not know: %v", err)
	}
}

// A host reports its version. For an unknown operation it reports that it is too
// old.
func TestAHostReportsItsVersion(t *testing.T) {
	t.Parallel()
	b := setup(t, "turns", "echo")
	b.start("")
	c := b.dial()
	if _, st, _, err := Inspect(c.dir); c.Version() != Version || err != nil || st.Version != Version {
		t.Errorf("version %d, in its state %d, %v", c.Version(), st.Version, err)
	}
	if _, err := c.ask(b.ctx, request{Op: "later"}); !errors.Is(err, ErrOld) {
		t.Errorf("an operation of later: %v", err)
	}
}
