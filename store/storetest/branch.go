package storetest

import (
	"testing"

	"coppice"
	"coppice/store"
)

// testBranches looks for the task of a branch, by names that conflict with it.
func testBranches(t *testing.T, open Open) {
	s := open(t)
	p, other := project(t, s, "app"), project(t, s, "lib")
	named := func(name string) func(*coppice.Task) { return func(k *coppice.Task) { k.Branch = name } }
	task(t, s, p, 1, named("feature/login"))
	task(t, s, p, 2, nil)
	task(t, s, p, 3, named("fix"))
	task(t, s, other, 1, named("theirs"))
	view(t, s, func(r store.Reader) error {
		for name, want := range map[string]string{
			"feature/login": "app-1", "feature": "app-1", "feature/login/form": "app-1", "feature/login/form/x": "app-1",
			"feature/logi": "", "feature/login2": "", "feature/a": "", "featur": "", "feature0": "", "feature.": "",
			"fix": "app-3", "fix/x": "app-3", "fi": "", "theirs": "", "": "", "coppice/app-2": "",
		} {
			same(t, name, want, must(r.Workspaces.OfBranch(p.ID, name)))
		}
		return nil
	})
}
