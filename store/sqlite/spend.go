package sqlite

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"coppice"
	"coppice/store"
	"coppice/store/sqlite/dbsqlc"
)

// counts are the counters of one scope and day, in the order of their columns:
// cost, input, output, cache read, cache write, turns, sessions, estimated.
type counts [8]int64

// billion is the number of parts of a dollar in which the cost is counted.
const billion = 1e9

func countsOf(u coppice.Usage, sessions int64) counts {
	c := counts{int64(math.Round(u.CostUSD * billion)), u.InputTokens, u.OutputTokens, u.CacheRead, u.CacheWrite, u.Turns, sessions}
	if u.Estimated {
		c[7] = 1
	}
	return c
}

func (c counts) usage() coppice.Usage {
	return coppice.Usage{
		CostUSD: float64(c[0]) / billion, InputTokens: c[1], OutputTokens: c[2], CacheRead: c[3], CacheWrite: c[4], Turns: c[5], Estimated: c[7] > 0,
	}
}

func (c counts) plus(d counts, times int64) counts {
	for i := range c {
		c[i] += times * d[i]
	}
	return c
}

// counter names one row of counters.
type counter struct{ day, scope string }

// scopes returns the counters to which an amount is added: the task, the families
// of the tasks above it, the project's day, the agent's day and that of its account
// for one model. A further scope is a line here.
func (t *tx) scopes(p store.Spending) ([]counter, error) {
	day := coppice.Day(p.At)
	list := []counter{{day, coppice.ProjectSubject(p.ProjectID).String()}, {day, coppice.AccountSubject(p.Agent).String()}}
	if p.Account != "" && p.Account != p.Agent {
		list = append(list, counter{day, coppice.AccountSubject(p.Account).String()})
	}
	if p.TaskID != 0 {
		list = append(list, counter{"", coppice.TaskSubject(p.TaskID).String()})
		above, err := t.q.Ancestors(t.ctx, p.TaskID)
		if err != nil {
			return nil, err
		}
		for _, id := range above {
			list = append(list, counter{"", coppice.FamilySubject(id).String()})
		}
	}
	return list, nil
}

// reported returns the counters that reports read, by the time at which a session
// was created.
func reported(made time.Time, project int64, agent, model string) []counter {
	scope := fmt.Sprintf("usage/%d/%s/%s", project, agent, model)
	return []counter{{coppice.Day(made), scope}, {made.UTC().Format(hourKey), scope}}
}

// hourKey is the format of an hour in the day of a counter.
const hourKey = "h2006-01-02T15"

// before returns what is already counted for a session, or nil if it has no row
// yet.
func (t *tx) before(s *coppice.Session) (*dbsqlc.UsageBeforeRow, error) {
	if s.ID == 0 {
		return nil, nil
	}
	row, err := t.q.UsageBefore(t.ctx, s.ID)
	return found(row, err)
}

// count adds what a session has used since it was last written. Money counts on
// the day on which the session ended or last wrote output. So output that is read
// again counts on the same day.
func (t *tx) count(before *dbsqlc.UsageBeforeRow, s *coppice.Session) error {
	var u unpacker
	was, now := counts{}, countsOf(s.Usage, 1)
	at, made := later(s.CreatedAt, s.EndedAt), time.Unix(0, moment(s.CreatedAt).Int64)
	if before != nil {
		was = countsOf(unpackValue[coppice.Usage](&u, before.Usage), 1)
		if u.err != nil || was == now && before.Model == s.Model {
			return u.err
		}
		if s.EndedAt.IsZero() {
			at = later(at, time.Unix(0, before.OutputAt.Int64))
		}
	}
	if err := t.putUsage(s); err != nil {
		return err
	}
	changes := map[counter]counts{}
	spent, err := t.scopes(store.Spending{ProjectID: s.ProjectID, TaskID: s.TaskID, Agent: s.Agent, Account: s.Account, At: at})
	if err != nil {
		return err
	}
	for _, c := range spent {
		changes[c] = now.plus(was, -1)
	}
	for _, c := range reported(made, s.ProjectID, s.Agent, s.Model) {
		changes[c] = now
	}
	if before != nil { // the model might have changed
		for _, c := range reported(made, s.ProjectID, before.Agent, before.Model) {
			changes[c] = changes[c].plus(was, -1)
		}
	}
	return t.addSpend(changes)
}

// putUsage stores the usage of a single session, for reports by task.
func (t *tx) putUsage(s *coppice.Session) error {
	c := countsOf(s.Usage, 1)
	return t.q.PutUsage(t.ctx, dbsqlc.PutUsageParams{
		MadeAt: moment(s.CreatedAt).Int64, SessionID: s.ID, ProjectID: s.ProjectID, TaskID: s.TaskID, Agent: s.Agent, Model: s.Model,
		InputTokens: s.Usage.InputTokens, OutputTokens: s.Usage.OutputTokens, CacheRead: s.Usage.CacheRead, CacheWrite: s.Usage.CacheWrite,
		Turns: s.Usage.Turns, CostUsd: s.Usage.CostUSD, Estimated: c[7],
	})
}

func (t *tx) addSpend(changes map[counter]counts) error {
	rows := make([][10]any, 0, len(changes))
	for c, n := range changes {
		if n != (counts{}) {
			rows = append(rows, [10]any{c.day, c.scope, n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7]})
		}
	}
	b, err := json.Marshal(rows)
	if err != nil {
		return fmt.Errorf("encoding counters: %w", err)
	}
	return t.q.AddSpend(t.ctx, string(b))
}

func (t spend) Add(p store.Spending) error {
	n, changes := countsOf(p.Usage, 0), map[counter]counts{}
	spent, err := t.scopes(p)
	if err != nil {
		return err
	}
	for _, c := range append(spent, reported(p.At, p.ProjectID, p.Agent, p.Model)...) {
		changes[c] = n
	}
	return t.addSpend(changes)
}

func (r spend) Of(scope coppice.Subject, day string) (coppice.Usage, error) {
	c, err := r.q.SpendOf(r.ctx, day, scope.String())
	if errors.Is(err, sql.ErrNoRows) {
		return coppice.Usage{}, nil
	}
	return counts{c.Cost, c.Input, c.Output, c.CacheRead, c.CacheWrite, c.Turns, c.Sessions, c.Estimated}.usage(), err
}

func (r spend) ByScope(day string) (map[coppice.Subject]coppice.USD, error) {
	rows, err := r.q.SpendByScope(r.ctx, day)
	spent := make(map[coppice.Subject]coppice.USD, len(rows))
	for _, row := range rows {
		spent[coppice.ParseSubject(row.Scope)] = max(0, coppice.USD(float64(row.Cost)/billion))
	}
	return spent, err
}

func (r spend) Budgets() (map[string]coppice.USD, error) {
	rows, err := r.q.Budgets(r.ctx)
	all := make(map[string]coppice.USD, len(rows))
	for _, row := range rows {
		all[row.Account] = coppice.USD(row.Usd)
	}
	return all, err
}

func (t spend) SetBudgets(all map[string]coppice.USD) error {
	err := t.q.DropBudgets(t.ctx)
	for account, usd := range all {
		if err == nil && usd > 0 {
			err = t.q.PutBudget(t.ctx, account, float64(usd))
		}
	}
	return err
}
