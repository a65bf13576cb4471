package cli

import (
	"context"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

// taskAction makes a command that does one thing to a task and shows it.
func (e *Env) taskAction(c *cobra.Command, done string, do func(ctx context.Context, cl *client.Client, given []string) (api.Task, error)) *cobra.Command {
	return shows(e, c, do, e.printDone(done))
}

// printDone returns a function that prints what was done to a task.
func (e *Env) printDone(done string) func(api.Task) {
	return func(t api.Task) {
		e.printf("%s  %s  %s\n", e.paint(bold, t.Key), done, e.paint(dim, line(t.Title)))
	}
}

// wordsAction makes a command that sends a text to a task and shows the task.
func (e *Env) wordsAction(c *cobra.Command, done string, do func(ctx context.Context, cl *client.Client, key, text string) (api.Task, error)) *cobra.Command {
	c.Args = args(1, -1, "a task's key and a text")
	return e.taskAction(c, done, func(ctx context.Context, cl *client.Client, given []string) (t api.Task, err error) {
		text, err := e.text(given[1:])
		if err == nil {
			t, err = do(ctx, cl, given[0], text)
		}
		return t, err
	})
}

// messageAction makes a command that sends a message to a session.
func (e *Env) messageAction(c *cobra.Command, least, most int, what, done string, do func(ctx context.Context, cl *client.Client, key, text string) (coppice.Message, error)) *cobra.Command {
	c.Args = args(1+least, most, what)
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		text, err := e.text(given[1:])
		if err != nil {
			return err
		}
		return result(e, c, *asJSON, func(ctx context.Context, cl *client.Client) (coppice.Message, error) {
			return do(ctx, cl, given[0], text)
		}, func(m coppice.Message) {
			note := done
			switch {
			case m.Kind == coppice.MessageModel && !m.DeliveredAt.IsZero():
				note = "its next session uses " + line(m.Text)
			case m.Kind == coppice.MessageModel:
				note += " to " + line(m.Text)
			}
			e.printf("%s  %s\n", e.paint(bold, given[0]), note)
		})
	}
	return c
}

func (e *Env) sendCommand() *cobra.Command {
	var next bool
	var images []string
	c := &cobra.Command{
		Use: "send KEY TEXT", Short: "Send a message to a task's session",
		Long: `Send a message to the session that works on a task. If its agent accepts messages
during a turn, it gets the message immediately, or with --next after its turn.
Otherwise, or if no session runs, the next session starts with it. ` + "`coppice show`" + `
reports whether the message was delivered.`,
		Example: "  coppice send app-4 \"use the existing parser\"\n  coppice send app-4 --next \"then write the documentation\"\n  coppice send app-4 --image screen.png \"the button is cut off\"\n  coppice send app-4 - < notes.md",
	}
	imageFlag(c, &images)
	c.Flags().BoolVar(&next, "next", false, "deliver it after the turn, not during it")
	return e.messageAction(c, 1, -1, "a task's key and a text", "message sent", func(ctx context.Context, cl *client.Client, key, text string) (coppice.Message, error) {
		ids, err := e.upload(ctx, cl, images)
		if err != nil {
			return coppice.Message{}, err
		}
		if next {
			return cl.SendNext(ctx, key, text, ids...)
		}
		return cl.Send(ctx, key, text, ids...)
	})
}

func (e *Env) interruptCommand() *cobra.Command {
	return e.messageAction(&cobra.Command{
		Use: "interrupt KEY [TEXT]", Short: "Interrupt a session, and say what to do instead",
		Long: `Interrupt the turn of the session that works on a task. Its conversation continues.
With a text, the agent does that next. Without one, the task waits for you:
coppice retry continues it.`,
		Example: "  coppice interrupt app-4 \"stop, the other file\"\n  coppice interrupt app-4",
	}, 0, -1, "a task's key and a text", "will be interrupted", func(ctx context.Context, cl *client.Client, key, text string) (coppice.Message, error) {
		return cl.Interrupt(ctx, key, text)
	})
}

func (e *Env) modelCommand() *cobra.Command {
	return e.messageAction(&cobra.Command{
		Use: "model KEY MODEL", Short: "Change the model of a task",
		Long: `Change the model of a task. If its agent can, the running session changes its
model. Otherwise the next session uses it. With auto, Coppice chooses a model by how
hard the task looks, when a session starts.`,
		Example: "  coppice model app-4 opus\n  coppice model app-4 auto",
	}, 1, 2, "a task's key and a model", "model changed", func(ctx context.Context, cl *client.Client, key, model string) (coppice.Message, error) {
		return cl.Model(ctx, key, model)
	})
}

func (e *Env) forkCommand() *cobra.Command {
	return e.wordsAction(&cobra.Command{
		Use: "fork KEY [TEXT]", Short: "Create a new task from the state of another one",
		Long: `Create a new task with the same title, description and checks. It continues with a
copy of the other task's conversation, from the current state of its branch. The
other task is not changed.`,
		Example: "  coppice fork app-4 \"try it without the cache\"",
	}, "forked", func(ctx context.Context, cl *client.Client, key, text string) (api.Task, error) {
		return cl.Fork(ctx, key, text)
	})
}
