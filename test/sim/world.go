package sim

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sort"
	"strings"

	"coppice"
)

// world is everything outside the engine: repositories, workspaces, hosts and
// agents, as small as they can be while every effect of a work item is real and
// can be done twice, half, or never.
type world struct {
	repos    map[string]*repo                 // by path
	commits  map[string]commit                // every commit ever made
	spaces   map[string]*workspace            // by task key
	branches map[string]string                // the branch of each task, by its key
	branchOf map[string]string                // and the other way
	hosts    map[string]*hostState            // by session key
	landed   map[string][]string              // commits that moved the base, by task key
	rounds   map[string]int                   // how often a person continued a task that was done
	talks    map[string]*hostState            // who had a conversation first
	looks    map[string]*look                 // verifiers' worktrees, by session key
	heads    map[string]string                // merged commit → candidate
	reverts  map[string]string                // commit that reverts a landing → the commit of that landing
	passed   map[string]bool                  // candidates that a verifier passed
	kept     map[string][]coppice.StrayBranch // stray branches, by the ref of the trash that keeps them
	removals int                              // how many workspaces were removed
	dropped  []flowBranch                     // branches of flows that were removed

	flowTrash map[string]coppice.BranchResult // what was kept of them, by the ref of the trash

	answered map[string]bool // questions whose answer a session had
	verdicts map[string]bool // tree and command → passed, for what was really run
	broken   string          // the first promise that was broken
	suspect  map[string]bool // commits that an agent put on a base, until a person agrees
	redness  int             // one tree in so many is refused by a check
	salt     string
}

type repo struct {
	base    string // commit
	remote  string // where its base is elsewhere; empty when nothing is pushed
	block   int    // of blocks: how the checkout that has the base is in the way
	edits   int    // how often it came to be so while work landed
	checks  []string
	history []string
	flows   map[string]*flowBranch // by name
	forge   bool                   // work lands by pull requests
}

// commit is a tree and where it came from. The tree is a map from file to the
// version that was last written to it.
type commit struct {
	id     string
	parent string
	other  string // the second parent of a merge
	tree   map[string]string
	task   string
}

type workspace struct {
	repo    string
	onto    string // the branch it lands on
	from    string // the commit of the base it is merged up to
	head    string
	removed bool
	strays  []coppice.StrayBranch // that agents created beside the task's branch
	ref     string                // of its last trash
}

// hostState is one session's host and agent.
type hostState struct {
	repo   string
	task   string
	role   coppice.Role
	phase  string // running, ended, lost
	from   string
	result coppice.RunResult
	asked  string            // the question it waits on, "" for none
	sent   map[string]string // what it was sent, by the message's id
	spool  spooled
	agent  string
	screen bool // a person sits before it
	loose  bool // it has an answer for which the engine got a failure
	used   coppice.Usage

	call *toolCall // of a tool for work, nil for none

	complained bool // it reported an error before it succeeded
}

func newWorld(salt string, redness int) *world {
	return &world{
		branches: map[string]string{}, branchOf: map[string]string{},
		repos: map[string]*repo{}, commits: map[string]commit{}, spaces: map[string]*workspace{}, hosts: map[string]*hostState{},
		landed: map[string][]string{}, rounds: map[string]int{}, talks: map[string]*hostState{}, verdicts: map[string]bool{},
		looks: map[string]*look{}, heads: map[string]string{}, reverts: map[string]string{}, kept: map[string][]coppice.StrayBranch{}, passed: map[string]bool{}, answered: map[string]bool{}, suspect: map[string]bool{}, flowTrash: map[string]coppice.BranchResult{}, redness: redness, salt: salt,
	}
}

func (w *world) breakf(format string, args ...any) {
	if w.broken == "" {
		w.broken = fmt.Sprintf(format, args...)
	}
}

func treeID(tree map[string]string) string {
	files := make([]string, 0, len(tree))
	for f := range tree {
		files = append(files, f)
	}
	sort.Strings(files)
	var b strings.Builder
	for _, f := range files {
		b.WriteString(f + "=" + tree[f] + ";")
	}
	return digest("tree", b.String())
}

func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:20])
}

// add makes a commit; the same content and parent make the same commit.
func (w *world) add(parent string, tree map[string]string, task, note string) string {
	id := digest("commit", parent, treeID(tree), task, note)
	w.commits[id] = commit{id: id, parent: parent, tree: tree, task: task}
	return id
}

