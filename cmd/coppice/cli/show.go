package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

func (e *Env) showCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "show KEY",
		Short:   "Show a task in detail",
		Long:    "Show a task's description, its status with the reason, its answer, sessions, verdicts, landings, checks, questions and messages.",
		Example: "  coppice show app-4\n  coppice show app-4 --json",
		Args:    args(1, 1, "a task's key"),
	}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		return e.call(c, func(ctx context.Context, cl *client.Client) error {
			t, err := cl.Task(ctx, given[0])
			if err != nil {
				return err
			}
			if err := wholeTexts(ctx, cl, &t, *asJSON); err != nil {
				return err
			}
			if *asJSON {
				return e.json(t)
			}
			pictures, err := countImages(ctx, cl, t.History)
			if err != nil {
				return err
			}
			e.printTask(t, pictures)
			return nil
		})
	}
	return c
}

// wholeTexts gets the texts that the server cut: those that are printed, or
// all.
func wholeTexts(ctx context.Context, cl *client.Client, t *api.TaskDetail, all bool) (err error) {
	for i := range t.CheckRuns {
		if c := &t.CheckRuns[i]; err == nil && c.Cut && (all || !c.Passed()) {
			c.Log, err = cl.CheckLog(ctx, t.Key, c.ID)
		}
	}
	for i := range t.Landings {
		if l := &t.Landings[i]; err == nil && all && l.Cut {
			l.Evidence, err = cl.Evidence(ctx, t.Key, l.ID)
		}
	}
	return err
}

// printTask prints all of a task. pictures has how many each session took.
func (e *Env) printTask(t api.TaskDetail, pictures map[string]int) {
	e.printHead(t)
	e.printf("\n")
	e.fields(t)
	if t.Body != "" {
		e.printf("\n%s\n", indent(Clean(strings.TrimRight(t.Body, "\n"))))
	}
	e.printContext(t.Context)
	e.printAnswer(t.Answer)
	e.printChanged(t)
	e.printChildren(t)
	e.printQuestions(t.Questions)
	e.printSessions(t.History)
	e.printVerdicts(t.History)
	e.printImages(t.History, pictures)
	e.printLandings(t)
	e.printRunning(t.Running)
	e.printMessages(t.Messages)
}

// printChildren prints the tasks that the agents of a task created, or the steps of a
// flow.
func (e *Env) printChildren(t api.TaskDetail) {
	if len(t.Children) == 0 {
		return
	}
	head := "Tasks that its agents created"
	if t.Flow != nil {
		head = "Steps"
	}
	e.printf("\n%s\n", e.paint(bold, head))
	for _, c := range t.Children {
		text := string(c.Status)
		if c.Reason != "" {
			text += ": " + c.Reason
		}
		e.printf("  %s  %s  %s\n", c.Key, e.paint(statusStyle(c.Status), line(text)), line(c.Title))
	}
	if t.Flow != nil {
		e.printf("%s\n", e.paint(dim, "  more about them: coppice flow show "+t.Key))
	}
}

// printHead prints a task's title, its status, and what to do about it.
func (e *Env) printHead(t api.TaskDetail) {
	e.printf("%s  %s\n", e.paint(bold, t.Key), e.paint(bold, line(t.Title)))
	state := e.paint(statusStyle(t.Status), statusWord(t.Task))
	if t.Reason != "" {
		state += ": " + line(t.Reason)
	}
	e.printf("%s\n", state)
	if t.Report != "" {
		e.printf("reports: %s\n", line(t.Report))
	}
	if t.Status == coppice.StatusNeedsYou || t.Fix != "" {
		e.printf("→ %s\n", nextStep(t.Task))
	}
}

// imageCount describes the images of a task.
func imageCount(images []coppice.Image) string {
	size := int64(0)
	for _, i := range images {
		size += i.Size
	}
	if len(images) == 0 {
		return ""
	}
	return count(len(images), "image") + ", " + bytesOf(size)
}

