package control

import (
	"context"
	"slices"

	"coppice"
	"coppice/api"
	"coppice/config"
)

// Prompts returns the prompts of roles and flows of a project, and what their texts can
// use.
func (s *Settings) Prompts(_ context.Context, p coppice.Project) (api.Prompts, error) {
	all, err := config.Prompts(p.Path)
	if err != nil {
		return api.Prompts{}, err
	}
	out := api.Prompts{Functions: config.PromptFunctions}
	for _, f := range config.PromptFields {
		out.Fields = append(out.Fields, api.PromptField{Name: f.Name, Doc: f.Doc})
	}
	for _, x := range all {
		row := api.Prompt{
			Role: x.Role, About: x.About, Fields: x.Fields, Path: config.PromptFile(x.Role), Own: x.Own, Text: x.Text, BuiltIn: x.BuiltIn, Revision: x.Revision,
			Waits: x.Problem == nil && p.Policy.Prompts[x.Role] != ownText(x),
		}
		if x.Problem != nil {
			row.Problem = coppice.Public(x.Problem).Cause
		}
		out.Prompts = append(out.Prompts, row)
	}
	return out, nil
}

// ownText returns the text of a project's own prompt, "" if it has none.
func ownText(x config.Prompt) string {
	if !x.Own {
		return ""
	}
	return x.Text
}

// SetPrompt changes the prompt of a role in the checkout, or only returns the diff
// with DryRun. If it fails, nothing changes. The change is a person's, so it waits
// for no confirmation.
func (s *Settings) SetPrompt(ctx context.Context, p coppice.Project, role string, c api.PromptChange) (api.Prompt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change := config.PromptChange{Role: role, Text: c.Text, Unset: c.Unset}
	var diff string
	var err error
	if c.DryRun {
		diff, err = config.PreviewPrompt(p.Path, change, c.Revision)
	} else {
		err = config.ApplyPrompt(p.Path, change, c.Revision, func(text string) error {
			p, err = s.Intake.EditPolicy(ctx, p.Path, p.BaseCommit, func(current coppice.Policy) (coppice.Policy, error) {
				return config.WithPrompt(current, role, text), nil
			})
			return err
		})
	}
	if err != nil {
		return api.Prompt{}, withField(err)
	}
	all, err := s.Prompts(ctx, p)
	if err != nil {
		return api.Prompt{}, err
	}
	n := slices.IndexFunc(all.Prompts, func(x api.Prompt) bool { return x.Role == role })
	out := all.Prompts[n]
	out.Diff = diff
	return out, nil
}
