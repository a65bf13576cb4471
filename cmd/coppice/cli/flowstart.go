package cli

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

// flowFlags are the flags that start a flow of any kind.
type flowFlags struct {
	project, budget, time, group string
	after                        []string
	noServe, json                bool
	follow                       bool   // until the flow has ended or needs a person
	tmux                         string // the socket of the tmux that shows it; empty for none
}

// spec is what a kind of flow has to know. Fields that nobody set are absent, so that
// the kind fills in its defaults.
type spec map[string]any

// set adds a field unless its value is the zero value.
func set[T comparable](s spec, name string, value T) {
	if value != *new(T) {
		s[name] = value
	}
}

// flowCommandOf completes a command that starts a flow. make returns the flow without
// what the flags say that every kind has.
func (e *Env) flowCommandOf(c *cobra.Command, f *flowFlags, kind coppice.FlowKind, make func(c *cobra.Command, given []string) (coppice.NewTask, spec, error)) *cobra.Command {
	fl := c.Flags()
	fl.StringVar(&f.budget, "budget", "", "the most to spend on the whole flow, in dollars")
	fl.StringVar(&f.time, "time", "", "how long the whole flow can take, such as 8h")
	fl.StringSliceVar(&f.after, "after", nil, "keys of tasks that must be done first (repeatable)")
	fl.StringVar(&f.group, "group", "", "the group of the flow and its steps; the default is a new one")
	fl.StringVarP(&f.project, "project", "p", "", "a project's prefix, instead of the current directory's")
	fl.BoolVar(&f.noServe, "no-serve", false, "do not start a server if none is running")
	fl.BoolVar(&f.json, "json", false, "print JSON for programs")
	c.RunE = func(c *cobra.Command, given []string) error {
		task, s, err := make(c, given)
		if err != nil {
			return err
		}
		if task.Budget, err = amount(f.budget); err != nil {
			return err
		}
		limit, err := duration(f.time)
		if err != nil {
			return err
		}
		task.After, task.Group = f.after, f.group
		task.Flow = &coppice.NewFlow{Kind: kind, Spec: coppice.Raw(s), Time: limit}
		return e.startFlow(c, task, *f)
	}
	return c
}

// startFlow creates a flow. Then it follows the flow, or prints the next command.
func (e *Env) startFlow(c *cobra.Command, task coppice.NewTask, f flowFlags) error {
	var shown *panes
	if f.tmux != "" {
		var err error
		if shown, err = e.panesFor(f.tmux); err != nil {
			return err
		}
		defer func() { shown.close(context.WithoutCancel(c.Context())) }()
	}
	return e.inProjectOf(c, f.project, f.noServe, func(ctx context.Context, cl *client.Client, project string) error {
		made, err := cl.CreateTasks(ctx, project, []coppice.NewTask{task})
		if err != nil {
			return err
		}
		t := made[0]
		switch {
		case f.follow && f.json:
			fmt.Fprintf(e.Stderr, "%s  %s\n", t.Key, line(t.Title)) // stdout has only the final state
			return e.followFlow(ctx, cl, t.Key, true, shown)
		case f.json:
			return e.json(t)
		}
		e.printf("%s  %s\n", e.paint(bold, t.Key), line(t.Title))
		if f.follow {
			return e.followFlow(ctx, cl, t.Key, false, shown)
		}
		e.printf("%s\n", e.paint(dim, "see its steps with: "+followCommand(t)))
		return nil
	})
}

// followCommand returns the command that shows how far a new task is.
func followCommand(t api.Task) string {
	if t.Flow != nil {
		return "coppice flow show " + t.Key
	}
	return "coppice logs -f " + t.Key
}

// givenText returns the title and the description of a flow from its argument. A text
// of several lines is the description, and the server makes a title from it.
func (e *Env) givenText(given []string, what string) (coppice.NewTask, error) {
	text := strings.Join(given, "")
	if text == "-" {
		b, err := e.readFile("-", coppice.MaxBody)
		if err != nil {
			return coppice.NewTask{}, err
		}
		text = string(b)
	}
	return describedBy(text, what)
}

func describedBy(text, what string) (coppice.NewTask, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return coppice.NewTask{}, wrongUse("the text is empty", "say "+what)
	}
	if strings.Contains(text, "\n") || len(text) > coppice.MaxTitle {
		return coppice.NewTask{Body: text}, nil
	}
	return coppice.NewTask{Title: text}, nil
}

func waitFlag(c *cobra.Command, f *flowFlags) {
	c.Flags().BoolVar(&f.follow, "wait", false, "print the steps as they start and end, until the flow is done or needs you; exit with 1 unless it is done")
}

