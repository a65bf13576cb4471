package server

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

// listed is a repository whose features file is a link into a folder.
func (b *bundle) listed() (repo, file string) {
	b.t.Helper()
	repo = b.repo(map[string]string{
		"coppice.yaml": "agent: {use: scripted}\nbase: main\nfeatures: plan/features.json\nlimits: {memory: 100%, sessions: 1}\nverify: {by: none}\n" +
			"tracks: [{name: main, default: true}, {name: web, categories: [ui]}]\n",
		"data/list.json": "[]", "plan/README": "x",
	})
	file = filepath.Join(repo, "data", "list.json")
	b.must(os.Symlink("../data/list.json", filepath.Join(repo, "plan", "features.json")))
	return repo, file
}

// paused starts a server and adds the project, in which no session starts.
func (b *bundle) paused(repo string) *client.Client {
	b.t.Helper()
	b.start()
	c := b.client()
	p, err := c.AddProject(b.ctx, repo)
	b.must(err)
	_, err = c.Pause(b.ctx, p.Prefix, "", true)
	b.must(err)
	return c
}

// save replaces a file as an editor does.
func (b *bundle) save(file, text string) {
	b.t.Helper()
	b.must(os.WriteFile(file+"~", []byte(text), 0o600))
	b.must(os.Rename(file+"~", file))
}

// until follows the log, from its beginning, until f is content.
func (b *bundle) until(c *client.Client, what string, f func(coppice.Event) bool) {
	b.t.Helper()
	err := c.FollowEvents(b.ctx, client.EventQuery{}, func(e coppice.Event) error {
		if f(e) {
			return errSeen
		}
		return nil
	}, nil)
	if !errors.Is(err, errSeen) {
		b.t.Fatalf("waiting for %s: %v", what, err)
	}
}

// ofFeatures returns the tasks by feature.
func (b *bundle) ofFeatures(c *client.Client) map[string]api.Task {
	b.t.Helper()
	all := map[string]api.Task{}
	for q := (client.TaskQuery{Limit: 500}); ; {
		page, err := c.Tasks(b.ctx, q)
		b.must(err)
		for _, t := range page.Tasks {
			all[t.Feature] = t
		}
		if q.Before = page.Next; q.Before == 0 {
			return all
		}
	}
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

// 2,000 features become tasks in one transaction, and what people do to the
// file reaches those that have not begun.
func TestTwoThousandFeatures(t *testing.T) {
	t.Parallel()
	b := setup(t)
	repo, file := b.listed()
	c := b.paused(repo)
	began := time.Now()
	b.save(file, big(2000, plainFeature))
	made := 0
	b.until(c, "2000 tasks", func(e coppice.Event) bool {
		if e.Kind == coppice.EventTaskCreated {
			made++
		}
		return made == 2000
	})
	t.Logf("2000 features were tasks after %s", time.Since(began))
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
	ended := map[string]bool{}
	changed := false
	b.until(c, "the changes", func(e coppice.Event) bool {
		if e.Kind == coppice.EventTaskEnded {
			ended[e.Subject] = true
		}
		changed = changed || e.Kind == coppice.EventTaskChanged && e.Subject == "app-1000"
		return changed && ended["app-1100"] && ended["app-1200"]
	})
	tasks := b.ofFeatures(c)
	one, err := c.Task(b.ctx, tasks["1000"].Key)
	b.must(err)
	if one.Title != "Another name" || one.Track != "web" || len(one.Steps) != 1 || one.Priority != 3 || one.Budget != 5 || len(one.After) != 0 {
		t.Errorf("changed to %+v", one)
	}
	if tasks["1100"].Outcome != coppice.OutcomeCancelled || tasks["1200"].Outcome != coppice.OutcomeCancelled || len(ended) != 2 || len(tasks) != 2000 {
		t.Errorf("removed is %s, passed by hand is %s, %d ended, %d are there", tasks["1100"].Outcome, tasks["1200"].Outcome, len(ended), len(tasks))
	}
	got, err := os.ReadFile(file)
	b.must(err)
	if text := string(got); !strings.Contains(text, `"id": 1200, "name": "Feature 1200", "status": "passed"}`) || strings.Contains(text, "failed") {
		t.Error("what a person said was written over")
	}
	if to, err := os.Readlink(filepath.Join(repo, "plan", "features.json")); err != nil || to != "../data/list.json" {
		t.Errorf("the link is now %q, %v", to, err)
	}
}

// A feature that cannot become a task keeps the others back, with its place,
// until the file is mended.
func TestRefusedFeature(t *testing.T) {
	t.Parallel()
	b := setup(t)
	repo, file := b.listed()
	c := b.paused(repo)
	b.save(file, "[{\"id\": 1, \"name\": \"a\"},\n {\"id\": 2, \"name\": \"b\", \"agent\": \"nobody\"}]")
	said := b.await(c, coppice.EventProjectWarned)
	if !strings.Contains(said.Reason, "plan/features.json:2:34: feature 2: ") || !strings.Contains(said.Reason, `nobody`) || said.By != "features" || said.Subject != "app" {
		t.Errorf("said %+v", said)
	}
	if st, err := c.Status(b.ctx, "app"); err != nil || len(st.Projects[0].Warnings) != 1 || st.Projects[0].Warnings[0] != said.Reason {
		t.Errorf("status %+v, %v", st.Projects, err)
	}
	if n := len(b.ofFeatures(c)); n != 0 {
		t.Errorf("%d tasks were made", n)
	}
	b.save(file, `[{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]`)
	b.until(c, "two tasks", func(e coppice.Event) bool { return e.Kind == coppice.EventTaskCreated && e.Subject == "app-2" })
}

// A folder and a file that are not there yet are waited for, and a file that
// goes away takes nothing along.
func TestFeaturesFileComesAndGoes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	repo, _ := b.listed()
	plan := filepath.Join(repo, "plan")
	b.must(os.RemoveAll(plan))
	c := b.paused(repo)
	if said := b.await(c, coppice.EventProjectWarned); !strings.Contains(said.Reason, "plan/features.json is not there") {
		t.Errorf("said %q", said.Reason)
	}
	b.must(os.Mkdir(plan, 0o755))
	b.save(filepath.Join(plan, "features.json"), `[{"id": "a", "name": "a"}]`)
	b.await(c, coppice.EventTaskCreated)
	b.must(os.Rename(plan, plan+"-away"))
	told := 0
	b.until(c, "a second warning", func(e coppice.Event) bool {
		if e.Kind == coppice.EventProjectWarned {
			told++
		}
		return told == 2
	})
	b.must(os.Mkdir(plan, 0o755))
	b.save(filepath.Join(plan, "features.json"), `[{"id": "a", "name": "a"}, {"id": "b", "name": "b"}]`)
	b.until(c, "the other", func(e coppice.Event) bool { return e.Kind == coppice.EventTaskCreated && e.Subject == "app-2" })
	// The new folder is watched as the old one was.
	b.save(filepath.Join(plan, "features.json"), `[{"id": "a", "name": "a"}, {"id": "b", "name": "b"}, {"id": "c", "name": "c"}]`)
	b.until(c, "a third one", func(e coppice.Event) bool { return e.Kind == coppice.EventTaskCreated && e.Subject == "app-3" })
	if got := b.ofFeatures(c)["a"]; got.Stage == coppice.StageEnded || got.Stage == "" {
		t.Errorf("the first one is %s", got.Status)
	}
}
