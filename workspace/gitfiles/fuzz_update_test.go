package gitfiles

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// reset moves the branch to a commit, and the files and the index with it.
func (p *pair) reset() {
	to := p.commit()
	_, _ = p.both("update-ref", "-m", "reset", "refs/heads/"+fuzzBranch, to)
	_, _ = p.both("symbolic-ref", "HEAD", "refs/heads/"+fuzzBranch)
	if p.tree.Reset(to) != nil {
		p.git(p.dirs[0], "checkout", "-q", "-f")
	}
	p.git(p.dirs[1], "checkout", "-q", "-f")
}

// stage writes what changes from HEAD to a commit beside the checkout.
func (p *pair) stage() {
	head, _ := p.both("rev-parse", "HEAD")
	from, to := strings.TrimSpace(head), p.commit()
	changes, err := p.repo.Diff(from, to)
	if err != nil {
		return
	}
	var dirs, indexes [2]string
	for i, dir := range p.dirs {
		dirs[i], indexes[i] = filepath.Join(p.t.TempDir(), "stage"), filepath.Join(p.t.TempDir(), "index")
		if err := os.Mkdir(dirs[i], 0o755); err != nil {
			p.t.Fatal(err)
		}
		p.copyIndex(filepath.Join(dir, ".git", "index"), indexes[i])
	}
	changed := func(index string) string { return p.withIndex(p.dirs[0], index, "diff-files", "--name-only", "-z") }
	before := changed(indexes[0])
	if p.repo.Checkout(dirs[0], p.repo.dir).WithIndex(indexes[0]).Stage(changes) != nil {
		return
	}
	cmd := p.command(dirs[1], "read-tree", "-m", "-u", from, to)
	cmd.Env = append(cmd.Env, "GIT_DIR="+filepath.Join(p.dirs[1], ".git"), "GIT_WORK_TREE="+dirs[1], "GIT_INDEX_FILE="+indexes[1])
	if out, err := cmd.CombinedOutput(); err != nil {
		p.fatalf("git refuses to stage: %v\n%s", err, out)
	}
	if a, b := listFiles(p.t, dirs[0]), listFiles(p.t, dirs[1]); !maps.Equal(a, b) {
		p.fatalf("the staged files are %q, with git %q", a, b)
	}
	list := func(i int) string { return p.withIndex(p.dirs[i], indexes[i], "ls-files", "--stage", "-z") }
	if a, b := list(0), list(1); a != b {
		p.fatalf("the staged index has %q, with git %q", a, b)
	}
	// Changes of other files are still found.
	after := strings.Split(changed(indexes[0]), "\x00")
	for name := range strings.SplitSeq(before, "\x00") {
		if !slices.Contains(after, name) && !slices.ContainsFunc(changes, func(c Change) bool { return c.Path == name }) {
			p.fatalf("git no longer finds the change of %q", name)
		}
	}
}

// moveRefs moves two refs that exist, or aborts that.
func (p *pair) moveRefs() {
	p.seconds++
	var updates []RefUpdate
	lines := "start\n"
	for _, name := range []string{append(fuzzRefs, "refs/heads/"+fuzzBranch)[p.choose(len(fuzzRefs)+1)], "refs/heads/" + fuzzBranch} {
		old, err := p.both("rev-parse", "--verify", "--quiet", name)
		if err != nil || len(updates) > 0 && updates[0].Name == name {
			continue
		}
		u := RefUpdate{Name: name, Old: strings.TrimSpace(old), New: p.commit()}
		updates = append(updates, u)
		lines += "update " + u.Name + " " + u.New + " " + u.Old + "\n"
	}
	end := []string{"commit", "commit", "abort"}[p.choose(3)]
	withGit := func(dir string) error {
		cmd := p.command(dir, "update-ref", "-m", "moved by hand", "--stdin")
		cmd.Stdin = strings.NewReader(lines + "prepare\n" + end + "\n")
		return cmd.Run()
	}
	failed := withGit(p.dirs[1])
	t, err := p.repo.BeginRefs(Signature{"Ann", "ann@example.org", fmt.Sprintf("%d +0100", p.seconds)}, "moved by hand", updates...)
	switch {
	case err != nil:
		if err := withGit(p.dirs[0]); (err == nil) != (failed == nil) {
			p.fatalf("moving %v: %v, with git %v", updates, err, failed)
		}
		return
	case failed != nil:
		p.fatalf("git refuses to move %v: %v", updates, failed)
	case end == "abort":
		err = t.Abort()
	default:
		err = t.Commit()
	}
	if err != nil {
		p.fatalf("%s of %v: %v", end, updates, err)
	}
}

// fuzzRules are rules for ignored files. The last ones are left to git.
var fuzzRules = []string{"", "*.log\n", "d/\n", "/a*\n!a.b\n", "d/*\n!d/h\n", "a\n", "*\n!*/\n!a*\n", "e\n!g\n", "/b\n#c\n\n/e/f", "b/c\n", "*b\n", "a/\n", "!d/e/\n", "[ab]\n", "**/e\n", "a?b\n"}

func (p *pair) rules() string { return fuzzRules[p.choose(len(fuzzRules))] }

// addAll stages all files, with rules for ignored files.
func (p *pair) addAll() bool {
	rules := p.rules()
	p.each(func(dir string) {
		if err := os.WriteFile(filepath.Join(dir, ".git", "rules"), []byte(rules), 0o644); err != nil {
			p.t.Fatal(err)
		}
	})
	withGit := func(dir string) error {
		return p.command(dir, "-c", "core.excludesFile="+filepath.Join(dir, ".git", "rules"), "-c", "advice.addEmbeddedRepo=false", "add", "--all", "--", ".").Run()
	}
	failed := withGit(p.dirs[1])
	if err := p.tree.AddAll(rules); err != nil {
		if err := withGit(p.dirs[0]); (err == nil) != (failed == nil) {
			p.fatalf("staging all: %v, with git %v", err, failed)
		}
	} else if failed != nil {
		p.fatalf("git does not stage all: %v", failed)
	}
	p.compareIndex()
	return failed == nil
}

// withIndex runs git with another index, which must succeed.
func (p *pair) withIndex(dir, index string, args ...string) string {
	cmd := p.command(dir, args...)
	cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+index)
	out, err := cmd.Output()
	if err != nil {
		p.fatalf("git %q: %v", args, err)
	}
	return string(out)
}

// copyIndex copies an index with its time.
func (p *pair) copyIndex(from, to string) {
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o644)
	}
	info, serr := os.Lstat(from)
	if err != nil || serr != nil {
		p.fatalf("%v, %v", err, serr)
	}
	if err := os.Chtimes(to, info.ModTime(), info.ModTime()); err != nil {
		p.t.Fatal(err)
	}
}
