package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

// Checkout is what the overview needs to know about the current directory.
type Checkout struct {
	Root   string // of the repository; empty outside of one
	Config string // the path of coppice.yaml; empty if the repository has none
	Err    error  // why the repository or its coppice.yaml cannot be used
}

// Overview makes a command show the state and the next step if it is called
// without arguments. It starts nothing and never fails because something is
// missing.
func Overview(env Env, root *cobra.Command, look func(context.Context) Checkout) {
	e := &env
	asJSON := jsonFlag(root)
	root.RunE = func(c *cobra.Command, _ []string) error {
		v := e.overview(c.Context(), look(c.Context()), root.Version)
		if *asJSON {
			return e.json(v)
		}
		e.printOverview(v)
		return nil
	}
}

// overviewWait is how long the overview waits for the server.
const overviewWait = 3 * time.Second

// overviewShown limits the tasks that the overview lists.
const overviewShown = 5

type overview struct {
	Version    string                 `json:"version"`
	Repository string                 `json:"repository,omitempty"`
	Config     string                 `json:"config,omitempty"`
	Problem    string                 `json:"problem,omitempty"` // of the repository or its configuration
	Server     string                 `json:"server"`            // running, not running, or why it cannot be used
	Project    string                 `json:"project,omitempty"`
	Counts     map[coppice.Status]int `json:"counts,omitempty"`
	Needs      int                    `json:"needs_you"`
	Next       []step                 `json:"next"`
}

// step is something that a person can do now.
type step struct {
	Text string `json:"text"`
	Run  string `json:"run,omitempty"`
}

// The states of the server.
const (
	serverRuns    = "running"
	serverMissing = "not running"
)

func (e *Env) overview(ctx context.Context, at Checkout, version string) overview {
	v := overview{Version: version, Repository: at.Root, Config: at.Config, Server: serverRuns}
	st, err := e.statusHere(ctx, &v)
	switch {
	case errors.Is(err, client.ErrNoServer):
		v.Server = serverMissing
	case err != nil:
		v.Server = coppice.Public(err).Cause
	}
	if at.Err != nil {
		v.Problem = coppice.Public(at.Err).Cause
	}
	v.Next = append(v.blocked(at, err), v.waiting(st)...)
	if len(v.Next) == 0 {
		v.Next = v.free()
	}
	return v
}

// statusHere returns the status of the project of the repository, or of all
// projects if the server does not know it.
func (e *Env) statusHere(ctx context.Context, v *overview) (api.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, overviewWait)
	defer cancel()
	cl, err := e.Client()
	if err != nil {
		return api.Status{}, err
	}
	defer cl.Close()
	projects, err := cl.Projects(ctx)
	if err != nil {
		return api.Status{}, err
	}
	if i := slices.IndexFunc(projects, func(p api.Project) bool { return p.Path == v.Repository }); i >= 0 && v.Repository != "" {
		v.Project = projects[i].Prefix
	}
	st, err := cl.Status(ctx, v.Project)
	v.Counts = st.Counts
	return st, err
}

// blocked returns the first thing that prevents work here, if there is one.
func (v *overview) blocked(at Checkout, server error) []step {
	switch {
	case at.Err != nil:
		return []step{{Text: coppice.Public(at.Err).Fix}}
	case at.Root == "":
		return []step{{"go to a git repository", "cd your-repository"}, {"or see how Coppice works, without a key", "coppice demo"}}
	case at.Config == "":
		return []step{{"write a coppice.yaml that fits this repository", "coppice init"}}
	case v.Server == serverMissing:
		return []step{{"start the server", "coppice serve -d"}, {"or create a task, which starts it", `coppice new "…"`}}
	case server != nil:
		return []step{{Text: coppice.Public(server).Fix}}
	}
	return nil
}

// waiting returns what waits for the person.
func (v *overview) waiting(st api.Status) (steps []step) {
	for _, p := range st.Projects {
		for _, n := range p.Needs {
			steps = append(steps, step{p.Prefix + " needs you: " + line(n.Text), line(n.Fix)})
		}
	}
	tasks := slices.Clone(st.NeedsYou)
	for _, t := range st.Active {
		if t.Need != "" {
			tasks = append(tasks, t)
		}
	}
	for _, t := range tasks {
		steps = append(steps, step{t.Key + " needs you: " + line(t.Reason), nextStep(t)})
	}
	v.Needs = len(steps)
	if more := len(steps) - overviewShown; more > 0 {
		steps = append(steps[:overviewShown:overviewShown], step{fmt.Sprintf("%d more need you", more), "coppice inbox"})
	}
	return steps
}

// free returns what to do when nothing is missing and nobody waits.
func (v *overview) free() []step {
	open := 0
	for s, n := range v.Counts {
		if s != coppice.StatusDone && s != coppice.StatusFailed && s != coppice.StatusCancelled {
			open += n
		}
	}
	create := step{"create a task", `coppice new "…"`}
	switch {
	case v.Project == "":
		return []step{{"create a task, which adds this repository as a project", `coppice new "…"`}}
	case open > 0:
		return []step{{"see what is running", "coppice status"}, {"open the dashboard", "coppice login --open"}, create}
	}
	return []step{create, {"open the dashboard", "coppice login --open"}}
}

func (e *Env) printOverview(v overview) {
	row := func(name, value string) {
		e.printf("%s %s\n", e.paint(dim, fmt.Sprintf("%-11s", name)), line(value))
	}
	row("coppice", v.Version)
	switch {
	case v.Repository == "" && v.Problem == "":
		row("repository", "none: "+e.Dir+" is not in a git repository")
	case v.Repository != "":
		row("repository", v.Repository)
	}
	switch {
	case v.Problem != "":
		row("problem", v.Problem)
	case v.Config != "":
		row("settings", v.Config)
	case v.Repository != "":
		row("settings", "none: there is no coppice.yaml")
	}
	row("server", v.Server)
	if v.Server == serverRuns {
		if v.Project != "" {
			row("project", v.Project)
		}
		e.printf("%s %s\n", e.paint(dim, fmt.Sprintf("%-11s", "tasks")), e.totals(v.Counts))
	}
	e.printf("\n%s\n", e.paint(bold, "Next"))
	for _, s := range v.Next {
		e.printf("  %s\n", line(s.Text))
		if s.Run != "" {
			e.printf("    %s\n", e.paint(cyan, line(s.Run)))
		}
	}
	e.printf("\n%s\n", e.paint(dim, "All commands: coppice --help"))
}
