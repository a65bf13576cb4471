package cli

import (
	"context"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

// taskAction makes a command that does one thing to a task and shows it.
func (e *Env) taskAction(c *cobra.Command, said string, do func(ctx context.Context, cl *client.Client, given []string) (api.Task, error)) *cobra.Command {
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		return e.call(c, func(ctx context.Context, cl *client.Client) error {
			t, err := do(ctx, cl, given)
			if err != nil {
				return err
			}
			if *asJSON {
				return e.json(t)
			}
			e.printf("%s  %s  %s\n", e.paint(bold, t.Key), said, e.paint(dim, line(t.Title)))
			return nil
		})
	}
	return c
}

// wordsAction makes a command that says something to a task and shows it.
func (e *Env) wordsAction(c *cobra.Command, said string, do func(ctx context.Context, cl *client.Client, key, text string) (api.Task, error)) *cobra.Command {
	c.Args = args(1, -1, "a task's key and a text")
	return e.taskAction(c, said, func(ctx context.Context, cl *client.Client, given []string) (t api.Task, err error) {
		text, err := e.text(given[1:])
		if err == nil {
			t, err = do(ctx, cl, given[0], text)
		}
		return t, err
	})
}

// messageAction makes a command that says something to a session.
func (e *Env) messageAction(c *cobra.Command, least, most int, what, said string, do func(ctx context.Context, cl *client.Client, key, text string) (coppice.Message, error)) *cobra.Command {
	c.Args = args(1+least, most, what)
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		text, err := e.text(given[1:])
		if err != nil {
			return err
		}
		return e.call(c, func(ctx context.Context, cl *client.Client) error {
			m, err := do(ctx, cl, given[0], text)
			if err != nil {
				return err
			}
			if *asJSON {
				return e.json(m)
			}
			note := said
			if m.Kind == coppice.MessageModel && !m.DeliveredAt.IsZero() {
				note = "its next session uses " + line(m.Text)
			}
			e.printf("%s  %s\n", e.paint(bold, given[0]), note)
			return nil
		})
	}
	return c
}

func (e *Env) sendCommand() *cobra.Command {
	var next bool
	c := &cobra.Command{
		Use: "send KEY TEXT", Short: "Say something to a task's session",
		Long: `Say something to the session that works on a task. It hears it at once where its
agent can, or with --next when its turn is over. When none runs, or its agent
takes no messages while it works, the next session hears it first. Whether it
arrived stands in ` + "`coppice show`" + `.`,
		Example: "  coppice send app-4 \"use the existing parser\"\n  coppice send app-4 --next \"then write the documentation\"\n  coppice send app-4 - < notes.md",
	}
	c.Flags().BoolVar(&next, "next", false, "when the turn is over, not in the middle of it")
	return e.messageAction(c, 1, -1, "a task's key and a text", "message sent", func(ctx context.Context, cl *client.Client, key, text string) (coppice.Message, error) {
		if next {
			return cl.SendNext(ctx, key, text)
		}
		return cl.Send(ctx, key, text)
	})
}

func (e *Env) interruptCommand() *cobra.Command {
	return e.messageAction(&cobra.Command{
		Use: "interrupt KEY [TEXT]", Short: "End a session's turn, and say what to do instead",
		Long: `End the turn of the session that works on a task; its conversation goes on. With a
text the agent does that next. Without one the task waits for you: retry goes on
with it.`,
		Example: "  coppice interrupt app-4 \"stop, the other file\"\n  coppice interrupt app-4",
	}, 0, -1, "a task's key and a text", "will be interrupted", func(ctx context.Context, cl *client.Client, key, text string) (coppice.Message, error) {
		return cl.Interrupt(ctx, key, text)
	})
}

func (e *Env) modelCommand() *cobra.Command {
	return e.messageAction(&cobra.Command{
		Use: "model KEY MODEL", Short: "Go on with another model",
		Long: `Have a task go on with another model. Its running session changes to it where its
agent can do that; otherwise, and when none runs, the next session uses it. auto
chooses by how hard the task looks, when a session starts.`,
		Example: "  coppice model app-4 opus\n  coppice model app-4 auto",
	}, 1, 2, "a task's key and a model", "its session is told", func(ctx context.Context, cl *client.Client, key, model string) (coppice.Message, error) {
		return cl.Model(ctx, key, model)
	})
}

func (e *Env) forkCommand() *cobra.Command {
	return e.wordsAction(&cobra.Command{
		Use: "fork KEY [TEXT]", Short: "Try another way from where a task stands",
		Long: `Make a new task with the same title, description and checks. It goes on with a copy
of the other one's conversation, from where that one's branch stands; the other
one goes its own way.`,
		Example: "  coppice fork app-4 \"try it without the cache\"",
	}, "was forked", func(ctx context.Context, cl *client.Client, key, text string) (api.Task, error) {
		return cl.Fork(ctx, key, text)
	})
}
