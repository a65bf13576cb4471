package prompt

import (
	"embed"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"
	"text/template/parse"

	"coppice"
	"coppice/internal/bounded"
)

// Kinds are the prompts for which a project can have its own text: one for each
// role.
var Kinds = coppice.RoleNames()

// Max limits a project's own text of a prompt, in bytes.
const Max = 64 << 10

// mostWritten limits the text that a template writes. Bodies and evidence are
// not shortened.
const mostWritten = 16 << 20

// fields are the fields of a template. Fields describes them.
type fields struct {
	Key, Title, Body string
	Steps            []string
	Category         string
	Checks           []string
	Evidence         string // fenced as data
	Conflict         bool
	Note             string
	URL              string
	Base, Branch     string
	Instructions     string
	Progress         string
	Features         string
}

// Field describes a field for people.
type Field struct {
	Name string
	Doc  string
}

// Fields are the fields that the text of a prompt can use.
var Fields = []Field{
	{"Key", "the key of the task, such as app-7"},
	{"Title", "its title"},
	{"Body", "its description"},
	{"Steps", "what must be true when it is done, as a list: `{{range .Steps}}- {{.}}{{end}}`"},
	{"Category", "its category"},
	{"Checks", "the commands that judge the merged tree, as a list: `{{range .Checks}}$ {{.}}{{end}}`"},
	{"Evidence", "what happened before: failed checks, refused work, earlier sessions; marked as data"},
	{"Conflict", "true if the work was refused because it does not merge"},
	{"Note", "the note of a person who retried or continued the task"},
	{"URL", "the address of the app that is served for a verifier, as $COPPICE_URL"},
	{"Base", "the branch on which the work lands"},
	{"Branch", "the branch of the task"},
	{"Instructions", "the file of the key instructions"},
	{"Progress", "the file of the key progress"},
	{"Features", "the features file, if the task comes from it"},
}

// lists are the fields that a template can range over.
var lists = []string{".Steps", "$.Steps", ".Checks", "$.Checks"}

// Functions are the functions that a template can use. None of them writes more
// than its input, so a template's cost is limited by its length.
var Functions = []string{"and", "or", "not", "len", "index", "eq", "ne", "lt", "le", "gt", "ge", "inc"}

//go:embed builtin/*.md
var files embed.FS

// builtin are the built-in texts, by role. They are templates as a project's own.
var builtin = sync.OnceValue(func() map[string]string {
	texts := map[string]string{}
	for _, kind := range Kinds {
		b, err := files.ReadFile("builtin/" + kind + ".md")
		if err != nil {
			panic("prompt: " + err.Error()) // a role without a prompt
		}
		texts[kind] = string(b)
	}
	return texts
})

// BuiltIn returns the built-in text of a role's prompt.
func BuiltIn(kind string) (string, error) {
	if err := known(kind); err != nil {
		return "", err
	}
	return builtin()[kind], nil
}

// render writes a prompt from its text. A project's own text is bounded.
func render(kind string, f fields, text string) (string, error) {
	t, err := parseText(kind, text)
	if err != nil {
		return "", err
	}
	b := &bounded.Builder{Most: mostWritten}
	if text == builtin()[kind] {
		b.Most = math.MaxInt
	}
	if err := t.Execute(b, f); err != nil {
		return "", invalid(kind, err)
	}
	out := strings.TrimSpace(b.String())
	if out == "" {
		return "", invalid(kind, errors.New("it comes out empty"))
	}
	return out + "\n", nil
}

// Check says what is wrong with a project's own text of a prompt.
func Check(kind, text string) error {
	steps := []string{"one", "two"}
	full := fields{
		Key: "app-1", Title: "A title", Body: "A body.", Steps: steps, Category: "a category", Checks: []string{"make"}, Evidence: "evidence", Conflict: true,
		Note: "a note", URL: appURL, Base: "main", Branch: "coppice/app-1", Instructions: "INSTRUCTIONS.md", Progress: "progress.md", Features: "features.json",
	}
	bare := fields{Key: "app-1", Title: "A title", Base: "main", Branch: "coppice/app-1"}
	for _, f := range []fields{full, bare} {
		if _, err := render(kind, f, text); err != nil {
			return err
		}
	}
	return nil
}

// Mistake is the place of a mistake in the text of a prompt. The errors of Check wrap
// it, if they concern a line.
type Mistake struct {
	Line int // from 1
	err  error
}

func (m *Mistake) Error() string { return m.err.Error() }

// Unwrap returns what is wrong.
func (m *Mistake) Unwrap() error { return m.err }

