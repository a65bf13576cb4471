//go:build linux

package e2e

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

// hangGuard ends a wait that would never end.
func hangGuard(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), 3*patience)
}

// partsCheck passes on a tree whose parts are all whole. It is in the
// repository, where an agent can change it, and outside, where none can.
const partsCheck = `set -e
for f in parts/*; do [ ! -e "$f" ] || [ "$(cat "$f")" = "ok ${f#parts/}" ] || { echo "$f is wrong: $(cat "$f")"; exit 1; }; done
[ "$(wc -l < shared)" -eq 1 ] || { echo "shared is broken"; exit 1; }
`

// list is a repository with a features file, and what judges it from outside.
type list struct {
	*world
	judge string // a shell script outside of the repository
}

// newList makes a repository with two commits: both hold the files, and the
// second one has changed the file shared.
func newList(t *testing.T, has files) *list {
	t.Helper()
	l := &list{world: bareWorld(t)}
	l.judge = filepath.Join(l.Root, "judge.sh")
	l.write(l.Root, files{"judge.sh": partsCheck})
	all := files{"README.md": "an app\n", "check.sh": partsCheck, "shared": "begun\n"}
	for name, text := range has {
		all[name] = strings.ReplaceAll(text, "JUDGE", l.judge)
	}
	l.repo = l.NewRepo("app", all)
	l.write(l.repo, files{"shared": "changed\n"})
	l.git("commit", "--quiet", "--all", "--message=Change what is shared")
	return l
}

// judgeBase walks the base from its newest commit to its oldest and runs the
// judge in each tree; each of the tasks must have landed once, and no other.
func (l *list) judgeBase(landed []string) {
	l.t.Helper()
	var got []string
	for line := range strings.SplitSeq(l.git("log", "--first-parent", "--format=%H %(trailers:key=Coppice-Task,valueonly,separator=%x20)", "main"), "\n") {
		commit, keys, _ := strings.Cut(line, " ")
		got = append(got, strings.Fields(keys)...)
		dir := l.t.TempDir()
		l.git("--work-tree="+dir, "restore", "--quiet", "--source="+commit, "--worktree", "--", ".")
		cmd := exec.Command("sh", l.judge)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			l.t.Errorf("the base at %s does not pass: %v\n%s", line, err, out)
		}
	}
	slices.Sort(got)
	landed = slices.Sorted(slices.Values(landed))
	if !slices.Equal(got, landed) {
		l.t.Errorf("landed are\n%v, not\n%v", got, landed)
	}
	if n := l.git("rev-list", "--count", "main"); n != fmt.Sprint(len(landed)+2) {
		l.t.Errorf("main has %s commits", n)
	}
	if got := l.git("status", "--porcelain"); strings.TrimSpace(got) != "M features.json" {
		l.t.Errorf("the checkout: %q", got)
	}
}

// byFeature returns the tasks of the features, by id; each has exactly one.
func (w *world) byFeature() map[string]api.Task {
	w.t.Helper()
	page, err := w.client.Tasks(w.t.Context(), client.TaskQuery{Limit: 500})
	if err != nil {
		w.t.Fatal(err)
	}
	all := map[string]api.Task{}
	for _, t := range page.Tasks {
		if other, twice := all[t.Feature]; twice {
			w.t.Errorf("feature %s has the tasks %s and %s", t.Feature, other.Key, t.Key)
		}
		all[t.Feature] = t
	}
	return all
}

// keys returns the keys of features' tasks.
func keysOf(tasks map[string]api.Task, ids ...string) []string {
	var keys []string
	for _, id := range ids {
		keys = append(keys, tasks[id].Key)
	}
	return keys
}

// checkClean stops the server and checks that only what is kept is left
// on purpose: branch and workspace of the tasks in kept, and idle worktrees.
func (w *world) checkClean(landed, kept []string) {
	w.t.Helper()
	w.allCleaned(landed)
	for _, key := range slices.Concat(landed, kept) {
		w.await(key, "the end of its verifiers' worktrees", func(d api.TaskDetail) bool {
			return !slices.ContainsFunc(d.History, func(s coppice.Session) bool { return s.Path != "" })
		})
	}
	places := map[string]string{}
	for _, key := range kept {
		if ws := w.task(key).Workspace; ws != nil && ws.RemovedAt.IsZero() {
			places[key] = ws.Path
		}
	}
	w.quiet(w.t)
	w.checkIdle(len(places))
	if code := w.Server().Stop(w.t); code != 0 {
		w.t.Errorf("the server ended with %d", code)
	}
	for _, p := range w.Processes() {
		w.t.Errorf("left running: %d %q", p.PID, p.Argv)
	}
	var branches []string
	for _, key := range slices.Sorted(slices.Values(kept)) {
		branches = append(branches, coppice.TaskBranch(key))
		if _, err := os.Stat(filepath.Join(places[key], ".git")); places[key] == "" || err != nil {
			w.t.Errorf("the workspace of %s is gone: %q %v", key, places[key], err)
		}
	}
	slices.Sort(branches)
	if got := strings.Fields(w.own("for-each-ref", "--format=%(refname:short)", "refs/heads/coppice")); !slices.Equal(got, branches) {
		w.t.Errorf("the branches left are %q, not %q", got, branches)
	}
	if got := w.own("for-each-ref", "--format=%(refname)", "refs/coppice/landing"); len(kept) == 0 && got != "" {
		w.t.Errorf("refs of landings are left:\n%s", got)
	}
	w.checkKept(places)
}

// checkKept checks that no directory, worktree or lock is left besides the
// kept workspaces.
func (w *world) checkKept(places map[string]string) {
	w.t.Helper()
	if left, _ := filepath.Glob(filepath.Join(w.State, "sessions", "*")); len(left) > 0 {
		w.t.Errorf("directories of sessions are left: %q", left)
	}
	for _, slot := range w.left() {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(places)), func(key string) bool { return strings.Contains(slot, `"key":"`+key+`"`) }) {
			w.t.Errorf("a worktree is not idle: %s", slot)
		}
	}
	w.checkRepository()
}
