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
	keepRows  = 500         // rows that one transaction removes
	keepPause = time.Minute // between two checks of a growing history
	keepRest  = 4           // the next step waits this many times as long as the last one took
	keepMost  = 2 * time.Second
)

// Limits says how much of the history is kept. Most limits are in the user's
// configuration, which is read each time, so that changes apply immediately.
type Limits struct {
	Environ   []string      // of the server; it names the user's directories
	Events    int           // in the log
	EventsFor time.Duration // in the log
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
	list := []api.DiskKept{
		{What: keptOutput, Size: int64(k.OutputSize), Age: age(k.Output), By: "keep.output, keep.output_size"},
		{What: keptTasks, Most: int64(k.TasksMost), Age: age(k.Tasks), By: "keep.tasks, keep.tasks_most"},
		{What: keptEvents, Most: int64(l.Events), Age: age(coppice.Duration(l.EventsFor)), By: "--keep-events, --keep-for"},
		{What: keptBackups, Most: int64(l.Backups), Size: int64(k.BackupsSize), By: "keep.backups_size, --backups"},
	}
	for i := range list {
		list[i].Limit = list[i].AtMost()
	}
	return list, err
}

// age formats how long something is kept; 0 means without limit.
func age(d coppice.Duration) string {
	b, err := d.MarshalText()
	if d == 0 || err != nil {
		return ""
	}
	return string(b)
}

// settings returns the limits of the user's configuration, for people.
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

// store returns how much the store keeps.
func (l Limits) store() (store.Keep, error) {
	k, err := l.keep()
	return store.Keep{Output: k.Output.D(), OutputSize: int64(k.OutputSize), Tasks: k.Tasks.D(), TasksMost: k.TasksMost}, err
}

// BackupsSize returns how much space automatic backups can use; 0 means no
// limit.
func (l Limits) BackupsSize() (int64, error) {
	k, err := l.keep()
	return int64(k.BackupsSize), err
}

// Keeper limits the history: in the background it removes what is beyond the
// limits, and compacts the output of ended sessions. It works in small steps,
// so that others are not blocked.
type Keeper struct {
	Store  store.Store
	Intake *engine.Intake
	Limits Limits                                       // while they cannot be read, nothing is removed
	Pack   func(context.Context) (more bool, err error) // packs a part of an ended session's output
	Clock  clock.Clock
	Log    *slog.Logger
}

// Run keeps the history within its limits until ctx ends.
func (k *Keeper) Run(ctx context.Context) error {
	for {
		seq, due, err := k.runOnce(ctx)
		if err != nil && ctx.Err() == nil {
			k.Log.Error("the history cannot be limited", "error", err)
		}
		if !k.pause(ctx, keepPause) || !k.wait(ctx, seq, due) {
			return nil
		}
	}
}

// runOnce does everything that is due. It returns the position in the log up to
// which it looked, and when something will be due without an event.
func (k *Keeper) runOnce(ctx context.Context) (seq int64, due time.Time, err error) {
	limits, err := k.Limits.store()
	if err != nil {
		return 0, due, err
	}
	err = k.Store.View(ctx, func(r store.Reader) (err error) {
		_, seq, err = r.Log.Bounds()
		return err
	})
	for _, step := range []func() (bool, error){
		func() (bool, error) { return k.forget(ctx, limits) },
		func() (bool, error) { return k.Pack(ctx) },
		func() (bool, error) { return false, k.Intake.PruneSnoozes(ctx) },
		func() (bool, error) { return false, k.Intake.PruneImages(ctx) },
	} {
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

// forget removes a part of what is beyond the limits.
func (k *Keeper) forget(ctx context.Context, limits store.Keep) (more bool, err error) {
	f, err := k.Intake.ForgetOld(ctx, limits, keepRows)
	if err == nil && f.Done {
		k.Log.Info("the history was limited", "task", f.Task.Key, "all", f.All)
	}
	return err == nil && f.Task != nil, err
}

// wait returns after the next event, or at a time. It reports whether there is
// still something to wait for.
func (k *Keeper) wait(ctx context.Context, seq int64, due time.Time) bool {
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	if !due.IsZero() {
		timer := k.Clock.AfterFunc(max(0, due.Sub(k.Clock.Now())), cancel)
		defer timer.Stop()
	}
	_ = k.Store.WaitEvent(within, seq) // it also ends with within
	return ctx.Err() == nil
}

// pause waits, and reports whether ctx is still active.
func (k *Keeper) pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	return clock.Sleep(ctx, k.Clock, d) == nil
}
