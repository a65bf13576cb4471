package control

import (
	"context"
	"slices"
	"strings"
	"sync"

	"coppice"
	"coppice/api"
	"coppice/config"
)

// Templates reads and changes the templates in the checkouts of projects.
type Templates struct {
	mu sync.Mutex // one change at a time
}

// Expand returns the task that a request with a template describes.
func (s *Templates) Expand(_ context.Context, p coppice.Project, n coppice.NewTask) (coppice.NewTask, error) {
	t, err := config.ReadTemplate(p.Path, n.Template)
	if err != nil {
		return n, err
	}
	return t.Expand(n)
}

// Templates lists the templates of a project.
func (s *Templates) Templates(_ context.Context, p coppice.Project) (api.Templates, error) {
	out := api.Templates{Templates: []api.Template{}}
	all, err := config.Templates(p.Path)
	for _, t := range all {
		row := templateRow(t)
		row.Text = ""
		out.Templates = append(out.Templates, row)
	}
	return out, err
}

// Template returns a template of a project.
func (s *Templates) Template(_ context.Context, p coppice.Project, name string) (api.Template, error) {
	t, err := config.ReadTemplate(p.Path, name)
	return templateRow(t), err
}

// SetTemplate writes or removes a template in the checkout, or only returns the diff
// with DryRun. If it fails, nothing changes.
func (s *Templates) SetTemplate(_ context.Context, p coppice.Project, name string, c api.TemplateChange) (api.Template, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change := config.TemplateChange{Name: name, Text: c.Text, Unset: c.Unset}
	if c.DryRun {
		diff, err := config.PreviewTemplate(p.Path, change, c.Revision)
		if err != nil {
			return api.Template{}, withField(err)
		}
		return api.Template{Name: name, Path: config.TemplateFile(name), Variables: []api.TemplateVariable{}, Diff: diff}, nil
	}
	if err := config.ApplyTemplate(p.Path, change, c.Revision); err != nil {
		return api.Template{}, withField(err)
	}
	if c.Unset {
		return api.Template{Name: name, Path: config.TemplateFile(name), Variables: []api.TemplateVariable{}}, nil
	}
	t, err := config.ReadTemplate(p.Path, name)
	return templateRow(t), err
}

func templateRow(t config.Template) api.Template {
	row := api.Template{
		Name: t.Name, Title: t.Head.Title, Path: config.TemplateFile(t.Name), Flow: coppice.FlowKind(t.Head.Flow.Kind), Variables: []api.TemplateVariable{}, Text: t.Text, Revision: t.Revision,
	}
	if row.Title == "" {
		row.Title = coppice.TitleOf(t.Body)
	}
	if t.Head.Tasks != nil {
		row.Flow = coppice.FlowBatch
	}
	if t.Problem != nil {
		row.Problem = coppice.Public(t.Problem).Cause
	}
	for name, v := range t.Head.Variables {
		row.Variables = append(row.Variables, api.TemplateVariable{Name: name, About: v.About, Default: v.Default, Required: v.Required})
	}
	slices.SortFunc(row.Variables, func(a, b api.TemplateVariable) int { return strings.Compare(a.Name, b.Name) })
	return row
}
