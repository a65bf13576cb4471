package repo

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Origin says where the current state of some files of a checkout comes from.
type Origin struct {
	Edited bool   // they differ from the commit that is checked out
	Branch string // that is checked out; "" if none is
	Commit string // the last one that changed them; "" if none did
	Task   string // that the commit landed, by its trailer; "" for other commits
}

// OriginOf returns where files of the checkout at root come from. A folder stands for
// its committed files. For edited files it
// returns nothing else. It does not use the index, which is not up to date while a
// landing moves the checkout.
func (rs *Repos) OriginOf(ctx context.Context, root string, files []string) (o Origin, err error) {
	if o.Edited, err = rs.edited(ctx, root, files); err != nil || o.Edited {
		return o, err
	}
	on, err := rs.Git.Run(ctx, root, "rev-parse", "--symbolic-full-name", "HEAD")
	if err != nil {
		return o, err
	}
	o.Branch, _ = strings.CutPrefix(on, "refs/heads/")
	if o.Branch == on {
		o.Branch = ""
	}
	out, err := rs.Git.Run(ctx, root, append([]string{"log", "-1", "--no-patch", "--first-parent", "--diff-merges=first-parent",
		"--format=%H %(trailers:key=Coppice-Task,valueonly,separator=%x20)", "--"}, files...)...)
	o.Commit, o.Task, _ = strings.Cut(strings.TrimSpace(out), " ")
	return o, err
}

// edited reports whether files of a checkout differ from the commit that is
// checked out.
func (rs *Repos) edited(ctx context.Context, root string, files []string) (bool, error) {
	out, err := rs.Git.Run(ctx, root, append([]string{"ls-tree", "-r", "-z", "HEAD", "--"}, files...)...)
	if err != nil {
		return false, err
	}
	committed := map[string]string{}
	for line := range strings.SplitSeq(out, "\x00") {
		facts, name, _ := strings.Cut(line, "\t")
		if f := strings.Fields(facts); len(f) == 3 {
			committed[name] = f[2]
		}
	}
	for name := range committed { // a file of a named folder might be missing now
		if !slices.Contains(files, name) {
			files = append(slices.Clip(files), name)
		}
	}
	for _, name := range files {
		now := ""
		if info, err := os.Stat(filepath.Join(root, filepath.FromSlash(name))); err == nil {
			if info.IsDir() {
				continue // its files are listed
			}
			if now, err = rs.Git.Run(ctx, root, "hash-object", "--", name); err != nil {
				return false, err
			}
		}
		if now != committed[name] {
			return true, nil
		}
	}
	return false, nil
}