func (w *world) tree(id string) map[string]string { return w.commits[id].tree }

func clone(m map[string]string) map[string]string {
	c := make(map[string]string, len(m)+1)
	for k, v := range m {
		c[k] = v
	}
	return c
}

// prepare makes the task's workspace, or finds it.
func (w *world) prepare(s coppice.PrepareSpec) coppice.PrepareResult {
	if s.Detached {
		return w.prepareLook(s)
	}
	w.onBranch(s.Key, s.Branch)
	ws := w.spaces[s.Key]
	if ws == nil || ws.removed {
		base := *w.ref(s.Repo, s.Base)
		ws = &workspace{repo: s.Repo, onto: s.Base, from: base, head: base}
		if s.From != "" {
			ws.from, ws.head = w.forked(s.Repo, s.From)
		}
		w.spaces[s.Key] = ws
	}
	return coppice.PrepareResult{Path: "/w/" + s.Key, BaseCommit: ws.from, Head: ws.head}
}

// forked returns the commit of a branch or commit, and where it left the base.
func (w *world) forked(path, from string) (base, head string) {
	if r := w.repos[path]; r.forge && w.commits[from].id != "" {
		return w.common(r.base, from), from
	}
	ws, f := w.spaces[w.branchOf[from]], w.repos[path].flows[from]
	if f != nil && (ws == nil || ws.removed) {
		return f.start, f.tip
	}
	if ws != nil {
		return ws.from, ws.head
	}
	for _, ws := range w.spaces {
		if ws.head == from {
			return ws.from, ws.head
		}
	}
	if _, there := w.commits[from]; there {
		return from, from // where the base was
	}
	w.breakf("there is no %s to begin from", from)
	return "", ""
}

func (w *world) remove(s coppice.RemoveSpec) coppice.RemoveResult {
	if ofSession(s.Key) {
		return w.removeLook(s)
	}
	w.onBranch(s.Key, s.Branch)
	ws := w.spaces[s.Key]
	if ws == nil {
		return coppice.RemoveResult{} // it was never made
	}
	for key, h := range w.hosts {
		if h.task == s.Key && h.phase == "running" {
			w.breakf("the workspace of %s was removed under the running session %s", s.Key, key)
		}
	}
	return w.trash(s.Key, ws)
}

func (w *world) restore(s coppice.RestoreSpec) coppice.PrepareResult {
	w.onBranch(s.Key, s.Branch)
	ws := w.spaces[s.Key]
	ws.removed = false
	w.restoreStrays(ws, s.Ref)
	if ws.head != s.Head {
		w.breakf("%s was brought back at %s, it was removed at %s", s.Key, s.Head, ws.head)
	}
	return coppice.PrepareResult{Path: "/w/" + s.Key, BaseCommit: ws.from, Head: s.Head}
}

// merge brings the candidate onto the base, file by file.
func (w *world) merge(s coppice.MergeSpec) coppice.MergeResult {
	base := s.Onto
	if base == "" {
		base = *w.ref(s.Repo, s.Base)
	}
	if s.Onto == "" && w.repos[s.Repo].flows[s.Base] == nil && w.suspects(s.Seen, base) {
		return coppice.MergeResult{Base: base, Need: &coppice.Need{Kind: coppice.NeedBase, Text: "the base moved", From: s.Seen, To: base}}
	}
	if s.Reverts != "" {
		return w.revert(s, base)
	}
	head := w.commits[s.Head]
	head.task = strings.Split(s.Ref, "/")[3] // a fork may begin with another task's commits
	from, ok := w.startOf(s, head.task)
	if w.repos[s.Repo].forge {
		from, ok = w.common(base, s.Head), true
	}
	if !ok {
		w.breakf("a candidate of %s has no workspace", head.task)
		return coppice.MergeResult{Base: base, Empty: true, Tree: treeID(w.tree(base))}
	}
	old, now, merged := w.tree(from), w.tree(base), clone(w.tree(base))
	res := coppice.MergeResult{Base: base}
	files := make([]string, 0, len(head.tree))
	for f := range head.tree {
		files = append(files, f)
	}
	sort.Strings(files)
	for _, f := range files {
		mine := head.tree[f]
		switch {
		case mine == old[f] || mine == now[f]:
		case now[f] != old[f]:
			res.Conflicts = append(res.Conflicts, coppice.Conflict{Path: f, Text: "both changed it"})
		default:
			merged[f] = mine
		}
	}
	if len(res.Conflicts) > 0 {
		return res
	}
	res.Tree = treeID(merged)
	if res.Tree == treeID(now) {
		res.Empty = true
		return res
	}
	res.Commit = w.add(base, merged, head.task, s.At.String())
	w.heads[res.Commit] = s.Head
	res.Review = ruleFor(s.Ask, now, merged)
	return res
}

