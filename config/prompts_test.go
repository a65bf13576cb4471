package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPrompts(t *testing.T) {
	t.Parallel()
	for name, yaml := range map[string]string{"with coppice.yaml": "base: main\n", "without": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			put := func(name, text string) {
				t.Helper()
				path := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
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
			p, _, err := Load(dir)
			if err != nil || len(p.Prompts) != 1 || p.Prompts["implement"] != "Build {{.Title}}." {
				t.Fatalf("%v, %v", p.Prompts, err)
			}
			if len(p.Problems) != 1 || !strings.HasPrefix(p.Problems[0], ".coppice/prompts/verify.md: ") || !strings.Contains(p.Problems[0], "Nothing") {
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
