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
	var disk, watch bool
	var within int
	c := &cobra.Command{
		Use:   "status",
		Short: "Show what needs you, what is running and what is waiting",
		Long: `Show a summary: first the projects and tasks that wait for a person, with the
command that helps, then tasks that failed in the last 24 hours, then tasks in
progress, then waiting tasks with the reason, then groups with open tasks, then the
totals. Tasks that wait for the same reason share a row. For changes that wait for
your confirmation, coppice project confirm --dry-run shows everything.

With --watch it draws the summary again whenever something happens, until you press
Ctrl-C. If stdout is not a terminal, it prints one summary after the other, and with
--json one object per line.

With --disk it shows disk usage instead: for each project its workspaces, its own
repository, its trash and its sessions' output, then the database, the search index,
backups and running sessions. Counting takes up to 10 seconds. Sizes that are not
complete by then are marked with ≥.`,
		Example: `  coppice status
  coppice status --watch
  coppice status --disk
  coppice status --project app --json`,
		Args: args(0, 0, "no argument"),
	}
	c.Flags().StringVarP(&project, "project", "p", "", "only this project")
	c.Flags().BoolVarP(&watch, "watch", "w", false, "draw it again whenever something happens")
	c.Flags().BoolVar(&disk, "disk", false, "show disk usage")
	c.Flags().IntVar(&within, "within", 10, "with --disk: count for at most this many seconds, up to 50")
	c.MarkFlagsMutuallyExclusive("disk", "project")
	c.MarkFlagsMutuallyExclusive("disk", "watch")
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if within < 1 || within > 50 || c.Flags().Changed("within") && !disk {
			return wrongUse("--within is a number of seconds from 1 to 50, with --disk", "see coppice status --help")
		}
		return e.call(c, func(ctx context.Context, cl *client.Client) error {
			if disk {
				return e.disk(ctx, cl, within, *asJSON)
			}
			if watch {
				return e.watchStatus(ctx, cl, project, *asJSON)
			}
			st, err := readStatus(ctx, cl, project)
			switch {
			case err != nil:
				return err
			case *asJSON:
				return e.json(st)
			}
			e.printHealth(st.health)
			e.printStatus(st)
			return nil
		})
	}
	return c
}

// readStatus reads everything that a status shows. A server of an earlier release
// has no groups, and no health.
func readStatus(ctx context.Context, cl *client.Client, project string) (st statusShown, err error) {
	if st.Status, err = cl.Status(ctx, project); err != nil {
		return st, err
	}
	page, err := cl.OpenGroups(ctx, project)
	if err != nil && coppice.ErrorCode(err) != coppice.ENotFound {
		return st, err
	}
	st.Groups = page.Groups
	if h, err := cl.Health(ctx, false); err == nil {
		st.health = h.Problems
	}
	return st, nil
}

// statusShown is a status with the newest groups that have open tasks.
type statusShown struct {
	api.Status
	Groups []api.Group `json:"groups,omitempty"`
	health []api.HealthProblem
}

