package storetest

import (
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

func testImages(t *testing.T, open Open) {
	s := open(t)
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	one := coppice.Image{ID: "a", Type: "image/png", Size: 3, At: at, Data: []byte("one")}
	two := coppice.Image{ID: "b", Type: "image/gif", Size: 3, At: at, Data: []byte("two")}
	update(t, s, func(tx store.Tx) error {
		for _, i := range []coppice.Image{one, two, one} {
			if err := tx.Images.Put(i); err != nil {
				return err
			}
		}
		wantCode(t, "an unknown image", tx.Images.Own("c", 1), coppice.ENotFound)
		for _, task := range []int64{1, 2, 1} {
			if err := tx.Images.Own("a", task); err != nil {
				return err
			}
		}
		return tx.Images.Prune(at) // b is not older
	})
	view(t, s, func(r store.Reader) error {
		got, err := r.Images.Get("a")
		if err != nil || string(got.Data) != "one" || got.Type != "image/png" || !got.At.Equal(at) {
			t.Errorf("an image: %+v, %v", got, err)
		}
		for task, want := range map[int64]int{1: 1, 2: 1, 3: 0} {
			all, err := r.Images.Of(task)
			if err != nil || len(all) != want || want > 0 && (all[0].ID != "a" || all[0].Size != 3 || all[0].Data != nil) {
				t.Errorf("images of task %d: %+v, %v", task, all, err)
			}
		}
		wantCode(t, "none", second(r.Images.Get("c")), coppice.ENotFound)
		return second(r.Images.Get("b"))
	})
	update(t, s, func(tx store.Tx) error { return tx.Images.Prune(at.Add(time.Second)) })
	view(t, s, func(r store.Reader) error {
		wantCode(t, "an old one that no task has", second(r.Images.Get("b")), coppice.ENotFound)
		return second(r.Images.Get("a"))
	})
}
