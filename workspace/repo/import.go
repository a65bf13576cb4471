package repo

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// importRefs copies the refs that an earlier version left, with their objects, into
// a repository that is being created.
func (rs *Repos) importRefs(ctx context.Context, r Repo, made string) (refs map[string]string, err error) {
	out, err := rs.Git.Run(ctx, r.Root, "for-each-ref", "--format=%(refname) %(objectname)", "refs/coppice/", "refs/heads/coppice/")
	if err != nil {
		return nil, err
	}
	refs = map[string]string{}
	for line := range strings.Lines(out) {
		if name, id, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name != KeepRef {
			refs[name] = id
		}
	}
	if len(refs) == 0 {
		return nil, nil
	}
	theirs, _, err := rs.RefsBelow(ctx, r.Users(), ShownRefs...)
	if err != nil {
		return nil, err
	}
	var revs, packed strings.Builder
	packed.WriteString("# pack-refs with: sorted \n")
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		revs.WriteString(refs[name] + "\n")
		fmt.Fprintf(&packed, "%s %s\n", refs[name], name)
	}
	for name, id := range theirs {
		if _, ours := refs[name]; !ours {
			revs.WriteString("^" + id + "\n")
		}
	}
	if err := rs.CopyObjects(ctx, r, r.Root, made, revs.String()); err != nil {
		return nil, err
	}
	return refs, WriteFiles(made, map[string]string{"packed-refs": packed.String()})
}

// dropImported removes the imported refs from the person's repository, except
// branches of workspaces that are still worktrees, and the worktrees that nobody
// uses.
func (rs *Repos) dropImported(ctx context.Context, r Repo, refs map[string]string) error {
	used := map[string]bool{}
	list, err := rs.Worktrees(ctx, r)
	if err != nil {
		return err
	}
	for _, t := range list {
		if filepath.Dir(t.Path) != r.Dir {
			used[t.Branch] = true // the person has it checked out
			continue
		}
		if branch, inUse := rs.BranchAt(t.Path); inUse {
			used["refs/heads/"+branch] = true
		} else if t.Git != "" {
			if err := os.RemoveAll(t.Git); err != nil {
				return err
			}
		}
	}
	var lines []string
	for name, id := range refs {
		if !used[name] {
			lines = append(lines, "delete "+name+" "+id)
		}
	}
	return rs.UpdateRefs(ctx, r.Users(), "moved to Coppice's own repository", lines...)
}
