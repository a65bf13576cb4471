package storetest

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"coppice"
	"coppice/store"
)

func testSpend(t *testing.T, open Open) {
	s := open(t)
	p := project(t, s, "app")
	k := task(t, s, p, 1, nil)
	spent := func(scope coppice.Subject, day string) float64 {
		t.Helper()
		return get(t, s, func(r store.Reader) (coppice.Usage, error) { return r.Spend.Of(scope, day) }).CostUSD
	}
	c := session(t, s, k, 1, func(c *coppice.Session) { c.CreatedAt = start })
	put := func(usd float64, change func(*coppice.Session)) {
		t.Helper()
		c.Usage.CostUSD = usd
		if change != nil {
			change(&c)
		}
		update(t, s, func(tx store.Tx) error { return tx.Sessions.Put(&c) })
	}
	put(1, nil)
	put(1, nil) // the same again
	next := start.Add(24 * time.Hour)
	update(t, s, func(tx store.Tx) error {
		return tx.Outputs.Add(c.ID, 0, 5, []coppice.Output{{SessionID: c.ID, At: next, Kind: coppice.OutputEvent, Data: []byte("x")}})
	})
	put(1.5, nil) // after midnight
	put(1.75, func(c *coppice.Session) { c.State, c.EndedAt = coppice.SessionDone, next.Add(24*time.Hour) })
	update(t, s, func(tx store.Tx) error {
		return errors.Join(
			tx.Spend.Add(store.Spending{ProjectID: p.ID, TaskID: k.ID, Agent: "coppice", Model: "small", At: next, Usage: coppice.Usage{CostUSD: 0.25, InputTokens: 7}}),
			tx.Spend.Add(store.Spending{ProjectID: p.ID, Agent: "coppice", Model: "small", At: next, Usage: coppice.Usage{CostUSD: 0.125}}))
	})
	for name, c := range map[string]struct{ want, got float64 }{
		"the task":          {2, spent(coppice.TaskSubject(k.ID), "")},
		"the first day":     {1, spent(coppice.ProjectSubject(p.ID), coppice.Day(start))},
		"the second":        {0.875, spent(coppice.ProjectSubject(p.ID), coppice.Day(next))},
		"the third":         {0.25, spent(coppice.ProjectSubject(p.ID), "2026-03-03")},
		"another day":       {0, spent(coppice.ProjectSubject(p.ID), "2026-03-04")},
		"the account":       {0.5, spent(coppice.AccountSubject(k.Agent), coppice.Day(next))},
		"Coppice's account": {0.375, spent(coppice.AccountSubject("coppice"), coppice.Day(next))},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
	type sums = map[coppice.Subject]coppice.USD
	byScope := func(day string) sums {
		return get(t, s, func(r store.Reader) (sums, error) { return r.Spend.ByScope(day) })
	}
	project, account, small := coppice.ProjectSubject(p.ID), coppice.AccountSubject(k.Agent), coppice.AccountSubject(k.Agent+":small")
	same(t, "by scope", sums{project: 0.875, account: 0.5, coppice.AccountSubject("coppice"): 0.375}, byScope(coppice.Day(next)))
	put(1.25, func(c *coppice.Session) { c.EndedAt = next.Add(96 * time.Hour) }) // the agent reported too much
	corrected := coppice.Day(next.Add(96 * time.Hour))
	if got := spent(coppice.ProjectSubject(p.ID), corrected); got != -0.5 {
		t.Errorf("the day of a correction: %v", got)
	}
	same(t, "a correction", sums{project: 0, account: 0}, byScope(corrected))
	put(1.75, nil)
	// What is spent after a change of the model belongs to the account of that model.
	put(2, func(c *coppice.Session) { c.Account, c.EndedAt = small.ID, next.Add(120*time.Hour) })
	same(t, "an account of a model", sums{project: 0.25, account: 0.25, small: 0.25}, byScope(coppice.Day(next.Add(120*time.Hour))))
	put(1.75, nil)
	budgets := func() map[string]coppice.USD {
		return get(t, s, func(r store.Reader) (map[string]coppice.USD, error) { return r.Spend.Budgets() })
	}
	same(t, "no budgets", map[string]coppice.USD{}, budgets())
	for _, all := range []map[string]coppice.USD{{"a": 1.5, "a:b": 2}, {"c": 3}, {}} {
		update(t, s, func(tx store.Tx) error { return tx.Spend.SetBudgets(all) })
		same(t, "budgets", all, budgets())
	}
	rows := get(t, s, func(r store.Reader) ([]store.UsageRow, error) {
		return r.Spend.Usage(store.UsageQuery{From: start.Truncate(24 * time.Hour), To: next.Add(48 * time.Hour)})
	})
	same(t, "the report", []store.UsageRow{
		{Day: "2026-03-02", ProjectID: p.ID, Agent: "coppice", Model: "small", Usage: coppice.Usage{CostUSD: 0.375, InputTokens: 7}},
		{Day: "2026-03-01", ProjectID: p.ID, Agent: k.Agent, Sessions: 1, Usage: coppice.Usage{CostUSD: 1.75}},
	}, rows)
}

// testSpendSums writes sessions repeatedly in random order, with failing
// transactions in between. The counters are always the sums over the sessions, and
// reports are those sums by day, in any zone.
func testSpendSums(t *testing.T, open Open) {
	s := open(t)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		p := project(t, s, fmt.Sprintf("p%d", n))
		k := task(t, s, p, 1, func(k *coppice.Task) { k.Agent = fmt.Sprintf("agent%d", n) })
		var all []coppice.Session
		failed := errors.New("failed")
		for range rapid.IntRange(1, 20).Draw(rt, "writes") {
			i := rapid.IntRange(0, len(all)).Draw(rt, "session")
			c := coppice.Session{ProjectID: p.ID, TaskID: k.ID, N: i + 1, Key: fmt.Sprintf("%s.%d", k.Key, i+1), Agent: k.Agent, State: coppice.SessionWorking}
			c.CreatedAt = start.Add(time.Duration(rapid.IntRange(0, 5*24*60).Draw(rt, "made")) * time.Minute)
			if i < len(all) {
				c = all[i]
			}
			if rapid.Bool().Draw(rt, "model") {
				c.Model = rapid.SampledFrom([]string{"", "a/b", "c"}).Draw(rt, "name")
			}
			c.Usage = coppice.Usage{CostUSD: rapid.Float64Range(0, 50).Draw(rt, "usd"), InputTokens: rapid.Int64Range(0, 1e12).Draw(rt, "tokens"), Turns: 1, Estimated: rapid.Bool().Draw(rt, "estimated")}
			fails := rapid.IntRange(0, 3).Draw(rt, "fails") == 0
			err := s.Update(t.Context(), func(tx store.Tx) error {
				if err := tx.Sessions.Put(&c); err != nil || !fails {
					return err
				}
				return failed
			})
			switch {
			case fails && errors.Is(err, failed):
			case err != nil:
				rt.Fatal(err)
			case i < len(all):
				all[i] = c
			default:
				all = append(all, c)
			}
		}
		spendIs(t, rt, s, p, all)
		zone := time.FixedZone("", 60*rapid.SampledFrom([]int{0, 60, 120, 330, -300, 765, -720, 1440, 7}).Draw(rt, "minutes east"))
		reportIs(t, rt, s, p, all, zone)
	})
}

