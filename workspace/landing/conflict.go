package landing

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"coppice"
	"coppice/workspace/git"
	"coppice/workspace/repo"
)

// Limits of the text about conflicts.
const (
	maxConflict  = 64 << 10  // of one file
	maxConflicts = 512 << 10 // of all
)

// merged is the result of git merge-tree.
type merged struct {
	tree       string
	conflicted bool
	files      []string            // paths with more than one version
	texts      map[string][]string // git's messages, by path
}

func (ls *Landings) mergeTree(ctx context.Context, r repo.Repo, ours, theirs string) (merged, error) {
	if tree, err := ls.Files(ctx, r.Git).Merge(ours, theirs); err == nil {
		return merged{tree: tree}, nil
	}
	out, exit, err := ls.Git.Status(ctx, git.Call{Dir: r.Root, Env: r.WithUserFiles(), OK: []int{1},
		Args: []string{"merge-tree", "--write-tree", "-z", "--messages", "--allow-unrelated-histories", ours, theirs}})
	if err != nil {
		return merged{}, err
	}
	f := strings.Split(out, "\x00")
	m := merged{tree: f[0], conflicted: exit == 1, texts: map[string][]string{}}
	if !m.conflicted {
		return m, nil
	}
	i := 1
	for ; i < len(f) && f[i] != ""; i++ {
		if _, p, ok := strings.Cut(f[i], "\t"); ok && !slices.Contains(m.files, p) {
			m.files = append(m.files, p)
		}
	}
	// Messages: a count of paths, the paths, the kind, the text.
	for i++; i < len(f); {
		n := 0
		for _, c := range f[i] {
			n = n*10 + int(c-'0')
		}
		if f[i] == "" || i+n+2 >= len(f) {
			break
		}
		paths, kind, text := f[i+1:i+1+n], f[i+1+n], strings.TrimSpace(f[i+2+n])
		if strings.HasPrefix(kind, "CONFLICT") || strings.HasPrefix(text, "CONFLICT") {
			for _, p := range paths {
				m.texts[p] = append(m.texts[p], text)
				if !slices.Contains(m.files, p) {
					m.files = append(m.files, p)
				}
			}
		}
		i += n + 3
	}
	return m, nil
}

// conflicts describes the files that do not merge, by their hunks or by git's
// message.
func (ls *Landings) conflicts(ctx context.Context, r repo.Repo, m merged, name, base, head string) ([]coppice.Conflict, error) {
	var list []coppice.Conflict
	left := maxConflicts
	slices.Sort(m.files)
	label := strings.NewReplacer("<<<<<<< "+base, "<<<<<<< "+name, ">>>>>>> "+head, ">>>>>>> the candidate")
	words := strings.NewReplacer(base, name, head, "the candidate")
	for _, p := range m.files {
		text := ""
		out, err := ls.Git.Do(ctx, git.Call{Dir: r.Git, Args: []string{"cat-file", "blob", m.tree + ":" + p}, Limit: 8 << 20})
		if err == nil && utf8.ValidString(out) && !strings.ContainsRune(out, 0) {
			text = label.Replace(hunks(out))
		} else if ctx.Err() != nil {
			return nil, err
		}
		if text == "" {
			text = words.Replace(strings.Join(m.texts[p], "\n"))
		}
		if text == "" {
			text = "both sides changed it in ways that cannot be combined"
		}
		text = cutAt(text, min(maxConflict, left))
		left -= len(text)
		list = append(list, coppice.Conflict{Path: strings.ToValidUTF8(p, "\uFFFD"), Text: text})
	}
	return list, nil
}

func cutAt(s string, most int) string {
	const note = "\n[... the rest is left out ...]\n"
	if len(s) <= most {
		return s
	}
	if most <= len(note) {
		return ""
	}
	return strings.ToValidUTF8(s[:most-len(note)], "") + note
}

// hunks returns the conflicting parts of a merged file, each with three lines of
// context.
func hunks(file string) string {
	lines := strings.SplitAfter(file, "\n")
	keep := make([]bool, len(lines))
	open := -1
	for i, l := range lines {
		switch {
		case strings.HasPrefix(l, "<<<<<<< ") && open < 0:
			open = i
		case strings.HasPrefix(l, ">>>>>>> ") && open >= 0:
			for j := max(0, open-3); j <= min(len(lines)-1, i+3); j++ {
				keep[j] = true
			}
			open = -1
		}
	}
	var b strings.Builder
	last := -1
	for i, l := range lines {
		if !keep[i] {
			continue
		}
		if last >= 0 && last != i-1 {
			b.WriteString("[...]\n")
		}
		b.WriteString(l)
		last = i
	}
	return b.String()
}
