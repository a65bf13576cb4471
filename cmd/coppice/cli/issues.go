package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

func (e *Env) issuesCommand() *cobra.Command {
	c := e.issueList("issues")
	c.Short = "List, import and accept issues of trackers"
	c.Example = "  coppice issues\n  coppice issues import 12 13\n  coppice issues accept 12\n  coppice issues read"
	c.AddCommand(e.issueList("list"), e.issueImport(), e.issueAccept(), e.issueRead())
	return c
}

// issueFlags adds the flags that choose the project and the tracker.
func issueFlags(c *cobra.Command) (project, tracker *string) {
	project = c.Flags().StringP("project", "p", "", "a project's prefix; the default is the current directory's")
	return project, c.Flags().String("tracker", "", "the name of the tracker, if the project has several")
}

func (e *Env) issueList(name string) *cobra.Command {
	c := &cobra.Command{
		Use: name, Short: "List the issues that wait and those that became tasks",
		Long: `List the trackers of a project (the key tracker of coppice.yaml), the issues that wait to
become tasks with the reason, and the issues of tasks that have not ended.`,
		Example: "  coppice issues list\n  coppice issues list --ended --json", Args: args(0, 0, "no argument"),
	}
	project := c.Flags().StringP("project", "p", "", "a project's prefix; the default is the current directory's")
	var q client.IssueQuery
	c.Flags().BoolVar(&q.Ended, "ended", false, "also list issues whose tasks have ended")
	c.Flags().IntVarP(&q.Limit, "limit", "n", 100, "at most this many, up to 500")
	beforeFlag(c.Flags(), &q.Before)
	return showsIn(e, c, project, func(ctx context.Context, cl *client.Client, prefix string, _ []string) (api.Issues, error) {
		return cl.Issues(ctx, prefix, q)
	}, e.issues)
}

// issues prints the sources of issues, and a table of issues.
func (e *Env) issues(page api.Issues) {
	if len(page.Sources) == 0 {
		e.printf("no tracker\n%s\n", e.paint(dim, "to import the issues of the project's forge, add to coppice.yaml: tracker: {import: {labels: [agent]}}"))
	}
	for _, s := range page.Sources {
		text := cmp.Or(s.Text, fmt.Sprintf("%d of %d tasks are active", s.Active, s.Most))
		if s.Manual {
			text += "; only people import issues"
		}
		e.printf("%s  %s\n", e.paint(bold, line(s.Name)), line(text))
		if f := s.Failure; f != nil {
			e.printf("  %s %s\n", e.paint(red, "it cannot be read: "+line(f.Text)), e.paint(dim, line(f.Fix)))
		}
		if s.Problem != "" {
			e.printf("  %s\n", e.paint(red, line(s.Problem)))
		}
	}
	if len(page.Issues) == 0 {
		return
	}
	rows := make([][]cell, len(page.Issues))
	for i, s := range page.Issues {
		rows[i] = []cell{{s.Name, bold}, plain(cmp.Or(string(s.Status), "-")), plain(cmp.Or(s.Task, "-")), plain(s.Title), plain(issueNote(s)), plain(s.URL)}
	}
	e.table([]column{{head: "ISSUE"}, {head: "STATUS"}, {head: "TASK"}, {head: "TITLE", give: true}, {head: "NOTE", give: true}, {head: "URL"}}, rows)
	e.morePages("issues", page.Next)
}

// issueNote says what a person should know about an issue.
func issueNote(i api.Issue) string {
	var notes []string
	add := func(text string) {
		if text != "" {
			notes = append(notes, text)
		}
	}
	add(i.Why)
	if i.Held {
		add("run: coppice issues accept " + i.Issue)
	}
	if i.Reopened {
		add("run: coppice issues import " + i.Issue)
	}
	add(i.Problem)
	return strings.Join(notes, "; ")
}

// issueName returns the name and the address of an issue.
func issueName(r *coppice.IssueRef) string {
	if r == nil {
		return ""
	}
	return strings.TrimSpace(r.Name() + " " + r.URL)
}

func (e *Env) issueImport() *cobra.Command {
	c := &cobra.Command{
		Use: "import ISSUE…", Short: "Create the tasks of issues",
		Long: `Create the tasks of issues, whatever their labels are and however many tasks are active.
An issue is named by its number (12 or #12), its name (ENG-12) or its address. For an
issue that has an open task, the command prints that task.`,
		Example: "  coppice issues import 12 13\n  coppice issues import ENG-7 --tracker linear", Args: args(1, -1, "an issue"),
	}
	project, tracker := issueFlags(c)
	return showsIn(e, c, project, func(ctx context.Context, cl *client.Client, prefix string, given []string) (api.TaskList, error) {
		return cl.ImportIssues(ctx, prefix, api.ImportIssues{Tracker: *tracker, Issues: given})
	}, func(list api.TaskList) {
		for _, t := range list.Tasks {
			e.printf("%s  is the task of %s  %s\n", e.paint(bold, t.Key), line(issueName(t.Issue)), e.paint(dim, line(t.Title)))
		}
	})
}

func (e *Env) issueAccept() *cobra.Command {
	c := &cobra.Command{
		Use: "accept ISSUE", Short: "Accept the text of an issue that somebody changed",
		Long: `Accept the title and the description of an issue that somebody changed whose edits do
not count. The task gets them, and its agent a message if it works.`,
		Example: "  coppice issues accept 12", Args: args(1, 1, "an issue"),
	}
	project, tracker := issueFlags(c)
	named := ""
	return showsIn(e, c, project, func(ctx context.Context, cl *client.Client, prefix string, given []string) (api.Issues, error) {
		named = given[0]
		return cl.AcceptIssue(ctx, prefix, api.AcceptIssue{Tracker: *tracker, Issue: given[0]})
	}, func(api.Issues) { e.printf("the text of %s is accepted\n", line(named)) })
}

func (e *Env) issueRead() *cobra.Command {
	c := &cobra.Command{
		Use: "read", Short: "Read the trackers of a project now", Long: "Read the trackers of a project now, instead of at the next interval.",
		Example: "  coppice issues read", Args: args(0, 0, "no argument"),
	}
	project := c.Flags().StringP("project", "p", "", "a project's prefix; the default is the current directory's")
	return showsIn(e, c, project, func(ctx context.Context, cl *client.Client, prefix string, _ []string) (api.Issues, error) {
		return cl.ReadIssues(ctx, prefix)
	}, func(list api.Issues) { e.printf("%s will be read\n", count(len(list.Sources), "tracker")) })
}
