package storetest

import (
	"testing"

	"coppice"
	"coppice/store"
)

func testReview(t *testing.T, open Open) {
	s := open(t)
	p := project(t, s, "app")
	k, other := task(t, s, p, 1, nil), task(t, s, p, 2, nil)
	comments := func(id int64) (texts []string) {
		for _, c := range get(t, s, func(r store.Reader) ([]coppice.Comment, error) { return r.Comments.Of(id) }) {
			texts = append(texts, c.Text)
		}
		return texts
	}
	put := func(task coppice.Task, text string) (c coppice.Comment) {
		t.Helper()
		c = coppice.Comment{TaskID: task.ID, Path: "a.go", Text: text}
		update(t, s, func(tx store.Tx) error { return tx.Comments.Put(&c) })
		return c
	}
	put(k, "one")
	put(other, "of another task")
	two := put(k, "two")
	same(t, "comments", []string{"one", "two"}, comments(k.ID))
	update(t, s, func(tx store.Tx) error { return tx.Comments.Drop(two.ID) })
	if three := put(k, "three"); three.ID <= two.ID {
		t.Errorf("the id %d is used again", three.ID)
	}
	same(t, "comments after one was removed", []string{"one", "three"}, comments(k.ID))

	viewed := func() []coppice.Viewed {
		return get(t, s, func(r store.Reader) ([]coppice.Viewed, error) { return r.Viewed.Of(k.ID) })
	}
	seen := func(by, path, blob string) coppice.Viewed {
		return coppice.Viewed{TaskID: k.ID, By: by, Path: path, Blob: blob}
	}
	for _, v := range []coppice.Viewed{seen("bo", "a.go", "1"), seen("ann", "b.go", "1"), seen("ann", "a.go", "1"), seen("ann", "a.go", "2")} {
		update(t, s, func(tx store.Tx) error { return tx.Viewed.Put(v) })
	}
	same(t, "viewed", []coppice.Viewed{seen("ann", "a.go", "2"), seen("ann", "b.go", "1"), seen("bo", "a.go", "1")}, viewed())
	for range 2 {
		update(t, s, func(tx store.Tx) error { return tx.Viewed.Drop(k.ID, "ann", "a.go") })
	}
	same(t, "viewed after one was removed", []coppice.Viewed{seen("ann", "b.go", "1"), seen("bo", "a.go", "1")}, viewed())
}
