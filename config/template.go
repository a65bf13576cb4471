package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"coppice"
)

// TemplateDir is where a repository has its templates of tasks and flows, each in a
// file named after it, such as upgrade.md.
const TemplateDir = contextRoot + "/templates"

// The limits of templates.
const (
	mostTemplates = 200
	mostVariables = 50
)

// TemplateFile returns the file of a template, relative to the repository.
func TemplateFile(name string) string { return path.Join(TemplateDir, name+".md") }

// TemplateHead is the front matter of a template.
type TemplateHead struct {
	Title     string              `yaml:"title"`
	Agent     string              `yaml:"agent"`
	Model     string              `yaml:"model"`
	Effort    string              `yaml:"effort"`
	Checks    []string            `yaml:"checks"`
	Steps     []string            `yaml:"steps"`
	Budget    coppice.USD         `yaml:"budget"`
	Turns     int                 `yaml:"turns"`
	Time      coppice.Duration    `yaml:"time"`
	Labels    []string            `yaml:"labels"`
	Track     string              `yaml:"track"`
	Flow      TemplateFlow        `yaml:"flow"`
	Tasks     json.RawMessage     `yaml:"tasks"` // a list of tasks: the template is a batch
	Variables map[string]Variable `yaml:"variables"`
}

// TemplateFlow makes a template one of a flow.
type TemplateFlow struct {
	Kind string           `yaml:"kind"`
	Spec json.RawMessage  `yaml:"spec"`
	Time coppice.Duration `yaml:"time"`
}

// Variable is a value that a person gives when they use a template.
type Variable struct {
	About    string `yaml:"about" json:"about,omitempty"`
	Default  string `yaml:"default" json:"default,omitempty"`
	Required bool   `yaml:"required" json:"required,omitempty"`
}

// Template is a task or a flow that a repository keeps for later use.
type Template struct {
	Name     string
	Text     string // of the file
	Head     TemplateHead
	Body     string // the description
	Problem  error  // why the file cannot be used
	Revision string // names the file's content
}

// Templates reads the templates of a repository, sorted by name.
func Templates(dir string) ([]Template, error) {
	names, err := templateNames(dir)
	if err != nil {
		return nil, err
	}
	var all []Template
	for _, name := range names {
		if len(all) == mostTemplates {
			return nil, coppice.Errorf(coppice.EInvalid, "%s has more than %d templates", TemplateDir, mostTemplates).WithFix("remove some of them")
		}
		t, err := ReadTemplate(dir, name)
		if err != nil {
			t.Problem = err
		}
		all = append(all, t)
	}
	return all, nil
}

// templateNames returns the names of the templates of a repository, sorted.
func templateNames(dir string) (names []string, err error) {
	files, err := markdownIn(dir, TemplateDir)
	for _, file := range files {
		if name := strings.TrimSuffix(file, ".md"); coppice.ValidName("template", name) == nil {
			names = append(names, name)
		}
	}
	return names, err
}

// ReadTemplate reads one template. It fails with code not_found if the repository has
// no such file. A file that cannot be used has a Problem.
func ReadTemplate(dir, name string) (Template, error) {
	t := Template{Name: name}
	if err := coppice.ValidName("template", name); err != nil {
		return t, coppice.Public(err).WithField("template")
	}
	b, err := readFile(dir, TemplateFile(name), MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return t, coppice.Errorf(coppice.ENotFound, "there is no template %s", coppice.Quote(name)).WithFix("%s", unknownTemplate(dir, name)).WithField("template")
	}
	if err != nil {
		return t, err
	}
	t, t.Problem = ParseTemplate(name, b)
	return t, nil
}

// mostNamed limits the templates that a fix names.
const mostNamed = 20

// unknownTemplate returns the fix for the name of a template that does not exist.
func unknownTemplate(dir, name string) string {
	all, err := templateNames(dir)
	if err != nil || len(all) == 0 {
		return "write " + TemplateFile(name)
	}
	more := ""
	if len(all) > mostNamed {
		all, more = all[:mostNamed], ", …"
	}
	return fmt.Sprintf("use one of: %s%s; or write %s", strings.Join(all, ", "), more, TemplateFile(name))
}

// ParseTemplate reads the text of a template and checks it.
func ParseTemplate(name string, b []byte) (t Template, err error) {
	t = Template{Name: name, Text: string(b), Revision: revision(b)}
	head, body, line, err := frontMatter(TemplateFile(name), b)
	if err != nil {
		return t, err
	}
	d := newDecoder(TemplateFile(name), head)
	n, err := d.parse()
	if err != nil {
		return t, err
	}
	if n != nil {
		if err := d.value(n, reflect.ValueOf(&t.Head).Elem(), "template"); err != nil {
			return t, err
		}
	}
	t.Body = strings.TrimSpace(body)
	return t, t.check(d, b, line)
}