func (e *Env) goalCommand() *cobra.Command {
	var f flowFlags
	var file, lead, verifier string
	var agents []string
	var workers, rounds int
	var plan, interactive, noWait bool
	c := &cobra.Command{
		Use: "goal [TEXT]", Short: "Reach a goal with a lead agent and its workers",
		Long: `Start a flow in which one agent, the lead, hands out work to other agents. Their work
lands on the flow's own branch, so that reviewers and verifiers see the real state. When
the lead says that the goal is reached, and the result is verified, the branch lands as
one change.

The goal is TEXT, or a file with --file. With --interactive, paste it into the terminal:
a line with /end, or two blank lines, ends it. A text above 8 KiB is better in a file.

With --plan, the lead first writes a plan. The flow waits until you have read it. To
change it, run coppice flow doc KEY plan --edit. To continue, run coppice flow resume KEY.

The command prints the steps as they start and end. It exits with 0 when the goal is
reached, and with 1 if the flow failed, was stopped or needs you. With --no-wait it only
prints the key.

With --tmux, a session of tmux has a pane for each agent that works: the lead on top, and
its workers below, at most 5 panes in a window. Panes appear and disappear with the steps.
Closing the session, or a pane, does not stop the goal. The session ends with the command.
--tmux=NAME uses the server of tmux -L NAME.`,
		Example: `  coppice goal "Move the parser to the new tokenizer"
  coppice goal --file design.md --agents one-agent,other-agent --lead one-agent --budget 20 --time 8h
  coppice goal "Add import from CSV" --plan --no-wait
  coppice goal "Add import from CSV" --tmux`,
		Args: args(0, 1, "one text"),
	}
	fl := c.Flags()
	fl.StringVar(&file, "file", "", "read the goal from a file; - is stdin")
	fl.BoolVarP(&interactive, "interactive", "i", false, "paste the goal into the terminal")
	fl.StringSliceVar(&agents, "agents", nil, "the agents that work on it; the default is all that the project can use")
	fl.StringVar(&lead, "lead", "", "the agent that leads, as agent or agent:model; the default is the one with the best score")
	fl.IntVar(&workers, "workers", 0, "how many workers can work at the same time, from 1 to 20; the default is goal.workers of coppice.yaml, or 4")
	fl.IntVar(&rounds, "rounds", 0, "the most rounds of fixes after a verification that failed, from 1 to 10; the default is 3")
	fl.StringVar(&verifier, "verifier", "", "the agent that verifies the result, as agent or agent:model; the default is another agent than the lead")
	fl.BoolVar(&plan, "plan", false, "the lead first writes a plan, and waits for you")
	fl.BoolVar(&noWait, "no-wait", false, "print the key, and do not follow the flow")
	fl.StringVar(&f.tmux, "tmux", "", "show the lead and its workers in a session of tmux, or of tmux -L `NAME`")
	fl.Lookup("tmux").NoOptDefVal = userTmux
	c.MarkFlagsMutuallyExclusive("no-wait", "tmux")
	return e.flowCommandOf(c, &f, coppice.FlowGoal, func(c *cobra.Command, given []string) (t coppice.NewTask, s spec, err error) {
		f.follow = !noWait
		const what = `what to reach: coppice goal "Move the parser to the new tokenizer"`
		switch {
		case len(given) > 0 && file != "" || len(given) > 0 && interactive || file != "" && interactive:
			return t, nil, wrongUse("the goal was given twice", "use a text, --file or --interactive")
		case file != "":
			var b []byte
			if b, err = e.readFile(file, coppice.MaxBody); err == nil {
				t, err = describedBy(string(b), what)
			}
		case interactive:
			var text string
			if text, err = e.paste("Paste the goal. End it with a line /end, or with two blank lines."); err == nil {
				t, err = describedBy(text, what)
			}
		default:
			t, err = e.givenText(given, what)
		}
		s = spec{}
		set(s, "lead", lead)
		set(s, "workers", workers)
		set(s, "rounds", rounds)
		set(s, "verifier", verifier)
		set(s, "plan", plan)
		if len(agents) > 0 {
			s["agents"] = agents
		}
		return t, s, err
	})
}

// The sizes of a pasted text.
const (
	longPaste = 8 << 10
	mostPaste = 64 << 10
)

