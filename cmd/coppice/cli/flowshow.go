package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

func (e *Env) flowList() *cobra.Command {
	var q client.FlowQuery
	var all, everywhere bool
	c := &cobra.Command{
		Use: "list", Short: "List flows, newest first",
		Long:    "List the flows of the current directory's project that have not ended, newest first, with how many steps are done and what they cost. With --all, also list those that have ended.",
		Example: "  coppice flow list\n  coppice flow list --all --project app", Args: args(0, 0, "no argument"),
	}
	f := c.Flags()
	f.StringVarP(&q.Project, "project", "p", "", "a project's prefix")
	f.BoolVarP(&all, "all", "a", false, "also flows that have ended")
	f.BoolVar(&everywhere, "everywhere", false, "the flows of all projects")
	f.IntVarP(&q.Limit, "limit", "n", 50, "at most this many flows, up to 100")
	beforeFlag(f, &q.Before)
	return shows(e, c, func(ctx context.Context, cl *client.Client, _ []string) (page api.FlowPage, err error) {
		q.Open = !all
		if err := e.inProject(ctx, cl, &q.Project, everywhere); err != nil {
			return page, err
		}
		return cl.Flows(ctx, q)
	}, func(page api.FlowPage) {
		listed(e, "no flows\n"+e.paint(dim, "start one with: coppice goal, cycle, debate or batch"), page.Flows, []column{{head: "KEY"}, {head: "KIND"}, {head: "STATUS"}, {head: "STEPS", end: true}, {head: "TIME", end: true}, {head: "COST", end: true}, {head: "TITLE", give: true}, {head: "NOTE", give: true}}, func(f api.Flow) []cell {
			t := f.Task
			return []cell{
				{t.Key, bold}, plain(string(f.Kind)), {statusWord(t), statusStyle(t.Status)}, plain(fmt.Sprintf("%d/%d", f.Done, f.Steps)),
				{ago(e.taskTime(t)), dim}, plain(money(f.Cost)), plain(t.Title), plain(reason(t)),
			}
		})
		e.morePages("flows", page.Next)
	})
}

// flowShown is a flow with the text of its plan.
type flowShown struct {
	api.FlowDetail
	plan string
}

func (e *Env) flowShow() *cobra.Command {
	c := &cobra.Command{
		Use: "show KEY", Short: "Show a flow with its plan and its steps",
		Long: `Show where a flow is, what it waits for, its plan, and each step with its state, agent,
time and cost. A step with [x] is done, with [!] it failed, and with [-] it was stopped or
no longer counts.`,
		Example: "  coppice flow show app-13\n  coppice flow show app-13 --json", Args: args(1, 1, "the key of a flow"),
	}
	return shows(e, c, func(ctx context.Context, cl *client.Client, given []string) (out flowShown, err error) {
		if out.FlowDetail, err = cl.Flow(ctx, given[0]); err != nil {
			return out, err
		}
		if out.Plan != "" {
			d, err := cl.Document(ctx, given[0], out.Plan, 0)
			if err != nil {
				return out, err
			}
			out.plan = d.Text
		}
		return out, nil
	}, e.printFlow)
}

func (e *Env) printFlow(f flowShown) {
	t := f.Task
	e.printHead(t)
	e.printf("\n")
	spent := fmt.Sprintf("$%.2f", f.Metrics.Cost)
	if t.Budget > 0 {
		spent += fmt.Sprintf(" of $%.2f", float64(t.Budget))
	}
	pairs := [][2]string{
		{"flow", string(f.Kind)}, {"group", t.Group}, {"branch", f.Branch}, {"landed as", short(t.Landed)}, {"cost", spent},
		{"worked", ago(f.Metrics.Worked.D())}, {"queued", ago(f.Metrics.Queued.D())},
	}
	if !f.Until.IsZero() && !t.Stage.Ended() {
		pairs = append(pairs, [2]string{"until", e.moment(f.Until)})
	}
	e.pairs(pairs)
	if f.plan != "" {
		e.printf("\n%s\n%s\n", e.paint(bold, "Plan"), indent(Clean(strings.TrimRight(f.plan, "\n"))))
	}
	e.printSteps(f.Steps)
	if len(f.Documents) > 0 {
		e.printf("\n%s\n", e.paint(bold, "Documents"))
		e.documents(f.Documents)
	}
	if f.Result != "" {
		e.printf("\n%s\n%s\n", e.paint(bold, "Result"), indent(Clean(strings.TrimRight(f.Result, "\n"))))
	}
}

// stepMarks are the check-boxes of steps by state.
var stepMarks = map[string]struct {
	box, mark string
	style     lipgloss.Style
}{
	"open": {"[ ]", "→", blue}, "done": {"[x]", "✓", green}, "failed": {"[!]", "✗", red}, "cancelled": {"[-]", "-", dim},
}

func (e *Env) printSteps(steps []api.FlowStep) {
	if len(steps) == 0 {
		return
	}
	e.printf("\n%s\n", e.paint(bold, "Steps"))
	rows := make([][]cell, len(steps))
	for i, s := range steps {
		mark := stepMarks[s.State]
		state := cell{string(s.Status), statusStyle(s.Status)}
		note := s.Says
		if s.State != "open" {
			note = coppice.FirstLine(s.Result)
		}
		if s.Waits != "" {
			note = s.Waits
		}
		if s.Left {
			mark, state = stepMarks["cancelled"], cell{"left out", dim}
		}
		key := line(s.Key)
		if s.Below != "" {
			key = "· " + key
		}
		rows[i] = []cell{
			{mark.box, mark.style}, {key, bold}, plain(s.Task), state, plain(s.Agent), {took(s), dim}, plain(money(s.Cost)), plain(note),
		}
	}
	e.table([]column{{}, {head: "STEP"}, {head: "KEY"}, {head: "STATE"}, {head: "AGENT"}, {head: "TIME", end: true}, {head: "COST", end: true}, {head: "NOTE", give: true}}, rows)
}

