package worker

import (
	"encoding/json"
	"testing"
	"time"

	"coppice"
	"coppice/agent"
	"coppice/host"
	"coppice/store"
)

// A message that the agent took and never read is open again.
func TestUndelivered(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, s := b.run("")
	now := time.Now().UTC()
	messages := []coppice.Message{
		{TaskID: b.task.ID, SessionID: s.ID, Text: "first", SentAt: now, DeliveredAt: now},
		{TaskID: b.task.ID, SessionID: s.ID, Text: "second", SentAt: now, DeliveredAt: now},
		{TaskID: b.task.ID, SessionID: s.ID + 1, Text: "second", SentAt: now, DeliveredAt: now},
	}
	b.update(func(tx store.Tx) error {
		for i := range messages {
			if err := tx.Messages.Put(&messages[i]); err != nil {
				return err
			}
		}
		return nil
	})
	data, err := json.Marshal(agent.Undelivered("second"))
	b.must(err)
	f := &follower{w: b.Worker, id: s.ID, dir: b.sessionDir(s.ID)}
	b.must(f.load(b.ctx))
	b.must(f.commit(b.ctx, []host.Frame{{Output: coppice.Output{At: now, Kind: coppice.OutputEvent, Data: data}, Next: f.cursor + 1}}))
	b.view(func(r store.Reader) error {
		all, err := r.Messages.Of(b.task.ID)
		for i, m := range all {
			if open := m.DeliveredAt.IsZero(); open != (i == 1) || (m.Failed != "") != open {
				t.Errorf("%+v", m)
			}
		}
		return err
	})
	b.event(coppice.EventMessageFailed, 1)
}

func TestTelling(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		e    agent.Event
		want bool
	}{
		{agent.Undelivered("x"), true},
		{agent.Event{Kind: agent.KindNotice, Name: "delivered", Text: "x"}, false},
		{agent.Event{Kind: agent.KindText, Text: `"name":"undelivered"`}, false},
		{agent.Event{Kind: agent.KindQuestion}, true},
	} {
		data, err := json.Marshal(c.e)
		if err != nil {
			t.Fatal(err)
		}
		if got := telling(data); got != c.want {
			t.Errorf("%s: %v", data, got)
		}
	}
}
