package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"coppice"
	"coppice/internal/atomicfile"
	"coppice/workspace/git"
	"coppice/workspace/gitfiles"
	"coppice/workspace/repo"
)

// Save commits all uncommitted changes and untracked files in a workspace, except
// ignored files, files that Coppice provided, and excluded paths. It returns the
// head of the task's branch and whether there was something to commit. The author of
// the commit is by. No agent can run in the workspace, so Save removes locks of git.
//
// An agent may have left its branch. If its commits are on top of the branch, the
// branch follows; otherwise that is a Failure. Save commits a finished merge,
// cherry-pick or revert. A rebase in progress or a file with conflicts is a Failure
// of class implementation, which comes with the branch's head; then Save changes
// nothing.
func (w *Workspaces) Save(ctx context.Context, path, message string, by coppice.Identity, exclude []string) (head string, changed bool, err error) {
	r, s, err := w.byPath(path)
	if err != nil {
		return "", false, err
	}
	unlock, err := w.Locks.Wait(ctx, s.slotLock(r))
	if err != nil {
		return "", false, err
	}
	defer unlock()
	head, changed, err = w.save(ctx, r, s, note{message, by}, append(exclude, s.Given...))
	return head, changed, repo.Classify(err)
}

// note is the message of a commit, and its author.
type note struct {
	text string
	by   coppice.Identity
}

func (w *Workspaces) save(ctx context.Context, r repo.Repo, s slot, message note, exclude []string) (string, bool, error) {
	what, err := w.damage(ctx, r, s)
	if err != nil {
		return "", false, err
	}
	if what != "" {
		head, err := w.repair(ctx, r, s, what)
		if err != nil {
			return "", false, err
		}
		return head, false, damaged(what, repaired)
	}
	head, changed, err := w.commitAll(ctx, r, s, message, exclude)
	if err != nil {
		if kept, _, kerr := w.keepBranch(ctx, r, s, head, false); head != "" && kerr == nil {
			return kept, false, err
		}
		last, herr := w.ownHead(ctx, r, s)
		return last, false, errors.Join(err, herr)
	}
	return w.keepBranch(ctx, r, s, head, changed)
}

// keepBranch copies a workspace's branch into Coppice's own repository.
func (w *Workspaces) keepBranch(ctx context.Context, r repo.Repo, s slot, head string, changed bool) (string, bool, error) {
	own := "refs/heads/" + s.Branch
	refs, err := w.Refs(ctx, r.Own(), own)
	if err != nil {
		return "", false, err
	}
	if refs[own] != head {
		if err := w.Publish(ctx, r, filepath.Join(s.path(r), ".git")); err != nil {
			return "", false, err
		}
		missing, err := w.Complete(ctx, r, head, s.Base)
		if err != nil {
			return "", false, err
		}
		if missing != "" {
			what := "its branch names objects that do not exist: " + missing
			last, err := w.repair(ctx, r, s, what)
			return last, false, errors.Join(err, damaged(what, repaired))
		}
		if err := errors.Join(w.Step("published"), w.SetRef(ctx, r, own, head)); err != nil {
			return "", false, err
		}
	}
	return head, changed, w.showBase(ctx, r, s)
}

// showBase updates the base branch in a workspace, so that an agent can merge with
// it. It does nothing if the agent has it checked out.
func (w *Workspaces) showBase(ctx context.Context, r repo.Repo, s slot) error {
	if s.Onto == "" {
		return nil
	}
	base := "refs/heads/" + s.Onto
	now, err := w.Refs(ctx, r.Users(), base)
	if err != nil || now[base] == "" {
		return err
	}
	shown, err := w.Refs(ctx, s.inside(r), base)
	if err != nil || shown[base] == now[base] {
		return err
	}
	if on, _, err := w.Head(ctx, s.path(r)); err != nil || on == base {
		return err
	}
	file := filepath.Join(s.path(r), ".git", filepath.FromSlash(base))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return atomicfile.Write(file, []byte(now[base]+"\n"), 0o644)
}

