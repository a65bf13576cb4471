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

// logFlags are what `logs` can be told.
type logFlags struct {
	follow, raw, app, json bool
	images                 string // where pictures are saved
	tail, limit            int    // lines; 0 for all
}

func (e *Env) logsCommand() *cobra.Command {
	var f logFlags
	c := &cobra.Command{
		Use:   "logs KEY",
		Short: "Show what a session said and did",
		Long: `Show what the newest session of a task said and did, or the session that the key
names. With -f it goes on live; for a task it goes on through its later sessions
until the task has ended or needs you.

With --raw the agent's own output is written as it came, byte by byte; on a
terminal, control characters are shown and not obeyed. With --app it is what the app wrote
that was served for a verifier.

It prints as it reads, however much a session wrote. With --tail it begins with
the last lines of the session, with --limit it ends after so many lines. What a
session writes beyond limits.output in coppice.yaml is not kept, except its end;
a line in the log says so.

With --images the pictures that sessions took as evidence are saved to a
directory, those of all sessions of a task, and nothing else is shown.`,
		Example: "  coppice logs app-4\n  coppice logs -f app-4\n  coppice logs app-4 --tail 20\n  coppice logs app-4.1 --raw > session.txt\n  coppice logs app-4 --images evidence",
		Args:    args(1, 1, "the key of a task or session"),
	}
	c.Flags().BoolVarP(&f.follow, "follow", "f", false, "go on live")
	c.Flags().BoolVar(&f.raw, "raw", false, "the agent's own output")
	c.Flags().BoolVar(&f.app, "app", false, "what the app wrote that was served for it")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON for programs, a line for each piece")
	c.Flags().IntVar(&f.tail, "tail", 0, "begin with the last so many lines")
	c.Flags().IntVarP(&f.limit, "limit", "n", 0, "at most so many lines")
	c.Flags().StringVar(&f.images, "images", "", "save the pictures it took to this directory")
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

// taskLog shows the newest session of a task and, when it follows, every later
// one.
func (e *Env) taskLog(ctx context.Context, cl *client.Client, key string, f logFlags) error {
	shown := ""
	for {
		// Where the log stands is read before the task is: what happens in
		// between is then seen twice rather than never.
		st, err := cl.Events(ctx, client.EventQuery{Limit: 1})
		if err != nil {
			return err
		}
		t, err := cl.Task(ctx, key)
		if err != nil {
			return err
		}
		if t.Session != "" && t.Session != shown {
			if shown = t.Session; t.Sessions > 1 && !f.json && !f.raw {
				e.printf("%s\n", e.paint(dim, fmt.Sprintf("session %s (%s)", t.Session, t.History[len(t.History)-1].Role)))
			}
			if err := e.sessionLog(ctx, cl, t.Session, f); err != nil || !f.follow {
				return err
			}
			f.tail = 0 // the sessions that follow are shown from their beginning
			continue
		}
		if !f.follow || t.Stage == coppice.StageEnded || t.Status == coppice.StatusNeedsYou {
			e.logEnd(t, f)
			return nil
		}
		if err := e.waitTask(ctx, cl, key, st.Last); err != nil {
			return err
		}
	}
}

// logEnd says how a followed task stands, or that there is nothing to show.
func (e *Env) logEnd(t api.TaskDetail, f logFlags) {
	if f.json || f.raw || (t.Session != "" && !f.follow) {
		return
	}
	text := e.paint(statusStyle(t.Status), string(t.Status))
	if t.Reason != "" {
		text += ": " + line(t.Reason)
	}
	if t.Session == "" {
		text = "no session yet; " + text
	}
	e.printf("%s\n", text)
}

// waitTask waits until something happened to a task after a place in the log.
func (e *Env) waitTask(ctx context.Context, cl *client.Client, key string, after int64) error {
	seen := errors.New("something happened")
	gap := false
	err := cl.FollowEvents(ctx, client.EventQuery{After: after, Task: key}, func(ev coppice.Event) error {
		switch ev.Kind {
		case coppice.EventSessionCreated, coppice.EventTaskStage, coppice.EventTaskEnded, coppice.EventQuestionAsked:
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
