package store

import (
	"time"

	"coppice"
)

// SpendReader reads the counters of what was spent. They are kept in scopes: a
// task, a project, an account.
type SpendReader interface {
	// Of returns what was spent in a scope: on a day, as coppice.Day writes it, or
	// in all when day is "". Of a task only the total is kept, of a project and an
	// account the days.
	Of(scope coppice.Subject, day string) (coppice.Usage, error)
	// ByProject returns what was spent on a day in each project that spent
	// anything.
	ByProject(day string) (map[int64]coppice.USD, error)
	// Usage sums up what was used, newest day first. Sessions count on the day on
	// which they were made.
	Usage(UsageQuery) ([]UsageRow, error)
}

// Spend reads and adds what was spent. What sessions use is counted whenever a
// session is written, by the difference to its row; nobody adds that.
type Spend interface {
	SpendReader
	Add(Spending) error
}

// Spending is something that was spent besides sessions.
type Spending struct {
	ProjectID    int64
	TaskID       int64 // 0 when it served no single task
	Agent, Model string
	At           time.Time
	Usage        coppice.Usage
}
