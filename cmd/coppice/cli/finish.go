package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// groups are the groups of commands in the help, in order.
var groups = []struct{ id, title, commands string }{
	{"start", "Start:", "init start serve demo doctor agents login import"},
	{"tasks", "Tasks:", "new wait stop retry requeue land continue done skip-check unskip-check set fork archive unarchive undo revert drop-branches trash group note features issues"},
	{"flows", "Flows:", "goal cycle debate batch flow schedule template"},
	{"talk", "Talk:", "send answer interrupt model take give attach"},
	{"look", "Look:", "status inbox list show logs diff review branch pr reactions preview search usage events"},
	{"machine", "Machine:", "project config secret limits rules locks hooks notify prices backup restore api mcp version help completion"},
}

// Finish adds to a command tree what all commands have in common: groups, the help
// command and its topics, completion, and a clear refusal of --json.
func Finish(root *cobra.Command, env Env) {
	of := map[string]string{}
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, name := range strings.Fields(g.commands) {
			of[name] = g.id
		}
	}
	root.AddCommand(helpTopics()...)
	root.SetHelpCommand(helpCommand())
	root.SetHelpCommandGroupID(of["help"])
	root.SetCompletionCommandGroupID(of["completion"])
	for _, c := range root.Commands() {
		c.GroupID = of[c.Name()]
	}
	walk(root, func(c *cobra.Command) {
		if c.RunE == nil && c.Run == nil && c.HasAvailableSubCommands() && c != root {
			c.Args = args(0, 0, "a command")
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		}
		if c.RunE != nil && c.Flags().Lookup("json") == nil {
			noJSON(c)
		}
		env.complete(c)
	})
}

// walk calls f with every command of a tree.
func walk(c *cobra.Command, f func(*cobra.Command)) {
	f(c)
	for _, sub := range c.Commands() {
		walk(sub, f)
	}
}

// helpCommand is like cobra's, but fails if the command does not exist.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Show the help of a command",
		Long: "Show the help of a command, or of a topic.", Example: "  coppice help new\n  coppice help exit-codes",
		ValidArgsFunction: func(c *cobra.Command, given []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
			at, rest, err := c.Root().Find(given)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []cobra.Completion
			for _, sub := range at.Commands() {
				if strings.HasPrefix(sub.Name(), word) && (sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand()) {
					names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, given []string) error {
			at := c.Root()
			for _, name := range given {
				next, rest, err := at.Find([]string{name})
				if err != nil || len(rest) > 0 || next == at {
					return unknownCommand(at, name)
				}
				at = next
			}
			at.InitDefaultHelpFlag()
			return at.Help()
		},
	}
}

// helpTopics are pages of help that are not about a command.
func helpTopics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "exit-codes", Short: "Exit codes of all commands", Long: `Exit codes:

  0    the command succeeded
  1    it failed; the error is on stderr. With several keys, one of them failed. Of
       coppice goal, and of cycle, debate and batch with --wait: the flow is not done
  2    it was used wrongly and did not start
  3    coppice wait, new --wait: a task needs you
  4    coppice wait, new --wait: a task failed or was stopped
  124  coppice wait, new --wait: --timeout is over`},
		{Use: "json", Short: "JSON output and errors", Long: `With --json a command prints JSON on stdout: the types of the HTTP API. Commands
that follow something print one object per line. Characters that a terminal obeys are
escaped.

An error is one object on stderr. code is one of invalid, not_found, conflict,
unauthorized, forbidden, too_large, unavailable and internal. fix and field can be
absent:

  {"error": {"code": "not_found", "message": "…", "fix": "…", "field": "…"}}

The exit code is the same with and without --json: see coppice help exit-codes. For
calls of the HTTP API that have no command, use coppice api.`},
	}
}
