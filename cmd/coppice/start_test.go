package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
	"coppice/cmd/coppice/cli"
)

func TestCloneAddress(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "here", "app"), 0o755); err != nil {
		t.Fatal(err)
	}
	for s, want := range map[string][2]string{
		"https://example.org/team/app.git":  {"https://example.org/team/app.git", "app"},
		"https://example.org/team/app/":     {"https://example.org/team/app/", "app"},
		"ssh://git@example.org:22/team/a.b": {"ssh://git@example.org:22/team/a.b", "a.b"},
		"git@example.org:team/app.git":      {"git@example.org:team/app.git", "app"},
		"example.org:app":                   {"example.org:app", "app"},
		"file:///srv/git/app.git":           {"file:///srv/git/app.git", "app"},
		"acme/app":                          {"https://github.com/acme/app.git", "app"},
		"acme/.github":                      {"https://github.com/acme/.github.git", ".github"},
		"--upload-pack=touch /tmp/x":        {},
		"-oProxyCommand=x":                  {},
		"ext::sh -c id":                     {},
		"fd::17":                            {},
		"ssh://-oProxyCommand=x/app":        {},
		"-oProxyCommand=x:app":              {},
		"ftp://example.org/app":             {},
		"https:///app":                      {},
		"https://example.org/":              {},
		"https://example.org/..":            {},
		"https://example.org/team/a\nb":     {},
		"here/app":                          {},
		"app":                               {},
		"./app":                             {},
		"a/b/c":                             {},
		"":                                  {},
	} {
		address, name, err := cloneAddress(s, dir)
		if address != want[0] || name != want[1] || (err == nil) != (want[0] != "") {
			t.Errorf("%q: %q, %q, %v", s, address, name, err)
		}
		if err != nil && coppice.Public(err).Fix == "" {
			t.Errorf("%q: %v has no fix", s, err)
		}
	}
}

// A clone is made one time. A directory with something else stays as it is.
func TestClone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		c := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %s", args, out)
		}
	}
	source := filepath.Join(dir, "source")
	git("init", "--quiet", source)
	git("-C", source, "commit", "--quiet", "--allow-empty", "-m", "first")
	var errs bytes.Buffer
	p := &program{env: cli.Env{Dir: dir, Stderr: &errs}}
	address, to := "file://"+source, filepath.Join(dir, "app")
	for range 2 {
		if err := p.clone(t.Context(), address, to); err != nil {
			t.Fatal(err, errs.String())
		}
	}
	for name, err := range map[string]error{
		"another repository": p.clone(t.Context(), address+"2", to),
		"files":              p.clone(t.Context(), address, dir),
		"no repository":      p.clone(t.Context(), address+"2", filepath.Join(dir, "none")),
	} {
		if err == nil || coppice.Public(err).Fix == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !strings.Contains(errs.String(), "source2") {
		t.Errorf("git's messages are not shown: %q", errs.String())
	}
}
