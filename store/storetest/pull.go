package storetest

import (
	"fmt"
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

func testPulls(t *testing.T, open Open) {
	s := open(t)
	p, q := project(t, s, "app"), project(t, s, "web")
	a, b, c := task(t, s, p, 1, nil), task(t, s, p, 2, nil), task(t, s, q, 1, nil)
	pull := func(k coppice.Task, number int) *coppice.Pull {
		return &coppice.Pull{ProjectID: k.ProjectID, TaskID: k.ID, Number: number, PullDetails: coppice.PullDetails{Branch: "b", Base: "main", CreatedAt: start}}
	}
	first, second, other := pull(a, 7), pull(b, 8), pull(c, 7)
	update(t, s, func(tx store.Tx) error {
		return firstOf(tx.Pulls.Put(first), tx.Pulls.Put(second), tx.Pulls.Put(other))
	})
	view(t, s, func(r store.Reader) error {
		same(t, "open in a project", []coppice.FollowedPull{first.Followed(), second.Followed()}, must(r.Pulls.Followed(p.ID)))
		same(t, "by number", *other, must(r.Pulls.ByNumber(q.ID, 7)))
		same(t, "in short", map[int64]coppice.PullMark{a.ID: first.Mark(), c.ID: other.Mark()}, must(r.Pulls.Marks([]int64{a.ID, c.ID, 99})))
		same(t, "of tasks", map[int64]coppice.Pull{a.ID: *first, c.ID: *other}, must(r.Pulls.OfTasks([]int64{a.ID, c.ID, 99})))
		return nil
	})
	twice := pull(a, 9)
	wantCode(t, "a second request of a task", s.Update(t.Context(), func(tx store.Tx) error { return tx.Pulls.Put(twice) }), coppice.EConflict)
	first.EndedAt = start.Add(time.Hour)
	update(t, s, func(tx store.Tx) error { return tx.Pulls.Put(first) })
	for _, k := range []*coppice.Task{&a, &b, &c} {
		k.Pull = true
		update(t, s, func(tx store.Tx) error { return tx.Tasks.Put(k) })
	}
	listed := func(r store.Reader, f store.TaskFilter) (ids []int64) {
		for _, k := range must(r.Tasks.List(f)) {
			ids = append(ids, k.ID)
		}
		return ids
	}
	view(t, s, func(r store.Reader) error {
		same(t, "tasks with an open request", []int64{c.ID, b.ID}, listed(r, store.TaskFilter{Pull: store.PullOpen, Most: 9}))
		same(t, "tasks of a project with any request", []int64{b.ID, a.ID}, listed(r, store.TaskFilter{Pull: store.PullAny, ProjectID: p.ID, Most: 9}))
		same(t, "open after the end of one", []coppice.FollowedPull{second.Followed()}, must(r.Pulls.Followed(p.ID)))
		return nil
	})
}

func testReactions(t *testing.T, open Open) {
	s := open(t)
	p := project(t, s, "app")
	k := task(t, s, p, 1, nil)
	put := func(task int64, key string) error {
		return s.Update(t.Context(), func(tx store.Tx) error {
			return tx.Reactions.Put(&coppice.Reacted{ProjectID: p.ID, TaskID: task, Key: key, At: start})
		})
	}
	for i := range coppice.KeptReactions + 3 {
		if err := put(k.ID, fmt.Sprint("ci-failed/", i)); err != nil {
			t.Fatal(err)
		}
	}
	wantCode(t, "the same event twice", put(k.ID, fmt.Sprint("ci-failed/", coppice.KeptReactions)), coppice.EConflict)
	if err := put(0, "all-complete/1"); err != nil {
		t.Fatal(err)
	}
	view(t, s, func(r store.Reader) error {
		list := must(r.Reactions.Of(p.ID, k.ID))
		same(t, "number of kept entries", coppice.KeptReactions, len(list))
		same(t, "the oldest kept entry", "ci-failed/3", list[0].Key)
		same(t, "entries of the project", 1, len(must(r.Reactions.Of(p.ID, 0))))
		newest := must(r.Reactions.List(store.ReactionFilter{ProjectID: p.ID, Most: 2}))
		same(t, "the newest entry", "all-complete/1", newest[0].Key)
		rest := must(r.Reactions.List(store.ReactionFilter{TaskID: k.ID, BeforeID: list[1].ID, Most: 5}))
		same(t, "entries before one", 1, len(rest))
		return nil
	})
}
