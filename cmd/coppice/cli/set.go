package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

func (e *Env) setCommand() *cobra.Command {
	var title, body, bodyFile, track, agent, model, effort, notBefore, budget, limit, category, group, retry string
	var priority, turns int
	var after, steps, labels, completion []string
	var flagged, untilDone bool
	c := &cobra.Command{
		Use: "set KEY", Short: "Change a task",
		Long: `Change a task that has not landed. Its agent, model, effort and track can be changed
until its work has started; after that see ` + "`coppice model`" + `. They can be changed again
when it has failed or was stopped; its retry uses them. A task that waits because its
budget is spent, or a limit is reached, continues when it has a larger one. Its
labels, group and flag can be changed at any time, also when it has landed.`,
		Example: "  coppice set app-4 --priority 5\n  coppice set app-4 --budget 10\n  coppice set app-4 --turns 80\n  coppice set app-4 --after app-2,app-3\n  coppice set app-4 --label +later,-urgent --flag",
		Args:    args(1, 1, "a task's key"),
	}
	fl := c.Flags()
	fl.StringVar(&title, "title", "", "what should be done, in one line")
	fl.StringVar(&body, "body", "", "the whole description")
	fl.StringVar(&bodyFile, "body-file", "", "read the description from a file; - is stdin")
	fl.IntVar(&priority, "priority", 0, "from -10 to 10; higher starts first")
	fl.StringSliceVar(&after, "after", nil, "keys of tasks that must be done first; replaces the current ones")
	fl.StringVar(&notBefore, "not-before", "", "earliest start: a time (2026-01-31T09:00:00Z) or a duration from now (2h, 3d)")
	fl.StringVar(&track, "track", "", "the track it runs in")
	fl.StringVar(&agent, "agent", "", "the agent that does it")
	fl.StringVar(&model, "model", "", "the model the agent uses, or auto")
	fl.StringVar(&effort, "effort", "", "how hard the agent thinks, in its own words")
	fl.StringVar(&category, "category", "", "what kind of work it is")
	fl.StringArrayVar(&steps, "step", nil, "what must be true when it is done; replaces the current ones (repeatable)")
	fl.StringVar(&budget, "budget", "", "the most to spend on it, in dollars; 0 means the project's default")
	limitFlags(c, &turns, &limit, &untilDone)
	fl.StringVar(&retry, "retry", "", "what follows a failed session: none, same or analyze; empty for the project's")
	completionFlag(c, &completion)
	fl.StringVar(&group, "group", "", "the group it belongs to, which is created if it does not exist; empty for none")
	fl.StringSliceVar(&labels, "label", nil, "labels to add and remove (+a,-b), or all labels (a,b)")
	fl.BoolVar(&flagged, "flag", false, "flag it, or remove the flag with --flag=false")
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		var change coppice.TaskChange
		change.Title, change.Body, change.Track = ifSet(c, "title", &title), ifSet(c, "body", &body), ifSet(c, "track", &track)
		change.Agent, change.Model, change.Category = ifSet(c, "agent", &agent), ifSet(c, "model", &model), ifSet(c, "category", &category)
		change.Effort, change.Group, change.Retry = ifSet(c, "effort", &effort), ifSet(c, "group", &group), ifSet(c, "retry", &retry)
		change.Flagged, change.Priority = ifSet(c, "flag", &flagged), ifSet(c, "priority", &priority)
		if bodyFile != "" {
			b, err := e.readFile(bodyFile, coppice.MaxBody)
			if err != nil {
				return err
			}
			read := string(b)
			change.Body = &read
		}
		change.Labels, change.After, change.Steps = ifSet(c, "label", &labels), ifSet(c, "after", &after), ifSet(c, "step", &steps)
		change.Completion = ifSet(c, "completion", &completion)
		if notBefore != "" {
			at, err := e.notBefore(notBefore)
			if err != nil {
				return err
			}
			change.NotBefore = &at
		}
		if budget != "" {
			usd, err := amount(budget)
			if err != nil {
				return err
			}
			change.Budget = &usd
		}
		if err := changeLimits(c, &change, &turns, limit, &untilDone); err != nil {
			return err
		}
		if change == (coppice.TaskChange{}) {
			return wrongUse("nothing to change", "pass at least one flag; see coppice set --help")
		}
		return result(e, c, *asJSON, func(ctx context.Context, cl *client.Client) (api.Task, error) {
			return changeTask(ctx, cl, given[0], change)
		}, e.printDone("changed"))
	}
	return c
}

// ifSet returns the value of a flag that the person has set, or nil.
func ifSet[T any](c *cobra.Command, name string, value *T) *T {
	if c.Flags().Changed(name) {
		return value
	}
	return nil
}

// completionFlag adds the flag for the completion checks of a task.
func completionFlag(c *cobra.Command, list *[]string) {
	c.Flags().StringSliceVar(list, "completion", nil, "a `list` of what a session must have done when it ends: "+strings.Join(coppice.CompletionChecks, ", ")+"; the default is that of the role, track or project")
}

// changeTask changes a task. Its labels can have signs.
func changeTask(ctx context.Context, cl *client.Client, key string, change coppice.TaskChange) (t api.Task, err error) {
	if change.Labels != nil {
		now, err := cl.Task(ctx, key)
		if err != nil {
			return t, err
		}
		labels, err := relabel(now.Labels, *change.Labels)
		if err != nil {
			return t, err
		}
		change.Labels = &labels
	}
	return cl.ChangeTask(ctx, key, change)
}

// amount reads an amount of money.
func amount(s string) (usd coppice.USD, err error) {
	if s == "" {
		return 0, nil
	}
	if usd, err = coppice.ParseUSD(s); err != nil {
		return 0, usage{err}
	}
	return usd, nil
}

// limitFlags adds the flags for the limits of a task's sessions.
func limitFlags(c *cobra.Command, turns *int, limit *string, untilDone *bool) {
	fl := c.Flags()
	fl.IntVar(turns, "turns", 0, "the most turns of each session, up to 1000; 0 means the limit of its role")
	fl.StringVar(limit, "time", "", "how long each session can work, such as 30m or 2h; 0 means the limit of its role")
	fl.BoolVar(untilDone, "until-done", false, "work until it is done: the limits of its role and health.timeout do not apply")
}

// changeLimits adds the limits that flags set to a change.
func changeLimits(c *cobra.Command, change *coppice.TaskChange, turns *int, limit string, untilDone *bool) error {
	change.Turns, change.UntilDone = ifSet(c, "turns", turns), ifSet(c, "until-done", untilDone)
	if limit == "" {
		return nil
	}
	d, err := duration(limit)
	change.Time = &d
	return err
}

// duration reads a duration; 0 if it is empty.
func duration(s string) (d coppice.Duration, err error) {
	if s == "" || s == "0" {
		return 0, nil
	}
	if err := d.UnmarshalText([]byte(s)); err != nil {
		return 0, usage{err}
	}
	return d, nil
}