// fields prints the fields of a task, one per line.
func (e *Env) fields(t api.TaskDetail) {
	agent := t.Agent
	if t.Model != "" {
		agent += " (" + t.Model
		if t.Level != "" {
			agent += ": " + t.Level + ", judged by " + t.LevelBy
		}
		agent += ")"
	}
	created := t.Parent
	if t.Step != nil {
		created = ""
	}
	pairs := [][2]string{
		{"agent", agent},
		{"track", t.Track},
		{"priority", fmt.Sprintf("%+d", t.Priority)},
		{"created", e.moment(t.CreatedAt) + ", " + ago(e.Now().Sub(t.CreatedAt)) + " ago"},
		{"created for", created},
		{"flow", flowText(t.Task)},
		{"after", strings.Join(t.After, ", ")},
		{"before", strings.Join(t.Dependants, ", ")},
		{"checks", strings.Join(t.Checks, "; ")},
		{"left out", strings.Join(t.Skipped, "; ")},
		{"effort", t.Effort},
		{"retry", t.Retry},
		{"completion", strings.Join(t.Completion, ", ")},
		{"images", imageCount(t.Images)},
		{"issue", issueName(t.Issue)},
		{"forked from", t.ForkOf},
		{"group", t.Group},
		{"labels", strings.Join(t.Labels, ", ")},
	}
	if t.Priority == 0 {
		pairs[2][1] = ""
	}
	if t.Flow != nil {
		pairs[0][1] = "" // its steps have agents
	}
	if !t.NotBefore.IsZero() {
		pairs = append(pairs, [2]string{"not before", e.moment(t.NotBefore)})
	}
	switch {
	case t.Workspace != nil:
		pairs = append(pairs, [2]string{"branch", t.Workspace.Branch}, [2]string{"workspace", t.Workspace.Path})
	case t.Checkout:
		pairs = append(pairs, [2]string{"workspace", "none: your own checkout"})
	case t.Branch != "":
		pairs = append(pairs, [2]string{"branch", t.Branch})
	}
	pairs = append(pairs, [2]string{"strays", strayText(t.Strays)})
	if slices.Contains(t.Can, coppice.VerbDropBranches) {
		pairs = append(pairs, [2]string{"", "remove them with: coppice drop-branches " + t.Key})
	}
	if p := t.Pull; p != nil {
		pairs = append(pairs, [2]string{"request", pullLine(*p)})
	}
	for _, r := range t.Reactions[max(0, len(t.Reactions)-mostReactions):] {
		pairs = append(pairs, [2]string{"reaction", reactionLine(r.Reacted)})
	}
	if t.Landed != "" {
		pairs = append(pairs, [2]string{"landed as", short(t.Landed)})
	}
	if r := t.Reverted; r != nil {
		pairs = append(pairs, [2]string{"reverted", fmt.Sprintf("%s, which had landed: %s, %s", short(r.Commit), t.RevertText, e.moment(r.At))})
	}
	if !t.EndedAt.IsZero() {
		pairs = append(pairs, [2]string{"took", ago(t.EndedAt.Sub(t.CreatedAt))})
	}
	spent := cost(t.Usage)
	if t.Flow != nil {
		spent = money(t.Usage.CostUSD + float64(t.Below)) // its steps cost, not the flow
	}
	if t.Budget > 0 {
		spent = fmt.Sprintf("%s of $%.2f", cmp.Or(spent, "$0.00"), float64(t.Budget))
	}
	pairs = append(pairs, [2]string{"cost", spent}, [2]string{"limits", t.LimitsText})
	e.pairs(pairs)
}

// pairs prints names and values, one pair per line, without those that are empty.
func (e *Env) pairs(list [][2]string) {
	for _, p := range list {
		if p[1] != "" {
			e.printf("%s %s\n", e.paint(dim, fmt.Sprintf("%-10s", p[0])), line(p[1]))
		}
	}
}

