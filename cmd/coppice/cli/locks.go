package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coppice/api"
	"coppice/api/client"
)

func (e *Env) locksCommand() *cobra.Command {
	var project string
	c := &cobra.Command{
		Use: "locks", Short: "Show the files that sessions have locked",
		Long: `Show which session has locked which files, which sessions wait for them, and cycles
of sessions that would have waited for each other. Agents lock files with the tool
lock_files. A lock ends with its session. While the session works, its locks are
renewed.`,
		Example: "  coppice locks\n  coppice locks release src/main.go\n  coppice locks release --session app-4.1",
		Args:    args(0, 0, "no argument"),
	}
	c.PersistentFlags().StringVarP(&project, "project", "p", "", "a project's prefix; the default is the current directory's")
	c.AddCommand(e.locksRelease(&project))
	return showsIn(e, c, &project, func(ctx context.Context, cl *client.Client, prefix string, _ []string) (api.Locks, error) {
		return cl.Locks(ctx, prefix)
	}, e.printLocks)
}

func (e *Env) printLocks(l api.Locks) {
	if len(l.Held) == 0 {
		e.printf("no session has locked a file\n")
	} else {
		rows := make([][]cell, len(l.Held))
		for i, h := range l.Held {
			state := string(h.State)
			if h.Parked {
				state = "parked"
			}
			rows[i] = []cell{{line(h.Name), bold}, plain(h.Session), plain(state), plain(e.left(h.ExpiresAt)), plain(h.Reason)}
		}
		e.table([]column{{head: "LOCK", give: true}, {head: "SESSION"}, {head: "STATE"}, {head: "LEFT", end: true}, {head: "REASON"}}, rows)
	}
	for _, w := range l.Waiting {
		e.printf("%s waits for %s, at most %s\n", e.paint(yellow, line(w.Session)), line(strings.Join(w.Names, ", ")), e.left(w.Until))
		for _, b := range w.Blocked {
			verb := "holds"
			if b.Waits {
				verb = "waits for"
			}
			e.printf("  %s %s %s\n", line(b.Session), verb, line(b.Name))
		}
	}
	for _, c := range l.Cycles {
		e.printf("%s at %s: %s\n", e.paint(red, "cycle"), e.moment(c.FoundAt), line(strings.Join(append(c.Sessions, c.Sessions[:min(1, len(c.Sessions))]...), " → ")))
		e.printf("  → %s\n", line(c.Hint))
	}
}

// left returns how long it is until a time.
func (e *Env) left(until time.Time) string { return ago(until.Sub(e.Now())) }

func (e *Env) locksRelease(project *string) *cobra.Command {
	var session string
	c := &cobra.Command{
		Use: "release [NAME]", Short: "Release a lock, or all locks of a session",
		Long: `Release a lock by the name that coppice locks shows, or all locks of a session.
Sessions that wait for it get it. The agent that held it does not notice: use it if
an agent keeps files that it no longer edits.`,
		Example: "  coppice locks release src/main.go\n  coppice locks release --session app-4.1",
		Args:    args(0, 1, "the name of a lock, or --session"),
	}
	c.Flags().StringVar(&session, "session", "", "the key of a session, such as app-4.1: release all its locks")
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		if (len(given) == 0) == (session == "") {
			return wrongUse("it needs either the name of a lock or --session", "run: coppice locks")
		}
		return result(e, c, *asJSON, func(ctx context.Context, cl *client.Client) (out api.ReleasedLocks, err error) {
			prefix, err := e.named(ctx, cl, names(*project))
			if err != nil {
				return out, err
			}
			return cl.ReleaseLock(ctx, prefix, strings.Join(given, ""), session)
		}, func(out api.ReleasedLocks) {
			for _, l := range out.Released {
				e.printf("released %s, which %s held\n", e.paint(bold, line(l.Name)), line(l.Session))
			}
			if n := len(out.Released); n > 1 {
				e.printf("%s\n", fmt.Sprint(count(n, "lock"), " released"))
			}
		})
	}
	return c
}
