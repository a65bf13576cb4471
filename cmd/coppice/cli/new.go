package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
	"coppice/control/agents"
)

// newFlags are the flags of `new`.
type newFlags struct {
	body, bodyFile, agent, model, effort, track, notBefore, file, project, budget, limit, category, schema, group, retry, branch, workspace, template, tracker string

	checks, after, steps, labels, images, completion, context, vars, issues []string

	priority, turns                                     int
	answer, untilDone, noServe, edit, wait, interactive bool
	debateFirst                                         bool
	between                                             []string
	waits                                               waitFlags
	json                                                *bool
}

func (e *Env) newCommand() *cobra.Command {
	var f newFlags
	c := &cobra.Command{
		Use:   "new [TITLE]",
		Short: "Create a task, or many from a file",
		Long: `Create a task in the project of the current directory. As soon as the limits allow
it, the server starts an agent in a separate workspace. It checks what the agent did,
and lands it if every check passes. If no server runs, the command starts one in the
background, as coppice serve -d does, unless --no-serve is given.

With --answer, the result of the task is an answer: its agent reads the code at the
tip of the base, cannot change anything, and nothing lands. With --schema, the answer
is JSON that matches a JSON schema. To see the answer, run: coppice show KEY.

With --workspace none, the agent works in your own checkout of the project, one such
task at a time. Nothing lands: Coppice does not commit, merge, move or remove anything
there. To see the agent's answer and what it changed, run: coppice show KEY and
coppice diff KEY. If its session fails, only you start another one.

With -i you work with the agent from the start. Its first session runs on the agent's
own screen, and the command attaches to it, like coppice take. When you leave the
screen, the agent finishes the task alone. If the agent has no screen, the command
shows the conversation and sends what you type. After each turn of the agent the task
waits for you. To come back, run coppice attach KEY.

With -e you write the task in your editor ($VISUAL or $EDITOR): the first line is the
title, the rest is the description. An empty text creates nothing. With - instead of
a title, the text comes from stdin in the same form. Without a title, Coppice makes
one from the description.

With --issue, the task comes from an issue of the project's tracker: its title and its
description are those of the issue, and its comments and links go to the agent. The
status goes back to the issue, which is closed when the task is done. See coppice issues.

With --debate-first, two agents first discuss the task until they agree. Then its agent
starts with a summary of that debate. The command creates a flow: see coppice debate.

With --wait the command waits until the task has landed, like coppice wait, and
prints only the final state. For the exit codes, see coppice help exit-codes.

With --file, many tasks are created, all or none. The file is YAML or
JSON: a list of tasks with the fields title, body, agent, model, effort, retry,
completion, checks, after, priority, track, category, steps, budget, turns, time,
until_done, not_before, answer, schema, group, labels, branch, context and ref. To
depend on another task of the file, name its ref in after. Tasks that name no group
become a new group.

An agent works until it is done. --turns and --time stop each session of the task
earlier, and --budget stops the task: it then waits for you, and keeps its work and
its conversation. The project can have such limits for each role (agent.limits), which
--until-done leaves out. No session has more than 1000 turns.`,
		Example: `  coppice new "Add a --json flag to the list command" --check "make test"
  coppice new "Write its documentation" --after app-3 --priority 5
  coppice new "Rework the parser" --body-file plan.md --not-before 2h
  coppice new "Match the drawing" --image drawing.png
  coppice new "Fix the crash" --branch fix/crash --context ticket=APP-7 --context release=2.1
  coppice new "Speed up the parser" --turns 40 --time 30m --budget 2
  coppice new "Which packages open network connections?" --answer
  coppice new "Explain and fix the failing test" --workspace none
  coppice new "Rework the parser" -i
  coppice new "Choose and add a cache" --debate-first --between one-agent,other-agent
  coppice new --issue 123,124 --agent other-agent
  coppice new --template upgrade --var module=cobra
  coppice new -e
  coppice new - --wait --timeout 2h < plan.md
  coppice new --file tasks.yaml`,
		Args: args(0, 1, "one title"),
		RunE: func(c *cobra.Command, given []string) error { return e.create(c, given, f) },
	}
	f.taskFlags(c)
	debateFlags(c, &f)
	fl := c.Flags()
	imageFlag(c, &f.images)
	fl.StringSliceVar(&f.after, "after", nil, "keys of tasks that must be done first (repeatable)")
	fl.StringVar(&f.notBefore, "not-before", "", "earliest start: a time (2026-01-31T09:00:00Z) or a duration from now (2h, 3d)")
	fl.StringSliceVar(&f.issues, "issue", nil, "the issue that it comes from: 123, ENG-12 or its address (repeatable)")
	fl.StringVar(&f.tracker, "tracker", "", "with --issue: the name of the tracker, if the project has several")
	fl.BoolVarP(&f.interactive, "interactive", "i", false, "work with its agent from the start: attach to its screen, or talk to it turn by turn")
	fl.StringVar(&f.workspace, "workspace", "", "where its agent works: worktree, the default, or none for your own checkout")
	fl.StringVar(&f.branch, "branch", "", "the name of its branch; the default is workspace.branch, or coppice/KEY")
	fl.StringVar(&f.file, "file", "", "create the tasks in a YAML or JSON file; - is stdin")
	fl.BoolVar(&f.noServe, "no-serve", false, "do not start a server if none is running")
	fl.BoolVarP(&f.edit, "edit", "e", false, "write title and description in your editor")
	fl.BoolVar(&f.wait, "wait", false, "wait until the tasks have landed, failed or need you")
	fl.DurationVar(&f.waits.timeout, "timeout", 0, "with --wait: wait at most this long, such as 90s or 2h (0: no limit)")
	f.waits.until = "landed"
	f.json = jsonFlag(c)
	return c
}

