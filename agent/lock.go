package agent

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"coppice"
	"coppice/lock"
)

// A Locker is a Driver that judges edits by the locks of its project. A driver
// that embeds an Asker is one. A driver of an agent that never asks is not.
type Locker interface {
	// SetLocks replaces the driver's copy of the lock table. Before its first
	// call, where locks are enforced, the driver refuses every edit. now is only
	// used in texts: how long a lock is still held.
	SetLocks(t coppice.LockTable, now func() time.Time)
}

// MustAsk reports whether the agent must ask before it uses a tool: the rules
// can do anything other than allow, or locks are enforced.
func (r Request) MustAsk() bool {
	return Restricts(r.Permissions) || coppice.EnforcesLocks(r.Locks)
}

// locks is an Asker's copy of the lock table.
type locks struct {
	session string // key
	mode    string // of the session, until a table has another
	table   coppice.LockTable
	now     func() time.Time // nil until there is a table
}

// SetLocks implements Locker.
func (a *Asker) SetLocks(t coppice.LockTable, now func() time.Time) {
	t.Mode = cmp.Or(t.Mode, a.locks.mode)
	a.locks.table, a.locks.now = t, now
}

const noTable = "locks are enforced in this project, and this session has not received the table of locks yet; try again in a few seconds, or work on something else"

// judge applies the locks to a call that the rules, or a person, allow.
func (l *locks) judge(v Verdict, c Call) Verdict {
	if !v.Allowed() || !coppice.EnforcesLocks(l.mode) {
		return v
	}
	why := ""
	switch {
	case l.now != nil:
		why = Locked(l.table, l.session, c, l.now())
	case len(edits(c)) > 0:
		why = noTable
	}
	if why == "" {
		return v
	}
	return Verdict{Do: coppice.RuleDeny, Why: Text(why)}
}

// mostNamed limits the locks in one refusal.
const mostNamed = 3

// Locked judges a call by the locks of a project. It returns why the call is
// refused, or an empty text.
//
// In mode enforce, a call is refused if it edits a file that another session
// holds. In mode required, it is also refused if it edits a file that the
// session does not hold itself. Calls that only read are never refused.
func Locked(t coppice.LockTable, session string, c Call, now time.Time) string {
	if !coppice.EnforcesLocks(t.Mode) {
		return ""
	}
	var taken, missing []string
	for _, name := range edits(c) {
		i := slices.IndexFunc(t.Held, func(h coppice.HeldLock) bool { return h.Session != session && lock.Conflicts(name, h.Name) })
		held := func(h coppice.HeldLock) bool { return h.Session == session && covers(h.Name, name) }
		switch {
		case i >= 0:
			taken = append(taken, describe(name, t.Held[i], now))
		case t.Mode == coppice.LocksRequired && !slices.ContainsFunc(t.Held, held):
			missing = append(missing, shown(name))
		}
	}
	switch {
	case len(taken) > 0:
		return few(taken, "; ") + ". Wait for the lock with lock_files, or work on something else."
	case len(missing) > 0:
		return "this session does not hold a lock of " + few(missing, ", ") + ". Acquire it with lock_files first, or work on something else."
	}
	return ""
}

// few joins the first texts.
func few(all []string, sep string) string {
	text := strings.Join(all[:min(len(all), mostNamed)], sep)
	if n := len(all) - mostNamed; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// describe says who holds what, why, and for how long.
func describe(name string, h coppice.HeldLock, now time.Time) string {
	text := shown(h.Name) + " is locked by task " + h.Task + " (session " + h.Session + ")"
	switch {
	case name == wholeTree:
		text = "this can change any file, and " + text
	case name != h.Name:
		text = "this changes " + shown(name) + ", and " + text
	}
	if h.Reason != "" {
		text += ", reason: " + oneLine(h.Reason)
	}
	if left := h.Expires.Sub(now).Round(time.Second); left > 0 {
		return text + ", time left: " + left.String()
	}
	return text + ", which has expired and is about to be released"
}

// shown returns a name of a lock for people.
func shown(name string) string {
	if name == wholeTree {
		return "the whole repository"
	}
	if dir, tree := strings.CutPrefix(name, lock.TreePrefix); tree {
		name = dir + "/"
	}
	return oneLine(name)
}

// edits returns the names of what a call changes in the repository. A call that
// edits something unknown changes everything.
func edits(c Call) []string {
	switch {
	case c.Kind == coppice.ToolRun && c.Command != "":
		return changes(c.Dir, cmp.Or(c.Cwd, c.Dir), c.Command)
	case c.Kind == coppice.ToolEdit && len(c.Paths) == 0:
		return []string{wholeTree}
	case c.Kind != coppice.ToolEdit:
		return nil
	}
	var all []string
	for _, p := range c.Paths {
		if !path.IsAbs(p) {
			p = path.Join(cmp.Or(c.Cwd, c.Dir), p)
		}
		if name, ok := lockName(c.Dir, p); ok && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// lockName returns the name of a path in the repository at root. It reports
// false for a path outside, and for git's own files.
func lockName(root, p string) (string, bool) {
	root, p = path.Clean(root), path.Clean(p)
	if p == root || strings.HasPrefix(root, strings.TrimSuffix(p, "/")+"/") {
		return wholeTree, true
	}
	rel, ok := strings.CutPrefix(p, strings.TrimSuffix(root, "/")+"/")
	if !ok || rel == ".git" || strings.HasPrefix(rel, ".git/") {
		return "", false
	}
	return rel, true
}

// wholeTree is the name of everything in the repository.
const wholeTree = lock.TreePrefix + "."

// globChars are the special characters of globs.
const globChars = "*?["

// covers reports whether a held lock contains everything that a name stands for.
func covers(held, name string) bool {
	if held == name || held == wholeTree {
		return true
	}
	isGlob := func(s string) bool { return strings.ContainsAny(s, "*?{") && !strings.HasPrefix(s, lock.TreePrefix) }
	dir, n := strings.TrimPrefix(held, lock.TreePrefix), strings.TrimPrefix(name, lock.TreePrefix)
	switch {
	case name == wholeTree:
		return false
	case isGlob(held):
		return n == name && !isGlob(name) && lock.Conflicts(held, name)
	case isGlob(name):
		n = cutLast(n[:strings.IndexAny(n, "*?{")])
	}
	return n == dir || strings.HasPrefix(n, dir+"/") // a directory without a slash means what is in it, too
}