// printHealth prints one line if the server is not healthy. Problems that the
// status lists anyway do not count.
func (e *Env) printHealth(problems []api.HealthProblem) {
	shown := slices.DeleteFunc(slices.Clone(problems), func(p api.HealthProblem) bool { return p.Kind == "limit" || p.Kind == "database" })
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
	e.printFailed(st.Failed)
	if len(st.Active) > 0 {
		e.heading("In progress", len(st.Active))
		e.tasks(st.Active)
		e.printf("\n")
	}
	if waiting := st.Counts[coppice.StatusReady] + st.Counts[coppice.StatusWaiting]; waiting > 0 {
		e.heading("Waiting", waiting)
		e.grouped(st.Waiting)
		if more := waiting - len(st.Waiting); more > 0 {
			e.printf("%s\n", e.paint(dim, fmt.Sprintf("and %d more", more)))
		}
		e.printf("\n")
	}
	e.printGroups(st.Groups)
	for _, l := range st.Limited {
		e.printf("%s is unavailable (%s): %s\n", e.paint(bold, line(l.Agent)), e.until(l), line(l.Text))
	}
	for _, a := range st.Accounts {
		if a.Warning != "" {
			e.printf("%s %s\n", e.paint(yellow, "!"), line(a.Warning))
		}
	}
	for _, p := range st.Projects {
		state := fmt.Sprintf("%d of %s running", p.Running, count(p.Limit, "session"))
		if p.Parked > 0 {
			state += fmt.Sprintf(", %d parked", p.Parked)
		}
		for _, status := range []coppice.Status{coppice.StatusChecking, coppice.StatusLanding} { // without a session
			n := 0
			for _, t := range st.Active {
				if t.Project == p.Prefix && t.Status == status {
					n++
				}
			}
			if n > 0 {
				state += fmt.Sprintf(", %s %s", count(n, "task"), status)
			}
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

// mostFailed is how many failed tasks a status shows in full.
const mostFailed = 10

// printFailed prints the tasks that failed recently, with the reason and the
// command that helps. Tasks that failed for the same reason share an entry.
func (e *Env) printFailed(tasks []api.Task) {
	if len(tasks) == 0 {
		return
	}
	e.heading("Failed in the last 24 hours", len(tasks))
	for i, g := range byReason(tasks) {
		if i == mostFailed {
			e.printf("%s\n", e.paint(dim, "see all with: coppice list --status failed"))
			break
		}
		if len(g) == 1 {
			t := g[0]
			e.printf("%s  %s\n  %s\n  → %s\n", e.paint(red.Bold(true), t.Key), line(t.Title), line(t.Reason), failedStep(t))
			continue
		}
		e.printf("%s  %s\n  %s\n  → %s\n", e.paint(red.Bold(true), count(len(g), "task")), keysOf(g), line(g[0].Reason), retryAll(g))
	}
	e.printf("\n")
}

// failedStep returns what a person can do about a failed task.
func failedStep(t api.Task) string {
	if t.Fix != "" {
		return line(t.Fix)
	}
	return "coppice show " + t.Key + ", then coppice retry " + t.Key
}

// retryAll returns the command that retries several tasks of the same failure.
func retryAll(tasks []api.Task) string {
	if len(tasks) > mostFailed {
		return "coppice show " + tasks[0].Key + "; to retry all, run: coppice retry --project " + tasks[0].Project + " --all"
	}
	var keys []string
	for _, t := range tasks {
		keys = append(keys, t.Key)
	}
	return "coppice show " + tasks[0].Key + ", then coppice retry " + strings.Join(keys, " ")
}

// byReason groups tasks that have the same status for the same reason. A task
// without a reason is alone. The first task of each group decides the order.
func byReason(tasks []api.Task) (groups [][]api.Task) {
	at := map[string]int{}
	for _, t := range tasks {
		why := string(t.Status) + " " + t.Reason
		i, known := at[why]
		if !known || t.Reason == "" {
			at[why] = len(groups)
			groups = append(groups, []api.Task{t})
			continue
		}
		groups[i] = append(groups[i], t)
	}
	return groups
}

const (
	mostAlike = 3 // how many tasks with the same reason have their own rows
	mostNamed = 3 // how many keys a shared row names
)

// grouped prints a table of tasks. Many that wait for the same reason share a row.
func (e *Env) grouped(tasks []api.Task) {
	var shown []api.Task
	for _, g := range byReason(tasks) {
		if len(g) <= mostAlike {
			shown = append(shown, g...)
			continue
		}
		all := g[0]
		all.Key, all.Title, all.Agent, all.Usage, all.Flagged = count(len(g), "task"), keysOf(g), "", coppice.Usage{}, false
		for _, t := range g {
			if t.CreatedAt.Before(all.CreatedAt) {
				all.CreatedAt = t.CreatedAt
			}
		}
		shown = append(shown, all)
	}
	e.tasks(shown)
}

// keysOf names the first tasks, and how many more there are.
func keysOf(tasks []api.Task) string {
	var keys []string
	for _, t := range tasks[:min(len(tasks), mostNamed)] {
		keys = append(keys, t.Key)
	}
	text := strings.Join(keys, ", ")
	if more := len(tasks) - mostNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
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
