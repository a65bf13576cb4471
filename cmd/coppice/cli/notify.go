package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"coppice/api"
	"coppice/api/client"
)

func (e *Env) notifyCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "notify", Short: "List notifiers, test them and show the messages that were sent",
		Long: `Notifiers send messages to people: what needs a person, and what has happened. They
are configured under notify in the user's config.yaml. The list shows what each
notifier gets, and how its newest message ended.`,
		Example: "  coppice notify\n  coppice notify test\n  coppice notify test phone\n  coppice notify log", Args: args(0, 0, "no argument"),
	}
	shows(e, c, func(ctx context.Context, cl *client.Client, _ []string) (api.NotifierList, error) {
		return cl.Notifiers(ctx)
	}, e.notifiers)
	c.AddCommand(e.notifyTest(), e.notifyLog())
	return c
}

func (e *Env) notifiers(l api.NotifierList) {
	listed(e, "no notifiers; add them under notify.notifiers in the user's config.yaml", l.Notifiers, []column{{head: "NOTIFIER"}, {head: "KIND"}, {head: "GETS", give: true}, {head: "LAST"}, {head: "WHEN"}}, func(n api.Notifier) []cell {
		last, at := plain("nothing sent"), ""
		if m := n.Last; m != nil {
			last, at = messageState(*m), ago(e.Now().Sub(m.At))
		}
		return []cell{{n.Name, bold}, plain(n.Kind), plain(routesText(n.Routes)), last, {at, dim}}
	})
	if l.Looking && len(l.Notifiers) > 0 {
		e.printf("%s\n", e.paint(dim, "a person looks at the dashboard, so nothing is sent now"))
	}
}

// routesText says what a notifier gets.
func routesText(routes []api.NotifyRoute) string {
	var list []string
	for _, r := range routes {
		var words []string
		for _, p := range r.Priority {
			words = append(words, string(p))
		}
		text := strings.Join(words, ", ")
		if len(r.Kinds) > 0 {
			text += " (" + strings.Join(r.Kinds, ", ") + ")"
		}
		if len(r.Projects) > 0 {
			text += " of " + strings.Join(r.Projects, ", ")
		}
		if r.Hours != "" {
			text += " at " + r.Hours
		}
		list = append(list, text)
	}
	if len(list) == 0 {
		return "only tests"
	}
	return strings.Join(list, "; ")
}

// messageState shows whether a message was sent.
func messageState(n api.Notification) cell {
	switch n.State {
	case "sent":
		return cell{n.State, green}
	case "failed":
		return cell{n.State, red}
	}
	return cell{n.State, yellow}
}

func (e *Env) notifyTest() *cobra.Command {
	c := &cobra.Command{
		Use: "test [NOTIFIER]...", Short: "Send a test message, and say whether it was accepted",
		Long: `Send a test message by the named notifiers, or by all, and say whether the receiver
accepted it. Routes, hours and pauses do not apply. The command exits with 1 if a
message could not be sent.`,
		Example: "  coppice notify test\n  coppice notify test phone team", Args: cobra.ArbitraryArgs,
	}
	return tests(e, c, func(ctx context.Context, cl *client.Client, given []string) (page api.NotificationPage, failed bool, err error) {
		if page, err = cl.TestNotifiers(ctx, given); err != nil {
			return page, false, err
		}
		for i, n := range page.Notifications {
			if page.Notifications[i], err = cl.WaitNotification(ctx, n.ID); err != nil {
				return page, false, err
			}
			failed = failed || page.Notifications[i].State != "sent"
		}
		return page, failed, nil
	}, func(page api.NotificationPage) {
		for _, n := range page.Notifications {
			state := messageState(n)
			e.printf("%s  %s  %s\n", e.paint(bold, Clean(n.Notifier)), n.Kind, e.paint(state.style, state.text))
			e.notifyFailure(n)
		}
	})
}

// notifyFailure says why a message was not accepted.
func (e *Env) notifyFailure(n api.Notification) {
	if n.Failure != "" {
		e.printf("    %s\n", Clean(n.Failure))
	}
	if n.Fix != "" {
		e.printf("    fix: %s\n", Clean(n.Fix))
	}
}

func (e *Env) notifyLog() *cobra.Command {
	var q client.NotificationQuery
	var text bool
	c := &cobra.Command{
		Use: "log", Short: "Show the messages to people, newest first", Long: "Show the messages to people, newest first, with how each ended. The newest 500 messages are kept.",
		Example: "  coppice notify log\n  coppice notify log --notifier phone --text", Args: args(0, 0, "no argument"),
	}
	f := c.Flags()
	f.StringVar(&q.Notifier, "notifier", "", "only this notifier")
	beforeFlag(f, &q.Before)
	f.IntVar(&q.Limit, "limit", 20, "how many messages, at most 100")
	f.BoolVar(&text, "text", false, "show the text of each message")
	return shows(e, c, func(ctx context.Context, cl *client.Client, _ []string) (api.NotificationPage, error) {
		return cl.Notifications(ctx, q)
	}, func(page api.NotificationPage) {
		if len(page.Notifications) == 0 {
			e.printf("no message was sent\n")
			return
		}
		for _, n := range page.Notifications {
			e.message(n, text)
		}
		e.morePages("messages", page.Next)
	})
}

// message shows a message to people.
func (e *Env) message(n api.Notification, text bool) {
	state := messageState(n)
	parts := []string{e.paint(bold, Clean(n.Notifier)), e.paint(state.style, state.text), string(n.Priority), Clean(n.Title), e.paint(dim, ago(e.Now().Sub(n.At))), e.paint(dim, Clean(n.ID))}
	if n.Tries > 0 && n.State == "retrying" {
		parts = append(parts, e.paint(dim, fmt.Sprintf("failed %d times", n.Tries)))
	}
	e.printf("%s\n", strings.Join(parts, "  "))
	e.notifyFailure(n)
	if text {
		for _, l := range strings.Split(strings.TrimRight(n.Text, "\n"), "\n") {
			e.printf("    %s\n", Clean(l))
		}
	}
}
