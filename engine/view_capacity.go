package engine

import (
	"time"

	"coppice"
	"coppice/store"
)

// Capacity is what dispatch sees: running sessions, limits, and the first tasks
// of every lane. Its cost grows with the number of lanes, not of tasks.
type Capacity struct {
	Now         time.Time
	Projects    map[int64]coppice.Project
	Running     map[coppice.Lane]int
	Parked      []coppice.Session // they run and do not count
	InFlight    map[int64]int     // by project: tasks between the start of a session and their landing
	Limited     Limited
	Nodes       []coppice.Node
	MaxSessions int // limit of live sessions of all projects together; 0 means none

	ReservedMemory uint64                   // memory of sessions that have just started and do not use it yet
	MemoryUse      map[string]coppice.Bytes // by agent: the memory that a session uses
	Reserve        coppice.Bytes            // the same for an agent that is not in MemoryUse

	Budgets  map[string]coppice.USD          // by account: the budget per day
	Today    map[coppice.Subject]coppice.USD // by project and account: what was spent since midnight UTC
	Reserved map[coppice.Subject]coppice.USD // by project and account: what running sessions can still spend
	Spent    map[int64]coppice.USD           // by task: what was spent, for tasks that might start and have a budget
	Above    map[int64][]Above               // by task: the tasks above it, for tasks that might start
	Granted  map[int64]coppice.USD           // by task: the budget of sessions that start now
}

// loadCapacity reads what dispatch and the derived statuses need.
func loadCapacity(r store.Reader, now time.Time, nodes []coppice.Node, cfg Config) (Capacity, error) {
	capacity := Capacity{
		Now: now, Projects: map[int64]coppice.Project{}, Limited: Limited{},
		Nodes: nodes, MaxSessions: cfg.MaxSessions, Reserve: cfg.Reserve,
		Reserved: map[coppice.Subject]coppice.USD{}, Spent: map[int64]coppice.USD{}, Above: map[int64][]Above{}, Granted: map[int64]coppice.USD{},
	}
	var err error
	if capacity.Today, err = r.Spend.ByScope(coppice.Day(now)); err != nil {
		return capacity, err
	}
	if capacity.Budgets, err = r.Spend.Budgets(); err != nil {
		return capacity, err
	}
	if capacity.Running, err = r.Lanes.Running(); err != nil {
		return capacity, err
	}
	if capacity.InFlight, err = r.Lanes.InFlight(); err != nil {
		return capacity, err
	}
	if capacity.MemoryUse, err = r.Sessions.MemoryUsed(); err != nil {
		return capacity, err
	}
	limits, err := r.Limits.All()
	if err != nil {
		return capacity, err
	}
	for _, l := range limits {
		if l.Holds(now) {
			capacity.Limited[l.Agent] = l
		}
	}
	live, err := r.Sessions.Live()
	if err != nil {
		return capacity, err
	}
	for _, s := range live {
		if s.Parked() {
			capacity.Parked = append(capacity.Parked, s)
		} else {
			capacity.reserve(s)
		}
		if s.StartedAt.IsZero() || now.Sub(s.StartedAt) < young {
			if err := capacity.loadProject(r, s.ProjectID); err != nil {
				return capacity, err
			}
			capacity.reserveMemory(s.ProjectID, s.Agent)
		}
	}
	return capacity, nil
}

// loadProject loads a project once.
func (r Capacity) loadProject(tx store.Reader, project int64) error {
	if _, ok := r.Projects[project]; ok {
		return nil
	}
	p, err := tx.Projects.Get(project)
	r.Projects[project] = p
	return err
}

// loadSpent loads what tasks have spent that might start and have a budget.
func (r Capacity) loadSpent(tx store.Reader, project int64, tasks []coppice.Task) error {
	p := r.Projects[project].Policy
	for _, t := range tasks {
		if t.Parent != 0 {
			above, err := ancestors(tx, t)
			if err != nil {
				return err
			}
			r.Above[t.ID] = above
		}
		if p.BudgetFor(t) == 0 {
			continue
		}
		spent, err := Spent(tx, t.ID)
		if err != nil {
			return err
		}
		r.Spent[t.ID] = spent
	}
	return nil
}
