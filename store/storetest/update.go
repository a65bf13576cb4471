package storetest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"coppice"
	"coppice/store"
)

// testReadsItsWrites reads projects and queues before and after it writes them, all
// in one transaction, and changes what it read in between.
func testReadsItsWrites(t *testing.T, open Open) {
	s := open(t)
	p := project(t, s, "app")
	update(t, s, func(tx store.Tx) error {
		q := must(tx.Queues.Of(p.ID, ""))
		read := must(tx.Projects.Get(p.ID))
		read.Policy.Limits.Sessions, read.Strikes = 99, map[string]int{"main": 2}
		same(t, "what was read is the caller's", p.Policy.Limits.Sessions, must(tx.Projects.Get(p.ID)).Policy.Limits.Sessions)
		if err := tx.Projects.Put(&read); err != nil {
			return err
		}
		same(t, "a project", map[string]int{"main": 2}, must(tx.Projects.Get(p.ID)).Strikes)
		q.Tip = "there"
		if err := tx.Queues.Put(&q); err != nil {
			return err
		}
		same(t, "a queue", "there", must(tx.Queues.Of(p.ID, "")).Tip)
		same(t, "the project of the queue", "there", must(tx.Projects.Get(p.ID)).BaseCommit)
		return nil
	})
}

func testRollback(t *testing.T, open Open) {
	s := open(t)
	p := project(t, s, "app")
	mine := errors.New("mine")
	err := s.Update(t.Context(), func(tx store.Tx) error {
		k := coppice.Task{ProjectID: p.ID, Key: "app-1", Stage: coppice.StageWaiting}
		if err := firstOf(tx.Tasks.Put(&k), tx.Log.Append(event(coppice.EventTaskCreated, p.ID, k.ID, 0))); err != nil {
			return err
		}
		if got, err := tx.Tasks.ByKey("app-1"); err != nil || got.ID != k.ID {
			t.Errorf("a transaction does not see its own: %v, %v", got, err)
		}
		return mine
	})
	if err != mine { //nolint:errorlint // returned as it is
		t.Errorf("got %v, want the function's own error", err)
	}
	view(t, s, func(r store.Reader) error {
		wantCode(t, "what was rolled back", second(r.Tasks.ByKey("app-1")), coppice.ENotFound)
		_, last, err := r.Log.Bounds()
		same(t, "events", int64(0), last)
		return err
	})
}

