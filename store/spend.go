package store

import (
	"time"

	"coppice"
)

// SpendReader reads the counters of what was spent. Each counter belongs to a
// scope: a task, its family (all tasks below it), a project or an account.
type SpendReader interface {
	// Of returns what was spent in a scope on a day, in the format of coppice.Day.
	// A task and its family have only a total, with the day "". A project and an account have only
	// days.
	Of(scope coppice.Subject, day string) (coppice.Usage, error)
	// ByScope returns the amount of each project and account that spent something on
	// a day. It is never negative: if an agent corrects what it reported on an
	// earlier day, that does not add to the budget of the day.
	ByScope(day string) (map[coppice.Subject]coppice.USD, error)
	// Budgets returns how much accounts can spend per day. Accounts without a budget
	// are not in the map.
	Budgets() (map[string]coppice.USD, error)
	// Usage returns sums of what was used, newest day first. A session counts on the
	// day on which it was created.
	Usage(UsageQuery) ([]UsageRow, error)
}

// Spend reads and adds what was spent. Sessions.Put counts what sessions use, by
// the difference to the stored row, so callers do not add that.
type Spend interface {
	SpendReader
	Add(Spending) error
	// SetBudgets replaces the budgets of accounts.
	SetBudgets(map[string]coppice.USD) error
}

// Spending is an amount that no session spent.
type Spending struct {
	ProjectID    int64
	TaskID       int64 // 0 if it was not spent for a single task
	Agent, Model string
	Account      string // of the agent, if it is not the agent itself
	At           time.Time
	Usage        coppice.Usage
}
