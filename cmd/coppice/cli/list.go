package cli

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

func (e *Env) listCommand() *cobra.Command {
	var q client.TaskQuery
	var all bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List tasks, newest first",
		Long: `List the tasks of the current directory's project, or of all projects if the
directory is not in a project. TIME is the time in the current stage for an active
task, the age of a waiting one, and the duration of an ended one.`,
		Example: `  coppice list
  coppice list --status "needs you" --status failed
  coppice list --archived
  coppice list --all --text parser --json`,
		Args: args(0, 0, "no argument"),
	}
	f := c.Flags()
	f.StringVarP(&q.Project, "project", "p", "", "a project's prefix")
	f.BoolVarP(&all, "all", "a", false, "list the tasks of all projects")
	f.StringSliceVarP(&q.Status, "status", "s", nil, "only tasks with this status (repeatable)")
	f.StringVar(&q.Track, "track", "", "only tasks of this track")
	f.StringVar(&q.Agent, "agent", "", "only tasks of this agent")
	f.StringVar(&q.Group, "group", "", "only tasks of this group")
	f.StringVar(&q.Label, "label", "", "only tasks with this label")
	f.StringVar(&q.Parent, "parent", "", "only tasks that agents of this task created")
	f.BoolVar(&q.Flagged, "flagged", false, "only tasks that are flagged")
	f.StringVar(&q.Text, "text", "", "only tasks with this text in title or key")
	f.IntVarP(&q.Limit, "limit", "n", 50, "at most this many tasks")
	beforeFlag(f, &q.Before)
	archived := f.Bool("archived", false, "only archived tasks")
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if *archived {
			q.Archived = "only"
		}
		if q.Limit < 1 || q.Limit > 500 {
			return wrongUse("--limit is out of range", "use a number from 1 to 500, and --before for the next page")
		}
		return result(e, c, *asJSON, func(ctx context.Context, cl *client.Client) (page api.TaskPage, err error) {
			if err = e.inProject(ctx, cl, &q.Project, all); err == nil {
				page, err = cl.Tasks(ctx, q)
			}
			return page, err
		}, e.printPage)
	}
	return c
}

func (e *Env) printPage(page api.TaskPage) {
	if len(page.Tasks) == 0 {
		e.printf("no tasks\n%s\n", e.paint(dim, `create one with: coppice new "…"`))
		return
	}
	e.tasks(page.Tasks)
	e.morePages("tasks", page.Next)
}

// tasks prints a table of tasks.
func (e *Env) tasks(tasks []api.Task) {
	cols := []column{{head: "KEY"}, {head: "STATUS"}, {head: "AGENT"}, {head: "TITLE", give: true}, {head: "TIME", end: true}, {head: "COST", end: true}, {head: "REASON", give: true}}
	flags := slices.ContainsFunc(tasks, func(t api.Task) bool { return t.Flagged })
	if flags {
		cols = append(cols, column{head: "FLAG"})
	}
	rows := make([][]cell, len(tasks))
	for i, t := range tasks {
		rows[i] = []cell{
			{t.Key, bold}, {statusWord(t), statusStyle(t.Status)}, plain(worker(t)), plain(t.Title),
			{ago(e.taskTime(t)), dim}, plain(cost(t.Usage)), plain(reason(t)),
		}
		if flags {
			flag := cell{"", yellow}
			if t.Flagged {
				flag.text = "flagged"
			}
			rows[i] = append(rows[i], flag)
		}
	}
	e.table(cols, rows)
}

// worker returns the agent of a task. A flow has none: it is marked with its kind.
func worker(t api.Task) string {
	if t.Flow != nil {
		return "flow:" + string(t.Flow.Kind)
	}
	return t.Agent
}

// reason says why a task has its status, or what its agent said last. The message of
// an agent is not the reason why a person stopped its task.
func reason(t api.Task) string {
	if t.Outcome == coppice.OutcomeCancelled {
		return t.Reason
	}
	return cmp.Or(t.Line, t.Says)
}

// statusWord is what people read as the status of a task.
func statusWord(t api.Task) string { return cmp.Or(t.Word, string(t.Status)) }

// taskTime returns how long an active task has been in its stage, how long an
// ended one took, and how long ago any other was created.
func (e *Env) taskTime(t api.Task) time.Duration {
	switch t.Stage {
	case coppice.StageEnded:
		return t.EndedAt.Sub(t.CreatedAt)
	case coppice.StageWaiting, coppice.StageQueued:
		return e.Now().Sub(t.CreatedAt)
	}
	return e.Now().Sub(t.Since)
}
