package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

func (e *Env) scheduleCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "schedule", Short: "Create a task again and again, by an interval or a cron line",
		Long: `A schedule creates a task or a flow again and again. Two runs never overlap: the time
of the next run counts from the end of the last one. After a run that failed, the
schedule pauses and is listed in the inbox, unless it was added with --always. If the
server was stopped at one or more times of the schedule, one run starts when the server
starts.`,
		Example: "  coppice schedule add deps \"Update the dependencies\" --cron \"0 7 * * 1-5\"\n  coppice schedule list\n  coppice schedule run deps",
	}
	c.AddCommand(e.scheduleAdd(), e.scheduleList(), e.scheduleShow(), e.scheduleRemove())
	for _, x := range []struct{ verb, short, long string }{
		{"run", "Start a run now", "Start a run of a schedule now. The command fails while a run has not ended. A paused schedule stays paused."},
		{"pause", "Pause a schedule", "Pause a schedule. A run that has started continues."},
		{"resume", "Resume a paused schedule", "Resume a paused schedule. Its next run starts at its next time, counted from now."},
	} {
		c.AddCommand(e.scheduleVerb(x.verb, x.short, x.long, func(ctx context.Context, cl *client.Client, project, name string) (api.Schedule, error) {
			return cl.ChangeSchedule(ctx, project, name, x.verb)
		}))
	}
	return c
}

func projectFlag(c *cobra.Command) *string {
	return c.Flags().StringP("project", "p", "", "a project's prefix, instead of the current directory's")
}

func (e *Env) scheduleAdd() *cobra.Command {
	var f newFlags
	var every, kind, spec string
	var n coppice.NewSchedule
	c := &cobra.Command{
		Use: "add NAME [TITLE]", Short: "Add a schedule",
		Long: `Add a schedule to the project of the current directory. TITLE and the flags describe
the task of each run, as for coppice new. With --flow, each run is a flow. With --every,
the first run starts after that time, and each further run that long after the end of
the one before. A cron line has minute, hour, day of month, month and day of week. It
is in the time zone of the server, unless it starts with CRON_TZ=ZONE. A template is
read when the schedule is added.`,
		Example: `  coppice schedule add deps "Update the dependencies" --cron "0 7 * * 1-5"
  coppice schedule add triage --template triage --every 6h --always
  coppice schedule add lint "Fix what the linter reports" --every 1d --budget 5`,
		Args: args(1, 2, "a name and a title"),
	}
	f.taskFlags(c)
	fl := c.Flags()
	fl.StringVar(&every, "every", "", "the time from the end of a run to the next one, such as 6h or 1d")
	fl.StringVar(&n.Cron, "cron", "", "a cron line, such as \"0 7 * * 1-5\"")
	fl.BoolVar(&n.Always, "always", false, "continue after a run that failed")
	fl.StringVar(&kind, "flow", "", "each run is a flow of this kind: goal, cycle, debate or batch")
	fl.StringVar(&spec, "spec", "", "with --flow: a file with the flow's spec as JSON; - is stdin")
	return shows(e, c, func(ctx context.Context, cl *client.Client, given []string) (s api.Schedule, err error) {
		if (every == "") == (n.Cron == "") {
			return s, wrongUse("a schedule needs either --every or --cron", "add one of them")
		}
		tasks, err := e.taskFromFlags(ctx, given[1:], f)
		if err != nil {
			return s, err
		}
		n.Name, n.Task = given[0], tasks[0]
		if n.Every, err = duration(every); err != nil {
			return s, err
		}
		if n.Task.Flow, err = e.flowFrom(kind, spec); err != nil {
			return s, err
		}
		if f.project == "" {
			p, err := cl.UseProject(ctx, e.Dir)
			if err != nil {
				return s, err
			}
			f.project = p.Prefix
		}
		return cl.AddSchedule(ctx, f.project, n)
	}, e.showTimes)
}

// flowFrom makes the flow that --flow and --spec describe; nil for none.
func (e *Env) flowFrom(kind, spec string) (*coppice.NewFlow, error) {
	if kind == "" && spec == "" {
		return nil, nil
	}
	if kind == "" {
		return nil, wrongUse("--spec without --flow has no effect", "add --flow KIND")
	}
	out := &coppice.NewFlow{Kind: coppice.FlowKind(kind)}
	if spec == "" {
		return out, nil
	}
	b, err := e.readFile(spec, coppice.MaxBody)
	if err != nil {
		return nil, err
	}
	if !json.Valid(b) {
		return nil, coppice.Errorf(coppice.EInvalid, "%s is not JSON", spec).WithFix("write the spec of the flow into it; see docs/flows.md").WithField("spec")
	}
	out.Spec = b
	return out, nil
}

