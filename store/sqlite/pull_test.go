package sqlite_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/store"
	"coppice/store/sqlite"
	"coppice/store/sqlite/sqlitetest"
)

// A request that an earlier version wrote is followed like any other.
func TestFollowedPullOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "coppice.db")
	s := open(t, path)
	pull := coppice.Pull{Number: 7, HotUntil: time.Unix(9, 0).UTC(), PullDetails: coppice.PullDetails{Branch: "b", Pushed: "abc", Report: coppice.PullRead{Number: 7, Head: "abc", CI: coppice.CIPending}}}
	err := s.Update(t.Context(), func(tx store.Tx) error {
		p := coppice.Project{Prefix: "app", Path: "/app", Policy: coppice.DefaultPolicy(), CreatedAt: time.Unix(1, 0).UTC()}
		if err := tx.Projects.Put(&p); err != nil {
			return err
		}
		k := coppice.Task{ProjectID: p.ID, Num: 1, Key: "app-1", Title: "x", Stage: coppice.StageHeld, CreatedAt: p.CreatedAt}
		if err := tx.Tasks.Put(&k); err != nil {
			return err
		}
		pull.ProjectID, pull.TaskID = p.ID, k.ID
		return tx.Pulls.Put(&pull)
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		err := s.View(t.Context(), func(r store.Reader) error {
			list, err := r.Pulls.Followed(pull.ProjectID)
			if len(list) != 1 || list[0] != pull.Followed() {
				t.Errorf("%+v, want %+v", list, pull.Followed())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		execute(t, path, "UPDATE pulls SET mark = json_remove(mark, '$.followed')")
		s = open(t, path)
	}
}

// BenchmarkFollowedPulls measures what the engine reads in each pass over a forge: 200
// open requests, each with 10 comments and 8 checks.
func BenchmarkFollowedPulls(b *testing.B) {
	s := sqlitetest.Open(b, sqlite.Config{})
	p := coppice.Project{Prefix: "app", Path: "/app", Policy: coppice.DefaultPolicy(), CreatedAt: time.Unix(1, 0).UTC()}
	err := s.Update(b.Context(), func(tx store.Tx) error {
		if err := tx.Projects.Put(&p); err != nil {
			return err
		}
		for n := 1; n <= 200; n++ {
			k := coppice.Task{ProjectID: p.ID, Num: n, Key: fmt.Sprintf("app-%d", n), Title: "x", Stage: coppice.StageHeld, CreatedAt: p.CreatedAt}
			if err := tx.Tasks.Put(&k); err != nil {
				return err
			}
			read := coppice.PullRead{Number: n, Title: "x", State: coppice.PullOpen, Head: "abc"}
			for i := range 10 {
				read.Comments = append(read.Comments, coppice.PullComment{ID: fmt.Sprint(i), Author: "ann", Text: strings.Repeat("comment ", 100), At: p.CreatedAt})
			}
			for i := range 8 {
				read.Checks = append(read.Checks, coppice.PullCheck{Name: fmt.Sprint("check ", i), State: coppice.CIPassed})
			}
			if err := tx.Pulls.Put(&coppice.Pull{ProjectID: p.ID, TaskID: k.ID, Number: n, PullDetails: coppice.PullDetails{Branch: k.Key, Base: "main", Report: read}}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		err := s.View(b.Context(), func(r store.Reader) error {
			list, err := r.Pulls.Followed(p.ID)
			if len(list) != 200 {
				b.Fatal(len(list))
			}
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
