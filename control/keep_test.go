package control

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"coppice"
	"coppice/engine"
	"coppice/internal/clock"
	"coppice/store"
	"coppice/store/sqlite"
)

// kept is a Keeper with a history of one ended task.
type kept struct {
	*Keeper
	store *sqlite.Store
	times *clock.Manual
	file  string // the user's configuration
}

func setupKept(t *testing.T) *kept {
	t.Helper()
	dir := t.TempDir()
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(dir, "coppice.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	times := clock.NewManual(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	err = s.Update(t.Context(), func(tx store.Tx) error {
		p := coppice.Project{Prefix: "app", Path: "/app", Policy: coppice.DefaultPolicy()}
		if err := tx.Projects.Put(&p); err != nil {
			return err
		}
		k := coppice.Task{ProjectID: p.ID, Num: 1, Key: "app-1", Title: "x", Stage: coppice.StageEnded, Outcome: coppice.OutcomeDone, EndedAt: times.Now()}
		if err := tx.Tasks.Put(&k); err != nil {
			return err
		}
		x := coppice.Session{ProjectID: p.ID, TaskID: k.ID, N: 1, Key: "app-1.1", State: coppice.SessionDone, EndedAt: times.Now()}
		if err := tx.Sessions.Put(&x); err != nil {
			return err
		}
		return tx.Outputs.Add(x.ID, 0, 1, []coppice.Output{{Kind: coppice.OutputStdout, Data: []byte("words")}})
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "coppice", "config.yaml")
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	keeper := &Keeper{
		Store: s, Intake: engine.NewIntake(s, times.Now, nil, nil, nil), Limits: Limits{Environ: []string{"HOME=" + dir, "XDG_CONFIG_HOME=" + dir}},
		Pack: s.Pack, Clock: times, Log: slog.New(slog.DiscardHandler),
	}
	return &kept{keeper, s, times, file}
}

func (k *kept) configure(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(k.file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// wrote returns the session's current output.
func (k *kept) wrote(t *testing.T) (text string) {
	t.Helper()
	err := k.store.View(t.Context(), func(r store.Reader) error {
		out, err := r.Outputs.After(1, -1, 10)
		for _, o := range out {
			text += string(o.Data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// The Keeper follows the user's configuration. While that cannot be read, it
// removes nothing.
func TestKeeperFollowsTheConfiguration(t *testing.T) {
	t.Parallel()
	k := setupKept(t)
	k.times.Advance(40 * 24 * time.Hour)
	look := func() (time.Time, error) {
		_, due, err := k.runOnce(t.Context())
		return due, err
	}
	if due, err := look(); err != nil || !due.Equal(k.times.Now().Add(140*24*time.Hour)) || k.wrote(t) != "words" {
		t.Errorf("by default: %v, %v, %q", due, err, k.wrote(t))
	}
	k.configure(t, "keep: {output: 30 days}\n")
	if _, err := look(); coppice.ErrorCode(err) != coppice.EInvalid || k.wrote(t) != "words" {
		t.Errorf("with a broken file: %v, %q", err, k.wrote(t))
	}
	k.configure(t, "keep: {output: 30d}\n")
	if _, err := look(); err != nil || !strings.Contains(k.wrote(t), "was removed on 10 April 2026") {
		t.Errorf("after 30 days: %v, %q", err, k.wrote(t))
	}
	k.configure(t, "keep: {tasks: 0s, tasks_most: 1}\n")
	if due, err := look(); err != nil || !due.IsZero() {
		t.Errorf("without a limit: %v, %v", due, err)
	}
}

// The Keeper acts when something is due, even without an event.
func TestKeeperKeepsTime(t *testing.T) {
	t.Parallel()
	k := setupKept(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { _ = k.Run(ctx) })
	for _, step := range []time.Duration{keepPause, 180*24*time.Hour - keepPause} {
		if err := k.times.WaitAt(ctx, step); err != nil {
			t.Fatal(err)
		}
		k.times.Advance(step)
	}
	if err := k.store.WaitEvent(ctx, 0); err != nil {
		t.Fatal(err)
	}
	err := k.store.View(ctx, func(r store.Reader) error {
		events, err := r.Log.Events(0, 10, store.EventFilter{})
		if len(events) != 1 || events[0].Kind != coppice.EventTaskForgotten || events[0].Subject != "app-1" || events[0].By != "engine:keep" {
			t.Errorf("logged: %+v", events)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
}