// showTimes shows a schedule and its next times.
func (e *Env) showTimes(s api.Schedule) {
	e.printf("%s  %s\n", e.paint(bold, line(s.Name)), line(e.scheduleState(s)))
	for i, at := range s.Next {
		if i == 0 && len(s.Next) > 1 && s.Cron == "" { // the others depend on how long the runs take
			e.printf("next run: %s\n", e.moment(at))
			break
		}
		e.printf("next run: %s\n", e.moment(at))
	}
}

// scheduleState says what a schedule waits for.
func (e *Env) scheduleState(s api.Schedule) string {
	switch {
	case s.State == "paused":
		return "paused: " + s.Why
	case s.State == "running":
		return "running " + s.Last
	case s.Problem != "":
		return "the last run could not be created: " + s.Problem
	}
	return "waiting"
}

func (e *Env) scheduleList() *cobra.Command {
	c := &cobra.Command{
		Use: "list", Short: "List schedules", Long: "List the schedules of the project of the current directory, or of all projects if it is in none.",
		Example: "  coppice schedule list\n  coppice schedule list -p app --json", Args: args(0, 0, "no arguments"),
	}
	project := projectFlag(c)
	return shows(e, c, func(ctx context.Context, cl *client.Client, _ []string) (list api.ScheduleList, err error) {
		if *project == "" {
			p, err := e.here(ctx, cl)
			if err != nil {
				return list, err
			}
			if p != nil {
				*project = p.Prefix
			}
		}
		return cl.Schedules(ctx, *project)
	}, func(list api.ScheduleList) {
		listed(e, "no schedules", list.Schedules, []column{{head: "NAME"}, {head: "PROJECT"}, {head: "WHEN"}, {head: "NEXT"}, {head: "RUNS", end: true}, {head: "LAST"}, {head: "TASK", give: true}, {head: "STATE"}}, func(s api.Schedule) []cell {
			next := "-"
			if len(s.Next) > 0 {
				next = e.moment(s.Next[0])
			}
			return []cell{{line(s.Name), bold}, plain(s.Project), plain(s.When), plain(next), plain(itoa(int64(s.Runs))), plain(s.Last), plain(s.Title), plain(e.scheduleState(s))}
		})
	})
}

func (e *Env) scheduleShow() *cobra.Command {
	c := &cobra.Command{
		Use: "show NAME", Short: "Show a schedule and its runs", Long: "Show a schedule, its next times and its newest runs.",
		Example: "  coppice schedule show deps\n  coppice schedule show deps --json", Args: args(1, 1, "the name of a schedule"),
	}
	return showsIn(e, c, projectFlag(c), func(ctx context.Context, cl *client.Client, prefix string, given []string) (api.ScheduleDetail, error) {
		return cl.Schedule(ctx, prefix, given[0])
	}, func(s api.ScheduleDetail) {
		e.showTimes(s.Schedule)
		e.printf("%s: %s\n", line(s.When), line(s.Title))
		if s.Always {
			e.printf("it continues after a run that failed\n")
		}
		listed(e, "no runs", s.History, []column{{head: "RUN"}, {head: "STATUS"}, {head: "AGE", end: true}, {head: "TOOK", end: true}, {head: "WHY", give: true}}, func(t api.Task) []cell {
			took := ""
			if !t.EndedAt.IsZero() {
				took = t.EndedAt.Sub(t.CreatedAt).Round(time.Second).String()
			}
			return []cell{{t.Key, bold}, {string(t.Status), statusStyle(t.Status)}, {ago(e.Now().Sub(t.CreatedAt)), dim}, plain(took), plain(t.Reason)}
		})
	})
}

func (e *Env) scheduleRemove() *cobra.Command {
	return e.scheduleVerb("remove", "Remove a schedule", "Remove a schedule. Its tasks stay, and a run that has not ended continues.",
		func(ctx context.Context, cl *client.Client, project, name string) (api.Schedule, error) {
			return cl.RemoveSchedule(ctx, project, name)
		})
}

// scheduleVerb is a command that does one thing to a schedule.
func (e *Env) scheduleVerb(verb, short, long string, do func(ctx context.Context, cl *client.Client, project, name string) (api.Schedule, error)) *cobra.Command {
	c := &cobra.Command{
		Use: verb + " NAME", Short: short, Long: long, Example: fmt.Sprintf("  coppice schedule %s deps", verb), Args: args(1, 1, "the name of a schedule"),
	}
	return showsIn(e, c, projectFlag(c), func(ctx context.Context, cl *client.Client, prefix string, given []string) (api.Schedule, error) {
		return do(ctx, cl, prefix, strings.TrimSpace(given[0]))
	}, func(s api.Schedule) {
		if verb == "remove" {
			e.printf("%s  removed\n", e.paint(bold, line(s.Name)))
			return
		}
		e.showTimes(s)
	})
}
