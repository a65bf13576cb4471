package landing

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"coppice"
	"coppice/internal/glob"
	"coppice/workspace/git"
	"coppice/workspace/repo"
)

// ruleFor returns which rule asks for a person's review of the change between two
// trees, in words. It is empty if none does.
func (ls *Landings) ruleFor(ctx context.Context, r repo.Repo, ask coppice.LandAsk, from, to string) (string, error) {
	if len(ask.Paths) > 0 {
		changes, err := ls.Changes(ctx, r.Git, from, to)
		if err != nil {
			return "", err
		}
		var touched []string
		for _, c := range changes {
			if glob.Matches(c.Path, ask.Paths) {
				touched = append(touched, c.Path)
			}
		}
		if n := len(touched); n > 0 {
			text := "it changes " + touched[0]
			if n > 1 {
				text += fmt.Sprintf(" and %d more", n-1)
			}
			return text + " (land.ask.paths)", nil
		}
	}
	if ask.Lines == 0 {
		return "", nil
	}
	n, err := ls.changedLines(ctx, r, from, to)
	if err != nil || n <= ask.Lines {
		return "", err
	}
	return fmt.Sprintf("it changes %d lines (land.ask.lines is %d)", n, ask.Lines), nil
}

// changedLines counts the lines that were added or removed between two trees.
// Binary files have none.
func (ls *Landings) changedLines(ctx context.Context, r repo.Repo, from, to string) (int, error) {
	out, err := ls.Git.Do(ctx, git.Call{Dir: r.Git, Args: []string{"diff-tree", "-r", "--numstat", "--find-renames", "--end-of-options", from, to}})
	if err != nil {
		return 0, err
	}
	total := 0
	for line := range strings.Lines(out) {
		for i, field := range strings.Fields(line) {
			if n, err := strconv.Atoi(field); err == nil && i < 2 {
				total += n
			}
		}
	}
	return total, nil
}
