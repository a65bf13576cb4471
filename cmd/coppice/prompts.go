package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
	"coppice/config"
)

// listedPrompt is a row of `coppice config prompt --json`.
type listedPrompt struct {
	Role    string `json:"role"`
	About   string `json:"about"`
	Own     bool   `json:"own"`
	Path    string `json:"path"`
	Problem string `json:"problem,omitempty"`
	Text    string `json:"text"`
}

func listed(root string, x config.Prompt) listedPrompt {
	row := listedPrompt{Role: x.Role, About: x.About, Own: x.Own, Path: filepath.Join(root, filepath.FromSlash(config.PromptFile(x.Role))), Text: x.Text}
	if x.Problem != nil {
		row.Problem = coppice.Public(x.Problem).Cause
	}
	return row
}

// prompts reads the prompts of the repository.
func (p *program) prompts(ctx context.Context) (root string, all []config.Prompt, err error) {
	if root, err = p.repository(ctx); err == nil {
		all, err = config.Prompts(root)
	}
	return root, all, err
}

// promptOf reads the prompt of a role.
func (p *program) promptOf(ctx context.Context, role string) (listedPrompt, error) {
	root, all, err := p.prompts(ctx)
	if err != nil {
		return listedPrompt{}, err
	}
	n := slices.IndexFunc(all, func(x config.Prompt) bool { return x.Role == role })
	if n < 0 {
		return listedPrompt{}, coppice.Errorf(coppice.EInvalid, "there is no role or prompt %s", coppice.Quote(role)).WithFix("see `coppice config prompt`")
	}
	return listed(root, all[n]), nil
}

func (p *program) configPrompt() *cobra.Command {
	c := withJSON(&cobra.Command{
		Use: "prompt", Short: "List the prompts of roles and flows, and which are this repository's own",
		Long: `Lists the prompt of each role: the text from which the first message of a session
is written. The prompts flow-… are the descriptions of the steps of flows. A repository
can have its own text for each of them, as a Go template in a file below
.coppice/prompts. The commands below show, write and remove it.`,
		Example: "  coppice config prompt\n  coppice config prompt get verify > verify.md\n  coppice config prompt set verify verify.md",
		Args:    cobra.NoArgs,
	}, func(c *cobra.Command, _ []string, asJSON bool) error {
		root, all, err := p.prompts(c.Context())
		if err != nil {
			return err
		}
		rows := make([]listedPrompt, len(all))
		for i, x := range all {
			rows[i] = listed(root, x)
		}
		if asJSON {
			return p.report(true, rows, "")
		}
		w := tabwriter.NewWriter(p.out(false), 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "ROLE\tPROMPT\tITS SESSIONS")
		for _, r := range rows {
			from := "built-in"
			if r.Own {
				from = config.PromptFile(r.Role)
			}
			if r.Problem != "" {
				from += ", not used"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\n", r.Role, from, r.About)
		}
		if err := w.Flush(); err != nil {
			return err
		}
		for _, r := range rows {
			if r.Problem != "" {
				fmt.Fprintf(p.out(false), "\n%s: %s\n", config.PromptFile(r.Role), r.Problem)
			}
		}
		return nil
	})
	c.AddCommand(p.promptGet(), p.promptSet(), p.promptUnset())
	return c
}

func (p *program) promptGet() *cobra.Command {
	return withJSON(&cobra.Command{
		Use: "get ROLE", Short: "Print the prompt of a role",
		Long:    "Prints the text of a role's prompt: this repository's own file, or the built-in text. It is a Go template.",
		Example: "  coppice config prompt get implement\n  coppice config prompt get flow-goal-lead",
		Args:    cobra.ExactArgs(1),
	}, func(c *cobra.Command, args []string, asJSON bool) error {
		x, err := p.promptOf(c.Context(), args[0])
		if err != nil {
			return err
		}
		return p.report(asJSON, x, "%s", x.Text)
	})
}

func (p *program) promptSet() *cobra.Command {
	return withJSON(&cobra.Command{
		Use: "set ROLE FILE", Short: "Write this repository's own prompt of a role",
		Long: `Writes the text of a file, or of stdin for -, as this repository's own prompt of a
role, below .coppice/prompts. A text that cannot be used is refused, with its line,
and nothing changes. It takes effect for the next session.`,
		Example: "  coppice config prompt set verify verify.md\n  coppice config prompt set fix - < fix.md",
		Args:    cobra.ExactArgs(2),
	}, func(c *cobra.Command, args []string, asJSON bool) error {
		text, err := p.textOf(args[1])
		if err != nil {
			return err
		}
		return p.changePrompt(c.Context(), config.PromptChange{Role: args[0], Text: text}, asJSON)
	})
}

func (p *program) promptUnset() *cobra.Command {
	return withJSON(&cobra.Command{
		Use: "unset ROLE", Short: "Remove this repository's own prompt of a role",
		Long:    "Removes the file of a role's prompt below .coppice/prompts, so that the built-in text is used.",
		Example: "  coppice config prompt unset verify",
		Args:    cobra.ExactArgs(1),
	}, func(c *cobra.Command, args []string, asJSON bool) error {
		return p.changePrompt(c.Context(), config.PromptChange{Role: args[0], Unset: true}, asJSON)
	})
}

// textOf reads a file that a person names, or stdin for -.
func (p *program) textOf(name string) (string, error) {
	in, from := p.env.Stdin, "stdin"
	if name != "-" {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(p.env.Dir, path)
		}
		f, err := os.Open(path)
		if err != nil {
			return "", coppice.Errorf(coppice.EInvalid, "%s cannot be read: %w", name, err).WithFix("name a file with the text, or - for stdin")
		}
		defer f.Close() // only read
		in, from = f, name
	}
	b, err := io.ReadAll(io.LimitReader(in, config.MaxSize+1))
	if err != nil {
		return "", coppice.Errorf(coppice.EInvalid, "%s cannot be read: %w", from, err).WithFix("name a file with the text, or - for stdin")
	}
	return string(b), nil
}

// changePrompt makes a change. A running server that knows the project makes it
// without a confirmation. Otherwise the change is made in the file.
func (p *program) changePrompt(ctx context.Context, change config.PromptChange, asJSON bool) error {
	if !change.Unset && change.Text == "" {
		return coppice.Errorf(coppice.EInvalid, "the text is empty").WithFix("to use the built-in prompt, run `coppice config prompt unset %s`", change.Role)
	}
	if _, err := p.promptOf(ctx, change.Role); err != nil {
		return err
	}
	root, err := p.repository(ctx)
	if err != nil {
		return err
	}
	changed, err := p.byServer(ctx, root, func(c *client.Client, project string) error {
		_, err := c.SetPrompt(ctx, project, change.Role, api.PromptChange{Text: change.Text, Unset: change.Unset})
		return err
	})
	if err == nil && !changed {
		err = config.ApplyPrompt(root, change, "", nil)
	}
	if err != nil {
		return err
	}
	x, err := p.promptOf(ctx, change.Role)
	if err != nil {
		return err
	}
	from := x.Path
	if !x.Own {
		from = "the built-in prompt"
	}
	return p.report(asJSON, x, "the prompt %s is now %s\n", x.Role, from)
}
