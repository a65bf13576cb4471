package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

func testPending(t *testing.T, open Open) {
	s := open(t)
	p, other := project(t, s, "app"), project(t, s, "web")
	wait := func(on coppice.WaitKind, priority int) func(*coppice.Task) {
		return func(k *coppice.Task) {
			k.Priority, k.Wait = priority, &coppice.Wait{On: on, Text: "why"}
		}
	}
	queued := func(agent string, priority int) func(*coppice.Task) {
		return func(k *coppice.Task) {
			k.Stage, k.Priority, k.Next = coppice.StageQueued, priority, &coppice.Next{Role: coppice.RoleImplement, Agent: agent}
		}
	}
	task(t, s, p, 1, wait(coppice.WaitPerson, 0))
	task(t, s, p, 2, wait(coppice.WaitDependency, 0))
	task(t, s, p, 3, queued("a", 5))
	task(t, s, p, 4, queued("b", 0))
	task(t, s, p, 5, nil) // the engine has not decided about it
	moving := task(t, s, p, 6, wait(coppice.WaitPerson, 9))
	task(t, s, p, 7, func(k *coppice.Task) { k.Stage = coppice.StageEnded })
	task(t, s, other, 1, queued("a", 0))
	task(t, s, other, 2, wait(coppice.WaitPerson, 0))
	keys := func(project int64, person bool, most int) []string {
		list := get(t, s, func(r store.Reader) ([]coppice.Task, error) {
			return r.Tasks.Pending(store.TaskFilter{ProjectID: project, Most: most}, person)
		})
		var keys []string
		for _, k := range list {
			keys = append(keys, k.Key)
		}
		return keys
	}
	same(t, "for people", []string{"app-6", "app-1", "web-2"}, keys(0, true, 9))
	same(t, "for people of a project", []string{"web-2"}, keys(other.ID, true, 9))
	same(t, "others", []string{"app-3", "app-2", "app-4", "app-5", "web-1"}, keys(0, false, 9))
	same(t, "the first others of a project", []string{"app-3", "app-2"}, keys(p.ID, false, 2))
	filtered := store.TaskFilter{Text: "APP-1", Track: "main", Most: 9}
	same(t, "for people, by their key", 1, len(get(t, s, func(r store.Reader) ([]coppice.Task, error) { return r.Tasks.Pending(filtered, true) })))
	same(t, "their number", 1, get(t, s, func(r store.Reader) (int, error) { return r.Tasks.CountPending(filtered, true) }))
	same(t, "the number of others", 5, get(t, s, func(r store.Reader) (int, error) { return r.Tasks.CountPending(store.TaskFilter{Most: 1}, false) }))
	waits := func(project int64) map[coppice.WaitKind]int {
		return get(t, s, func(r store.Reader) (map[coppice.WaitKind]int, error) { return r.Tasks.Waits(project) })
	}
	lanes := func(project int64) map[coppice.Lane]int {
		return get(t, s, func(r store.Reader) (map[coppice.Lane]int, error) { return r.Lanes.Count(project) })
	}
	same(t, "waits", map[coppice.WaitKind]int{coppice.WaitPerson: 3, coppice.WaitDependency: 1, "": 1}, waits(0))
	same(t, "waits of a project", map[coppice.WaitKind]int{coppice.WaitPerson: 1}, waits(other.ID))
	same(t, "lanes", map[coppice.Lane]int{{ProjectID: p.ID, Track: "main", Agent: "a"}: 1, {ProjectID: p.ID, Track: "main", Agent: "b"}: 1, {ProjectID: other.ID, Track: "main", Agent: "a"}: 1}, lanes(0))
	same(t, "lanes of a project", map[coppice.Lane]int{{ProjectID: other.ID, Track: "main", Agent: "a"}: 1}, lanes(other.ID))

	queued("a", 9)(&moving)
	moving.Wait = nil
	update(t, s, func(tx store.Tx) error { return tx.Tasks.Put(&moving) })
	same(t, "for people, one less", []string{"app-1", "web-2"}, keys(0, true, 9))
	same(t, "waits, one less", map[coppice.WaitKind]int{coppice.WaitPerson: 2, coppice.WaitDependency: 1, "": 1}, waits(0))
}

