package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"coppice"
	"coppice/store"
)

// Templates returns the task that a request with a template describes. The fields of
// the request override those of the template.
type Templates func(ctx context.Context, p coppice.Project, n coppice.NewTask) (coppice.NewTask, error)

// WithTemplates makes an Intake accept requests that name a template.
func WithTemplates(t Templates) Option { return func(i *Intake) { i.templates = t } }

// expand replaces the requests that name a template. Items of a batch can name one,
// too. A template is read before the transaction, because it is a file.
func (i *Intake) expand(ctx context.Context, project string, asked []coppice.NewTask) ([]coppice.NewTask, error) {
	var p *coppice.Project
	one := func(n coppice.NewTask) (coppice.NewTask, error) {
		switch {
		case n.Template == "" && len(n.Variables) == 0:
			return n, nil
		case n.Template == "":
			return n, coppice.Errorf(coppice.EInvalid, "variables were given without a template").WithFix("name the template, or leave them out").WithField("variables")
		case i.templates == nil:
			return n, coppice.Errorf(coppice.EInvalid, "templates cannot be used here").WithFix("write the task out").WithField("template")
		}
		if p == nil {
			err := i.store.View(ctx, func(r store.Reader) error {
				found, err := r.Projects.ByPrefix(project)
				p = &found
				return err
			})
			if err != nil {
				return n, err
			}
		}
		return i.templates(ctx, *p, n)
	}
	out := make([]coppice.NewTask, len(asked))
	for k, n := range asked {
		n, err := one(n)
		if err == nil {
			n.Flow, err = expandBatch(n.Flow, one)
		}
		if err != nil {
			return nil, at(asked, k, err)
		}
		out[k] = n
	}
	return out, nil
}

// expandBatch replaces the items of a batch that name a template. A spec that cannot
// be read is refused later, with all its problems.
func expandBatch(f *coppice.NewFlow, one func(coppice.NewTask) (coppice.NewTask, error)) (*coppice.NewFlow, error) {
	var spec map[string]json.RawMessage
	var tasks []coppice.NewTask
	if f == nil || f.Kind != coppice.FlowBatch || json.Unmarshal(f.Spec, &spec) != nil || json.Unmarshal(spec["tasks"], &tasks) != nil {
		return f, nil
	}
	changed := false
	for k, n := range tasks {
		if n.Template == "" {
			continue
		}
		full, err := one(n)
		if err != nil {
			e := coppice.Public(err)
			return nil, e.WithField(strings.TrimSuffix(fmt.Sprintf("flow.spec.tasks[%d].%s", k, e.Field), "."))
		}
		tasks[k], changed = full, true
	}
	if !changed {
		return f, nil
	}
	spec["tasks"] = coppice.Raw(tasks)
	return &coppice.NewFlow{Kind: f.Kind, Time: f.Time, Spec: coppice.Raw(spec)}, nil
}
