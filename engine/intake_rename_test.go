package engine

import (
	"slices"
	"strings"
	"testing"

	"coppice"
	"coppice/store"
)

func TestRenameProject(t *testing.T) {
	t.Parallel()
	b := open(t)
	first := b.project()
	other, err := b.AddProjectAs(t.Context(), "/src/lib", "lib")
	b.must(err)
	b.create(coppice.NewTask{Title: "before"})
	if _, err := b.RenameProject(t.Context(), "app", "shop"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"shop", "app"} { // the old prefix still names it
		made, err := b.CreateTasks(t.Context(), name, []coppice.NewTask{{Title: "after", After: []string{"app-1"}}})
		if err != nil || made[0].ProjectID != first.ID || !strings.HasPrefix(made[0].Key, "shop-") {
			t.Fatalf("%s: %+v, %v", name, made, err)
		}
	}
	if k := b.task("app-1"); k.Title != "before" || b.task("shop-2").ID == 0 || b.task("shop-3").ID == 0 {
		t.Errorf("app-1 is %+v", k)
	}
	b.prepares("app-1") // a task with an old key continues
	for _, c := range []struct {
		project, prefix string
		code            coppice.Code
		says            string
	}{
		{"lib", "shop", coppice.EConflict, "has the prefix shop"},
		{"lib", "app", coppice.EConflict, "had the prefix app"},
		{"lib", "App", coppice.EInvalid, "not a valid task prefix"},
		{"lib", "", coppice.EInvalid, "not a valid task prefix"},
		{"nope", "x", coppice.ENotFound, ""},
	} {
		before := b.seq()
		if _, err := b.RenameProject(t.Context(), c.project, c.prefix); coppice.ErrorCode(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s to %q: %v, want %s with %q", c.project, c.prefix, err, c.code, c.says)
		}
		if b.seq() != before {
			t.Error("the log has grown")
		}
	}
	if _, err := b.AddProjectAs(t.Context(), "/src/third", "app"); coppice.ErrorCode(err) != coppice.EConflict {
		t.Errorf("a new project with an old prefix of another one: %v", err)
	}
	if p, err := b.AddProject(t.Context(), "/src/fourth"); err != nil || p.Prefix != "app2" {
		t.Errorf("a new project in a directory of that name is %s, %v", p.Prefix, err)
	}
	if _, err := b.AddProjectAs(t.Context(), "/src/lib", "other"); coppice.ErrorCode(err) != coppice.EConflict || !strings.Contains(coppice.Public(err).Fix, "coppice project rename lib other") {
		t.Errorf("another prefix for a known project: %v", err)
	}
	if p, err := b.AddProjectAs(t.Context(), "/src/lib", "lib"); err != nil || p.ID != other.ID {
		t.Errorf("the same prefix: %+v, %v", p, err)
	}
	back, err := b.RenameProject(t.Context(), "shop", "app")
	if err != nil || back.Prefix != "app" || !slices.Equal(back.Earlier, []string{"shop"}) {
		t.Fatalf("back: %+v, %v", back, err)
	}
	if k := b.create(coppice.NewTask{Title: "next"})[0]; k.Key != "app-4" {
		t.Errorf("the next task is %s: numbers are never used again", k.Key)
	}
}

// After a project was removed, none of the keys that its tasks had is used again.
func TestKeysOfARenamedProjectAreNotUsedAgain(t *testing.T) {
	t.Parallel()
	b := open(t)
	p := b.project()
	_, err := b.RenameProject(t.Context(), "app", "shop")
	b.must(err)
	p.LastTask = 7
	b.update(func(tx store.Tx) error {
		now, err := tx.Projects.Get(p.ID)
		now.LastTask = 7
		if err == nil {
			err = tx.Projects.Put(&now)
		}
		return err
	})
	for more := true; more; {
		if more, err = b.Forget(t.Context(), p, 100); err != nil {
			t.Fatal(err)
		}
	}
	b.project()
	if k := b.create(coppice.NewTask{Title: "new"})[0]; k.Key != "app-8" {
		t.Errorf("the first task is %s", k.Key)
	}
	_, err = b.AddProjectAs(t.Context(), "/src/other", "lib")
	b.must(err)
	_, err = b.RenameProject(t.Context(), "lib", "shop")
	b.must(err)
	if made, err := b.CreateTasks(t.Context(), "shop", []coppice.NewTask{{Title: "new"}}); err != nil || made[0].Key != "shop-8" {
		t.Errorf("the first task is %+v, %v", made, err)
	}
}
