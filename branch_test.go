package coppice_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"coppice"
)

func TestTaskBranchNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"feature/login", "fix-1", "coppicelike", "a/b/c"} {
		if err := coppice.ValidTaskBranch(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"", "-x", "a..b", "a b", "a/", "a.lock", "HEAD", "coppice", "coppice/app-9", strings.Repeat("x", 201), "a\x00"} {
		if e := coppice.Public(coppice.ValidTaskBranch(name)); e == nil || e.Code != coppice.EInvalid || e.Field != "branch" {
			t.Errorf("%.20q: %v", name, e)
		}
	}
	if a, b := (coppice.Task{Key: "app-1"}).BranchName(), (coppice.Task{Key: "app-1", TaskDetails: coppice.TaskDetails{Branch: "x"}}).BranchName(); a != "coppice/app-1" || b != "x" {
		t.Errorf("%s and %s", a, b)
	}
}

func TestBranchTemplates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ template, title, want string }{
		{"feature/{key}-{words}", "User authentication", "feature/app-7-user-authentication"},
		{"{words}/{key}", "Äß — ∆", "task/app-7"},
		{"f/{key}", "anything", "f/app-7"},
		{"f/{key}-{words}", "a title of so many words that not all of them fit into a name", "f/app-7-a-title-of-so-many-words-that-not-all-of"},
		{"f/{key}-{words}", strings.Repeat("x", 41), "f/app-7-task"},
		{"f/{key}-{words}", "../../etc; rm -rf $HOME `x`", "f/app-7-etc-rm-rf-home-x"},
	} {
		if err := coppice.ValidBranchTemplate(c.template); err != nil {
			t.Errorf("%s: %v", c.template, err)
		}
		if got := coppice.BranchFrom(c.template, coppice.Task{Key: "app-7", Title: c.title}); got != c.want {
			t.Errorf("%s for %q: %s, want %s", c.template, c.title, got, c.want)
		}
	}
	for _, bad := range []string{"", "feature", "feature/{words}", "coppice/{key}", "{key}..x", "{key} {words}", "{key}{number}", "f/{key}/" + strings.Repeat("x", 100)} {
		if err := coppice.ValidBranchTemplate(bad); coppice.ErrorCode(err) != coppice.EInvalid {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// Whatever the title is, a valid template gives a valid name.
func TestTemplatesGiveValidNames(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := coppice.BranchFrom("feature/{key}-{words}", coppice.Task{Key: "app-1", Title: rapid.String().Draw(t, "title")})
		if err := coppice.ValidTaskBranch(name); err != nil {
			t.Fatal(err)
		}
	})
}

// Two branches conflict if and only if one is the other, or its directory.
func TestBranchConflicts(t *testing.T) {
	t.Parallel()
	name := rapid.StringMatching(`[ab]{1,2}(/[ab]{1,2}){0,3}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := name.Draw(t, "a"), name.Draw(t, "b")
		want := a == b
		for _, pair := range [][2]string{{a, b}, {b, a}} {
			for _, dir := range coppice.BranchParents(pair[0]) {
				want = want || dir == pair[1]
			}
		}
		if got := coppice.BranchesConflict(a, b); got != want || got != coppice.BranchesConflict(b, a) {
			t.Fatalf("%s and %s: %v, want %v", a, b, got, want)
		}
	})
}
