package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
	"coppice/internal/safeyaml"
)

// maxTaskFile bounds a file of tasks.
const maxTaskFile = 32 << 20

// newFlags are the flags of `new`.
type newFlags struct {
	body, bodyFile, agent, model, effort, track, notBefore, file, project, budget, category, schema, group, retry string

	checks, after, steps, labels, images []string

	priority int
	answer   bool
	json     *bool
}

func (e *Env) newCommand() *cobra.Command {
	var f newFlags
	c := &cobra.Command{
		Use:   "new TITLE",
		Short: "Create a task, or many from a file",
		Long: `Create a task in the project of the current directory. As soon as the limits allow
it, the server starts an agent in a separate workspace. It checks what the agent did,
and lands it if every check passes.

With --answer, the result of the task is an answer: its agent reads the code at the
tip of the base, cannot change anything, and nothing lands. With --schema, the answer
is JSON that matches a JSON schema. To see the answer, run: coppice show KEY.

With --file, many tasks are created, all or none. The file is YAML or
JSON: a list of tasks with the fields title, body, agent, model, effort, retry,
checks, after, priority, track, category, steps, budget, not_before, answer, schema, group, labels and
ref. To depend on another task of the file, name its ref in after. Tasks that name
no group become a new group.`,
		Example: `  coppice new "Add a --json flag to the list command" --check "make test"
  coppice new "Write its documentation" --after app-3 --priority 5
  coppice new "Rework the parser" --body-file plan.md --not-before 2h
  coppice new "Match the drawing" --image drawing.png
  coppice new "Which packages open network connections?" --answer
  coppice new --file tasks.yaml`,
		Args: args(0, 1, "one title"),
		RunE: func(c *cobra.Command, given []string) error { return e.create(c, given, f) },
	}
	fl := c.Flags()
	fl.StringVar(&f.body, "body", "", "the whole description")
	fl.StringVar(&f.bodyFile, "body-file", "", "read the description from a file; - is stdin")
	fl.StringVar(&f.agent, "agent", "", "the agent that does it; the default is the project's")
	fl.StringVar(&f.model, "model", "", "the model the agent uses; auto chooses by how hard the task looks")
	fl.StringVar(&f.effort, "effort", "", "how hard the agent thinks, in its own words")
	fl.StringVar(&f.retry, "retry", "", "what follows a failed session: none, same, or analyze to find out why first; the default is the project's")
	imageFlag(c, &f.images)
	fl.StringArrayVar(&f.checks, "check", nil, "a shell command that judges the result, in addition to the project's (repeatable)")
	fl.StringSliceVar(&f.after, "after", nil, "keys of tasks that must be done first (repeatable)")
	fl.IntVar(&f.priority, "priority", 0, "from -10 to 10; higher starts first")
	fl.StringVar(&f.track, "track", "", "the track it runs in")
	fl.StringVar(&f.notBefore, "not-before", "", "earliest start: a time (2026-01-31T09:00:00Z) or a duration from now (2h, 3d)")
	fl.StringVar(&f.category, "category", "", "what kind of work it is; selects a track if none is named")
	fl.StringArrayVar(&f.steps, "step", nil, "what must be true when it is done (repeatable)")
	fl.BoolVar(&f.answer, "answer", false, "the result is an answer, not a change")
	fl.StringVar(&f.schema, "schema", "", "a file with the JSON schema that the answer must match; - is stdin")
	fl.StringVar(&f.budget, "budget", "", "the most to spend on it, in dollars; the default is the project's")
	fl.StringVar(&f.group, "group", "", "the group it belongs to, which is created if it does not exist")
	fl.StringSliceVar(&f.labels, "label", nil, "its labels: lower-case words (repeatable)")
	fl.StringVar(&f.file, "file", "", "create the tasks in a YAML or JSON file; - is stdin")
	fl.StringVarP(&f.project, "project", "p", "", "a project's prefix, instead of the current directory's")
	f.json = jsonFlag(c)
	return c
}

func (e *Env) create(c *cobra.Command, given []string, f newFlags) error {
	var tasks []coppice.NewTask
	var err error
	switch {
	case f.file != "" && len(f.images) > 0:
		return wrongUse("--file and --image were both given", "create the task with the image without --file")
	case f.file != "" && len(given) > 0:
		return wrongUse("--file and a title were both given", "put the title into the file, or leave out --file")
	case f.file != "":
		tasks, err = e.tasksFromFile(f.file)
		for i := range tasks {
			tasks[i].Group, tasks[i].Labels = cmp.Or(tasks[i].Group, f.group), append(tasks[i].Labels, f.labels...)
		}
	case len(given) == 0:
		return wrongUse("the title is missing", `name what should be done: coppice new "Add a --json flag"`)
	default:
		tasks, err = e.taskFromFlags(given[0], f)
	}
	if err != nil {
		return err
	}
	return e.call(c, func(ctx context.Context, cl *client.Client) error {
		if f.project == "" {
			p, err := cl.UseProject(ctx, e.Dir)
			if err != nil {
				return err
			}
			f.project = p.Prefix
		}
		if tasks[0].Images, err = e.upload(ctx, cl, f.images); err != nil {
			return err
		}
		made, err := cl.CreateTasks(ctx, f.project, tasks)
		if err != nil {
			return err
		}
		if *f.json {
			return e.json(api.TaskList{Tasks: made})
		}
		for _, t := range made {
			e.printf("%s  %s\n", e.paint(bold, t.Key), line(t.Title))
		}
		if len(made) == 1 {
			e.printf("%s\n", e.paint(dim, "follow it with: coppice logs -f "+made[0].Key))
		} else {
			e.printf("%s\n", e.paint(dim, count(len(made), "task")+" created; see them with: coppice status"))
		}
		return nil
	})
}