// taskFlags adds the flags that describe a task which can be created more than once.
func (f *newFlags) taskFlags(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.body, "body", "", "the whole description")
	fl.StringVar(&f.bodyFile, "body-file", "", "read the description from a file; - is stdin")
	fl.StringVar(&f.agent, "agent", "", "the agent that does it; the default is the project's")
	fl.StringVar(&f.model, "model", "", "the model the agent uses; auto chooses by how hard the task looks")
	fl.StringVar(&f.effort, "effort", "", "how hard the agent thinks, in its own words")
	fl.StringVar(&f.retry, "retry", "", "what follows a failed session: none, same, or analyze to find out why first; the default is the project's")
	completionFlag(c, &f.completion)
	fl.StringArrayVar(&f.context, "context", nil, "a small value for its agents, as name=value (repeatable)")
	fl.StringArrayVar(&f.checks, "check", nil, "a shell command that judges the result, in addition to the project's (repeatable)")
	fl.IntVar(&f.priority, "priority", 0, "from -10 to 10; higher starts first")
	fl.StringVar(&f.track, "track", "", "the track it runs in")
	fl.StringVar(&f.category, "category", "", "what kind of work it is; selects a track if none is named")
	fl.StringArrayVar(&f.steps, "step", nil, "what must be true when it is done (repeatable)")
	fl.BoolVar(&f.answer, "answer", false, "the result is an answer, not a change")
	fl.StringVar(&f.schema, "schema", "", "a file with the JSON schema that the answer must match; - is stdin")
	fl.StringVar(&f.budget, "budget", "", "the most to spend on it, in dollars; the default is the project's")
	limitFlags(c, &f.turns, &f.limit, &f.untilDone)
	fl.StringVar(&f.group, "group", "", "the group it belongs to, which is created if it does not exist")
	fl.StringSliceVar(&f.labels, "label", nil, "its labels: lower-case words (repeatable)")
	fl.StringVarP(&f.project, "project", "p", "", "a project's prefix, instead of the current directory's")
	fl.StringVar(&f.template, "template", "", "a template of the project, whose fields the other flags override; see coppice template list")
	fl.StringArrayVar(&f.vars, "var", nil, "a variable of the template, as name=value (repeatable)")
}

