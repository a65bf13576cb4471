// Package house has the rules of this repository as code: which package may import
// which, how long a file or function may be, which words are not used. Its tests
// run every rule on this repository, and on a small fixture that breaks it.
package house

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Tree is a repository as the rules see it.
type Tree struct {
	Root  string
	Files []string // relative, with slashes; what is ignored by git is not there
}

// Breach is one place where a rule is broken.
type Breach struct {
	File string
	Line int // 0 when the whole file is meant
	What string
}

func (b Breach) String() string {
	if b.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", b.File, b.Line, b.What)
	}
	return b.File + ": " + b.What
}

// Open lists the files of a git repository, those not added yet included.
func Open(root string) (*Tree, error) {
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("listing the files of %s: %w", root, err)
	}
	t := &Tree{Root: root}
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name == "" {
			continue
		}
		// A file that was deleted and not committed yet is still listed.
		if info, err := os.Lstat(filepath.Join(root, name)); err != nil || !info.Mode().IsRegular() {
			continue
		}
		t.Files = append(t.Files, name)
	}
	slices.Sort(t.Files)
	t.Files = slices.Compact(t.Files)
	return t, nil
}

func (t *Tree) read(name string) (string, error) {
	b, err := os.ReadFile(filepath.Join(t.Root, name))
	return string(b), err
}

// isFixture reports whether a file is the data of a test, or a copy of a file of
// somebody else.
func isFixture(name string) bool {
	return strings.Contains("/"+name, "/testdata/") || strings.HasPrefix(name, "web/dist/")
}

func isTest(name string) bool {
	return strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "test/") || isTestPackage(path.Dir(name))
}

// isTestPackage reports whether a package exists for tests only: a conformance
// suite beside its contract, or anything below test/.
func isTestPackage(dir string) bool {
	return strings.HasSuffix(dir, "test") || dir == "test" || strings.HasPrefix(dir, "test/")
}

// isGo reports whether a file is Go code that somebody wrote.
func isGo(name string) bool { return strings.HasSuffix(name, ".go") && !isFixture(name) }

// isGenerated reports whether the text says that a program wrote it, in the form
// Go's tools agree on.
func isGenerated(text string) bool {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "package ") {
			return false
		}
		if strings.HasPrefix(line, "// Code generated ") && strings.HasSuffix(strings.TrimSpace(line), " DO NOT EDIT.") {
			return true
		}
	}
	return false
}

// isBinary reports whether a file is not text.
func isBinary(text string) bool { return strings.ContainsRune(text[:min(len(text), 8000)], 0) }
