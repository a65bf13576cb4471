package forge

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"

	"coppice"
)

// blockedLine is a line such as "Blocked by #12, #13 and #14", in any emphasis, also in
// a list. taskLine is an entry of a task list that names an issue.
var (
	blockedLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^\s*(?:[-*+]\s+)?[*_]*blocked by[*_]*:?[*_]*\s+(#\d+(?:(?:\s*,\s*|\s+and\s+|\s*,\s*and\s+|\s+)#\d+)*)`)
	})
	taskLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*[-*+]\s+\[[ xX]\]\s+(#\d+)\b`) })
	number   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d+`) })
)

// References returns the numbers of the issues that a text in Markdown names: those
// that have to be closed first, and those of a task list. Blocks of code do not count.
func References(text string) (blockedBy, children []string) {
	fence := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if mark := strings.TrimLeft(line, " "); strings.HasPrefix(mark, "```") || strings.HasPrefix(mark, "~~~") {
			switch {
			case fence == "":
				fence = mark[:3]
			case strings.HasPrefix(mark, fence):
				fence = ""
			}
			continue
		}
		if fence != "" || strings.HasPrefix(line, ">") {
			continue
		}
		for pattern, list := range map[*regexp.Regexp]*[]string{blockedLine(): &blockedBy, taskLine(): &children} {
			if m := pattern.FindStringSubmatch(line); m != nil {
				for _, n := range number().FindAllString(m[1], -1) {
					if n = strings.TrimLeft(n, "0"); n != "" && !slices.Contains(*list, n) && len(*list) < coppice.MaxIssueLinks {
						*list = append(*list, n)
					}
				}
			}
		}
	}
	return blockedBy, children
}

// AddReferences adds the open issues that the text of an issue names. open reports
// whether an issue is open.
func AddReferences(ctx context.Context, r *coppice.IssueRead, children bool, open func(ctx context.Context, id string) (bool, error)) error {
	blockers, tasks := References(r.Text)
	if !children {
		tasks = nil
	}
	for list, ids := range map[*[]string][]string{&r.BlockedBy: blockers, &r.Children: tasks} {
		ids = slices.DeleteFunc(ids, func(id string) bool { return id == r.ID || slices.Contains(*list, id) })
		isOpen := make([]bool, len(ids))
		errs, err := parallel(ctx, len(ids), func(ctx context.Context, i int) (err error) {
			isOpen[i], err = open(ctx, ids[i])
			return err
		})
		if err != nil {
			return err
		}
		for i, id := range ids {
			if errs[i] != nil && coppice.ErrorCode(errs[i]) != coppice.ENotFound {
				return errs[i]
			}
			if isOpen[i] {
				*list = append(*list, id)
			}
		}
	}
	return nil
}
