package git

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func setup(t *testing.T, global string) (*Runner, string) {
	t.Helper()
	dir := t.TempDir()
	conf := filepath.Join(dir, "gitconfig")
	if err := os.WriteFile(conf, []byte(global), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := New(Config{Env: append(os.Environ(), "GIT_CONFIG_GLOBAL="+conf, "HOME="+dir, "GIT_DIR=/nonsense")})
	if err != nil {
		t.Fatal(err)
	}
	repo := filepath.Join(dir, "repo")
	run(t, r, dir, "init", "-q", "-b", "main", repo)
	return r, repo
}

func run(t *testing.T, r *Runner, dir string, args ...string) string {
	t.Helper()
	out, err := r.Run(t.Context(), dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// config writes into the repository's configuration, as an agent could.
func config(t *testing.T, repo, key, value string) {
	t.Helper()
	if out, err := exec.Command("git", "-C", repo, "config", key, value).CombinedOutput(); err != nil {
		t.Fatalf("%s: %s", key, out)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// TestRepositoryRunsNothing plants a program wherever the repository's
// configuration can name one, and runs the commands Coppice runs.
func TestRepositoryRunsNothing(t *testing.T) {
	t.Parallel()
	r, repo := setup(t, "")
	mark := filepath.Join(t.TempDir(), "ran")
	evil := "touch " + mark + "; cat"
	hooks := filepath.Join(repo, ".git", "hooks")
	for _, h := range []string{"pre-commit", "post-commit", "post-checkout", "reference-transaction", "post-index-change", "commit-msg", "pre-push"} {
		write(t, hooks, h, "#!/bin/sh\n"+evil+"\n")
	}
	for _, k := range []string{
		"filter.evil.clean", "filter.evil.smudge", "filter.e=vil.clean", "diff.evil.textconv", "diff.evil.command", "diff.external", "core.fsmonitor",
		"core.editor", "core.pager", "core.sshCommand", "core.askPass", "gpg.program", "credential.helper", "alias.status", "merge.evil.driver",
	} {
		config(t, repo, k, "!"+evil)
		if !strings.HasPrefix(k, "alias") && !strings.HasPrefix(k, "credential") {
			config(t, repo, k, evil)
		}
	}
	config(t, repo, "filter.evil.required", "true")
	config(t, repo, "commit.gpgSign", "true")
	config(t, repo, "core.hooksPath", hooks)
	write(t, repo, ".gitattributes", "* filter=evil diff=evil merge=evil\n")
	write(t, repo, "a", "1\n2\n3\n")
	commit := func() {
		t.Helper()
		run(t, r, repo, "add", "-A")
		if _, err := r.Do(t.Context(), Call{Dir: repo, Config: []string{"user.name=x", "user.email=x"}, Args: []string{"commit", "-q", "-m", "x"}}); err != nil {
			t.Fatal(err)
		}
	}
	commit()
	run(t, r, repo, "checkout", "-q", "-b", "side")
	write(t, repo, "a", "1\n2\n3 side\n")
	commit()
	run(t, r, repo, "checkout", "-q", "main")
	write(t, repo, "a", "1 main\n2\n3\n")
	run(t, r, repo, "status")
	run(t, r, repo, "diff", "--no-ext-diff", "--no-textconv")
	commit()
	tree := run(t, r, repo, "merge-tree", "--write-tree", "main", "side")
	if got := run(t, r, repo, "cat-file", "blob", tree+":a"); got != "1 main\n2\n3 side" {
		t.Errorf("merged to %q", got)
	}
	_, _ = r.Do(t.Context(), Call{Dir: repo, Network: true, Args: []string{"fetch", "ext::sh -c " + "touch% " + mark}})
	if _, err := os.Stat(mark); err == nil {
		t.Error("a program of the repository's was run")
	}
}

func TestPersonsFilterCounts(t *testing.T) {
	t.Parallel()
	r, repo := setup(t, "[filter \"up\"]\n\tclean = tr a-z A-Z\n[user]\n\tname = Ann\n\temail = ann@example.org\n")
	config(t, repo, "filter.up.clean", "false")
	write(t, repo, ".gitattributes", "a filter=up\n")
	write(t, repo, "a", "text")
	run(t, r, repo, "add", "a")
	if got := run(t, r, repo, "cat-file", "blob", ":a"); got != "TEXT" {
		t.Errorf("stored as %q", got)
	}
	if p, err := r.Identity(t.Context(), repo); err != nil || p != (Person{"Ann", "ann@example.org"}) {
		t.Errorf("%v %v", p, err)
	}
	r, repo = setup(t, "")
	if p, err := r.Identity(t.Context(), repo); err != nil || p != (Person{"Coppice", "coppice@localhost"}) {
		t.Errorf("%v %v", p, err)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	r, repo := setup(t, "")
	_, err := r.Run(t.Context(), repo, "rev-parse", "--verify", "nothing")
	var ge *Error
	if !errors.As(err, &ge) || ge.Exit != 128 || Exit(err) != 128 || !strings.Contains(ge.Stderr, "Needed a single revision") || ge.Stdout != "" {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	cancel(gone)
	if _, err := r.Run(ctx, repo, "status"); !errors.Is(err, gone) {
		t.Errorf("%v", err)
	}
	out, err := r.Do(t.Context(), Call{Dir: repo, Args: []string{"version"}, Limit: 3})
	if out != "git" || err != nil {
		t.Errorf("%q %v", out, err)
	}
}

// endsLate is a context that ends right after it was asked for the first time.
type endsLate struct {
	context.Context
	asked int
}

func (c *endsLate) Err() error {
	if c.asked++; c.asked == 1 {
		return nil
	}
	return c.Context.Err()
}

// A context that ends while git is about to start is an error like any other.
func TestEndBeforeTheStart(t *testing.T) {
	t.Parallel()
	r, repo := setup(t, "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := r.exec(&endsLate{Context: ctx}, Call{Dir: repo, Args: []string{"version"}}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the end of the context", err)
	}
}
