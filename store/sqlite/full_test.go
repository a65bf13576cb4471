package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"coppice"
	"coppice/store"
)

// TestDiskFull lets the database run out of pages, as a full disk would. Every
// Update that does not fit fails with a fix and changes nothing. When there is
// space again, Updates succeed.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	s := openTest(t, filepath.Join(t.TempDir(), "coppice.db"))
	pages, err := s.writer.pragma("page_count")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.writer.pragma("max_page_count = " + strconv.FormatInt(pages+8, 10)); err != nil {
		t.Fatal(err)
	}
	big := func() error {
		return s.Update(t.Context(), func(tx store.Tx) error {
			return tx.Log.Append(&coppice.Event{Kind: coppice.EventTaskStage, Reason: strings.Repeat("x", 16<<10)})
		})
	}
	var kept int64
	for err = big(); err == nil; err = big() {
		kept++
	}
	var e *coppice.Error
	if !errors.As(err, &e) || e.Code != coppice.EUnavailable || !strings.Contains(e.Cause, "full") || e.Fix == "" {
		t.Fatalf("got %#v", err)
	}
	var wg sync.WaitGroup
	for range 8 { // several in parallel
		wg.Go(func() {
			if err := big(); coppice.ErrorCode(err) != coppice.EUnavailable {
				t.Errorf("got %v", err)
			}
		})
	}
	wg.Wait()
	if _, err := s.writer.pragma("max_page_count = 1000000"); err != nil {
		t.Fatal(err)
	}
	if err := big(); err != nil {
		t.Fatal("with space again:", err)
	}
	err = s.View(t.Context(), func(r store.Reader) error {
		if _, last, err := r.Log.Bounds(); err != nil || last != kept+1 {
			t.Errorf("the newest event is %d (%v), want %d", last, err, kept+1)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestBrokenBatch rolls back the transaction while a function runs, as SQLite can
// do on an I/O error. All Updates of the batch fail, and the next ones succeed.
func TestBrokenBatch(t *testing.T) {
	t.Parallel()
	s := openTest(t, filepath.Join(t.TempDir(), "coppice.db"))
	add := func(ctx context.Context) error {
		return s.Update(ctx, func(tx store.Tx) error { return tx.Log.Append(&coppice.Event{Kind: coppice.EventTaskStage}) })
	}
	breaks := func() error {
		return s.Update(t.Context(), func(tx store.Tx) error {
			return s.writer.run("ROLLBACK")
		})
	}
	inside, queued := make(chan struct{}), make(chan struct{})
	results := make(chan error, 3)
	go func() {
		results <- s.Update(t.Context(), func(tx store.Tx) error {
			close(inside)
			<-queued
			return tx.Log.Append(&coppice.Event{Kind: coppice.EventTaskStage})
		})
	}()
	<-inside
	go func() { results <- breaks() }()
	for s.waiting() == 0 {
		runtime.Gosched()
	}
	close(queued)
	for range 2 {
		if err := <-results; err == nil {
			t.Error("an Update of a transaction that was undone succeeded")
		}
	}
	if err := add(t.Context()); err != nil {
		t.Fatal("the next one:", err)
	}
	err := s.View(t.Context(), func(r store.Reader) error {
		_, last, err := r.Log.Bounds()
		if last != 1 {
			t.Errorf("the newest event is %d, want 1", last)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// waiting counts the Updates in the queue.
func (s *Store) waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queue)
}
