package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"coppice/api"
	"coppice/api/client"
)

func (e *Env) groupCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "group", Short: "List groups of tasks, and show one",
		Long: `A group is a set of tasks of a project that belong together. Tasks that are created
together are a group, and so are the tasks of the features file. Name a group with
coppice new --group and coppice set --group. A group exists while it has tasks.`,
		Example: "  coppice group list\n  coppice group show batch-12\n  coppice list --group batch-12",
	}
	c.AddCommand(e.groupList(), e.groupShow())
	return c
}

func (e *Env) groupList() *cobra.Command {
	var project string
	var before int64
	c := &cobra.Command{
		Use: "list", Short: "List groups of tasks, newest first", Long: "List the groups of a project, or of all projects, newest first.",
		Example: "  coppice group list\n  coppice group list --project app", Args: args(0, 0, "no argument"),
	}
	c.Flags().StringVarP(&project, "project", "p", "", "only this project")
	beforeFlag(c.Flags(), &before)
	return shows(e, c, func(ctx context.Context, cl *client.Client, _ []string) (api.GroupPage, error) {
		return cl.Groups(ctx, project, before)
	}, func(page api.GroupPage) {
		listed(e, "no groups", page.Groups, []column{{head: "PROJECT"}, {head: "NAME"}, {head: "KIND"}, {head: "TASKS", end: true}, {head: "STATUS", give: true}, {head: "COST", end: true}, {head: "TITLE", give: true}}, func(g api.Group) []cell {
			return []cell{
				plain(g.Project), {g.Name, bold}, plain(string(g.Kind)), plain(itoa(int64(g.Tasks))), plain(e.totals(g.Counts)), plain(cost(g.Usage)), plain(g.Title),
			}
		})
		e.morePages("groups", page.Next)
	})
}

// groupShown is a group with its newest tasks.
type groupShown struct {
	api.Group
	List []api.Task `json:"list"`
}

func (e *Env) groupShow() *cobra.Command {
	var project string
	c := &cobra.Command{
		Use: "show NAME", Short: "Show a group and its newest tasks", Long: "Show a group of tasks: how many there are by status, what they cost, and the newest 100.",
		Example: "  coppice group show batch-12", Args: args(1, 1, "the name of a group"),
	}
	c.Flags().StringVarP(&project, "project", "p", "", "a project's prefix; the default is the current directory's")
	return showsIn(e, c, &project, func(ctx context.Context, cl *client.Client, prefix string, given []string) (out groupShown, err error) {
		if out.Group, err = cl.Group(ctx, prefix, given[0]); err != nil {
			return out, err
		}
		page, err := cl.Tasks(ctx, client.TaskQuery{Project: prefix, Group: given[0], Archived: "true", Limit: 100})
		out.List = page.Tasks
		return out, err
	}, func(g groupShown) {
		e.printf("%s  %s  %s\n", e.paint(bold, g.Name), count(g.Tasks, "task"), line(cmp.Or(g.Title, string(g.Kind))))
		e.printf("%s\n\n", strings.TrimSpace(e.totals(g.Counts)+"  "+cost(g.Usage)))
		e.tasks(g.List)
	})
}

// markFlags adds flags that choose tasks by what people mark them with. It returns
// the group that a person names, which findGroup finds.
func markFlags(c *cobra.Command, m *client.Marks) *string {
	f := c.Flags()
	f.StringVar(&m.Label, "label", "", "only tasks with this label")
	f.BoolVar(&m.Flagged, "flagged", false, "only tasks that are flagged")
	return f.String("group", "", "only tasks of this group of the project")
}

// findGroup adds a group of a project to marks, unless its name is empty.
func findGroup(ctx context.Context, cl *client.Client, project, name string, m *client.Marks) error {
	if name == "" {
		return nil
	}
	g, err := cl.Group(ctx, project, name)
	m.GroupID = g.ID
	return err
}

// relabel returns the labels of a task after a change: a word with + is added, one
// with - is removed, and words without a sign replace all.
func relabel(now, change []string) ([]string, error) {
	out, replaced := slices.Clone(now), false
	for _, word := range change {
		word = strings.TrimSpace(word)
		name, add := strings.CutPrefix(word, "+")
		if gone, ok := strings.CutPrefix(word, "-"); ok {
			out = slices.DeleteFunc(out, func(s string) bool { return s == gone })
			continue
		}
		if !add && !replaced {
			if slices.ContainsFunc(change, func(s string) bool { return strings.HasPrefix(s, "+") || strings.HasPrefix(s, "-") }) {
				return nil, wrongUse(fmt.Sprintf("--label has words with and without a sign: %s", strings.Join(change, ",")), "write all with a sign (+a,-b), or all without one to replace the labels")
			}
			out, replaced = nil, true
		}
		if name != "" {
			out = append(out, name)
		}
	}
	if out == nil {
		out = []string{}
	}
	return out, nil
}
