package importer

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"coppice"
	"coppice/config"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// repository makes a folder with files in it.
func repository(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// render shows a report as a person would read it.
func render(r Report, dir string) string {
	var b strings.Builder
	for _, l := range r.Lines {
		fmt.Fprintf(&b, "%-7s %s = %s", l.Did, l.Key, l.Value)
		if l.To != "" {
			fmt.Fprintf(&b, " → %s", l.To)
		}
		if l.Why != "" {
			fmt.Fprintf(&b, " (%s)", l.Why)
		}
		b.WriteString("\n")
	}
	b.WriteString("---\n" + r.Text)
	for _, f := range r.Files {
		b.WriteString("--- " + f.Path + "\n" + f.Text)
	}
	return strings.ReplaceAll(b.String(), dir, "DIR")
}

func TestGolden(t *testing.T) {
	t.Parallel()
	cases, err := filepath.Glob("testdata/*.json")
	if err != nil || len(cases) == 0 {
		t.Fatal("no cases", err)
	}
	for _, name := range cases {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		dir := repository(t, map[string]string{File: string(text), "features.json": "[]", "ORCHESTRATOR.md": "x", ".orchestrator/fix.md": "x"})
		r, err := Run(Options{Root: dir, Branch: func(s string) bool { return s == "main" }})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, _, err := config.Load(dir); err != nil || !r.Written {
			t.Errorf("%s: what was written cannot be read: %v", name, err)
		}
		compare(t, strings.TrimSuffix(name, ".json")+".golden", render(r, dir))
	}
}

// compare compares a text with a golden file.
func compare(t *testing.T, golden, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s: %s", golden, d)
	}
}

// An existing coppice.yaml keeps every byte and gets what it lacks. It is
// replaced only on request.
func TestExisting(t *testing.T) {
	t.Parallel()
	own := "# mine\nbase: trunk # really\nverify: {attempts: 7}"
	dir := repository(t, map[string]string{
		config.File: own, File: `{"baseBranch": "main", "agent": {"preferred": "one"}, "verification": {"maxAttempts": 2}}`,
	})
	yaml := filepath.Join(dir, config.File)
	if r, err := Run(Options{Root: dir, DryRun: true}); err != nil || r.Written || !strings.HasPrefix(r.Text, own+"\n") {
		t.Errorf("a dry run: %+v, %v; want the own text first, and nothing written", r, err)
	}
	if got, err := os.ReadFile(yaml); err != nil || string(got) != own {
		t.Errorf("a dry run wrote %q, %v", got, err)
	}
	r, err := Run(Options{Root: dir})
	got, rerr := os.ReadFile(yaml)
	if err != nil || rerr != nil || !strings.HasPrefix(string(got), own+"\n") || !strings.Contains(string(got), "\nagent:\n  use: one\n") {
		t.Errorf("the file is\n%s\n%v; want the own text first, and the agent one", got, err)
	}
	for _, l := range r.Lines {
		if (l.Key == "baseBranch" || l.Key == "verification.maxAttempts") && l.Did != Kept {
			t.Errorf("line %+v, want it kept", l)
		}
	}
	if p, _, err := config.Load(dir); err != nil || p.Base != "trunk" || p.Verify.Attempts != 7 || p.Agent.Use != "one" {
		t.Errorf("policy %+v, %v; want trunk, 7 attempts and the agent one", p, err)
	}
	if r, err := Run(Options{Root: dir}); err != nil || r.Written {
		t.Errorf("a second import writes again: %v", err)
	}
	r, err = Run(Options{Root: dir, Force: true})
	if old, rerr := os.ReadFile(yaml + ".bak"); err != nil || rerr != nil || string(old) != string(got) || r.Backup != yaml+".bak" {
		t.Errorf("the one before is kept as %q, %v %v", old, err, rerr)
	}
	if p, _, err := config.Load(dir); err != nil || p.Base != "main" {
		t.Errorf("policy %+v, %v; want the base main", p, err)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]map[string]string{
		"nothing there": {"x": ""}, "no object": {File: "[]"}, "null": {File: "null"}, "broken": {File: "{"},
		"a broken coppice.yaml": {File: "{}", config.File: "nonsense: [\n"},
	} {
		dir := repository(t, files)
		_, err := Run(Options{Root: dir})
		if code := coppice.ErrorCode(err); code != coppice.EInvalid && code != coppice.ENotFound {
			t.Errorf("%s: %v", name, err)
		}
		if got, _ := os.ReadFile(filepath.Join(dir, config.File)); string(got) != files[config.File] {
			t.Errorf("%s: wrote %s", name, got)
		}
	}
}

// Whatever the settings contain, the outcome is a valid coppice.yaml, and every
// setting is reported.
func TestAnythingImports(t *testing.T) {
	t.Parallel()
	value := func(t *rapid.T) any {
		return rapid.OneOf(
			rapid.Just[any](nil), rapid.Map(rapid.String(), func(s string) any { return s }), rapid.Map(rapid.Int(), func(n int) any { return n }),
			rapid.Map(rapid.Bool(), func(b bool) any { return b }), rapid.Map(rapid.SliceOf(rapid.String()), func(s []string) any { return s }),
			rapid.SampledFrom([]any{"a: b", "x/../y", "../x", "#fff", "- x", "true", "1e3", "main", "(?=x)", "a\nb", "'", "\"", "laravel.test", []any{map[string]any{"name": "a b", "categories": []string{"x: y", "", "é"}, "color": "#12aBff", "isDefault": true}, map[string]any{"name": "a-b"}, 7},
				[]any{map[string]any{"pattern": "a|b: {c}", "label": "# no"}, map[string]any{"pattern": "(?=x)"}}}),
		).Draw(t, "value")
	}
	dir := repository(t, map[string]string{"features.json": "[]"})
	rapid.Check(t, func(t *rapid.T) {
		c := map[string]any{}
		for _, r := range rules {
			if rapid.Bool().Draw(t, r.key) {
				continue
			}
			at := c
			parts := strings.Split(r.key, ".")
			for _, p := range parts[:len(parts)-1] {
				next, ok := at[p].(map[string]any)
				if !ok {
					next = map[string]any{}
					at[p] = next
				}
				at = next
			}
			at[parts[len(parts)-1]] = value(t)
		}
		b, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(dir, ".orchestrator"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, File), b, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Run(Options{Root: dir, DryRun: true}); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
	})
}