func (e *Env) create(c *cobra.Command, given []string, f newFlags) error {
	var tasks []coppice.NewTask
	err := f.waits.valid()
	switch {
	case err != nil:
		return err
	case f.interactive && f.wait:
		return wrongUse("--interactive and --wait were both given", "use one of them")
	case f.interactive && f.file != "":
		return wrongUse("--interactive and --file were both given", "create the task without --file")
	case c.Flags().Changed("timeout") && !f.wait:
		return wrongUse("--timeout without --wait has no effect", "add --wait")
	case len(f.between) > 0 && !f.debateFirst:
		return wrongUse("--between without --debate-first has no effect", "add --debate-first")
	case f.debateFirst && (f.interactive || f.file != "" || len(f.images) > 0):
		return wrongUse("--debate-first was given with --interactive, --file or --image", "leave out one of them; for a list of tasks use coppice batch --debate")
	case f.tracker != "" && len(f.issues) == 0:
		return wrongUse("--tracker without --issue has no effect", "add --issue")
	case len(f.issues) > 0 && (len(given) > 0 || f.body != "" || f.bodyFile != "" || f.edit || f.file != "" || f.interactive || f.debateFirst || len(f.images) > 0):
		return wrongUse("--issue was given with a title, a description, --file, --interactive, --debate-first or --image", "leave these out: the issue is the description")
	case len(f.issues) > 0:
		if tasks, err = e.taskFromFlags(c.Context(), []string{"issue"}, f); err == nil {
			tasks[0].Title = ""
		}
	case f.file != "" && f.edit, f.edit && len(given) > 0 && given[0] == "-":
		return wrongUse("--edit and a file were both given", "use one of them")
	case f.file != "" && len(f.images) > 0:
		return wrongUse("--file and --image were both given", "create the task with the image without --file")
	case f.file != "" && len(given) > 0:
		return wrongUse("--file and a title were both given", "put the title into the file, or leave out --file")
	case f.file != "":
		tasks, err = e.tasksFromFile(f.file)
		for i := range tasks {
			tasks[i].Group, tasks[i].Labels = cmp.Or(tasks[i].Group, f.group), append(tasks[i].Labels, f.labels...)
		}
	default:
		tasks, err = e.taskFromFlags(c.Context(), given, f)
	}
	if err != nil {
		return err
	}
	if f.debateFirst {
		if tasks, err = debatedFirst(tasks, f.between); err != nil {
			return err
		}
	}
	return e.inProjectOf(c, f.project, f.noServe, func(ctx context.Context, cl *client.Client, project string) error {
		if tasks[0].Images, err = e.upload(ctx, cl, f.images); err != nil {
			return err
		}
		made, err := e.createTasks(ctx, cl, project, tasks, f)
		if err != nil {
			return err
		}
		if f.wait {
			var keys []string
			for _, t := range made {
				fmt.Fprintf(e.Stderr, "%s  %s\n", t.Key, line(t.Title)) // stdout has only the final state
				keys = append(keys, t.Key)
			}
			return e.wait(ctx, cl, keys, f.waits, *f.json)
		}
		if *f.json {
			return e.json(api.TaskList{Tasks: made})
		}
		if f.interactive && e.Terminal && e.Asks {
			return e.startInteractive(ctx, cl, made[0])
		}
		for _, t := range made {
			e.printf("%s  %s\n", e.paint(bold, t.Key), line(t.Title))
		}
		if len(made) == 1 {
			e.printf("%s\n", e.paint(dim, "follow it with: "+followCommand(made[0])))
		} else {
			e.printf("%s\n", e.paint(dim, count(len(made), "task")+" created; see them with: coppice status"))
		}
		e.warnLogin(ctx, cl, project, made)
		return nil
	})
}

// createTasks creates tasks, or those of issues.
func (e *Env) createTasks(ctx context.Context, cl *client.Client, project string, tasks []coppice.NewTask, f newFlags) ([]api.Task, error) {
	if len(f.issues) == 0 {
		return cl.CreateTasks(ctx, project, tasks)
	}
	made, err := cl.ImportIssues(ctx, project, api.ImportIssues{Tracker: f.tracker, Issues: f.issues, Task: &tasks[0]})
	return made.Tasks, err
}

// inProjectOf runs f with the project that a command names, or with that of the current
// directory. If no server runs, it starts one, unless noServe says otherwise.
func (e *Env) inProjectOf(c *cobra.Command, project string, noServe bool, f func(ctx context.Context, cl *client.Client, project string) error) error {
	run := func(ctx context.Context, cl *client.Client) error {
		if project != "" {
			return f(ctx, cl, project)
		}
		p, err := cl.UseProject(ctx, e.Dir)
		if err != nil {
			return err
		}
		return f(ctx, cl, p.Prefix)
	}
	err := e.call(c, run)
	if !errors.Is(err, client.ErrNoServer) || noServe || e.Start == nil {
		return err
	}
	if err := e.startServer(c.Context(), project == ""); err != nil {
		return err
	}
	return e.call(c, run)
}

// loginWait bounds the search for agents that nobody is logged in to.
const loginWait = 3 * time.Second

// warnLogin warns a person whose agent is logged out: its sessions would fail.
func (e *Env) warnLogin(ctx context.Context, cl *client.Client, project string, made []api.Task) {
	if !e.Terminal {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, loginWait)
	defer cancel()
	list, err := cl.Agents(ctx, project, false)
	if err != nil {
		return // the task exists, and a missing login is reported when it starts
	}
	for _, a := range list.Agents {
		if a.Login != "no" || !slices.ContainsFunc(made, func(t api.Task) bool { return t.Agent == a.Name }) {
			continue
		}
		fmt.Fprintf(e.Stderr, "%s %s is not logged in: %s\n", e.paint(yellow.Bold(true), "!"), line(a.Name), line(agents.LogIn(a.Name, a.LoginBy, a.LoginEnv, "restart the server with")))
	}
}

// startServer starts a server if none runs, and says so.
func (e *Env) startServer(ctx context.Context, here bool) error {
	address, started, err := e.Start(ctx, here)
	if err == nil && started {
		fmt.Fprintf(e.Stderr, "started a coppice server in the background: %s (dashboard: coppice login --open; to stop it: coppice serve --stop)\n", address)
	}
	return err
}

