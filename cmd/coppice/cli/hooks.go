package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

func (e *Env) hooksCommand() *cobra.Command {
	var project string
	var events bool
	c := &cobra.Command{
		Use: "hooks", Short: "List hooks, test them and show their runs",
		Long: `Hooks are commands that run after events, such as a landing. A project has them in
coppice.yaml and a user in config.yaml, under hooks. The list shows how each hook
ended the last time.`,
		Example: "  coppice hooks\n  coppice hooks --events\n  coppice hooks test landed --task app-4\n  coppice hooks log --task app-4", Args: args(0, 0, "no argument"),
	}
	c.Flags().StringVarP(&project, "project", "p", "", "only the hooks of this project, and the user's")
	c.Flags().BoolVar(&events, "events", false, "list the events instead")
	shows(e, c, func(ctx context.Context, cl *client.Client, _ []string) (api.HookList, error) {
		return cl.Hooks(ctx, project)
	}, func(l api.HookList) {
		if events {
			e.hookEvents(l.Events)
			return
		}
		e.hooks(l.Hooks)
	})
	c.AddCommand(e.hooksTest(), e.hooksLog())
	return c
}

func (e *Env) hookEvents(list []coppice.HookEventInfo) {
	var rows [][]cell
	for _, i := range list {
		help := i.Help
		if i.Blocks {
			help += " on_failure can be block."
		}
		rows = append(rows, []cell{{string(i.Name), bold}, plain(help)})
	}
	e.table([]column{{head: "EVENT"}, {head: "WHEN", give: true}}, rows)
}

func (e *Env) hooks(list []api.ConfiguredHook) {
	listed(e, "no hooks; add them under hooks in coppice.yaml, or in the user's config.yaml", list, []column{{head: "OF"}, {head: "EVENT"}, {head: "RUN", give: true}, {head: "ON FAILURE"}, {head: "LAST"}, {head: "WHEN"}}, func(h api.ConfiguredHook) []cell {
		of, last, at := h.Project, plain("never ran"), ""
		if h.From == "user" {
			of = "user"
		}
		if r := h.Last; r != nil {
			last, at = hookState(*r), ago(e.Now().Sub(r.At))
		}
		return []cell{plain(of), {string(h.Event), bold}, plain(line(h.Run)), plain(h.OnFailure), last, {at, dim}}
	})
}

// hookState shows how a run ended.
func hookState(r api.HookRun) cell {
	switch r.State {
	case coppice.HookPassed:
		return cell{"passed", green}
	case coppice.HookFailed:
		return cell{fmt.Sprintf("failed (%d)", r.Exit), red}
	}
	return cell{r.State, yellow}
}

func (e *Env) hooksTest() *cobra.Command {
	var t coppice.HookTest
	c := &cobra.Command{
		Use: "test EVENT", Short: "Run the hooks of an event, and show their output",
		Long: `Run the hooks of an event without the event, and show output and exit code of each.
The hooks get the facts of --task, or a sample. Their input says that it is a test.
Nothing follows from their results. The command exits with 1 if a hook fails.`,
		Example: "  coppice hooks test landed\n  coppice hooks test landed --task app-4\n  coppice hooks test server-started --project app", Args: args(1, 1, "an event, such as landed"),
	}
	c.Flags().StringVarP(&t.Project, "project", "p", "", "a project's prefix; the default is the current directory's")
	c.Flags().StringVar(&t.Task, "task", "", "the task whose facts the hooks get")
	return tests(e, c, func(ctx context.Context, cl *client.Client, given []string) (page api.HookRunPage, failed bool, err error) {
		t.Event = coppice.HookEvent(given[0])
		if t.Project == "" && t.Task == "" {
			here, err := e.here(ctx, cl)
			if err != nil {
				return page, false, err
			}
			if here != nil { // otherwise only the user's hooks run
				t.Project = here.Prefix
			}
		}
		if page, err = cl.TestHooks(ctx, t); err != nil {
			return page, false, err
		}
		for i, r := range page.Runs {
			if page.Runs[i], err = cl.WaitHook(ctx, r.ID); err != nil {
				return page, false, err
			}
			failed = failed || page.Runs[i].State != coppice.HookPassed
		}
		return page, failed, nil
	}, func(page api.HookRunPage) {
		for _, r := range page.Runs {
			e.hookRun(r, true)
		}
	})
}

func (e *Env) hooksLog() *cobra.Command {
	var q client.HookQuery
	var output bool
	c := &cobra.Command{
		Use: "log", Short: "Show the runs of hooks, newest first", Long: "Show the runs of hooks, newest first, with how each ended. The newest 200 runs of each project are kept.",
		Example: "  coppice hooks log\n  coppice hooks log --task app-4 --output", Args: args(0, 0, "no argument"),
	}
	f := c.Flags()
	f.StringVarP(&q.Project, "project", "p", "", "only this project")
	f.StringVar(&q.Task, "task", "", "only this task")
	f.StringVar(&q.Event, "event", "", "only this event, such as landed")
	beforeFlag(f, &q.Before)
	f.IntVar(&q.Limit, "limit", 20, "how many runs, at most 100")
	f.BoolVar(&output, "output", false, "show the output of each run; without it, only that of failed ones")
	return shows(e, c, func(ctx context.Context, cl *client.Client, _ []string) (api.HookRunPage, error) {
		return cl.HookRuns(ctx, q)
	}, func(page api.HookRunPage) {
		if len(page.Runs) == 0 {
			e.printf("no hook has run\n")
			return
		}
		for _, r := range page.Runs {
			e.hookRun(r, output || r.State == coppice.HookFailed)
		}
		e.morePages("runs", page.Next)
	})
}

// hookRun shows a run, and its output below it.
func (e *Env) hookRun(r api.HookRun, output bool) {
	state := hookState(r)
	parts := []string{e.paint(bold, string(r.Event)), e.paint(state.style, state.text)}
	if r.Task != "" {
		parts = append(parts, r.Task)
	} else if r.Project != "" {
		parts = append(parts, r.Project)
	}
	parts = append(parts, line(r.Run), e.paint(dim, fmt.Sprintf("%s, %d ms, %s", ago(e.Now().Sub(r.At)), r.TookMS, r.ID)))
	e.printf("%s\n", strings.Join(parts, "  "))
	if text := strings.TrimRight(r.Output, "\n"); output && text != "" {
		for _, l := range strings.Split(text, "\n") {
			e.printf("    %s\n", Clean(l))
		}
	}
}
