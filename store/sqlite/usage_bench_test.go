package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

// BenchmarkUsage reads reports over a year with 100,000 sessions.
func BenchmarkUsage(b *testing.B) {
	s, task := benchStore(b, filepath.Join(b.TempDir(), "coppice.db"))
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	err := s.Update(b.Context(), func(tx store.Tx) error {
		for i := range 100_000 {
			x := coppice.Session{
				ProjectID: task.ProjectID, TaskID: task.ID, N: i + 1, Key: fmt.Sprintf("app-1.%d", i+1), Agent: "one", Model: []string{"big", "small"}[i%2],
				State: coppice.SessionDone, CreatedAt: begin.Add(time.Duration(i) * 5 * time.Minute), Usage: coppice.Usage{InputTokens: 1000, OutputTokens: 10, CostUSD: 0.1, Turns: 3},
			}
			if err := tx.Sessions.Put(&x); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	for name, q := range map[string]store.UsageQuery{
		"a year":           {From: begin, To: begin.AddDate(1, 0, 0)},
		"a year by task":   {From: begin, To: begin.AddDate(1, 0, 0), ByTask: true},
		"thirty days":      {From: begin.AddDate(0, 6, 0), To: begin.AddDate(0, 7, 0)},
		"two hours east":   {From: begin.AddDate(0, 6, 0).Add(-2 * time.Hour), To: begin.AddDate(0, 7, 0).Add(-2 * time.Hour), Zone: time.FixedZone("", 2*60*60)},
		"in India":         {From: begin.AddDate(0, 6, 0).Add(-330 * time.Minute), To: begin.AddDate(0, 7, 0).Add(-330 * time.Minute), Zone: time.FixedZone("", 330*60)},
		"of no project":    {From: begin, To: begin.AddDate(1, 0, 0), ProjectID: 99},
		"before the first": {From: begin.AddDate(-1, 0, 0), To: begin},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := s.View(b.Context(), func(r store.Reader) error { _, err := r.Spend.Usage(q); return err }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
