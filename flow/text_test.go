package flow

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"coppice"
)

func TestPromptNames(t *testing.T) {
	t.Parallel()
	names := PromptNames()
	if !slices.Contains(names, "flow-debate-open") || !slices.IsSorted(names) {
		t.Errorf("the prompts are %v", names)
	}
	for _, name := range names {
		if PromptText(name) == "" || PromptAbout(name) == "" || len(PromptFields(name)) == 0 {
			t.Errorf("%s has no text, no description or no fields", name)
		}
		if err := CheckPrompt(name, PromptText(name)); err != nil {
			t.Errorf("the built-in text of %s cannot be a project's own: %v", name, err)
		}
	}
	for _, name := range []string{"", "debate-open", "flow-", "flow-../text", "flow-unknown"} {
		if text := PromptText(name); text != "" {
			t.Errorf("%q has the text %q", name, text)
		}
	}
}

// A project's own text replaces the built-in one. A text that cannot be used or that
// could run for long is an error with a fix.
func TestOwnPrompt(t *testing.T) {
	t.Parallel()
	data := struct {
		A    string
		List []int
	}{"a", []int{1, 2}}
	for text, want := range map[string]string{
		"own {{.A}}{{range .List}} {{.}}{{end}}":            "own a 1 2\n",
		"{{if and .A (gt (len .List) 1)}}x{{else}}y{{end}}": "x\n",
		"{{.Unknown}}":                "",
		"{{":                          "",
		"{{with .B}}{{end}}":          "",
		"  ":                          "",
		"{{range 1000000000}}{{end}}": "",
		"{{range .List}}{{range $.List}}{{end}}{{end}}x": "",
		`{{printf "%1000000000d" 1}}`:                    "",
		`{{define "x"}}y{{end}}z`:                        "",
		`{{template "x"}}`:                               "",
		`{{(printf "x").Y}}`:                             "",
	} {
		got, err := View{Prompts: map[string]string{"flow-debate-open": text}}.text("debate-open", data)
		if got != want || (err == nil) != (want != "") || err != nil && coppice.Public(err).Fix == "" {
			t.Errorf("%s: expected %q, got %q and %v", text, want, got, err)
		}
	}
}

func TestCheckPrompt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, problem string }{
		{"flow-goal-rules", "Use make in {{.Key}}.", ""},
		{"flow-goal-lead", "{{range .Agents}}{{.}}{{end}}{{if .Missing}}{{.State}}{{end}} {{.Title}}", ""},
		{"flow-goal-lead", "one\n{{if .Missing}}{{.Nothing}}{{end}} x", "goal-lead.md:2:"},
		{"flow-goal-lead", "{{with .Plan}}{{.}}{{end}}", "comes out empty"},
		{"flow-debate-open", "{{", "debate-open.md:1"},
		{"flow-debate-open", strings.Repeat("x", mostOwn+1), "bytes"},
		{"flow-unknown", "x", "there is no prompt"},
		{"goal-lead", "x", "there is no prompt"},
	} {
		err := CheckPrompt(c.name, c.text)
		if (err == nil) != (c.problem == "") || err != nil && (!strings.Contains(err.Error(), c.problem) || coppice.Public(err).Fix == "") {
			t.Errorf("%s as %q: expected the problem %q, got %v", c.text, c.name, c.problem, err)
		}
	}
}

var markRE = regexp.MustCompile(`^<(data-[0-9a-f]{16})>\n`)

// No text can close its fence, even if it contains the fence of another text.
func TestFenceHolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.String().Draw(rt, "text")
		for range rapid.IntRange(0, 3).Draw(rt, "fences") {
			text += fence(text) + text
		}
		fenced := fence(text)
		m := markRE.FindStringSubmatch(fenced)
		if m == nil || strings.Count(fenced, m[1]) != 2 || !strings.Contains(fenced, "\n</"+m[1]+">\n") {
			rt.Fatalf("the fence is not closed exactly once: %q", fenced)
		}
	})
}

func TestClip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text, most := rapid.String().Draw(rt, "text"), rapid.IntRange(20, 100).Draw(rt, "most")
		got := clip(text, most)
		if len(got) > most || !utf8.ValidString(got) || len(text) <= most && got != text {
			rt.Fatalf("%q in %d bytes is %q", text, most, got)
		}
	})
}
