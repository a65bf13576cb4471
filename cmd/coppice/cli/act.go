package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
	"coppice/verb"
)

// verbCommands makes a command for every verb that has help texts.
func (e *Env) verbCommands() []*cobra.Command {
	var list []*cobra.Command
	for _, info := range verb.Table {
		if info.Command.Use != "" {
			list = append(list, e.verbCommand(info))
		}
	}
	return list
}

// verbCommand makes the command of a verb.
func (e *Env) verbCommand(info verb.Info) *cobra.Command {
	words := info.Command
	c := &cobra.Command{Use: words.Use, Short: words.Short, Long: words.Long, Example: words.Example}
	var r verb.Request
	var images []string
	do := func(ctx context.Context, cl *client.Client, key string) (t api.Task, err error) {
		if r.Images, err = e.upload(ctx, cl, images); err != nil {
			return t, err
		}
		return cl.Ask(ctx, key, info.Verb, r)
	}
	if info.Images {
		imageFlag(c, &images)
	}
	if words.Note != "" {
		c.Flags().StringVar(&r.Text, info.Text, "", words.Note)
	}
	if info.Head {
		c.Flags().StringVar(&r.Head, "head", "", "the `commit` that you have read; refused if the change is at another one")
	}
	if info.Staff {
		c.Flags().StringVar(&r.Staff.Agent, "agent", "", "the agent that takes over")
		c.Flags().StringVar(&r.Staff.Model, "model", "", "the model to use, or auto")
		c.Flags().StringVar(&r.Staff.Effort, "effort", "", "how hard the agent thinks, in its own words")
	}
	switch {
	case info.Verb == coppice.VerbTake:
		return e.takeCommand(c, words.Done, do)
	case words.Many:
		return e.tasksAction(c, words.Done, selectionFlags(c, info, &r), do)
	case info.Text != "" && words.Note == "":
		return e.wordsAction(c, words.Done, func(ctx context.Context, cl *client.Client, key, text string) (api.Task, error) {
			r.Text = text
			return do(ctx, cl, key)
		})
	}
	c.Args = args(1, 1, "a task's key")
	return e.taskAction(c, words.Done, func(ctx context.Context, cl *client.Client, given []string) (api.Task, error) {
		return do(ctx, cl, given[0])
	})
}

func (e *Env) answerCommand() *cobra.Command {
	var question int64
	c := &cobra.Command{
		Use: "answer KEY TEXT", Short: "Answer a session's question",
		Long: `Answer the oldest open question of a task, or the one that --question names. The
session then continues. The number of an option means that option. If several can
be chosen, separate their numbers by commas. Any other text is the answer itself.

If a session asks for permission, the answer is allow or deny. "allow always" and
"deny always" are remembered for the project: see ` + "`coppice rules`" + `. Any other
answer denies, and the agent gets it as the reason.`,
		Example: "  coppice answer app-4 \"yes, drop the old column\"\n  coppice answer app-4 2\n  coppice answer app-4 allow always\n  coppice answer app-4 --question 7 2",
		Args:    args(2, -1, "a task's key and an answer"),
	}
	c.Flags().Int64Var(&question, "question", 0, "the `number` of the question, as coppice show prints it")
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		text, err := e.text(given[1:])
		if err != nil {
			return err
		}
		return result(e, c, *asJSON, func(ctx context.Context, cl *client.Client) (api.Question, error) {
			return cl.Answer(ctx, given[0], question, text)
		}, func(q api.Question) {
			e.printf("%s  answered: %s  %s\n", e.paint(bold, given[0]), line(q.Answer), e.paint(dim, line(q.Text)))
		})
	}
	return c
}

func (e *Env) diffCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "diff KEY", Short: "Show what a task changed",
		Long:    "Show what a task changed against its base, or since its last session started, as a patch. In a pipe or file it is exact, byte by byte. On a terminal, control characters are made visible.",
		Example: "  coppice diff app-4\n  coppice diff app-4 --session\n  coppice diff app-4 | git apply --check",
		Args:    args(1, 1, "a task's key"),
	}
	session := c.Flags().Bool("session", false, "only what changed since its last session started")
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		return e.call(c, func(ctx context.Context, cl *client.Client) error {
			text, err := cl.Diff(ctx, given[0], *session)
			if err != nil {
				return err
			}
			switch {
			case *asJSON:
				return e.json(map[string]string{"key": given[0], "diff": text})
			case !e.Terminal:
				e.printf("%s", text)
			default:
				e.printDiff(text)
			}
			return nil
		})
	}
	return c
}

func (e *Env) branchCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "branch KEY", Short: "Copy a task's branch into your repository",
		Long: `Copy the branch of a task that has not landed into your repository, as a branch
with the same name. Coppice keeps the branches of tasks in a separate repository,
so that yours does not change. git checks the commits before it accepts them. Run
the command again to copy newer commits.

Agents can create further branches in their workspace. ` + "`coppice show KEY`" + ` lists them.
With --stray, copy one of them, as a branch whose name starts with the task's.`,
		Example: "  coppice branch app-4\n  git log main..coppice/app-4\n  coppice branch app-4 --stray experiment",
		Args:    args(1, 1, "a task's key"),
	}
	stray := c.Flags().String("stray", "", "copy this branch, which an agent created besides the task's")
	return shows(e, c, func(ctx context.Context, cl *client.Client, given []string) (api.Branch, error) {
		return cl.BringBranch(ctx, given[0], *stray)
	}, func(b api.Branch) {
		e.printf("%s is now a branch of your repository, at %.12s\n", line(b.Name), b.Commit)
	})
}

// printDiff prints a patch for people.
func (e *Env) printDiff(text string) {
	for l := range strings.Lines(text) {
		l = strings.TrimSuffix(visible(l), "\n") // a reviewer has to see every character
		switch {
		case strings.HasPrefix(l, "diff "), strings.HasPrefix(l, "+++"), strings.HasPrefix(l, "---"):
			l = e.paint(bold, l)
		case strings.HasPrefix(l, "@@"):
			l = e.paint(cyan, l)
		case strings.HasPrefix(l, "+"):
			l = e.paint(green, l)
		case strings.HasPrefix(l, "-"):
			l = e.paint(red, l)
		}
		e.printf("%s\n", l)
	}
}
