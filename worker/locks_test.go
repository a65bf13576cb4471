package worker

import (
	"context"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/fabric"
	"coppice/store"
)

// lockLedger reports which tables a worker waits for. A worker that waits for one
// after 3 has sent table 3 to the host.
type lockLedger struct {
	fabric.Ledger
	after chan int64
}

func (l lockLedger) Locks(ctx context.Context, session, after int64) (coppice.LockTable, error) {
	l.after <- after
	return l.Ledger.Locks(ctx, session, after)
}

// locked sets the mode of the project's locks, and locks a file for another
// session.
func (b *bundle) locked(mode, name string) coppice.Lock {
	b.t.Helper()
	b.project.Policy.Locks = mode
	var l coppice.Lock
	b.update(func(tx store.Tx) error {
		other := coppice.Task{ProjectID: b.project.ID, Num: 2, Key: "app-2", Title: "Rename", Stage: coppice.StageSession}
		if err := tx.Tasks.Put(&other); err != nil {
			return err
		}
		s := coppice.Session{ProjectID: b.project.ID, TaskID: other.ID, N: 1, Key: "app-2.1", State: coppice.SessionWorking}
		if err := tx.Sessions.Put(&s); err != nil {
			return err
		}
		l = coppice.Lock{ProjectID: b.project.ID, SessionID: s.ID, Name: name, Reason: "renames it", ExpiresAt: time.Now().Add(time.Hour).UTC()}
		if err := tx.Locks.Put(l); err != nil {
			return err
		}
		return tx.Projects.Put(&b.project)
	})
	return l
}

// An agent cannot edit a file that another session holds, by a tool or by its
// shell, and can as soon as the lock is released.
func TestLocksReachTheAgent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	l := b.locked(coppice.LocksEnforce, "a.txt")
	ledger := lockLedger{b.ledger, make(chan int64, 16)}
	b.Worker.cfg.Ledger = ledger
	id, s := b.run(`cases:
  - steps:
      - wait_message: true
      - write: {path: a.txt, content: "mine\n"}
      - run: echo mine >> a.txt
      - run: cat a.txt
      - say: tried
      - wait_message: true
      - write: {path: a.txt, content: "mine\n"}
`)
	b.start()
	arrived := func(seq int64) {
		t.Helper()
		for {
			select {
			case after := <-ledger.after:
				if after == seq {
					return
				}
			case <-b.ctx.Done():
				t.Fatalf("table %d did not reach the host", seq)
			}
		}
	}
	send := func(key string) {
		t.Helper()
		sent := b.finished(b.offer(coppice.WorkSend, key, coppice.SendSpec{Session: s.Key, Text: key}, s.ID))
		if r := result[coppice.SendResult](b, sent); !r.Delivered {
			t.Errorf("message: %+v", r)
		}
	}
	arrived(1)
	send("begin")
	b.said(s.ID, coppice.KindText, "tried")
	refused := 0
	for _, e := range b.events(s.ID) {
		if e.Kind == coppice.KindPermission && !e.OK && strings.Contains(e.Text, "a.txt is locked by task app-2 (session app-2.1), reason: renames it, time left: ") {
			refused++
		}
	}
	if refused != 2 {
		t.Errorf("%d calls were refused: %+v", refused, b.events(s.ID))
	}
	b.update(func(tx store.Tx) error { return tx.Locks.Drop(l) })
	arrived(2)
	send("again")
	if r := result[coppice.RunResult](b, b.finished(id)); r.Head == r.From || b.own("show", "coppice/app-1:a.txt") != "mine" {
		t.Errorf("the edit is missing: %+v", r)
	}
}

// Nothing is asked for a session whose locks are advisory.
func TestAdvisoryLocks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.locked(coppice.LocksAdvisory, "a.txt")
	ledger := lockLedger{b.ledger, make(chan int64, 16)}
	b.Worker.cfg.Ledger = ledger
	id, _ := b.run("cases:\n  - steps:\n      - write: {path: a.txt, content: \"mine\\n\"}\n")
	b.start()
	if r := result[coppice.RunResult](b, b.finished(id)); r.Head == r.From || len(ledger.after) != 0 {
		t.Errorf("result %+v, %d tables", r, len(ledger.after))
	}
}

// grantLedger answers each call of a tool by a lock for the session. It returns
// only the current table, and no later one.
type grantLedger struct {
	fabric.Ledger
	grant func() error
}

func (l grantLedger) Call(context.Context, fabric.Call) (fabric.Reply, error) {
	return fabric.Reply{Status: http.StatusOK}, l.grant()
}

func (l grantLedger) Locks(ctx context.Context, session, after int64) (coppice.LockTable, error) {
	if after >= 0 {
		<-ctx.Done()
		return coppice.LockTable{}, ctx.Err()
	}
	return l.Ledger.Locks(ctx, session, after)
}

// An agent that has been granted a lock can edit the file at once: its host knows
// about the lock before the agent does.
func TestALockCountsWhenItIsGranted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.locked(coppice.LocksRequired, "b.txt")
	self, err := os.Executable()
	b.must(err)
	id, s := b.run("cases:\n  - steps:\n      - run: " + roleVar + "=call " + self + "\n      - write: {path: a.txt, content: \"mine\\n\"}\n")
	b.Worker.cfg.Ledger = grantLedger{b.ledger, func() error {
		return b.store.Update(b.ctx, func(tx store.Tx) error {
			return tx.Locks.Put(coppice.Lock{ProjectID: b.project.ID, SessionID: s.ID, Name: "a.txt", ExpiresAt: time.Now().Add(time.Hour).UTC()})
		})
	}}
	b.start()
	if r := result[coppice.RunResult](b, b.finished(id)); r.Head == r.From {
		t.Errorf("the edit was refused: %+v", b.events(s.ID))
	}
}
