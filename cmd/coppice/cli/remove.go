package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

func (e *Env) projectRemove() *cobra.Command {
	var how coppice.Remove
	var yes bool
	c := &cobra.Command{
		Use: "remove PREFIX", Short: "Forget a project",
		Long: `Forget a project: its tasks, sessions, output, landings, checks and costs. The
command is refused while the project has tasks that have not ended. With --force it
stops them first. Entries of the event log stay until the log removes them, and
backups that were made before still contain everything.

Without --purge, the project's workspaces, trash and branches of Coppice stay, and the
command prints where they are. With --purge they are removed as well. The checkout,
coppice.yaml, the features file and everything that landed always stay.

The server removes the project in the background. This command waits for it.`,
		Example: "  coppice project remove app\n  coppice project remove app --purge --yes",
		Args:    args(1, 1, "the prefix of a project"),
	}
	c.Flags().BoolVar(&how.Purge, "purge", false, "also remove its workspaces, trash and branches")
	c.Flags().BoolVar(&how.Force, "force", false, "first stop its tasks that have not ended")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return shows(e, c, func(ctx context.Context, cl *client.Client, given []string) (api.Removed, error) {
		p, err := cl.Project(ctx, given[0])
		if err == nil && !yes {
			err = e.confirmRemoval(p, how)
		}
		if err != nil {
			return api.Removed{}, err
		}
		return e.removeProject(ctx, cl, p, how)
	}, func(out api.Removed) { e.printRemoved(out, how) })
}

// confirmRemoval asks whether to remove a project.
func (e *Env) confirmRemoval(p api.Project, how coppice.Remove) error {
	if !e.Asks {
		return wrongUse("removing "+p.Prefix+" needs a confirmation", "pass --yes, or run it in a terminal")
	}
	what := fmt.Sprintf("Forget %s (%s) with its %s", p.Prefix, line(p.Path), count(p.LastTask, "task"))
	if how.Purge {
		what += ", and remove its workspaces, trash and branches"
	}
	return e.confirm(what+"?", "nothing was removed")
}

// removeProject removes a project and waits until it is gone.
func (e *Env) removeProject(ctx context.Context, cl *client.Client, p api.Project, how coppice.Remove) (api.Removed, error) {
	// The position in the log is read first, so that the end cannot be missed.
	log, err := cl.Events(ctx, client.EventQuery{Limit: 1})
	if err != nil {
		return api.Removed{}, err
	}
	out, err := cl.RemoveProject(ctx, p.Prefix, how)
	if err != nil {
		return out, err
	}
	gone := errors.New("it is gone")
	err = cl.FollowEvents(ctx, client.EventQuery{After: log.Last}, func(ev api.Event) error {
		switch {
		case ev.ProjectID != out.ID:
		case ev.Kind == coppice.EventProjectRemoved:
			return gone
		case ev.Kind == coppice.EventProjectChanged:
			now, err := cl.Project(ctx, p.Prefix)
			if err == nil && now.ID == out.ID && now.Removal != nil && now.Removal.Problem != "" {
				return coppice.Errorf(coppice.EUnavailable, "%s cannot be removed yet: %s", p.Prefix, now.Removal.Problem).
					WithFix("fix the problem; the server retries automatically, or run the command again")
			}
		}
		return nil
	}, nil)
	if errors.Is(err, gone) {
		err = nil
	}
	return out, err
}

func (e *Env) printRemoved(out api.Removed, how coppice.Remove) {
	e.printf("removed %s; %s was not changed\n", e.paint(bold, out.Prefix), line(out.Path))
	if len(out.Left) == 0 {
		return
	}
	e.printf("Not removed:\n")
	for _, l := range out.Left {
		e.printf("  %s: %s\n", line(l.What), line(l.Path))
	}
	e.printf("%s\n", e.paint(dim, "to remove these as well: coppice project add "+line(out.Path)+", then coppice project remove --purge"))
}
