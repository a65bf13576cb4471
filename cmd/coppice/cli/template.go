package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

func (e *Env) templateCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "template", Short: "Show and edit templates of tasks and flows",
		Long: `A template is a file below .coppice/templates of the repository. Its front matter has
the fields of a task, its variables and perhaps a flow. The text below it is the
description, in which {{name}} stands for a variable. To use one, run
coppice new --template NAME.`,
		Example: "  coppice template list\n  coppice template edit upgrade\n  coppice new --template upgrade --var module=cobra\n  coppice template stats upgrade",
	}
	c.AddCommand(e.templateList(), e.templateShow(), e.templateEdit(), e.templateStats())
	return c
}

func (e *Env) templateList() *cobra.Command {
	c := &cobra.Command{
		Use: "list", Short: "List the templates of a project", Long: "List the templates of a project and their variables. A required variable has a star.",
		Example: "  coppice template list\n  coppice template list --json", Args: args(0, 0, "no arguments"),
	}
	return showsIn(e, c, projectFlag(c), func(ctx context.Context, cl *client.Client, prefix string, _ []string) (api.Templates, error) {
		return cl.Templates(ctx, prefix)
	}, func(list api.Templates) {
		listed(e, "no templates\n"+e.paint(dim, "create one with: coppice template edit NAME"), list.Templates, []column{{head: "NAME"}, {head: "FLOW"}, {head: "VARIABLES"}, {head: "TITLE", give: true}}, func(t api.Template) []cell {
			return []cell{{line(t.Name), bold}, plain(string(t.Flow)), plain(variableNames(t)), plain(t.Title)}
		})
		for _, t := range list.Templates {
			if t.Problem != "" {
				e.printf("\n%s cannot be used: %s\n", line(t.Name), Clean(t.Problem))
			}
		}
	})
}

// variableNames lists the variables of a template. A required one has a star.
func variableNames(t api.Template) string {
	var all []string
	for _, v := range t.Variables {
		if v.Required {
			v.Name += "*"
		}
		all = append(all, v.Name)
	}
	return strings.Join(all, ", ")
}

func (e *Env) templateShow() *cobra.Command {
	c := &cobra.Command{
		Use: "show NAME", Short: "Print a template", Long: "Print the text of a template. --json adds its variables and its revision.",
		Example: "  coppice template show upgrade", Args: args(1, 1, "the name of a template"),
	}
	return showsIn(e, c, projectFlag(c), func(ctx context.Context, cl *client.Client, prefix string, given []string) (api.Template, error) {
		return cl.Template(ctx, prefix, given[0])
	}, func(t api.Template) {
		if t.Problem != "" {
			fmt.Fprintf(e.Stderr, "the template cannot be used: %s\n", Clean(t.Problem))
		}
		e.printf("%s\n", strings.TrimSuffix(Clean(t.Text), "\n"))
	})
}

// newTemplate is the text with which a person starts a template.
const newTemplate = `---
title: 
# agent, model, effort, checks, steps, budget, turns, time, labels, track
# flow: {kind: goal, spec: {}}
# variables:
#   name: {about: "what it is", required: true}
---
The description.
`

func (e *Env) templateEdit() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use: "edit NAME", Short: "Write a template in your editor, or from a file",
		Long: `Write a template in your editor ($VISUAL or $EDITOR), or from --file. A text that
cannot be used is refused, with its line, and nothing changes. It is also refused if
somebody has changed the file in the meantime.`,
		Example: "  coppice template edit upgrade\n  coppice template edit upgrade --file upgrade.md", Args: args(1, 1, "the name of a template"),
	}
	project := projectFlag(c)
	c.Flags().StringVar(&file, "file", "", "read the text from a file; - is stdin")
	return showsIn(e, c, project, func(ctx context.Context, cl *client.Client, prefix string, given []string) (t api.Template, err error) {
		now, err := cl.Template(ctx, prefix, given[0])
		if coppice.ErrorCode(err) == coppice.ENotFound {
			now, err = api.Template{Text: newTemplate}, nil
		}
		if err != nil {
			return t, err
		}
		change := api.TemplateChange{Revision: now.Revision}
		if file != "" {
			b, err := e.readFile(file, coppice.MaxBody)
			if err != nil {
				return t, err
			}
			change.Text = string(b)
		} else if change.Text, err = e.editText(ctx, given[0]+".md", now.Text); err != nil {
			return t, err
		}
		if strings.TrimSpace(change.Text) == "" {
			return t, coppice.Errorf(coppice.EConflict, "the text is empty; nothing was changed")
		}
		return cl.SetTemplate(ctx, prefix, given[0], change)
	}, func(t api.Template) { e.printf("%s  %s\n", e.paint(bold, line(t.Name)), line(t.Path)) })
}

// editText lets a person edit a text in the editor.
func (e *Env) editText(ctx context.Context, name, text string) (string, error) {
	dir, err := os.MkdirTemp("", "coppice-edit-")
	if err != nil {
		return "", coppice.Errorf(coppice.EUnavailable, "no temporary file can be created: %w", err).WithFix("set TMPDIR to a directory that you can write to")
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, filepath.Base(name))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", err
	}
	if err := e.Edit(ctx, path); err != nil {
		return "", err
	}
	b, err := e.readFile(path, coppice.MaxBody)
	return string(b), err
}

func (e *Env) templateStats() *cobra.Command {
	c := &cobra.Command{
		Use: "stats [NAME]", Short: "Show how the tasks of templates ended, by model",
		Long:    "Show how many ended tasks each template has, by the model that worked on them: how many are done and how many failed, and the mean cost, turns and time.",
		Example: "  coppice template stats\n  coppice template stats upgrade --json", Args: args(0, 1, "the name of a template"),
	}
	return showsIn(e, c, projectFlag(c), func(ctx context.Context, cl *client.Client, prefix string, given []string) (out api.TemplateStats, err error) {
		all, err := cl.TemplateStats(ctx, prefix)
		out.Stats = []coppice.TemplateStat{}
		for _, s := range all.Stats {
			if len(given) == 0 || s.Template == given[0] {
				out.Stats = append(out.Stats, s)
			}
		}
		return out, err
	}, func(out api.TemplateStats) {
		listed(e, "no task of a template has ended", out.Stats, []column{{head: "TEMPLATE"}, {head: "MODEL"}, {head: "TASKS", end: true}, {head: "DONE", end: true}, {head: "FAILED", end: true}, {head: "COST", end: true}, {head: "TURNS", end: true}, {head: "TIME", end: true}}, func(s coppice.TemplateStat) []cell {
			return []cell{
				{line(s.Template), bold}, plain(s.Model), plain(itoa(int64(s.Tasks))), plain(fmt.Sprintf("%d%%", 100*s.Done/max(1, s.Tasks))), plain(itoa(int64(s.Failed))),
				plain(money(s.CostUSD)), plain(fmt.Sprintf("%.1f", s.Turns)), plain(s.Took.D().Round(time.Second).String()),
			}
		})
	})
}
