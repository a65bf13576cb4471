package engine

import (
	"cmp"
	"fmt"
	"maps"
	"sort"
	"time"

	"coppice"
)

// Blocked says why no session of a lane can start now, as a sentence for people,
// or "". until is when that ends, if it ends automatically.
func (r Capacity) Blocked(l coppice.Lane) (reason string, until time.Time) {
	p := r.Projects[l.ProjectID]
	if p.Removal != nil {
		return "the project is being removed", time.Time{}
	}
	if !p.PausedAt.IsZero() {
		return "the project is paused", time.Time{}
	}
	if why, ok := p.PausedTracks[l.Track]; ok {
		return fmt.Sprintf("track %s is paused: %s", l.Track, why), time.Time{}
	}
	if lim, ok := r.Limited.of(l.Agent); ok && lim.Until.IsZero() {
		return fmt.Sprintf("%s waits for a person: %s", lim.Agent, lim.Text), time.Time{}
	} else if ok && lim.Until.After(r.Now) {
		return fmt.Sprintf("%s is limited until %s: %s", l.Agent, lim.Until.UTC().Format(time.RFC3339), lim.Text), lim.Until
	}
	if why, _, until := r.dayBudgetSpent(l); why != "" {
		return why, until
	}
	if full := r.full(l); full != "" {
		return full, time.Time{}
	}
	if why, until := r.disk(p); why != "" {
		return why, until
	}
	return r.memory(p)
}

// full says which limit leaves no free session for a lane, or "".
func (r Capacity) full(l coppice.Lane) string {
	for _, b := range r.bounds(l) {
		if b.used >= b.most {
			return fmt.Sprintf("all %d sessions of %s are taken", b.most, b.of)
		}
	}
	return ""
}

// tooManyOpen says why no further task of a project starts although there are
// free sessions: too many started tasks have not landed. A task that waits for a
// person does not count.
func (r Capacity) tooManyOpen(project int64) string {
	if n, most := r.open(project); n >= most && most > 0 {
		return fmt.Sprintf("waiting for other tasks to land: %d of %d have started (limits.workspaces)", n, most)
	}
	return ""
}

// open returns how many tasks of a project have started and not landed, and the
// limit for them; 0 means no limit.
func (r Capacity) open(project int64) (n, most int) {
	n = r.InFlight[project]
	for _, s := range r.Parked {
		if s.ProjectID == project {
			n--
		}
	}
	return n, r.Projects[project].Policy.Limits.MostWorkspaces()
}

// mayOpen returns how many more tasks of a project can start, up to most.
func (r Capacity) mayOpen(project int64, most int) int {
	if n, limit := r.open(project); limit > 0 {
		most = min(most, limit-n)
	}
	return max(most, 0)
}

// bound is one limit of a lane.
type bound struct {
	of         string
	used, most int
}

// bounds lists the limits of a lane, the widest first.
func (r Capacity) bounds(l coppice.Lane) []bound {
	p := r.Projects[l.ProjectID]
	machine, project := bound{of: "this machine", most: r.MaxSessions}, bound{of: "the project", most: p.Policy.Limits.Sessions}
	name, _ := coppice.SplitChoice(l.Agent) // an agent's accounts count together
	track, agent := bound{of: "track " + l.Track}, bound{of: name, most: -1}
	if t, ok := p.Policy.Track(l.Track); ok {
		track.most = t.Limit
	}
	if most, ok := p.Policy.Limits.PerAgent[name]; ok {
		agent.most = most
	}
	for lane, n := range r.Running {
		machine.used += n
		if lane.ProjectID != l.ProjectID {
			continue
		}
		project.used += n
		if lane.Track == l.Track {
			track.used += n
		}
		if other, _ := coppice.SplitChoice(lane.Agent); other == name {
			agent.used += n
		}
	}
	var all []bound
	for _, b := range []bound{machine, project, track} {
		if b.most > 0 { // 0 means no limit
			all = append(all, b)
		}
	}
	if agent.most >= 0 { // 0 means no sessions
		all = append(all, agent)
	}
	return all
}

// freeSessions returns how many sessions of a lane could start now, up to most.
func (r Capacity) freeSessions(l coppice.Lane, most int) int {
	for _, b := range r.bounds(l) {
		most = min(most, b.most-b.used)
	}
	return max(most, 0)
}

