package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

func testProjects(t *testing.T, open Open) {
	s := open(t)
	b, a := project(t, s, "beta"), project(t, s, "alpha")
	view(t, s, func(r store.Reader) error {
		same(t, "by prefix", []coppice.Project{a, b}, must(r.Projects.All()))
		same(t, "of a prefix", a, must(r.Projects.ByPrefix("alpha")))
		same(t, "of a path", b, must(r.Projects.ByPath("/src/beta")))
		return nil
	})
	again := coppice.Project{Prefix: "alpha", Path: "/elsewhere", Policy: policy()}
	err := s.Update(t.Context(), func(tx store.Tx) error { return tx.Projects.Put(&again) })
	wantCode(t, "a second project of a prefix", err, coppice.EConflict)
}

func testTaskFilter(t *testing.T, open Open) {
	s := open(t)
	p, q := project(t, s, "app"), project(t, s, "web")
	one := task(t, s, p, 1, func(k *coppice.Task) { k.Title = "Größe Prüfen" })
	two := task(t, s, p, 2, func(k *coppice.Task) { k.Stage, k.Track = coppice.StageQueued, "side" })
	three := task(t, s, p, 3, func(k *coppice.Task) {
		k.Stage, k.Outcome, k.Agent = coppice.StageEnded, coppice.OutcomeDone, "command"
	})
	four := task(t, s, q, 1, func(k *coppice.Task) { k.Title = "100%_done" })
	three.Archived = three.CreatedAt
	if err := s.Update(t.Context(), func(tx store.Tx) error { return tx.Tasks.Put(&three) }); err != nil {
		t.Fatal(err)
	}
	all := []int64{four.ID, three.ID, two.ID, one.ID}
	for _, c := range []struct {
		name   string
		filter store.TaskFilter
		want   []int64
	}{
		{"all", store.TaskFilter{}, all},
		{"oldest first", store.TaskFilter{OldFirst: true}, []int64{one.ID, two.ID, three.ID, four.ID}},
		{"project", store.TaskFilter{ProjectID: p.ID}, all[1:]},
		{"stages", store.TaskFilter{Stages: []coppice.Stage{coppice.StageQueued, coppice.StageEnded}}, []int64{three.ID, two.ID}},
		{"stages that have not ended", store.TaskFilter{Stages: []coppice.Stage{coppice.StageQueued}}, []int64{two.ID}},
		{"outcomes", store.TaskFilter{Outcomes: []coppice.Outcome{coppice.OutcomeDone}}, []int64{three.ID}},
		{"track", store.TaskFilter{Track: "side"}, []int64{two.ID}},
		{"agent", store.TaskFilter{Agent: "command"}, []int64{three.ID}},
		{"text in a title, beyond ASCII", store.TaskFilter{Text: "grÖSSE prü"}, nil},
		{"text in a title, any case", store.TaskFilter{Text: "GRÖßE PRÜ"}, []int64{one.ID}},
		{"text in a key", store.TaskFilter{Text: "WEB-"}, []int64{four.ID}},
		{"text is not a pattern", store.TaskFilter{Text: "%_"}, []int64{four.ID}},
		{"text is not a statement", store.TaskFilter{Text: "' OR 1=1 --"}, nil},
		{"before", store.TaskFilter{BeforeID: three.ID}, all[2:]},
		{"most", store.TaskFilter{Most: 2}, all[:2]},
		{"without archived ones", store.TaskFilter{Archived: store.ArchivedNot}, []int64{four.ID, two.ID, one.ID}},
		{"archived ones", store.TaskFilter{Archived: store.ArchivedOnly}, []int64{three.ID}},
		{"several", store.TaskFilter{ProjectID: p.ID, Text: "task", BeforeID: three.ID, Most: 1}, []int64{two.ID}},
	} {
		got := get(t, s, func(r store.Reader) ([]coppice.Task, error) { return r.Tasks.List(c.filter) })
		same(t, c.name, c.want, ids(got, func(k coppice.Task) int64 { return k.ID }))
		c.filter.Most = 0
		n := get(t, s, func(r store.Reader) (int, error) { return r.Tasks.Count(c.filter) })
		if c.name != "most" && c.name != "several" && n != len(c.want) {
			t.Errorf("%s: counted %d, want %d", c.name, n, len(c.want))
		}
	}
	got := get(t, s, func(r store.Reader) ([]coppice.Task, error) { return r.Tasks.List(store.TaskFilter{ProjectID: q.ID}) })
	same(t, "a listed task", []coppice.Task{four}, got)
}