// gather keeps the writer busy until n more Updates wait for it, so that they
// share a commit. It returns when all are done.
func gather(t *testing.T, s store.Store, n int, f func(i int) error) {
	t.Helper()
	ready, all := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		err := s.Update(t.Context(), func(store.Tx) error {
			close(ready)
			<-all
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-ready
	var begun sync.WaitGroup
	begun.Add(n)
	for i := range n {
		wg.Go(func() {
			begun.Done()
			if err := f(i); err != nil {
				t.Errorf("update %d: %v", i, err)
			}
		})
	}
	begun.Wait()
	settle()
	close(all)
	wg.Wait()
}

// settle gives goroutines time to reach the point where they wait. The assertions
// are true either way, but the case with waiting goroutines is the harder one.
func settle() {
	for range 100 {
		runtime.Gosched()
	}
}

// testGrouped runs Updates that share a commit, some of which fail.
func testGrouped(t *testing.T, open Open) {
	s := open(t)
	p := project(t, s, "app")
	failed := errors.New("on purpose")
	const n = 30
	gather(t, s, n, func(i int) error {
		err := s.Update(t.Context(), func(tx store.Tx) error {
			k := coppice.Task{ProjectID: p.ID, Num: i, Key: coppice.TaskKey("app", i), Stage: coppice.StageWaiting}
			if err := firstOf(tx.Tasks.Put(&k), tx.Log.Append(event(coppice.EventTaskCreated, p.ID, k.ID, 0))); err != nil {
				return err
			}
			if i%3 == 0 {
				return failed
			}
			return nil
		})
		if i%3 == 0 && errors.Is(err, failed) {
			return nil
		}
		return err
	})
	view(t, s, func(r store.Reader) error {
		for i := range n {
			_, err := r.Tasks.ByKey(coppice.TaskKey("app", i))
			if want := i%3 != 0; (err == nil) != want {
				t.Errorf("task %d: there is one: %v, want %v", i, err == nil, want)
			}
		}
		same(t, "events", n*2/3, len(must(r.Log.Events(0, 100, store.EventFilter{}))))
		return nil
	})
}

// testPanic runs a function that panics, alone and with others in the same commit.
// The panic reaches its caller, its writes are undone, and the others succeed.
func testPanic(t *testing.T, open Open) {
	s := open(t)
	explode := func() (v any) {
		defer func() { v = recover() }()
		_ = s.Update(t.Context(), func(tx store.Tx) error {
			if err := tx.Log.Append(event(coppice.EventTaskWarned, 0, 0, 0)); err != nil {
				return err
			}
			panic("boom")
		})
		return nil
	}
	if v := explode(); v != "boom" {
		t.Errorf("alone: recovered %v", v)
	}
	gather(t, s, 10, func(i int) error {
		if i%2 == 0 {
			if v := explode(); v != "boom" {
				t.Errorf("with others: recovered %v", v)
			}
			return nil
		}
		return s.Update(t.Context(), func(tx store.Tx) error { return tx.Log.Append(event(coppice.EventTaskStage, 0, 0, 0)) })
	})
	same(t, "events", []int64{1, 2, 3, 4, 5}, seqs(t, s, 0, 100, store.EventFilter{}))
}

func testCancelled(t *testing.T, open Open) {
	s := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	gather(t, s, 1, func(int) error {
		cancel()
		err := s.Update(ctx, func(store.Tx) error {
			t.Error("it ran")
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		return nil
	})
	waiting, leave := context.WithCancel(t.Context())
	inside, left := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(left)
		<-inside
		err := s.Update(waiting, func(store.Tx) error {
			t.Error("it ran")
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}()
	update(t, s, func(store.Tx) error {
		close(inside)
		leave() // while the other waits, or before it does
		<-left
		return nil
	})
	if err := s.View(ctx, func(store.Reader) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("view: got %v", err)
	}
}

// testSnapshot reads while others write. A View always sees the same facts.
func testSnapshot(t *testing.T, open Open) {
	s := open(t)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for range 50 {
				err := s.Update(t.Context(), func(tx store.Tx) error {
					e := event(coppice.EventTaskStage, 0, 0, 0)
					return firstOf(tx.Log.Append(e), tx.Log.SetCursor("same", e.Seq))
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			for range 50 {
				err := s.View(t.Context(), func(r store.Reader) error {
					_, last, err := r.Log.Bounds()
					runtime.Gosched()
					same(t, "a snapshot", last, must(r.Log.Cursor("same")))
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func testClosed(t *testing.T, open Open) {
	s := open(t)
	ctx := within(t)
	watch := s.Watch(store.TopicWork)
	defer watch.Close()
	waits := map[string]func() error{
		"event": func() error { return s.WaitEvent(ctx, 99) },
		"topic": func() error { _, err := watch.Wait(ctx); return err },
	}
	type answer struct {
		name string
		err  error
	}
	answers := make(chan answer, len(waits))
	for name, wait := range waits {
		go func() { answers <- answer{name, wait()} }()
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for range waits {
		a := <-answers
		wantCode(t, "waiting for "+a.name, a.err, coppice.EUnavailable)
	}
	if err := s.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
	wantCode(t, "view", s.View(ctx, func(store.Reader) error { return nil }), coppice.EUnavailable)
	wantCode(t, "update", s.Update(ctx, func(store.Tx) error { return nil }), coppice.EUnavailable)
	wantCode(t, "backup", s.Backup(ctx, filepath.Join(t.TempDir(), "b")), coppice.EUnavailable)
	for name, wait := range waits {
		wantCode(t, "waiting for "+name+" later", wait(), coppice.EUnavailable)
	}
}

func testBackup(t *testing.T, open Open) {
	s := open(t)
	project(t, s, "app")
	path := filepath.Join(t.TempDir(), "copy")
	if err := s.Backup(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v", info.Mode())
	}
	wantCode(t, "onto itself", s.Backup(t.Context(), path), coppice.EConflict)
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}
