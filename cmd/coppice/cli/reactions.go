package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"coppice/api"
	"coppice/api/client"
)

func (e *Env) reactionsCommand() *cobra.Command {
	var project string
	var all bool
	var limit int
	var before int64
	c := &cobra.Command{
		Use: "reactions", Short: "Show what followed events of pull requests, tasks and agents",
		Long: `Show the history of reactions, newest first: of the current directory's project, or of
all projects if the directory is not in a project. A reaction is what follows an event,
such as CI that fails: see docs/reactions.md.`,
		Example: "  coppice reactions\n  coppice reactions --all --limit 20\n  coppice reactions rules", Args: args(0, 0, "no argument"),
	}
	c.Flags().StringVarP(&project, "project", "p", "", "a project's prefix")
	c.Flags().BoolVarP(&all, "all", "a", false, "the reactions of all projects")
	c.Flags().IntVarP(&limit, "limit", "n", 50, "at most this many")
	beforeFlag(c.Flags(), &before)
	shows(e, c, func(ctx context.Context, cl *client.Client, _ []string) (page api.ReactionPage, err error) {
		if err := e.inProject(ctx, cl, &project, all); err != nil {
			return page, err
		}
		return cl.Reactions(ctx, project, before, limit)
	}, e.reactions)
	c.AddCommand(e.reactionRules())
	return c
}

func (e *Env) reactions(page api.ReactionPage) {
	listed(e, "no reactions", page.Reactions, []column{{head: "AGE", end: true}, {head: "OF"}, {head: "REACTION", give: true}}, func(r api.ReactionEntry) []cell {
		of := r.Of
		if of == "" {
			of = r.Project
		}
		return []cell{{ago(e.Now().Sub(r.At)), dim}, {of, bold}, plain(reactionLine(r.Reacted.Reacted))}
	})
	e.morePages("reactions", page.Next)
}

func (e *Env) reactionRules() *cobra.Command {
	var project string
	c := &cobra.Command{
		Use: "rules", Short: "Show the rules of reactions of a project",
		Long: `Show for each event what follows it in a project: the rules of coppice.yaml, or the
defaults. The first rule whose condition holds applies.`,
		Example: "  coppice reactions rules\n  coppice reactions rules --project app --json", Args: args(0, 0, "no argument"),
	}
	c.Flags().StringVarP(&project, "project", "p", "", "a project's prefix; the default is the current directory's")
	return showsIn(e, c, &project, func(ctx context.Context, cl *client.Client, prefix string, _ []string) (api.ReactionRules, error) {
		return cl.ReactionRules(ctx, prefix)
	}, func(r api.ReactionRules) {
		var rows [][]cell
		for _, ev := range r.Events {
			from, why := "default", ev.Why
			if ev.Own {
				from = "coppice.yaml"
			}
			for _, rule := range ev.Rules {
				do := strings.TrimSpace(rule.Do + " " + rule.Run)
				rows = append(rows, []cell{{string(ev.Event), bold}, plain(line(rule.If)), plain(line(do)), {from, dim}, plain(line(why))})
			}
		}
		e.table([]column{{head: "EVENT"}, {head: "IF", give: true}, {head: "DO"}, {head: "FROM"}, {head: "BUT", give: true}}, rows)
	})
}
