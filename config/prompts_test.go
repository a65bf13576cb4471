package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coppice"
	"coppice/test/testfile"
)

func TestPrompts(t *testing.T) {
	t.Parallel()
	for name, yaml := range map[string]string{"with coppice.yaml": "base: main\n", "without": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			put := func(name, text string) {
				t.Helper()
				testfile.Write(t, filepath.Join(dir, name), text)
			}
			if yaml != "" {
				put(File, yaml)
			}
			if p, _, err := Load(dir); err != nil || len(p.Prompts) > 0 || len(p.Problems) > 0 {
				t.Fatalf("%v, %v, %v", p.Prompts, p.Problems, err)
			}
			put(".coppice/prompts/implement.md", "Build {{.Title}}.")
			put(".coppice/prompts/verify.md", "Look at {{.Nothing}}.")
			put(".coppice/prompts/other.md", "{{")
			put(".coppice/prompts/flow-goal-rules.md", "Use make in {{.Key}}.")
			put(".coppice/prompts/flow-goal-lead.md", "{{.Nowhere}}")
			p, _, err := Load(dir)
			if err != nil || len(p.Prompts) != 2 || p.Prompts["implement"] != "Build {{.Title}}." || p.Prompts["flow-goal-rules"] != "Use make in {{.Key}}." {
				t.Fatalf("%v, %v", p.Prompts, err)
			}
			if len(p.Problems) != 2 || !strings.HasPrefix(p.Problems[1], ".coppice/prompts/flow-goal-lead.md: ") || !strings.Contains(p.Problems[1], "Nowhere") || !strings.HasPrefix(p.Problems[0], ".coppice/prompts/verify.md: ") || !strings.Contains(p.Problems[0], "Nothing") {
				t.Errorf("problems %q", p.Problems)
			}
		})
	}
}

func TestPromptsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("a secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func(path string) error{
		"a directory":    func(path string) error { return os.Mkdir(path, 0o755) },
		"a link outside": func(path string) error { return os.Symlink(outside, path) },
		"no UTF-8":       func(path string) error { return os.WriteFile(path, []byte{0xff, 0xfe}, 0o644) },
		"too long":       func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("x", 1<<20)), 0o644) },
		"an empty file":  func(path string) error { return os.WriteFile(path, nil, 0o644) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.MkdirAll(filepath.Join(dir, PromptDir), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := make(filepath.Join(dir, PromptDir, "fix.md")); err != nil {
				t.Fatal(err)
			}
			p, _, err := Load(dir)
			if err != nil || len(p.Prompts) > 0 || len(p.Problems) != 1 || strings.Contains(p.Problems[0], "a secret") ||
				name == "a link outside" && !strings.Contains(p.Problems[0], "leaves the repository") {
				t.Errorf("%q, %q, %v", p.Prompts, p.Problems, err)
			}
		})
	}
}

func fileOf(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	return path
}

func promptIn(t *testing.T, dir, role string) Prompt {
	t.Helper()
	all, err := Prompts(dir)
	if err != nil {
		t.Fatal(err)
	}
	return all[slices.IndexFunc(all, func(p Prompt) bool { return p.Role == role })]
}

