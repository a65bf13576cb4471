package review

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"coppice"
	"coppice/api"
	"coppice/api/apitest"
	apihttp "coppice/api/http"
	"coppice/engine"
	"coppice/store"
	"coppice/store/sqlite"
	"coppice/store/sqlite/sqlitetest"
	"coppice/test/testfile"
	"coppice/workspace"
	"coppice/workspace/git"
)

// world is a server on a real store, and a task with a real workspace.
type world struct {
	*apitest.Bundle
	t      *testing.T
	env    []string
	spaces *workspace.Workspaces
	path   string // of the workspace
}

func setup(t *testing.T, files map[string]string) *world {
	t.Helper()
	dir := testfile.Dir(t)
	w := &world{t: t, env: append(os.Environ(), "HOME="+dir, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")}
	repo := filepath.Join(dir, "app")
	w.git(dir, "init", "-q", "-b", "main", repo)
	w.write(repo, files)
	w.commit(repo, "first")
	runner, err := git.New(git.Config{Env: w.env})
	if err == nil {
		w.spaces, err = workspace.New(workspace.Config{Dir: filepath.Join(dir, "ws"), Trash: filepath.Join(dir, "trash"), Git: runner, Now: time.Now, Env: w.env})
	}
	if err != nil {
		t.Fatal(err)
	}
	s := sqlitetest.Open(t, sqlite.Config{})
	w.Bundle = apitest.Start(t, s, func(c *apihttp.Config) { c.Reviews = New(s, w.spaces, c.Tasks.(*engine.Intake)) })
	p := w.Project(repo)
	w.Task("app", coppice.NewTask{Title: "a"})
	made, err := w.spaces.Prepare(t.Context(), coppice.PrepareSpec{
		Key: "app-1", Repo: repo, RepoID: p.ID, Branch: coppice.TaskBranch("app-1"), Base: "main", Policy: p.Policy.Workspace,
	})
	w.Must(err)
	w.path = made.Path
	w.Update(func(tx store.Tx) error {
		return tx.Workspaces.Put(&coppice.Workspace{
			ProjectID: p.ID, TaskID: 1, Path: made.Path, Branch: coppice.TaskBranch("app-1"), BaseCommit: made.BaseCommit, ReadyAt: w.Clock.Now(),
		})
	})
	w.Change("app-1", func(t *coppice.Task) {
		t.Stage, t.Next = coppice.StageQueued, &coppice.Next{Role: coppice.RoleImplement, Agent: "robot"}
	})
	return w
}

func (w *world) git(dir string, args ...string) {
	w.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=A", "-c", "user.email=a@example.org"}, args...)...)
	cmd.Env = w.env
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func (w *world) write(dir string, files map[string]string) {
	w.t.Helper()
	testfile.WriteAll(w.t, dir, files)
}

func (w *world) commit(dir, message string) {
	w.t.Helper()
	w.git(dir, "add", "-A")
	w.git(dir, "commit", "-q", "--allow-empty", "-m", message)
}

// works is an agent that changes files and commits.
func (w *world) works(files map[string]string) {
	w.t.Helper()
	w.write(w.path, files)
	w.commit(w.path, "work")
}

func (w *world) review(part api.ReviewPart) api.Review {
	w.t.Helper()
	r, err := w.Client.Review(w.Ctx, "app-1", part)
	w.Must(err)
	return r
}

// text writes hunks as a patch.
func text(hunks []api.Hunk) string {
	var b strings.Builder
	for _, h := range hunks {
		b.WriteString("@@ " + h.Section + "\n")
		for _, l := range h.Lines {
			b.WriteString(map[string]string{api.LineSame: " ", api.LineAdded: "+", api.LineRemoved: "-"}[l.Kind] + l.Text)
			if l.NoEnd {
				b.WriteString("$")
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

func TestReviewOfFiles(t *testing.T) {
	t.Parallel()
	w := setup(t, map[string]string{
		"a.go": "package a\n\nvar s = `x\ny\nz\n1\n2\n3\nold\n`\n", "gone": "one\ntwo", "was name.txt": strings.Repeat("same\n", 20), "bin": "\x00", "same": "x\n",
	})
	if r := w.review(api.ReviewPart{}); r.Head != r.Base || len(r.Files) != 0 {
		t.Errorf("without a change: %+v", r)
	}
	w.git(w.path, "mv", "was name.txt", "is \"ä\tname.txt")
	w.git(w.path, "rm", "-q", "gone")
	w.works(map[string]string{
		"a.go": "package a\n\nvar s = `x\ny\nz\n1\n2\n3\nnew\n`\n", "is \"ä\tname.txt": strings.Repeat("same\n", 20) + "more\n", "bin": "\x00\x01",
		"big.txt": strings.Repeat("line\n", largeLines+1), "wide.txt": strings.Repeat("x", largeFile+1), "new/--- a": "x",
	})
	r := w.review(api.ReviewPart{})
	var got []string
	byPath := map[string]api.ReviewFile{}
	for _, f := range r.Files {
		mark := f.Kind
		for name, on := range map[string]bool{" binary": f.Binary, " large": f.Large, " left out": f.LeftOut, " from " + f.OldPath: f.OldPath != ""} {
			if on {
				mark += name
			}
		}
		got = append(got, f.Path+": "+mark)
		byPath[f.Path] = f
	}
	if d := cmp.Diff([]string{
		"a.go: changed", "big.txt: added large", "bin: changed binary", "gone: removed", "is \"ä\tname.txt: renamed from was name.txt", "new/--- a: added", "wide.txt: added large",
	}, got); d != "" {
		t.Errorf("files (-want +got):\n%s", d)
	}
	for path, want := range map[string]string{
		"a.go": "@@ z\n 1\n 2\n 3\n-old\n+new\n `\n", "gone": "@@ \n-one\n-two$\n", "new/--- a": "@@ \n+x$\n",
		"is \"ä\tname.txt": "@@ same\n same\n same\n same\n+more\n", "big.txt": "", "bin": "",
	} {
		if d := cmp.Diff(want, text(byPath[path].Hunks)); d != "" {
			t.Errorf("%s (-want +got):\n%s", path, d)
		}
	}
	if l := byPath["a.go"].Hunks[0].Lines[3]; l.Old != 9 || l.New != 0 {
		t.Errorf("the removed line has the numbers %d and %d", l.Old, l.New)
	}
	list := w.review(api.ReviewPart{FilesOnly: true})
	if f := list.Files[0]; len(list.Files) != 7 || !f.LeftOut || len(f.Hunks) != 0 {
		t.Errorf("only the files: %+v", f)
	}
	one := w.review(api.ReviewPart{Path: "gone"})
	if len(one.Files) != 1 || text(one.Files[0].Hunks) == "" {
		t.Errorf("one file: %+v", one.Files)
	}
	if _, err := w.Client.Review(w.Ctx, "app-1", api.ReviewPart{Path: "same"}); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("a file without a change: %v", err)
	}
}

func TestTextsOfAFile(t *testing.T) {
	t.Parallel()
	w := setup(t, map[string]string{"a": "1\n", "was": strings.Repeat("same\n", 20), "gone": "", "bin": "\x00", "same": "1\n"})
	w.git(w.path, "mv", "was", "is")
	w.git(w.path, "rm", "-q", "gone")
	w.works(map[string]string{
		"a": "2\n", "is": strings.Repeat("same\n", 20) + "\xff\n", "bin": "\x00\x01", "new": "n", "wide": strings.Repeat("x", largeFile+1),
	})
	none := "(none)"
	for path, want := range map[string][2]string{
		"a": {"1\n", "2\n"}, "is": {strings.Repeat("same\n", 20), strings.Repeat("same\n", 20) + "\uFFFD\n"}, "gone": {"", none}, "new": {none, "n"},
	} {
		got, err := w.Client.ReviewText(w.Ctx, "app-1", path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		text := func(s *string) string {
			if s == nil {
				return none
			}
			return *s
		}
		if got := [2]string{text(got.Old), text(got.New)}; got != want {
			t.Errorf("%s has the texts %q, want %q", path, got, want)
		}
	}
	for path, code := range map[string]coppice.Code{"bin": coppice.EInvalid, "wide": coppice.EInvalid, "same": coppice.ENotFound, "": coppice.EInvalid} {
		if _, err := w.Client.ReviewText(w.Ctx, "app-1", path); coppice.ErrorCode(err) != code {
			t.Errorf("the text of %q: %v, want %s", path, err, code)
		}
	}
}

// A review has the checks and the verdict of its head, and not those of a landing
// of another one.
func TestReviewHasTheProofsOfItsHead(t *testing.T) {
	t.Parallel()
	w := setup(t, map[string]string{"a": "1\n"})
	w.works(map[string]string{"a": "2\n"})
	first := w.review(api.ReviewPart{}).Head
	check := func(landing int64, tree, command string, exit int) {
		t.Helper()
		w.Update(func(tx store.Tx) error {
			return tx.Checks.Put(&coppice.Check{ProjectID: 1, TaskID: 1, LandingID: landing, Tree: tree, Command: command, Exit: exit, Log: "long", EndedAt: w.Clock.Now()})
		})
	}
	land := func(head, tree, commit string, change func(*coppice.Landing)) (l coppice.Landing) {
		t.Helper()
		l = coppice.Landing{ProjectID: 1, TaskID: 1, Head: head, CreatedAt: w.Clock.Now(), Candidate: coppice.Candidate{Tree: tree, Commit: commit}}
		change(&l)
		w.Update(func(tx store.Tx) error { return tx.Landings.Put(&l) })
		w.Session("app-1", coppice.SessionDone, func(s *coppice.Session) {
			s.Role, s.From, s.Verdict = coppice.RoleVerify, commit, &coppice.Verdict{}
		})
		return l
	}
	want := func(what, landing, checks, judged, approved string) {
		t.Helper()
		r := w.review(api.ReviewPart{FilesOnly: true})
		var got []string
		for _, c := range r.Checks {
			got = append(got, c.Command+" "+string(c.Result)+c.Log)
		}
		if d := cmp.Diff([]string{landing, checks, judged, approved}, []string{fmt.Sprint(r.Landing), strings.Join(got, ", "), r.Judged, r.Approved}); d != "" {
			t.Errorf("%s (-want +got):\n%s", what, d)
		}
	}
	want("before a landing", "0", "", "", "")
	old := land(first, "t1", "c1", func(l *coppice.Landing) {
		l.ApprovedBy, l.Outcome, l.EndedAt = "ada", coppice.LandingRefused, w.Clock.Now()
	})
	check(old.ID, "t1", "make", 1)
	check(old.ID, "t0", "make", 2) // on the base
	want("after a landing that ended", "1", "make failed", "app-1.1", "")
	w.works(map[string]string{"a": "3\n"})
	want("after more work", "0", "", "", "")
	check(old.ID, "t2", "lint", 0) // its result is valid for every landing with this tree
	land(w.review(api.ReviewPart{}).Head, "t2", "c2", func(l *coppice.Landing) { l.ApprovedBy = "eve" })
	want("while it lands", "2", "lint passed", "app-1.2", "eve")
	land(first, "t1", "c3", func(l *coppice.Landing) { l.Round = 7 })
	want("after a landing of another head", "2", "lint passed", "app-1.2", "")
}

func TestViewedIsForAContent(t *testing.T) {
	t.Parallel()
	w := setup(t, map[string]string{"a": "1\n", "b": "1\n"})
	w.works(map[string]string{"a": "2\n", "b": "2\n"})
	r := w.review(api.ReviewPart{})
	for _, f := range r.Files {
		w.Must(w.Client.MarkViewed(w.Ctx, "app-1", api.ViewedFile{Path: f.Path, Blob: f.Blob, Viewed: true}))
	}
	if r = w.review(api.ReviewPart{}); r.Viewed != 2 || !r.Files[0].Viewed {
		t.Errorf("viewed %d", r.Viewed)
	}
	w.works(map[string]string{"a": "3\n"})
	if r = w.review(api.ReviewPart{}); r.Viewed != 1 || r.Files[0].Viewed || !r.Files[1].Viewed {
		t.Errorf("after a change: viewed %d", r.Viewed)
	}
	w.Must(w.Client.MarkViewed(w.Ctx, "app-1", api.ViewedFile{Path: "b", Blob: r.Files[1].Blob}))
	if r = w.review(api.ReviewPart{}); r.Viewed != 0 {
		t.Errorf("after it was unmarked: viewed %d", r.Viewed)
	}
	if err := w.Client.MarkViewed(w.Ctx, "app-1", api.ViewedFile{Path: "b", Blob: "x"}); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("a wrong blob: %v", err)
	}
}

// A comment keeps the code that it is about, and is found where that code is now.
func TestCommentsFollowTheirCode(t *testing.T) {
	t.Parallel()
	rest := strings.Repeat("this line stays\n", 8) + "12"
	w := setup(t, map[string]string{"a": "old\n" + rest})
	w.works(map[string]string{"a": "one\ntwo\nthree\n" + rest})
	add := func(n api.NewComment) coppice.Comment {
		t.Helper()
		n.Text = "why?"
		c, err := w.Client.AddComment(w.Ctx, "app-1", n)
		w.Must(err)
		return c
	}
	two, old := add(api.NewComment{Path: "a", First: 2, Last: 3}), add(api.NewComment{Path: "a", Side: coppice.SideOld, First: 1})
	one, last := add(api.NewComment{Path: "a", First: 1}), add(api.NewComment{Path: "a", First: 12})
	if two.Code != "two\nthree\n" || old.Code != "old\n" || one.Code != "one\n" || last.Code != "12" || two.Side != coppice.SideNew || two.By != "person" {
		t.Errorf("comments %+v, %+v, %+v and %+v", two, old, one, last)
	}
	places := func() (got []string) {
		r := w.review(api.ReviewPart{FilesOnly: true})
		for _, c := range r.Comments {
			at := "outdated " + strings.TrimSpace(c.Code)
			if c.File != "" {
				at += " in " + c.File
			}
			if c.At != nil && !c.Outdated {
				if at = fmt.Sprint(c.At.Path, " ", c.At.First, "-", c.At.Last); c.File != c.At.Path {
					at += " of " + c.File
				}
			}
			got = append(got, at)
		}
		return append(got, fmt.Sprint(r.Drafts))
	}
	wantPlaces := func(what string, want ...string) {
		t.Helper()
		if d := cmp.Diff(append(want, "4"), places()); d != "" {
			t.Errorf("%s (-want +got):\n%s", what, d)
		}
	}
	wantPlaces("at first", "a 2-3", "a 1-1", "a 1-1", "a 12-12")
	w.works(map[string]string{"a": "zero\nONE\ntwo\nthree\n" + rest + "\n"})
	wantPlaces("after an edit", "a 3-4", "a 1-1", "outdated one in a", "a 13-13")
	w.git(w.path, "mv", "a", "c")
	w.works(nil)
	wantPlaces("after a rename", "c 3-4", "a 1-1 of c", "outdated one in c", "c 13-13")
	w.git(w.path, "rm", "-q", "c")
	w.works(nil)
	wantPlaces("after a removal", "outdated two\nthree in a", "a 1-1", "outdated one in a", "outdated 12 in a")
	w.write(w.path, map[string]string{"a": "old\n" + rest})
	w.commit(w.path, "as before")
	wantPlaces("after it was reverted", "outdated two\nthree", "a 1-1 of ", "outdated one", "a 10-10 of ")
	w.works(map[string]string{"a": "one\ntwo\nthree\n"})
	for name, n := range map[string]api.NewComment{
		"no such line": {Path: "a", First: 9}, "last before first": {Path: "a", First: 2, Last: 1}, "a path outside": {Path: "../x", First: 1}, "git's files": {Path: ".git/config", First: 1},
	} {
		n.Text = "x"
		if _, err := w.Client.AddComment(w.Ctx, "app-1", n); coppice.ErrorCode(err) != coppice.EInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := w.Client.AddComment(w.Ctx, "app-1", api.NewComment{Path: "none", First: 1, Text: "x"}); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("no such file: %v", err)
	}
}

// Comments are edited, deleted, sent, resolved and reopened through the API, and
// every change is an event for other clients.
func TestCommentsThroughTheAPI(t *testing.T) {
	t.Parallel()
	w := setup(t, map[string]string{"a": "old\n"})
	w.works(map[string]string{"a": "new\n"})
	yes, no, words := true, false, "say why"
	add := func() int64 {
		c, err := w.Client.AddComment(w.Ctx, "app-1", api.NewComment{Path: "a", First: 1, Text: "hm"})
		w.Must(err)
		return c.ID
	}
	first, second := add(), add()
	if r := w.review(api.ReviewPart{FilesOnly: true}); r.Follows != "the next session starts with the message" || r.Refused != "" {
		t.Errorf("%q follows, refused: %q", r.Follows, r.Refused)
	}
	w.Change("app-1", func(t *coppice.Task) { t.Stage = coppice.StageChecking })
	if r := w.review(api.ReviewPart{FilesOnly: true}); r.Follows != "" || !strings.Contains(r.Refused, "app-1 is being checked or landed") || !strings.Contains(r.Refused, "wait for the result") {
		t.Errorf("while it is checked, %q follows, refused: %q", r.Follows, r.Refused)
	}
	w.Change("app-1", func(t *coppice.Task) { t.Stage = coppice.StageQueued })
	w.Must(w.Client.DeleteComment(w.Ctx, "app-1", second))
	_, err := w.Client.ChangeComment(w.Ctx, "app-1", first, api.CommentChange{Text: &words})
	w.Must(err)
	m, err := w.Client.SendComments(w.Ctx, "app-1", "Nearly.")
	w.Must(err)
	if !strings.Contains(m.Text, "Nearly.") || !strings.Contains(m.Text, "say why") || strings.Contains(m.Text, "hm") {
		t.Errorf("the message is\n%s", m.Text)
	}
	for _, on := range []*bool{&yes, &no, &yes} {
		c, err := w.Client.ChangeComment(w.Ctx, "app-1", first, api.CommentChange{Resolved: on})
		if w.Must(err); (c.State == coppice.CommentResolved) != *on || c.MessageID != m.ID {
			t.Errorf("resolved %t: %+v", *on, c)
		}
	}
	for what, change := range map[string]api.CommentChange{"nothing": {}, "both": {Text: &words, Resolved: &yes}} {
		if _, err := w.Client.ChangeComment(w.Ctx, "app-1", first, change); coppice.ErrorCode(err) != coppice.EInvalid {
			t.Errorf("%s: %v", what, err)
		}
	}
	var kinds []string
	w.Must(w.Store.View(w.Ctx, func(r store.Reader) error {
		events, err := r.Log.Events(0, 100, store.EventFilter{TaskID: 1})
		for _, e := range events {
			if e.Kind == coppice.EventReviewChanged || e.Kind == coppice.EventTaskCommented {
				kinds = append(kinds, strings.TrimPrefix(string(e.Kind), "task."))
			}
		}
		return err
	}))
	if d := cmp.Diff("review_changed review_changed review_changed review_changed commented review_changed review_changed review_changed", strings.Join(kinds, " ")); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
}

// The clock of regexp2, with which Chroma limits its patterns, ends by itself.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock"))
}
