package control

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"coppice"
	"coppice/api"
	"coppice/config"
	"coppice/engine"
	"coppice/internal/clock"
	"coppice/store"
)

const (
	keepRows  = 500         // rows that one transaction forgets
	keepPause = time.Minute // between two looks at a history that grows
	keepRest  = 4           // times as long as a step took, the next one waits
	keepMost  = 2 * time.Second
)

// Limits is how much of the history is kept. Most of it is in the user's
// configuration, which is read each time, so that a change counts at once.
type Limits struct {
	Environ   []string      // of the server; it names the user's directories
	Events    int           // in the log
	EventsFor time.Duration // likewise
	Backups   int
}

func (l Limits) keep() (config.Keep, error) {
	u, _, err := config.UserOf(l.Environ)
	return u.Keep, err
}

// The parts of the history.
const (
	keptOutput  = "output"
	keptTasks   = "tasks"
	keptEvents  = "events"
	keptBackups = "backups"
)

// Kept returns the limits of each part of the history.
func (l Limits) Kept() ([]api.DiskKept, error) {
	k, err := l.keep()
	return []api.DiskKept{
		{What: keptOutput, Size: int64(k.OutputSize), Age: age(k.Output), By: "keep.output, keep.output_size"},
		{What: keptTasks, Most: int64(k.TasksMost), Age: age(k.Tasks), By: "keep.tasks, keep.tasks_most"},
		{What: keptEvents, Most: int64(l.Events), Age: age(coppice.Duration(l.EventsFor)), By: "--keep-events, --keep-for"},
		{What: keptBackups, Most: int64(l.Backups), Size: int64(k.BackupsSize), By: "keep.backups_size, --backups"},
	}, err
}

// age writes how long something is kept; 0 means for ever.
func age(d coppice.Duration) string {
	b, err := d.MarshalText()
	if d == 0 || err != nil {
		return ""
	}
	return string(b)
}

// settings are the limits of the user's configuration, as people see them.
func (l Limits) settings() ([]api.ServerSetting, error) {
	u, src, err := config.UserOf(l.Environ)
	if err != nil {
		return nil, err
	}
	var all []api.ServerSetting
	for _, k := range config.ExplainUser(u, src) {
		if strings.HasPrefix(k.Name, "keep.") {
			all = append(all, api.ServerSetting{Name: k.Name, Value: k.Value, Source: k.From, Doc: k.Doc})
		}
	}
	return all, nil
}

// store is how much the store keeps.
func (l Limits) store() (store.Keep, error) {
	k, err := l.keep()
	return store.Keep{Output: k.Output.D(), OutputSize: int64(k.OutputSize), Tasks: k.Tasks.D(), TasksMost: k.TasksMost}, err
}

// BackupsSize is how much space automatic backups may take; 0 means no limit.
func (l Limits) BackupsSize() (int64, error) {
	k, err := l.keep()
	return int64(k.BackupsSize), err
}

// Keeper bounds the history: in the background it removes what is beyond the
// limits, and stores the output of ended sessions more compactly. It works in
// small steps, between which others get their turn.
type Keeper struct {
	Store  store.Store
	Intake *engine.Intake
	Limits Limits                                       // while they cannot be read, nothing is forgotten
	Pack   func(context.Context) (more bool, err error) // packs a bit of an ended session's output
	Clock  clock.Clock
	Log    *slog.Logger
}

// Run keeps the history within its limits until ctx ends.
func (k *Keeper) Run(ctx context.Context) error {
	for {
		seq, due, err := k.runOnce(ctx)
		if err != nil && ctx.Err() == nil {
			k.Log.Error("the history cannot be bounded", "error", err)
		}
		if !k.pause(ctx, keepPause) || !k.wait(ctx, seq, due) {
			return nil
		}
	}
}

// runOnce does everything that is due. It reports up to which event it looked, and
// when something will be due though nothing happens.
func (k *Keeper) runOnce(ctx context.Context) (seq int64, due time.Time, err error) {
	limits, err := k.Limits.store()
	if err != nil {
		return 0, due, err
	}
	err = k.Store.View(ctx, func(r store.Reader) (err error) {
		_, seq, err = r.Log.Bounds()
		return err
	})
	for _, step := range []func() (bool, error){func() (bool, error) { return k.forget(ctx, limits) }, func() (bool, error) { return k.Pack(ctx) }} {
		for more := true; more && err == nil; {
			began := k.Clock.Now()
			if more, err = step(); err == nil && more && !k.pause(ctx, min(keepMost, keepRest*k.Clock.Now().Sub(began))) {
				return seq, due, ctx.Err()
			}
		}
	}
	if err == nil {
		err = k.Store.View(ctx, func(r store.Reader) (err error) {
			due, err = r.History.Due(limits, k.Clock.Now())
			return err
		})
	}
	return seq, due, err
}

// forget forgets a bit of what is beyond the limits.
func (k *Keeper) forget(ctx context.Context, limits store.Keep) (more bool, err error) {
	f, err := k.Intake.ForgetOld(ctx, limits, keepRows)
	if err == nil && f.Done {
		k.Log.Info("the history was bounded", "task", f.Task.Key, "all", f.All)
	}
	return err == nil && f.Task != nil, err
}

// wait returns when something happened after an event, or at a moment. It reports
// whether there is anything to wait for any more.
func (k *Keeper) wait(ctx context.Context, seq int64, due time.Time) bool {
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	if !due.IsZero() {
		timer := k.Clock.AfterFunc(max(0, due.Sub(k.Clock.Now())), cancel)
		defer timer.Stop()
	}
	_ = k.Store.WaitEvent(within, seq) // it ends with within, too
	return ctx.Err() == nil
}

// pause waits a while, and reports whether ctx goes on.
func (k *Keeper) pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	return clock.Sleep(ctx, k.Clock, d) == nil
}