func testDependants(t *testing.T, open Open) {
	s := open(t)
	p := project(t, s, "app")
	one := task(t, s, p, 1, nil)
	two := task(t, s, p, 2, func(k *coppice.Task) { k.After = []int64{one.ID} })
	three := task(t, s, p, 3, func(k *coppice.Task) { k.After = []int64{two.ID, one.ID} })
	of := func(id int64) []int64 {
		return get(t, s, func(r store.Reader) ([]int64, error) { return r.Tasks.Dependants(id) })
	}
	same(t, "of one", []int64{two.ID, three.ID}, of(one.ID))
	same(t, "of two", []int64{three.ID}, of(two.ID))

	three.After = []int64{two.ID}
	two.Stage = coppice.StageEnded
	update(t, s, func(tx store.Tx) error { return firstOf(tx.Tasks.Put(&three), tx.Tasks.Put(&two)) })
	same(t, "of one, one gone and one ended", nil, of(one.ID))
	same(t, "of two, still", []int64{three.ID}, of(two.ID))
	three.After = nil
	update(t, s, func(tx store.Tx) error { return tx.Tasks.Put(&three) })
	same(t, "of two, none left", nil, of(two.ID))
}

func testCopies(t *testing.T, open Open) {
	s := open(t)
	p := project(t, s, "app")
	one := task(t, s, p, 1, nil)
	fork := func(num int, of coppice.Task) coppice.Task {
		return task(t, s, p, num, func(k *coppice.Task) { k.ForkOf = of.Key })
	}
	two := fork(2, one)
	three := fork(3, one)
	four := fork(4, two)
	of := func(key string, most int) []coppice.Task {
		return get(t, s, func(r store.Reader) ([]coppice.Task, error) {
			return r.Tasks.List(store.TaskFilter{ForkOf: key, Most: most})
		})
	}
	same(t, "of one", []coppice.Task{three, two}, of(one.Key, 9))
	same(t, "the newest of one", []coppice.Task{three}, of(one.Key, 1))
	same(t, "of two", []coppice.Task{four}, of(two.Key, 9))
	same(t, "of four", nil, of(four.Key, 9))
}

func testFamily(t *testing.T, open Open) {
	s := open(t)
	p := project(t, s, "app")
	below := func(num int, of coppice.Task) coppice.Task {
		return task(t, s, p, num, func(k *coppice.Task) { k.Parent = of.ID })
	}
	one := task(t, s, p, 1, nil)
	two := below(2, one)
	three := below(3, two)
	four := below(4, one)
	four.Stage = coppice.StageEnded
	update(t, s, func(tx store.Tx) error { return tx.Tasks.Put(&four) })
	view(t, s, func(r store.Reader) error {
		same(t, "the children", []coppice.Task{two, four}, must(r.Families.Children(one.ID)))
		same(t, "those that are open", []int64{two.ID}, must(r.Families.OpenChildren(one.ID)))
		same(t, "none", nil, must(r.Families.Children(three.ID)))
		same(t, "the tasks above", []int64{two.ID, one.ID}, must(r.Families.Ancestors(three.ID)))
		same(t, "above the first", nil, must(r.Families.Ancestors(one.ID)))
		same(t, "listed", []coppice.Task{four, two}, must(r.Tasks.List(store.TaskFilter{Parent: one.ID})))
		same(t, "counted", 1, must(r.Tasks.Count(store.TaskFilter{Parent: one.ID, Stages: []coppice.Stage{coppice.StageEnded}})))
		return nil
	})
	// What a task below spends also counts for each task above it, once.
	c := session(t, s, three, 1, func(c *coppice.Session) { c.CreatedAt = start })
	for _, usd := range []float64{1, 1, 3} {
		c.Usage.CostUSD = usd
		update(t, s, func(tx store.Tx) error { return tx.Sessions.Put(&c) })
	}
	update(t, s, func(tx store.Tx) error {
		return tx.Spend.Add(store.Spending{ProjectID: p.ID, TaskID: two.ID, Agent: "coppice", At: start, Usage: coppice.Usage{CostUSD: 0.5}})
	})
	view(t, s, func(r store.Reader) error {
		for of, want := range map[coppice.Subject]float64{
			coppice.TaskSubject(three.ID): 3, coppice.FamilySubject(three.ID): 0, coppice.TaskSubject(two.ID): 0.5, coppice.FamilySubject(two.ID): 3,
			coppice.TaskSubject(one.ID): 0, coppice.FamilySubject(one.ID): 3.5, coppice.ProjectSubject(p.ID): 0,
		} {
			same(t, of.String(), want, must(r.Spend.Of(of, "")).CostUSD)
		}
		same(t, "the project's day", 3.5, must(r.Spend.Of(coppice.ProjectSubject(p.ID), coppice.Day(start))).CostUSD)
		return nil
	})
}

