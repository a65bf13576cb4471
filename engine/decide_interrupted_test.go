package engine

import (
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

// A session that stays after a person's interrupt needs that person, until
// something is said to it.
func TestStatusOfTheInterrupted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		state  coppice.SessionState
		screen bool
		kinds  []string
		want   coppice.Status
	}{
		"interrupted":       {coppice.SessionIdle, false, []string{coppice.MessageInterrupt}, coppice.StatusNeedsYou},
		"got a message":     {coppice.SessionIdle, false, []string{coppice.MessageInterrupt, coppice.MessageNow}, coppice.StatusWorking},
		"works again":       {coppice.SessionWorking, false, []string{coppice.MessageInterrupt}, coppice.StatusWorking},
		"never interrupted": {coppice.SessionIdle, false, nil, coppice.StatusWorking},
		"a person's own":    {coppice.SessionIdle, true, []string{coppice.MessageInterrupt}, coppice.StatusWorking},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := openApp(t)
			b.create(coppice.NewTask{Title: "a"})
			s := b.working("app-1", func(s *coppice.Session) { s.State, s.Screen = c.state, c.screen })
			b.update(func(tx store.Tx) error {
				for n, kind := range c.kinds {
					m := coppice.Message{TaskID: s.TaskID, SessionID: s.ID, Kind: kind, SentAt: noon, DeliveredAt: noon.Add(time.Duration(n) * time.Second)}
					if kind == coppice.MessageNow {
						m.Text = "continue"
					}
					if err := tx.Messages.Put(&m); err != nil {
						return err
					}
				}
				return nil
			})
			x := b.task("app-1")
			b.view(func(r store.Reader) error {
				st, err := b.engine.Statuses(t.Context(), r, []coppice.Task{x})
				if err != nil || st[0].Status != c.want {
					t.Errorf("%v: %s (%s), want %s", err, st[0].Status, st[0].Reason, c.want)
				}
				if c.want == coppice.StatusNeedsYou && !strings.Contains(st[0].Fix, "coppice send app-1") {
					t.Errorf("the fix is %q", st[0].Fix)
				}
				return err
			})
		})
	}
}
