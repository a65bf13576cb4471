package cli

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

func (e *Env) usageCommand() *cobra.Command {
	var q client.UsageQuery
	var all bool
	c := &cobra.Command{
		Use: "usage", Short: "Show tokens and costs of sessions by day",
		Long: `Show the tokens and costs that agents report, by the day on which their sessions
started, project, agent and model: for the current directory's project, or for all
projects if the directory is not in one. The default is the last 30 days. A ~ before
a cost marks an estimate: see ` + "`coppice prices`" + `.`,
		Example: "  coppice usage\n  coppice usage --from 2026-03-01 --to 2026-03-31 --tasks\n  coppice usage --all --json\n  coppice usage --group batch-12 --tasks",
		Args:    args(0, 0, "no argument"),
	}
	f := c.Flags()
	f.StringVar(&q.From, "from", "", "the first day, as in 2026-03-04")
	f.StringVar(&q.To, "to", "", "the last day; the default is today")
	f.StringVarP(&q.Project, "project", "p", "", "a project's prefix")
	f.BoolVarP(&all, "all", "a", false, "all projects")
	f.BoolVar(&q.ByTask, "tasks", false, "one row per task")
	group := markFlags(c, &q.Marks)
	return shows(e, c, func(ctx context.Context, cl *client.Client, _ []string) (u api.UsageReport, err error) {
		if err = e.inProject(ctx, cl, &q.Project, all); err == nil {
			err = findGroup(ctx, cl, q.Project, *group, &q.Marks)
		}
		if err == nil {
			u, err = cl.Usage(ctx, q)
		}
		return u, err
	}, func(u api.UsageReport) { e.usage(u, q.ByTask) })
}

func (e *Env) usage(u api.UsageReport, byTask bool) {
	if len(u.Rows) == 0 {
		e.printf("no sessions from %s to %s\n", u.From, u.To)
		return
	}
	cols := []column{{head: "DAY"}, {head: "PROJECT"}, {head: "AGENT"}, {head: "MODEL", give: true}, {head: "SESSIONS", end: true}, {head: "IN", end: true}, {head: "OUT", end: true}, {head: "CACHED", end: true}, {head: "COST", end: true}}
	if byTask {
		cols[1].head = "TASK"
	}
	row := func(day, project, agent, model string, sessions int, x coppice.Usage) []cell {
		return []cell{
			plain(day), plain(project), plain(agent), plain(model), plain(strconv.Itoa(sessions)),
			plain(tokens(x.InputTokens)), plain(tokens(x.OutputTokens)), plain(tokens(x.CacheRead + x.CacheWrite)), plain(cost(x)),
		}
	}
	var rows [][]cell
	for _, r := range u.Rows {
		name := r.Project
		if byTask {
			name = r.Task
		}
		rows = append(rows, row(r.Day, name, r.Agent, r.Model, r.Sessions, r.Usage))
	}
	total := row("total", "", "", "", u.Count, u.Total)
	for i := range total {
		total[i].style = bold
	}
	e.table(cols, append(rows, total))
	if u.More {
		e.printf("%s\n", e.paint(dim, "older rows were left out; ask for fewer days"))
	}
	for _, b := range u.Accounts {
		e.printf("%s\n", e.paint(dim, fmt.Sprintf("%s: at most %s a day in all projects; %s spent since 00:00 UTC", line(b.Account), money(b.DayUSD), cmp.Or(money(b.Today), "nothing"))))
	}
	for _, b := range u.Budgets {
		if b.TaskUSD > 0 {
			e.printf("%s\n", e.paint(dim, fmt.Sprintf("%s: at most %s for one task", b.Project, money(b.TaskUSD))))
		}
		if b.DayUSD > 0 {
			e.printf("%s\n", e.paint(dim, fmt.Sprintf("%s: at most %s a day; %s spent since 00:00 UTC", b.Project, money(b.DayUSD), cmp.Or(money(b.Today), "nothing"))))
		}
	}
}

// tokens formats a number of tokens in few digits.
func tokens(n int64) string {
	switch {
	case n == 0:
		return ""
	case n < 10_000:
		return strconv.FormatInt(n, 10)
	case n < 10_000_000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

func (e *Env) archiveCommand() *cobra.Command {
	return e.archiveAction(&cobra.Command{
		Use: "archive KEY…", Short: "Archive ended tasks",
		Long:    "Archive tasks that have ended. Lists leave them out, unless --archived is set. Nothing is lost: unarchive brings them back, and so does everything that starts them again.",
		Example: "  coppice archive app-4 app-5\n  coppice list --archived",
	}, true, "archived")
}

func (e *Env) unarchiveCommand() *cobra.Command {
	return e.archiveAction(&cobra.Command{
		Use: "unarchive KEY…", Short: "Unarchive tasks",
		Long:    "Unarchive tasks, so that lists show them again.",
		Example: "  coppice unarchive app-4",
	}, false, "unarchived")
}

// archiveAction makes a command that archives or unarchives several tasks.
func (e *Env) archiveAction(c *cobra.Command, on bool, done string) *cobra.Command {
	return e.tasksAction(c, done, &selection{}, func(ctx context.Context, cl *client.Client, key string) (api.Task, error) {
		if !on {
			if t, err := cl.Task(ctx, key); err != nil {
				return t.Task, err
			} else if t.Archived.IsZero() {
				return t.Task, coppice.Errorf(coppice.EConflict, "%s is not archived", key).WithFix("list archived tasks with `coppice list --archived`")
			}
		}
		return cl.Archive(ctx, key, on)
	})
}