// disk says why no session of a project starts because the disk is nearly full,
// or "". It is checked again after a pause.
func (r Capacity) disk(p coppice.Project) (string, time.Time) {
	if len(r.Nodes) == 0 || r.Nodes[0].DiskFree == 0 {
		return "", time.Time{} // the machine does not report it
	}
	free, least := coppice.Bytes(min(r.Nodes[0].DiskFree, 1<<60)), p.Policy.Limits.LeastDisk()
	if free >= least {
		return "", time.Time{}
	}
	return fmt.Sprintf("the disk is nearly full: %v are free, and sessions start at %v (limits.disk); see coppice status --disk", free, least), r.Now.Add(memoryPause)
}

// memoryPause is how soon memory, or the disk, is checked again after it was short.
const memoryPause = 5 * time.Second

func (r Capacity) memory(p coppice.Project) (string, time.Time) {
	if len(r.Nodes) == 0 {
		return "no worker is alive", time.Time{}
	}
	most := uint64(p.Policy.Limits.Memory)
	if most == 0 {
		return "", time.Time{}
	}
	n := r.Nodes[0]
	if n.MemoryTotal == 0 {
		return "", time.Time{} // the machine does not report it
	}
	used := n.MemoryUsed + r.ReservedMemory
	if used*100 >= most*n.MemoryTotal {
		return fmt.Sprintf("%d%% of the memory is in use or reserved for sessions that have just started; the limit is %d%%",
			used*100/n.MemoryTotal, most), r.Now.Add(memoryPause)
	}
	return "", time.Time{}
}

// young is how long after its start a session might still use less memory than
// later.
const young = 30 * time.Second

// reserveMemory reserves memory for a session that has just started: as the
// policy says, or else what sessions of its agent used.
func (r *Capacity) reserveMemory(project int64, account string) {
	agent, _ := coppice.SplitChoice(account)
	r.ReservedMemory += uint64(cmp.Or(r.Projects[project].Policy.Limits.Reserve, r.MemoryUse[agent], r.Reserve))
}

// fill chooses the tasks to start now from the first tasks of every lane. It
// repeatedly takes the best task of all lanes with a free session, so that a
// full lane does not delay the others.
func fill(r Capacity, lanes map[coppice.Lane][]coppice.Task) []coppice.Task {
	var start []coppice.Task
	order := sortedLanes(lanes)
	r.InFlight = maps.Clone(r.InFlight)
	if r.InFlight == nil {
		r.InFlight = map[int64]int{}
	}
	for {
		var best *coppice.Task
		var from coppice.Lane
		for _, l := range order {
			if len(lanes[l]) == 0 {
				continue
			}
			if why, _ := r.Blocked(l); why != "" {
				continue
			}
			if head := lanes[l][0]; !hasStarted(head) && r.tooManyOpen(l.ProjectID) != "" {
				continue
			}
			if best == nil || before(lanes[l][0], *best) {
				best, from = &lanes[l][0], l
			}
		}
		if best == nil {
			return start
		}
		start = append(start, *best)
		r.grant(from, *best)
		lanes[from] = lanes[from][1:]
		r.Running[from]++
		r.reserveMemory(from.ProjectID, from.Agent)
		if !hasStarted(*best) {
			r.InFlight[from.ProjectID]++
		}
	}
}

// before orders queued tasks: started ones first, then by priority, then the
// older one.
func before(a, b coppice.Task) bool {
	if x, y := hasStarted(a), hasStarted(b); x != y {
		return x
	}
	if a.Priority != b.Priority {
		return a.Priority > b.Priority
	}
	return a.ID < b.ID
}

func hasStarted(t coppice.Task) bool { return t.Sessions > 0 }

func sortedLanes(m map[coppice.Lane][]coppice.Task) []coppice.Lane {
	lanes := make([]coppice.Lane, 0, len(m))
	for l := range m {
		lanes = append(lanes, l)
	}
	sort.Slice(lanes, func(i, j int) bool {
		a, b := lanes[i], lanes[j]
		if a.ProjectID != b.ProjectID {
			return a.ProjectID < b.ProjectID
		}
		if a.Track != b.Track {
			return a.Track < b.Track
		}
		return a.Agent < b.Agent
	})
	return lanes
}
