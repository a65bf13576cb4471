package landing

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"coppice/internal/atomicfile"
	"coppice/workspace/git"
	"coppice/workspace/repo"
)

// Each landing leaves some objects as files in the person's repository, and git
// packs them only when the person uses it. So Coppice packs the objects that it
// landed, and no others. Each pack has the objects of a run of landings. Runs are
// joined so that there are few packs.

// PackAfter is the number of landings after which their objects are packed.
const PackAfter = 100

// landedRun is a run of landings whose objects are in one pack.
type landedRun struct {
	Branch string `json:"branch"`
	From   string `json:"from"`
	To     string `json:"to"`
	Pack   string `json:"pack,omitempty"` // the name of the pack; empty while the objects are files
	Count  int    `json:"count"`          // landings
}

func runsFile(r repo.Repo) string { return filepath.Join(r.Dir, "landed.json") }

func readRuns(r repo.Repo) []landedRun {
	var runs []landedRun
	b, err := os.ReadFile(runsFile(r))
	if err == nil && json.Unmarshal(b, &runs) != nil {
		runs = nil // without it, less is packed
	}
	return runs
}

// landed counts a landing, and packs what landed after PackAfter of them. The caller
// holds the lock of moves. Errors are only logged, because the landing is done.
func (ls *Landings) landed(ctx context.Context, r repo.Repo, branch, from, to string) {
	runs := readRuns(r)
	if n := len(runs); n > 0 && runs[n-1].Pack == "" && runs[n-1].Branch == branch && runs[n-1].To == from {
		runs[n-1].To = to
		runs[n-1].Count++
	} else {
		if n > 0 && runs[n-1].Pack == "" {
			runs = runs[:n-1] // commits of the person are in between, and their git packs those
		}
		runs = append(runs, landedRun{Branch: branch, From: from, To: to, Count: 1})
	}
	var err error
	if runs[len(runs)-1].Count >= PackAfter {
		runs, err = ls.packRuns(ctx, r, runs)
	}
	if err = errors.Join(err, atomicfile.WriteJSON(runsFile(r), runs)); err != nil {
		ls.Log.WarnContext(ctx, "packing what landed failed", "repository", r.Root, "error", err)
	}
}

// packRuns packs the last run, together with the runs before it up to its size.
func (ls *Landings) packRuns(ctx context.Context, r repo.Repo, runs []landedRun) ([]landedRun, error) {
	last := len(runs) - 1
	whole := runs[last]
	first := last
	for first > 0 && runs[first-1].Count <= whole.Count && runs[first-1].To == whole.From && runs[first-1].Branch == whole.Branch {
		first--
		whole.From, whole.Count = runs[first].From, whole.Count+runs[first].Count
	}
	dir := filepath.Join(r.User, "objects", "pack")
	mode, err := ls.Shared(ctx, r)
	if err == nil {
		err = mode.Mkdir(dir)
	}
	if err != nil {
		return runs, err
	}
	out, err := ls.Git.Do(ctx, git.Call{Dir: r.Root, Config: []string{"core.fsync=committed"}, Stdin: []byte(whole.To + "\n^" + whole.From + "\n"),
		Args: []string{"pack-objects", "--quiet", "--revs", "--delta-base-offset", filepath.Join(dir, "pack")}})
	if err != nil {
		return runs, err
	}
	whole.Pack = "pack-" + strings.TrimSpace(out)
	for _, old := range runs[first:last] {
		if old.Pack == whole.Pack {
			continue
		}
		for _, kind := range []string{".idx", ".rev", ".pack"} { // git does not use a pack without its index
			if err := os.Remove(filepath.Join(dir, old.Pack+kind)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return runs, err
			}
		}
	}
	_, err = ls.Git.Run(ctx, r.Root, "prune-packed", "--quiet")
	return append(slices.Clone(runs[:first]), whole), err
}
