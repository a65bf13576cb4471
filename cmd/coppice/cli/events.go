package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"coppice/api"
	"coppice/api/client"
)

func (e *Env) eventsCommand() *cobra.Command {
	var q client.EventQuery
	var follow bool
	c := &cobra.Command{
		Use:   "events",
		Short: "Show the event log",
		Long: `Show the event log: every fact and every decision, with the reason. With -f the
command continues live. It misses and repeats no event if the server restarts.`,
		Example: "  coppice events\n  coppice events -f --task app-4\n  coppice events --after 1200 --json",
		Args:    args(0, 0, "no argument"),
	}
	fl := c.Flags()
	fl.BoolVarP(&follow, "follow", "f", false, "follow the log live")
	fl.Int64Var(&q.After, "after", -1, "only events after this number; without it, the newest")
	fl.StringVarP(&q.Project, "project", "p", "", "only events of this project")
	fl.StringVar(&q.Task, "task", "", "only events of this task")
	fl.IntVarP(&q.Limit, "limit", "n", 50, "at most this many events, unless -f is set")
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if q.Limit < 1 || q.Limit > 1000 {
			return wrongUse("--limit is out of range", "use a number from 1 to 1000, and --after for what follows")
		}
		show := e.printEvent
		if *asJSON {
			show = func(ev api.Event) error { return e.jsonLine(ev) }
		}
		return e.call(c, func(ctx context.Context, cl *client.Client) error {
			if follow {
				q.Limit = 0
				return cl.FollowEvents(ctx, q, show, func(b api.Bounds) {
					fmt.Fprintf(e.Stderr, "coppice: older events are gone; the log starts at %d\n", b.First)
				})
			}
			return e.eventPage(ctx, cl, q, show)
		})
	}
	return c
}

// eventPage shows events after a position, or the newest. Events of one project
// or task can be far back, so for them the log is read from its start.
func (e *Env) eventPage(ctx context.Context, cl *client.Client, q client.EventQuery, show func(api.Event) error) error {
	newest := q.After < 0
	if newest {
		q.After = 0
		if q.Project == "" && q.Task == "" {
			page, err := cl.Events(ctx, client.EventQuery{Limit: 1})
			if err != nil {
				return err
			}
			q.After = max(page.Last-int64(q.Limit), 0)
		}
	}
	var kept []api.Event
	most := q.Limit
	for q.Limit = 1000; ; {
		page, err := cl.Events(ctx, q)
		if err != nil {
			return err
		}
		kept = append(kept, page.Events...)
		if newest {
			kept = kept[max(len(kept)-most, 0):]
		}
		if !page.More || (!newest && len(kept) >= most) {
			break
		}
		q.After = page.Next
	}
	for _, ev := range kept[:min(len(kept), most)] {
		if err := show(ev); err != nil {
			return err
		}
	}
	return nil
}

func (e *Env) printEvent(ev api.Event) error {
	text := fmt.Sprintf("%s %s  %-20s %-10s %s",
		e.paint(dim, fmt.Sprintf("%6d", ev.Seq)), e.paint(dim, ev.At.In(e.Now().Location()).Format(time.TimeOnly)), line(string(ev.Kind)), line(ev.Subject), line(ev.Reason))
	e.printf("%s %s\n", text, e.paint(dim, "("+line(ev.By)+")"))
	return nil
}
