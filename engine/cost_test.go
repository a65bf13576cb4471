package engine

import (
	"fmt"
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

// crowd puts n tasks each into a lane, into waiting and into the landing queue.
func (b *bundle) crowd(n int) {
	b.t.Helper()
	put := func(tx store.Tx, num int, change func(*coppice.Task)) (coppice.Task, error) {
		task := coppice.Task{
			ProjectID: 1, Num: num, Key: coppice.TaskKey("app", num), Title: fmt.Sprint("task ", num), Track: "main", Agent: "ann",
			CreatedAt: noon, StageAt: noon, Next: &coppice.Next{Role: coppice.RoleImplement, Agent: "ann"},
		}
		change(&task)
		return task, tx.Tasks.Put(&task)
	}
	b.update(func(tx store.Tx) error {
		for i := range n {
			if _, err := put(tx, 10+3*i, func(t *coppice.Task) { t.Stage = coppice.StageQueued }); err != nil {
				return err
			}
			if _, err := put(tx, 11+3*i, func(t *coppice.Task) {
				t.Stage, t.Wait = coppice.StageWaiting, &coppice.Wait{On: coppice.WaitPerson, Text: "log in"}
				if i%2 == 0 {
					t.Failure = coppice.Failf(coppice.ClassBase, "the base fails", "")
				}
			}); err != nil {
				return err
			}
			k, err := put(tx, 12+3*i, func(t *coppice.Task) { t.Stage, t.Next = coppice.StageLanding, nil })
			if err != nil {
				return err
			}
			l := coppice.Landing{
				ProjectID: 1, TaskID: k.ID, Head: "h", CreatedAt: noon,
				Candidate: coppice.Candidate{Base: "base1", Tree: fmt.Sprint("tree", i), Commit: fmt.Sprint("commit", i), Green: true},
				QueueID:   1, QueuedAt: noon.Add(time.Duration(i) * time.Second),
			}
			if err := tx.Landings.Put(&l); err != nil {
				return err
			}
		}
		return tx.Log.Append(&coppice.Event{At: noon, Kind: coppice.EventProjectChanged, ProjectID: 1, By: "test"})
	})
}

// costs counts the rows that turns read in a project with n tasks queued, waiting
// and landing each.
func costs(t *testing.T, n int, notify coppice.NotifyPolicy) map[string]int {
	t.Helper()
	b := open(t, func(c *Config) { c.Notify = func() coppice.NotifyPolicy { return notify } })
	b.project(func(p *coppice.Project) {
		p.Policy.Limits.Sessions = 1
		p.Policy.Agent.Fallback = []string{"bob"}
	})
	b.create(coppice.NewTask{Title: "runs", Agent: "cid"})
	b.prepares("app-1")
	b.crowd(n)
	b.turn()
	rows := map[string]int{}
	step := func(name string, do func()) {
		c := &counted{Store: b.store, calls: map[string]int{}}
		do()
		b.engine.cfg.Store = c
		b.turn()
		b.engine.cfg.Store = b.store
		rows[name] = c.rows
	}
	asks := func(a coppice.Ask) func() {
		return func() {
			b.update(func(tx store.Tx) error {
				a.ProjectID, a.At = 1, b.clock
				if err := tx.Asks.Put(&a); err != nil {
					return err
				}
				return tx.Log.Append(&coppice.Event{At: b.clock, Kind: coppice.EventAgentLimited, About: a.Subject, By: "test"})
			})
		}
	}
	step("nothing happened", func() {})
	step("a person asked", func() { _, err := b.Stop(t.Context(), "app-1"); b.must(err) })
	step("a landing is blocked", func() { b.result("app-12", coppice.WorkMove, dirtyFile("a.go")) })
	step("its file changed", b.poke)
	step("it landed", func() { b.result("app-12", coppice.WorkMove, coppice.MoveResult{Moved: true, Now: "commit0"}) })
	step("the next is merged again", func() {
		b.result("app-15", coppice.WorkMerge, coppice.MergeResult{Base: "commit0", Tree: "tree1", Commit: "c1"})
	})
	step("an account is limited", asks(limit(coppice.AgentLimit{Agent: "ann", Until: b.clock.Add(time.Hour), Class: coppice.ClassRateLimit, Text: "too much"})))
	step("a track fails", asks(coppice.Ask{Subject: coppice.ProjectSubject(1), Verb: coppice.VerbStrike, Args: coppice.Raw(inTrack{"main"})}))
	step("the limit ends", func() { b.clock = b.clock.Add(2 * time.Hour) })
	return rows
}

// What a turn reads does not grow with the number of tasks that are queued,
// limited, waiting or landing.
func TestTurnsCostTheSame(t *testing.T) {
	t.Parallel()
	few, many, most := costs(t, 10, coppice.NotifyPolicy{}), costs(t, 1000, coppice.NotifyPolicy{}), costs(t, 10_000, coppice.NotifyPolicy{})
	for name := range few {
		t.Logf("%-26s %5d rows with 10, %5d with 1,000, %5d with 10,000", name, few[name], many[name], most[name])
		if many[name] != most[name] {
			t.Errorf("%s: %d rows with 1,000 tasks each, %d with 10,000", name, many[name], most[name])
		}
	}
}

// Notifications add rows to a turn, and not with the number of tasks.
func TestNotifiedTurnsCostTheSame(t *testing.T) {
	t.Parallel()
	notify := coppice.NotifyPolicy{Notifiers: map[string]coppice.Notifier{"all": {Kind: "desktop"}}, Routes: []coppice.NotifyRoute{{To: []string{"all"}, Priority: coppice.Priorities}}}
	many, most := costs(t, 300, notify), costs(t, 3000, notify)
	for name := range many {
		t.Logf("%-26s %5d rows with 300, %5d with 3,000", name, many[name], most[name])
		if many[name] != most[name] {
			t.Errorf("%s: %d rows with 300 tasks each, %d with 3,000", name, many[name], most[name])
		}
	}
}
