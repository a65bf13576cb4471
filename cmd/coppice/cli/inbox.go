package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

func (e *Env) inboxCommand() *cobra.Command {
	var q client.InboxQuery
	c := &cobra.Command{
		Use: "inbox", Short: "List what needs you, with the command that helps",
		Long: `List everything that needs a person: questions of agents first, then what blocks
work, then results that wait for you. That is the same list as in the dashboard.
The options of a question follow it; the number of an option is an answer.
An entry leaves the list when its cause is gone. --label, --group and --flagged
choose entries of tasks; an entry about a project or an agent has none of them.`,
		Example: "  coppice inbox\n  coppice inbox --project app --label ui --json\n  coppice inbox snooze failed/app-4 --until 09:00",
		Args:    args(0, 0, "no argument"),
	}
	c.Flags().StringVarP(&q.Project, "project", "p", "", "only this project")
	c.Flags().BoolVarP(&q.All, "all", "a", false, "also list entries that are snoozed")
	group := markFlags(c, &q.Marks)
	c.AddCommand(e.inboxSnooze(), e.inboxWake())
	return shows(e, c, func(ctx context.Context, cl *client.Client, _ []string) (api.Inbox, error) {
		if *group != "" {
			if err := e.inProject(ctx, cl, &q.Project, false); err != nil {
				return api.Inbox{}, err
			}
		}
		if err := findGroup(ctx, cl, q.Project, *group, &q.Marks); err != nil {
			return api.Inbox{}, err
		}
		return cl.Inbox(ctx, q)
	}, e.printInbox)
}

func (e *Env) printInbox(in api.Inbox) {
	var rows [][]cell
	for _, x := range in.Entries {
		age := ""
		if !x.Since.IsZero() {
			age = ago(e.Now().Sub(x.Since))
		}
		act := x.Fix
		if len(x.Actions) > 0 {
			act = x.Actions[0].Command
		}
		text := line(x.Text)
		if state := e.snoozed(x); state != "" {
			text = "(" + state + ") " + text
		}
		rows = append(rows, []cell{{age, dim}, {string(x.Kind), yellow}, {cmp.Or(x.Task, x.Title), bold}, plain(text), plain(act), {x.ID, dim}})
		for _, option := range e.optionLines(x.Options, nil, false) {
			rows = append(rows, []cell{plain(""), plain(""), plain(""), plain("  " + option), plain(""), plain("")})
		}
	}
	if len(rows) == 0 {
		e.printf("nothing needs you\n")
	} else {
		e.table([]column{{head: "AGE", end: true}, {head: "KIND"}, {head: "ABOUT"}, {head: "TEXT", give: true}, {head: "COMMAND", give: true}, {head: "ID"}}, rows)
	}
	if in.More {
		e.printf("%s\n", e.paint(dim, "there are more entries; act on these first, or archive failed tasks"))
	}
	if in.Snoozed > 0 && !slices.ContainsFunc(in.Entries, func(x coppice.InboxEntry) bool { return x.Snoozed }) {
		e.printf("%s\n", e.paint(dim, fmt.Sprintf("%d snoozed; see all with: coppice inbox --all", in.Snoozed)))
	}
}

// snoozed says until when an entry is hidden, or that it was.
func (e *Env) snoozed(x coppice.InboxEntry) string {
	switch {
	case x.Back:
		return "back"
	case !x.Snoozed:
		return ""
	case x.SnoozedFor != "":
		return fmt.Sprintf("snoozed until %s: %s", x.SnoozedTask, x.SnoozedFor)
	}
	return fmt.Sprintf("snoozed until %s", e.moment(x.SnoozedUntil))
}

func (e *Env) inboxSnooze() *cobra.Command {
	var n coppice.NewSnooze
	var during, until string
	c := &cobra.Command{
		Use: "snooze ID", Short: "Hide an entry of the inbox until a time or an event",
		Long: `Hide an entry of the inbox for a while, until a time, or until an event of a task.
Then it comes back, marked. If its cause ends and happens again, it comes back
immediately. Questions cannot be hidden, because an agent waits for the answer.
The events are: any (of the task), ended, landed, failed, asked and message.`,
		Example: "  coppice inbox snooze failed/app-4 --for 2h\n  coppice inbox snooze stalled/app-4 --until 09:00\n  coppice inbox snooze failed/app-4 --event landed --task app-7",
		Args:    args(1, 1, "the id of an entry, as coppice inbox shows it"),
	}
	c.Flags().StringVar(&during, "for", "", "for how long: 90m, 2h, 3d")
	c.Flags().StringVar(&until, "until", "", "until a time: 09:00, or 2026-01-31T09:00:00Z")
	c.Flags().StringVar(&n.Event, "event", "", "until this happens to its task, or to the one of --task")
	c.Flags().StringVar(&n.Task, "task", "", "the key of the task of the event")
	c.MarkFlagsMutuallyExclusive("for", "until", "event")
	return shows(e, c, func(ctx context.Context, cl *client.Client, given []string) (x coppice.InboxEntry, err error) {
		if during+until+n.Event == "" {
			return x, wrongUse("the command does not say until when to snooze", "add --for 2h, --until 09:00 or --event landed")
		}
		if during != "" {
			if err := n.For.UnmarshalText([]byte(during)); err != nil {
				return x, usage{err}
			}
		}
		if until != "" {
			if n.Until, err = e.clockTime(until); err != nil {
				return x, err
			}
		}
		return cl.Snooze(ctx, given[0], n)
	}, func(x coppice.InboxEntry) { e.printf("%s  %s\n", e.paint(bold, line(x.ID)), e.snoozed(x)) })
}

// clockTime reads a time, or a time of day: the next one.
func (e *Env) clockTime(s string) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t.UTC(), nil
	}
	of, err := time.Parse("15:04", s)
	if err != nil {
		return of, wrongUse(fmt.Sprintf("%s is not a time", coppice.Quote(s)), "write --until 09:00, or 2026-01-31T09:00:00Z")
	}
	now := e.Now()
	t := time.Date(now.Year(), now.Month(), now.Day(), of.Hour(), of.Minute(), 0, 0, now.Location())
	if !t.After(now) {
		t = time.Date(now.Year(), now.Month(), now.Day()+1, of.Hour(), of.Minute(), 0, 0, now.Location())
	}
	return t.UTC(), nil
}

func (e *Env) inboxWake() *cobra.Command {
	c := &cobra.Command{
		Use: "wake ID", Short: "Show a snoozed entry of the inbox again", Long: "Show an entry of the inbox again before its snooze has ended.",
		Example: "  coppice inbox wake failed/app-4", Args: args(1, 1, "the id of an entry, as coppice inbox --all shows it"),
	}
	return shows(e, c, func(ctx context.Context, cl *client.Client, given []string) (coppice.InboxEntry, error) {
		return cl.Wake(ctx, given[0])
	}, func(x coppice.InboxEntry) { e.printf("%s  is in the inbox again\n", e.paint(bold, line(x.ID))) })
}
