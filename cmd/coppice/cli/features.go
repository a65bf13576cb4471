package cli

import (
	"context"
	"slices"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
	"coppice/features"
)

// featureRow is a feature, and the task that does it.
type featureRow struct {
	features.Feature
	Task       string         `json:"task,omitempty"`
	TaskStatus coppice.Status `json:"task_status,omitempty"`
	TaskReason string         `json:"task_reason,omitempty"`
}

// featureReport is the output of `coppice features`.
type featureReport struct {
	Project  string       `json:"project"`
	File     string       `json:"file"`
	Outdated bool         `json:"outdated,omitempty"` // the file cannot be read; this is the list in effect
	Features []featureRow `json:"features"`
	Problems []string     `json:"problems"`
}

func (e *Env) featuresCommand() *cobra.Command {
	var project string
	var statuses []string
	c := &cobra.Command{
		Use:   "features",
		Short: "List the features of the features file and their progress",
		Long: `List the features of a project's features file with their statuses and tasks, and
show the problems of the file. The key features in coppice.yaml names the file. Edit
the file to add features. To retry a feature, set its status back to open.`,
		Example: `  coppice features
  coppice features --status failed --json`,
		Args: args(0, 0, "no argument"),
	}
	c.Flags().StringVarP(&project, "project", "p", "", "a project's prefix; the default is the current directory's")
	c.Flags().StringSliceVarP(&statuses, "status", "s", nil, "only features with this status (repeatable)")
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		for _, s := range statuses {
			if !slices.Contains([]string{"open", "verifying", "passed", "failed"}, s) {
				return wrongUse(coppice.Quote(s)+" is not a valid status of a feature", "use open, verifying, passed or failed")
			}
		}
		return e.call(c, func(ctx context.Context, cl *client.Client) error {
			r, err := e.readFeatures(ctx, cl, project)
			if err != nil && r.Features == nil {
				return err
			}
			if len(statuses) > 0 {
				r.Features = slices.DeleteFunc(r.Features, func(f featureRow) bool { return !slices.Contains(statuses, string(f.Status)) })
			}
			if *asJSON {
				if jerr := e.json(r); jerr != nil {
					return jerr
				}
				return err
			}
			e.printFeatures(r)
			return err
		})
	}
	return c
}

// readFeatures reads the file and joins it with the tasks. If the file cannot
// be read, it returns the last valid list of the server together with the error.
func (e *Env) readFeatures(ctx context.Context, cl *client.Client, prefix string) (featureReport, error) {
	p, err := e.featureProject(ctx, cl, prefix)
	if err != nil {
		return featureReport{}, err
	}
	r := featureReport{Project: p.Prefix, File: p.Policy.Features, Features: []featureRow{}, Problems: []string{}}
	if r.File == "" {
		return featureReport{}, coppice.Errorf(coppice.ENotFound, "%s has no features file", p.Prefix).
			WithFix("name one in coppice.yaml with the key features, then run `coppice project add` in the repository")
	}
	tasks, err := featureTasks(ctx, cl, p.Prefix)
	if err != nil {
		return featureReport{}, err
	}
	st, err := cl.Status(ctx, p.Prefix)
	if err != nil {
		return featureReport{}, err
	}
	for _, s := range st.Projects {
		r.Problems = append(r.Problems, s.Warnings...)
	}
	text, err := features.File{Root: p.Path, Name: r.File}.Read()
	var list *features.List
	if err == nil {
		list, err = features.Parse(r.File, text)
	}
	if err != nil {
		if !slices.Contains(r.Problems, err.Error()) {
			r.Problems = append(r.Problems, err.Error())
		}
		last, lerr := cl.Features(ctx, p.Prefix)
		if lerr != nil || !last.Outdated {
			return r, err
		}
		r.Outdated, list = true, &features.List{}
		for _, f := range last.Features {
			list.Features = append(list.Features, features.Feature{
				ID: f.ID, Category: f.Category, Name: f.Name, Description: f.Description, Steps: f.Steps, Status: features.Status(f.Status), Reason: f.Reason,
				Failure: f.Failure, Progress: f.Progress, FeatureTask: f.FeatureTask,
			})
		}
	}
	for _, f := range list.Features {
		row := featureRow{Feature: f}
		if t, ok := tasks[f.ID]; ok {
			row.Task, row.TaskStatus, row.TaskReason = t.Key, t.Status, t.Reason
		}
		r.Features = append(r.Features, row)
	}
	return r, err
}

// featureProject finds the project: the one named, or the current directory's.
func (e *Env) featureProject(ctx context.Context, cl *client.Client, prefix string) (*api.Project, error) {
	if prefix == "" {
		p, err := e.here(ctx, cl)
		if err == nil && p == nil {
			err = coppice.Errorf(coppice.ENotFound, "no project is known here").WithFix("run `coppice project add` in the repository; the server then follows its features file")
		}
		return p, err
	}
	projects, err := cl.Projects(ctx)
	if err != nil {
		return nil, err
	}
	for i, p := range projects {
		if p.Prefix == prefix {
			return &projects[i], nil
		}
	}
	return nil, coppice.Errorf(coppice.ENotFound, "there is no project %s", coppice.Quote(prefix)).WithFix("`coppice project list` shows them")
}

// featureTasks returns the newest task of each feature.
func featureTasks(ctx context.Context, cl *client.Client, prefix string) (map[string]api.Task, error) {
	tasks := map[string]api.Task{}
	q := client.TaskQuery{Project: prefix, Limit: 500}
	for {
		page, err := cl.Tasks(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, t := range page.Tasks { // newest first
			if _, ok := tasks[t.Feature]; t.Feature != "" && !ok {
				tasks[t.Feature] = t
			}
		}
		if q.Before = page.Next; q.Before == 0 {
			return tasks, nil
		}
	}
}

func (e *Env) printFeatures(r featureReport) {
	counts := map[features.Status]int{}
	rows := make([][]cell, len(r.Features))
	for i, f := range r.Features {
		counts[f.Status]++
		reason := f.TaskReason
		if f.Status == features.Failed {
			reason = f.Reason
		}
		rows[i] = []cell{
			{line(f.ID), bold}, {string(f.Status), featureStyle(f.Status)}, plain(f.Task), {string(f.TaskStatus), statusStyle(f.TaskStatus)},
			plain(f.Category), plain(f.Name), plain(reason),
		}
	}
	if len(rows) > 0 {
		e.table([]column{{head: "ID"}, {head: "STATUS"}, {head: "TASK"}, {head: "IS"}, {head: "CATEGORY", give: true}, {head: "NAME", give: true}, {head: "REASON", give: true}}, rows)
		e.printf("%d of %d passed, %d failed, in %s\n", counts[features.Passed], len(rows), counts[features.Failed], line(r.File))
	} else if len(r.Problems) == 0 || r.Outdated {
		e.printf("no features in %s\n", line(r.File))
	}
	if r.Outdated {
		e.printf("this is the last valid list; it stays in effect until %s is fixed\n", line(r.File))
	}
	for _, p := range r.Problems {
		e.printf("%s %s\n", e.paint(yellow, "!"), line(p))
	}
}

func featureStyle(s features.Status) lipgloss.Style {
	switch s {
	case features.Passed:
		return green
	case features.Failed:
		return red
	case features.Verifying:
		return cyan
	}
	return dim
}