// paste reads a text from the terminal, up to a line with /end, two blank lines, or the
// end of the input.
func (e *Env) paste(prompt string) (string, error) {
	fmt.Fprintln(e.Stderr, prompt)
	in := bufio.NewScanner(e.Stdin)
	in.Buffer(nil, mostPaste+2)
	var text strings.Builder
	for blank := 0; in.Scan(); {
		l := strings.TrimRight(in.Text(), "\r")
		if l == "/end" {
			break
		}
		if blank++; strings.TrimSpace(l) != "" {
			blank = 0
		}
		if blank == 2 && strings.TrimSpace(text.String()) != "" {
			break
		}
		text.WriteString(l + "\n")
		if text.Len() > mostPaste {
			break
		}
	}
	if in.Err() != nil || text.Len() > mostPaste {
		return "", coppice.Errorf(coppice.ETooLarge, "the text has more than 64 KiB").WithFix("write it to a file, and use --file")
	}
	if text.Len() > longPaste {
		fmt.Fprintf(e.Stderr, "the text has %s; terminals can lose characters of a text above 8 KiB, so --file is safer\n", bytesOf(int64(text.Len())))
	}
	return text.String(), nil
}

func (e *Env) cycleCommand() *cobra.Command {
	var f flowFlags
	var implementer, reviewer, verify string
	var cycles, tries int
	var threshold float64
	var untilDone []string
	c := &cobra.Command{
		Use: "cycle TEXT", Short: "Plan, implement and review in cycles until the plan is done",
		Long: `Start a flow that first writes a plan with milestones. Then a reviewer checks the
milestones and says what is missing, and an implementer works on it, until enough
milestones are done. With --verify, the result is also tried as the text says. The work
of all cycles is on the flow's own branch, which lands as one change at the end.

The plan is a document of the flow, which you can read and edit at any time: see
coppice flow doc. A flow that makes no progress waits for you and says why.

The phases are assess, review, implement and verify. The --phase flags limit the sessions
of one phase.`,
		Example: `  coppice cycle "Add import from CSV, with tests and documentation"
  coppice cycle - --implementer one-agent --reviewer other-agent --cycles 5 --threshold 0.9 < plan.md
  coppice cycle "Rework the start page" --verify "run npm start and open /" --phase-turns implement=200 --wait`,
		Args: args(1, 1, "one text"),
	}
	fl := c.Flags()
	fl.StringVar(&implementer, "implementer", "", "who plans and implements, as agent or agent:model")
	fl.StringVar(&reviewer, "reviewer", "", "who reviews and verifies, as agent or agent:model; the default is another agent")
	fl.IntVar(&cycles, "cycles", 0, "the most cycles, from 1 to 50; the default is 10")
	fl.Float64Var(&threshold, "threshold", 0, "the share of milestones that must be done, from 0.1 to 1; the default is 1")
	fl.StringVar(&verify, "verify", "", "how to start or try the result; without it, nothing is tried after the last review")
	fl.IntVar(&tries, "verify-tries", 0, "how often work that was not verified is fixed; the default is 2")
	for name, about := range map[string]string{
		"turns": "the most turns of each session, such as implement=200,review=40", "time": "how long each session can work, such as implement=1h",
		"budget": "the most to spend on each step, in dollars, such as implement=5",
	} {
		fl.StringSlice("phase-"+name, nil, "by phase: "+about)
	}
	fl.StringSliceVar(&untilDone, "phase-until-done", nil, "phases whose sessions work until they are done")
	waitFlag(c, &f)
	return e.flowCommandOf(c, &f, coppice.FlowCycle, func(c *cobra.Command, given []string) (coppice.NewTask, spec, error) {
		t, err := e.givenText(given, `what to do: coppice cycle "Add import from CSV"`)
		s := spec{}
		set(s, "implementer", implementer)
		set(s, "reviewer", reviewer)
		set(s, "cycles", cycles)
		set(s, "threshold", threshold)
		set(s, "verify", verify)
		if c.Flags().Changed("verify-tries") {
			s["verify_tries"] = tries
		}
		if err == nil {
			err = phaseLimits(c, s, untilDone)
		}
		return t, s, err
	})
}

// phases are the phases of a cycle that have limits.
var phases = []string{"assess", "review", "implement", "verify"}

// phaseLimits adds the limits of phases to the spec of a cycle.
func phaseLimits(c *cobra.Command, s spec, untilDone []string) error {
	all := map[string]map[string]any{}
	add := func(phase, name string, value any) error {
		if !slices.Contains(phases, phase) {
			return wrongUse(fmt.Sprintf("%s is not a phase of a cycle", coppice.Quote(phase)), "use one of: "+strings.Join(phases, ", "))
		}
		if all[phase] == nil {
			all[phase] = map[string]any{}
		}
		all[phase][name] = value
		s["limits"] = all
		return nil
	}
	read := map[string]func(string) (any, error){
		"turns":  func(v string) (any, error) { return number(v) },
		"time":   func(v string) (any, error) { return duration(v) },
		"budget": func(v string) (any, error) { return amount(v) },
	}
	for name, parse := range read {
		values, err := c.Flags().GetStringSlice("phase-" + name)
		if err != nil {
			return err
		}
		for _, given := range values {
			phase, text, ok := strings.Cut(given, "=")
			if !ok {
				return wrongUse(fmt.Sprintf("%s does not name a phase and a value", coppice.Quote(given)), fmt.Sprintf("write --phase-%s implement=VALUE", name))
			}
			value, err := parse(text)
			if err == nil {
				err = add(phase, name, value)
			}
			if err != nil {
				return err
			}
		}
	}
	for _, phase := range untilDone {
		if err := add(phase, "until_done", true); err != nil {
			return err
		}
	}
	return nil
}

