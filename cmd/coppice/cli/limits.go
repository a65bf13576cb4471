package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

func (e *Env) limitsCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "limits", Short: "Show agents that are rate limited or logged out",
		Long: `Show the agents, and models of agents, that cannot be used now: until when, why,
and which tasks wait for them. A rate limit ends automatically. If an agent needs a
login or a payment, fix that first, then run coppice limits clear, or retry a task
that waits. A model that agent.fallback names as agent:model has its own limit.`,
		Example: "  coppice limits\n  coppice limits clear my-agent\n  coppice limits clear my-agent:small",
		Args:    args(0, 0, "no argument"),
	}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return e.call(c, func(ctx context.Context, cl *client.Client) error {
			limits, err := cl.Limits(ctx)
			if err != nil {
				return err
			}
			return e.limits(limits, *asJSON)
		})
	}
	c.AddCommand(e.limitsClear())
	return c
}

func (e *Env) limitsClear() *cobra.Command {
	c := &cobra.Command{
		Use: "clear AGENT[:MODEL]", Short: "Clear the limit of an agent, or of one of its models",
		Long:    "Clear the limit of an agent, or of one of its models, after you have fixed the cause. The tasks that wait for it continue.",
		Example: "  coppice limits clear my-agent\n  coppice limits clear my-agent:small", Args: args(1, 1, "an agent's name, or agent:model"),
	}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		return e.call(c, func(ctx context.Context, cl *client.Client) error {
			left, err := cl.ClearLimit(ctx, given[0])
			if err != nil {
				return err
			}
			if *asJSON {
				return e.limits(left, true)
			}
			e.printf("%s can be used again\n", e.paint(bold, given[0]))
			return nil
		})
	}
	return c
}

func (e *Env) limits(limits []api.Limit, asJSON bool) error {
	if asJSON {
		return e.json(api.LimitList{Limits: limits})
	}
	if len(limits) == 0 {
		e.printf("no agent is limited\n")
		return nil
	}
	for _, l := range limits {
		e.printf("%s  %s  %s\n", e.paint(bold, line(l.Agent)), e.paint(yellow, e.until(l.AgentLimit)), line(l.Text))
		if len(l.Tasks) > 0 {
			e.printf("  %s %s\n", e.paint(dim, "waiting:"), line(strings.Join(l.Tasks, ", ")))
		}
		if l.Until.IsZero() {
			e.printf("  → fix the problem, then run: coppice limits clear %s\n", line(l.Agent))
		}
	}
	return nil
}

// until says when a limit ends.
func (e *Env) until(l coppice.AgentLimit) string {
	if l.Until.IsZero() {
		return string(l.Class) + ", until you clear it"
	}
	return string(l.Class) + ", until " + e.moment(l.Until)
}

func (e *Env) rulesCommand() *cobra.Command {
	var project string
	c := &cobra.Command{
		Use: "rules", Short: "List remembered permission answers",
		Long: `List the permission questions that were answered with "always", newest first. They
are applied before the rules of coppice.yaml. The first rule that matches decides.`,
		Example: "  coppice rules\n  coppice rules remove 2",
		Args:    args(0, 0, "no argument"),
	}
	c.PersistentFlags().StringVarP(&project, "project", "p", "", "a project's prefix; the default is the current directory's")
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return e.call(c, func(ctx context.Context, cl *client.Client) error {
			prefix, err := e.named(ctx, cl, names(project))
			if err != nil {
				return err
			}
			rules, err := cl.Rules(ctx, prefix)
			if err != nil {
				return err
			}
			if *asJSON {
				return e.json(api.RuleList{Rules: rules})
			}
			e.printRules(rules)
			return nil
		})
	}
	c.AddCommand(e.rulesRemove(&project))
	return c
}

func (e *Env) printRules(rules []coppice.Rule) {
	if len(rules) == 0 {
		e.printf("no remembered answers\n")
		return
	}
	rows := make([][]cell, len(rules))
	for i, r := range rules {
		rows[i] = []cell{plain(strconv.Itoa(i + 1)), {r.Do, bold}, plain(r.Tool), plain(r.Match), plain(r.Why)}
	}
	e.table([]column{{head: "N", end: true}, {head: "DO"}, {head: "TOOL"}, {head: "ON", give: true}, {head: "WHY"}}, rows)
}

func (e *Env) rulesRemove(project *string) *cobra.Command {
	c := &cobra.Command{
		Use: "remove N", Short: "Remove a remembered answer", Long: "Remove a remembered answer, by the number that `coppice rules` shows.",
		Example: "  coppice rules remove 2", Args: args(1, 1, "the number of a rule"),
	}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		n, err := strconv.Atoi(given[0])
		if err != nil || n < 1 {
			return wrongUse(fmt.Sprintf("%s is not the number of a rule", coppice.Quote(given[0])), "run: coppice rules")
		}
		return e.call(c, func(ctx context.Context, cl *client.Client) error {
			prefix, err := e.named(ctx, cl, names(*project))
			if err != nil {
				return err
			}
			rule, err := cl.ForgetRule(ctx, prefix, n)
			if err != nil {
				return err
			}
			if *asJSON {
				return e.json(rule)
			}
			e.printf("removed: %s\n", line(strings.Join(strings.Fields(rule.Do+" "+rule.Tool+" "+rule.Match), " ")))
			return nil
		})
	}
	return c
}

// names returns a list of one name, or nil without one.
func names(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}
