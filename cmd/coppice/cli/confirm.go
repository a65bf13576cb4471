package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

// mostNeedLines is how many lines of a diff the status shows.
const mostNeedLines = 12

// need shows what a project needs a person for, and the fix.
func (e *Env) need(prefix string, n coppice.Need) {
	e.printf("%s  %s\n", e.paint(yellow.Bold(true), prefix), line(n.Text))
	lines := strings.Split(strings.TrimRight(n.Diff, "\n"), "\n")
	if n.Diff != "" {
		e.diff(strings.Join(lines[:min(len(lines), mostNeedLines)], "\n"))
	}
	if more := len(lines) - mostNeedLines; more > 0 {
		e.printf("  %s\n", e.paint(dim, fmt.Sprintf("and %d more lines: coppice project confirm %s --dry-run", more, prefix)))
	}
	if n.Fix != "" {
		e.printf("  → %s\n", line(n.Fix))
	}
}

// diff shows a diff, indented.
func (e *Env) diff(text string) {
	for l := range strings.Lines(text) {
		l = Clean(strings.TrimSuffix(l, "\n"))
		style := lipgloss.NewStyle()
		switch {
		case strings.HasPrefix(l, "+++"), strings.HasPrefix(l, "---"), strings.HasPrefix(l, "@@"):
			style = dim
		case strings.HasPrefix(l, "+"):
			style = green
		case strings.HasPrefix(l, "-"):
			style = red
		}
		e.printf("  %s\n", e.paint(style, l))
	}
}

// confirmable are the kinds of need that a person can confirm, with what the
// confirmation means.
var confirmable = []struct {
	kind  coppice.NeedKind
	about string
}{
	{coppice.NeedPolicy, "a changed coppice.yaml or prompt"},
	{coppice.NeedGit, "changed git settings"},
	{coppice.NeedFeatures, "changed statuses in the features file"},
	{coppice.NeedBase, "a base that moved without Coppice, which then stays where it is"},
}

func (e *Env) projectConfirm() *cobra.Command {
	var dry bool
	chosen := map[coppice.NeedKind]*bool{}
	c := &cobra.Command{
		Use: "confirm [PREFIX]", Short: "Confirm changes that wait for you",
		Long: `Show everything in a project that waits for your confirmation, and confirm it:
changed settings about landing, if they changed while a session ran or by a
landing; statuses in the features file that Coppice did not write; and a base that
moved without Coppice. If more than one thing waits, name those that you confirm.`,
		Example: "  coppice project confirm --dry-run\n  coppice project confirm app --features", Args: args(0, 1, "at most one prefix"),
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "only show what waits")
	for _, k := range confirmable {
		chosen[k.kind] = c.Flags().Bool(string(k.kind), false, "confirm "+k.about)
	}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		return e.call(c, func(ctx context.Context, cl *client.Client) error {
			prefix, err := e.named(ctx, cl, given)
			if err != nil {
				return err
			}
			p, err := cl.Project(ctx, prefix)
			if err != nil {
				return err
			}
			needs, err := chooseNeeds(p, chosen, dry)
			if err != nil {
				return err
			}
			for _, n := range needs {
				if !*asJSON {
					e.printf("%s\n", line(n.Text))
					e.diff(n.Diff)
				}
				if dry {
					continue
				}
				if p, err = cl.Confirm(ctx, prefix, api.Confirmation{Kind: n.Kind, Diff: n.Diff}); err != nil {
					return err
				}
				if !*asJSON {
					e.printf("confirmed\n")
				}
			}
			if *asJSON {
				return e.json(p)
			}
			return nil
		})
	}
	return c
}

// chooseNeeds returns the needs that a person chose.
func chooseNeeds(p api.Project, chosen map[coppice.NeedKind]*bool, dry bool) (list []coppice.Need, err error) {
	named := false
	var flags []string
	for _, k := range confirmable {
		named = named || *chosen[k.kind]
	}
	for _, n := range p.Needs {
		want, can := chosen[n.Kind]
		if can {
			flags = append(flags, "--"+string(n.Kind))
		}
		if can && (*want || !named) || dry && !named {
			list = append(list, n)
		}
	}
	slices.Sort(flags)
	switch {
	case len(list) == 0:
		return nil, coppice.Errorf(coppice.ENotFound, "nothing of that kind waits for you in %s", p.Prefix).WithFix("see `coppice status`")
	case len(list) > 1 && !dry && !named:
		return nil, coppice.Errorf(coppice.EInvalid, "more than one thing waits for you in %s", p.Prefix).
			WithFix("see them with --dry-run, then name those that you confirm: %s", strings.Join(flags, " "))
	}
	return list, nil
}

func (e *Env) projectRestoreBase() *cobra.Command {
	c := &cobra.Command{
		Use: "restore-base [PREFIX]", Short: "Move back a base that moved without Coppice",
		Long: `Move the base of a project back to where it was before it moved without Coppice,
as coppice status reports. Its checkout moves with it. If that would lose changes,
nothing moves. To keep the base where it is, run coppice project confirm --base.`,
		Example: "  coppice project restore-base app", Args: args(0, 1, "at most one prefix"),
	}
	return shows(e, c, func(ctx context.Context, cl *client.Client, given []string) (p api.Project, err error) {
		prefix, err := e.named(ctx, cl, given)
		if err == nil {
			p, err = cl.RestoreBase(ctx, prefix)
		}
		return p, err
	}, func(p api.Project) {
		e.printf("%s  %s is at %.10s again\n", e.paint(bold, p.Prefix), line(p.Policy.Base), p.BaseCommit)
	})
}
