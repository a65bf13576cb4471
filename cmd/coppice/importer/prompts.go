package importer

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"coppice"
	"coppice/config"
	"coppice/prompt"
)

// promptRoles are the roles of the other orchestrator's prompts.
var promptRoles = []struct{ name, role string }{{"implementation", "implement"}, {"verification", "verify"}, {"fix", "fix"}}

// inlinePrompt imports the text of a prompt.
func inlinePrompt(role string) func(*taker, string, any) {
	return func(t *taker, key string, v any) {
		text, ok := v.(string)
		if !ok {
			t.refuse(key, v, wrong("a text"))
			return
		}
		t.prompt(key, v, role, text)
	}
}

// promptFiles imports the prompts that are in separate files of a folder. They come
// before those of the settings.
func (t *taker) promptFiles(dir string) {
	for _, f := range promptRoles {
		name := filepath.Join(dir, f.name+".md")
		if _, err := os.Stat(name); err != nil {
			continue
		}
		key := filepath.Base(dir) + "/" + f.name + ".md"
		text, err := readWhole(name)
		if err != nil {
			t.refuse(key, nil, err)
			continue
		}
		t.prompt(key, nil, f.role, string(text))
	}
}

// prompt imports the text of a role's prompt. Its placeholders become fields.
func (t *taker) prompt(key string, v any, role, text string) {
	if strings.TrimSpace(text) == "" {
		t.say(key, v, Dropped, "", "it is empty")
		return
	}
	text, why := placeholders(role, text)
	if err := prompt.Check(role, text); err != nil || !utf8.ValidString(text) {
		t.say(key, v, Dropped, "", "it cannot be used as a prompt; write "+config.PromptFile(role)+" by hand")
		return
	}
	t.add(key, v, config.PromptFile(role), text, Changed, strings.Join(append([]string{"it replaces the built-in prompt"}, why...), "; "))
}

var placeholderRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{\{-?\s*([^{}]*?)\s*-?\}\}`) })

// fieldsOf maps the words of placeholders, without case and separators, to fields.
var fieldsOf = map[string]string{
	"id": "{{.Key}}", "featureid": "{{.Key}}", "key": "{{.Key}}",
	"name": "{{.Title}}", "featurename": "{{.Title}}", "title": "{{.Title}}", "featuretitle": "{{.Title}}", "feature": "{{.Title}}",
	"description": "{{.Body}}", "featuredescription": "{{.Body}}", "body": "{{.Body}}",
	"category": "{{.Category}}", "featurecategory": "{{.Category}}",
	"steps": steps, "featuresteps": steps,
	"basebranch": "{{.Base}}", "base": "{{.Base}}", "branch": "{{.Branch}}", "branchname": "{{.Branch}}",
	"appurl": "{{.URL}}", "url": "{{.URL}}",
	"instructionsfile": "{{.Instructions}}", "progressfile": "{{.Progress}}", "featuresfile": "{{.Features}}",
	"verificationoutput": "{{.Evidence}}", "failurereport": "{{.Evidence}}", "evidence": "{{.Evidence}}", "output": "{{.Evidence}}", "extracontext": "{{.Note}}",
}

const steps = "{{range .Steps}}- {{.}}\n{{end}}"

// placeholders turns the placeholders of a text into fields of a prompt. One that it
// does not know stays as text. The notes say what changed. A text that names neither
// the title nor the description gets both, because a prompt has to say what to do. A
// prompt for fixes needs the evidence.
func placeholders(role, text string) (out string, notes []string) {
	var unknown []string
	out = placeholderRE().ReplaceAllStringFunc(text, func(m string) string {
		word := placeholderRE().FindStringSubmatch(m)[1]
		if field := fieldsOf[strings.NewReplacer("_", "", "-", "", ".", "", " ", "").Replace(strings.ToLower(word))]; field != "" {
			return field
		}
		if unknown = append(unknown, m); len(unknown) > 1 && slices.Contains(unknown[:len(unknown)-1], m) {
			unknown = unknown[:len(unknown)-1]
		}
		return fmt.Sprintf("{{%q}}", m)
	})
	if len(unknown) > 0 {
		notes = append(notes, "unknown placeholders stay as text: "+strings.Join(unknown[:min(len(unknown), 5)], ", "))
	}
	if !strings.Contains(out, "{{.Title}}") && !strings.Contains(out, "{{.Body}}") {
		out = strings.TrimRight(out, "\n") + "\n\nTask {{.Key}}: {{.Title}}\n{{with .Body}}\n{{.}}\n{{end}}{{if .Steps}}\n" + steps + "{{end}}{{with .Evidence}}\n{{.}}{{end}}{{with .Note}}\n{{.}}\n{{end}}"
		notes = append(notes, "the task was added at its end")
	}
	if role == string(coppice.RoleFix) && !strings.Contains(out, ".Evidence") {
		out = strings.TrimRight(out, "\n") + "\n{{with .Evidence}}\n{{.}}{{end}}"
		notes = append(notes, "what failed was added at its end")
	}
	return out, notes
}

// kinds maps the names of tools to kinds of tools.
var kinds = map[string]string{
	"Bash": "run", "Edit": "edit", "Write": "edit", "MultiEdit": "edit", "NotebookEdit": "edit", "WebFetch": "fetch", "WebSearch": "fetch",
}

var toolRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\w[\w*-]*)(?:\((.*)\))?$`) })

