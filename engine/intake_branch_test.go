package engine

import (
	"context"
	"strings"
	"testing"

	"coppice"
	"coppice/store"
)

func TestCreateNamesTheBranch(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.free = func(_ context.Context, p coppice.Project, name string) error {
		if p.Prefix == "app" && name == "theirs" {
			return coppice.Errorf(coppice.EConflict, "there is a branch theirs already").WithField("branch")
		}
		return nil
	}
	b.project()
	if got := b.create(coppice.NewTask{Title: "a", Branch: "feature/login"})[0].BranchName(); got != "feature/login" {
		t.Errorf("the branch is %s", got)
	}
	if got := b.create(coppice.NewTask{Title: "b"})[0]; got.Branch != "" || got.BranchName() != "coppice/app-2" {
		t.Errorf("without a name: %q", got.Branch)
	}
	for _, c := range []struct {
		task coppice.NewTask
		code coppice.Code
		says string
	}{
		{coppice.NewTask{Branch: "feature/login"}, coppice.EConflict, "app-1 has it"},
		{coppice.NewTask{Branch: "feature"}, coppice.EConflict, "app-1 has it, or one that does not fit beside it"},
		{coppice.NewTask{Branch: "feature/login/form"}, coppice.EConflict, "app-1 has it"},
		{coppice.NewTask{Branch: "main"}, coppice.EConflict, "work lands on main"},
		{coppice.NewTask{Branch: "main/x"}, coppice.EConflict, "work lands on main"},
		{coppice.NewTask{Branch: "theirs"}, coppice.EConflict, "there is a branch theirs already"},
		{coppice.NewTask{Branch: "a b"}, coppice.EInvalid, "not a valid branch name"},
		{coppice.NewTask{Branch: "coppice/app-9"}, coppice.EInvalid, "named after their tasks"},
		{coppice.NewTask{Branch: "x", Answer: true}, coppice.EInvalid, "has no branch"},
	} {
		before := b.seq()
		c.task.Title = "c"
		_, err := b.CreateTasks(t.Context(), "app", []coppice.NewTask{c.task})
		if e := coppice.Public(err); e == nil || e.Code != c.code || e.Field != "branch" || !strings.Contains(e.Error(), c.says) {
			t.Errorf("%s: %v, want %s with %q", c.task.Branch, err, c.code, c.says)
		}
		if b.seq() != before {
			t.Errorf("%s: the log has grown", c.task.Branch)
		}
	}
	if _, err := b.CreateTasks(t.Context(), "app", []coppice.NewTask{{Title: "a", Branch: "two"}, {Title: "b", Branch: "two"}}); coppice.Public(err).Field != "tasks[1].branch" {
		t.Errorf("two tasks of a request with the same branch: %v", err)
	}
	b.create(coppice.NewTask{Title: "beside it", Branch: "feature/login2"}, coppice.NewTask{Title: "beside it", Branch: "feature/a"})
}

func TestATemplateNamesBranches(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.project(func(p *coppice.Project) { p.Policy.Workspace.Branch = "feature/{key}-{words}" })
	if got := b.create(coppice.NewTask{Title: "User authentication"})[0].BranchName(); got != "feature/app-1-user-authentication" {
		t.Errorf("the branch is %s", got)
	}
	b.create(coppice.NewTask{Title: "chosen", Branch: "feature/app-3-taken"})
	for title, want := range map[string]string{"taken": "coppice/app-3"} {
		if got := b.create(coppice.NewTask{Title: title})[0].BranchName(); got != want {
			t.Errorf("%s: %s, want %s", title, got, want)
		}
	}
	if got := b.create(coppice.NewTask{Title: "why", Answer: true})[0].Branch; got != "" {
		t.Errorf("a task that wants an answer has the branch %s", got)
	}
}

// Everything that needs the branch of a task gets the recorded name, and not the
// one of its key.
func TestTheRecordedBranchIsUsed(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.project()
	b.create(coppice.NewTask{Title: "a", Branch: "feature/login"})
	b.turn()
	if spec, err := coppice.DecodeSpec[coppice.PrepareSpec](b.unsettled("app-1")); err != nil || spec.Branch != "feature/login" {
		t.Fatalf("prepares %+v, %v", spec, err)
	}
	b.finish("app-1", coppice.WorkPrepare, coppice.PrepareResult{Path: "/ws", BaseCommit: "base1", Head: "base1"})
	if spec, err := coppice.DecodeSpec[coppice.RunSpec](b.unsettled("app-1")); err != nil || spec.Branch != "feature/login" {
		t.Fatalf("runs %+v, %v", spec, err)
	}
	b.view(func(r store.Reader) error {
		s, err := r.Sessions.ByKey("app-1.1")
		if err == nil && !strings.Contains(s.Prompt, "on branch feature/login.") {
			t.Errorf("the prompt is %s", s.Prompt)
		}
		return err
	})
}
