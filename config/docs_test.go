package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"coppice"
	"coppice/config"
)

const root = ".."

// golden compares generated text with the published file.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, got) {
		t.Errorf("%s is out of date: run make generate", path)
	}
}

func TestPublishedSchema(t *testing.T) {
	t.Parallel()
	golden(t, filepath.Join(root, "docs/coppice.schema.json"), config.Schema())
}

func TestPublishedUserSchema(t *testing.T) {
	t.Parallel()
	golden(t, filepath.Join(root, "docs/config.schema.json"), config.UserSchema())
}

func TestPublishedKeys(t *testing.T) {
	t.Parallel()
	golden(t, filepath.Join(root, "docs/configuration.md"), []byte(reference()))
}

// reference writes docs/configuration.md.
func reference() string {
	var b strings.Builder
	b.WriteString(`# Configuration

` + "`coppice.yaml`" + ` is at the root of the repository and is committed with the code. Every key is optional; an empty
or missing file means the defaults. ` + "`coppice init`" + ` writes one that fits the repository, ` + "`coppice config`" + ` shows what
is in effect and which line sets it. Mistakes are reported with file, line and column.

Editors that know JSON Schema can check the file while you type: the schema is ` + "[coppice.schema.json](coppice.schema.json)" + `.

This page is generated: ` + "`make generate`" + `.

## An example

` + "```yaml" + `
base: ai-develop
limits: {sessions: 5, memory: 80%}
workspace: {copy: [.env], link: [node_modules]}
checks: [make lint, make test]
land: {how: queue, strategy: squash}
` + "```" + `

## Every key

Durations are written as 90s, 30m, 4h or 14d. In a name, ` + "`[]`" + ` stands for an element of a list and ` + "`*`" + ` for a name that you choose.

| key | type | default | meaning |
| --- | --- | --- | --- |
`)
	rows(&b, config.Explain(coppice.DefaultPolicy(), config.Source{}))
	b.WriteString(`
A file ` + "`.worktreeinclude`" + ` at the root of your checkout names further files to copy, one pattern per line as in ` + "`.gitignore`" + `. Of the files that it
names, Coppice copies those that git ignores.

Paths in ` + "`workspace.copy`" + ` and ` + "`workspace.link`" + ` are relative to the repository's root. A path that leaves it, by
name or through a symbolic link, is refused. YAML's anchors, aliases, merge keys and tags are not accepted, and neither is a file of more
than 1 MiB.

## The user's own configuration

` + "`$XDG_CONFIG_HOME/coppice/config.yaml`" + ` (by default ` + "`~/.config/coppice/config.yaml`" + `) holds for all projects. It is read by the same rules and
must have mode 0600. ` + "`coppice config --user`" + ` shows it; its schema is [config.schema.json](config.schema.json).

| key | type | default | meaning |
| --- | --- | --- | --- |
`)
	rows(&b, config.ExplainUser(config.User{}, config.Source{}))
	b.WriteString(`
## Prompts

The first message of a session is written from the prompt of its role. A project can have its own text for a role, in a file that is committed with the
code: ` + "`" + config.PromptDir + "/verify.md`" + ` and so on. The dashboard's Settings and ` + "`coppice config prompt`" + ` edit these files.
[Your own prompts](verification.md#your-own-prompts) describes the text. The prompts of [flows](flows.md#your-own-prompts) are files there, too.

Before the text of the role, the message has the project's context files, in this order: ` + "`" + config.ProjectFile + "`, `" + config.ConventionsFile + "`" + `
and the files ` + "`" + config.ContextDir + "/*.md`" + `, sorted by name. ` + "`prompt.context`" + ` limits their size. [Notes and context](notes.md#context-in-prompts)
describes them.

## Secrets

` + "`coppice.yaml`" + ` names a secret and never contains one. The value comes from your own configuration:

` + "```yaml" + `
# ~/.config/coppice/config.yaml
secrets:
  TRACKER_TOKEN: {file: secrets/TRACKER_TOKEN}
  GITHUB_TOKEN: {command: [gh, auth, token]}
  SEARCH_KEY: {env: SEARCH_KEY}
  WIKI_TOKEN: {keyring: WIKI_TOKEN}
` + "```" + `

` + "`${secret:NAME}`" + ` can be used in the headers and in ` + "`env`" + ` of a tool server:

` + "```yaml" + `
mcp:
  tracker: {url: "https://tracker.example.org/mcp", headers: {Authorization: "Bearer ${secret:TRACKER_TOKEN}"}}
  search: {command: [search-server, --stdio], env: {SEARCH_KEY: "${secret:SEARCH_KEY}"}}
` + "```" + `

| command | what it does |
| --- | --- |
| ` + "`coppice secret set NAME`" + ` | stores a value, typed without echo or read from stdin, in a file with mode 0600 below ` + "`secrets`" + ` in your configuration; with ` + "`--keyring`" + `, in the desktop's keyring. It adds the name to ` + "`config.yaml`" + ` |
| ` + "`coppice secret list`" + ` | lists names, sources and the projects that use them, never values; names that a project uses and that are not set are listed too |
| ` + "`coppice secret test NAME`" + ` | resolves it and prints its source and length |
| ` + "`coppice secret remove NAME`" + ` | removes the name, and the value if ` + "`coppice secret set`" + ` stored it |

A name has letters, digits and underscores. A value is text of 8 bytes to 16 KiB; newlines at its end are removed. A shorter value is refused,
because masking it in output would mask ordinary words. A file must belong to you, have mode 0600 and not be a symbolic link. A command gets 30
seconds and a small environment: paths, language, proxy settings, and what reaches the desktop's services. The keyring is used through
` + "`secret-tool`" + ` on Linux and ` + "`security`" + ` on macOS.

A value is resolved when a session starts. If that fails, the session fails with class ` + "`environment`" + ` and says what to do; ` + "`coppice doctor`" + `
reports it beforehand. [Security](security.md#secrets) says where a value is, and where it is not.
`)
	return b.String()
}

