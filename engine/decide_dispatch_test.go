package engine

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coppice"
	"coppice/store"
)

var laneMain = coppice.Lane{ProjectID: 1, Track: "main", Agent: "ann"}

// capacity returns a machine with one node and one project with free sessions.
func capacity(changes ...func(*Capacity)) Capacity {
	p := viewOf(coppice.StageQueued).Project
	p.Policy.Tracks = []coppice.Track{{Name: "main", Default: true}, {Name: "ui", Limit: 2}}
	r := Capacity{
		Now: noon, Projects: map[int64]coppice.Project{1: p, 2: p}, Running: map[coppice.Lane]int{}, Limited: map[string]coppice.AgentLimit{},
		Nodes: []coppice.Node{{Name: PoolLocal, MemoryTotal: 1000, MemoryUsed: 100}}, Reserve: 100,
		Today: map[coppice.Subject]coppice.USD{}, Reserved: map[coppice.Subject]coppice.USD{}, Budgets: map[string]coppice.USD{}, Spent: map[int64]coppice.USD{}, Granted: map[int64]coppice.USD{},
	}
	for _, c := range changes {
		c(&r)
	}
	return r
}

func inProject(f func(*coppice.Project)) func(*Capacity) {
	return func(r *Capacity) {
		p := r.Projects[1]
		f(&p)
		r.Projects[1] = p
	}
}

func running(l coppice.Lane, n int) func(*Capacity) { return func(r *Capacity) { r.Running[l] = n } }

// flying has so many tasks of the first project between a session and their
// landing.
func flying(n int) func(*Capacity) { return func(r *Capacity) { r.InFlight = map[int64]int{1: n} } }

// taking leaves 200 bytes until the limit, and has sessions of an agent take so
// much.
func taking(agent string, memory coppice.Bytes) func(*Capacity) {
	return func(r *Capacity) { r.Nodes[0].MemoryUsed, r.MemoryUse = 600, map[string]coppice.Bytes{agent: memory} }
}