// nano returns an amount as the counters store it.
func nano(usd float64) int64 { return int64(math.Round(usd * 1e9)) }

func spendIs(t *testing.T, rt *rapid.T, s store.Store, p coppice.Project, all []coppice.Session) {
	var cost, tokens int64
	days := map[string]bool{}
	for _, c := range all {
		cost, tokens = cost+nano(c.Usage.CostUSD), tokens+c.Usage.InputTokens
		days[coppice.Day(c.CreatedAt)] = true
	}
	view(t, s, func(r store.Reader) error {
		for _, scope := range []coppice.Subject{coppice.TaskSubject(taskOf(all)), coppice.ProjectSubject(p.ID), coppice.AccountSubject(agentOf(all))} {
			var sum coppice.Usage
			list := []string{""}
			if scope.Kind != coppice.SubjectTask {
				list = nil
				for day := range days {
					list = append(list, day)
				}
			}
			for _, day := range list {
				u, err := r.Spend.Of(scope, day)
				if err != nil {
					return err
				}
				sum = sum.Add(u)
			}
			if nano(sum.CostUSD) != cost || sum.InputTokens != tokens {
				rt.Fatalf("%s has %d and %d tokens, the sessions have %d and %d", scope, nano(sum.CostUSD), sum.InputTokens, cost, tokens)
			}
		}
		return nil
	})
}

func taskOf(all []coppice.Session) int64 {
	if len(all) == 0 {
		return 0
	}
	return all[0].TaskID
}

func agentOf(all []coppice.Session) string {
	if len(all) == 0 {
		return "nobody"
	}
	return all[0].Agent
}

func reportIs(t *testing.T, rt *rapid.T, s store.Store, p coppice.Project, all []coppice.Session, zone *time.Location) {
	from := time.Date(2026, 3, 2, 0, 0, 0, 0, zone)
	to := from.AddDate(0, 0, 3)
	type sum struct {
		sessions     int
		cost, tokens int64
		estimated    bool
	}
	want, got := map[string]sum{}, map[string]sum{}
	for _, c := range all {
		if c.CreatedAt.Before(from) || !c.CreatedAt.Before(to) {
			continue
		}
		key := c.CreatedAt.In(zone).Format(time.DateOnly) + " " + c.Model
		w := want[key]
		want[key] = sum{w.sessions + 1, w.cost + nano(c.Usage.CostUSD), w.tokens + c.Usage.InputTokens, w.estimated || c.Usage.Estimated}
	}
	for _, byTask := range []bool{false, true} {
		clear(got)
		for _, row := range get(t, s, func(r store.Reader) ([]store.UsageRow, error) {
			return r.Spend.Usage(store.UsageQuery{From: from, To: to, Zone: zone, ProjectID: p.ID, ByTask: byTask})
		}) {
			got[row.Day+" "+row.Model] = sum{row.Sessions, nano(row.Usage.CostUSD), row.Usage.InputTokens, row.Usage.Estimated}
		}
		if len(want) != len(got) {
			rt.Fatalf("by task %v: %v, want %v", byTask, got, want)
		}
		for key, w := range want {
			if got[key] != w {
				rt.Fatalf("by task %v, %s: %+v, want %+v", byTask, key, got[key], w)
			}
		}
	}
}