// testLists reads what the dashboard's pages list.
func testLists(t *testing.T, open Open) {
	s := open(t)
	p, other := project(t, s, "app"), project(t, s, "web")
	end := func(after time.Duration) func(*coppice.Task) {
		return func(k *coppice.Task) {
			k.Stage, k.Outcome, k.EndedAt, k.Track = coppice.StageEnded, coppice.OutcomeDone, start.Add(after), "docs"
		}
	}
	first := task(t, s, p, 1, end(2*time.Hour))
	task(t, s, p, 2, end(time.Hour))
	task(t, s, p, 3, end(3*time.Hour))
	far := task(t, s, other, 1, nil)
	ended := get(t, s, func(r store.Reader) ([]coppice.Task, error) {
		return r.Tasks.List(store.TaskFilter{Stages: []coppice.Stage{coppice.StageEnded}, ByEnd: true, Most: 2})
	})
	same(t, "the last that ended", []int{3, 1}, ids(ended, func(k coppice.Task) int { return k.Num }))
	tally := get(t, s, func(r store.Reader) ([]store.Tally, error) { return r.Tasks.Tally() })
	same(t, "the tally", []store.Tally{
		{ProjectID: p.ID, Track: "docs", Agent: "scripted", Stage: coppice.StageEnded, Outcome: coppice.OutcomeDone, N: 3},
		{ProjectID: other.ID, Track: "main", Agent: "scripted", Stage: coppice.StageWaiting, N: 1},
	}, tally)

	ran := func(k coppice.Task, n int, until time.Duration) {
		session(t, s, k, n, func(x *coppice.Session) { x.State, x.EndedAt = coppice.SessionDone, start.Add(until) })
	}
	ran(first, 1, time.Minute)
	ran(first, 2, time.Hour)
	session(t, s, far, 1, nil)
	since := func(project int64, from time.Duration, most int) []string {
		list := get(t, s, func(r store.Reader) ([]coppice.Session, error) {
			return r.Sessions.Since(project, start.Add(from), most)
		})
		return ids(list, func(x coppice.Session) string { return x.Key })
	}
	same(t, "all sessions", []string{"web-1.1", "app-1.2", "app-1.1"}, since(0, 0, 9))
	same(t, "sessions since then", []string{"web-1.1", "app-1.2"}, since(0, time.Hour, 9))
	same(t, "sessions of a project", []string{"app-1.2"}, since(p.ID, 0, 1))

	update(t, s, func(tx store.Tx) error {
		for i, k := range []coppice.Task{first, first, far} {
			c := coppice.Check{ProjectID: k.ProjectID, TaskID: k.ID, LandingID: 7, Command: fmt.Sprint(i), Exit: i, Log: "long", Took: time.Minute, EndedAt: start.Add(time.Duration(i) * time.Hour)}
			if err := tx.Checks.Put(&c); err != nil {
				return err
			}
		}
		return nil
	})
	checked := func(project int64, from time.Duration, most int) []coppice.Check {
		return get(t, s, func(r store.Reader) ([]coppice.Check, error) { return r.Checks.Since(project, start.Add(from), most) })
	}
	commands := func(list []coppice.Check) []string {
		return ids(list, func(c coppice.Check) string { return c.Command })
	}
	same(t, "all checks", []string{"2", "1", "0"}, commands(checked(0, 0, 9)))
	same(t, "checks since then", []string{"2", "1"}, commands(checked(0, time.Hour, 9)))
	same(t, "the newest checks", []string{"2", "1"}, commands(checked(0, 0, 2)))
	same(t, "the newest checks since then", []string{"2"}, commands(checked(0, time.Hour, 1)))
	same(t, "checks of a project", []string{"1"}, commands(checked(p.ID, 0, 1)))
	last := checked(0, 2*time.Hour, 9)[0]
	same(t, "a check", coppice.Check{
		ID: last.ID, ProjectID: other.ID, TaskID: far.ID, LandingID: 7, Command: "2", Exit: 2, Took: time.Minute,
		StartedAt: start.Add(2*time.Hour - time.Minute), EndedAt: start.Add(2 * time.Hour),
	}, last)

	update(t, s, func(tx store.Tx) error {
		for _, path := range []string{"/old", "/new"} {
			if err := tx.Workspaces.Put(&coppice.Workspace{ProjectID: p.ID, TaskID: first.ID, Path: path}); err != nil {
				return err
			}
		}
		return nil
	})
	spaces := get(t, s, func(r store.Reader) (map[int64]coppice.Workspace, error) {
		return r.Workspaces.OfEach([]int64{first.ID, far.ID})
	})
	same(t, "the newest workspaces", "/new", spaces[first.ID].Path)
	same(t, "workspaces", 1, len(spaces))

	update(t, s, func(tx store.Tx) error {
		for i := range 2 {
			if err := tx.Questions.Put(&coppice.Question{TaskID: first.ID, Text: fmt.Sprint(i), AskedAt: start}); err != nil {
				return err
			}
		}
		return nil
	})
	asked := get(t, s, func(r store.Reader) (map[int64][]coppice.Question, error) {
		return r.Questions.OfEach([]int64{first.ID, far.ID})
	})
	same(t, "questions", []string{"0", "1"}, ids(asked[first.ID], func(q coppice.Question) string { return q.Text }))
	same(t, "questions of another task", 0, len(asked[far.ID]))
}

