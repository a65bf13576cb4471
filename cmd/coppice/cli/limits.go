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
		Use: "limits", Short: "Show the agents that nobody can use now",
		Long: `Show the agents, and models of agents, whose accounts can do nothing now: until
when, why, and which tasks wait for them. A rate limit ends by itself. One that
asks for a login or for money ends when you have seen to it and say clear, or
retry a task that waits. A model that agent.fallback names as agent:model has a
limit of its own.`,
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
		Use: "clear AGENT[:MODEL]", Short: "Say that an agent, or a model of it, can be used again",
		Long:    "Say that an agent, or a model of it, can be used again. The tasks that waited for that go on.",
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
			e.printf("  → mend the cause, then: coppice limits clear %s\n", line(l.Agent))
		}
	}
	return nil
}

// until tells when a limit ends.
func (e *Env) until(l coppice.AgentLimit) string {
	if l.Until.IsZero() {
		return string(l.Class) + ", until you say so"
	}
	return string(l.Class) + ", until " + e.moment(l.Until)
}

func (e *Env) rulesCommand() *cobra.Command {
	var project string
	c := &cobra.Command{
		Use: "rules", Short: "Show what you said always to",
		Long: `Show the permissions that were answered with always, newest first. They come before
the rules of coppice.yaml; the first that fits decides.`,
		Example: "  coppice rules\n  coppice rules remove 2",
		Args:    args(0, 0, "no argument"),
	}
	c.PersistentFlags().StringVarP(&project, "project", "p", "", "a project's prefix; the current directory's when absent")
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
		e.printf("nothing is remembered\n")
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
		Use: "remove N", Short: "Forget one of them", Long: "Forget a remembered rule, by the number that `coppice rules` shows.",
		Example: "  coppice rules remove 2", Args: args(1, 1, "the number of a rule"),
	}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		n, err := strconv.Atoi(given[0])
		if err != nil || n < 1 {
			return wrongUse(fmt.Sprintf("%s is no number of a rule", coppice.Quote(given[0])), "see coppice rules")
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
			e.printf("forgotten: %s\n", line(strings.Join(strings.Fields(rule.Do+" "+rule.Tool+" "+rule.Match), " ")))
			return nil
		})
	}
	return c
}

// names is a list of the names that were given.
func names(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}