// rows writes keys as rows of a table.
func rows(b *strings.Builder, keys []config.Key) {
	cell := strings.NewReplacer("|", `\|`)
	for _, k := range keys {
		def := k.Default
		if !strings.HasPrefix(def, "(") {
			def = "`" + def + "`"
		}
		doc := k.Doc
		if k.Example != "" && k.Example != k.Default {
			doc += " Example: `" + k.Example + "`"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", k.Name, cell.Replace(k.Type), cell.Replace(def), cell.Replace(doc))
	}
}

// explained returns the keys of a coppice.yaml by name.
func explained(t *testing.T, text string) map[string]config.Key {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, text)
	p, src, err := config.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]config.Key{}
	for _, k := range config.Explain(p, src) {
		got[k.Name] = k
	}
	return got
}

func TestExplain(t *testing.T) {
	t.Parallel()
	got := explained(t, "limits:\n  sessions: 2\nchecks: [make test, \"true\"]\n")
	for _, k := range got {
		if k.Doc == "" || k.Type == "" {
			t.Errorf("%s is not explained", k.Name)
		}
	}
	for name, want := range map[string][3]string{
		"limits.sessions": {"5", "2", "coppice.yaml:2"},
		"limits.memory":   {"80%", "80%", "default"},
		"limits.reserve":  {"(what earlier sessions of its agent used; 256 MiB for the first)", "(what earlier sessions of its agent used; 256 MiB for the first)", "default"},
		"checks":          {"[]", `[make test, "true"]`, "coppice.yaml:3"},
		"health.timeout":  {"4h", "4h", "default"},
		"trash.ttl":       {"14d", "14d", "default"},
		"base":            {"(the repository's default branch)", "(the repository's default branch)", "default"},
		"tracks":          {"[{name: main, default: true}]", "[{name: main, default: true}]", "default"},
	} {
		if k := got[name]; k.Default != want[0] || k.Value != want[1] || k.From != want[2] {
			t.Errorf("%s: %+v, want %v", name, k, want)
		}
	}
	if k := got["tracks[].name"]; k.Default != "(required)" || k.Value != "" {
		t.Errorf("tracks[].name is %+v, want a required key without a value", k)
	}
}

// Every example of a key is accepted as its value.
func TestExamplesOfKeys(t *testing.T) {
	t.Parallel()
	for _, k := range config.Explain(coppice.DefaultPolicy(), config.Source{}) {
		if k.Example == "" || strings.ContainsAny(k.Name, "*[") {
			continue
		}
		text := k.Example
		switch { // what must stand beside it
		case k.Name == "agent.fallback":
			text += ", use: my-agent"
		case strings.HasPrefix(k.Name, "workspace.serve.") && k.Name != "workspace.serve.run":
			text += ", run: npm run dev"
		case strings.HasPrefix(k.Name, "workspace.docker.") && k.Name != "workspace.docker.service":
			text += ", service: app"
		}
		parts := strings.Split(k.Name, ".")
		for i, part := range slices.Backward(parts) {
			text = part + ": " + text
			if i > 0 {
				text = "{" + text + "}"
			}
		}
		if _, err := config.Parse("example", []byte(text)); err != nil {
			t.Errorf("%s: %v", k.Name, err)
		}
		validate(t, config.Schema(), []byte(text))
	}
}

