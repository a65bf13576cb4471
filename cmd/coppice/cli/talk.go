package cli

import (
	"context"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

// wordsAction makes a command that says something to a task and shows it. Least
// is how many words it needs.
func (e *Env) wordsAction(c *cobra.Command, least int, said string, do func(ctx context.Context, cl *client.Client, key, text string) (api.Task, error)) *cobra.Command {
	c.Args = args(1+least, -1, "a task's key and a text")
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		text, err := e.text(given[1:])
		if err != nil {
			return err
		}
		return e.call(c, func(ctx context.Context, cl *client.Client) error {
			t, err := do(ctx, cl, given[0], text)
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

func (e *Env) continueCommand() *cobra.Command {
	return e.wordsAction(&cobra.Command{
		Use: "continue KEY [TEXT]", Short: "Go on with an ended task in its conversation",
		Long: `Go on with a task that is done, failed or was stopped, in its last conversation. One
that is done needs a text that says what it should do now, and begins from the
base, which has its work; any other goes on where its branch stands.`,
		Example: "  coppice continue app-4 \"now also the German texts\"\n  coppice continue app-5",
	}, 0, "goes on", func(ctx context.Context, cl *client.Client, key, text string) (api.Task, error) {
		return cl.Continue(ctx, key, text)
	})
}

func (e *Env) forkCommand() *cobra.Command {
	return e.wordsAction(&cobra.Command{
		Use: "fork KEY [TEXT]", Short: "Try another way from where a task stands",
		Long: `Make a new task with the same title, description and checks. It goes on with a copy
of the other one's conversation, from where that one's branch stands; the other
one goes its own way.`,
		Example: "  coppice fork app-4 \"try it without the cache\"",
	}, 0, "was forked", func(ctx context.Context, cl *client.Client, key, text string) (api.Task, error) {
		return cl.Fork(ctx, key, text)
	})
}

func (e *Env) takeCommand() *cobra.Command {
	return e.taskAction(&cobra.Command{
		Use: "take KEY", Short: "Take a task over on the agent's own screen",
		Long: `Take a task over: its session ends its turn, and the same conversation opens on the
agent's own interactive screen, for you to attach to. Nothing stops it for taking
long. Leave the screen, or say ` + "`coppice give`" + `, to give it back.`,
		Example: "  coppice take app-4\n  coppice attach app-4",
	}, "will be yours; then: coppice attach", func(ctx context.Context, cl *client.Client, key string) (api.Task, error) {
		return cl.Take(ctx, key)
	})
}

func (e *Env) giveCommand() *cobra.Command {
	return e.wordsAction(&cobra.Command{
		Use: "give KEY [TEXT]", Short: "Give a task back that you took",
		Long:    "Give a task back: its screen is closed, and the agent goes on by itself in the same conversation. A text is told to it.",
		Example: "  coppice give app-4 \"the tests pass again; now finish\"",
	}, 0, "is given back", func(ctx context.Context, cl *client.Client, key, text string) (api.Task, error) {
		return cl.Give(ctx, key, text)
	})
}
