package api

import "coppice"

// Templates are the templates of a project.
type Templates struct {
	Templates []Template `json:"templates"`
}

// Template is a task or a flow that a project keeps for later use, in a file below
// .coppice/templates.
type Template struct {
	Name      string             `json:"name"`
	Title     string             `json:"title,omitempty" doc:"With its placeholders"`
	Path      string             `json:"path" doc:"Its file, relative to the repository"`
	Flow      coppice.FlowKind   `json:"flow,omitempty" doc:"The kind of flow that it creates; absent for a task"`
	Variables []TemplateVariable `json:"variables" doc:"Sorted by name"`
	Text      string             `json:"text,omitempty" doc:"Of the file; absent in a list"`
	Revision  string             `json:"revision" doc:"Identifies the file's current content; send it with a change"`
	Problem   string             `json:"problem,omitempty" doc:"Why it cannot be used"`
	Diff      string             `json:"diff,omitempty" doc:"Of a dry run: what the change would do, as a unified diff; absent if nothing"`
}

// TemplateVariable is a value that a person gives when they use a template.
type TemplateVariable struct {
	Name     string `json:"name"`
	About    string `json:"about,omitempty"`
	Default  string `json:"default,omitempty"`
	Required bool   `json:"required,omitempty"`
}

// TemplateChange writes or removes a template.
type TemplateChange struct {
	Text     string `json:"text,omitempty" doc:"The new text of the file: front matter and description"`
	Unset    bool   `json:"unset,omitempty" doc:"Remove the file"`
	Revision string `json:"revision,omitempty" maxLength:"64" doc:"The change is refused if the file has changed since"`
	DryRun   bool   `json:"dry_run,omitempty" doc:"Only check the change and return its diff; write nothing"`
}

// TemplateStats has the statistics of a project's templates, by template and model.
type TemplateStats struct {
	Stats []coppice.TemplateStat `json:"stats"`
}