func TestBlocked(t *testing.T) {
	t.Parallel()
	ui := coppice.Lane{ProjectID: 1, Track: "ui", Agent: "ann"}
	bob := coppice.Lane{ProjectID: 1, Track: "main", Agent: "bob"}
	other := coppice.Lane{ProjectID: 2, Track: "main", Agent: "ann"}
	perAgent := inProject(func(p *coppice.Project) { p.Policy.Limits.PerAgent = map[string]int{"ann": 1, "zed": 0} })
	for _, c := range []struct {
		name     string
		capacity Capacity
		lane     coppice.Lane
		why      string
		until    time.Duration
	}{
		{"capacity for all", capacity(), laneMain, "", 0},
		{"project paused", capacity(inProject(func(p *coppice.Project) { p.PausedAt = noon })), laneMain, "the project is paused", 0},
		{"another project paused", capacity(inProject(func(p *coppice.Project) { p.PausedAt = noon })), other, "", 0},
		{"track paused", capacity(inProject(func(p *coppice.Project) { p.PausedTracks = map[string]string{"ui": "it broke"} })), ui, "track ui is paused: it broke", 0},
		{"another track paused", capacity(inProject(func(p *coppice.Project) { p.PausedTracks = map[string]string{"ui": "it broke"} })), laneMain, "", 0},
		{"agent limited", capacity(func(r *Capacity) {
			r.Limited["ann"] = coppice.AgentLimit{Agent: "ann", Until: noon.Add(time.Hour), Text: "weekly limit"}
		}), laneMain, "ann is limited until 2026-03-01T13:00:00Z: weekly limit", time.Hour},
		{"limit over", capacity(func(r *Capacity) { r.Limited["ann"] = coppice.AgentLimit{Agent: "ann", Until: noon} }), laneMain, "", 0},
		{"another agent limited", capacity(func(r *Capacity) { r.Limited["bob"] = coppice.AgentLimit{Agent: "bob", Until: noon.Add(1)} }), laneMain, "", 0},
		{"shut until a person says so", capacity(func(r *Capacity) {
			r.Limited["ann"] = coppice.AgentLimit{Agent: "ann", Class: coppice.ClassAuth, Text: "not logged in"}
		}), laneMain,
			"ann waits for a person: not logged in", 0},
		{"machine full", capacity(func(r *Capacity) { r.MaxSessions = 3 }, running(laneMain, 1), running(other, 2)), laneMain, "all 3 sessions of this machine are taken", 0},
		{"machine has one", capacity(func(r *Capacity) { r.MaxSessions = 4 }, running(laneMain, 1), running(other, 2)), laneMain, "", 0},
		{"project full", capacity(running(ui, 2), running(bob, 3)), laneMain, "all 5 sessions of the project are taken", 0},
		{"another project full", capacity(running(other, 5)), laneMain, "", 0},
		{"track full", capacity(running(ui, 2)), ui, "all 2 sessions of track ui are taken", 0},
		{"track full by others of the project", capacity(running(coppice.Lane{ProjectID: 1, Track: "ui", Agent: "bob"}, 2)), ui, "all 2 sessions of track ui are taken", 0},
		{"same track of another project", capacity(running(coppice.Lane{ProjectID: 2, Track: "ui", Agent: "ann"}, 2)), ui, "", 0},
		{"agent full", capacity(perAgent, running(ui, 1)), laneMain, "all 1 sessions of ann are taken", 0},
		{"agent forbidden", capacity(perAgent), coppice.Lane{ProjectID: 1, Track: "main", Agent: "zed"}, "all 0 sessions of zed are taken", 0},
		{"agent without a bound", capacity(perAgent, running(bob, 3)), bob, "", 0},
		{"no worker", capacity(func(r *Capacity) { r.Nodes = nil }), laneMain, "no worker is alive", 0},
		{"memory short", capacity(func(r *Capacity) { r.Nodes[0].MemoryUsed = 800 }), laneMain, "80% of the memory is in use or reserved for sessions that have just started; the limit is 80%", 5 * time.Second},
		{"disk short", capacity(func(r *Capacity) { r.Nodes[0].DiskFree = 50 << 20 }), laneMain, "the disk is nearly full: 50 MiB are free, and sessions start at 100 MiB (limits.disk); see coppice status --disk", 5 * time.Second},
		{"disk just enough", capacity(func(r *Capacity) { r.Nodes[0].DiskFree = 100 << 20 }), laneMain, "", 0},
		{"disk with another limit", capacity(inProject(func(p *coppice.Project) { p.Policy.Limits.Disk = 1 << 20 }), func(r *Capacity) { r.Nodes[0].DiskFree = 2 << 20 }), laneMain, "", 0},
		{"memory just enough", capacity(func(r *Capacity) { r.Nodes[0].MemoryUsed = 799 }), laneMain, "", 0},
		{"memory promised", capacity(func(r *Capacity) { r.ReservedMemory = 700 }), laneMain, "80% of the memory is in use or reserved for sessions that have just started; the limit is 80%", 5 * time.Second},
		{"memory unknown", capacity(func(r *Capacity) { r.Nodes[0] = coppice.Node{Name: PoolLocal}; r.ReservedMemory = 700 }), laneMain, "", 0},
		{"memory without a bound", capacity(inProject(func(p *coppice.Project) { p.Policy.Limits.Memory = 0 }), func(r *Capacity) { r.Nodes[0].MemoryUsed = 1000 }), laneMain, "", 0},
		{"a machine of 24 TiB", capacity(func(r *Capacity) { r.Nodes[0] = coppice.Node{MemoryTotal: 24 << 40, MemoryUsed: 1 << 40} }), laneMain, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			why, until := c.capacity.Blocked(c.lane)
			var want time.Time
			if c.until != 0 {
				want = noon.Add(c.until)
			}
			if why != c.why || !until.Equal(want) {
				t.Errorf("blocked by %q until %v, want %q until %v", why, until, c.why, want)
			}
		})
	}
}

