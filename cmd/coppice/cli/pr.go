package cli

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
	"coppice/verb"
)

func (e *Env) prCommand() *cobra.Command {
	c := e.prList("pr")
	c.Short = "List, open, merge and adopt pull requests, and resolve their comments"
	c.Example = "  coppice pr\n  coppice pr open app-4\n  coppice pr merge 12\n  coppice pr adopt 12 \"Fix the failing test\"\n  coppice pr resolve-comments app-4"
	c.AddCommand(e.prList("list"), e.prOpen(), e.prMerge(), e.prAdopt(), e.prComments())
	return c
}

// pullFlag adds --project to a command that takes numbers of pull requests.
func pullFlag(c *cobra.Command) *string {
	return c.Flags().StringP("project", "p", "", "the project of the numbers; the default is the current directory's")
}

// pullNumber returns the number of a pull request that a person wrote as 12 or #12.
func pullNumber(word string) (int, bool) {
	n, err := strconv.ParseInt(strings.TrimPrefix(word, "#"), 10, 32)
	return int(n), err == nil && n > 0
}

// pullKey returns the key of the task that a person named, or of the task of the pull
// request with that number.
func (e *Env) pullKey(ctx context.Context, cl *client.Client, project, word string) (string, error) {
	number, ok := pullNumber(word)
	if !ok {
		return word, nil
	}
	prefix, err := e.named(ctx, cl, names(project))
	if err != nil {
		return "", err
	}
	t, err := cl.PullTask(ctx, prefix, number)
	return t.Key, err
}

// pullPage is the result of coppice pr list.
type pullPage struct {
	Pulls []listedPull `json:"pulls"`
	api.Page
}

// listedPull is a pull request with its task.
type listedPull struct {
	Task  string `json:"task"`
	Title string `json:"title"`
	coppice.PullMark
}

func (e *Env) prList(name string) *cobra.Command {
	q := client.TaskQuery{Pull: "open"}
	var all bool
	c := &cobra.Command{
		Use: name, Short: "List open pull requests",
		Long: `List the open pull requests of the tasks of the current directory's project, or of all
projects if the directory is not in a project. A request is known by its number (12 or
#12) or by the key of its task.`,
		Example: "  coppice pr list\n  coppice pr list --ended\n  coppice pr list --all --json", Args: args(0, 0, "no argument"),
	}
	c.Flags().StringVarP(&q.Project, "project", "p", "", "a project's prefix")
	c.Flags().BoolVarP(&all, "all", "a", false, "list the pull requests of all projects")
	ended := c.Flags().Bool("ended", false, "also list pull requests that were merged or closed")
	c.Flags().IntVarP(&q.Limit, "limit", "n", 100, "at most this many, up to 500")
	beforeFlag(c.Flags(), &q.Before)
	return shows(e, c, func(ctx context.Context, cl *client.Client, _ []string) (out pullPage, err error) {
		if *ended {
			q.Pull, q.Archived = "any", "true"
		}
		if err := e.inProject(ctx, cl, &q.Project, all); err != nil {
			return out, err
		}
		page, err := cl.Tasks(ctx, q)
		out = pullPage{Pulls: []listedPull{}, Page: page.Page}
		for _, t := range page.Tasks {
			if t.PR != nil {
				out.Pulls = append(out.Pulls, listedPull{Task: t.Key, Title: t.Title, PullMark: *t.PR})
			}
		}
		return out, err
	}, e.pulls)
}

// pulls prints a table of pull requests.
func (e *Env) pulls(page pullPage) {
	listed(e, "no open pull requests\n"+e.paint(dim, "open one with: coppice pr open KEY; continue somebody else's with: coppice pr adopt NUMBER"), page.Pulls, []column{{head: "PR"}, {head: "TASK"}, {head: "STATE"}, {head: "CI"}, {head: "REVIEW"}, {head: "TITLE", give: true}, {head: "PROBLEM", give: true}, {head: "URL"}}, func(p listedPull) []cell {
		number := "-"
		if p.Number != 0 {
			number = fmt.Sprintf("#%d", p.Number)
		}
		return []cell{{number, bold}, plain(p.Task), plain(pullState(p.PullMark)), ciCell(p.PullMark), reviewCell(p.PullMark), plain(p.Title), plain(p.Problem), plain(p.URL)}
	})
	e.morePages("pull requests", page.Next)
}