// check runs the commands on a tree. Its verdict depends on the tree alone. The
// file "red" names the command that fails wherever it is, and "missing" the one that
// nobody has.
func (w *world) check(s coppice.CheckSpec) coppice.CheckResult {
	if got := treeID(w.tree(s.Commit)); got != s.Tree {
		w.breakf("check of tree %s ran on commit %s, whose tree is %s", s.Tree, s.Commit, got)
	}
	res := coppice.CheckResult{Env: "sim"}
	if s.Base != "" {
		res.BaseTree = treeID(w.tree(s.Base))
	}
	for _, c := range s.Commands {
		exit := w.exit(s.Commit, c)
		w.verdicts[s.Tree+"\x00"+c] = exit == 0
		res.Checks = append(res.Checks, coppice.Check{Command: c, Exit: exit})
	}
	return res
}

func (w *world) passes(tree, command string) bool {
	sum := sha256.Sum256([]byte(w.salt + tree + command))
	return w.redness == 0 || int(sum[0])%w.redness != 0
}

// exit returns the exit code of a command on a commit.
func (w *world) exit(commit, command string) int {
	files := w.tree(commit)
	switch {
	case files["missing"] == command:
		return 127
	case files["red"] == command || !w.passes(treeID(files), command):
		return 1
	}
	return 0
}

// within reports whether a commit is part of another one's past.
func (w *world) within(commit, of string) bool {
	for at := of; at != ""; at = w.commits[at].parent {
		if at == commit {
			return true
		}
	}
	return false
}

// move moves the base by compare-and-swap, and holds the engine to its word: only
// to what may land, once a task, and never ahead of the remote.
func (w *world) move(s coppice.MoveSpec, checks []string, verified bool) coppice.MoveResult {
	if s.Back {
		return w.moveBack(s)
	}
	r, at := w.repos[s.Repo], w.ref(s.Repo, s.Base)
	isBase := at == &r.base // otherwise it is the branch of a flow, which nobody has checked out or pushes
	if w.within(s.New, *at) {
		w.lands(s.New) // by a person, who merged it from the remote
		return coppice.MoveResult{Moved: true, Now: *at}
	}
	if *at != s.Old {
		return coppice.MoveResult{Now: *at}
	}
	if isBase && r.block != 0 {
		res := blocks[r.block]
		res.Now = r.base
		return res
	}
	if s.Pushed != (isBase && r.remote != "") || s.Pushed && !w.within(s.New, r.remote) {
		w.breakf("%s moved to %s, the remote is at %s, and the move says pushed=%t", s.Base, s.New, r.remote, s.Pushed)
	}
	if !s.Pushed {
		w.proven(s.New, checks, verified)
	}
	if isBase && !s.Pushed {
		w.agreed(s.New)
	}
	*at = s.New
	r.history = append(r.history, s.New)
	w.lands(s.New)
	return coppice.MoveResult{Moved: true, Now: s.New}
}

// lands takes note of a commit that is on the base, once.
func (w *world) lands(id string) {
	if of := w.reverts[id]; of != "" {
		w.takesOff(of)
		return
	}
	task := w.commits[id].task
	if slices.Contains(w.landed[task], id) {
		return
	}
	w.landed[task] = append(w.landed[task], id)
	if n := len(w.landed[task]); n > 1+w.rounds[task] {
		w.breakf("%s landed %d times", task, n)
	}
}

// proven holds the engine to its word before anybody else sees a commit: its tree
// has passed the checks, and it has the verdict that its task wants.
func (w *world) proven(id string, checks []string, verified bool) {
	c := w.commits[id]
	for _, command := range checks {
		if !w.verdicts[treeID(c.tree)+"\x00"+command] {
			w.breakf("%s lands for %s, whose tree never passed %q", id, c.task, command)
		}
	}
	if !verified {
		w.breakf("%s lands for %s, which no verifier passed", id, c.task)
	}
}

