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

// logFlags are the flags of `logs`.
type logFlags struct {
	follow, raw, app, json bool
	images                 string              // where pictures are saved
	tail, limit            int                 // lines; 0 for all
	relative               func(string) string // how paths are shown
}

func (e *Env) logsCommand() *cobra.Command {
	var f logFlags
	c := &cobra.Command{
		Use:   "logs KEY",
		Short: "Show the log of a session",
		Long: `Show the log of a task's newest session, or of the session that the key names: what
the agent said and did. With -f the command continues live. For a task it continues
with its checks while they run, and with the later sessions, until the task has ended
or needs you.

With --raw the command writes the agent's own output, byte by byte. On a terminal,
control characters are made visible. With --app it writes the output of the app that
was served for a verifier.

The log can have any length. With --tail it starts with the last lines of the
session, with --limit it stops after that many lines. Output of a session beyond
limits.output in coppice.yaml is not kept, except its end. A line in the log says so.

With --images the command only saves the pictures that sessions took as evidence to a
directory. For a task it saves those of all its sessions.`,
		Example: "  coppice logs app-4\n  coppice logs -f app-4\n  coppice logs app-4 --tail 20\n  coppice logs app-4.1 --raw > session.txt\n  coppice logs app-4 --images evidence",
		Args:    args(1, 1, "the key of a task or session"),
	}
	c.Flags().BoolVarP(&f.follow, "follow", "f", false, "follow the log live")
	c.Flags().BoolVar(&f.raw, "raw", false, "print the agent's own output")
	c.Flags().BoolVar(&f.app, "app", false, "print the output of the app that was served for the session")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON for programs, one line per piece")
	c.Flags().IntVar(&f.tail, "tail", 0, "start with this many last lines")
	c.Flags().IntVarP(&f.limit, "limit", "n", 0, "at most this many lines")
	c.Flags().StringVar(&f.images, "images", "", "save its pictures to this `directory`")
	c.MarkFlagsMutuallyExclusive("raw", "app", "images")
	c.MarkFlagsMutuallyExclusive("follow", "images")
	c.MarkFlagsMutuallyExclusive("tail", "limit", "images")
	c.RunE = func(c *cobra.Command, given []string) error {
		_, _, session, err := coppice.ParseKey(given[0])
		if err != nil {
			return usage{err}
		}
		for _, name := range []string{"tail", "limit"} {
			if n, err := c.Flags().GetInt(name); err == nil && c.Flags().Changed(name) && n < 1 {
				return wrongUse(fmt.Sprintf("--%s %d is not a number of lines", name, n), "use 1 or more")
			}
		}
		e := e.within(f.limit)
		return e.call(c, func(ctx context.Context, cl *client.Client) error {
			if c.Flags().Changed("images") {
				return e.saveImages(ctx, cl, given[0], session != 0, f)
			}
			show := e.taskLog
			if session != 0 {
				show = e.sessionLog
			}
			if err := show(ctx, cl, given[0], f); !errors.Is(err, errEnough) {
				return err
			}
			return nil
		})
	}
	return c
}

// taskLog shows the newest session of a task and, with -f, every later one.
func (e *Env) taskLog(ctx context.Context, cl *client.Client, key string, f logFlags) error {
	_, err := e.taskLogAfter(ctx, cl, key, "", f)
	return err
}

// taskLogAfter does the same, without the session that was shown last. It returns the
// session that it showed last.
func (e *Env) taskLogAfter(ctx context.Context, cl *client.Client, key, shown string, f logFlags) (string, error) {
	for {
		// The position in the log is read before the task. An event in between
		// is then seen twice rather than missed.
		st, err := cl.Events(ctx, client.EventQuery{Limit: 1})
		if err != nil {
			return shown, err
		}
		t, err := cl.Task(ctx, key)
		if err != nil {
			return shown, err
		}
		if t.Session != "" && t.Session != shown {
			if shown = t.Session; t.Sessions > 1 && !f.json && !f.raw {
				e.printf("%s\n", e.paint(dim, fmt.Sprintf("session %s (%s)", t.Session, t.History[len(t.History)-1].Role)))
			}
			if err := e.sessionLog(ctx, cl, t.Session, f); err != nil || !f.follow {
				return shown, err
			}
			f.tail = 0 // later sessions are shown from their start
			continue
		}
		if f.follow && t.Running != nil && !f.raw && !f.app {
			if err := e.followRun(ctx, cl.FollowChecks, t, f.json); err != nil {
				return shown, err
			}
			continue
		}
		if !f.follow || t.Stage == coppice.StageEnded || t.Status == coppice.StatusNeedsYou {
			e.logEnd(t, f)
			return shown, nil
		}
		if err := e.waitTask(ctx, cl, key, st.Last); err != nil {
			return shown, err
		}
	}
}

// logEnd prints the state of a followed task, or that it has no session.
func (e *Env) logEnd(t api.TaskDetail, f logFlags) {
	if f.json || f.raw || (t.Session != "" && !f.follow) {
		return
	}
	text := e.paint(statusStyle(t.Status), statusWord(t.Task))
	if t.Reason != "" {
		text += ": " + line(t.Reason)
	}
	if t.Session == "" {
		text = "no session yet; " + text
	}
	e.printf("%s\n", text)
}

// waitTask waits until something happened to a task after a position in the
// log.
func (e *Env) waitTask(ctx context.Context, cl *client.Client, key string, after int64) error {
	seen := errors.New("something happened")
	gap := false
	err := cl.FollowEvents(ctx, client.EventQuery{After: after, Task: key}, func(ev api.Event) error {
		switch ev.Kind {
		case coppice.EventSessionCreated, coppice.EventTaskStage, coppice.EventTaskEnded, coppice.EventQuestionAsked, coppice.EventCheckStarted:
			return seen
		}
		if gap {
			return seen
		}
		return nil
	}, func(api.Bounds) { gap = true })
	if errors.Is(err, seen) {
		return nil
	}
	return err
}
