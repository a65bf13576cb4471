package gitfiles

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// FuzzAgainstGit runs the same random operations in two repositories. In one of
// them this package does what it can, and git does the rest. In the other one git
// does all. Afterwards both have the same files, commits, refs, logs and status.
func FuzzAgainstGit(f *testing.F) {
	// A seed instead of a script: the fuzzer spends minutes to shorten a script,
	// because each run takes a second. It kills a run of more
	// than ten seconds, so the script ends early on a slow machine.
	for _, seed := range []uint64{0, 1, 2, 3, 4, 5, 22} {
		f.Add(seed, byte(55))
	}
	f.Fuzz(func(t *testing.T, seed uint64, length byte) {
		script := make([]byte, 2*int(length%60))
		_, _ = rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), byte(seed >> 24), byte(seed >> 32)}).Read(script)
		p := newPair(t, script)
		for start := time.Now(); len(p.script) > 0 && time.Since(start) < 3*time.Second; {
			step := steps[p.choose(len(steps))]
			p.did = append(p.did, step.name)
			step.do(p)
		}
		p.compare()
		p.check()
	})
}

// fuzzNames are names that are close to each other in git's order, or unusual.
var fuzzNames = []string{"a", "a.b", "a-b", "a/b", "a/b/c", "a0", "d/e/f", "d/e/g", "d/h", "d.e", "ü ü", "\xff\xfe", "new\nline", "tab\t", "quo\"te", "back\\slash",
	"-dash", "*", ".gitignore", "d/.gitignore", ".hidden/x", "x.log", " lead", "trail "}

var fuzzRefs = []string{"refs/coppice/x/1", "refs/coppice/x/2", "refs/coppice/x", "refs/heads/coppice/b", "refs/heads/coppice/b/c", "refs/heads/other", "refs/tags/t"}

const fuzzBranch = "coppice/work"

// pair is two repositories with the same content.
type pair struct {
	t       *testing.T
	script  []byte
	did     []string
	dirs    [2]string // the first is that of this package
	repo    *Repo
	tree    *Checkout
	commits []string
	seconds int
}

func newPair(t *testing.T, script []byte) *pair {
	p := &pair{t: t, script: script, seconds: 1_700_000_000}
	for i := range p.dirs {
		p.dirs[i] = filepath.Join(t.TempDir(), "repo")
		p.git(filepath.Dir(p.dirs[i]), "init", "-q", "-b", fuzzBranch, p.dirs[i])
		write(t, p.dirs[i], "a.txt", "one\ntwo\n")
	}
	p.repo = Open(filepath.Join(p.dirs[0], ".git"), Config{Read: func(kind string, ids []string) ([][]byte, error) {
		var all [][]byte
		for _, id := range ids {
			out, err := p.command(p.dirs[0], "cat-file", kind, id).Output()
			if err != nil {
				return all, nil
			}
			all = append(all, out)
		}
		return all, nil
	}})
	p.tree = p.repo.Checkout(p.dirs[0], p.repo.dir)
	p.both("add", "-A")
	p.both("commit", "-q", "-m", "first")
	p.note()
	return p
}

// choose returns a number below n.
func (p *pair) choose(n int) int {
	if len(p.script) == 0 {
		return 0
	}
	b := int(p.script[0])
	p.script = p.script[1:]
	return b % n
}

// name returns one of a few usual names, or any.
func (p *pair) name() string { return fuzzNames[p.choose([]int{5, 5, len(fuzzNames)}[p.choose(3)])] }

func (p *pair) ref() string { return fuzzRefs[p.choose(len(fuzzRefs))] }
func (p *pair) commit() string {
	return p.commits[p.choose(len(p.commits))]
}

func (p *pair) fatalf(format string, args ...any) {
	p.t.Helper()
	p.t.Fatalf("after %s: %s", strings.Join(p.did, ", "), fmt.Sprintf(format, args...))
}

func (p *pair) command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	date := fmt.Sprintf("@%d +0100", p.seconds)
	cmd.Env = append(slices.Clone(gitEnv), "GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.org", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.org",
		"GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
	return cmd
}