// queuedTask is a task as the lanes hold it.
func queuedTask(id int64, changes ...func(*coppice.Task)) coppice.Task {
	t := coppice.Task{ID: id, ProjectID: 1, Stage: coppice.StageQueued}
	for _, c := range changes {
		c(&t)
	}
	return t
}

func priority(n int) func(*coppice.Task) { return func(t *coppice.Task) { t.Priority = n } }

func hadSession(t *coppice.Task) { t.Sessions = 1 }

func TestFill(t *testing.T) {
	t.Parallel()
	ui := coppice.Lane{ProjectID: 1, Track: "ui", Agent: "ann"}
	other := coppice.Lane{ProjectID: 2, Track: "main", Agent: "ann"}
	for _, c := range []struct {
		name     string
		capacity Capacity
		lanes    map[coppice.Lane][]coppice.Task
		want     []int64
	}{
		{"nobody waits", capacity(), map[coppice.Lane][]coppice.Task{}, nil},
		{"up to the limit", capacity(), map[coppice.Lane][]coppice.Task{laneMain: tasks(1, 2, 3, 4, 5, 6, 7)}, []int64{1, 2, 3, 4, 5}},
		{"oldest of all lanes", capacity(), map[coppice.Lane][]coppice.Task{laneMain: tasks(3, 5), ui: tasks(1, 4), other: tasks(2)}, []int64{1, 2, 3, 4, 5}},
		{"a full lane delays nobody", capacity(running(ui, 2)), map[coppice.Lane][]coppice.Task{ui: tasks(1, 2), laneMain: tasks(3, 4)}, []int64{3, 4}},
		{"a lane that fills up delays nobody", capacity(), map[coppice.Lane][]coppice.Task{ui: tasks(1, 2, 3, 4), laneMain: tasks(5, 6)}, []int64{1, 2, 5, 6}},
		{"urgent first", capacity(), map[coppice.Lane][]coppice.Task{
			laneMain: {queuedTask(1)}, ui: {queuedTask(9, priority(5))}, other: {queuedTask(2, priority(-5))},
		}, []int64{9, 1, 2}},
		{"begun before urgent", capacity(), map[coppice.Lane][]coppice.Task{
			laneMain: {queuedTask(1, priority(10))}, ui: {queuedTask(9, hadSession, priority(-10))},
		}, []int64{9, 1}},
		{"the whole machine's limit", capacity(func(r *Capacity) { r.MaxSessions = 3 }), map[coppice.Lane][]coppice.Task{laneMain: tasks(1, 4), other: tasks(2, 3, 5)}, []int64{1, 2, 3}},
		{"many have not landed yet", capacity(flying(7)), map[coppice.Lane][]coppice.Task{laneMain: tasks(1, 2, 3, 4, 5)}, []int64{1, 2, 3}},
		{"too many have not landed yet", capacity(flying(12)), map[coppice.Lane][]coppice.Task{
			laneMain: {queuedTask(1), queuedTask(2)}, ui: {queuedTask(9, hadSession)}, other: tasks(3),
		}, []int64{9, 3}},
		{"some of them wait for a person", capacity(flying(12), func(r *Capacity) {
			r.Parked = []coppice.Session{{ProjectID: 1}, {ProjectID: 1}, {ProjectID: 1}, {ProjectID: 2}}
		}), map[coppice.Lane][]coppice.Task{laneMain: tasks(1, 2)}, []int64{1}},
		{"the policy's own bound", capacity(flying(2), inProject(func(p *coppice.Project) { p.Policy.Limits.Workspaces = 3 })),
			map[coppice.Lane][]coppice.Task{laneMain: tasks(1, 2)}, []int64{1}},
		{"memory is promised to each", capacity(func(r *Capacity) { r.Nodes[0].MemoryUsed = 600 }), map[coppice.Lane][]coppice.Task{laneMain: tasks(1, 2, 3, 4)}, []int64{1, 2}},
		{"as much as its agent took", capacity(taking("ann", 50)), map[coppice.Lane][]coppice.Task{laneMain: tasks(1, 2, 3, 4, 5)}, []int64{1, 2, 3, 4}},
		{"with whatever model", capacity(taking("ann", 50)), map[coppice.Lane][]coppice.Task{{ProjectID: 1, Track: "main", Agent: "ann:large"}: tasks(1, 2, 3, 4, 5)}, []int64{1, 2, 3, 4}},
		{"not as another took", capacity(taking("bob", 50)), map[coppice.Lane][]coppice.Task{laneMain: tasks(1, 2, 3, 4, 5)}, []int64{1, 2}},
		{"as the policy says", capacity(taking("ann", 50), inProject(func(p *coppice.Project) { p.Policy.Limits.Reserve = 150 })),
			map[coppice.Lane][]coppice.Task{laneMain: tasks(1, 3, 5), other: tasks(2, 4)}, []int64{1, 2}},
		{"whatever the memory", capacity(taking("ann", 500), inProject(func(p *coppice.Project) { p.Policy.Limits.Memory = 0 })),
			map[coppice.Lane][]coppice.Task{laneMain: tasks(1, 2, 3, 4, 5)}, []int64{1, 2, 3, 4, 5}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got []int64
			for _, task := range fill(c.capacity, c.lanes) {
				got = append(got, task.ID)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("started (-want +got):\n%s", d)
			}
		})
	}
}

