package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func (e *Env) statusCommand() *cobra.Command {
	var project string
	var disk bool
	var within int
	c := &cobra.Command{
		Use:   "status",
		Short: "Show what needs you, what is running and what is waiting",
		Long: `Show a summary: first the projects and tasks that wait for a person, with the
command that helps, then running tasks, then waiting tasks with the reason, then
groups with open tasks, then the totals. For changes that wait for your
confirmation, coppice project confirm --dry-run shows everything.

With --disk it shows disk usage instead: for each project its workspaces, its own
repository, its trash and its sessions' output, then the database, the search index,
backups and running sessions. Counting takes up to 10 seconds. Sizes that are not
complete by then are marked with ≥.`,
		Example: `  coppice status
  coppice status --disk
  coppice status --project app --json`,
		Args: args(0, 0, "no argument"),
	}
	c.Flags().StringVarP(&project, "project", "p", "", "only this project")
	c.Flags().BoolVar(&disk, "disk", false, "show disk usage")
	c.Flags().IntVar(&within, "within", 10, "with --disk: count for at most this many seconds, up to 50")
	c.MarkFlagsMutuallyExclusive("disk", "project")
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if within < 1 || within > 50 || c.Flags().Changed("within") && !disk {
			return wrongUse("--within is a number of seconds from 1 to 50, with --disk", "see coppice status --help")
		}
		return e.call(c, func(ctx context.Context, cl *client.Client) error {
			if disk {
				return e.disk(ctx, cl, within, *asJSON)
			}
			st, err := cl.Status(ctx, project)
			if err != nil {
				return err
			}
			page, err := cl.OpenGroups(ctx, project)
			if err != nil && coppice.ErrorCode(err) != coppice.ENotFound { // a server of an earlier release has no groups
				return err
			}
			if *asJSON {
				return e.json(statusShown{st, page.Groups})
			}
			e.printHealth(ctx, cl)
			e.printStatus(statusShown{st, page.Groups})
			return nil
		})
	}
	return c
}

// statusShown is a status with the newest groups that have open tasks.
type statusShown struct {
	api.Status
	Groups []api.Group `json:"groups,omitempty"`
}

// printHealth prints one line if the server is not healthy. Problems that the
// status lists anyway do not count.
func (e *Env) printHealth(ctx context.Context, cl *client.Client) {
	h, err := cl.Health(ctx, false)
	if err != nil {
		return // a server of an earlier release
	}
	shown := slices.DeleteFunc(h.Problems, func(p api.HealthProblem) bool { return p.Kind == "limit" || p.Kind == "database" })
	if len(shown) == 0 {
		return
	}
	text := line(shown[0].Text) + " → " + line(shown[0].Fix)
	if n := len(shown) - 1; n > 0 {
		text += fmt.Sprintf(" (and %s; run coppice doctor)", count(n, "more problem"))
	}
	e.printf("%s %s\n\n", e.paint(yellow.Bold(true), "!"), text)
}

func (e *Env) printStatus(st statusShown) {
	for _, w := range st.Warnings {
		e.printf("%s %s\n\n", e.paint(yellow.Bold(true), "!"), line(w))
	}
	e.printNeeds(st)
	if len(st.Active) > 0 {
		e.heading("Running", len(st.Active))
		e.tasks(st.Active)
		e.printf("\n")
	}
	if waiting := st.Counts[coppice.StatusReady] + st.Counts[coppice.StatusWaiting]; waiting > 0 {
		e.heading("Waiting", waiting)
		e.tasks(st.Waiting)
		if more := waiting - len(st.Waiting); more > 0 {
			e.printf("%s\n", e.paint(dim, fmt.Sprintf("and %d more", more)))
		}
		e.printf("\n")
	}
	e.printGroups(st.Groups)
	for _, l := range st.Limited {
		e.printf("%s is unavailable (%s): %s\n", e.paint(bold, line(l.Agent)), e.until(l), line(l.Text))
	}
	for _, p := range st.Projects {
		state := fmt.Sprintf("%d of %s running", p.Running, count(p.Limit, "session"))
		if p.Parked > 0 {
			state += fmt.Sprintf(", %d parked", p.Parked)
		}
		if !p.Paused.IsZero() {
			state += ", paused"
		}
		e.printf("%s  %s  %s\n", e.paint(bold, p.Prefix), state, e.paint(dim, line(p.Path)))
		for _, w := range p.Warnings {
			e.printf("  %s %s\n", e.paint(yellow, "!"), line(w))
		}
	}
	e.printf("%s\n", e.totals(st.Counts))
	if st.Inbox > 0 {
		e.printf("%s\n", e.paint(dim, entries(st.Inbox)+" in the inbox; see: coppice inbox"))
	}
}

