package review

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"coppice/api"
)

// hunks adds the hunks to the files of a review that can have them: to the one
// that is requested, or to as many as fit into a response.
func (r *Reviews) hunks(ctx context.Context, c change, files []api.ReviewFile, part api.ReviewPart) error {
	var chosen []int
	var paths []string
	lines := 0
	for i, f := range files {
		if f.Binary || f.Large {
			continue
		}
		n := f.Added + f.Removed
		if part.FilesOnly || part.Path != "" && part.Path != f.Path || part.Path == "" && (lines+n > mostLines || len(chosen) == mostFiles) {
			files[i].LeftOut = true
			continue
		}
		lines += n
		chosen, paths = append(chosen, i), append(paths, f.Path)
		if f.OldPath != "" {
			paths = append(paths, f.OldPath)
		}
	}
	if len(chosen) == 0 {
		return nil
	}
	patch, err := r.spaces.Patch(ctx, c.repo, c.Base, c.Head, paths...)
	if err != nil {
		return err
	}
	byPath := patches(patch)
	for _, i := range chosen {
		f := &files[i]
		if f.Hunks, err = parseHunks(byPath[f.Path]); err != nil {
			return fmt.Errorf("reading the change of %s: %w", f.Path, err)
		}
	}
	return nil
}

// patches splits a patch by file. Lines of a file's content never start with the
// first word of a file's header.
func patches(patch string) map[string]string {
	byPath := map[string]string{}
	for _, text := range strings.Split("\n"+patch, "\ndiff --git ")[1:] {
		if path := patchPath(text); path != "" {
			byPath[path] += text
		}
	}
	return byPath
}

// patchPath returns the path of a file's patch: the new one, or the old one of a
// removed file. A patch without hunks has none.
func patchPath(text string) string {
	var old, now string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "--- "):
			old = unquote(line[4:], "a/")
		case strings.HasPrefix(line, "+++ "):
			now = unquote(line[4:], "b/")
		case strings.HasPrefix(line, "@@ "):
			if now == "" {
				return old
			}
			return now
		}
	}
	return ""
}

// unquote reads a path as git writes it in a header: with a prefix, quoted if it
// has unusual characters, and with a tab after it if it has a blank. It returns
// "" for a file that does not exist.
func unquote(s, prefix string) string {
	s = strings.TrimSuffix(s, "\t")
	if strings.HasPrefix(s, `"`) {
		if plain, err := strconv.Unquote(s); err == nil {
			s = plain
		}
	}
	path, ok := strings.CutPrefix(s, prefix)
	if !ok {
		return ""
	}
	return path
}

var hunkRE = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$`)
})

// parseHunks reads the hunks of a file's patch.
func parseHunks(patch string) ([]api.Hunk, error) {
	var hunks []api.Hunk
	var old, now int
	for line := range strings.Lines(patch) {
		line = strings.TrimSuffix(line, "\n")
		if m := hunkRE().FindStringSubmatch(line); m != nil {
			var err error
			if old, err = strconv.Atoi(m[1]); err == nil {
				now, err = strconv.Atoi(m[2])
			}
			if err != nil {
				return nil, err
			}
			hunks = append(hunks, api.Hunk{Old: old, New: now, Section: m[3], Lines: []api.DiffLine{}})
			continue
		}
		if len(hunks) == 0 || line == "" {
			continue
		}
		h := &hunks[len(hunks)-1]
		l := api.DiffLine{Text: line[1:]}
		switch line[0] {
		case ' ':
			l.Kind, l.Old, l.New = api.LineSame, old, now
			old, now = old+1, now+1
		case '+':
			l.Kind, l.New = api.LineAdded, now
			now++
		case '-':
			l.Kind, l.Old = api.LineRemoved, old
			old++
		case '\\':
			h.Lines[len(h.Lines)-1].NoEnd = true
			continue
		default:
			continue
		}
		h.Lines = append(h.Lines, l)
	}
	return hunks, nil
}
