package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"coppice"
	"coppice/api/client"
	"coppice/cmd/coppice/cli"
	"coppice/flow"
)

// The prompts of a repository are listed, printed, written and removed without a
// server; a wrong one is refused and changes nothing.
func TestConfigPrompt(t *testing.T) {
	t.Parallel()
	repo := t.TempDir()
	if _, err := runGit(t.Context(), repo, "init"); err != nil {
		t.Fatal(err)
	}
	run := func(stdin string, args ...string) (code int, out, errs string) {
		t.Helper()
		var o, e bytes.Buffer
		p := &program{env: cli.Env{Stdin: strings.NewReader(stdin), Stdout: &o, Stderr: &e, Dir: repo, Client: func() (*client.Client, error) { return nil, errors.New("no server") }}}
		code = p.run(t.Context(), append([]string{"config", "prompt"}, args...))
		return code, o.String(), e.String()
	}
	ok := func(stdin string, args ...string) string {
		t.Helper()
		code, out, errs := run(stdin, args...)
		if code != 0 {
			t.Fatalf("%q: %d: %s", args, code, errs)
		}
		return out
	}
	builtin := ok("", "get", "verify")
	if !strings.Contains(builtin, "{{.Title}}") {
		t.Errorf("the built-in prompt is %q", builtin)
	}
	if err := os.WriteFile(filepath.Join(repo, "mine.md"), []byte("Look at {{.Title}}.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(repo, ".coppice/prompts/verify.md")
	if out := ok("", "set", "verify", "mine.md"); !strings.Contains(out, path) || ok("", "get", "verify") != "Look at {{.Title}}.\n" {
		t.Errorf("set: %q", out)
	}
	ok("Fix {{.Key}}: {{.Evidence}}", "set", "fix", "-")
	if list := ok(""); !regexp.MustCompile(`(?m)^fix +\.coppice/prompts/fix\.md `).MatchString(list) || !regexp.MustCompile(`(?m)^implement +built-in `).MatchString(list) || !strings.Contains(list, "flow-goal-lead") {
		t.Errorf("the list:\n%s", list)
	}
	var rows []listedPrompt
	if err := json.Unmarshal([]byte(ok("", "--json")), &rows); err != nil || len(rows) != len(coppice.Roles)+len(flow.PromptNames()) || rows[1].Role != "verify" || !rows[1].Own || rows[1].Path != path {
		t.Errorf("as JSON: %+v, %v", rows, err)
	}
	for says, args := range map[string][]string{
		"verify.md:2":      {"set", "verify", "-"},
		"there is no role": {"set", "plan", "-"},
		"cannot be read":   {"set", "verify", "missing.md"},
		"or prompt \"x":    {"get", "x"},
	} {
		if code, out, errs := run("one\n{{.Titel}}\n", args...); code == 0 || out != "" || !strings.Contains(errs, says) {
			t.Errorf("%q: %d, %q, %q", args, code, out, errs)
		}
	}
	if code, _, errs := run("", "set", "fix", "-"); code == 0 || !strings.Contains(errs, "config prompt unset fix") {
		t.Errorf("an empty text: %d, %q", code, errs)
	}
	if got := ok("", "get", "verify"); got != "Look at {{.Title}}.\n" {
		t.Errorf("a refused change left %q", got)
	}
	ok("Use make.", "set", "flow-goal-rules", "-")
	if got := ok("", "get", "flow-goal-rules"); got != "Use make.\n" {
		t.Errorf("the prompt of a flow is %q", got)
	}
	if code, _, errs := run("one\n{{.Titel}}\n", "set", "flow-goal-lead", "-"); code == 0 || !strings.Contains(errs, "goal-lead.md:2") {
		t.Errorf("a mistake in the prompt of a flow: %d, %q", code, errs)
	}
	ok("", "unset", "verify")
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) || ok("", "get", "verify") != builtin {
		t.Errorf("unset: %v", err)
	}
}