// printNeeds prints the projects and tasks that need a person. Tasks whose session
// is silent are among them, and are listed as running, too.
func (e *Env) printNeeds(st statusShown) {
	needs := 0
	for _, p := range st.Projects {
		needs += len(p.Needs)
	}
	tasks := slices.Clone(st.NeedsYou)
	for _, t := range st.Active {
		if t.Need != "" {
			tasks = append(tasks, t)
		}
	}
	if needs+len(tasks) == 0 {
		return
	}
	e.heading("Needs you", needs+len(tasks))
	for _, p := range st.Projects {
		for _, n := range p.Needs {
			e.need(p.Prefix, n)
		}
	}
	for _, t := range tasks {
		e.needsYou(t)
	}
	e.printf("\n")
}

// printGroups prints groups with open tasks.
func (e *Env) printGroups(groups []api.Group) {
	if len(groups) == 0 {
		return
	}
	e.heading("Groups", len(groups))
	rows := make([][]cell, len(groups))
	for i, g := range groups {
		rows[i] = []cell{{g.Name, bold}, plain(g.Project), plain(e.totals(g.Counts)), plain(g.Title)}
	}
	e.table([]column{{head: "NAME"}, {head: "PROJECT"}, {head: "STATUS", give: true}, {head: "TITLE", give: true}}, rows)
	e.printf("\n")
}

func entries(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}

func (e *Env) heading(title string, n int) {
	e.printf("%s\n", e.paint(bold, fmt.Sprintf("%s (%d)", title, n)))
}

// needsYou shows a task that waits for a person, and the command that helps.
func (e *Env) needsYou(t api.Task) {
	e.printf("%s  %s\n", e.paint(yellow.Bold(true), t.Key), line(t.Title))
	e.printf("  %s\n", line(t.Reason))
	if t.Question != nil {
		e.printOptions("  ", *t.Question)
	}
	e.printf("  → %s\n", nextStep(t))
}

// nextStep returns the command for a task that needs a person.
func nextStep(t api.Task) string {
	switch {
	case t.Question != nil && t.Question.Kind == coppice.QuestionPermission:
		return fmt.Sprintf("coppice answer %s allow, or deny; see coppice answer --help", t.Key)
	case t.Question != nil:
		if len(t.Question.Options) > 0 {
			return fmt.Sprintf(`coppice answer %s 1, another number, or "…"`, t.Key)
		}
		return fmt.Sprintf(`coppice answer %s "…"`, t.Key)
	case t.Fix != "":
		return line(t.Fix)
	case t.Stage.Awaits():
		return "coppice land " + t.Key
	}
	return "coppice show " + t.Key
}

func (e *Env) totals(counts map[coppice.Status]int) string {
	var parts []string
	for _, s := range coppice.Statuses {
		if n := counts[s]; n > 0 {
			parts = append(parts, e.paint(statusStyle(s), fmt.Sprintf("%d %s", n, s)))
		}
	}
	if len(parts) == 0 {
		return `no tasks yet; create one with: coppice new "…"`
	}
	return strings.Join(parts, ", ")
}
