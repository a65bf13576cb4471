package ingest_test

import (
	"encoding/json"
	"testing"

	"coppice"
	"coppice/fabric"
	"coppice/store"
)

// The cost of an agent that reports only tokens follows from the prices: those
// of the project before those of the program. The session's end has the same
// cost as its earlier reports, and so do the counters.
func TestPrices(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.update(func(tx store.Tx) error {
		p, err := tx.Projects.Get(b.task.ProjectID)
		if err != nil {
			return err
		}
		p.Policy.Prices = map[string]coppice.Price{"gpt-5.4": {Input: 100, Output: 200}}
		return tx.Projects.Put(&p)
	})
	tokens := coppice.Usage{InputTokens: 1000, OutputTokens: 100}
	for n, c := range []struct {
		model     string
		cost      float64 // of twice the tokens
		estimated bool
	}{
		{"gpt-5.4", 0.24, false}, {"gpt-6-sol", 0.006, true}, {"gpt-of-tomorrow", 0.096, true}, {"somebody's", 0, false},
	} {
		s := coppice.Session{N: n + 1, Key: coppice.SessionKey("app-1", n+1), State: coppice.SessionWorking, Model: c.model, Agent: "a", CreatedAt: noon}
		b.put(&s)
		before := b.spent()
		for i := range int64(2) {
			data, err := json.Marshal(map[string]any{"kind": "usage", "usage": tokens})
			if err != nil {
				t.Fatal(err)
			}
			frame := fabric.Frame{Output: coppice.Output{SessionID: s.ID, Offset: i, At: noon, Kind: coppice.OutputEvent, Data: data}, Next: i + 1}
			if _, err := b.Record(t.Context(), fabric.Batch{Session: s.ID, From: i, Frames: []fabric.Frame{frame}}); err != nil {
				t.Fatal(err)
			}
		}
		want := tokens.Add(tokens)
		want.CostUSD, want.Priced, want.Estimated = c.cost, c.cost > 0, c.estimated
		b.update(func(tx store.Tx) error {
			got, err := tx.Sessions.Get(s.ID)
			if !nearly(got.Usage, want) || got.Usage.Priced != want.Priced || got.Usage.Estimated != want.Estimated {
				t.Errorf("%s: %+v, want %+v", c.model, got.Usage, want)
			}
			return err
		})
		raw, _, err := b.Accept(t.Context(), coppice.Work{Kind: coppice.WorkRun, ProjectID: b.task.ProjectID, SessionID: s.ID}, coppice.Raw(coppice.RunResult{Usage: tokens.Add(tokens)}), nil)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := coppice.DecodeResult[coppice.RunResult](coppice.Work{Result: raw}); err != nil || !nearly(r.Usage, want) || r.Usage.Priced != want.Priced {
			t.Errorf("%s ends with %+v, %v, want %+v", c.model, r.Usage, err, want)
		}
		if got := b.spent() - before; got-c.cost > 1e-6 || c.cost-got > 1e-6 {
			t.Errorf("%s: %v is counted, want %v", c.model, got, c.cost)
		}
	}
}

func (b *bundle) spent() (usd float64) {
	b.t.Helper()
	b.update(func(tx store.Tx) error {
		u, err := tx.Spend.Of(coppice.TaskSubject(b.task.ID), "")
		usd = u.CostUSD
		return err
	})
	return usd
}