func (e *Env) taskFromFlags(title string, f newFlags) ([]coppice.NewTask, error) {
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
	return []coppice.NewTask{{
		Category: f.category, Steps: f.steps, Budget: usd,
		Title: title, Body: f.body, Agent: f.agent, Model: f.model, Effort: f.effort, Checks: f.checks, After: f.after,
		Priority: f.priority, Track: f.track, NotBefore: at, Answer: f.answer, Schema: schema, Group: f.group, Labels: f.labels, Retry: f.retry,
	}}, nil
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

// fileTask is a task in a file, with YAML's names for the fields of NewTask.
type fileTask struct {
	Ref       string   `yaml:"ref"`
	Title     string   `yaml:"title"`
	Body      string   `yaml:"body"`
	Priority  int      `yaml:"priority"`
	Track     string   `yaml:"track"`
	Agent     string   `yaml:"agent"`
	Model     string   `yaml:"model"`
	Effort    string   `yaml:"effort"`
	Retry     string   `yaml:"retry"`
	Checks    []string `yaml:"checks"`
	After     []string `yaml:"after"`
	NotBefore string   `yaml:"not_before"`
	Category  string   `yaml:"category"`
	Steps     []string `yaml:"steps"`
	Budget    string   `yaml:"budget"`
	Answer    bool     `yaml:"answer"`
	Schema    any      `yaml:"schema"`
	Group     string   `yaml:"group"`
	Labels    []string `yaml:"labels"`
}

// tasksFromFile reads a list of tasks, or one under the key tasks. JSON is a
// subset of YAML.
func (e *Env) tasksFromFile(path string) ([]coppice.NewTask, error) {
	b, err := e.readFile(path, maxTaskFile)
	if err != nil {
		return nil, err
	}
	var wrapped struct {
		Tasks []fileTask `yaml:"tasks"`
	}
	list := &wrapped.Tasks
	var target any = list
	if isMapping(b) {
		target = &wrapped
	}
	if err := safeyaml.Unmarshal(b, target, yaml.DisallowUnknownField()); err != nil {
		return nil, coppice.Errorf(coppice.EInvalid, "%s is not a file of tasks: %s", path, strings.TrimSpace(yaml.FormatError(err, false, true))).
			WithFix("see coppice new --help for its fields")
	}
	if len(*list) == 0 {
		return nil, coppice.Errorf(coppice.EInvalid, "%s has no task", path).WithFix("write a list of tasks, each with a title")
	}
	tasks := make([]coppice.NewTask, len(*list))
	for i, t := range *list {
		at, err := e.notBefore(t.NotBefore)
		if err != nil {
			return nil, err
		}
		var usd coppice.USD
		if t.Budget != "" {
			if usd, err = coppice.ParseUSD(t.Budget); err != nil {
				return nil, err
			}
		}
		tasks[i] = coppice.NewTask{
			Ref: t.Ref, Title: t.Title, Body: t.Body, Priority: t.Priority, Track: t.Track, Agent: t.Agent, Model: t.Model, Effort: t.Effort,
			Checks: t.Checks, After: t.After, NotBefore: at, Category: t.Category, Steps: t.Steps, Budget: usd, Answer: t.Answer,
			Group: t.Group, Labels: t.Labels, Retry: t.Retry,
		}
		if t.Schema != nil {
			if tasks[i].Schema, err = json.Marshal(t.Schema); err != nil {
				return nil, coppice.Errorf(coppice.EInvalid, "the schema of %s is not JSON: %v", coppice.Quote(t.Title), err).WithField("schema")
			}
		}
	}
	return tasks, nil
}

// isMapping reports whether a document's top level is a mapping rather than a
// list.
func isMapping(b []byte) bool {
	for _, l := range strings.Split(string(b), "\n") {
		l = strings.TrimSpace(l)
		if l == "" || strings.HasPrefix(l, "#") || l == "---" {
			continue
		}
		return !strings.HasPrefix(l, "-") && !strings.HasPrefix(l, "[")
	}
	return false
}