// strayText lists the branches that agents created besides the task's.
func strayText(list []coppice.StrayBranch) string {
	texts := make([]string, len(list))
	for i, b := range list {
		texts[i] = b.Name + " at " + short(b.Head)
		if b.Ref != "" {
			texts[i] += " (in the trash)"
		}
	}
	return strings.Join(texts, ", ")
}

// printContext prints the context values of a task, by name.
func (e *Env) printContext(values map[string]string) {
	if len(values) == 0 {
		return
	}
	e.printf("\n%s\n", e.paint(bold, "Context"))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		e.printf("  %s = %s\n", line(name), line(values[name]))
	}
}

// printAnswer prints the answer of a task.
func (e *Env) printAnswer(a *coppice.Answer) {
	if a == nil {
		return
	}
	text := a.Text
	if a.Value != nil {
		var b bytes.Buffer
		if err := json.Indent(&b, a.Value, "", "  "); err == nil {
			text = b.String()
		}
	}
	e.printf("\n%s\n%s\n", e.paint(bold, "Answer"), indent(Clean(strings.TrimRight(text, "\n"))))
}

// printChanged prints what a task changed in the person's checkout, if it works there.
func (e *Env) printChanged(t api.TaskDetail) {
	if n := len(t.History); t.Checkout && n > 0 && t.History[n-1].Stat != "" {
		e.printf("\n%s\n%s\n", e.paint(bold, "Changed in your checkout"), indent(Clean(t.History[n-1].Stat)))
	}
}

func (e *Env) printSessions(sessions []coppice.Session) {
	if len(sessions) == 0 {
		return
	}
	e.printf("\n%s\n", e.paint(bold, "Sessions"))
	rows := make([][]cell, len(sessions))
	for i, s := range sessions {
		end, note := e.Now(), s.Warning
		if !s.EndedAt.IsZero() {
			end, note = s.EndedAt, s.Summary
		}
		state := string(s.State)
		switch {
		case s.Failure != nil:
			note = s.Failure.Text
		case s.Rests():
			note = "stopped while it was parked; its conversation continues"
		case s.Parked():
			state += ", parked"
		}
		rows[i] = []cell{
			{s.Key, bold}, plain(string(s.Role)), plain(state), plain(s.Agent),
			{ago(end.Sub(s.CreatedAt)), dim}, plain(cost(s.Usage)), plain(note),
		}
	}
	e.table([]column{{head: "KEY"}, {head: "ROLE"}, {head: "STATE"}, {head: "AGENT"}, {head: "TIME", end: true}, {head: "COST", end: true}, {head: "NOTE", give: true}}, rows)
	for _, s := range sessions {
		if s.Dropped > 0 {
			e.printf("%s\n", e.paint(dim, fmt.Sprintf("%s: %v of its output was not kept (limits.output)", s.Key, coppice.Bytes(s.Dropped))))
		}
	}
}

// printVerdicts prints each verifier's verdict on each step.
func (e *Env) printVerdicts(sessions []coppice.Session) {
	for _, s := range sessions {
		if s.Verdict == nil {
			continue
		}
		e.printf("\n%s\n", e.paint(bold, "Verdict of "+s.Key))
		for _, step := range s.Verdict.Steps {
			mark := e.paint(red, "✗")
			if step.Pass {
				mark = e.paint(green, "✓")
			}
			e.printf("  %s %d. %s\n", mark, step.N, line(step.Text))
			if step.Evidence != "" {
				e.printf("%s\n", indent(indent(indent(Clean(strings.TrimRight(step.Evidence, "\n"))))))
			}
		}
		if s.Verdict.Summary != "" {
			e.printf("%s\n", indent(Clean(strings.TrimRight(s.Verdict.Summary, "\n"))))
		}
	}
}

