package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/api/client"
	"coppice/verb"
)

// completeWithin is how long a completion waits for the server.
const completeWithin = 300 * time.Millisecond

// completer lists what an argument or a flag can be. The project is the one that
// --project names, or the current directory's; it can be empty.
type completer func(ctx context.Context, cl *client.Client, c *cobra.Command, project string) []cobra.Completion

// byArgument has the completers of arguments, by their name in Use. Other arguments
// are texts, unless fileArguments has them.
var byArgument = map[string]completer{
	"KEY": completeKeys, "PREFIX": completeProjects, "MODEL": completeModels, "AGENT[:MODEL]": completeAgents,
}

// fileArguments are the names of arguments that are files or directories.
var fileArguments = []string{"DIR", "PATH", "BACKUP"}

// byFlag has the completers of flags, by name.
var byFlag = map[string]completer{
	"project": completeProjects, "agent": completeAgents, "model": completeModels, "after": completeKeys, "task": completeKeys,
	"group": completeGroups, "implementer": completeAgents, "reviewer": completeAgents, "lead": completeAgents, "verifier": completeAgents, "agents": completeAgents, "between": completeAgents, "track": completeTracks, "status": completeStatuses, "until": completeUntil,
}

// complete adds completion to a command that has none.
func (e *Env) complete(c *cobra.Command) {
	for name, f := range byFlag {
		if c.Flags().Lookup(name) != nil {
			_ = c.RegisterFlagCompletionFunc(name, e.completion(f)) // it might have its own
		}
	}
	if c.ValidArgsFunction != nil || c.HasAvailableSubCommands() || len(c.ValidArgs) > 0 {
		return
	}
	var names []string
	many := strings.Contains(c.Use, "…")
	for _, word := range strings.Fields(c.Use)[1:] {
		if !strings.Contains(word, "[:") {
			word = strings.Trim(word, "[]…")
		}
		names = append(names, word)
	}
	c.ValidArgsFunction = func(c *cobra.Command, given []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		n := len(given)
		if many {
			n = min(n, len(names)-1)
		}
		if n < 0 || n >= len(names) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		if slices.Contains(fileArguments, names[n]) {
			return nil, cobra.ShellCompDirectiveDefault
		}
		if f := byArgument[names[n]]; f != nil {
			found, how := e.completion(f)(c, given, word)
			return slices.DeleteFunc(found, func(s cobra.Completion) bool {
				value, _, _ := strings.Cut(s, "\t")
				return slices.Contains(given, value)
			}), how
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// completion asks the server, which has a moment to answer. Without a server there
// are no completions, and no message.
func (e *Env) completion(f completer) cobra.CompletionFunc {
	return func(c *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(c.Context(), completeWithin)
		defer cancel()
		cl, err := e.Client()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer cl.Close()
		project := ""
		if flag := c.Flags().Lookup("project"); flag != nil {
			project = flag.Value.String()
		}
		if p, err := e.here(ctx, cl); err == nil && p != nil && project == "" {
			project = p.Prefix
		}
		found := f(ctx, cl, c, project)
		return slices.DeleteFunc(found, func(s cobra.Completion) bool { return !strings.HasPrefix(s, word) }), cobra.ShellCompDirectiveNoFileComp
	}
}

// described is a completion with a text for people.
func described(value, text string) cobra.Completion {
	return cobra.CompletionWithDesc(line(value), line(text))
}

// completeKeys lists the newest tasks. For a command that requests something of
// them, it lists those to which the request applies.
func completeKeys(ctx context.Context, cl *client.Client, c *cobra.Command, project string) (out []cobra.Completion) {
	if c.HasParent() && c.Parent().Name() == "flow" {
		return completeFlows(ctx, cl, c, project)
	}
	if c.HasParent() && c.Parent().Name() == "pr" {
		return completePulls(ctx, cl, c, project)
	}
	page, err := cl.Tasks(ctx, client.TaskQuery{Project: project, Limit: 100})
	if err != nil {
		return nil
	}
	of := coppice.Verb(c.Name())
	applies := slices.ContainsFunc(verb.Actions(), func(i verb.Info) bool { return i.Verb == of }) && c.Parent() == c.Root()
	for _, t := range page.Tasks {
		if !applies || of == verb.Unarchive || slices.Contains(t.Can, of) {
			out = append(out, described(t.Key, t.Title))
		}
	}
	return out
}

// completePulls lists the keys of tasks with an open pull request, and its number. For
// coppice pr open, it lists the tasks that can get one.
func completePulls(ctx context.Context, cl *client.Client, c *cobra.Command, project string) (out []cobra.Completion) {
	opens := c.Name() == "open"
	q := client.TaskQuery{Project: project, Limit: 100}
	if !opens {
		q.Pull = "open"
	}
	page, err := cl.Tasks(ctx, q)
	if err != nil {
		return nil
	}
	for _, t := range page.Tasks {
		if opens && !slices.Contains(t.Can, coppice.VerbOpenPull) {
			continue
		}
		out = append(out, described(t.Key, t.Title))
		if t.PR != nil && t.PR.Number != 0 && !opens && project != "" {
			out = append(out, described(itoa(int64(t.PR.Number)), t.Title))
		}
	}
	return out
}

func completeProjects(ctx context.Context, cl *client.Client, _ *cobra.Command, _ string) (out []cobra.Completion) {
	projects, err := cl.Projects(ctx)
	if err != nil {
		return nil
	}
	for _, p := range projects {
		out = append(out, described(p.Prefix, p.Path))
	}
	return out
}

func completeAgents(ctx context.Context, cl *client.Client, _ *cobra.Command, project string) (out []cobra.Completion) {
	list, err := cl.Agents(ctx, project, false)
	if err != nil {
		return nil
	}
	for _, a := range list.Agents {
		if a.Version != "" {
			out = append(out, described(a.Name, a.State))
		}
	}
	return out
}

// completeModels lists the models of the agent that --agent names, or of all.
func completeModels(ctx context.Context, cl *client.Client, c *cobra.Command, project string) []cobra.Completion {
	list, err := cl.Agents(ctx, project, false)
	if err != nil {
		return nil
	}
	agent := ""
	if flag := c.Flags().Lookup("agent"); flag != nil {
		agent = flag.Value.String()
	}
	var out []cobra.Completion
	for _, m := range list.Choices {
		out = append(out, described(m, "chosen by how hard the task looks"))
	}
	for _, a := range list.Agents {
		if agent != "" && a.Name != agent || !a.Installed {
			continue
		}
		for _, m := range a.Suggest {
			out = append(out, described(m, a.Name))
		}
	}
	return out
}

func completeGroups(ctx context.Context, cl *client.Client, _ *cobra.Command, project string) (out []cobra.Completion) {
	page, err := cl.Groups(ctx, project, 0)
	if err != nil {
		return nil
	}
	for _, g := range page.Groups {
		out = append(out, described(g.Name, g.Title))
	}
	return out
}

func completeTracks(ctx context.Context, cl *client.Client, _ *cobra.Command, project string) (out []cobra.Completion) {
	if project == "" {
		return nil
	}
	p, err := cl.Project(ctx, project)
	if err != nil {
		return nil
	}
	for _, t := range p.Policy.Tracks {
		out = append(out, line(t.Name))
	}
	return out
}

func completeStatuses(context.Context, *client.Client, *cobra.Command, string) (out []cobra.Completion) {
	for _, s := range coppice.Statuses {
		out = append(out, string(s))
	}
	return out
}

func completeUntil(_ context.Context, _ *client.Client, c *cobra.Command, _ string) (out []cobra.Completion) {
	if c.Name() != "wait" { // inbox snooze has a time there
		return nil
	}
	for name := range goals {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