var fence = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// Every YAML example in the documentation is a configuration that is accepted,
// by Parse and by the published schema.
func TestExamplesInDocs(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob(filepath.Join(root, "docs/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, page := range append(pages, filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md")) {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range fence.FindAllSubmatch(b, -1) {
			found++
			schema, err := config.Schema(), error(nil)
			if bytes.HasPrefix(m[1], []byte("# ~/.config/coppice/config.yaml\n")) {
				schema = config.UserSchema()
				_, err = config.ParseUser(filepath.Base(page), m[1])
			} else {
				_, err = config.Parse(filepath.Base(page), m[1])
			}
			if err != nil {
				t.Errorf("%v", err)
			}
			validate(t, schema, m[1])
		}
	}
	if found == 0 {
		t.Error("there are no examples")
	}
}

// The schema refuses what it can know to be invalid.
func TestSchemaRefuses(t *testing.T) {
	t.Parallel()
	var schema map[string]any
	if err := json.Unmarshal(config.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"unknown key", "later key", "unknown value", "text for a list", "number for text", "fraction",
		"zero sessions", "percent", "branch as a command", "track without a name", "later role"} {
		i := slices.IndexFunc(refused, func(c struct {
			name, text, at string
			says           []string
		}) bool {
			return c.name == name
		})
		if i < 0 {
			t.Fatalf("no case %q", name)
		}
		if problems := against(schema, decode(t, []byte(refused[i].text)), ""); len(problems) == 0 {
			t.Errorf("%s: the schema accepts %s", name, refused[i].text)
		}
	}
}

func validate(t *testing.T, published, text []byte) {
	t.Helper()
	var schema map[string]any
	if err := json.Unmarshal(published, &schema); err != nil {
		t.Fatal(err)
	}
	for _, p := range against(schema, decode(t, text), "") {
		t.Errorf("%s: %s", text, p)
	}
}

// decode reads YAML as JSON would show it.
func decode(t *testing.T, text []byte) any {
	t.Helper()
	b, err := yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// against validates a value against the part of JSON Schema that the published
// schema uses.
func against(s map[string]any, v any, at string) []string {
	var bad []string
	complain := func(format string, args ...any) { bad = append(bad, at+": "+fmt.Sprintf(format, args...)) }
	if any, ok := s["anyOf"].([]any); ok {
		if !slices.ContainsFunc(any, func(x interface{}) bool { return len(against(x.(map[string]interface{}), v, at)) == 0 }) {
			complain("%v fits nothing", v)
		}
	}
	if enum, ok := s["enum"].([]any); ok && !slices.ContainsFunc(enum, func(x any) bool { return reflect.DeepEqual(x, v) }) {
		complain("%v is not in %v", v, enum)
	}
	kind, typed := s["type"].(string)
	switch v := v.(type) {
	case map[string]any:
		if typed && kind != "object" {
			complain("an object")
		}
		props, _ := s["properties"].(map[string]any)
		for name, x := range v {
			if p, ok := props[name].(map[string]any); ok {
				bad = append(bad, against(p, x, at+"."+name)...)
			} else if p, ok := s["additionalProperties"].(map[string]any); ok {
				bad = append(bad, against(p, x, at+"."+name)...)
			} else if s["additionalProperties"] == false {
				complain("unknown %s", name)
			}
		}
		required, _ := s["required"].([]any)
		for _, name := range required {
			if _, ok := v[name.(string)]; !ok {
				complain("lacks %v", name)
			}
		}
	case []any:
		if typed && kind != "array" {
			complain("an array")
		}
		items, _ := s["items"].(map[string]any)
		for i, x := range v {
			bad = append(bad, against(items, x, fmt.Sprintf("%s[%d]", at, i))...)
		}
	case string:
		if typed && kind != "string" {
			complain("a string")
		}
		if p, ok := s["pattern"].(string); ok && !regexp.MustCompile(p).MatchString(v) {
			complain("%q does not match %s", v, p)
		}
	case float64:
		if typed && (kind != "integer" || v != float64(int64(v))) {
			complain("a number")
		}
		if low, ok := s["minimum"].(float64); ok && v < low {
			complain("%v is below %v", v, low)
		}
		if high, ok := s["maximum"].(float64); ok && v > high {
			complain("%v is above %v", v, high)
		}
	case bool:
		if typed && kind != "boolean" {
			complain("a boolean")
		}
	}
	return bad
}
