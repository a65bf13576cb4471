//go:build linux

package workspace_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"coppice"
)

// wrong is one thing that is not as it has to be after a cut. Its kind is what
// failures are counted by.
type wrong struct{ kind, text string }

func wrongf(kind, format string, args ...any) wrong { return wrong{kind, fmt.Sprintf(format, args...)} }

// view is what the user sees of a checkout.
type view struct {
	head   string
	branch string
	status []string // of each file that is not as HEAD has it
	files  map[string]string
}

func lookAt(dir string) (view, error) {
	var v view
	out, err := tryGit(dir, "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all")
	if err != nil {
		return v, err
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		switch {
		case strings.HasPrefix(line, "# branch.oid "):
			v.head = strings.TrimPrefix(line, "# branch.oid ")
		case strings.HasPrefix(line, "# branch.head "):
			v.branch = strings.TrimPrefix(line, "# branch.head ")
		case line != "" && !strings.HasPrefix(line, "# "):
			v.status = append(v.status, line)
		}
	}
	slices.Sort(v.status)
	v.files, err = readContents(dir)
	return v, err
}

// pathOf returns the path of a line of git status.
func pathOf(line string) string {
	if p, ok := strings.CutPrefix(line, "? "); ok {
		return p
	}
	f := strings.SplitN(line, " ", 9)
	return f[len(f)-1]
}

// intact checks what holds after every operation, however it ended: the
// repository is complete and nobody's lock is left.
func (s *stage) intact() []wrong {
	var bad []wrong
	if out, err := tryGit(s.repo, "fsck", "--strict", "--no-dangling", "--no-progress"); err != nil || out != "" {
		bad = append(bad, wrongf("fsck", "%s %v", out, err))
	}
	err := filepath.WalkDir(filepath.Join(s.repo, ".git"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(d.Name(), ".lock") {
			bad = append(bad, wrongf("lock left", "%s", strings.TrimPrefix(path, s.repo+"/")))
		}
		return err
	})
	if err != nil {
		bad = append(bad, wrongf("error", "%v", err))
	}
	return bad
}

// base checks where the base is.
func (s *stage) base(want string) []wrong {
	got, err := tryGit(s.repo, "rev-parse", "refs/heads/main")
	if err != nil || got != want {
		return []wrong{wrongf("base", "the base is at %.12s, want %.12s: %v", got, want, err)}
	}
	if s.remote == "" || want != s.new {
		return nil
	}
	if got, err := tryGit(s.remote, "rev-parse", "refs/heads/main"); err != nil || got != want {
		return []wrong{wrongf("base", "the remote is at %.12s, want %.12s: %v", got, want, err)}
	}
	return nil
}

// sees checks that each of the user's checkouts shows what the user had, with
// the landing or without it. The paths in edited are the user's since the cut,
// with the contents given there.
func (s *stage) sees(moved bool, edited map[string]string) []wrong {
	var bad []wrong
	for dir, before := range s.before {
		now, err := lookAt(dir)
		if err != nil {
			bad = append(bad, wrongf("status", "%v", err))
			continue
		}
		follows := moved && slices.Contains(s.trees, dir)
		head, files := before.head, maps.Clone(before.files)
		if follows {
			head = s.new
			files = s.afterLanding(before)
		}
		if dir == s.repo {
			// A file cannot be where the user has a directory now, nor below a
			// file of the user's.
			maps.DeleteFunc(files, func(p, _ string) bool { return clashes(p, edited) })
			maps.Copy(files, edited)
		}
		if now.head != head || now.branch != before.branch {
			bad = append(bad, wrongf("status", "HEAD of %s is %s at %.12s, want %s at %.12s", dir, now.branch, now.head, before.branch, head))
		}
		isEdited := func(line string) bool {
			_, ok := edited[pathOf(line)]
			return dir == s.repo && (ok || clashes(pathOf(line), edited))
		}
		for _, line := range now.status {
			if isEdited(line) && strings.HasPrefix(line, "1 ") && !strings.HasPrefix(line, "1 .") {
				bad = append(bad, wrongf("status", "what the user changed is staged: %s", line))
			}
		}
		own := slices.DeleteFunc(slices.Clone(now.status), isEdited)
		if want := slices.DeleteFunc(slices.Clone(before.status), isEdited); !slices.Equal(own, want) {
			bad = append(bad, wrongf("status", "git status of %s has %d lines, want %d: %s", filepath.Base(dir), len(own), len(want), few(cmp.Diff(want, own))))
		}
		if d := cmp.Diff(files, now.files); d != "" {
			bad = append(bad, wrongf("files", "the files of %s (- expected, + found): %s", filepath.Base(dir), few(d)))
		}
	}
	return bad
}