// took returns how long a step worked; empty if it has not started.
func took(s api.FlowStep) string {
	if s.Started.IsZero() {
		return ""
	}
	return ago(s.Took.D())
}

// errFollowed ends the follower of a flow.
var errFollowed = errors.New("the flow needs no more attention")

// flowFollower prints what changes in a flow.
type flowFollower struct {
	e     *Env
	cl    *client.Client
	key   string
	quiet bool
	panes *panes // that show it in tmux; nil for none
	flow  api.FlowDetail
	seen  map[string]string // what was printed last about each step, and under "" the note
}

// followFlow prints the steps of a flow as they start and end. It returns when the flow
// is done, or when only a person can continue it. Then the exit code is 1.
func (e *Env) followFlow(ctx context.Context, cl *client.Client, key string, asJSON bool, shown *panes) error {
	f := &flowFollower{e: e, cl: cl, key: key, quiet: asJSON, panes: shown, seen: map[string]string{}}
	if err := f.run(ctx); err != nil {
		return err
	}
	t := f.flow.Task
	switch {
	case asJSON:
		if err := e.json(f.flow); err != nil {
			return err
		}
	default:
		e.printHead(t)
		if f.flow.Result != "" {
			e.printf("%s\n", indent(Clean(strings.TrimRight(f.flow.Result, "\n"))))
		}
		e.printf("%s\n", e.paint(dim, "see its steps with: coppice flow show "+t.Key))
	}
	if t.Outcome != coppice.OutcomeDone {
		return exitState(exitFailed)
	}
	return nil
}

// run reads the flow again when an event is about it or one of its steps. It reads the
// position in the log first, so that no change is missed.
func (f *flowFollower) run(ctx context.Context) error {
	log, err := f.cl.Events(ctx, client.EventQuery{Limit: 1})
	if err == nil {
		err = f.read(ctx)
	}
	if errors.Is(err, errFollowed) {
		return nil
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	err = f.cl.FollowEvents(ctx, client.EventQuery{After: log.Last, Project: f.flow.Task.Project}, func(ev api.Event) error {
		ours := ev.TaskID == f.flow.Task.ID || slices.ContainsFunc(f.flow.Steps, func(s api.FlowStep) bool { return s.TaskID == ev.TaskID })
		if !ours || ev.Kind == coppice.EventSessionUsage || ev.Kind == coppice.EventReviewChanged {
			return nil // these are many, and no state depends on them
		}
		return f.read(ctx)
	}, func(api.Bounds) {
		if err := f.read(ctx); err != nil {
			cancel(err)
		}
	})
	if errors.Is(err, errFollowed) {
		return nil
	}
	return err
}

// read reads the flow and prints what has changed. It returns errFollowed when there is
// nothing to wait for. If the server restarts at this moment, it waits for it.
func (f *flowFollower) read(ctx context.Context) error {
	for n := 1; ; n++ {
		flow, err := f.cl.Flow(ctx, f.key)
		if err == nil {
			f.flow = flow
			break
		}
		if coppice.ErrorCode(err) != coppice.EUnavailable {
			return err
		}
		if err := f.cl.WaitAgain(ctx, n, err); err != nil {
			return err
		}
	}
	if !f.quiet {
		f.print()
	}
	if f.panes != nil {
		f.panes.show(ctx, f.key, f.flow.Steps)
	}
	w := waiter{flags: waitFlags{until: "landed"}}
	if w.progress(f.flow.Task.Task) != pending {
		return errFollowed
	}
	return nil
}

func (f *flowFollower) print() {
	if note := f.flow.Note; note != "" && note != f.seen[""] {
		f.seen[""] = note
		f.e.printf("%s\n", f.e.paint(dim, line(note)))
	}
	for _, s := range f.flow.Steps {
		now := ""
		switch {
		case s.Left:
			continue
		case s.State != "open":
			now = s.State
		case s.Status == coppice.StatusNeedsYou:
			now = "needs you: " + s.Waits
		case !s.Started.IsZero():
			now = "started"
		}
		if now == "" || now == f.seen[s.Task] || now == "started" && f.seen[s.Task] != "" {
			continue
		}
		f.seen[s.Task] = now
		f.e.printStep(s)
	}
}

// printStep prints one line about a step that started, ended or needs a person.
func (e *Env) printStep(s api.FlowStep) {
	mark := stepMarks[s.State]
	text := line(s.Title)
	switch {
	case s.State == "done":
		text = strings.TrimSpace("done in " + ago(s.Took.D()) + "  " + money(s.Cost))
	case s.State != "open":
		text = line(s.State + ": " + coppice.FirstLine(s.Result))
	case s.Status == coppice.StatusNeedsYou:
		mark.mark, mark.style = "!", yellow.Bold(true)
		text = line("needs you: " + s.Waits)
		if s.Fix != "" {
			text += " → " + line(s.Fix)
		}
	}
	e.printf("%s %s  %s  %s  %s\n", e.paint(mark.style, mark.mark), e.paint(bold, line(s.Key)), s.Task, line(s.Agent), text)
}

// flowText says which kind of flow a task is, or of which flow it is a step.
func flowText(t api.Task) string {
	switch {
	case t.Flow != nil && t.Flow.Note != "" && t.Flow.Note != t.Reason:
		return string(t.Flow.Kind) + ": " + t.Flow.Note
	case t.Flow != nil:
		return string(t.Flow.Kind)
	case t.Step != nil:
		return "step " + t.Step.Key + " of " + t.Step.Flow
	}
	return ""
}
