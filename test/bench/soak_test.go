package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coppice"
)

func TestFlat(t *testing.T) {
	t.Parallel()
	steady := grown{60, 40, 100, 30, 2, 8, 50}
	for _, c := range []struct {
		name string
		last func(*grown)
		want string
	}{
		{"the same", func(*grown) {}, ""},
		{"a little more", func(g *grown) { g[0] = 79 }, ""},
		{"a leak of memory", func(g *grown) { g[0] = 81 }, "memory"},
		{"two leaks", func(g *grown) { g[1], g[2] = 65, 153 }, "descriptors, goroutines"},
		{"objects, which a day bounds", func(g *grown) { g[6] = 500 }, ""},
		{"a slower answer", func(g *grown) { g[5] = 60 }, "status p99"},
	} {
		all := make([]grown, 60)
		for i := range all {
			if all[i] = steady; i >= 50 {
				c.last(&all[i])
			}
		}
		table, grew := flat(all, time.Minute)
		if got := strings.Join(grew, ", "); got != c.want {
			t.Errorf("%s: %q grew", c.name, got)
		}
		if head := strings.Join(table[0], " "); head != "part 10m0s 30m0s 1h0m0s bound verdict" {
			t.Errorf("%s: %s", c.name, head)
		}
	}
	all := make([]grown, 60)
	all[59][0] = 1000 // one of five is noise
	if _, grew := flat(all, time.Minute); len(grew) > 0 {
		t.Errorf("one sample: %v grew", grew)
	}
}

// TestSoak is a short form of make soak: what tasks need while they run is given
// back when they have ended.
func TestSoak(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "coppice")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "coppice/cmd/coppice").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	l, err := newLab(t.Context(), options{program: program}) // builds programs, which takes long without a cache
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	const sessions, first, tasks = 4, 8, 40
	s, err := l.soak(ctx, soakOptions{sessions: sessions, seed: 1}, time.Millisecond, 50)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	posted, removed := 0, 0
	s.log.look = func(e coppice.Event) {
		if e.Kind == coppice.EventWorkspaceRemoved {
			removed++
		}
	}
	run := func(n int) {
		if err := s.post(ctx, sessions); err != nil {
			t.Fatal(err)
		}
		polled := make(chan error, 1)
		polling, stop := context.WithCancel(ctx)
		go func() { polled <- s.poll(polling) }()
		posted += sessions + n - 1 // the last that ends is followed by none
		err := s.follow(ctx, n)
		for err == nil && removed < posted {
			_, err = s.log.wait(ctx, coppice.EventWorkspaceRemoved, 1)
		}
		stop()
		if err := <-polled; err != nil {
			t.Error(err)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	run(first) // the first few make the server grow once for all
	before, err := s.look(ctx)
	if err != nil {
		t.Fatal(err)
	}
	run(tasks)
	for {
		after, err := s.look(ctx)
		if err != nil {
			t.Fatalf("before %v, after %v: %v", before, after, err)
		}
		if after[1] <= before[1] && after[2] <= before[2] {
			return
		}
		if err := rest(ctx, 100*time.Millisecond); err != nil {
			t.Fatalf("before %v, after %v: %v", before, after, err)
		}
	}
}