// afterLanding returns the files of a checkout that followed: those of the
// commit, and what the user has besides.
func (s *stage) afterLanding(before view) map[string]string {
	files := maps.Clone(s.landed)
	for _, line := range before.status {
		p := pathOf(line)
		if text, ok := before.files[p]; ok {
			files[p] = text
		} else {
			delete(files, p)
		}
	}
	for p, text := range before.files { // what git ignores is in no status
		if strings.HasSuffix(p, ".log") || filepath.Base(p) == ".env" {
			files[p] = text
		}
	}
	return files
}

// few shortens a long difference.
func few(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	lines = slices.DeleteFunc(lines, func(l string) bool { return !strings.HasPrefix(l, "+") && !strings.HasPrefix(l, "-") })
	if len(lines) > 6 {
		lines = append(lines[:6], fmt.Sprintf("and %d more", len(lines)-6))
	}
	return strings.Join(lines, "; ")
}

// checkMove checks a move that no file of the user blocks.
func (s *stage) checkMove(res any, err error) []wrong {
	if err != nil {
		return append(s.intact(), wrongf("error", "%v", err))
	}
	r := asMove(res)
	if !r.Moved {
		return append(s.intact(), wrongf("blocked", "%s", r.Blocked))
	}
	bad := slices.Concat(s.intact(), s.base(s.new), s.sees(true, nil))
	if r.Now != s.new {
		bad = append(bad, wrongf("base", "the answer is %.12s", r.Now))
	}
	return bad
}

// checkPush checks that a push moved the remote alone, and that the landing then
// lands here.
func (s *stage) checkPush(res any, err error) []wrong {
	bad := s.untouched()
	if err != nil {
		return append(bad, wrongf("error", "%v", err))
	}
	var r coppice.PushResult
	if b, err := json.Marshal(res); err != nil || json.Unmarshal(b, &r) != nil || !r.Pushed {
		return append(bad, wrongf("error", "the answer is %v", res))
	}
	if at, err := tryGit(s.remote, "rev-parse", "refs/heads/main"); err != nil || at != s.new {
		bad = append(bad, wrongf("base", "the remote is at %.12s, want %.12s: %v", at, s.new, err))
	}
	w, err := openAt(s.root)
	if err != nil {
		return append(bad, wrongf("error", "%v", err))
	}
	moved, err := w.Move(s.t.Context(), coppice.MoveSpec{Repo: s.repo, Base: "main", Old: s.old, New: s.new, Pushed: true, Ref: landingRef})
	return append(bad, s.checkMove(moved, err)...)
}

// asMove returns a result that may come from another process.
func asMove(res any) coppice.MoveResult {
	b, err := json.Marshal(res)
	var r coppice.MoveResult
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err != nil {
		panic(err)
	}
	return r
}

// checkEdited checks a move after the user changed a file that it touches. The
// file is the user's whatever the answer is. When the move waits, it lands as
// soon as the user has put the file back.
func (s *stage) checkEdited(path, text string, res any, err error) []wrong {
	file := filepath.Join(s.repo, path)
	if b, rerr := os.ReadFile(file); rerr != nil || string(b) != text {
		return []wrong{wrongf("overwritten", "%s is now %.60q: %v", path, b, rerr)}
	}
	if err != nil {
		return append(s.intact(), wrongf("error", "%v", err))
	}
	is, err := describe(file)
	if err != nil {
		return []wrong{wrongf("error", "%v", err)}
	}
	r, edited := asMove(res), map[string]string{path: is}
	if r.Moved {
		return slices.Concat(s.intact(), s.base(s.new), s.sees(true, edited))
	}
	bad := slices.Concat(s.intact(), s.base(s.old), s.sees(false, edited))
	if !strings.Contains(r.Blocked, path) {
		bad = append(bad, wrongf("blocked", "the reason does not name %s: %s", path, r.Blocked))
	}
	if len(bad) > 0 {
		return bad
	}
	if err := s.putBack(path); err != nil {
		return []wrong{wrongf("error", "%v", err)}
	}
	return s.checkMove(s.again())
}

// clashes reports whether a path is below one that the user edited, or above it.
func clashes(path string, edited map[string]string) bool {
	for e := range edited {
		if strings.HasPrefix(path, e+"/") || strings.HasPrefix(e, path+"/") {
			return true
		}
	}
	return false
}

// putBack makes a file of the user's checkout what it was before the landing.
func (s *stage) putBack(path string) error {
	file := filepath.Join(s.repo, path)
	if _, err := tryGit(s.repo, "cat-file", "-e", s.old+":"+path); err == nil {
		_, err = tryGit(s.repo, "checkout", s.old, "--", path)
		return err
	}
	err := os.Remove(file)
	for dir := filepath.Dir(file); err == nil && dir != s.repo; dir = filepath.Dir(dir) {
		if os.Remove(dir) != nil {
			break
		}
	}
	return err
}

// untouched checks that an operation left the user's checkouts alone.
func (s *stage) untouched() []wrong {
	return slices.Concat(s.intact(), s.base(s.old), s.sees(false, nil))
}

