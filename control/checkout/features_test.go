package checkout

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
	"coppice/features"
)

const listPolicy = "agent: {use: scripted}\nbase: main\nfeatures: features.json\n"

// listed is a repository with a features file, and its project.
func (b *bundle) listed(text string) (file string) {
	b.t.Helper()
	repo := b.repo(map[string]string{"coppice.yaml": listPolicy, "features.json": text})
	_, err := b.intake.AddProject(b.ctx, repo)
	b.must(err)
	return filepath.Join(repo, "features.json")
}

// linked is a repository whose features file is a link into a folder.
func (b *bundle) linked() (repo, file string) {
	b.t.Helper()
	repo = b.repo(map[string]string{
		"coppice.yaml":   strings.Replace(listPolicy, "features.json", "plan/features.json", 1) + "tracks: [{name: main, default: true}, {name: web, categories: [ui]}]\n",
		"data/list.json": "[]", "plan/README": "x",
	})
	b.must(os.Symlink("../data/list.json", filepath.Join(repo, "plan", "features.json")))
	return repo, filepath.Join(repo, "data", "list.json")
}

func big(n int, change func(i int) string) string {
	var lines []string
	for i := 1; i <= n; i++ {
		if s := change(i); s != "" {
			lines = append(lines, s)
		}
	}
	return "[\n" + strings.Join(lines, ",\n") + "\n]\n"
}

func plainFeature(i int) string {
	after := ""
	if i > 1 {
		after = `, "depends_on": [1]`
	}
	return fmt.Sprintf(`  {"id": %d, "name": "Feature %d", "status": "open"%s}`, i, i, after)
}

// 2,000 features become tasks in one transaction. Edits of the file reach tasks
// that have not started.
func TestTwoThousandFeatures(t *testing.T) {
	t.Parallel()
	b := setup(t)
	repo, file := b.linked()
	b.start()
	b.flow()
	_, _, err := b.f.Add(b.ctx, repo, "")
	b.must(err)
	b.save(file, big(2000, plainFeature))
	b.made(2000)
	b.save(file, big(2000, func(i int) string {
		switch i {
		case 1000:
			return `  {"id": 1000, "name": "Another name", "category": "ui", "steps": ["one"], "priority": 3, "budget": 5}`
		case 1100:
			return "" // removed
		case 1200:
			return `  {"id": 1200, "name": "Feature 1200", "status": "passed"}`
		}
		return plainFeature(i)
	}))
	b.until("two stops", func() bool { return len(b.events(coppice.EventTaskStopAsked)) == 2 })
	tasks := b.tasks()
	if one := tasks["1000"]; one.Title != "Another name" || one.Track != "web" || len(one.Steps) != 1 || one.Priority != 3 || one.Budget != 5 || len(one.After) != 0 {
		t.Errorf("changed to %+v", one)
	}
	for i, e := range b.events(coppice.EventTaskStopAsked) {
		if want := tasks[[]string{"1100", "1200"}[i]].Key; e.Subject != want {
			t.Errorf("%s was stopped, want %s", e.Subject, want)
		}
	}
	if text := b.read(file); !strings.Contains(text, `"id": 1200, "name": "Feature 1200", "status": "passed"}`) || strings.Contains(text, "failed") {
		t.Error("what a person said was written over")
	}
	if to, err := os.Readlink(filepath.Join(repo, "plan", "features.json")); err != nil || to != "../data/list.json" {
		t.Errorf("the link is now %q, %v", to, err)
	}
}

// A feature that cannot become a task blocks the others, and is reported with
// its place, until the file is fixed.
func TestRefusedFeature(t *testing.T) {
	t.Parallel()
	b := setup(t)
	file := b.listed("[{\"id\": 1, \"name\": \"a\"},\n {\"id\": 2, \"name\": \"b\", \"agent\": \"nobody\"}]")
	b.start()
	b.flow()
	said := b.warned("features.json:2:34: feature 2: there is no agent nobody")
	events := b.events(coppice.EventProjectWarned)
	if len(said) != 1 || len(events) != 1 || events[0].Reason != said[0] || events[0].By != "features" || events[0].Subject != "app" {
		t.Errorf("said %q, logged %+v", said, events)
	}
	if n := len(b.tasks()); n != 0 {
		t.Errorf("%d tasks were made", n)
	}
	b.save(file, `[{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]`)
	b.made(2)
	b.warned("")
}

// A missing folder and file are waited for. Removing the file changes no task.
func TestFeaturesFileComesAndGoes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	repo, _ := b.linked()
	plan := filepath.Join(repo, "plan")
	b.must(os.RemoveAll(plan))
	_, err := b.intake.AddProject(b.ctx, repo)
	b.must(err)
	b.start()
	b.flow()
	b.warned("plan/features.json does not exist")
	b.must(os.Mkdir(plan, 0o755))
	b.save(filepath.Join(plan, "features.json"), `[{"id": "a", "name": "a"}]`)
	b.made(1)
	b.must(os.Rename(plan, plan+"-away"))
	b.warned("plan/features.json does not exist")
	b.must(os.Mkdir(plan, 0o755))
	b.save(filepath.Join(plan, "features.json"), `[{"id": "a", "name": "a"}, {"id": "b", "name": "b"}]`)
	b.made(2)
	// The new folder is watched as the old one was.
	b.save(filepath.Join(plan, "features.json"), `[{"id": "a", "name": "a"}, {"id": "b", "name": "b"}, {"id": "c", "name": "c"}]`)
	b.made(3)
	if n := len(b.events(coppice.EventTaskStopAsked)); n != 0 {
		t.Errorf("%d tasks were stopped", n)
	}
}

