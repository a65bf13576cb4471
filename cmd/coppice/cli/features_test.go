package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
	"coppice/api/apitest"
	"coppice/api/client"
	apihttp "coppice/api/http"
	"coppice/cmd/coppice/cli"
	"coppice/control"
	"coppice/features"
	"coppice/store"
	"coppice/store/sqlite"
	"coppice/store/sqlite/sqlitetest"
)

// listed is a shell in a project with a features file.
func listed(t *testing.T, text string, warnings ...string) (*shell, string) {
	t.Helper()
	st := sqlitetest.Open(t, sqlite.Config{})
	last, err := features.Parse("features.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	b := apitest.Start(t, st, func(c *apihttp.Config) {
		c.Warnings = func(int64) []string { return warnings }
		c.Features = &control.Features{Last: func(int64) *features.List { return last }}
	})
	dir := filepath.Join(t.TempDir(), "app")
	b.Must(os.Mkdir(dir, 0o755))
	b.Must(os.WriteFile(filepath.Join(dir, "features.json"), []byte(text), 0o644))
	p := b.Project(dir)
	b.Update(func(tx store.Tx) error {
		p.Policy.Features = "features.json"
		return tx.Projects.Put(&p)
	})
	return &shell{Bundle: b, env: cli.Env{
		Client: func() (*client.Client, error) { return client.At(b.Server.URL(), apitest.Token) }, Dir: dir, Now: b.Clock.Now,
	}}, dir
}

func TestFeaturesGolden(t *testing.T) {
	t.Parallel()
	s, dir := listed(t, `{"features": [
		{"id": 1, "category": "core", "name": "Log in", "status": "passed"},
		{"id": 2, "category": "core", "name": "Log out", "status": "open", "depends_on": [1]},
		{"id": "x", "name": "Fly", "status": "failed", "failure_reason": "it is \u001b[31mtoo heavy", "failure_category": "implementation"}]}`,
		`features.json: the category "core" belongs to no track`)
	s.Task("app", coppice.NewTask{Title: "Log in", Feature: "1", Category: "core"})
	s.Task("app", coppice.NewTask{Title: "Log out", Feature: "2", Category: "core"})
	s.Task("app", coppice.NewTask{Title: "Something else"})
	s.Change("app-1", func(t *coppice.Task) {
		t.Stage, t.Wait, t.Outcome, t.EndedAt = coppice.StageEnded, nil, coppice.OutcomeDone, s.Clock.Now()
	})
	s.golden(t, "features", "features")
	s.golden(t, "features-failed", "features", "--status", "failed", "--json")
	if code, out, _ := s.run("", "status"); code != 0 || !strings.Contains(out, `! features.json: the category "core"`) {
		t.Errorf("status: %d\n%s", code, out)
	}
	if code, _, errs := s.run("", "features", "--status", "done"); code != 2 || !strings.Contains(errs, "passed or failed") {
		t.Errorf("a wrong status: %d %s", code, errs)
	}
	s.Must(os.WriteFile(filepath.Join(dir, "features.json"), []byte("[\n{]"), 0o644))
	code, out, errs := s.run("", "features", "--json")
	var r struct{ Problems []string }
	if err := json.Unmarshal([]byte(out), &r); code != 1 || err != nil || len(r.Problems) != 2 || !strings.Contains(errs, "features.json:2:2") || !strings.Contains(errs, `"fix": "fix the JSON`) {
		t.Errorf("a broken file: %d %s%s", code, out, errs)
	}
}

// While the file is broken, its last valid list is shown with the problem.
func TestFeaturesOfABrokenFile(t *testing.T) {
	t.Parallel()
	s, dir := listed(t, `[{"id": 1, "name": "Log in", "status": "failed", "failure_reason": "too hard"}]`)
	s.Task("app", coppice.NewTask{Title: "Log in", Feature: "1"})
	s.Must(os.WriteFile(filepath.Join(dir, "features.json"), []byte("[\n{]"), 0o644))
	code, out, errs := s.run("", "features")
	for _, part := range []string{"app-1", "Log in", "too hard", "this is the last valid list", "features.json:2:2"} {
		if code != 1 || !strings.Contains(out, part) {
			t.Errorf("%d, without %q: %s%s", code, part, out, errs)
		}
	}
	if strings.Contains(out, "no features") || !strings.Contains(errs, "features.json:2:2") {
		t.Errorf("%s%s", out, errs)
	}
	code, out, _ = s.run("", "features", "--json")
	var r struct {
		Outdated bool
		Features []struct{ Name, Task string }
	}
	if err := json.Unmarshal([]byte(out), &r); code != 1 || err != nil || !r.Outdated || len(r.Features) != 1 || r.Features[0].Task != "app-1" {
		t.Errorf("%d %s %v", code, out, err)
	}
}

func TestFeaturesOfNothing(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for _, args := range [][]string{{"features"}, {"features", "--project", "nope"}} {
		if code, _, errs := s.run("", args...); code != 1 || !strings.Contains(errs, "→") {
			t.Errorf("%v: %d %s", args, code, errs)
		}
	}
	s.Project("/src/app")
	if code, _, errs := s.run("", "features"); code != 1 || !strings.Contains(errs, "has no features file") || !strings.Contains(errs, "coppice project add") {
		t.Errorf("no features file: %d %s", code, errs)
	}
}

func TestImport(t *testing.T) {
	t.Parallel()
	s := setup(t)
	dir := t.TempDir()
	if out, err := exec.Command("git", "init", "--quiet", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s.env.Dir = filepath.Join(dir, "below")
	s.Must(os.MkdirAll(filepath.Join(dir, ".orchestrator"), 0o755))
	s.Must(os.Mkdir(s.env.Dir, 0o755))
	if code, _, errs := s.run("", "import"); code != 1 || !strings.Contains(errs, "has nothing to import") || !strings.Contains(errs, "→") {
		t.Errorf("nothing to import: %d %s", code, errs)
	}
	s.Must(os.WriteFile(filepath.Join(dir, ".orchestrator", "config.json"), []byte(`{"baseBranch": "trunk", "appUrl": "http://x", "verification": {"disabled": true}}`), 0o644))
	code, out, errs := s.run("", "import", "--dry-run")
	for _, part := range []string{"took     baseBranch", "dropped  appUrl", "changed  verification.disabled", "the branch does not exist yet", "would be:", "base: trunk"} {
		if code != 0 || !strings.Contains(out, part) {
			t.Errorf("%d, without %q: %s%s", code, part, out, errs)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "coppice.yaml")); err == nil {
		t.Error("a dry run wrote")
	}
	code, out, errs = s.run("", "import", dir, "--json")
	var r struct {
		Written bool
		Lines   []struct{ Key, Did string }
	}
	if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil || !r.Written || len(r.Lines) < 3 {
		t.Errorf("%d %s%s", code, out, errs)
	}
	if code, out, _ := s.run("", "import", filepath.Join(dir, ".orchestrator", "config.json")); code != 0 || !strings.Contains(out, "it was not changed") {
		t.Errorf("again: %d %s", code, out)
	}
	if code, out, _ := s.run("", "import", "--force", "../"); code != 0 || !strings.Contains(out, "coppice.yaml.bak") {
		t.Errorf("by force: %d %s", code, out)
	}
	s.env.Dir = t.TempDir()
	if code, _, errs := s.run("", "import"); code != 1 || !strings.Contains(errs, "git repository") {
		t.Errorf("outside: %d %s", code, errs)
	}
}