// frontMatter splits a text into its front matter and the rest, which starts at a
// line. The front matter has an empty line instead of its first mark, so that its
// lines have the numbers of the file.
func frontMatter(name string, b []byte) (head []byte, body string, line int, err error) {
	if i := invalidByte(b); i >= 0 {
		line, column := newDecoder(name, b).place(i)
		return nil, "", 0, problem(name, b, line, column, "this is not text in UTF-8", "save the file as UTF-8")
	}
	if len(b) > MaxSize {
		return nil, "", 0, coppice.Errorf(coppice.ETooLarge, "%s is larger than %d bytes", name, MaxSize).WithFix("shorten it")
	}
	text := strings.ReplaceAll(string(bytes.TrimPrefix(b, []byte("\uFEFF"))), "\r\n", "\n")
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return nil, text, 1, nil
	}
	if rest = "\n" + rest; !strings.Contains(rest+"\n", "\n---\n") {
		return nil, "", 0, problem(name, b, 1, 1, "the front matter has no end", "add a line with --- after it")
	}
	front, body, _ := strings.Cut(rest+"\n", "\n---\n")
	return []byte(front + "\n"), strings.TrimSuffix(body, "\n"), strings.Count(front, "\n") + 3, nil
}

// raw decodes any value as JSON.
func (d *decoder) raw(n ast.Node, v reflect.Value) error {
	var x any
	if err := yaml.NodeToValue(n, &x); err != nil {
		return d.fail(n, "this value cannot be read").WithFix("write plain YAML: keys, lists and values")
	}
	b, err := json.Marshal(x)
	if err != nil {
		return d.fail(n, "this value cannot be read").WithFix("write keys as plain words, and values as text, numbers, true or false")
	}
	v.SetBytes(b)
	return nil
}

