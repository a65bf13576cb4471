package gitfiles

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// Limits of files whose lines are counted. Git is faster with more.
const (
	maxCounted      = 100
	maxCountedBytes = 64 << 10
	maxEdits        = 200 // with more than 256, git no longer looks for the shortest list of edits
)

// LineCount says how many lines of a file changed.
type LineCount struct {
	Path           string
	Added, Removed int
	Binary         bool // it has no lines
}

// CountLines counts the lines that differ between two commits, as git diff --numstat
// does, in the order of the paths. It does not find renamed files, so it leaves
// commits with new and removed files to git. The caller makes sure that no setting
// says which files have lines.
func (c *Checkout) CountLines(from, to string) ([]LineCount, error) {
	files, err := c.entries()
	if err != nil {
		return nil, err
	}
	changes, err := c.repo.Diff(from, to)
	if err != nil {
		return nil, err
	}
	added := slices.ContainsFunc(changes, func(ch Change) bool { return ch.OldMode == "" })
	removed := slices.ContainsFunc(changes, func(ch Change) bool { return ch.NewMode == "" })
	attributes := slices.ContainsFunc(files, func(f indexEntry) bool { return path.Base(f.path) == ".gitattributes" })
	if len(changes) > maxCounted || added && removed || attributes || exists(c.repo.path("info/attributes")) {
		return nil, ErrUseGit
	}
	list := make([]LineCount, len(changes))
	for i, ch := range changes {
		if list[i], err = c.repo.countLines(ch); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (r *Repo) countLines(ch Change) (LineCount, error) {
	n := LineCount{Path: ch.Path}
	var text [2][]byte
	for i, side := range []struct{ mode, id string }{{ch.OldMode, ch.Old}, {ch.NewMode, ch.New}} {
		if side.mode == "" {
			continue
		}
		data, err := r.read("blob", side.id)
		if err != nil || len(data) > maxCountedBytes || side.mode == ModeModule {
			return n, ErrUseGit
		}
		const looked = 8000 // bytes, as git does
		n.Binary = n.Binary || slices.Contains(data[:min(len(data), looked)], 0)
		text[i] = data
	}
	switch {
	case ch.OldMode == ModeLink != (ch.NewMode == ModeLink) && ch.OldMode != "" && ch.NewMode != "":
		return n, ErrUseGit // git shows a removed and a new file
	case n.Binary:
		n.Binary = !bytes.Equal(text[0], text[1])
		return n, nil
	}
	var err error
	n.Added, n.Removed, err = countEdits(linesOf(text[0]), linesOf(text[1]))
	return n, err
}

// linesOf splits a text after each line break.
func linesOf(text []byte) []string {
	return slices.Collect(strings.Lines(string(text)))
}

// countEdits counts the lines to add and to remove to get from a to b. It leaves
// texts to git for which git does not look for the shortest list of edits.
func countEdits(a, b []string) (added, removed int, err error) {
	all := [2][]string{a, b}
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a) == 0 || len(b) == 0 {
		return len(b), len(a), nil
	}
	if isFrequent(a, all[1]) || isFrequent(b, all[0]) {
		return 0, 0, ErrUseGit
	}
	edits := shortestEdit(a, b)
	if edits < 0 {
		return 0, 0, ErrUseGit
	}
	return (edits + len(b) - len(a)) / 2, (edits - len(b) + len(a)) / 2, nil
}

// isFrequent reports whether the other text has a line so often that git might not
// compare it.
func isFrequent(lines, other []string) bool {
	limit := 1 // about the square root, as git calculates it
	for n := len(lines); n > 0; n >>= 2 {
		limit <<= 1
	}
	count := map[string]int{}
	for _, l := range other {
		count[l]++
	}
	return slices.ContainsFunc(lines, func(l string) bool { return count[l] >= limit })
}

// shortestEdit returns the least number of lines to add and remove to get from a to
// b, by the algorithm of Myers, or -1 if it is more than maxEdits.
func shortestEdit(a, b []string) int {
	far := make([]int, 2*maxEdits+3) // how far in a each diagonal got
	at := func(k int) *int { return &far[k+maxEdits+1] }
	for d := range maxEdits + 1 {
		for k := -d; k <= d; k += 2 {
			x := 0
			switch {
			case d == 0:
			case k == -d || k != d && *at(k - 1) < *at(k + 1):
				x = *at(k + 1)
			default:
				x = *at(k - 1) + 1
			}
			for x < len(a) && x-k >= 0 && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			*at(k) = x
			if x >= len(a) && x-k >= len(b) {
				return d
			}
		}
	}
	return -1
}
