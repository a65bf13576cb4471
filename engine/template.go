package engine

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

// Where a checkout says what its policy is.
const (
	PolicyFile = "coppice.yaml"
	PromptDir  = ".coppice/prompts" // a file for each kind of prompt
)

// PolicyFiles names all the files of a checkout that make its policy.
func PolicyFiles() []string {
	files := []string{PolicyFile}
	for _, kind := range PromptKinds {
		files = append(files, PromptDir+"/"+kind+".md")
	}
	return files
}

// PromptKinds are the prompts that a project can have its own text for.
var PromptKinds = []string{string(coppice.RoleImplement), string(coppice.RoleVerify), string(coppice.RoleFix)}

// MaxPrompt bounds a project's own text of a prompt.
const MaxPrompt = 64 << 10

// mostPrompt bounds what comes out of one; bodies and evidence are whole.
const mostPrompt = 16 << 20

// promptFields are what a project's own prompt can name.
type promptFields struct {
	Key, Title, Body string
	Steps            []string
	Category         string
	Evidence         string // fenced as data
	Note             string
	URL              string // of the served app, as the session's environment has it
	Base, Branch     string
	Instructions     string // a file to follow
	Progress         string // a file of notes
}

// promptFuncs are the functions that a template may use. None of them makes more
// of less, so that a template costs no more than it is long.
var promptFuncs = []string{"and", "or", "not", "len", "index", "eq", "ne", "lt", "le", "gt", "ge", "inc"}

// renderPrompt writes a prompt in the project's own words. It is pure.
func renderPrompt(kind string, fields promptFields, override string) (string, error) {
	t, err := parsePrompt(kind, override)
	if err != nil {
		return "", err
	}
	b := &bounded{}
	if err := t.Execute(b, fields); err != nil {
		return "", badPrompt(kind, err)
	}
	text := strings.TrimSpace(b.String())
	if text == "" {
		return "", badPrompt(kind, errors.New("it comes out empty"))
	}
	return text + "\n", nil
}

// CheckPrompt tells what is wrong with a project's own text of a prompt.
func CheckPrompt(kind, text string) error {
	steps := []string{"one", "two"}
	full := promptFields{
		Key: "app-1", Title: "A title", Body: "A body.", Steps: steps, Category: "a category", Evidence: "evidence", Note: "a note", URL: appURL,
		Base: "main", Branch: "coppice/app-1", Instructions: "INSTRUCTIONS.md", Progress: "progress.md",
	}
	bare := promptFields{Key: "app-1", Title: "A title", Base: "main", Branch: "coppice/app-1"}
	for _, f := range []promptFields{full, bare} {
		if _, err := renderPrompt(kind, f, text); err != nil {
			return err
		}
	}
	return nil
}

func badPrompt(kind string, err error) error {
	return coppice.Errorf(coppice.EInvalid, "the %s prompt cannot be used: %v", kind, strings.TrimPrefix(err.Error(), "template: ")).
		WithFix("mend it, or remove the file; fields are Key, Title, Body, Steps, Category, Evidence, Note, URL, Base, Branch, Instructions and Progress")
}

func parsePrompt(kind, text string) (*template.Template, error) {
	if !slices.Contains(PromptKinds, kind) {
		return nil, coppice.Errorf(coppice.EInvalid, "there is no prompt %s", coppice.Quote(kind)).WithFix("use %s", strings.Join(PromptKinds, ", "))
	}
	if len(text) > MaxPrompt {
		return nil, badPrompt(kind, fmt.Errorf("it has %d bytes, %d are allowed", len(text), MaxPrompt))
	}
	t, err := template.New(kind + ".md").Funcs(template.FuncMap{"inc": func(n int) int { return n + 1 }}).Parse(text)
	if err != nil {
		return nil, badPrompt(kind, err)
	}
	if len(t.Templates()) > 1 {
		return nil, badPrompt(kind, errors.New("it defines a template of its own"))
	}
	if t.Tree == nil || t.Root == nil {
		return nil, badPrompt(kind, errors.New("it is empty"))
	}
	if err := plain(t.Root, 0); err != nil {
		return nil, badPrompt(kind, err)
	}
	return t, nil
}

// plain refuses what could run for long: the text comes with the repository.
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
			return errors.New("a range stands within another")
		}
		if cmds := n.Pipe.Cmds; len(cmds) != 1 || !slices.Contains([]string{".Steps", "$.Steps"}, cmds[0].String()) {
			return fmt.Errorf("range goes over .Steps only, not %s", n.Pipe)
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
		if !slices.Contains(promptFuncs, n.Ident) {
			return fmt.Errorf("the function %s is not there; there are %s", n.Ident, strings.Join(promptFuncs, ", "))
		}
	case *parse.TemplateNode:
		return errors.New("it uses another template")
	}
	return nil
}

// bounded takes so much and no more.
type bounded struct{ strings.Builder }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > mostPrompt {
		return 0, fmt.Errorf("it comes out longer than %d bytes", mostPrompt)
	}
	return b.Builder.Write(p)
}

var _ io.Writer = (*bounded)(nil)

// appURL is how a prompt names the served app's address, which is known only
// when the session starts.
const appURL = "$COPPICE_URL"

// ownPrompt is the prompt in the project's own words, where it has any that
// can be used. What the engine itself needs to be said comes behind it.
func ownPrompt(v *View, n *coppice.Next) (string, bool) {
	kind := string(n.Role)
	if kind == "" {
		kind = string(coppice.RoleImplement)
	}
	own := v.Project.Policy.Prompts[kind]
	if own == "" {
		return "", false
	}
	p := v.Project.Policy
	f := promptFields{
		Key: v.Task.Key, Title: v.Task.Title, Body: v.Task.Body, Steps: v.Task.Steps, Category: v.Task.Category, Note: n.Note,
		Base: p.Base, Branch: coppice.TaskBranch(v.Task.Key), Instructions: p.Instructions, Progress: p.Progress,
	}
	if n.Evidence != "" {
		f.Evidence = fence(n.Evidence)
	}
	if n.Role == coppice.RoleVerify && p.Workspace.Serve.Set() {
		f.URL = appURL
	}
	text, err := renderPrompt(kind, f, own)
	if err != nil {
		return "", false // whoever loaded it has told so
	}
	var b strings.Builder
	b.WriteString(text)
	for _, m := range v.Messages {
		fmt.Fprintf(&b, "\nA person says: %s\n", m.Text)
	}
	if n.Role == coppice.RoleVerify {
		if told := browser(p); told != "" {
			b.WriteString("\n" + told)
		}
		b.WriteString(howToAnswer)
	}
	return b.String(), true
}

// files tells of the files that every session follows or goes on with.
func files(p coppice.Policy, role coppice.Role) string {
	var b strings.Builder
	if p.Instructions != "" {
		fmt.Fprintf(&b, "- Follow %s.\n", p.Instructions)
	}
	if p.Progress != "" && role != coppice.RoleVerify {
		fmt.Fprintf(&b, "- %s holds the notes of earlier sessions on this task, if there were any: read it first, and before you end add what whoever goes on should know. It is never committed.\n", p.Progress)
	}
	return b.String()
}
