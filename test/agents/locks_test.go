package agents

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"coppice"
	"coppice/agent"
	"coppice/host"
)

// TestLocks: the real agents in a real host do not edit a file that another
// session holds, and they can read why.
func TestLocks(t *testing.T) {
	t.Parallel()
	held := []coppice.HeldLock{{Name: "made.txt", Session: "app-2.1", Task: "app-2", Reason: "renames it", Expires: time.Now().Add(time.Hour)}}
	for name, open := range map[string]func(*testing.T) *bench{"claude": claudeBench, "codex": codexBench} {
		for _, c := range []struct {
			name, mode, refused string
			table               *coppice.LockTable
		}{
			{"held", coppice.LocksEnforce, "made.txt is locked by task app-2 (session app-2.1), reason: renames it, time left: ", &coppice.LockTable{Seq: 1, Held: held}},
			{"free", coppice.LocksEnforce, "", &coppice.LockTable{Seq: 1}},
			{"without a table", coppice.LocksEnforce, "has not received the table of locks", nil},
			{"required", coppice.LocksRequired, "this session does not hold a lock of made.txt", &coppice.LockTable{Seq: 1}},
		} {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				b := open(t)
				gate := filepath.Join(t.TempDir(), "gate")
				if err := syscall.Mkfifo(gate, 0o600); err != nil {
					t.Fatal(err)
				}
				ctx, dir := b.startHost(t, agent.Request{Session: "app-1.1", Prompt: "GATE " + gate, Locks: c.mode}, "")
				h, err := host.Dial(ctx, dir)
				if err != nil {
					t.Fatal(err)
				}
				defer h.Close()
				if c.table != nil {
					if err := h.Locks(ctx, *c.table); err != nil {
						t.Fatal(err)
					}
				}
				if err := os.WriteFile(gate, []byte("go\n"), 0); err != nil { // returns when the agent is at the gate
					t.Fatal(err)
				}
				if err := h.Follow(ctx, func(int64) {}); err != nil && !errors.Is(err, host.ErrGone) { // it may have ended already
					t.Fatal(err)
				}
				f := finished{events: spooled(t, dir)}
				if c.refused == "" {
					if _, err := os.Stat(filepath.Join(b.repo, "made.txt")); err != nil {
						t.Errorf("a file that nobody holds was not written: %+v", f.events)
					}
					return
				}
				b.wantNo(t, "made.txt")
				f.wantPermission(t, "", false, c.refused)
				got := f.count(coppice.KindToolResult, func(e coppice.AgentEvent) bool { return !e.OK && strings.Contains(e.Text, c.refused) })
				if name == "claude" && got == 0 { // others get the reason as a message
					t.Errorf("the agent did not get the reason: %+v", f.events)
				}
			})
		}
	}
}