// placeholder matches a variable in a text. With blanks or other characters between
// the braces, the text stays as it is.
var placeholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{\{([A-Za-z][A-Za-z0-9_-]*)\}\}`) })

// check checks a template as a whole. The description starts at a line of the file.
func (t Template) check(d *decoder, source []byte, line int) error {
	h := t.Head
	at := func(key string, format string, args ...any) *coppice.Error {
		if n, ok := d.values["template."+key]; ok {
			return d.fail(n, format, args...)
		}
		return problem(d.name, source, 1, 1, fmt.Sprintf(format, args...), "")
	}
	if h.Title == "" && t.Body == "" {
		return at("title", "the template has neither a title nor a description").WithFix("add title to the front matter, or write the description below it")
	}
	for name, v := range h.Variables {
		switch {
		case !placeholder().MatchString("{{" + name + "}}"):
			return at("variables", "%s is not a valid name of a variable", coppice.Quote(name)).WithFix("use letters, digits, dashes and underscores, a letter first")
		case v.Required && v.Default != "":
			return at("variables", "the variable %s is required and has a default", coppice.Quote(name)).WithFix("keep one of the two")
		}
	}
	if len(h.Variables) > mostVariables {
		return at("variables", "the template has %d variables, %d are allowed", len(h.Variables), mostVariables).WithFix("remove some of them")
	}
	switch _, kind := d.values["template.flow.kind"]; {
	case h.Tasks != nil && d.values["template.flow"] != nil:
		return at("tasks", "a template has either tasks or a flow").WithFix("keep one of the two")
	case d.values["template.flow"] != nil && !kind:
		return at("flow", "flow needs kind").WithFix("add it, as in kind: %s", coppice.FlowGoal)
	case kind && !slices.Contains(coppice.FlowKinds, coppice.FlowKind(h.Flow.Kind)):
		return at("flow.kind", "there is no kind of flow %s", coppice.Quote(h.Flow.Kind)).WithFix("use one of: %s", flowKinds())
	}
	if h.Tasks != nil {
		if err := strictTasks(h.Tasks); err != nil {
			return at("tasks", "%s", err).WithFix("write a list of tasks with the fields of `coppice new --file`")
		}
	}
	// The text of a value is searched in the source, so that an unknown placeholder has its
	// line.
	for i, text := range strings.Split(string(source), "\n") {
		if i+1 < line && !used(h, text) {
			continue
		}
		for _, m := range placeholder().FindAllStringSubmatchIndex(text, -1) {
			name := text[m[2]:m[3]]
			if _, ok := h.Variables[name]; !ok {
				return problem(d.name, source, i+1, len([]rune(text[:m[0]]))+1, fmt.Sprintf("the variable %s is not declared", coppice.Quote(name)),
					fmt.Sprintf("add it to variables in the front matter, or write {{ %s }} with blanks if it is a text", name))
			}
		}
	}
	return nil
}

// used reports whether a line of the front matter can have placeholders: comments and
// checks cannot. Checks are shell commands, in which nothing is replaced.
func used(h TemplateHead, line string) bool {
	line = strings.TrimSpace(line)
	return !strings.HasPrefix(line, "#") && !slices.ContainsFunc(h.Checks, func(c string) bool { return strings.Contains(line, strings.TrimSpace(c)) })
}

func flowKinds() string {
	var names []string
	for _, k := range coppice.FlowKinds {
		names = append(names, string(k))
	}
	return list(names)
}

// strictTasks checks a list of tasks.
func strictTasks(raw json.RawMessage) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	var tasks []coppice.NewTask
	if err := d.Decode(&tasks); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	if len(tasks) == 0 {
		return errors.New("the list has no tasks")
	}
	return nil
}

// Expand returns the task that a request with this template describes: the fields of
// the request override those of the template.
func (t Template) Expand(n coppice.NewTask) (coppice.NewTask, error) {
	if t.Problem != nil {
		e := coppice.Public(t.Problem)
		return n, coppice.Errorf(coppice.EInvalid, "%s", e.Cause).WithFix("%s", e.Fix).WithField("template")
	}
	put, err := t.variables(n.Variables)
	if err != nil {
		return n, err
	}
	h := t.Head
	out := coppice.NewTask{
		Title: put.in(h.Title), Body: put.in(t.Body), Agent: h.Agent, Model: h.Model, Effort: h.Effort, Checks: h.Checks, Steps: put.all(h.Steps),
		Budget: h.Budget, Turns: h.Turns, Time: h.Time, Labels: put.all(h.Labels), Track: h.Track,
	}
	switch {
	case h.Tasks != nil:
		out.Flow = &coppice.NewFlow{Kind: coppice.FlowBatch, Spec: coppice.Raw(map[string]json.RawMessage{"tasks": put.raw(h.Tasks)})}
	case h.Flow.Kind != "":
		out.Flow = &coppice.NewFlow{Kind: coppice.FlowKind(h.Flow.Kind), Spec: put.raw(h.Flow.Spec), Time: h.Flow.Time}
	}
	if n.Flow != nil && out.Flow != nil {
		if n.Flow.Kind != out.Flow.Kind {
			return n, coppice.Errorf(coppice.EInvalid, "the template %s is a %s, not a %s", t.Name, out.Flow.Kind, n.Flow.Kind).WithFix("use it with `coppice new --template %s`", t.Name).WithField("template")
		}
		f := *n.Flow
		f.Spec = mergedSpec(out.Flow.Spec, f.Spec)
		n.Flow = &f
	}
	n.Variables = nil
	if err := json.Unmarshal(coppice.Raw(n), &out); err != nil {
		return n, fmt.Errorf("config: template %s: %w", t.Name, err)
	}
	return out, nil
}

// mergedSpec returns the spec of a template with the fields of a request. A spec that
// is not an object is refused later.
func mergedSpec(template, request json.RawMessage) json.RawMessage {
	var all map[string]json.RawMessage
	if len(template) == 0 || json.Unmarshal(template, &all) != nil || len(request) > 0 && json.Unmarshal(request, &all) != nil {
		return request
	}
	return coppice.Raw(all)
}

// variableValues are the values of a template's variables.
type variableValues map[string]string

// variables returns the value of every variable.
func (t Template) variables(given map[string]string) (variableValues, error) {
	out := variableValues{}
	var declared []string
	for name, v := range t.Head.Variables {
		declared = append(declared, name)
		value, ok := given[name]
		if !ok && v.Required {
			return nil, coppice.Errorf(coppice.EInvalid, "the template %s needs the variable %s", t.Name, name).WithFix("add --var %s=…: %s", name, v.About).WithField("variables")
		}
		if out[name] = v.Default; ok {
			out[name] = value
		}
	}
	slices.Sort(declared)
	for name, value := range given {
		if _, ok := out[name]; !ok {
			known := "it has none"
			if len(declared) > 0 {
				known = "it has: " + list(declared)
			}
			return nil, coppice.Errorf(coppice.EInvalid, "the template %s has no variable %s", t.Name, coppice.Quote(name)).WithFix("%s", known).WithField("variables")
		}
		if err := coppice.ValidText("variables", value, coppice.MaxBody); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// in replaces the placeholders of a text.
func (v variableValues) in(text string) string {
	return placeholder().ReplaceAllStringFunc(text, func(m string) string { return v[m[2:len(m)-2]] })
}

func (v variableValues) all(texts []string) []string {
	var out []string
	for _, t := range texts {
		out = append(out, v.in(t))
	}
	return out
}

// raw replaces the placeholders in all texts of a JSON value.
func (v variableValues) raw(b json.RawMessage) json.RawMessage {
	if len(b) == 0 {
		return nil
	}
	var x any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if d.Decode(&x) != nil {
		return b // it is JSON that this package has written
	}
	return coppice.Raw(v.any(x))
}

func (v variableValues) any(x any) any {
	switch x := x.(type) {
	case string:
		return v.in(x)
	case []any:
		for i := range x {
			x[i] = v.any(x[i])
		}
	case map[string]any:
		for k := range x {
			if k != "checks" { // shell commands, in which nothing is replaced
				x[k] = v.any(x[k])
			}
		}
	}
	return x
}