// checkPrepare checks that the workspace is there and has what it has to have:
// the base's files, or all that it had before it was removed.
func (s *stage) checkPrepare(res any, err error) []wrong {
	bad := s.untouched()
	if err != nil {
		return append(bad, wrongf("error", "%v", err))
	}
	return append(bad, s.holds(res)...)
}

// holds checks the files of a workspace and its status.
func (s *stage) holds(res any) []wrong {
	var r coppice.PrepareResult
	if b, err := json.Marshal(res); err != nil || json.Unmarshal(b, &r) != nil {
		return []wrong{wrongf("error", "the answer is %v", res)}
	}
	v, err := lookAt(r.Path)
	if err != nil {
		return []wrong{wrongf("workspace", "%v", err)}
	}
	var bad []wrong
	if v.head != r.Head {
		bad = append(bad, wrongf("workspace", "HEAD is at %.12s, the answer is %.12s", v.head, r.Head))
	}
	if d := cmp.Diff(s.inside, v.files); d != "" {
		bad = append(bad, wrongf("workspace", "the files (- expected, + found): %s", few(d)))
	}
	if !slices.Equal(v.status, s.status) {
		bad = append(bad, wrongf("workspace", "git status: %s", few(cmp.Diff(s.status, v.status))))
	}
	return bad
}

// checkSave checks that everything in the workspace is committed.
func (s *stage) checkSave(res any, err error) []wrong {
	bad := s.untouched()
	if err != nil {
		return append(bad, wrongf("error", "%v", err))
	}
	if out, err := tryGit(s.made, "fsck", "--strict", "--no-dangling", "--no-progress"); err != nil || out != "" {
		bad = append(bad, wrongf("fsck", "the workspace: %s %v", out, err))
	}
	return append(bad, s.holds(coppice.PrepareResult{Path: s.made, Head: fmt.Sprint(res)})...)
}

// checkMerge checks that a merge makes the same commit as without a cut, and
// that this commit lands.
func (s *stage) checkMerge(res any, err error) []wrong {
	bad := s.untouched()
	if err != nil {
		return append(bad, wrongf("error", "%v", err))
	}
	var r coppice.MergeResult
	if b, err := json.Marshal(res); err != nil || json.Unmarshal(b, &r) != nil || r.Commit == "" {
		return append(bad, wrongf("error", "the answer is %v", res))
	}
	if s.new == "" {
		s.new = r.Commit
	}
	if r.Commit != s.new {
		bad = append(bad, wrongf("base", "the commit is %.12s, without a cut it was %.12s", r.Commit, s.new))
	}
	w, err := openAt(s.root)
	if err != nil {
		return append(bad, wrongf("error", "%v", err))
	}
	moved, err := w.Move(s.t.Context(), coppice.MoveSpec{Repo: s.repo, Base: "main", Old: r.Base, New: r.Commit, Ref: landingRef})
	return append(bad, s.checkMove(moved, err)...)
}

// checkRemove checks that what was removed can be brought back as it was.
func (s *stage) checkRemove(res any, err error) []wrong {
	bad := s.untouched()
	if err != nil {
		return append(bad, wrongf("error", "%v", err))
	}
	var r coppice.RemoveResult
	if b, err := json.Marshal(res); err != nil || json.Unmarshal(b, &r) != nil {
		return append(bad, wrongf("error", "the answer is %v", res))
	}
	w, err := openAt(s.root)
	if err != nil {
		return append(bad, wrongf("error", "%v", err))
	}
	back, err := w.Restore(s.t.Context(), s.restoreSpec(r))
	if err != nil {
		return append(bad, wrongf("error", "restore: %v", err))
	}
	return append(bad, s.holds(back)...)
}

// checkStrays checks that the branches are gone, and that the trash has the commit of
// the one that had its own.
func (s *stage) checkStrays(res any, err error) []wrong {
	bad := s.untouched()
	if err != nil {
		return append(bad, wrongf("error", "%v", err))
	}
	var r coppice.StraysResult
	if b, err := json.Marshal(res); err != nil || json.Unmarshal(b, &r) != nil {
		return append(bad, wrongf("error", "the answer is %v", res))
	}
	kept := ""
	for _, b := range r.Strays {
		if b.Ref != "" {
			kept += b.Name + " "
		}
	}
	if kept != "other " {
		bad = append(bad, wrongf("lost", "the trash keeps %q of %+v", kept, r.Strays))
	}
	w, err := openAt(s.root)
	if err != nil {
		return append(bad, wrongf("error", "%v", err))
	}
	if left, err := w.Strays(s.t.Context(), s.made); err != nil || len(left) > 0 {
		bad = append(bad, wrongf("left", "%v, %v", left, err))
	}
	if len(r.Strays) > 0 {
		if _, err := w.Diff(s.t.Context(), s.repo, "main", r.Strays[len(r.Strays)-1].Head, false); err != nil {
			bad = append(bad, wrongf("lost", "%v", err))
		}
	}
	return bad
}