func testLanes(t *testing.T, open Open) {
	s := open(t)
	p, q := project(t, s, "app"), project(t, s, "web")
	queued := func(track, agent string, priority int) func(*coppice.Task) {
		return func(k *coppice.Task) {
			k.Stage, k.Track, k.Priority = coppice.StageQueued, track, priority
			k.Next = &coppice.Next{Role: coppice.RoleImplement, Agent: agent}
		}
	}
	old := task(t, s, p, 1, queued("main", "b", 0))
	urgent := task(t, s, p, 2, queued("main", "b", 5))
	young := task(t, s, p, 3, queued("main", "b", 0))
	begun := task(t, s, p, 4, func(k *coppice.Task) {
		queued("main", "b", -5)(k)
		k.Sessions = 1
	})
	task(t, s, p, 5, queued("main", "a", 0))
	task(t, s, p, 6, queued("side", "a", 0))
	task(t, s, q, 1, queued("main", "a", 0))
	task(t, s, q, 2, nil)
	task(t, s, q, 3, func(k *coppice.Task) { k.Stage, k.Track = coppice.StageQueued, "nowhere" })

	lanes := func() []coppice.Lane {
		var all []coppice.Lane
		view(t, s, func(r store.Reader) error {
			for at, ok, err := r.Lanes.Next(coppice.Lane{}); ok || err != nil; at, ok, err = r.Lanes.Next(at) {
				if err != nil {
					return err
				}
				all = append(all, at)
			}
			return nil
		})
		return all
	}
	main := coppice.Lane{ProjectID: p.ID, Track: "main", Agent: "b"}
	want := []coppice.Lane{
		{ProjectID: p.ID, Track: "main", Agent: "a"}, main,
		{ProjectID: p.ID, Track: "side", Agent: "a"}, {ProjectID: q.ID, Track: "main", Agent: "a"},
	}
	same(t, "lanes", want, lanes())
	heads := func(most int) []int64 {
		got := get(t, s, func(r store.Reader) ([]coppice.Task, error) { return r.Lanes.Heads(main, most) })
		return ids(got, func(k coppice.Task) int64 { return k.ID })
	}
	same(t, "heads", []int64{begun.ID, urgent.ID, old.ID, young.ID}, heads(10))
	same(t, "the first two", []int64{begun.ID, urgent.ID}, heads(2))

	update(t, s, func(tx store.Tx) error {
		for _, k := range []*coppice.Task{&begun, &urgent, &old} {
			k.Stage, k.Next = coppice.StageSession, nil
			if err := tx.Tasks.Put(k); err != nil {
				return err
			}
		}
		return nil
	})
	same(t, "heads once others left", []int64{young.ID}, heads(10))
	young.Stage = coppice.StageEnded
	update(t, s, func(tx store.Tx) error { return tx.Tasks.Put(&young) })
	same(t, "lanes once one is empty", []coppice.Lane{want[0], want[2], want[3]}, lanes())

	begun.Stage, begun.Next = coppice.StageQueued, &coppice.Next{Agent: "b"}
	old.Stage, old.Next, old.Priority = coppice.StageQueued, &coppice.Next{Agent: "b"}, 9
	update(t, s, func(tx store.Tx) error { return firstOf(tx.Tasks.Put(&begun), tx.Tasks.Put(&old)) })
	same(t, "a begun task stays begun", []int64{begun.ID, old.ID}, heads(10))
}