// commitAll commits all changes in a workspace, and moves its branch to its HEAD.
func (w *Workspaces) commitAll(ctx context.Context, r repo.Repo, s slot, message note, exclude []string) (string, bool, error) {
	path := s.path(r)
	dir := filepath.Join(path, ".git")
	if err := w.UnlockStale(ctx, path); err != nil {
		return "", false, err
	}
	rules := w.excludeRules(ctx, r, exclude)
	files := w.Files(ctx, dir).Checkout(path, dir)
	usual := !repo.InProgress(dir) && files.CheckIndex() == nil // conflicts must not be staged
	if usual && w.Git.WritesPlainFiles(ctx, r.Root) && files.AddAll(rules) == nil {
		if head, changed, err := w.commitFiles(ctx, r, s, message, exclude); err == nil {
			return head, changed, nil
		}
	}
	file, err := excludeFile(r, rules)
	if err != nil {
		return "", false, err
	}
	defer os.Remove(file)
	config := []string{"core.excludesFile=" + file, "advice.addEmbeddedRepo=false"}
	if usual {
		if _, err := w.Git.Do(ctx, stageAll(path, config)); err == nil {
			if head, changed, err := w.commitFiles(ctx, r, s, message, exclude); err == nil {
				return head, changed, nil
			}
		}
	}
	status, err := w.Git.Do(ctx, git.Call{Dir: path, Config: config,
		Args: []string{"status", "--porcelain=v2", "-z", "--untracked-files=all", "--ignore-submodules=none", "--no-renames"}})
	if err != nil {
		return "", false, unstageable(err)
	}
	if err := savable(dir, status); err != nil {
		own := "refs/heads/" + s.Branch
		refs, rerr := w.Refs(ctx, s.inside(r), own)
		if rerr != nil {
			return "", false, errors.Join(err, rerr)
		}
		return refs[own], false, err
	}
	if err := w.rejoin(ctx, r, s, path, false); err != nil {
		return "", false, err
	}
	changed := repo.Exists(filepath.Join(dir, "MERGE_HEAD"))
	if unsaved(status, exclude) {
		if _, err := w.Git.Do(ctx, stageAll(path, config)); err != nil {
			return "", false, unstageable(err)
		}
		if err := w.nested(ctx, path); err != nil {
			return "", false, err
		}
		staged := plainly(status, exclude)
		if !staged {
			if staged, err = w.staged(ctx, path, exclude); err != nil {
				return "", false, err
			}
		}
		changed = changed || staged
	}
	if changed {
		if _, _, err := w.commitFiles(ctx, r, s, message, nil); err != nil {
			if err := w.commitStaged(ctx, r, path, message); err != nil {
				return "", false, unstageable(err)
			}
		}
	}
	if err := w.rejoin(ctx, r, s, path, true); err != nil {
		return "", false, err
	}
	head, err := w.headOf(ctx, path)
	return head, changed, err
}

// nested refuses a repository within a workspace that is staged like a submodule: its
// files would not be in the commit.
func (w *Workspaces) nested(ctx context.Context, path string) error {
	out, err := w.Git.Run(ctx, path, "diff-index", "--cached", "--raw", "--no-renames", "--no-abbrev", "--diff-filter=AT", "-z", "HEAD", "--")
	if err != nil {
		return unstageable(err)
	}
	for _, c := range repo.RawDiff(out) {
		if c.NewMode != gitfiles.ModeModule {
			continue
		}
		known, _ := w.Git.Do(ctx, git.Call{Dir: path, OK: []int{1}, Args: []string{"config", "--file", ".gitmodules", "--no-includes", "--get-regexp", `^submodule\..*\.path$`}})
		if !hasSuffixLine(known, " "+c.Path) {
			_, _ = w.Git.Run(ctx, path, "reset", "--quiet", "--", c.Path)
			return damaged(fmt.Sprintf("%s is a separate git repository, so its files cannot be committed", coppice.Quote(c.Path)),
				fmt.Sprintf("remove %s/.git to keep its files, or remove the directory", c.Path))
		}
	}
	return nil
}

func hasSuffixLine(text, suffix string) bool {
	for line := range strings.Lines(text) {
		if strings.HasSuffix(strings.TrimSuffix(line, "\n"), suffix) {
			return true
		}
	}
	return false
}