// A prompt is written, changed and removed; the preview shows the change and writes
// nothing.
func TestApplyPrompt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, PromptDir, "fix.md")
	before := promptIn(t, dir, "fix")
	if before.Own || before.Text != before.BuiltIn || before.Text == "" || before.About == "" {
		t.Fatalf("without a file: %+v", before)
	}
	var used []string
	use := func(text string) error {
		used = append(used, text)
		return nil
	}
	c := PromptChange{Role: "fix", Text: "Fix {{.Title}}."}
	diff, err := PreviewPrompt(dir, c, before.Revision)
	if _, stat := os.Stat(path); err != nil || !strings.HasPrefix(diff, "--- the built-in prompt\n+++ .coppice/prompts/fix.md\n") || !strings.Contains(diff, "\n+Fix {{.Title}}.\n") || stat == nil {
		t.Fatalf("the preview: %v, %v\n%s", err, stat, diff)
	}
	if err := ApplyPrompt(dir, c, before.Revision, use); err != nil {
		t.Fatal(err)
	}
	own := promptIn(t, dir, "fix")
	if !own.Own || own.Text != "Fix {{.Title}}.\n" || own.BuiltIn != before.BuiltIn || own.Revision == before.Revision || own.Problem != nil {
		t.Errorf("the file is %+v", own)
	}
	if diff, err := PreviewPrompt(dir, c, own.Revision); err != nil || diff != "" {
		t.Errorf("the same text: %q, %v", diff, err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := ApplyPrompt(dir, PromptChange{Role: "fix", Text: "Again: {{.Key}}\n\n"}, "", use); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 || promptIn(t, dir, "fix").Text != "Again: {{.Key}}\n" {
		t.Errorf("%v, %v, %q", info, err, promptIn(t, dir, "fix").Text)
	}
	unset := PromptChange{Role: "fix", Unset: true}
	if diff, err := PreviewPrompt(dir, unset, ""); err != nil || !strings.HasPrefix(diff, "--- .coppice/prompts/fix.md\n+++ the built-in prompt\n") {
		t.Errorf("the preview of a removal: %v\n%s", err, diff)
	}
	for range 2 { // a missing file can be removed again
		if err := ApplyPrompt(dir, unset, "", use); err != nil || promptIn(t, dir, "fix").Own {
			t.Errorf("removed: %v", err)
		}
	}
	if want := []string{"Fix {{.Title}}.\n", "Again: {{.Key}}\n", "", ""}; !slices.Equal(used, want) {
		t.Errorf("in effect: %q, want %q", used, want)
	}
}

// A refused change of a prompt says why and changes nothing.
func TestRefusedPrompts(t *testing.T) {
	t.Parallel()
	outside := fileOf(t, t.TempDir(), "outside.md", "outside\n")
	for name, c := range map[string]struct {
		change PromptChange
		rev    string
		setup  func(t *testing.T, dir, path string)
		use    error
		code   coppice.Code
		line   int
	}{
		"a mistake":           {change: PromptChange{Role: "fix", Text: "one\n{{.Nothing}}\n"}, code: coppice.EInvalid, line: 2},
		"a mistake in a flow": {change: PromptChange{Role: "flow-goal-lead", Text: "one\n{{.Nothing}}\n"}, code: coppice.EInvalid, line: 2},
		"no text":             {change: PromptChange{Role: "fix", Text: "\n\n"}, code: coppice.EInvalid},
		"too long":            {change: PromptChange{Role: "fix", Text: strings.Repeat("x", 1<<17)}, code: coppice.EInvalid},
		"no UTF-8":            {change: PromptChange{Role: "fix", Text: "\xff\xfe"}, code: coppice.EInvalid},
		"an unknown role":     {change: PromptChange{Role: "../../x", Text: "x"}, code: coppice.EInvalid},
		"an unknown role out": {change: PromptChange{Role: "plan", Unset: true}, code: coppice.EInvalid},
		"an old revision":     {change: PromptChange{Role: "fix", Text: "new"}, rev: "old", code: coppice.EConflict},
		"an old revision out": {change: PromptChange{Role: "fix", Unset: true}, rev: "old", code: coppice.EConflict},
		"not used":            {change: PromptChange{Role: "fix", Text: "new"}, use: coppice.Errorf(coppice.EUnavailable, "no"), code: coppice.EUnavailable},
		"not used, removed":   {change: PromptChange{Role: "fix", Unset: true}, use: coppice.Errorf(coppice.EUnavailable, "no"), code: coppice.EUnavailable},
		"a link out": {change: PromptChange{Role: "fix", Text: "new"}, code: coppice.EInvalid, setup: func(t *testing.T, _, path string) {
			relink(t, path, outside)
		}},
		"a removed link": {change: PromptChange{Role: "fix", Unset: true}, code: coppice.EConflict, setup: func(t *testing.T, dir, path string) {
			relink(t, path, fileOf(t, dir, "shared.md", "Ours: {{.Key}}\n"))
		}},
		"a directory": {change: PromptChange{Role: "fix", Unset: true}, code: coppice.EInvalid, setup: func(t *testing.T, _, path string) {
			if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o755)); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := fileOf(t, dir, PromptFile("fix"), "Ours: {{.Key}}\n")
			if c.setup != nil {
				c.setup(t, dir, path)
			}
			was := promptIn(t, dir, "fix")
			err := ApplyPrompt(dir, c.change, c.rev, func(string) error { return c.use })
			var at *At
			if errors.As(err, &at); coppice.ErrorCode(err) != c.code || c.use == nil && coppice.Public(err).Fix == "" || (c.line > 0) != (at != nil) || at != nil && (at.Line != c.line || at.Key != "text:2") {
				t.Errorf("%v (%s), %+v", err, coppice.ErrorCode(err), at)
			}
			if now := promptIn(t, dir, "fix"); now.Text != was.Text || now.Revision != was.Revision || now.Own != was.Own {
				t.Errorf("the file is %+v, was %+v", now, was)
			}
			left, err := os.ReadDir(filepath.Dir(path))
			if err != nil || len(left) != 1 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
	if b, err := os.ReadFile(outside); err != nil || string(b) != "outside\n" {
		t.Errorf("outside: %q, %v", b, err)
	}
}

func relink(t *testing.T, path, to string) {
	t.Helper()
	if err := errors.Join(os.Remove(path), os.Symlink(to, path)); err != nil {
		t.Fatal(err)
	}
}

// A text keeps the line ends of its file.
func TestPromptKeepsItsLineEnds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := fileOf(t, dir, PromptFile("fix"), "one\r\ntwo\r\n")
	if err := ApplyPrompt(dir, PromptChange{Role: "fix", Text: "one\ntwo\nthree\n"}, "", nil); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "one\r\ntwo\r\nthree\r\n" {
		t.Errorf("%q, %v", b, err)
	}
}

func TestWithPrompt(t *testing.T) {
	t.Parallel()
	p := coppice.Policy{Prompts: map[string]string{"fix": "Fix."}, Problems: []string{".coppice/prompts/verify.md: no", ".coppice/prompts/fix.md: no"}}
	got := WithPrompt(p, "verify", "Look.")
	if got.Prompts["verify"] != "Look." || got.Prompts["fix"] != "Fix." || len(p.Prompts) != 1 || !slices.Equal(got.Problems, p.Problems[1:]) || len(p.Problems) != 2 {
		t.Errorf("%+v from %+v", got, p)
	}
	if got := WithPrompt(p, "fix", ""); len(got.Prompts) != 0 || len(p.Prompts) != 1 {
		t.Errorf("removed: %+v", got.Prompts)
	}
	if got := WithPrompt(coppice.Policy{}, "fix", "x"); got.Prompts["fix"] != "x" {
		t.Errorf("the first: %+v", got.Prompts)
	}
}
