package ingest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"coppice"
	"coppice/fabric"
	"coppice/ingest"
	"coppice/internal/redact"
	"coppice/store"
)

// cut is a store whose next Update is rolled back after everything was written,
// as if the server was killed before the commit.
type cut struct {
	store.Store
	next bool
}

var errCut = errors.New("killed")

func (c *cut) Update(ctx context.Context, f func(store.Tx) error) error {
	killed := c.next
	c.next = false
	return c.Store.Update(ctx, func(tx store.Tx) error {
		if err := f(tx); err != nil || !killed {
			return err
		}
		return errCut
	})
}

// TestSpendIsCountedOnce records what agents report, with kills, and with spools
// that are read again from any place. The counters are always the sums over the
// sessions, and the sessions have what their spools say.
func TestSpendIsCountedOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	st := &cut{Store: b.store}
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		l, err := ingest.New(ingest.Config{Store: st, Now: func() time.Time { return noon }, Worker: "local", Redact: redact.New()})
		if err != nil {
			rt.Fatal(err)
		}
		task := coppice.Task{ProjectID: b.task.ProjectID, Num: n + 1, Key: fmt.Sprintf("app-%d", n+1), Stage: coppice.StageSession}
		b.update(func(tx store.Tx) error { return tx.Tasks.Put(&task) })
		var spools []*spool
		for i := range rapid.IntRange(1, 3).Draw(rt, "sessions") {
			s := coppice.Session{TaskID: task.ID, ProjectID: task.ProjectID, N: i + 1, Key: coppice.SessionKey(task.Key, i+1), Agent: fmt.Sprintf("agent%d", n),
				State: coppice.SessionWorking, CreatedAt: noon}
			b.update(func(tx store.Tx) error { return tx.Sessions.Put(&s) })
			spools = append(spools, drawSpool(rt, s.ID))
		}
		for range rapid.IntRange(1, 30).Draw(rt, "records") {
			sp := spools[rapid.IntRange(0, len(spools)-1).Draw(rt, "which")]
			from := rapid.IntRange(0, len(sp.frames)-1).Draw(rt, "from")
			to := rapid.IntRange(from+1, len(sp.frames)).Draw(rt, "to")
			st.next = rapid.IntRange(0, 3).Draw(rt, "killed") == 0
			_, err := l.Record(t.Context(), fabric.Batch{Session: sp.session, From: int64(10 * from), Frames: sp.frames[from:to]})
			if err != nil && !errors.Is(err, errCut) && coppice.ErrorCode(err) != coppice.EConflict {
				rt.Fatal(err)
			}
		}
		countedOnce(t, rt, b, task, spools)
	})
}

// spool is what a session's agent reported.
type spool struct {
	session int64
	frames  []fabric.Frame
	usages  []coppice.Usage
}

func drawSpool(rt *rapid.T, session int64) *spool {
	sp := &spool{session: session}
	for i := range rapid.IntRange(1, 6).Draw(rt, "frames") {
		u := coppice.Usage{CostUSD: float64(rapid.IntRange(0, 3000).Draw(rt, "millis")) / 1000, InputTokens: int64(rapid.IntRange(0, 1000).Draw(rt, "tokens"))}
		data, err := json.Marshal(map[string]any{"kind": "usage", "usage": u})
		if err != nil {
			rt.Fatal(err)
		}
		at := noon.Add(time.Duration(rapid.IntRange(0, 3000).Draw(rt, "minutes")) * time.Minute)
		sp.usages = append(sp.usages, u)
		sp.frames = append(sp.frames, fabric.Frame{
			Output: coppice.Output{SessionID: session, Offset: int64(10 * i), At: at, Kind: coppice.OutputEvent, Data: data}, Next: int64(10 * (i + 1)),
		})
	}
	return sp
}

func countedOnce(t *testing.T, rt *rapid.T, b *bundle, task coppice.Task, spools []*spool) {
	var want coppice.Usage
	b.update(func(tx store.Tx) error {
		for _, sp := range spools {
			s, err := tx.Sessions.Get(sp.session)
			if err != nil {
				return err
			}
			var read coppice.Usage
			for _, u := range sp.usages[:s.Cursor/10] {
				read = read.Add(u)
			}
			if !nearly(read, s.Usage) {
				rt.Fatalf("session %d has %+v, its spool says %+v up to %d", s.ID, s.Usage, read, s.Cursor)
			}
			want = want.Add(s.Usage)
		}
		total, err := tx.Spend.Of(coppice.TaskSubject(task.ID), "")
		if err != nil || !nearly(total, want) {
			rt.Fatalf("the task has %+v, its sessions have %+v, %v", total, want, err)
		}
		var days coppice.Usage
		for d := range 4 {
			u, err := tx.Spend.Of(coppice.AccountSubject("agent"+fmt.Sprint(task.Num-1)), coppice.Day(noon.AddDate(0, 0, d)))
			if err != nil {
				return err
			}
			days = days.Add(u)
		}
		if !nearly(days, want) {
			rt.Fatalf("the account's days have %+v, its sessions have %+v", days, want)
		}
		return nil
	})
}

// nearly compares sums of money to a millionth of a dollar: the order of
// additions changes the last bits.
func nearly(a, b coppice.Usage) bool {
	return a.InputTokens == b.InputTokens && math.Abs(a.CostUSD-b.CostUSD) < 1e-6
}