func (e *Env) printLandings(t api.TaskDetail) {
	if len(t.Landings) == 0 {
		return
	}
	e.printf("\n%s\n", e.paint(bold, "Landings"))
	for _, l := range t.Landings {
		state := string(l.State)
		switch {
		case l.State == coppice.LandingWaits && strings.HasPrefix(l.StateText, "waiting "):
			state = l.StateText
		case l.State == coppice.LandingWaits:
			state += ": " + l.StateText
		case l.Failure != nil && !l.EndedAt.IsZero():
			state += ": " + l.Failure.Text
		}
		if l.Verified {
			state += ", verified"
		}
		if l.ApprovedBy != "" {
			state += ", approved by " + strings.TrimPrefix(l.ApprovedBy, "person:")
		}
		if l.Pushed {
			state += ", pushed"
		}
		e.printf("%s  %s\n", short(l.Head), line(state))
		for _, k := range t.CheckRuns {
			if k.LandingID == l.ID {
				e.printCheck(k)
			}
		}
	}
}

func (e *Env) printCheck(k api.Check) {
	mark := e.paint(green, "✓")
	if !k.Passed() {
		mark = e.paint(red, "✗")
	}
	note := ago(k.Took)
	if k.Killed() {
		mark, note = e.paint(yellow, "!"), "killed by "+k.Signal+" after "+note
	} else if k.TimedOut {
		note = "ran out of time after " + note
	}
	if k.OnBase {
		note = "on the base, without its work, " + note
	}
	e.printf("  %s %s %s\n", mark, line(k.Command), e.paint(dim, note))
	if k.Passed() {
		return
	}
	const tail = 10
	lines := strings.Split(strings.TrimRight(Clean(k.Log), "\n"), "\n")
	if len(lines) > tail {
		e.printf("%s\n", e.paint(dim, fmt.Sprintf("    … %d earlier lines; --json has all", len(lines)-tail)))
		lines = lines[len(lines)-tail:]
	}
	for _, l := range lines {
		e.printf("    %s\n", l)
	}
}

func (e *Env) printQuestions(questions []api.Question) {
	if len(questions) == 0 {
		return
	}
	e.printf("\n%s\n", e.paint(bold, "Questions"))
	for _, q := range questions {
		e.printf("%d. %s\n", q.ID, line(q.Text))
		e.printOptions("   ", q)
		switch {
		case q.Answer != "":
			e.printf("   %s %s\n", e.paint(dim, "answered:"), line(q.Answer))
		case !q.Open:
			e.printf("   %s\n", e.paint(dim, "withdrawn"))
		}
	}
}

// printOptions prints the options of a question with their numbers, which are
// answers.
func (e *Env) printOptions(indent string, q api.Question) {
	for _, o := range e.optionLines(q.Options, q.Descriptions, q.Several) {
		e.printf("%s%s\n", indent, o)
	}
}

// optionLines returns a line for each option, with its number and description.
func (e *Env) optionLines(options, descriptions []string, several bool) (lines []string) {
	for i, o := range options {
		text := fmt.Sprintf("%d. %s", i+1, line(o))
		if i < len(descriptions) && descriptions[i] != "" {
			text += "  " + e.paint(dim, line(descriptions[i]))
		}
		lines = append(lines, text)
	}
	if several && len(options) > 1 {
		lines = append(lines, e.paint(dim, "several answers are possible, for example: 1,2"))
	}
	return lines
}

func (e *Env) printMessages(messages []api.TaskMessage) {
	if len(messages) == 0 {
		return
	}
	e.printf("\n%s\n", e.paint(bold, "Messages"))
	for _, m := range messages {
		state := line(m.StateText)
		if m.State == coppice.MessageDelivered {
			state += " " + e.moment(m.DeliveredAt)
		}
		text := line(m.Text)
		if m.Kind != coppice.MessageNow {
			text = strings.TrimSpace(m.Kind + ": " + text)
		}
		e.printf("%s  %s %s\n", e.moment(m.SentAt), strings.TrimSuffix(text, ":"), e.paint(dim, "("+state+")"))
	}
}

func indent(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") }