func number(s string) (n int, err error) {
	if _, err := fmt.Sscanf(s, "%d", &n); err != nil || fmt.Sprint(n) != s {
		return 0, wrongUse(fmt.Sprintf("%s is not a number", coppice.Quote(s)), "write a number, such as implement=200")
	}
	return n, nil
}

func (e *Env) debateCommand() *cobra.Command {
	var f flowFlags
	var between []string
	var rounds, loops, verifyRounds int
	var action, actionBy string
	var verify bool
	c := &cobra.Command{
		Use: "debate TEXT", Short: "Let two agents discuss a question until they agree",
		Long: `Start a flow in which two agents answer a question independently, then read each other's
answers and reply, until they agree or the rounds are over. The result is a summary, which
is a document of the flow: coppice flow doc KEY summary.

With --action, one side then does something with the result. Its work lands on the flow's
own branch. With --verify, the other side verifies it, and the first one fixes what it
finds. --loops repeats everything, each time with the summary of the time before.`,
		Example: `  coppice debate "Should we store events in SQLite or in files?" --between one-agent,other-agent
  coppice debate "How can the tests be faster?" --between one-agent:large,one-agent:small --rounds 2 --wait
  coppice debate "What is missing in the documentation?" --between one-agent,other-agent --action "Write it" --verify`,
		Args: args(1, 1, "one text"),
	}
	fl := c.Flags()
	fl.StringSliceVar(&between, "between", nil, "the two sides, as agent or agent:model; the default is the two best agents")
	fl.IntVar(&rounds, "rounds", 0, "the most rounds, from 1 to 10; the default is 3")
	fl.IntVar(&loops, "loops", 0, "how often everything is repeated, from 1 to 20; the default is 1")
	fl.StringVar(&action, "action", "", "what one side does after the rounds")
	fl.StringVar(&actionBy, "action-by", "", "the side that does it; the default is the first one")
	fl.BoolVar(&verify, "verify", false, "the other side verifies the action")
	fl.IntVar(&verifyRounds, "verify-rounds", 0, "the most verifications of an action, from 1 to 10; the default is 3")
	waitFlag(c, &f)
	return e.flowCommandOf(c, &f, coppice.FlowDebate, func(c *cobra.Command, given []string) (coppice.NewTask, spec, error) {
		t, err := e.givenText(given, `what to discuss: coppice debate "SQLite or files?" --between one-agent,other-agent`)
		s := debateSpec(between, rounds)
		set(s, "loops", loops)
		set(s, "action", action)
		set(s, "action_by", actionBy)
		set(s, "verify", verify)
		set(s, "verify_rounds", verifyRounds)
		return t, s, err
	})
}

func debateSpec(between []string, rounds int) spec {
	s := spec{}
	set(s, "rounds", rounds)
	if len(between) > 0 {
		s["between"] = between
	}
	return s
}

// debateFlags adds the flags of new for a debate about the task.
func debateFlags(c *cobra.Command, f *newFlags) {
	c.Flags().BoolVar(&f.debateFirst, "debate-first", false, "two agents discuss it first, and its agent starts with their summary")
	c.Flags().StringSliceVar(&f.between, "between", nil, "with --debate-first: the two sides, as agent or agent:model")
}

// debatedFirst returns the flow that debates about a task before the task starts. What
// the task waits for, the debate waits for.
func debatedFirst(tasks []coppice.NewTask, between []string) ([]coppice.NewTask, error) {
	then := tasks[0]
	if then.Answer || then.Workspace == coppice.WorkspaceNone {
		return nil, wrongUse("a debate comes only before a task that lands", "leave out --debate-first, --answer or --workspace")
	}
	out := coppice.NewTask{
		Title: then.Title, Body: then.Body, After: then.After, NotBefore: then.NotBefore, Group: then.Group, Budget: then.Budget, Priority: then.Priority, Labels: then.Labels,
	}
	then.After, then.NotBefore, then.Group, then.Budget = nil, time.Time{}, "", 0
	s := debateSpec(between, 0)
	s["then"] = then
	out.Flow = &coppice.NewFlow{Kind: coppice.FlowDebate, Spec: coppice.Raw(s)}
	return []coppice.NewTask{out}, nil
}