// tools imports the list of tools that agents can use in some roles. Other tools that
// run commands, edit files or fetch pages are denied. Tools that only read need no
// permission there.
func tools(roles ...coppice.Role) func(*taker, string, any) {
	return func(t *taker, key string, v any) {
		text, ok := v.(string)
		if !ok {
			t.refuse(key, v, wrong("a text"))
			return
		}
		whole, some := map[string]bool{}, map[string][]string{}
		for _, name := range splitTools(text) {
			m := toolRE().FindStringSubmatch(name)
			if m == nil {
				t.say(key, v, Dropped, "", fmt.Sprintf("%s is not the name of a tool; see permissions.roles", coppice.Quote(name)))
				return
			}
			kind := kinds[m[1]]
			if m[2] == "" || m[2] == "*" {
				whole[kind] = true
			} else {
				some[kind] = append(some[kind], strings.ReplaceAll(m[2], ":*", "*"))
			}
		}
		var denied []string
		var list []object
		for _, kind := range []string{"run", "edit", "fetch"} {
			if whole[kind] || kind == "edit" && slices.Contains(roles, coppice.RoleVerify) {
				continue // verifiers can never edit
			}
			for _, match := range some[kind] {
				list = append(list, object{"tool": kind, "match": match, "do": coppice.RuleAllow})
			}
			list = append(list, object{"tool": kind, "do": coppice.RuleDeny, "why": "the project does not allow it"})
			denied = append(denied, kind)
		}
		if len(list) == 0 {
			t.say(key, v, Took, "", "these tools are allowed by default")
			return
		}
		of, _ := t.in("permissions")["roles"].(object)
		if of == nil {
			of = object{}
		}
		var to []string
		for _, r := range roles {
			of[string(r)] = object{"rules": list}
			to = append(to, "permissions.roles."+string(r))
		}
		if err := fits("permissions", object{"roles": of}); err != nil {
			t.refuse(key, v, err)
			return
		}
		t.in("permissions")["roles"] = of
		t.say(key, v, Changed, strings.Join(to, ", "), "tools of other kinds are denied: "+strings.Join(denied, ", "))
	}
}

// splitTools splits a list at commas and blanks that are not in parentheses.
func splitTools(text string) []string {
	depth := 0
	return strings.FieldsFunc(text, func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}
		return depth <= 0 && (r == ',' || r == ' ')
	})
}

// browserServer imports a text about the browser's tool server.
func browserServer(to string) func(*taker, string, any) {
	return func(t *taker, key string, v any) {
		s, ok := v.(string)
		if !ok || s == "" {
			t.refuse(key, v, wrong("a text"))
			return
		}
		if err := fits("verify", object{"browser_server": object{to: s}}); err != nil {
			t.refuse(key, v, err)
			return
		}
		t.browserObject()[to] = s
		t.say(key, v, Took, "verify.browser_server."+to, "")
	}
}

func (t *taker) browserArgs(key string, v any) {
	good := t.texts(key, v, "it has no argument", func(s string) error {
		return fits("verify", object{"browser_server": object{"args": []string{s}}})
	})
	if len(good) > 0 {
		t.browserObject()["args"] = good
		t.say(key, v, Took, "verify.browser_server.args", "")
	}
}

func (t *taker) browserObject() object {
	b, _ := t.in("verify")["browser_server"].(object)
	if b == nil {
		b = object{}
		t.in("verify")["browser_server"] = b
	}
	return b
}
