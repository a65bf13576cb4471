package storetest

import (
	"testing"

	"coppice"
	"coppice/store"
)

func keysOf(t *testing.T, s store.Store, f store.TaskFilter) (keys []string) {
	t.Helper()
	f.OldFirst = true
	for _, k := range get(t, s, func(r store.Reader) ([]coppice.Task, error) { return r.Tasks.List(f) }) {
		keys = append(keys, k.Key)
	}
	return keys
}

func testGroups(t *testing.T, open Open) {
	s := open(t)
	p, other := project(t, s, "app"), project(t, s, "lib")
	a := coppice.Group{ProjectID: p.ID, Name: "batch-1", Title: "a batch", Kind: coppice.GroupBatch, CreatedBy: "person", CreatedAt: start}
	b := coppice.Group{ProjectID: other.ID, Name: "batch-1", Kind: coppice.GroupHand, CreatedAt: start}
	update(t, s, func(tx store.Tx) error { return firstOf(tx.Groups.Put(&a), tx.Groups.Put(&b)) })
	in := func(g coppice.Group, f func(*coppice.Task)) func(*coppice.Task) {
		return func(k *coppice.Task) { k.Group = g.ID; f(k) }
	}
	one := task(t, s, p, 1, in(a, func(k *coppice.Task) { k.Stage = coppice.StageQueued; k.Next = &coppice.Next{Agent: "ann"} }))
	task(t, s, p, 2, in(a, func(k *coppice.Task) { k.Stage, k.Outcome = coppice.StageEnded, coppice.OutcomeDone }))
	task(t, s, p, 3, in(a, func(k *coppice.Task) { k.Stage, k.Outcome = coppice.StageEnded, coppice.OutcomeDone }))
	task(t, s, p, 4, nil)
	task(t, s, other, 1, in(b, func(*coppice.Task) {}))
	session(t, s, one, 1, func(x *coppice.Session) { x.Usage = coppice.Usage{CostUSD: 1.5, InputTokens: 7} })
	view(t, s, func(r store.Reader) error {
		same(t, "group", a, must(r.Groups.Get(a.ID)))
		same(t, "group by name", b, must(r.Groups.ByName(other.ID, "batch-1")))
		wantCode(t, "unknown group", second(r.Groups.ByName(p.ID, "none")), coppice.ENotFound)
		same(t, "all groups", []coppice.Group{b, a}, must(r.Groups.List(store.GroupFilter{Most: 9})))
		same(t, "the next page", []coppice.Group{a}, must(r.Groups.List(store.GroupFilter{BeforeID: b.ID, Most: 9})))
		same(t, "open groups", []coppice.Group{b, a}, must(r.Groups.List(store.GroupFilter{Open: true, Most: 9})))
		same(t, "groups of a project", []coppice.Group{a}, must(r.Groups.List(store.GroupFilter{ProjectID: p.ID, Most: 9})))
		same(t, "some groups", map[int64]coppice.Group{b.ID: b}, must(r.Groups.Some([]int64{b.ID, 99})))
		same(t, "counts", []store.GroupCount{
			{Group: a.ID, Stage: coppice.StageEnded, Outcome: coppice.OutcomeDone, N: 2},
			{Group: a.ID, Stage: coppice.StageQueued, Lane: one.Lane(), N: 1},
		}, must(r.Groups.Tasks([]int64{a.ID})))
		same(t, "spent", map[int64]coppice.Usage{a.ID: {CostUSD: 1.5, InputTokens: 7}}, must(r.Groups.Spent([]int64{a.ID, b.ID})))
		return nil
	})
	same(t, "tasks of a group", []string{"app-1", "app-2", "app-3"}, keysOf(t, s, store.TaskFilter{Group: a.ID}))
	update(t, s, func(tx store.Tx) error {
		k, err := tx.Tasks.ByKey("lib-1")
		k.Group = 0
		return firstOf(err, tx.Tasks.Put(&k))
	})
	same(t, "groups after the last task left", []coppice.Group{a}, get(t, s, func(r store.Reader) ([]coppice.Group, error) { return r.Groups.List(store.GroupFilter{Most: 9}) }))
	update(t, s, func(tx store.Tx) error {
		k, err := tx.Tasks.ByKey("app-1")
		k.Stage, k.Next = coppice.StageEnded, nil
		return firstOf(err, tx.Tasks.Put(&k))
	})
	same(t, "open groups after the last task ended", []coppice.Group(nil), get(t, s, func(r store.Reader) ([]coppice.Group, error) {
		return r.Groups.List(store.GroupFilter{Open: true, Most: 9})
	}))
}