// agreed checks that a person agreed to everything below a commit that lands on the
// base.
func (w *world) agreed(id string) {
	if w.suspects("", id) {
		w.breakf("%s lands for %s, which is built upon a commit that nobody agreed to", id, w.commits[id].task)
	}
}

// run starts a session's host unless it is there. It returns its result when
// it has ended.
func (w *world) run(s coppice.RunSpec) *coppice.RunResult {
	h := w.hosts[s.Session.Key]
	if h == nil {
		ws := w.spaces[s.Task]
		if s.Session.Role.Detached() && s.Session.Role != coppice.RoleVerify || s.Checkout {
			ws = &workspace{} // it has none
		}
		if f := w.repos[s.Repo].flows[coppice.TaskBranch(s.Task)]; ws == nil && f != nil && s.Session.Role == coppice.RoleVerify {
			ws = &workspace{from: w.repos[s.Repo].base, head: f.tip} // a flow lands its branch without one
		}
		if ws == nil || ws.removed && !s.Session.Role.Detached() { // a stop that was undone does not restore it for a verifier
			w.breakf("%s was started without a workspace", s.Session.Key)
			return &coppice.RunResult{Lost: true}
		}
		for key, o := range w.hosts {
			if o.task == s.Task && o.phase == "running" {
				w.breakf("%s was started while %s ran in the same workspace", s.Session.Key, key)
			}
		}
		from := ws.head
		switch {
		case s.Session.Role.Detached():
			from = w.looker(s)
		case s.Session.Role == coppice.RoleCheckout:
			from = w.enterCheckout(s)
		}
		if o := w.talks[s.Session.Resume]; s.Session.Resume != "" && (o == nil || o.role.Detached() || o.task != s.Task && !s.Session.Fork || o.agent != s.Session.Agent) {
			w.breakf("%s continues %s, which is not a conversation of its task and agent", s.Session.Key, s.Session.Resume)
		}
		start := ws.from
		if s.Session.Role.Detached() {
			start = from
		}
		if l := w.landed[s.Task]; len(l) > 0 && !w.within(l[len(l)-1], start) {
			w.breakf("%s continues from before its task landed", s.Session.Key)
		}
		w.hosts[s.Session.Key] = &hostState{
			repo: s.Repo, task: s.Task, role: s.Session.Role, phase: "running", from: from, sent: map[string]string{}, screen: s.Session.Screen,
			agent: s.Session.Agent,
		}
		return nil
	}
	switch h.phase {
	case "ended":
		return &h.result
	case "lost":
		return &coppice.RunResult{Lost: true, From: h.from, Head: w.head(h)}
	}
	return nil
}

// end ends a running host.
func (w *world) end(h *hostState, res coppice.RunResult) {
	h.phase = "ended"
	h.result = res
	if res.Conversation != "" {
		w.talks[res.Conversation] = h
	}
	h.result.From, h.result.Head = h.from, w.head(h)
	h.result.Strays = w.leaveStray(h)
	h.result.Memory = int64(10 * (len(w.commits) % 5)) // of 100, and sometimes unknown
}

// head returns the commit of a session's work. Only a session in a workspace does
// any.
func (w *world) head(h *hostState) string {
	if !h.role.Lands() {
		return h.from
	}
	return w.spaces[h.task].head
}

// write lets the agent change a file, and commit.
func (w *world) write(h *hostState, file, version string) {
	ws := w.spaces[h.task]
	tree := clone(w.tree(ws.head))
	tree[file] = version
	ws.head = w.add(ws.head, tree, h.task, "")
}

// mergeBase lets the agent take the base in, its own side winning.
func (w *world) mergeBase(h *hostState) {
	ws := w.spaces[h.task]
	base := *w.ref(ws.repo, ws.onto)
	tree := clone(w.tree(base))
	old := w.tree(ws.from)
	for f, v := range w.tree(ws.head) {
		if v != old[f] {
			tree[f] = v + "+" + tree[f]
		}
	}
	ws.head = w.add(ws.head, tree, h.task, "merge "+base)
	w.follows(ws.head, base)
	ws.from = base
}