func testRunning(t *testing.T, open Open) {
	s := open(t)
	p := project(t, s, "app")
	k := task(t, s, p, 1, nil)
	states := []coppice.SessionState{
		coppice.SessionStarting, coppice.SessionWorking, coppice.SessionWaiting, coppice.SessionIdle,
		coppice.SessionDone, coppice.SessionFailed, coppice.SessionLost, coppice.SessionCancelled,
	}
	var live []int64
	for i, state := range states {
		c := session(t, s, k, i+1, func(c *coppice.Session) {
			c.State = state
			if i == 0 {
				c.Agent = "other"
			}
			if state == coppice.SessionWaiting {
				c.ParkedAt = start
			}
		})
		if state.Live() {
			live = append(live, c.ID)
		}
	}
	view(t, s, func(r store.Reader) error {
		same(t, "by lane", map[coppice.Lane]int{
			{ProjectID: p.ID, Track: "main", Agent: "other"}: 1, {ProjectID: p.ID, Track: "main", Agent: "scripted"}: 2,
		}, must(r.Lanes.Running()))
		id := func(c coppice.Session) int64 { return c.ID }
		same(t, "live", live, ids(must(r.Sessions.Live()), id))
		same(t, "of the task", 8, len(must(r.Sessions.Of(k.ID))))
		same(t, "the last", must(r.Sessions.ByKey("app-1.8")), *must(r.Sessions.Last(k.ID)))
		return nil
	})
}

func testMemoryUsed(t *testing.T, open Open) {
	s := open(t)
	k := task(t, s, project(t, s, "app"), 1, nil)
	used := func() map[string]coppice.Bytes {
		return get(t, s, func(r store.Reader) (map[string]coppice.Bytes, error) { return r.Sessions.MemoryUsed() })
	}
	n := 0
	ended := func(agent string, memory int64) {
		n++
		c := session(t, s, k, n, func(c *coppice.Session) { c.Agent, c.Model = agent, "large" })
		c.State, c.Memory = coppice.SessionDone, memory
		for range 2 { // writing it again does not count
			update(t, s, func(tx store.Tx) error { return tx.Sessions.Put(&c) })
		}
	}
	for _, c := range []struct {
		agent  string
		memory int64
		want   map[string]coppice.Bytes
	}{
		{"ann", 0, map[string]coppice.Bytes{}},
		{"ann", 400, map[string]coppice.Bytes{"ann": 400}},
		{"bob", 100, map[string]coppice.Bytes{"ann": 400, "bob": 100}},
		{"ann", 1000, map[string]coppice.Bytes{"ann": 1000, "bob": 100}},
		{"ann", 200, map[string]coppice.Bytes{"ann": 800, "bob": 100}},
		{"ann", 0, map[string]coppice.Bytes{"ann": 800, "bob": 100}},
		{"ann", 800, map[string]coppice.Bytes{"ann": 800, "bob": 100}},
		{"ann", 801, map[string]coppice.Bytes{"ann": 801, "bob": 100}},
	} {
		ended(c.agent, c.memory)
		same(t, fmt.Sprintf("after %s took %d", c.agent, c.memory), c.want, used())
	}
}

