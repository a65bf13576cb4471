package host

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/agent"
)

func init() { testProtocols["locker"] = lockerProtocol{testProtocol{name: "locker"}} }

// lockerProtocol has an agent that edits the file that each message names, if its
// driver allows it.
type lockerProtocol struct{ testProtocol }

func (lockerProtocol) Driver(_ coppice.Profile, r agent.Request) agent.Driver {
	return &lockerDriver{&testDriver{protocol: "locker"}, agent.NewAsker(r), r.Dir}
}

type lockerDriver struct {
	*testDriver
	*agent.Asker
	dir string
}

func (d *lockerDriver) Send(text, _ string) (agent.Step, error) {
	v := d.Decide(agent.Call{Name: "Edit", Kind: coppice.ToolEdit, Paths: []string{text}, Dir: d.dir})
	return agent.Step{Events: []coppice.AgentEvent{{Kind: coppice.KindPermission, Name: text, Text: v.Do + " " + v.Why, OK: v.Allowed()}}}, nil
}

// A host judges edits by the newest table of locks that it received, and refuses
// them until it has received one.
func TestLocks(t *testing.T) {
	t.Parallel()
	b := setup(t, "locker", "echo")
	b.spec.Request.Session, b.spec.Request.Locks = "app-1.1", coppice.LocksEnforce
	b.run()
	c := b.dial()
	held := coppice.HeldLock{Name: "a.go", Session: "app-2.1", Task: "app-2", Reason: "moves it", Expires: time.Now().Add(time.Hour)}
	for i, step := range []struct {
		table *coppice.LockTable
		want  string
	}{
		{nil, "deny locks are enforced in this project, and this session has not received the table"},
		{&coppice.LockTable{Seq: 3, Mode: coppice.LocksEnforce, Held: []coppice.HeldLock{held}}, "deny a.go is locked by task app-2 (session app-2.1), reason: moves it, time left: "},
		{&coppice.LockTable{Seq: 2, Mode: coppice.LocksEnforce}, "deny a.go is locked by task app-2"}, // older than the host's
		{&coppice.LockTable{Seq: 4, Mode: coppice.LocksEnforce}, "allow"},
		{&coppice.LockTable{Seq: 5, Mode: coppice.LocksRequired}, "deny this session does not hold a lock of a.go"},
		{&coppice.LockTable{Seq: 6, Mode: coppice.LocksAdvisory}, "allow"},
	} {
		if step.table != nil {
			if err := c.Locks(b.ctx, *step.table); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Send(b.ctx, Message{ID: fmt.Sprint("m", i), Text: "a.go"}); err != nil {
			t.Fatal(err)
		}
		all := b.pieces(coppice.OutputEvent)
		if last := string(all[len(all)-1]); !strings.Contains(last, `"text":"`+step.want) {
			t.Errorf("step %d: %s, want %q", i, last, step.want)
		}
	}
	if err := c.Stop(b.ctx, 0); err != nil {
		t.Fatal(err)
	}
	b.ended()
	if out := string(b.output(coppice.OutputHost)); strings.Contains(out, "not enforced") {
		t.Errorf("the host notes that locks are not enforced: %s", out)
	}
}

// People see that locks have no effect on an agent that does not ask.
func TestLocksOfAnAgentThatCannotAsk(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]bool{coppice.LocksEnforce: true, coppice.LocksAdvisory: false, "": false} {
		b := setup(t, "once", "env")
		b.spec.Request.Locks = mode
		b.start("")
		b.ended()
		if out := string(b.output(coppice.OutputHost)); strings.Contains(out, "locks are not enforced for it") != want {
			t.Errorf("%q: %s", mode, out)
		}
	}
}