// taskFromFlags makes the task that the flags describe. Its title can be empty if it
// has a description: the server then makes one.
func (e *Env) taskFromFlags(ctx context.Context, given []string, f newFlags) ([]coppice.NewTask, error) {
	if f.body != "" && f.bodyFile != "" {
		return nil, wrongUse("--body and --body-file were both given", "use one of them")
	}
	if f.bodyFile != "" {
		b, err := e.readFile(f.bodyFile, coppice.MaxBody)
		if err != nil {
			return nil, err
		}
		f.body = string(b)
	}
	title := strings.Join(given, "")
	var err error
	switch {
	case title == "-" && (f.body != "" || f.schema == "-"):
		return nil, wrongUse("- and another text were both given", "write the description to stdin, after the title")
	case title == "-":
		var b []byte
		if b, err = e.readFile("-", coppice.MaxBody); err == nil {
			title, f.body = titleAndBody(string(b))
		}
	case f.edit:
		title, f.body, err = e.edit(ctx, title, f.body)
	}
	switch {
	case err != nil:
		return nil, err
	case strings.TrimSpace(title+f.body) == "" && f.template == "":
		return nil, wrongUse("the task has neither a title nor a description", `name what should be done: coppice new "Add a --json flag", or write it in your editor: coppice new -e`)
	}
	if f.schema != "" && f.schema == f.bodyFile {
		return nil, wrongUse("--schema and --body-file name the same file", "give each its own")
	}
	var schema []byte
	if f.schema != "" {
		b, err := e.readFile(f.schema, coppice.MaxSchema)
		if err != nil {
			return nil, err
		}
		if schema = b; !json.Valid(b) {
			return nil, coppice.Errorf(coppice.EInvalid, "%s is not JSON", f.schema).WithFix("write a JSON schema into it").WithField("schema")
		}
	}
	at, err := e.notBefore(f.notBefore)
	if err != nil {
		return nil, err
	}
	usd, err := amount(f.budget)
	if err != nil {
		return nil, err
	}
	limit, err := duration(f.limit)
	if err != nil {
		return nil, err
	}
	values, err := contextValues("context value", "--context ticket=APP-7", f.context)
	if err != nil {
		return nil, err
	}
	variables, err := contextValues("variable", "--var name=value", f.vars)
	if err != nil {
		return nil, err
	}
	return []coppice.NewTask{{
		Category: f.category, Steps: f.steps, Budget: usd, Turns: f.turns, Time: limit, UntilDone: f.untilDone,
		Title: title, Body: f.body, Agent: f.agent, Model: f.model, Effort: f.effort, Checks: f.checks, After: f.after,
		Priority: f.priority, Track: f.track, NotBefore: at, Answer: f.answer, Schema: schema, Group: f.group, Labels: f.labels, Retry: f.retry, Completion: f.completion,
		Branch: f.branch, Context: values, Workspace: f.workspace, Interactive: f.interactive, Template: f.template, Variables: variables,
	}}, nil
}

// contextValues reads values as name=value.
func contextValues(what, example string, given []string) (map[string]string, error) {
	values := map[string]string{}
	for _, g := range given {
		name, value, ok := strings.Cut(g, "=")
		if !ok {
			return nil, wrongUse(fmt.Sprintf("%s is not a %s", coppice.Quote(g), what), "write it as name=value, for example "+example)
		}
		if _, twice := values[name]; twice {
			return nil, wrongUse(fmt.Sprintf("the %s %s was given twice", what, coppice.Quote(name)), "give each one time")
		}
		values[name] = value
	}
	return values, nil
}

// notBefore reads a time, or a duration from now.
func (e *Env) notBefore(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t.UTC(), nil
	}
	var d coppice.Duration
	if err := d.UnmarshalText([]byte(s)); err != nil {
		return time.Time{}, wrongUse(fmt.Sprintf("%s is neither a time nor a duration", coppice.Quote(s)),
			"write --not-before 2026-01-31T09:00:00Z, or 90m, 2h, 3d from now")
	}
	return e.Now().Add(d.D()).UTC(), nil
}

// readFile reads a file of a bounded size, or stdin for "-".
func (e *Env) readFile(path string, most int64) ([]byte, error) {
	r := e.Stdin
	if path != "-" {
		if !filepath.IsAbs(path) {
			path = filepath.Join(e.Dir, path)
		}
		f, err := os.Open(path)
		if err != nil {
			return nil, coppice.Errorf(coppice.ENotFound, "cannot read %s: %w", path, err).WithFix("check the path")
		}
		defer f.Close()
		r = f
	}
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, coppice.Errorf(coppice.EInvalid, "cannot read %s: %w", path, err)
	}
	if int64(len(b)) > most {
		return nil, coppice.Errorf(coppice.ETooLarge, "%s has more than %d bytes", path, most).WithFix("split it")
	}
	return b, nil
}