// git runs git, which must succeed.
func (p *pair) git(dir string, args ...string) string {
	p.t.Helper()
	out, err := p.command(dir, args...).Output()
	if err != nil {
		message := ""
		if exit, ok := err.(*exec.ExitError); ok {
			message = string(exit.Stderr)
		}
		p.fatalf("git %q: %v\n%s%s", args, err, out, message)
	}
	return string(out)
}

// both runs git in both repositories. It must give the same there.
func (p *pair) both(args ...string) (string, error) {
	p.t.Helper()
	var out [2][]byte
	var err [2]error
	for i, dir := range p.dirs {
		out[i], err[i] = p.command(dir, args...).Output()
	}
	if string(out[0]) != string(out[1]) || (err[0] == nil) != (err[1] == nil) {
		p.fatalf("git %q differs:\n%s%v\n%s%v", args, out[0], err[0], out[1], err[1])
	}
	return string(out[0]), err[0]
}

// note adds HEAD to the commits.
func (p *pair) note() {
	p.t.Helper()
	head, _ := p.both("rev-parse", "HEAD")
	p.commits = append(p.commits, strings.TrimSpace(head))
}

// each changes the files of both repositories.
func (p *pair) each(change func(dir string)) {
	for _, dir := range p.dirs {
		change(dir)
	}
}

// place writes a file with make, after what is in its way is removed.
func place(file string, make func()) {
	for dir := filepath.Dir(file); filepath.Base(dir) != "repo"; dir = filepath.Dir(dir) {
		if st, err := os.Lstat(dir); err == nil && !st.IsDir() {
			_ = os.Remove(dir)
		}
	}
	_ = os.RemoveAll(file)
	_ = os.MkdirAll(filepath.Dir(file), 0o755)
	make()
}

type step struct {
	name string
	do   func(p *pair)
}

var steps []step

func init() { // diverge uses the list itself
	steps = []step{
		{"write", func(p *pair) {
			name, text := p.name(), strings.Repeat(string(rune('a'+p.choose(4))), p.choose(3)*5)
			if filepath.Base(name) == ".gitignore" {
				text = p.rules()
			}
			mode := []fs.FileMode{0o644, 0o644, 0o755}[p.choose(3)]
			p.each(func(dir string) {
				file := filepath.Join(dir, name)
				place(file, func() { _ = os.WriteFile(file, []byte(text), mode) })
			})
		}},
		{"link", func(p *pair) {
			name, to := p.name(), p.name()
			p.each(func(dir string) {
				file := filepath.Join(dir, name)
				place(file, func() { _ = os.Symlink(to, file) })
			})
		}},
		{"mode", func(p *pair) {
			name, mode := p.name(), []fs.FileMode{0o644, 0o755, 0o700}[p.choose(3)]
			p.each(func(dir string) {
				if st, err := os.Lstat(filepath.Join(dir, name)); err == nil && st.Mode().IsRegular() {
					_ = os.Chmod(filepath.Join(dir, name), mode)
				}
			})
		}},
		{"remove", func(p *pair) {
			name := p.name()
			p.each(func(dir string) { _ = os.RemoveAll(filepath.Join(dir, name)) })
		}},
		{"rename", func(p *pair) {
			from, to := p.name(), p.name()
			p.each(func(dir string) {
				_ = os.MkdirAll(filepath.Dir(filepath.Join(dir, to)), 0o755)
				_ = os.Rename(filepath.Join(dir, from), filepath.Join(dir, to))
			})
		}},
		{"submodule", func(p *pair) {
			name, id := p.name(), p.commit()
			p.each(func(dir string) {
				place(filepath.Join(dir, name), func() { _ = os.Mkdir(filepath.Join(dir, name), 0o755) })
			})
			_, _ = p.both("update-index", "--add", "--replace", "--cacheinfo", "160000,"+id+","+name)
		}},
		{"commit", (*pair).commitAll},
		{"commit", (*pair).commitAll},
		{"reset", (*pair).reset},
		{"reset", (*pair).reset},
		{"stage", (*pair).stage},
		{"detach", func(p *pair) { _, _ = p.both("checkout", "-q", "-f", "--detach", p.commit()) }},
		{"clean", func(p *pair) {
			if p.tree.Clean() != nil {
				p.git(p.dirs[0], "clean", "-ffdxq")
			}
			p.git(p.dirs[1], "clean", "-ffdxq")
		}},
		{"pack refs", func(p *pair) { p.git(p.dirs[p.choose(2)], "pack-refs", "--all") }},
		{"pack objects", func(p *pair) { p.git(p.dirs[p.choose(2)], "repack", "-adkq") }},
		{"set ref", func(p *pair) {
			name, id := p.ref(), p.commit()
			_, err := p.command(p.dirs[1], "update-ref", "--no-deref", name, id).Output()
			if p.repo.SetRef(name, id) != nil {
				_, err2 := p.command(p.dirs[0], "update-ref", "--no-deref", name, id).Output()
				if (err == nil) != (err2 == nil) {
					p.fatalf("setting %s: %v, %v", name, err, err2)
				}
			} else if err != nil {
				p.fatalf("git refuses to set %s: %v", name, err)
			}
		}},
		{"move refs", (*pair).moveRefs},
		{"delete ref", func(p *pair) {
			name := p.ref()
			id, err := p.both("rev-parse", "--verify", "--quiet", name)
			if err != nil {
				return
			}
			p.git(p.dirs[1], "update-ref", "--no-deref", "-d", name)
			if p.repo.DeleteRef(name, strings.TrimSpace(id)) != nil {
				p.git(p.dirs[0], "update-ref", "--no-deref", "-d", name)
			}
		}},
		{"symbolic ref", func(p *pair) { _, _ = p.both("symbolic-ref", p.ref(), p.ref()) }},
		{"merge", func(p *pair) { p.merge(p.commit(), p.commit()) }},
		{"diverge", (*pair).diverge},
		{"diverge", (*pair).diverge},
		{"diff", (*pair).diff},
		{"touch", (*pair).touch},
		{"compare", (*pair).compare},
	}
}