func tasks(ids ...int64) (out []coppice.Task) {
	for _, id := range ids {
		out = append(out, queuedTask(id))
	}
	return out
}

// A session that has just started is promised what the sessions of its agent took,
// until it is old enough to show what it takes itself.
func TestYoungSessionsHaveReservedMemory(t *testing.T) {
	t.Parallel()
	b := open(t, func(c *Config) { c.Reserve = 300 })
	b.nodes[0].MemoryTotal, b.nodes[0].MemoryUsed = 1000, 100
	b.project(func(p *coppice.Project) { p.Policy.Limits.Sessions = 10 })
	b.create(coppice.NewTask{Title: "a"}, coppice.NewTask{Title: "b"}, coppice.NewTask{Title: "c"}, coppice.NewTask{Title: "d"}, coppice.NewTask{Title: "e"}, coppice.NewTask{Title: "f"}, coppice.NewTask{Title: "g"})
	var running []string
	starts := func(keys ...string) {
		t.Helper()
		running = append(running, keys...)
		var got []string
		for _, s := range read(b, func(r store.Reader) ([]coppice.Session, error) { return r.Sessions.Live() }) {
			got = append(got, coppice.TaskKey("app", int(s.TaskID)))
		}
		if d := cmp.Diff(running, got); d != "" {
			t.Errorf("running (-want +got):\n%s", d)
		}
	}
	b.turn()
	starts("app-1", "app-2", "app-3")
	b.want("app-4", coppice.StatusWaiting, "100% of the memory is in use or reserved for sessions that have just started; the limit is 80%")

	b.finish("app-1", coppice.WorkPrepare, coppice.PrepareResult{Path: "/ws", BaseCommit: "base1", Head: "base1"})
	running = running[1:]
	b.finish("app-1", coppice.WorkRun, coppice.RunResult{Head: "head1", Memory: 200}) // two are promised 200 each
	starts("app-4", "app-5")

	p := b.projectNow()
	p.Policy.Limits.Reserve = 175 // four are promised 175 each: 800 of 1000
	b.update(func(tx store.Tx) error { return tx.Projects.Put(&p) })
	b.turn()
	starts()

	b.finish("app-2", coppice.WorkPrepare, coppice.PrepareResult{Path: "/ws", BaseCommit: "base1", Head: "base1"})
	b.begins("app-2", 0)
	b.clock = b.clock.Add(young - 1)
	b.turn()
	starts()
	b.clock = b.clock.Add(1)
	b.turn()
	starts("app-6")
}