func testLabels(t *testing.T, open Open) {
	s := open(t)
	p := project(t, s, "app")
	task(t, s, p, 1, func(k *coppice.Task) { k.Labels = []string{"a", "b"} })
	task(t, s, p, 2, func(k *coppice.Task) { k.Labels, k.Flagged = []string{"b"}, true })
	task(t, s, p, 3, nil)
	same(t, "label a", []string{"app-1"}, keysOf(t, s, store.TaskFilter{Label: "a"}))
	same(t, "label b", []string{"app-1", "app-2"}, keysOf(t, s, store.TaskFilter{Label: "b"}))
	same(t, "flagged", []string{"app-2"}, keysOf(t, s, store.TaskFilter{Flagged: true}))
	same(t, "label b of flagged tasks", 1, get(t, s, func(r store.Reader) (int, error) { return r.Tasks.Count(store.TaskFilter{Label: "b", Flagged: true}) }))
	labels := func(most int) []string {
		return get(t, s, func(r store.Reader) ([]string, error) { return r.Groups.Labels(most) })
	}
	same(t, "all labels", []string{"a", "b"}, labels(9))
	same(t, "the first label", []string{"a"}, labels(1))
	update(t, s, func(tx store.Tx) error {
		k, err := tx.Tasks.ByKey("app-1")
		k.Labels, k.Flagged = []string{"c"}, true
		return firstOf(err, tx.Tasks.Put(&k))
	})
	same(t, "label a after a change", []string(nil), keysOf(t, s, store.TaskFilter{Label: "a"}))
	same(t, "label c", []string{"app-1"}, keysOf(t, s, store.TaskFilter{Label: "c"}))
	update(t, s, func(tx store.Tx) error {
		k, err := tx.Tasks.ByKey("app-1")
		k.Labels, k.Flagged = nil, false
		return firstOf(err, tx.Tasks.Put(&k))
	})
	same(t, "label c after its removal", []string(nil), keysOf(t, s, store.TaskFilter{Label: "c"}))
	same(t, "flagged after a change", []string{"app-2"}, keysOf(t, s, store.TaskFilter{Flagged: true}))
}

func testUnread(t *testing.T, open Open) {
	s := open(t)
	p := project(t, s, "app")
	a := task(t, s, p, 1, nil)
	b := task(t, s, p, 2, func(k *coppice.Task) { k.Stage = coppice.StageReview })
	ann := coppice.Actor{Kind: coppice.ActorPerson, Name: "ann"}
	unread := func(by coppice.Actor) map[int64]bool {
		return get(t, s, func(r store.Reader) (map[int64]bool, error) { return r.Seen.Unread(by, []int64{a.ID, b.ID, 99}) })
	}
	happens := func(k coppice.Task, kind coppice.EventKind, reason string) (seq int64) {
		e := coppice.Event{Kind: kind, TaskID: k.ID, ProjectID: p.ID, Reason: reason, At: start}
		update(t, s, func(tx store.Tx) error { return tx.Log.Append(&e) })
		return e.Seq
	}
	sees := func(k coppice.Task, seq int64) {
		update(t, s, func(tx store.Tx) error { return tx.Seen.Put(ann, k.ID, seq) })
	}
	happens(a, coppice.EventTaskCreated, "")
	happens(a, coppice.EventTaskStage, "")
	happens(a, coppice.EventTaskEnded, "cancelled")
	same(t, "nothing that people care about", map[int64]bool{}, unread(ann))
	happens(b, coppice.EventTaskStage, "proven")
	asked := happens(a, coppice.EventQuestionAsked, "")
	same(t, "a question and a review", map[int64]bool{a.ID: true, b.ID: true}, unread(ann))
	sees(a, asked)
	same(t, "the review", map[int64]bool{b.ID: true}, unread(ann))
	same(t, "unread tasks", []string{"app-2"}, keysOf(t, s, store.TaskFilter{UnreadBy: ann}))
	same(t, "the number of unread tasks that ended", 0, get(t, s, func(r store.Reader) (int, error) {
		return r.Tasks.Count(store.TaskFilter{UnreadBy: ann, Stages: []coppice.Stage{coppice.StageEnded}})
	}))
	same(t, "for somebody else", map[int64]bool{a.ID: true, b.ID: true}, unread(coppice.Actor{Kind: coppice.ActorPerson}))
	ended := happens(a, coppice.EventTaskEnded, "failed: it broke")
	sees(a, asked-1) // an older page
	same(t, "a failure", map[int64]bool{a.ID: true, b.ID: true}, unread(ann))
	sees(a, ended)
	sees(a, asked)
	sees(b, ended)
	same(t, "everything seen", map[int64]bool{}, unread(ann))
}