func (p *pair) commitAll() {
	p.seconds += 60
	if !p.addAll() {
		return
	}
	by := func() (Signature, error) {
		return Signature{"Ann", "ann@example.org", fmt.Sprintf("%d +0100", p.seconds)}, nil
	}
	message := []string{"work\n", "  Two\tlines\nof it\n\nTrailer: x\n", "ünï\n"}[p.choose(3)]
	withGit := func(dir string) {
		if p.git(dir, "diff-index", "--cached", "--name-only", "HEAD") == "" {
			return
		}
		p.git(dir, "commit", "-q", "--no-verify", "--cleanup=verbatim", "-m", message)
	}
	if _, _, err := p.tree.Commit(fuzzBranch, message, by, func(string) bool { return false }); err != nil {
		withGit(p.dirs[0])
	}
	withGit(p.dirs[1])
	p.note()
}

// fileSteps is how many of the steps, from the first on, change files.
const fileSteps = 6

// diverge makes two lines of commits from one commit, and merges them.
func (p *pair) diverge() {
	base := p.commit()
	var tips [2]string
	for i := range tips {
		_, _ = p.both("checkout", "-q", "-f", "-B", fuzzBranch, base)
		_, _ = p.both("clean", "-ffdxq")
		for range 1 + p.choose(3) {
			step := steps[p.choose(fileSteps)]
			p.did = append(p.did, step.name)
			step.do(p)
		}
		p.commitAll()
		tips[i] = p.commits[len(p.commits)-1]
	}
	p.merge(tips[0], tips[1])
}

