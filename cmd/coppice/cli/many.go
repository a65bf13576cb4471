package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
	"coppice/verb"
)

// selection is the tasks that --all selects.
type selection struct {
	verb     coppice.Verb
	statuses []coppice.Status
	project  string
	all, yes bool
	request  *verb.Request
}

// selectionFlags adds --project, --all and --yes to a command that takes keys.
func selectionFlags(c *cobra.Command, info verb.Info, r *verb.Request) *selection {
	s := &selection{verb: info.Verb, statuses: info.Command.All, request: r}
	if len(s.statuses) == 0 {
		return s
	}
	c.Flags().StringVarP(&s.project, "project", "p", "", "with --all: a project's prefix; the default is the current directory's")
	c.Flags().BoolVarP(&s.all, "all", "a", false, "all tasks of the project, instead of keys")
	c.Flags().BoolVarP(&s.yes, "yes", "y", false, "with --all: do not ask")
	return s
}

// checkArgs checks that there are keys, or --all.
func (s *selection) checkArgs(c *cobra.Command, given []string) error {
	switch {
	case s.request != nil && s.request.Head != "" && (s.all || len(given) > 1):
		return wrongUse("--head names the change of one task", "land the others without it")
	case s.all && len(given) > 0:
		return wrongUse("--all and keys were both given", "leave out one of them")
	case s.all:
		return nil
	case s.project != "":
		return wrongUse("--project without --all selects nothing", "add --all, or name the keys of tasks")
	}
	return args(1, -1, "keys of tasks")(c, given)
}

// keys returns the keys of the tasks, after a confirmation if --all selected them.
func (s *selection) keys(ctx context.Context, e *Env, cl *client.Client, given []string, asJSON bool) ([]string, error) {
	if !s.all {
		return given, nil
	}
	if !s.yes && (!e.Asks || asJSON) {
		return nil, wrongUse(fmt.Sprintf("%s --all needs a confirmation", s.verb), "pass --yes, or run it in a terminal without --json")
	}
	project, err := e.named(ctx, cl, names(s.project))
	if err != nil {
		return nil, err
	}
	tasks, err := s.find(ctx, cl, project)
	if err != nil || len(tasks) == 0 {
		return nil, err
	}
	if !s.yes {
		e.tasks(tasks)
		if err := e.confirm(fmt.Sprintf("%s %s of %s?", s.verb, count(len(tasks), "task"), project), "nothing was changed"); err != nil {
			return nil, err
		}
	}
	keys := make([]string, len(tasks))
	for i, t := range tasks {
		keys[i] = t.Key
	}
	return keys, nil
}

// find lists the tasks of a project to which the verb applies, newest first.
func (s *selection) find(ctx context.Context, cl *client.Client, project string) (all []api.Task, err error) {
	q := client.TaskQuery{Project: project, Limit: 500}
	for _, st := range s.statuses {
		q.Status = append(q.Status, string(st))
	}
	for {
		page, err := cl.Tasks(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, t := range page.Tasks {
			if slices.Contains(t.Can, s.verb) {
				all = append(all, t)
			}
		}
		if q.Before = page.Next; q.Before == 0 {
			return all, nil
		}
	}
}

// taskResults is the result of a command for several tasks. With one task, its
// fields are there as well.
type taskResults struct {
	*api.Task
	Tasks  []api.Task  `json:"tasks"`
	Failed []failedKey `json:"failed,omitempty"`
}

// failedKey is a task that refused.
type failedKey struct {
	Key   string    `json:"key"`
	Error jsonError `json:"error"`
}

// tasksAction makes a command that does one thing to several tasks. It
// continues after a task that refuses, and then fails at the end.
func (e *Env) tasksAction(c *cobra.Command, done string, s *selection, do func(ctx context.Context, cl *client.Client, key string) (api.Task, error)) *cobra.Command {
	return e.tasksActionBy(c, func(api.Task) string { return done }, s, do)
}

// tasksActionBy is tasksAction, where done says for each task what was done.
func (e *Env) tasksActionBy(c *cobra.Command, done func(api.Task) string, s *selection, do func(ctx context.Context, cl *client.Client, key string) (api.Task, error)) *cobra.Command {
	c.Args = s.checkArgs
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		return e.call(c, func(ctx context.Context, cl *client.Client) error {
			keys, err := s.keys(ctx, e, cl, given, *asJSON)
			if err != nil {
				return err
			}
			out := taskResults{Tasks: []api.Task{}}
			var failed []error
			for _, key := range keys {
				t, err := do(ctx, cl, key)
				switch {
				case ctx.Err() != nil:
					return err
				case err != nil:
					failed, out.Failed = append(failed, err), append(out.Failed, failedKey{key, errorForJSON(err)})
				default:
					out.Tasks = append(out.Tasks, t)
				}
				if *asJSON {
					continue
				}
				if err != nil {
					PrintError(*e, err)
				} else {
					e.printf("%s  %s  %s\n", e.paint(bold, t.Key), done(t), e.paint(dim, line(t.Title)))
				}
			}
			if len(keys) == 1 && len(out.Tasks) == 1 {
				out.Task = &out.Tasks[0]
			}
			switch {
			case *asJSON:
				if err := e.json(out); err != nil {
					return err
				}
			case len(keys) == 0:
				e.printf("no task to %s\n", s.verb)
			}
			switch {
			case len(failed) == 0:
				return nil
			case !*asJSON:
				return exitState(exitFailed) // the errors are printed
			case len(failed) == 1:
				return failed[0]
			}
			return coppice.Errorf(coppice.ErrorCode(failed[0]), "%d of %d tasks refused", len(failed), len(keys)).WithFix("see the failed keys in the output")
		})
	}
	return c
}
