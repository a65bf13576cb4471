package prompt

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"

	"coppice"
)

// Kinds are the prompts for which a project can have its own text: one for each
// role.
var Kinds = coppice.RoleNames()

// Max limits a project's own text of a prompt, in bytes.
const Max = 64 << 10

// mostWritten limits the text that a template writes. Bodies and evidence are
// not shortened.
const mostWritten = 16 << 20

// fields are the fields that a project's own prompt can use.
type fields struct {
	Key, Title, Body string
	Steps            []string
	Category         string
	Evidence         string // fenced as data
	Note             string
	URL              string // the served app's address, as in the session's environment
	Base, Branch     string
	Instructions     string // a file to follow
	Progress         string // a file of notes
}

// functions are the functions that a template can use. None of them writes more
// than its input, so a template's cost is limited by its length.
var functions = []string{"and", "or", "not", "len", "index", "eq", "ne", "lt", "le", "gt", "ge", "inc"}

// render writes a prompt with the project's own text.
func render(kind string, f fields, override string) (string, error) {
	t, err := parseText(kind, override)
	if err != nil {
		return "", err
	}
	b := &bounded{}
	if err := t.Execute(b, f); err != nil {
		return "", invalid(kind, err)
	}
	text := strings.TrimSpace(b.String())
	if text == "" {
		return "", invalid(kind, errors.New("it comes out empty"))
	}
	return text + "\n", nil
}

// Check says what is wrong with a project's own text of a prompt.
func Check(kind, text string) error {
	steps := []string{"one", "two"}
	full := fields{
		Key: "app-1", Title: "A title", Body: "A body.", Steps: steps, Category: "a category", Evidence: "evidence", Note: "a note", URL: appURL,
		Base: "main", Branch: "coppice/app-1", Instructions: "INSTRUCTIONS.md", Progress: "progress.md",
	}
	bare := fields{Key: "app-1", Title: "A title", Base: "main", Branch: "coppice/app-1"}
	for _, f := range []fields{full, bare} {
		if _, err := render(kind, f, text); err != nil {
			return err
		}
	}
	return nil
}

func invalid(kind string, err error) error {
	return coppice.Errorf(coppice.EInvalid, "the %s prompt cannot be used: %v", kind, strings.TrimPrefix(err.Error(), "template: ")).
		WithFix("fix it, or remove the file; fields are Key, Title, Body, Steps, Category, Evidence, Note, URL, Base, Branch, Instructions and Progress")
}

func parseText(kind, text string) (*template.Template, error) {
	if !slices.Contains(Kinds, kind) {
		return nil, coppice.Errorf(coppice.EInvalid, "there is no prompt %s", coppice.Quote(kind)).WithFix("use %s", strings.Join(Kinds, ", "))
	}
	if len(text) > Max {
		return nil, invalid(kind, fmt.Errorf("it has %d bytes, %d are allowed", len(text), Max))
	}
	t, err := template.New(kind + ".md").Funcs(template.FuncMap{"inc": func(n int) int { return n + 1 }}).Parse(text)
	if err != nil {
		return nil, invalid(kind, err)
	}
	if len(t.Templates()) > 1 {
		return nil, invalid(kind, errors.New("it defines another template"))
	}
	if t.Tree == nil || t.Root == nil {
		return nil, invalid(kind, errors.New("it is empty"))
	}
	if err := plain(t.Root, 0); err != nil {
		return nil, invalid(kind, err)
	}
	return t, nil
}

// plain refuses everything that could run for long: the text comes with the
// repository.
func plain(n parse.Node, loops int) error {
	switch n := n.(type) {
	case *parse.ListNode:
		if n == nil {
			return nil
		}
		for _, c := range n.Nodes {
			if err := plain(c, loops); err != nil {
				return err
			}
		}
	case *parse.ActionNode:
		return plain(n.Pipe, loops)
	case *parse.IfNode:
		return errors.Join(plain(n.Pipe, loops), plain(n.List, loops), plain(n.ElseList, loops))
	case *parse.WithNode:
		return errors.Join(plain(n.Pipe, loops), plain(n.List, loops), plain(n.ElseList, loops))
	case *parse.RangeNode:
		if loops > 0 {
			return errors.New("a range is inside another one")
		}
		if cmds := n.Pipe.Cmds; len(cmds) != 1 || !slices.Contains([]string{".Steps", "$.Steps"}, cmds[0].String()) {
			return fmt.Errorf("range works only on .Steps, not on %s", n.Pipe)
		}
		return errors.Join(plain(n.List, loops+1), plain(n.ElseList, loops))
	case *parse.PipeNode:
		for _, c := range n.Cmds {
			for _, a := range c.Args {
				if err := plain(a, loops); err != nil {
					return err
				}
			}
		}
	case *parse.ChainNode:
		return plain(n.Node, loops)
	case *parse.IdentifierNode:
		if !slices.Contains(functions, n.Ident) {
			return fmt.Errorf("there is no function %s; use one of %s", n.Ident, strings.Join(functions, ", "))
		}
	case *parse.TemplateNode:
		return errors.New("it uses another template")
	}
	return nil
}

// bounded accepts at most mostWritten bytes.
type bounded struct{ strings.Builder }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > mostWritten {
		return 0, fmt.Errorf("it comes out longer than %d bytes", mostWritten)
	}
	return b.Builder.Write(p)
}

var _ io.Writer = (*bounded)(nil)

// appURL is how a prompt names the served app's address, which is known only
// when the session starts.
const appURL = "$COPPICE_URL"

// inOwnWords returns the project's own prompt, if it has a valid one.
func inOwnWords(in Input) (string, bool) {
	kind, p := string(in.Next.Role), in.Policy
	own := p.Prompts[kind]
	if own == "" {
		return "", false
	}
	f := fields{
		Key: in.Task.Key, Title: in.Task.Title, Body: in.Task.Body, Steps: in.Task.Steps, Category: in.Task.Category, Note: in.Next.Note,
		Base: in.Onto, Branch: coppice.TaskBranch(in.Task.Key), Instructions: p.Instructions, Progress: p.Progress,
	}
	if in.Next.Evidence != "" {
		f.Evidence = fence(in.Next.Evidence)
	}
	if in.Next.Role.Info().App && p.Workspace.Serve.Set() {
		f.URL = appURL
	}
	text, err := render(kind, f, own)
	return text, err == nil // the error was reported when the text was loaded
}
