//go:build linux

package workspace_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// moveRecord is the file, below the root of a stage, that says what a move is
// about to write.
const moveRecord = "state/workspaces/*/move.json"

// unordered lists the scenarios whose writes are not in the right order, and
// why. A scenario that is listed and passes is an error.
var unordered = map[string]string{}

// order checks in which order the operation wrote: every object before the ref
// that needs it, and the record of a move before anything of the user's. What
// is not synced in between can be on the disk in another order.
func (r *run) order() {
	r.t.Helper()
	r.t.Run("order", func(t *testing.T) {
		bad := append(r.objectsFirst(), r.recordFirst()...)
		why, known := unordered[r.name]
		switch {
		case len(bad) > 0 && known:
			t.Logf("known: %s\n%s", why, strings.Join(bad, "\n"))
		case len(bad) > 0:
			t.Error(strings.Join(bad, "\n"))
		case known:
			t.Errorf("%s passes now: take it off the list of those that do not", r.name)
		}
	})
}

// objectsFirst returns which refs point to objects that are not synced. The stage
// is as the operation left it. A remote sees to its own disk.
func (r *run) objectsFirst() []string {
	var bad []string
	for _, ref := range r.rec.Refs() {
		if r.remote != "" && strings.HasPrefix(ref.Path, filepath.Base(r.remote)+"/") || !kept(ref.Path) {
			continue
		}
		of := filepath.Dir(ref.Path)
		if before, _, ok := strings.Cut(ref.Path, "/refs/"); ok {
			of = before
		}
		dir := filepath.Join(r.root, of)
		out, err := tryGit(r.root, "--git-dir="+dir, "rev-list", "--objects", "--no-object-names", ref.ID)
		if err != nil {
			bad = append(bad, fmt.Sprintf("%s: %v", ref.Path, err))
			continue
		}
		needed := map[string]bool{}
		for _, id := range strings.Fields(out) {
			needed[id] = true
		}
		if left := r.rec.Unsynced(ref.N, of, needed); len(left) > 0 {
			bad = append(bad, fmt.Sprintf("operation %d points %s to %.12s, of which %d files of objects are not synced, for instance %s", ref.N, ref.Path, ref.ID, len(left), left[0]))
		}
	}
	return slices.Compact(bad)
}

// kept reports whether a ref is in a repository that has to survive: the user's, or
// Coppice's own. A workspace's is copied into the latter when it is saved.
func kept(ref string) bool {
	return !strings.HasPrefix(ref, "state/") || strings.Contains(ref, "/repo.git/")
}

// recordFirst reports whether a move writes below a checkout before its record is
// on the disk.
func (r *run) recordFirst() []string {
	if r.kind != "move" {
		return nil
	}
	var dirs []string
	for dir := range r.before {
		dirs = append(dirs, strings.TrimPrefix(dir, r.root+"/"))
	}
	first, record := r.rec.FirstBelow(dirs...), r.rec.Durable(moveRecord)
	switch {
	case first == 0 || record > 0 && record < first:
		return nil
	case record == 0:
		return []string{fmt.Sprintf("there is no record %s, and operation %d is: %s", moveRecord, first, r.rec.Ops[first-1])}
	}
	return []string{fmt.Sprintf("the record is on the disk after operation %d, but operation %d is: %s", record, first, r.rec.Ops[first-1])}
}
