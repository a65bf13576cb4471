package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"coppice"
)

func (e *Env) batchCommand() *cobra.Command {
	var f flowFlags
	var title string
	var between, vars []string
	var debate, debateFirst bool
	var most int
	c := &cobra.Command{
		Use: "batch PATH|TEMPLATE", Short: "Run a list of tasks as one flow",
		Long: `Start a flow that runs the tasks of a file, at most --most of them at the same time. Each
one lands when it is proven. The flow is done when all have ended, and its summary says
how each one ended: coppice flow doc KEY summary.

The file is a list with one task per line, or YAML with the fields of coppice new --file.
Blank lines and lines that start with # are ignored. - is stdin. If there is no such
file, the tasks are those of the project's template of that name: see coppice template
list.

With --debate, each line is a question: two agents discuss it, and nothing lands. With
--debate-first, two agents discuss each task, and then it starts with their summary.`,
		Example: `  coppice batch tasks.txt
  coppice batch tasks.yaml --most 2 --budget 20 --wait
  coppice batch nightly --var level=2
  git grep -l TODO | coppice batch - --title "Resolve the TODOs" --debate-first --between one-agent,other-agent`,
		Args: args(1, 1, "a file of tasks or a template"),
	}
	fl := c.Flags()
	fl.StringVar(&title, "title", "", "the title of the flow")
	fl.StringArrayVar(&vars, "var", nil, "a variable of the template, as name=value (repeatable)")
	fl.BoolVar(&debate, "debate", false, "each one is a question that two agents discuss")
	fl.BoolVar(&debateFirst, "debate-first", false, "two agents discuss each task before it starts")
	fl.StringSliceVar(&between, "between", nil, "with --debate or --debate-first: the two sides, as agent or agent:model")
	fl.IntVar(&most, "most", 0, "how many tasks run at the same time; the default is all")
	waitFlag(c, &f)
	return e.flowCommandOf(c, &f, coppice.FlowBatch, func(c *cobra.Command, given []string) (t coppice.NewTask, s spec, err error) {
		switch {
		case debate && debateFirst:
			return t, nil, wrongUse("--debate and --debate-first were both given", "use one of them")
		case len(between) > 0 && !debate && !debateFirst:
			return t, nil, wrongUse("--between without a debate has no effect", "add --debate or --debate-first")
		}
		if t, s, err = e.batchOf(given[0], title, vars); err != nil {
			return t, nil, err
		}
		set(s, "most", most)
		if debate || debateFirst {
			d := debateSpec(between, 0)
			if debateFirst {
				d["then"] = spec{} // the task itself
			}
			s["debate"] = d
		}
		return t, s, nil
	})
}

// batchOf returns a batch of the tasks of a file. If there is no such file and the name
// can be that of a template, the server adds the tasks of the template.
func (e *Env) batchOf(name, title string, vars []string) (t coppice.NewTask, s spec, err error) {
	t.Title = title
	variables, err := contextValues("variable", "--var name=value", vars)
	if err != nil {
		return t, nil, err
	}
	if _, missing := os.Stat(filepath.Join(e.Dir, name)); name != "-" && errors.Is(missing, fs.ErrNotExist) && filepath.Ext(name) == "" && coppice.ValidName("template", name) == nil {
		t.Template, t.Variables = name, variables
		return t, spec{}, nil
	}
	if len(vars) > 0 {
		return t, nil, wrongUse("--var without a template has no effect", "name a template, or leave it out")
	}
	tasks, err := e.batchTasks(name)
	if t.Title == "" {
		if t.Title = count(len(tasks), "task"); name != "-" {
			t.Title += " of " + filepath.Base(name)
		}
	}
	return t, spec{"tasks": tasks}, err
}

// yamlTask matches the start of a YAML file of tasks.
var yamlTask = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(tasks:|\[|\{|-\s+["']?(title|ref|body)["']?:)`) })

// batchTasks reads a list of tasks: YAML, or one per line.
func (e *Env) batchTasks(path string) ([]coppice.NewTask, error) {
	b, err := e.readFile(path, maxTaskFile)
	if err != nil {
		return nil, err
	}
	var tasks []coppice.NewTask
	for l := range strings.Lines(string(b)) {
		l = strings.TrimSpace(l)
		if l == "" || strings.HasPrefix(l, "#") || l == "---" {
			continue
		}
		if len(tasks) == 0 && yamlTask().MatchString(l) {
			return e.parseTasks(path, b)
		}
		for _, bullet := range []string{"- ", "* "} {
			l = strings.TrimPrefix(l, bullet)
		}
		t, err := describedBy(l, "what to do")
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, t)
	}
	if len(tasks) == 0 {
		return nil, coppice.Errorf(coppice.EInvalid, "%s has no task", path).WithFix("write one task per line")
	}
	return tasks, nil
}
