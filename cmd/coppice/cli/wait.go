package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

// exitState is the end of a command whose exit code reports a state. The command
// has printed the state already.
type exitState int

func (s exitState) Error() string { return fmt.Sprintf("exit %d", int(s)) }

// timedOut is the error of a wait that took too long.
type timedOut struct{ error }

func (t timedOut) Unwrap() error { return t.error }

// progress says how far a task is with what a wait is for.
type progress int

const (
	pending progress = iota
	reached          // the task is in the state
	missed           // only a person can bring it there
)

// goals are what a wait can be for.
var goals = map[string]func(api.Task) progress{
	"landed": func(t api.Task) progress {
		switch {
		case t.Outcome == coppice.OutcomeDone:
			return reached
		case t.Stage.Ended(), t.Status == coppice.StatusNeedsYou:
			return missed
		}
		return pending
	},
	"ended": func(t api.Task) progress {
		if t.Stage.Ended() {
			return reached
		}
		return pending
	},
	"needs-you": func(t api.Task) progress {
		if t.Stage.Ended() || t.Status == coppice.StatusNeedsYou {
			return reached
		}
		return pending
	},
}

// waitFlags say what a command waits for.
type waitFlags struct {
	until   string
	any     bool
	timeout time.Duration
}

func (f *waitFlags) valid() error {
	if goals[f.until] == nil {
		return wrongUse(fmt.Sprintf("%s is not a state to wait for", coppice.Quote(f.until)), "use --until landed, ended or needs-you")
	}
	if f.timeout < 0 {
		return wrongUse("--timeout is negative", "write --timeout 30m, or leave it out to wait without a limit")
	}
	return nil
}

func (e *Env) waitCommand() *cobra.Command {
	f := waitFlags{}
	c := &cobra.Command{
		Use: "wait KEY…", Short: "Wait until tasks have landed, ended or need you",
		Long: `Wait for tasks and print their final state. The exit code says how they ended:

  0    all have landed, or have their answer
  3    one needs you
  4    one failed, or was stopped
  124  --timeout is over

--until landed, the default, waits until all tasks have landed. It ends immediately
when one of them failed or needs you, because then they cannot all land without a
person. --until ended also waits while a task needs you. --until needs-you waits until
every task needs you or has ended. With --any, the first task that is in the state
ends the wait and decides the exit code.

The server reports each change, so the command waits without asking again. A request
that the server has not acted on yet, such as a retry, counts as work in progress.`,
		Example: "  coppice wait app-4 && git pull\n  coppice wait app-4 app-5 --until ended --timeout 2h\n  coppice wait app-4 app-5 --any --json",
		Args:    args(1, -1, "keys of tasks"),
	}
	c.Flags().StringVar(&f.until, "until", "landed", "the state to wait for: landed, ended or needs-you")
	c.Flags().BoolVar(&f.any, "any", false, "wait for one of the tasks, not for all")
	c.Flags().DurationVar(&f.timeout, "timeout", 0, "wait at most this long, such as 90s or 2h (0: no limit)")
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		if err := f.valid(); err != nil {
			return err
		}
		return e.call(c, func(ctx context.Context, cl *client.Client) error { return e.wait(ctx, cl, given, f, *asJSON) })
	}
	return c
}

// wait waits for tasks, prints their final state, and returns the exit code as an
// error.
func (e *Env) wait(ctx context.Context, cl *client.Client, keys []string, f waitFlags, asJSON bool) error {
	w := &waiter{cl: cl, flags: f, byID: map[int64]int{}}
	for _, key := range keys {
		if !slices.Contains(w.keys, key) {
			w.keys = append(w.keys, key)
		}
	}
	err := w.run(ctx)
	late := errors.Is(err, errTooLong)
	if err != nil && !late {
		return err
	}
	if err := e.finalState(w.tasks, asJSON); err != nil {
		return err
	}
	if late && !w.decided() {
		return timedOut{coppice.Errorf(coppice.EUnavailable, "%s not reached the state %s within %s", w.pendingKeys(), f.until, f.timeout).
			WithFix("see `coppice status`, or wait longer")}
	}
	if code := w.exit(); code != exitOK {
		return exitState(code)
	}
	return nil
}

var errTooLong = errors.New("the time is over")

func (e *Env) finalState(tasks []api.Task, asJSON bool) error {
	if asJSON {
		return e.json(api.TaskList{Tasks: tasks})
	}
	e.tasks(tasks)
	return nil
}