// pullState returns the state of a pull request in a few words.
func pullState(p coppice.PullMark) string {
	words := []string{p.Word}
	if p.State == coppice.PullOpen && p.Conflicts {
		words = append(words, "conflicts")
	}
	if p.Merging {
		words = append(words, "merging")
	}
	if p.Adopted {
		words = append(words, "adopted")
	}
	return strings.Join(words, ", ")
}

func ciCell(p coppice.PullMark) cell {
	switch p.CI {
	case coppice.CIFailed:
		return cell{"failed", red}
	case coppice.CIPassed:
		return cell{"passed", green}
	}
	return cell{cmp.Or(string(p.CI), "-"), dim}
}

func reviewCell(p coppice.PullMark) cell {
	text := map[coppice.ReviewState]string{coppice.ReviewApproved: "approved", coppice.ReviewChanges: "changes"}[p.Review]
	if p.Open > 0 {
		text = strings.TrimPrefix(fmt.Sprintf("%s, %d open", text, p.Open), ", ")
	}
	return plain(cmp.Or(text, "-"))
}

func (e *Env) prOpen() *cobra.Command {
	c := &cobra.Command{
		Use: "open KEY…", Short: "Put the work of tasks into pull requests",
		Long: `Put the work of a task that waits for your approval into a pull request, whatever the
project's land.how is. The work of a task that failed goes into a draft, which keeps it.
For a task that has an open pull request, the command prints its address.

The project needs a remote on a forge and the forge's token: see docs/forges.md.`,
		Example: "  coppice pr open app-4\n  coppice pr open app-4 app-5 --json",
	}
	return e.tasksActionBy(c, func(t api.Task) string {
		if t.PR != nil && t.PR.URL != "" {
			return "has the pull request " + t.PR.URL
		}
		return "gets a pull request"
	}, &selection{}, func(ctx context.Context, cl *client.Client, key string) (api.Task, error) {
		d, err := cl.Task(ctx, key)
		if err != nil || d.PR != nil && d.PR.State == coppice.PullOpen && d.PR.Number != 0 {
			return d.Task, err
		}
		return cl.Ask(ctx, key, coppice.VerbOpenPull, verb.Request{})
	})
}

func (e *Env) prMerge() *cobra.Command {
	var r verb.Request
	c := &cobra.Command{
		Use: "merge KEY…", Short: "Merge the pull requests of tasks",
		Long: `Merge pull requests, named by numbers or by the keys of their tasks. Coppice asks the
forge to merge, with land.pr.merge as the method. If the rules of the forge do not allow
it, the task shows why. A request of somebody else is merged and checked here first.
With --head the request is refused if the change is no longer at the commit that you
have read.`,
		Example: "  coppice pr merge 12\n  coppice pr merge app-4 app-5\n  coppice pr merge app-4 --head 3f2a91c",
	}
	c.Flags().StringVar(&r.Head, "head", "", "the `commit` that you have read; refused if the change is at another one")
	project := pullFlag(c)
	return e.tasksAction(c, "will be merged", &selection{request: &r}, func(ctx context.Context, cl *client.Client, word string) (t api.Task, err error) {
		key, err := e.pullKey(ctx, cl, *project, word)
		if err != nil {
			return t, err
		}
		d, err := cl.Task(ctx, key)
		switch {
		case err != nil:
			return t, err
		case d.PR == nil || d.PR.State != coppice.PullOpen:
			return t, coppice.Errorf(coppice.EConflict, "%s has no open pull request", d.Key).WithFix("open one with `coppice pr open %s`, or land its work with `coppice land %s`", d.Key, d.Key)
		case d.Stage != coppice.StagePull:
			return t, coppice.Errorf(coppice.EConflict, "the pull request of %s is not ready: its task is %s", d.Key, cmp.Or(d.Word, string(d.Status))).
				WithFix("wait until the task is in review; see `coppice show %s`", d.Key)
		}
		return cl.Ask(ctx, key, coppice.VerbLand, r)
	})
}

