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
	c.AddCommand(e.limitsClear())
	return shows(e, c, func(ctx context.Context, cl *client.Client, _ []string) (api.LimitList, error) {
		limits, err := cl.Limits(ctx)
		return api.LimitList{Limits: limits}, err
	}, e.printLimits)
}

func (e *Env) limitsClear() *cobra.Command {
	c := &cobra.Command{
		Use: "clear AGENT[:MODEL]", Short: "Clear the limit of an agent, or of one of its models",
		Long:    "Clear the limit of an agent, or of one of its models, after you have fixed the cause. The tasks that wait for it continue.",
		Example: "  coppice limits clear my-agent\n  coppice limits clear my-agent:small", Args: args(1, 1, "an agent's name, or agent:model"),
	}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		return result(e, c, *asJSON, func(ctx context.Context, cl *client.Client) (api.LimitList, error) {
			left, err := cl.ClearLimit(ctx, given[0])
			return api.LimitList{Limits: left}, err
		}, func(api.LimitList) { e.printf("%s can be used again\n", e.paint(bold, given[0])) })
	}
	return c
}

func (e *Env) printLimits(list api.LimitList) {
	if len(list.Limits) == 0 {
		e.printf("no agent is limited\n")
	}
	for _, l := range list.Limits {
		e.printf("%s  %s  %s\n", e.paint(bold, line(l.Agent)), e.paint(yellow, e.until(l.AgentLimit)), line(l.Text))
		if len(l.Tasks) > 0 {
			e.printf("  %s %s\n", e.paint(dim, "waiting:"), line(strings.Join(l.Tasks, ", ")))
		}
		if l.Until.IsZero() {
			e.printf("  → fix the problem, then run: coppice limits clear %s\n", line(l.Agent))
		}
	}
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
	c.AddCommand(e.rulesRemove(&project))
	return showsIn(e, c, &project, func(ctx context.Context, cl *client.Client, prefix string, _ []string) (list api.RuleList, err error) {
		list.Rules, err = cl.Rules(ctx, prefix)
		return list, err
	}, e.printRules)
}

func (e *Env) printRules(list api.RuleList) {
	if len(list.Rules) == 0 {
		e.printf("no remembered answers\n")
		return
	}
	rows := make([][]cell, len(list.Rules))
	for i, r := range list.Rules {
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
		return result(e, c, *asJSON, func(ctx context.Context, cl *client.Client) (rule coppice.Rule, err error) {
			prefix, err := e.named(ctx, cl, names(*project))
			if err == nil {
				rule, err = cl.ForgetRule(ctx, prefix, n)
			}
			return rule, err
		}, func(rule coppice.Rule) {
			e.printf("removed: %s\n", line(strings.Join(strings.Fields(rule.Do+" "+rule.Tool+" "+rule.Match), " ")))
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
