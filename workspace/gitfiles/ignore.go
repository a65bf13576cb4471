package gitfiles

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// maxIgnore limits a file of ignore rules.
const maxIgnore = 64 << 10

// rule is one line of an ignore file.
type rule struct {
	pattern  string // for path.Match
	negated  bool
	dirOnly  bool
	anchored bool // it applies to the path below the file's directory, otherwise to the last name
}

// ruleSet is the rules of one file. They apply below a directory, which is "." for
// the whole checkout.
type ruleSet struct {
	dir   string
	rules []rule
}

// parseRules reads the rules of an ignore file. It returns ErrUseGit for forms that
// path.Match does not match as git does.
func parseRules(dir, text string) (ruleSet, error) {
	set := ruleSet{dir: dir}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		if strings.ContainsAny(line, "\\[?\r\ufeff\x00") || strings.Contains(line, "**") || strings.HasSuffix(line, " ") {
			return set, ErrUseGit
		}
		var r rule
		line, r.negated = strings.CutPrefix(line, "!")
		line, r.dirOnly = strings.CutSuffix(line, "/")
		r.anchored = strings.Contains(line, "/")
		if r.pattern = strings.TrimPrefix(line, "/"); r.pattern == "" || strings.HasPrefix(r.pattern, "/") || strings.HasSuffix(r.pattern, "/") {
			return set, ErrUseGit
		}
		set.rules = append(set.rules, r)
	}
	return set, nil
}

// decide returns whether the rules ignore a path, and whether one of them matches it.
func (s ruleSet) decide(name string, isDir bool) (ignored, decided bool) {
	below := name
	if s.dir != "." {
		below = strings.TrimPrefix(name, s.dir+"/")
	}
	for _, r := range slices.Backward(s.rules) { // the last one counts
		subject := below
		if !r.anchored {
			subject = path.Base(name)
		}
		if matches, err := path.Match(r.pattern, subject); err == nil && matches && (isDir || !r.dirOnly) {
			return !r.negated, true
		}
	}
	return false, false
}

// isIgnored reports whether rules ignore a path. Later sets count more.
func isIgnored(sets []ruleSet, name string, isDir bool) bool {
	for _, s := range slices.Backward(sets) {
		if ignored, decided := s.decide(name, isDir); decided {
			return ignored
		}
	}
	return false
}

// readRules adds the rules of a file, if it exists, to those of the directories above.
func readRules(sets []ruleSet, dir, file string) ([]ruleSet, error) {
	text, err := ReadRegular(file, maxIgnore)
	if errors.Is(err, fs.ErrNotExist) {
		return sets, nil
	}
	if err != nil {
		return nil, ErrUseGit
	}
	set, err := parseRules(dir, string(text))
	return append(slices.Clone(sets), set), err
}

// ignoreFile returns the ignore file of a directory of the checkout.
func (c *Checkout) ignoreFile(dir string) string {
	return filepath.Join(c.dir, filepath.FromSlash(dir), ".gitignore")
}