// stageAll stages everything in a workspace except ignored files.
func stageAll(path string, config []string) git.Call {
	return git.Call{Dir: path, Config: config, Args: []string{"add", "--all", "--", "."}}
}

// commitFiles commits what is staged without a git process, except paths that are
// excluded. After an error git has to do it.
func (w *Workspaces) commitFiles(ctx context.Context, r repo.Repo, s slot, message note, exclude []string) (head string, changed bool, err error) {
	path, dir := s.path(r), s.inside(r).Git
	if repo.InProgress(dir) {
		return "", false, gitfiles.ErrUseGit
	}
	by := func() (gitfiles.Signature, error) { return w.Signature(ctx, r, message.by) }
	return w.Files(ctx, dir).Checkout(path, dir).Commit(s.Branch, message.text, by, func(p string) bool { return repo.Within(p, exclude) })
}

func (w *Workspaces) commitStaged(ctx context.Context, r repo.Repo, path string, message note) error {
	by, err := w.Signature(ctx, r, message.by)
	if err != nil {
		return err
	}
	by.Date = "" // git's own
	c := git.Call{Dir: path, Env: repo.SignatureEnv(by, by), Stdin: []byte(message.text), Args: []string{"commit", "--quiet", "--no-verify", "--no-gpg-sign", "--allow-empty", "--allow-empty-message", "--cleanup=verbatim", "--file=-"}}
	_, err = w.Git.Do(ctx, c)
	return err
}

// unsaved reports whether git status lists anything that can be committed: anything
// except untracked files that are excluded.
func unsaved(status string, exclude []string) bool {
	for e := range strings.SplitSeq(status, "\x00") {
		p, untracked := strings.CutPrefix(e, "? ")
		if e != "" && (!untracked || !repo.Within(strings.TrimSuffix(p, "/"), exclude)) {
			return true
		}
	}
	return false
}

// plainly reports whether git status shows that a commit of everything differs from
// HEAD and has nothing excluded. False means nothing.
func plainly(status string, exclude []string) bool {
	some := false
	for e := range strings.SplitSeq(status, "\x00") {
		if e == "" {
			continue
		}
		kind, rest, _ := strings.Cut(e, " ")
		name := rest
		switch f := strings.SplitN(rest, " ", 8); {
		case kind == "?":
			some = true
		case kind == "1" && len(f) == 8:
			name = f[7]
			some = some || f[0][1] == 'D' || f[0][0] != '.' && f[0][1] == '.'
		default:
			return false
		}
		if repo.Within(strings.TrimSuffix(name, "/"), exclude) {
			return false
		}
	}
	return some
}

// savable refuses a state in which a commit would do damage. The status is that of
// git.
func savable(admin, status string) error {
	if repo.Exists(filepath.Join(admin, "rebase-merge")) || repo.Exists(filepath.Join(admin, "rebase-apply")) {
		return coppice.Failf(coppice.ClassImplementation, "the workspace was left in the middle of a rebase", "finish it with `git rebase --continue`, or undo it with `git rebase --abort`")
	}
	var names []string
	for e := range strings.SplitSeq(status, "\x00") {
		if f := strings.SplitN(e, " ", 11); f[0] == "u" && len(f) == 11 {
			names = append(names, f[10])
		}
	}
	if len(names) > 0 {
		return coppice.Failf(coppice.ClassImplementation, fmt.Sprintf("the workspace was left with unresolved conflicts in %s", repo.Listed(names)),
			"resolve them and commit")
	}
	return nil
}

