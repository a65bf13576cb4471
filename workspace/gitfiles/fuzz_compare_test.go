package gitfiles

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// check lets git check both repositories. Git's merges can leave damaged trees that no
// ref names, so what it finds in its own repository does not count.
func (p *pair) check() {
	var out [2][]byte
	var err [2]error
	for i, dir := range p.dirs {
		for _, name := range fuzzRefs { // fsck complains about those that lead nowhere
			_ = p.command(dir, "symbolic-ref", "--delete", name).Run()
		}
		out[i], err[i] = p.command(dir, "fsck", "--strict", "--no-dangling").CombinedOutput()
	}
	if err[0] != nil && err[1] == nil {
		p.fatalf("git finds errors:\n%s", out[0])
	}
}

// compare compares all that can be read of both repositories.
func (p *pair) compare() {
	if a, b := listFiles(p.t, p.dirs[0]), listFiles(p.t, p.dirs[1]); !maps.Equal(a, b) {
		p.fatalf("the files are %q, with git %q", a, b)
	}
	p.compareIndex()
	status, _ := p.both("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignored", "--ignore-submodules=dirty")
	head, _ := p.both("rev-parse", "HEAD")
	_, _ = p.both("log", "--walk-reflogs", "-3", "--format=%gs %gn %ge %H", "HEAD")
	if _, err := p.both("rev-parse", "--verify", "--quiet", "refs/heads/"+fuzzBranch); err == nil {
		_, _ = p.both("log", "--walk-reflogs", "-3", "--format=%gs %gn %ge %H", fuzzBranch)
	}
	p.compareRefs(strings.TrimSpace(head))
	if p.tree.IsClean(strings.TrimSpace(head)) && status != "" {
		p.fatalf("it is clean, and git finds %q", status)
	}
	var all []Change
	for e := range strings.SplitSeq(p.git(p.dirs[0], "ls-tree", "-r", "-z", "HEAD"), "\x00") {
		if facts, name, ok := strings.Cut(e, "\t"); ok {
			f := strings.Fields(facts)
			all = append(all, Change{Path: name, OldMode: f[0], Old: f[2]})
		}
	}
	want := map[string]bool{}
	for e := range strings.SplitSeq(status, "\x00") {
		if len(e) > 3 && e[:2] != "??" && e[:2] != "!!" {
			want[e[3:]] = true
		}
	}
	for _, c := range all {
		if dirty, err := p.tree.Dirty([]Change{c}); err == nil && dirty[c.Path] != want[c.Path] {
			p.fatalf("%q is dirty: %v, with git %v", c.Path, dirty[c.Path], want[c.Path])
		}
	}
}

func (p *pair) compareIndex() {
	list, _ := p.both("ls-files", "--stage", "-z")
	x, err := readIndex(p.tree.index)
	if err != nil {
		return
	}
	var got strings.Builder
	for _, f := range x.files {
		fmt.Fprintf(&got, "%s %s 0\t%s\x00", f.mode, f.id(), f.path)
	}
	if got.String() != list {
		p.fatalf("the index has %q, with git %q", got.String(), list)
	}
	tree, err := indexTree(x.files, 0, "", nil, hashTree)
	if want, failed := p.both("write-tree"); err == nil && failed == nil && tree+"\n" != want {
		p.fatalf("the tree of the index is %s, with git %s", tree, want)
	}
}

func (p *pair) compareRefs(head string) {
	listed, _ := p.both("for-each-ref", "--format=%(objectname) %(refname) %(symref)")
	want, links := map[string]string{}, map[string]string{}
	for line := range strings.Lines(listed) {
		f := strings.Fields(line)
		want[f[1]] = f[0]
		if len(f) == 3 {
			links[f[1]] = f[2]
		}
	}
	for _, name := range append(fuzzRefs, "refs/heads/"+fuzzBranch, "refs/coppice/merged") {
		if refs, err := p.repo.Refs(name); err == nil && refs[name] != want[name] {
			p.fatalf("%s is at %q, with git %q", name, refs[name], want[name])
		}
	}
	if refs, symbolic, err := p.repo.List("refs/heads/", "refs/coppice/", "refs/tags/"); err == nil {
		for name, to := range symbolic {
			if want[name] != "" { // git does not list those that lead nowhere
				refs[name] = want[name]
				if links[name] != to {
					p.fatalf("%s names %s, with git %s", name, to, links[name])
				}
			}
		}
		if !maps.Equal(refs, want) {
			p.fatalf("the refs are %v, with git %v", refs, want)
		}
	}
	if on, id, err := p.repo.Head(p.repo.dir); err == nil {
		ref, _ := p.command(p.dirs[1], "symbolic-ref", "--quiet", "HEAD").Output()
		if id != head || on != strings.TrimSpace(string(ref)) {
			p.fatalf("HEAD is %s at %s, with git %s at %s", on, id, ref, head)
		}
	}
}

// listFiles returns the files and links below a directory with their contents.
func listFiles(t *testing.T, root string) map[string]string {
	all := map[string]string{}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() == ".git" {
			return skipDir(d, err)
		}
		rel, _ := filepath.Rel(root, p)
		st, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case st.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(p)
			all[rel] = "-> " + to
			return err
		case st.Mode().IsRegular():
			b, err := os.ReadFile(p)
			all[rel] = fmt.Sprintf("%v %s", st.Mode()&0o100 != 0, b)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func skipDir(d fs.DirEntry, err error) error {
	if err == nil && d.IsDir() {
		return fs.SkipDir
	}
	return err
}