func testTimers(t *testing.T, open Open) {
	s := open(t)
	timer := func(kind, id string, after time.Duration) store.Timer {
		return store.Timer{Kind: kind, ID: id, At: start.Add(after)}
	}
	late, soon, tie := timer("task", "1", time.Hour), timer("task", "2", time.Second), timer("agent", "2", time.Second)
	update(t, s, func(tx store.Tx) error { return firstOf(tx.Timers.Set(late), tx.Timers.Set(soon), tx.Timers.Set(tie)) })
	due := func(now time.Time, most int) []store.Timer {
		return get(t, s, func(r store.Reader) ([]store.Timer, error) { return r.Timers.Due(now, most) })
	}
	next := func() time.Time { return get(t, s, func(r store.Reader) (time.Time, error) { return r.Timers.Next() }) }
	same(t, "none due", nil, due(start, 10))
	same(t, "due at their moment", []store.Timer{tie, soon}, due(soon.At, 10))
	same(t, "at most one", []store.Timer{tie}, due(late.At, 1))
	same(t, "next", soon.At, next())

	moved := timer("task", "2", 2*time.Hour)
	update(t, s, func(tx store.Tx) error {
		return firstOf(tx.Timers.Set(moved), tx.Timers.Set(store.Timer{Kind: "agent", ID: "2"}), tx.Timers.Set(store.Timer{Kind: "none", ID: "9"}))
	})
	same(t, "a subject has one timer", []store.Timer{late, moved}, due(moved.At, 10))
	same(t, "next once moved", late.At, next())

	later := start.Add(3 * time.Hour)
	update(t, s, func(tx store.Tx) error { return tx.Timers.Postpone("task", []string{"2", "9"}, later) })
	moved.At = later
	same(t, "only timers that exist are postponed", []store.Timer{late, moved}, due(later, 10))
}

func testTalk(t *testing.T, open Open) {
	s := open(t)
	k := task(t, s, project(t, s, "app"), 1, nil)
	one := coppice.Question{TaskID: k.ID, Text: "Which?", Options: []string{"this", "that"}, AskedAt: start}
	two := coppice.Question{TaskID: k.ID, Text: "And then?", AskedAt: start}
	m := coppice.Message{TaskID: k.ID, Text: strings.Repeat("x", coppice.MaxMessage), From: "person", SentAt: start}
	update(t, s, func(tx store.Tx) error {
		return firstOf(tx.Questions.Put(&one), tx.Questions.Put(&two), tx.Messages.Put(&m))
	})
	asked := func() *coppice.Question {
		return get(t, s, func(r store.Reader) (*coppice.Question, error) { return r.Questions.Open(k.ID) })
	}
	same(t, "the oldest open one", &one, asked())
	one.Answer, one.AnsweredAt = "this", start.Add(time.Minute)
	update(t, s, func(tx store.Tx) error { return tx.Questions.Put(&one) })
	same(t, "the next", &two, asked())
	two.ClosedAt = start
	update(t, s, func(tx store.Tx) error { return tx.Questions.Put(&two) })
	if q := asked(); q != nil {
		t.Errorf("no question is open, but %+v", q)
	}
	view(t, s, func(r store.Reader) error {
		same(t, "questions", []coppice.Question{one, two}, must(r.Questions.Of(k.ID)))
		same(t, "messages", []coppice.Message{m}, must(r.Messages.Of(k.ID)))
		return nil
	})
}

func testAgentLimits(t *testing.T, open Open) {
	s := open(t)
	a := coppice.AgentLimit{Agent: "a", Until: start, Class: coppice.ClassRateLimit, Text: "wait", Since: start.Add(-time.Hour)}
	b := coppice.AgentLimit{Agent: "b", Until: start.Add(time.Hour), Class: coppice.ClassBilling}
	update(t, s, func(tx store.Tx) error { return firstOf(tx.Limits.Put(b), tx.Limits.Put(a)) })
	same(t, "limits", []coppice.AgentLimit{a, b}, get(t, s, allLimits))
	a.Until = time.Time{} // until a person clears it
	update(t, s, func(tx store.Tx) error {
		return firstOf(tx.Limits.Put(a), tx.Limits.Drop("b"), tx.Limits.Drop("c"))
	})
	same(t, "limits once one is over", []coppice.AgentLimit{a}, get(t, s, allLimits))
}

func allLimits(r store.Reader) ([]coppice.AgentLimit, error) { return r.Limits.All() }