// merge merges two commits and keeps the result under a ref.
func (p *pair) merge(ours, theirs string) {
	p.seconds++
	want, failed := p.command(p.dirs[1], "merge-tree", "--write-tree", "--allow-unrelated-histories", ours, theirs).Output()
	tree, err := p.repo.Merge(ours, theirs)
	if err != nil {
		tree = ""
		if out, err := p.command(p.dirs[0], "merge-tree", "--write-tree", "--allow-unrelated-histories", ours, theirs).Output(); err == nil {
			tree = strings.TrimSpace(string(out))
		}
	}
	if failed != nil {
		if err == nil {
			p.fatalf("%s and %s merge to %s, and git finds a conflict", ours, theirs, tree)
		}
		return
	}
	if tree != strings.TrimSpace(string(want)) {
		p.fatalf("%s and %s merge to %s, with git to %s", ours, theirs, tree, want)
	}
	by := Signature{"Ann", "ann@example.org", fmt.Sprintf("%d +0100", p.seconds)}
	c := Commit{Tree: tree, Parents: []string{ours, theirs}[:1+p.choose(2)], Author: by, Committer: by, Message: "merged\n"}
	if len(c.Parents) == 2 && ours == theirs {
		c.Parents = c.Parents[:1]
	}
	id := commitTree(p.t, p.dirs[1], c)
	got, err := p.repo.WriteCommit(c)
	if err != nil {
		got = commitTree(p.t, p.dirs[0], c)
	}
	if got != id {
		p.fatalf("the commit is %s, with git %s", got, id)
	}
	p.commits = append(p.commits, id)
	p.git(p.dirs[1], "update-ref", "refs/coppice/merged", id)
	if p.repo.SetRef("refs/coppice/merged", id) != nil {
		p.git(p.dirs[0], "update-ref", "refs/coppice/merged", id)
	}
	p.added(ours, id)
}

// added compares the objects that a commit adds.
func (p *pair) added(base, id string) {
	if p.repo.HasAll(id, base) == nil {
		p.git(p.dirs[0], "rev-list", "--objects", id, "^"+base)
	}
	ids, err := p.repo.Added(base, id)
	if err != nil {
		return
	}
	for line := range strings.Lines(p.git(p.dirs[1], "rev-list", "--objects", id, "^"+base)) {
		if object, _, _ := strings.Cut(strings.TrimSpace(line), " "); !slices.Contains(ids, object) {
			p.fatalf("%s adds %s to %s, which is not listed", id, object, base)
		}
	}
	if p.git(p.dirs[1], "merge-base", base, id) != base+"\n" {
		p.fatalf("%s is not above %s", id, base)
	}
}

func (p *pair) diff() {
	from, to := p.commit(), p.commit()
	list, err := p.repo.Diff(from, to)
	if err != nil {
		return
	}
	want := map[string]string{}
	f := strings.Split(p.git(p.dirs[1], "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", from, to), "\x00")
	for i := 0; i+1 < len(f); i += 2 {
		want[f[i+1]] = f[i][:strings.LastIndexByte(f[i], ' ')]
	}
	got := map[string]string{}
	for _, c := range list {
		got[c.Path] = fmt.Sprintf(":%s %s %s %s", gitMode(c.OldMode), gitMode(c.NewMode), gitID(c.Old), gitID(c.New))
	}
	if !maps.Equal(got, want) {
		p.fatalf("from %s to %s: %v, with git %v", from, to, got, want)
	}
	if list, err := p.repo.Since(from, to); err == nil {
		var messages strings.Builder
		for _, c := range list {
			messages.WriteString(c.Message + "\x00\n")
		}
		if want := p.git(p.dirs[1], "log", "--format=%B%x00", to, "^"+from); messages.String() != want {
			p.fatalf("from %s to %s: %q, with git %q", from, to, messages.String(), want)
		}
	}
	if p.repo.IsAncestor(from, to) && p.git(p.dirs[1], "merge-base", from, to) != from+"\n" {
		p.fatalf("%s is not an ancestor of %s", from, to)
	}
}

// touch changes the times of files that are as in the index, and has the index
// follow. Each time differs from all before, because git compares whole seconds.
func (p *pair) touch() {
	if p.git(p.dirs[0], "status", "--porcelain", "--untracked-files=no", "--ignore-submodules=dirty") != "" {
		return
	}
	names := map[string]bool{}
	for _, name := range fuzzNames {
		file := filepath.Join(p.dirs[0], name)
		if st, err := os.Lstat(file); err == nil && st.Mode().IsRegular() && p.choose(2) == 0 {
			p.seconds++
			_ = os.Chtimes(file, time.Unix(int64(p.seconds), 0), time.Unix(int64(p.seconds), 0))
			names[name] = true
		}
	}
	if p.tree.Restat(names) != nil {
		return
	}
	if out := p.git(p.dirs[0], "diff-files", "--name-only", "-z", "--ignore-submodules=dirty"); out != "" {
		p.fatalf("git finds other stat data of %q", out)
	}
}