var lineOf = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|: )[a-z-]+\.md:(\d+):`) })

// Located returns an error of a template as a Mistake, if it names a line.
func Located(err error) error {
	if at := lineOf().FindStringSubmatch(err.Error()); at != nil {
		if n, bad := strconv.Atoi(at[1]); bad == nil {
			return &Mistake{n, err}
		}
	}
	return err
}

func invalid(kind string, err error) error {
	err = Located(err)
	names := make([]string, len(Fields))
	for i, f := range Fields {
		names[i] = f.Name
	}
	e := coppice.Errorf(coppice.EInvalid, "the %s prompt cannot be used: %s", kind, strings.TrimPrefix(err.Error(), "template: ")).
		WithFix("fix it, or remove the file; fields are %s", strings.Join(names, ", "))
	e.Err = err
	return e
}

func known(kind string) error {
	if slices.Contains(Kinds, kind) {
		return nil
	}
	return coppice.Errorf(coppice.EInvalid, "there is no prompt %s", coppice.Quote(kind)).WithFix("use %s", strings.Join(Kinds, ", "))
}

func parseText(kind, text string) (*template.Template, error) {
	if err := known(kind); err != nil {
		return nil, err
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
	if err := plain(t.Tree, t.Root, 0); err != nil {
		return nil, invalid(kind, err)
	}
	return t, nil
}

// plain refuses everything that could run for long: the text comes with the
// repository.
func plain(t *parse.Tree, n parse.Node, loops int) error {
	switch n := n.(type) {
	case *parse.ListNode:
		if n == nil {
			return nil
		}
		for _, c := range n.Nodes {
			if err := plain(t, c, loops); err != nil {
				return err
			}
		}
	case *parse.ActionNode:
		return plain(t, n.Pipe, loops)
	case *parse.IfNode:
		return errors.Join(plain(t, n.Pipe, loops), plain(t, n.List, loops), plain(t, n.ElseList, loops))
	case *parse.WithNode:
		return errors.Join(plain(t, n.Pipe, loops), plain(t, n.List, loops), plain(t, n.ElseList, loops))
	case *parse.RangeNode:
		if loops > 0 {
			return at(t, n, "a range is inside another one")
		}
		if cmds := n.Pipe.Cmds; len(cmds) != 1 || !slices.Contains(lists, cmds[0].String()) {
			return at(t, n, "range works only on .Steps and .Checks, not on %s", n.Pipe)
		}
		return errors.Join(plain(t, n.List, loops+1), plain(t, n.ElseList, loops))
	case *parse.PipeNode:
		for _, c := range n.Cmds {
			for _, a := range c.Args {
				if err := plain(t, a, loops); err != nil {
					return err
				}
			}
		}
	case *parse.ChainNode:
		return plain(t, n.Node, loops)
	case *parse.IdentifierNode:
		if !slices.Contains(Functions, n.Ident) {
			return at(t, n, "there is no function %s; use one of %s", n.Ident, strings.Join(Functions, ", "))
		}
	case *parse.TemplateNode:
		return at(t, n, "it uses another template")
	}
	return nil
}

// at returns an error that starts with the place of a part of the text.
func at(t *parse.Tree, n parse.Node, format string, args ...any) error {
	place, _ := t.ErrorContext(n)
	return fmt.Errorf("%s: %s", place, fmt.Sprintf(format, args...))
}

// appURL is how a prompt names the served app's address, which is known only
// when the session starts.
const appURL = "$COPPICE_URL"

// textOf writes the text of a session's role: the project's own, if it has a valid
// one, or the built-in one.
func textOf(in Input) string {
	kind, p, role := string(in.Next.Role), in.Policy, in.Next.Role.Info()
	f := fields{
		Key: in.Task.Key, Title: in.Task.Title, Body: strings.TrimRight(in.Task.Body, "\n"), Steps: in.Task.Steps, Category: in.Task.Category,
		Checks: in.Checks, Conflict: in.Conflict && role.Fixes, Note: in.Next.Note,
		Base: in.Onto, Branch: in.Task.BranchName(), Instructions: p.Instructions, Progress: p.Progress,
	}
	if in.Next.Evidence != "" {
		f.Evidence = fence(in.Next.Evidence)
	}
	if role.App && p.Workspace.Serve.Set() {
		f.URL = appURL
	}
	if in.Task.Feature != "" {
		f.Features = p.Features
	}
	if own := p.Prompts[kind]; own != "" {
		if text, err := render(kind, f, own); err == nil { // the error was reported when the text was loaded
			return text
		}
	}
	text, err := render(kind, f, builtin()[kind])
	if err != nil {
		panic("prompt: the built-in prompt: " + err.Error()) // TestBuiltIn
	}
	return text
}