// waiter reads tasks again when an event is about them.
type waiter struct {
	cl    *client.Client
	flags waitFlags
	keys  []string
	tasks []api.Task    // in the order of keys
	byID  map[int64]int // index in tasks
}

// run returns when the wait is over. It reads each task at least one time. If the
// time is over, it returns errTooLong.
func (w *waiter) run(ctx context.Context) error {
	// The position in the log is read before the tasks. An event in between is
	// then seen twice rather than missed.
	log, err := w.cl.Events(ctx, client.EventQuery{Limit: 1})
	if err != nil {
		return err
	}
	if err := w.readAll(ctx); err != nil || w.decided() {
		return err
	}
	if w.flags.timeout > 0 {
		limit, stop := context.WithTimeoutCause(ctx, w.flags.timeout, errTooLong)
		defer stop()
		ctx = limit
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	over := errors.New("the wait is over")
	q := client.EventQuery{After: log.Last}
	if len(w.keys) == 1 {
		q.Task = w.keys[0]
	}
	err = w.cl.FollowEvents(ctx, q, func(ev api.Event) error {
		i, ours := w.byID[ev.TaskID]
		if !ours || ev.Kind == coppice.EventSessionUsage || ev.Kind == coppice.EventReviewChanged {
			return nil // these are many, and no state depends on them
		}
		t, err := readTask(ctx, w.cl, w.keys[i])
		if err != nil {
			return err
		}
		if w.tasks[i] = t.Task; w.decided() {
			return over
		}
		return nil
	}, func(api.Bounds) {
		if err := w.readAll(ctx); err != nil {
			cancel(err)
		} else if w.decided() {
			cancel(over)
		}
	})
	if errors.Is(err, over) {
		return nil
	}
	return err
}

func (w *waiter) readAll(ctx context.Context) error {
	tasks := make([]api.Task, len(w.keys))
	for i, key := range w.keys {
		t, err := readTask(ctx, w.cl, key)
		if err != nil {
			return err
		}
		tasks[i], w.byID[t.ID] = t.Task, i
	}
	w.tasks = tasks
	return nil
}

// readTask reads a task. If the server restarts at this moment, it waits for it.
func readTask(ctx context.Context, cl *client.Client, key string) (api.TaskDetail, error) {
	for n := 1; ; n++ {
		t, err := cl.Task(ctx, key)
		if coppice.ErrorCode(err) != coppice.EUnavailable {
			return t, err
		}
		if err := cl.WaitAgain(ctx, n, err); err != nil {
			return t, err
		}
	}
}

// progress says how far a task is. A request that the server has not carried out
// yet will change its state, unless it only restores a workspace.
func (w *waiter) progress(t api.Task) progress {
	if slices.ContainsFunc(t.Asked, func(v coppice.Verb) bool { return v != coppice.VerbUndo }) {
		return pending
	}
	return goals[w.flags.until](t)
}

// in returns the tasks with a progress.
func (w *waiter) in(p progress) (list []api.Task) {
	for _, t := range w.tasks {
		if w.progress(t) == p {
			list = append(list, t)
		}
	}
	return list
}

// decided reports whether the wait is over: with --any when one task is in the
// state or none can be, otherwise when all are or one cannot be.
func (w *waiter) decided() bool {
	if w.flags.any {
		return len(w.in(reached)) > 0 || len(w.in(pending)) == 0
	}
	return len(w.in(missed)) > 0 || len(w.in(pending)) == 0
}

// exit returns the exit code. With --any, the tasks that are in the state decide
// it, if there are any.
func (w *waiter) exit() int {
	deciding := w.in(reached)
	if !w.flags.any || len(deciding) == 0 {
		deciding = append(deciding, w.in(missed)...)
	}
	code := exitOK
	for _, t := range deciding {
		switch {
		case t.Stage.Ended() && t.Outcome != coppice.OutcomeDone:
			return exitTaskFailed
		case !t.Stage.Ended():
			code = exitNeedsYou
		}
	}
	return code
}

// pendingKeys names the tasks that are not in the state, with a verb.
func (w *waiter) pendingKeys() string {
	var keys []string
	for _, t := range w.in(pending) {
		keys = append(keys, t.Key)
	}
	if len(keys) == 1 {
		return keys[0] + " has"
	}
	return strings.Join(keys, ", ") + " have"
}