// rejoin moves HEAD and the task's branch to the same commit again. Before the
// changes are committed, it only detaches HEAD from another branch, so that this
// branch does not get them. Afterwards it moves the task's branch.
func (w *Workspaces) rejoin(ctx context.Context, r repo.Repo, s slot, path string, committed bool) error {
	own := "refs/heads/" + s.Branch
	on, head, err := w.Head(ctx, path)
	if err != nil {
		return err
	}
	if on == own && head != "" {
		return nil
	}
	if head == "" {
		if on == own {
			// The agent deleted its branch. Only its base is known.
			_, err = w.Git.Run(ctx, path, "update-ref", own, s.Base)
			return err
		}
		return coppice.Failf(coppice.ClassImplementation, "the workspace was left on a branch without a commit", "go back with `git checkout "+s.Branch+"`")
	}
	if !committed {
		if on == "" {
			return nil
		}
		_, err = w.Git.Run(ctx, path, "update-ref", "--no-deref", "HEAD", head)
		return err
	}
	refs, err := w.Refs(ctx, s.inside(r), own)
	if err != nil {
		return err
	}
	tip := refs[own]
	if tip == "" {
		tip = s.Base
	}
	if ahead, err := w.IsAncestorIn(ctx, s.inside(r), tip, head); err != nil {
		return err
	} else if ahead {
		if _, err := w.Git.Run(ctx, path, "update-ref", own, head); err != nil {
			return err
		}
		_, err = w.Git.Run(ctx, path, "symbolic-ref", "HEAD", own)
		return err
	}
	if behind, err := w.IsAncestorIn(ctx, s.inside(r), head, tip); err != nil {
		return err
	} else if behind {
		_, err = w.Git.Run(ctx, path, "checkout", "--quiet", s.Branch, "--")
		return err
	}
	return coppice.Failf(coppice.ClassImplementation,
		fmt.Sprintf("the workspace was left at %.12s, which does not continue its branch %s", head, s.Branch),
		fmt.Sprintf("move the commits to %s, for example with `git checkout %s && git merge %.12s`", s.Branch, s.Branch, head))
}

// excludeRules returns ignore rules for paths that are never committed, after the
// person's own rules.
func (w *Workspaces) excludeRules(ctx context.Context, r repo.Repo, paths []string) string {
	var b strings.Builder
	if list, err := w.Git.Settings(ctx, r.Root); err == nil {
		for _, s := range list {
			if s.Key == "core.excludesfile" && s.Scope == "global" {
				if own, err := os.ReadFile(s.Value); err == nil {
					b.Write(own)
					b.WriteByte('\n')
				}
			}
		}
	}
	for _, p := range paths {
		b.WriteByte('/')
		for _, c := range strings.TrimSuffix(p, "/") {
			if strings.ContainsRune(`\*?[! #`, c) {
				b.WriteByte('\\')
			}
			b.WriteRune(c)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// excludeFile writes ignore rules to a temporary file.
func excludeFile(r repo.Repo, rules string) (string, error) {
	if err := os.MkdirAll(r.Tmp(), 0o700); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(r.Tmp(), "exclude-*")
	if err != nil {
		return "", err
	}
	defer f.Close()
	_, err = f.WriteString(rules)
	return f.Name(), err
}

// staged reports whether the index has something to commit. First it removes paths
// from the index that must not be committed: a .gitignore that un-ignores them is
// stronger than Coppice's rules.
func (w *Workspaces) staged(ctx context.Context, path string, exclude []string) (bool, error) {
	out, err := w.Git.Run(ctx, path, "diff-index", "--cached", "--name-status", "--no-renames", "-z", "HEAD", "--")
	if err != nil || out == "" {
		return false, err
	}
	some := false
	var drop strings.Builder
	f := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	for i := 0; i+1 < len(f); i += 2 {
		if f[i] == "A" && repo.Within(f[i+1], exclude) {
			drop.WriteString("0 0000000000000000000000000000000000000000\t" + f[i+1] + "\x00")
		} else {
			some = true
		}
	}
	if drop.Len() == 0 {
		return some, nil
	}
	_, err = w.Git.Do(ctx, git.Call{Dir: path, Args: []string{"update-index", "-z", "--index-info"}, Stdin: []byte(drop.String())})
	return some, err
}

// Author returns the variables with which git commits in a workspace as by. Without
// it, that is the person that the repository configures, or Coppice if it configures
// none.
func (w *Workspaces) Author(ctx context.Context, path string, by coppice.Identity) (map[string]string, error) {
	r, _, err := w.byPath(path)
	if err != nil {
		return nil, err
	}
	who, err := w.Signature(ctx, r, by)
	if err != nil {
		return nil, err
	}
	return map[string]string{
		"GIT_AUTHOR_NAME": who.Name, "GIT_AUTHOR_EMAIL": who.Email,
		"GIT_COMMITTER_NAME": who.Name, "GIT_COMMITTER_EMAIL": who.Email,
	}, nil
}
