package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"coppice"
	"coppice/flow"
	"coppice/prompt"
)

// PromptDir is where a repository has its own prompts, each in a file named
// after its role, such as verify.md, or after a prompt of flows, such as
// flow-goal-lead.md.
const PromptDir = ".coppice/prompts"

// promptNames returns the names of all prompts: those of roles, then those of flows.
func promptNames() []string { return append(slices.Clone(prompt.Kinds), flow.PromptNames()...) }

// builtIn returns the built-in text of a prompt.
func builtIn(role string) (string, error) {
	if text := flow.PromptText(role); text != "" {
		return text, nil
	}
	return prompt.BuiltIn(role)
}

// PromptFile returns the file of a prompt, relative to the repository.
func PromptFile(role string) string { return path.Join(PromptDir, role+".md") }

// Files names all files of a checkout that make up its policy, whether they exist or
// not, and the folder with further context files.
func Files(dir string) []string {
	files := []string{File}
	for _, role := range promptNames() {
		files = append(files, PromptFile(role))
	}
	names, _ := contextNames(dir) // an error is reported when the policy is loaded
	return append(append(files, names...), ContextDir)
}

// What the text of a role's prompt can use.
var (
	PromptFields    = prompt.Fields
	PromptFunctions = prompt.Functions
)

// Prompt is the prompt of a role, or one of flows, in a checkout.
type Prompt struct {
	Role     string
	About    string   // what its sessions do
	Fields   []string // what the text of a prompt of flows can use; nil for PromptFields
	Own      bool     // the project has its own file
	Text     string   // of the file, or the built-in one
	BuiltIn  string
	Problem  error  // why the file cannot be used
	Revision string // names the file's content
}

// Prompts reads the prompts of a repository.
func Prompts(dir string) ([]Prompt, error) {
	if _, err := os.ReadDir(dir); err != nil {
		return nil, unreadable(dir, err)
	}
	var all []Prompt
	for _, role := range promptNames() {
		text, err := builtIn(role)
		if err != nil {
			return nil, err
		}
		b, err := readFile(dir, PromptFile(role), MaxSize)
		p := Prompt{Role: role, About: cmp.Or(flow.PromptAbout(role), coppice.Role(role).Info().About), Fields: flow.PromptFields(role), Own: true, Text: string(b), BuiltIn: text, Revision: revision(b)}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			p.Own, p.Text = false, text
		case err != nil:
			p.Problem = err
		default:
			p.Problem = checkPrompt(role, b)
		}
		all = append(all, p)
	}
	return all, nil
}

// checkPrompt says what is wrong with the text of a prompt.
func checkPrompt(role string, b []byte) error {
	if !utf8.Valid(b) {
		return coppice.Errorf(coppice.EInvalid, "it is not valid UTF-8").WithFix("write it as UTF-8")
	}
	if flow.PromptText(role) == "" {
		return prompt.Check(role, string(b))
	}
	err := flow.CheckPrompt(role, string(b))
	if e := coppice.Public(err); err != nil {
		e.Err = prompt.Located(err)
		return e
	}
	return nil
}

// loadPrompts reads the project's own prompts. If one cannot be used, the
// policy says why, and the built-in one is used.
func loadPrompts(dir string, p *coppice.Policy) error {
	all, err := Prompts(dir)
	for _, own := range all {
		switch {
		case !own.Own:
		case own.Problem != nil:
			name := PromptFile(own.Role)
			p.Problems = append(p.Problems, fmt.Sprintf("%s: %s", name, strings.TrimPrefix(own.Problem.Error(), name+" ")))
		default:
			*p = WithPrompt(*p, own.Role, own.Text)
		}
	}
	return err
}

// WithPrompt returns a policy with another prompt of a role; "" stands for the
// built-in one.
func WithPrompt(p coppice.Policy, role, text string) coppice.Policy {
	prompts := maps.Clone(p.Prompts)
	if prompts == nil {
		prompts = map[string]string{}
	}
	if prompts[role] = text; text == "" {
		delete(prompts, role)
	}
	p.Prompts = prompts
	p.Problems = slices.DeleteFunc(slices.Clone(p.Problems), func(s string) bool { return strings.HasPrefix(s, PromptFile(role)+": ") })
	return p
}

// PromptChange replaces the prompt of a role, or removes the project's own.
type PromptChange struct {
	Role  string
	Text  string
	Unset bool // use the built-in one; Text is ignored
}

// ApplyPrompt makes a change of a prompt in a repository. A revision other than ""
// must be that of the current file. use gets the text of the file afterwards, "" if it
// is removed; it can be nil. The file is replaced or removed atomically. On any error
// it keeps its content.
func ApplyPrompt(dir string, c PromptChange, rev string, use func(text string) error) error {
	before, after, err := preparePrompt(dir, c, rev)
	if err != nil {
		return err
	}
	text := string(after)
	apply := func() error {
		if use == nil {
			return nil
		}
		return use(text)
	}
	if bytes.Equal(before, after) && (before == nil) == (after == nil) {
		return apply() // the text might wait for a person
	}
	return swap(dir, PromptFile(c.Role), before, after, apply)
}

// PreviewPrompt returns what ApplyPrompt would change, as a unified diff, "" for
// nothing. A missing file is compared as the built-in prompt. It fails where
// ApplyPrompt would, and writes nothing.
func PreviewPrompt(dir string, c PromptChange, rev string) (string, error) {
	before, after, err := preparePrompt(dir, c, rev)
	if err != nil {
		return "", err
	}
	builtin, err := builtIn(c.Role)
	if err != nil {
		return "", err
	}
	side := func(b []byte) (name, text string) {
		if b == nil {
			return "the built-in prompt", builtin
		}
		return PromptFile(c.Role), string(b)
	}
	from, a := side(before)
	to, b := side(after)
	if a == b {
		return "", nil
	}
	return fmt.Sprintf("--- %s\n+++ %s\n%s", from, to, unified(lines(a), lines(b))), nil
}

// preparePrompt returns a file before and after a change; nil stands for a missing
// file.
func preparePrompt(dir string, c PromptChange, rev string) (before, after []byte, err error) {
	if _, err = builtIn(c.Role); err != nil {
		return nil, nil, err
	}
	name := PromptFile(c.Role)
	if before, err = readFile(dir, name, MaxSize); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	if len(before) > MaxSize {
		return nil, nil, coppice.Errorf(coppice.ETooLarge, "%s is larger than %d bytes", name, MaxSize).WithFix("remove the file by hand")
	}
	if err := sameRevision(name, rev, before); err != nil {
		return nil, nil, err
	}
	if c.Unset {
		if to, err := os.Readlink(filepath.Join(dir, filepath.FromSlash(name))); err == nil {
			return nil, nil, coppice.Errorf(coppice.EConflict, "%s is a symbolic link to %s", name, coppice.Quote(to)).WithFix("remove the link by hand")
		}
		return before, nil, nil
	}
	text := strings.TrimRight(c.Text, "\r\n") + "\n"
	if bytes.Contains(before, []byte("\r\n")) { // a browser sends only newlines
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
	}
	after = []byte(text)
	return before, after, withLine(name, checkPrompt(c.Role, after))
}

// withLine adds the line of the text that an error is about to the error.
func withLine(name string, err error) error {
	var m *prompt.Mistake
	var e *coppice.Error
	if !errors.As(err, &m) || !errors.As(err, &e) {
		return err
	}
	located := *e
	located.Err = &At{File: name, Line: m.Line, Column: 1, Key: fmt.Sprintf("text:%d", m.Line)}
	return &located
}
