package control

import (
	"context"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"coppice"
)

// The budgets follow the user's configuration: it appears, changes, breaks and
// disappears, with its folder, too.
func TestBudgetsFollowTheFile(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	set := make(chan map[string]coppice.USD)
	b := &Budgets{
		Environ: []string{"HOME=" + home}, Log: slog.New(slog.DiscardHandler),
		Set: func(ctx context.Context, all map[string]coppice.USD) error {
			select {
			case set <- all:
			case <-ctx.Done():
			}
			return nil
		},
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	done := make(chan error)
	go func() { done <- b.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	becomes := func(want map[string]coppice.USD) {
		t.Helper()
		for { // a write can be seen more than once
			select {
			case got := <-set:
				if maps.Equal(got, want) {
					return
				}
			case <-ctx.Done():
				t.Fatalf("the budgets never become %v", want)
			}
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	becomes(nil)
	dir := filepath.Join(home, ".config", "coppice")
	must(os.MkdirAll(dir, 0o700))
	file := filepath.Join(dir, "config.yaml")
	write := func(path, text string) {
		t.Helper()
		must(os.WriteFile(path+".new", []byte(text), 0o600))
		must(os.Rename(path+".new", path))
	}
	write(file, "budget: {accounts: {ann: 5}}\n")
	becomes(map[string]coppice.USD{"ann": 5})
	write(file, "budget: {accounts: {ann: nothing}}\n")
	write(file, "budget: {accounts: {ann: 6}}\n")
	becomes(map[string]coppice.USD{"ann": 6})
	must(os.Remove(file))
	becomes(nil)
	must(os.RemoveAll(dir))
	must(os.MkdirAll(dir, 0o700))
	write(file, "budget: {accounts: {ann: 7}}\n")
	becomes(map[string]coppice.USD{"ann": 7})
}

// A file that cannot be read changes nothing.
func TestBrokenBudgetsStay(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	dir := filepath.Join(home, ".config", "coppice")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "config.yaml")
	calls := 0
	var notify coppice.NotifyPolicy
	b := &Budgets{
		Notify:  func(p coppice.NotifyPolicy) { notify = p },
		Environ: []string{"HOME=" + home}, Log: slog.New(slog.DiscardHandler),
		Set: func(context.Context, map[string]coppice.USD) error { calls++; return nil },
	}
	for text, want := range map[string]int{"budget: {accounts: {ann: nothing}}\n": 0, "budget: [\n": 0} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if b.read(t.Context()); calls != want || b.logged == "" {
			t.Errorf("%q: set %d times, logged %q", text, calls, b.logged)
		}
	}
	if err := os.WriteFile(file, []byte("budget: {accounts: {ann: 5}}\nnotify: {notifiers: {desktop: {}}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b.read(t.Context()); calls != 1 || b.logged != "" || len(notify.Notifiers) != 1 {
		t.Errorf("set %d times, logged %q, notifiers %v", calls, b.logged, notify.Notifiers)
	}
	if err := os.WriteFile(file, []byte("notify: {notifiers: {desktop: {url: x}}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b.read(t.Context()); calls != 1 || b.logged == "" || len(notify.Notifiers) != 1 {
		t.Errorf("set %d times, logged %q, notifiers %v", calls, b.logged, notify.Notifiers)
	}
}
