package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

func (e *Env) previewCommand() *cobra.Command {
	var stop, log, follow bool
	c := &cobra.Command{
		Use:   "preview KEY",
		Short: "Start the app of a task's workspace, to look at it",
		Long: `Start the app of a task's workspace, as workspace.serve in coppice.yaml says, on
a separate port, and print its address when it is ready. An agent can work in the same
workspace at the same time.

The app keeps running when this command has ended, also after Ctrl-C and after a restart
of the server. It ends with --stop, and when the workspace is removed, for example
because the task has landed. If it runs already, the command prints its address.`,
		Example: "  coppice preview app-4\n  coppice preview app-4 --log -f\n  coppice preview app-4 --stop",
		Args:    args(1, 1, "a task's key"),
	}
	c.Flags().BoolVar(&stop, "stop", false, "stop the app")
	c.Flags().BoolVar(&log, "log", false, "print what the running app has written")
	c.Flags().BoolVarP(&follow, "follow", "f", false, "with --log: follow it live")
	c.MarkFlagsMutuallyExclusive("stop", "log")
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		if follow && !log {
			return wrongUse("-f needs --log", "run: coppice preview "+given[0]+" --log -f")
		}
		return e.call(c, func(ctx context.Context, cl *client.Client) error {
			key := given[0]
			if log {
				return e.previewLog(ctx, cl, key, follow, *asJSON)
			}
			ask, done := cl.StartPreview, func(p coppice.Preview) bool { return p.State != coppice.PreviewStarting }
			if stop {
				ask, done = cl.StopPreview, func(p coppice.Preview) bool { return !p.Live() }
			}
			p, err := e.awaitPreview(ctx, cl, key, ask, done)
			if err != nil {
				return err
			}
			return e.printPreview(key, p, *asJSON)
		})
	}
	return c
}

// awaitPreview asks for something, and waits until the preview is as it should be.
func (e *Env) awaitPreview(ctx context.Context, cl *client.Client, key string, ask func(context.Context, string) (coppice.Preview, error), done func(coppice.Preview) bool) (p coppice.Preview, err error) {
	if p, err = ask(ctx, key); err != nil || done(p) {
		return p, err
	}
	over := errors.New("the preview is as it should be")
	look := func() error {
		if p, err = cl.Preview(ctx, key); err == nil && done(p) {
			err = over
		}
		return err
	}
	page, err := cl.Events(ctx, client.EventQuery{Limit: 1}) // before the first look, so that nothing is missed
	if err != nil {
		return p, err
	}
	if err = look(); err == nil {
		err = cl.FollowEvents(ctx, client.EventQuery{After: page.Last, Task: key}, func(ev api.Event) error {
			switch ev.Kind {
			case coppice.EventPreviewReady, coppice.EventPreviewEnded:
				return look()
			}
			return nil
		}, func(api.Bounds) {})
	}
	if errors.Is(err, over) {
		err = nil
	}
	return p, err
}

// printPreview prints where the app is. One that failed is an error.
func (e *Env) printPreview(key string, p coppice.Preview, asJSON bool) error {
	switch {
	case asJSON:
		return e.json(p)
	case p.State == coppice.PreviewFailed:
		return &coppice.Error{Code: coppice.EUnavailable, Cause: "the preview of " + key + " failed: " + p.Reason, Fix: p.Fix}
	case p.State == coppice.PreviewReady:
		e.printf("%s\n", line(p.Address))
	default:
		e.printf("%s %s\n", key, line(fmt.Sprintf("is %s: %s", p.State, p.Reason)))
	}
	return nil
}

// previewLog prints the log of a running app.
func (e *Env) previewLog(ctx context.Context, cl *client.Client, key string, follow, asJSON bool) error {
	p, err := cl.Preview(ctx, key)
	if err != nil {
		return err
	}
	if !p.Live() {
		return e.printPreview(key, p, asJSON)
	}
	t, err := cl.Task(ctx, key)
	if err != nil {
		return err
	}
	if follow {
		return e.followRun(ctx, cl.FollowPreview, t, asJSON)
	}
	enough := errors.New("everything so far is printed")
	printer := &checkPrinter{env: e, json: asJSON, relative: relativePaths(t)}
	size, seen := int64(0), int64(0)
	err = cl.FollowPreview(ctx, key, func(s api.RunningChecks) error {
		for _, c := range s.Commands {
			size = c.Size
		}
		if err := printer.state(s); err != nil || seen < size {
			return err
		}
		return enough
	}, func(o coppice.RunOutput) error {
		if err := printer.output(o); err != nil {
			return err
		}
		if seen = o.Offset + int64(len(o.Data)); seen >= size {
			return enough
		}
		return nil
	})
	if errors.Is(err, enough) {
		err = nil
	}
	return err
}
