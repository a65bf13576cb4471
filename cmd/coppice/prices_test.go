package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coppice/cmd/coppice/cli"
)

// The list has the prices of the program, of the user and of the repository, in
// this order.
func TestPrices(t *testing.T) {
	user, repo := t.TempDir(), t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", user)
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(user, "coppice/config.yaml"), "prices: {gpt-6-sol: {input: 3, output: 4}, mine: {input: 1, output: 2, cache_read: 0.5}}\n")
	write(filepath.Join(repo, "coppice.yaml"), "prices: {mine: {input: 7, output: 8}}\n")
	if _, err := runGit(t.Context(), repo, "init"); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		p := &program{env: cli.Env{Stdout: &out, Stderr: &errs, Dir: repo}}
		if code := p.run(t.Context(), append([]string{"prices"}, args...)); code != 0 {
			t.Fatalf("%d: %s", code, errs.String())
		}
		return out.String()
	}
	var list []listedPrice
	if err := json.Unmarshal([]byte(run("--json")), &list); err != nil {
		t.Fatal(err)
	}
	by := map[string]listedPrice{}
	for _, l := range list {
		by[l.Model] = l
	}
	if got := by["mine"]; got != (listedPrice{Model: "mine", Input: 7, Output: 8, Source: "configuration"}) {
		t.Errorf("the repository's: %+v", got)
	}
	if got := by["gpt-6-sol"]; got.Input != 3 || got.Source != "configuration" || got.Vendor != "openai" {
		t.Errorf("the user's: %+v", got)
	}
	if got := by["gpt-6-luna"]; got.Input != 0.1 || got.Date == "" || !strings.HasPrefix(got.Source, "https://") {
		t.Errorf("the program's: %+v", got)
	}
	if text := run(); !strings.Contains(text, "MODEL") || !strings.Contains(text, "gpt-6-luna") || !strings.Contains(text, "$0.125") {
		t.Errorf("as a table:\n%s", text)
	}
}