// Editors write files in several steps: a text counts as broken if it stays
// broken.
func TestABrokenTextIsReportedWhenItStays(t *testing.T) {
	t.Parallel()
	b := setup(t)
	file := b.listed(`[{"id": 1, "name": "a", "status": "open"}]`)
	b.start()
	run := b.flow()
	b.made(1)
	b.settled()
	run() // time stops from here on

	b.save(file, `[{"id": 1, "name": "a`)
	b.must(b.clock.WaitAt(b.ctx, quiet))
	b.save(file, `[{"id": 1, "name": "b", "status": "open"}]`)
	b.until("the whole text", func() bool { return b.tasks()["1"].Title == "b" })
	b.must(b.f.do(b.ctx, func() {})) // the turn is over, and its timer is gone

	b.save(file, `[{"id": 1, "name": "c`)
	b.must(b.clock.WaitAt(b.ctx, quiet))
	b.clock.Advance(quiet - 1)
	if got := b.f.Warnings(1); len(got) != 0 {
		t.Errorf("reported too early: %q", got)
	}
	b.clock.Advance(1)
	b.warned("features.json:1:")
	if n := len(b.events(coppice.EventProjectWarned)); n != 1 {
		t.Errorf("%d warnings were logged", n)
	}
	if got := b.tasks()["1"].Title; got != "b" {
		t.Errorf("the task is now %q", got)
	}
	if l := b.f.LastFeatures(1); l == nil || len(l.Features) != 1 || l.Features[0].Name != "b" {
		t.Errorf("the list in effect is %+v", l)
	}
}

// Statuses follow the tasks, and the engine gets what a person writes. After a
// restart, Coppice knows which statuses are its own.
func TestStatuses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const open = `[{"id": 1, "name": "a", "status": "open"}, {"id": 2, "name": "b", "status": "open"}]`
	file := b.listed(open)
	stop := b.start()
	b.flow()
	b.made(2)
	b.move("1", coppice.EventTaskEnded, fails)
	b.move("2", coppice.EventTaskChanged, func(t *coppice.Task) { t.Stage, t.Sessions = coppice.StageChecking, 1 })
	failed := `[{"id": 1, "name": "a", "status": "failed", "failure_reason": "too hard, ***", "failure_category": "implementation"}, {"id": 2, "name": "b", "status": "verifying"}]`
	b.until("the statuses", func() bool { return b.read(file) == failed })
	// The turn after a write has stored it.
	b.until("its memory", func() bool {
		return b.memory()["1"].Status == features.Failed && b.memory()["2"].Status == features.Verifying
	})
	stop()

	b.move("2", coppice.EventTaskEnded, func(t *coppice.Task) { t.Stage, t.Outcome = coppice.StageEnded, coppice.OutcomeDone })
	stop = b.start()
	passed := strings.Replace(failed, "verifying", "passed", 1)
	b.until("later changes", func() bool { return b.read(file) == passed })
	stop()
	if n := len(b.events(coppice.EventTaskRetried)); n != 0 {
		t.Errorf("%d tasks were retried by a restart", n)
	}

	b.save(file, strings.Replace(open, `"name": "b", "status": "open"`, `"name": "b", "status": "passed"`, 1))
	b.start()
	b.until("a retry", func() bool { return len(b.events(coppice.EventTaskRetried)) == 1 })
	if e := b.events(coppice.EventTaskRetried)[0]; e.Subject != "app-1" || e.By != "file:features.json" {
		t.Errorf("%s was retried by %s", e.Subject, e.By)
	}
	for _, e := range b.events(coppice.EventTaskCreated) {
		if e.By != "file:features.json" {
			t.Errorf("%s was created by %s", e.Subject, e.By)
		}
	}
}

// A failed feature that is edited and set to open is retried with its new text.
// While its new request is refused, it is not retried with the old one.
func TestRetryWithTheNewText(t *testing.T) {
	t.Parallel()
	b := setup(t)
	file := b.listed(`[{"id": 1, "name": "a", "status": "open"}, {"id": 2, "name": "b", "status": "passed"}]`)
	b.start()
	b.flow()
	b.made(1)
	b.move("1", coppice.EventTaskEnded, func(t *coppice.Task) { fails(t); t.Sessions = 1 })
	b.until("the failure", func() bool { return b.memory()["1"].Status == features.Failed })

	b.save(file, `[{"id": 1, "name": "new", "agent": "nobody"}, {"id": 2, "name": "b", "status": "passed"}]`)
	b.warned("features.json:1:36: feature 1: there is no agent nobody; app-1 is not retried until this is fixed")
	if n := len(b.events(coppice.EventTaskRetried)); n != 0 || b.tasks()["1"].Title != "a" {
		t.Errorf("%d retries of %+v", n, b.tasks()["1"])
	}
	b.save(file, `[{"id": 1, "name": "new", "description": "Text.", "steps": ["one"], "depends_on": [2], "priority": 2}, {"id": 2, "name": "b", "status": "passed"}]`)
	b.until("a retry", func() bool { return len(b.events(coppice.EventTaskRetried)) == 1 })
	if one := b.tasks()["1"]; one.Title != "new" || one.Body != "Text." || len(one.Steps) != 1 || one.Priority != 2 {
		t.Errorf("the task is %+v", one)
	}
	if e := b.events(coppice.EventTaskRetried)[0]; e.Reason != newRequest || e.By != "file:features.json" {
		t.Errorf("retried with %q by %s", e.Reason, e.By)
	}
	b.warned("")
}
