package workspace

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"coppice"
	"coppice/workspace/git"
	"coppice/workspace/gitfiles"
)

// maxStat is how many files a summary lists.
const maxStat = 50

// Stat returns how many lines changed in each file from one commit to another, in at
// most fifty lines and a sum, or "".
func (w *Workspaces) Stat(ctx context.Context, path, from, to string) (string, error) {
	if from == to || coppice.ValidHash(from) != nil || coppice.ValidHash(to) != nil {
		return "", nil
	}
	list, err := w.countLines(ctx, path, from, to)
	if err != nil || len(list) == 0 {
		return "", err
	}
	var b strings.Builder
	added, removed := 0, 0
	for i, n := range list {
		added, removed = added+n.Added, removed+n.Removed
		switch {
		case i > maxStat:
		case i == maxStat:
			fmt.Fprintf(&b, " and %d more\n", len(list)-maxStat)
		case n.Binary:
			fmt.Fprintf(&b, " %s | binary\n", shownPath(n.Path))
		default:
			fmt.Fprintf(&b, " %s | +%d -%d\n", shownPath(n.Path), n.Added, n.Removed)
		}
	}
	files := "files"
	if len(list) == 1 {
		files = "file"
	}
	fmt.Fprintf(&b, " %d %s changed, lines: +%d -%d", len(list), files, added, removed)
	return b.String(), nil
}

// DiffStart returns the first whole lines, in at most that many bytes, of what changed from one commit to another, or "".
func (w *Workspaces) DiffStart(ctx context.Context, path, from, to string, most int) (string, error) {
	if from == to || coppice.ValidHash(from) != nil || coppice.ValidHash(to) != nil {
		return "", nil
	}
	out, err := w.Git.Do(ctx, git.Call{Dir: path, Args: append(slices.Clone(diffArgs), "--patch", "--end-of-options", from, to, "--"), Limit: most})
	if err != nil {
		return "", fmt.Errorf("comparing %s with %s: %w", from, to, err)
	}
	if len(out) == most { // half a line could hide half a secret
		out = out[:strings.LastIndexByte(out, '\n')+1]
	}
	return strings.ToValidUTF8(out, "\uFFFD"), nil
}

// shownPath returns a path in one line of a summary, or its end.
func shownPath(path string) string {
	const most = 100
	if strings.ContainsFunc(path, func(c rune) bool { return !unicode.IsPrint(c) }) {
		path = strconv.Quote(path)
	}
	if len(path) > most {
		path = "..." + strings.ToValidUTF8(path[len(path)-most:], "")
	}
	return path
}

// countLines counts the lines of each file that changed.
func (w *Workspaces) countLines(ctx context.Context, path, from, to string) ([]gitfiles.LineCount, error) {
	if r, s, err := w.byPath(path); err == nil && w.Git.WritesPlainFiles(ctx, r.Root) {
		dir := s.inside(r).Git
		if list, err := w.Files(ctx, dir).Checkout(path, dir).CountLines(from, to); err == nil {
			return list, nil
		}
	}
	out, err := w.Git.Do(ctx, git.Call{Dir: path, Args: []string{"diff", "--numstat", "-z", "--no-ext-diff", "--no-textconv", "--no-color", from, to, "--"}})
	if err != nil {
		return nil, fmt.Errorf("comparing %s with %s: %w", from, to, err)
	}
	var list []gitfiles.LineCount
	for f := strings.Split(out, "\x00"); len(f) > 1; f = f[1:] {
		counts := strings.SplitN(f[0], "\t", 3)
		if len(counts) != 3 {
			return nil, fmt.Errorf("git prints %q as counts of lines", f[0])
		}
		n := gitfiles.LineCount{Path: counts[2], Binary: counts[0] == "-"}
		if n.Path == "" && len(f) > 3 { // the names of a renamed file follow
			n.Path = f[1] + " => " + f[2]
			f = f[2:]
		}
		n.Added, _ = strconv.Atoi(counts[0])
		n.Removed, _ = strconv.Atoi(counts[1])
		list = append(list, n)
	}
	return list, nil
}