func testOutputBefore(t *testing.T, open Open) {
	s := open(t)
	x := session(t, s, task(t, s, project(t, s, "app"), 1, nil), 1, nil)
	var offsets []int64
	for i := range 7 {
		kind := coppice.OutputStdout
		if i%2 == 1 {
			kind = coppice.OutputEvent
		}
		offsets = append(offsets, write(t, s, x.ID, kind, fmt.Sprint("piece ", i))...)
	}
	before := func(before int64, most int, kinds ...coppice.OutputKind) []int64 {
		list := get(t, s, func(r store.Reader) ([]coppice.Output, error) { return r.Outputs.Before(x.ID, before, most, kinds...) })
		return ids(list, func(o coppice.Output) int64 { return o.Offset })
	}
	same(t, "the end", offsets[5:], before(1<<62, 2))
	same(t, "in the middle", offsets[2:4], before(offsets[4], 2))
	same(t, "the beginning", offsets[:2], before(offsets[2], 5))
	same(t, "before the beginning", nil, before(0, 5))
	same(t, "of a kind", []int64{offsets[1], offsets[3]}, before(offsets[5], 5, coppice.OutputEvent))
}

func testUsage(t *testing.T, open Open) {
	s := open(t)
	p, other := project(t, s, "app"), project(t, s, "web")
	k, far := task(t, s, p, 1, nil), task(t, s, other, 1, nil)
	at := func(word string) time.Time {
		m, err := time.Parse(time.RFC3339, word)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	used := func(k coppice.Task, n int, model, made string, u coppice.Usage) coppice.Session {
		return session(t, s, k, n, func(c *coppice.Session) { c.Model, c.CreatedAt, c.Usage = model, at(made), u })
	}
	one := used(k, 1, "big", "2026-03-27T23:30:00Z", coppice.Usage{InputTokens: 1})
	used(k, 2, "big", "2026-03-28T10:00:00Z", coppice.Usage{InputTokens: 2, CostUSD: 0.5})
	used(k, 3, "", "2026-03-29T00:30:00Z", coppice.Usage{})
	used(k, 4, "big", "2026-03-29T22:30:00Z", coppice.Usage{OutputTokens: 4, CacheRead: 5, CacheWrite: 6, Turns: 7})
	used(far, 1, "big", "2026-03-28T10:00:00Z", coppice.Usage{CostUSD: 1})
	one.Usage.CostUSD = 0.25 // it is found to have cost more
	update(t, s, func(tx store.Tx) error { return tx.Sessions.Put(&one) })
	usage := func(q store.UsageQuery) []store.UsageRow {
		q.From, q.To = at("2026-03-01T00:00:00Z"), at("2026-04-01T00:00:00Z")
		return get(t, s, func(r store.Reader) ([]store.UsageRow, error) { return r.Spend.Usage(q) })
	}
	row := func(day string, k coppice.Task, model string, n int, u coppice.Usage) store.UsageRow {
		return store.UsageRow{Day: day, ProjectID: k.ProjectID, Agent: k.Agent, Model: model, Sessions: n, Usage: u}
	}
	last := coppice.Usage{OutputTokens: 4, CacheRead: 5, CacheWrite: 6, Turns: 7}
	same(t, "in UTC", []store.UsageRow{
		row("2026-03-29", k, "", 1, coppice.Usage{}), row("2026-03-29", k, "big", 1, last),
		row("2026-03-28", k, "big", 1, coppice.Usage{InputTokens: 2, CostUSD: 0.5}), row("2026-03-28", far, "big", 1, coppice.Usage{CostUSD: 1}),
		row("2026-03-27", k, "big", 1, coppice.Usage{InputTokens: 1, CostUSD: 0.25}),
	}, usage(store.UsageQuery{}))
	// There the clocks go forward on 2026-03-29: a day begins at 23:00 UTC, the
	// next at 22:00.
	if zone, err := time.LoadLocation("Europe/Berlin"); err == nil {
		same(t, "where clocks are moved", []store.UsageRow{
			row("2026-03-30", k, "big", 1, last), row("2026-03-29", k, "", 1, coppice.Usage{}),
			row("2026-03-28", k, "big", 2, coppice.Usage{InputTokens: 3, CostUSD: 0.75}),
		}, usage(store.UsageQuery{Zone: zone, ProjectID: p.ID}))
	}
	byTask := row("2026-03-28", far, "big", 1, coppice.Usage{CostUSD: 1})
	byTask.TaskID, byTask.Task = far.ID, far.Key
	same(t, "by task", []store.UsageRow{byTask}, usage(store.UsageQuery{ProjectID: other.ID, ByTask: true}))
	k.Labels = []string{"ui"}
	update(t, s, func(tx store.Tx) error { return tx.Tasks.Put(&k) })
	same(t, "of tasks with a label", []store.UsageRow{
		row("2026-03-29", k, "", 1, coppice.Usage{}), row("2026-03-29", k, "big", 1, last),
		row("2026-03-28", k, "big", 1, coppice.Usage{InputTokens: 2, CostUSD: 0.5}), row("2026-03-27", k, "big", 1, coppice.Usage{InputTokens: 1, CostUSD: 0.25}),
	}, usage(store.UsageQuery{Among: store.TaskFilter{Label: "ui"}}))
	none := get(t, s, func(r store.Reader) ([]store.UsageRow, error) {
		return r.Spend.Usage(store.UsageQuery{From: at("2026-03-29T22:30:01Z"), To: at("2026-04-01T00:00:00Z")})
	})
	if !slices.Equal(none, nil) && len(none) != 0 {
		t.Errorf("after all: %v", none)
	}
}