func (e *Env) prAdopt() *cobra.Command {
	var a client.Adoption
	c := &cobra.Command{
		Use: "adopt NUMBER [TEXT]", Short: "Continue a pull request that somebody else opened",
		Long: `Create a task that continues a pull request which somebody else opened. With TEXT, an
agent starts at the head of the request and does what TEXT says. Without TEXT, the task
only follows the request: reactions act on CI that fails, on reviews and on comments.
What agents commit is pushed to the branch of the request after it is proven. Coppice
does not change the title and the description of the request, and does not close it.

The branch must be in the same repository, and the request must aim at the branch on
which the project's work lands.`,
		Example: "  coppice pr adopt 12\n  coppice pr adopt 12 \"Fix the failing test\" --agent other-agent", Args: args(1, -1, "the number of a pull request and a text"),
	}
	project := c.Flags().StringP("project", "p", "", "a project's prefix; the default is the current directory's")
	c.Flags().StringVar(&a.Agent, "agent", "", "the agent that works on it")
	c.Flags().StringVar(&a.Model, "model", "", "the model to use, or auto")
	c.Flags().StringVar(&a.Title, "title", "", "the title of the task; the default is that of the pull request")
	done := "follows"
	return showsIn(e, c, project, func(ctx context.Context, cl *client.Client, prefix string, given []string) (t api.Task, err error) {
		number, ok := pullNumber(given[0])
		if !ok {
			return t, wrongUse(coppice.Quote(given[0])+" is not the number of a pull request", "write it as the forge shows it, such as 12")
		}
		if a.Text, err = e.text(given[1:]); err != nil {
			return t, err
		}
		if a.Text != "" {
			done = "continues"
		}
		if has, err := cl.PullTask(ctx, prefix, number); err == nil && has.PR != nil && has.PR.State == coppice.PullOpen {
			done = "has"
			return has, nil
		}
		return cl.AdoptPull(ctx, prefix, number, a)
	}, func(t api.Task) {
		e.printf("%s  %s %s  %s\n", e.paint(bold, t.Key), done, line(pullName(t.PR)), e.paint(dim, line(t.Title)))
	})
}

// pullName returns the number and the address of a pull request.
func pullName(p *coppice.PullMark) string {
	if p == nil {
		return "its pull request"
	}
	return strings.TrimSpace(fmt.Sprintf("#%d %s", p.Number, p.URL))
}

func (e *Env) prComments() *cobra.Command {
	var r verb.Request
	c := &cobra.Command{
		Use: "resolve-comments KEY", Short: "Send the open comments on a pull request to the agent",
		Long: `Send all comments on a pull request that are not resolved to the agent of its task, as
one message: those of people whose comments count (forge.authors, or write access), and
those of bots. The rules of reactions and their limits do not apply. When the agent's
commit is pushed, Coppice resolves these discussions, if the forge can. The request is
named by its number or by the key of its task.`,
		Example: "  coppice pr resolve-comments 12\n  coppice pr resolve-comments app-4 --note \"Leave the names as they are\"", Args: args(1, 1, "a task's key, or the number of a pull request"),
	}
	c.Flags().StringVar(&r.Text, "note", "", "a message for the agent, before the comments")
	project := pullFlag(c)
	return e.taskAction(c, "gets the comments", func(ctx context.Context, cl *client.Client, given []string) (t api.Task, err error) {
		key, err := e.pullKey(ctx, cl, *project, given[0])
		if err != nil {
			return t, err
		}
		return cl.Ask(ctx, key, coppice.VerbComments, r)
	})
}
