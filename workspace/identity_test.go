package workspace

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"coppice"
)

// The commits of an agent have its identity: those that it makes, those of what it left
// uncommitted, whether git writes them or Coppice, and, as the author, what lands.
func TestIdentity(t *testing.T) {
	t.Parallel()
	const both, person, agent = "--format=%an <%ae>, %cn <%ce>", "Ann <ann@example.org>", "Bot of Shop <bot@example.com>"
	who := coppice.Identity{Name: "Bot of Shop", Email: "bot@example.com"}
	for _, native := range []bool{true, false} {
		b := setup(t)
		b.NoGitFiles = !native
		path := b.prepare("app-1").Path
		log := func(dir, rev string) string { t.Helper(); return run(t, dir, "git", "log", "-1", both, rev) }

		env := must[map[string]string](t)(b.Author(b.ctx, path, who))
		write(t, path, "own.txt", "x")
		run(t, path, "git", "add", "-A")
		c := exec.Command("git", "commit", "-q", "-m", "own")
		c.Dir, c.Env = path, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null")
		for k, v := range env {
			c.Env = append(c.Env, k+"="+v)
		}
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if got := log(path, "HEAD"); got != agent+", "+agent {
			t.Errorf("native %v: its own commit is by %s", native, got)
		}
		write(t, path, "left.txt", "x")
		head, _, err := b.Save(b.ctx, path, "left", who, nil)
		if got := log(path, head); err != nil || got != agent+", "+agent {
			t.Errorf("native %v: what it left is by %s, %v", native, got, err)
		}
		// A merge that is finished but not committed is committed by git.
		run(t, path, "git", "checkout", "-q", "-b", "side", "HEAD~1")
		write(t, path, "side.txt", "x")
		commit(t, path, "side")
		run(t, path, "git", "checkout", "-q", coppice.TaskBranch("app-1"))
		run(t, path, "git", "merge", "-q", "--no-commit", "--no-ff", "side")
		if head, _, err = b.Save(b.ctx, path, "merged", who, nil); err != nil || log(path, head) != agent+", "+agent {
			t.Errorf("native %v: a merge is by %s, %v", native, log(path, head), err)
		}
		res := must[coppice.MergeResult](t)(b.Merge(b.ctx, coppice.MergeSpec{
			Repo: b.root, Base: "main", Head: head, Strategy: coppice.StrategySquash, Message: "landed\n", At: b.Now(), Ref: landingRefs + "app-1/1",
		}))
		if got := log(b.own(), res.Commit); got != agent+", "+person {
			t.Errorf("native %v: what lands is by %s, want %s, committed by %s", native, got, agent, person)
		}
		// Without an identity it is the person's.
		write(t, path, "more.txt", "x")
		head, _, err = b.Save(b.ctx, path, "more", coppice.Identity{}, nil)
		if got := log(path, head); err != nil || got != person+", "+person {
			t.Errorf("native %v: without an identity by %s, %v", native, got, err)
		}
		if env := must[map[string]string](t)(b.Author(b.ctx, path, coppice.Identity{})); env["GIT_AUTHOR_NAME"] != "Ann" || strings.Contains(env["GIT_COMMITTER_EMAIL"], "bot") {
			t.Errorf("native %v: without an identity the variables are %v", native, env)
		}
	}
}
