package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

// takeCommand makes the command that takes a task over. In a terminal it waits for
// the agent's screen and attaches to it.
func (e *Env) takeCommand(c *cobra.Command, done string, do func(ctx context.Context, cl *client.Client, key string) (api.Task, error)) *cobra.Command {
	var only bool
	c.Args = args(1, 1, "a task's key")
	c.Flags().BoolVar(&only, "no-attach", false, "do not wait for the screen")
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		return e.call(c, func(ctx context.Context, cl *client.Client) error {
			t, err := do(ctx, cl, given[0])
			switch {
			case err != nil:
				return err
			case *asJSON:
				return e.json(t)
			case only || !e.Terminal || !e.Asks:
				e.printDone(done)(t)
				return nil
			}
			e.printf("%s  waiting for its screen; after Ctrl-C, run: coppice attach %s\n", e.paint(bold, t.Key), t.Key)
			return e.attachTaken(ctx, cl, t.Key)
		})
	}
	return c
}

// attachTaken waits for the screen of a task that was taken, attaches to it, and
// reports a screen that failed.
func (e *Env) attachTaken(ctx context.Context, cl *client.Client, key string) error {
	session := ""
	err := awaitTask(ctx, cl, key, func(t api.TaskDetail) (bool, error) {
		if n := len(t.History); n > 0 {
			if x := t.History[n-1]; x.Screen && x.State.Live() && x.State != coppice.SessionStarting {
				session = x.Key
				return true, nil
			}
		}
		if !t.Taken {
			return false, notTaken(t)
		}
		return false, nil
	})
	if err != nil {
		return err
	}
	ended, err := e.attach(ctx, cl, session, false, true)
	if err != nil || !ended {
		return err
	}
	return awaitTask(ctx, cl, key, func(t api.TaskDetail) (bool, error) {
		switch {
		case t.Stage == coppice.StageSession && t.Session == session:
			return false, nil // the engine decides about it in a moment
		case t.Status == coppice.StatusNeedsYou && t.Failure != nil:
			return false, notTaken(t)
		}
		return true, nil
	})
}

// notTaken says why a task is not on a screen.
func notTaken(t api.TaskDetail) error {
	e := coppice.Errorf(coppice.EConflict, "%s is not on a screen (%s)", t.Key, statusWord(t.Task))
	if t.Reason != "" {
		e = coppice.Errorf(coppice.EConflict, "%s: %s", t.Key, line(t.Reason))
	}
	if t.Fix != "" {
		return e.WithFix("%s", line(t.Fix))
	}
	return e.WithFix("see `coppice show %s`", t.Key)
}

// awaitTask reads a task, and again after each event about it, until f returns true
// or an error.
func awaitTask(ctx context.Context, cl *client.Client, key string, f func(api.TaskDetail) (bool, error)) error {
	// The position in the log is read first, so that no event is missed.
	log, err := cl.Events(ctx, client.EventQuery{Limit: 1})
	if err != nil {
		return err
	}
	enough := errors.New("that is enough")
	read := func() error {
		t, err := readTask(ctx, cl, key)
		if err != nil {
			return err
		}
		done, err := f(t)
		if err == nil && done {
			return enough
		}
		return err
	}
	if err = read(); err == nil {
		err = cl.FollowEvents(ctx, client.EventQuery{After: log.Last, Task: key}, func(api.Event) error { return read() }, nil)
	}
	if errors.Is(err, enough) {
		return nil
	}
	return err
}
