package importer

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"coppice"
	"coppice/config"
)

const aoText = `$schema: https://example.com/config.schema.json
port: 3000
defaults: {runtime: tmux, agent: claude-code, workspace: worktree, notifiers: [desktop], tracker: github}
projects:
  shop:
    repo: owner/shop
    path: .
    defaultBranch: main
    sessionPrefix: sh
    agent: codex
    agentConfig: {model: gpt-5, permissions: permissionless}
    symlinks: [node_modules, ../out]
    postCreate: [npm ci]
    agentRules: |
      Write tests first.
    orchestratorRules: none
    reactions:
      ci-failed: {auto: true, action: send-to-agent, retries: 4}
  docs: {repo: owner/docs, path: /nowhere, defaultBranch: main}
reactions:
  ci-failed: {auto: true, action: send-to-agent, retries: 2}
  changes-requested: {auto: true, action: send-to-agent, escalateAfter: 30m}
  merge-conflicts: {action: send-to-agent}
  approved-and-green: {auto: true, action: merge, strategy: rebase, deleteAfter: true}
  agent-stuck: {threshold: 15m}
  label-added: {condition: "label == 'x'", action: send-to-agent}
power: {preventIdleSleep: true}
lifecycle: {autoCleanupOnMerge: true}
later: {x: 1}
`

// Each format has a golden report, and its second import changes nothing.
func TestSources(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		from  string
	}{
		"ao":        {files: map[string]string{AOFile: aoText}},
		"guides":    {files: map[string]string{GuidesDir + "/PROJECT.md": "# Shop\n", GuidesDir + "/CONVENTIONS.md": "Tabs.", GuidesDir + "/hooks.json": `{"pre_task": "make lint", "post_task": null, "on_failure": ["a", "b"]}`, GuidesDir + "/memory/topics/a.md": "x", GuidesDir + "/skills/s/skill.md": "x"}},
		"templates": {files: map[string]string{"t.json": `[{"name": "Bug Fix!", "content": "Find the cause first.\n", "model": "opus", "work_dir": "/w"}, {"name": "", "content": "x"}, {"name": "empty", "content": " "}, {"name": "Sweep", "items": ["Fix a\nwith care", "Fix b", " "]}]`}, from: "t.json"},
		"several":   {files: map[string]string{File: `{"baseBranch": "main", "agent": {"preferred": "one"}, "prompts": {"fix": "inline {{name}}"}}`, ".orchestrator/fix.md": "Fix {{FEATURE_NAME}}: {{feature.description}}\n{{steps}}{{whatever}}", ".orchestrator/verification.md": "Look.", AOFile: "projects: {x: {defaultBranch: trunk, postCreate: [make]}}"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := repository(t, c.files)
			o := Options{Root: dir, Branch: func(s string) bool { return true }}
			if c.from != "" {
				o.From = filepath.Join(dir, c.from)
			}
			o.DryRun = true
			dry, err := Run(o)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, "testdata/"+name+".source.golden", render(dry, dir))
			for _, f := range append(dry.Files, Output{Path: config.File}) {
				if _, err := os.Stat(filepath.Join(dir, f.Path)); err == nil {
					t.Errorf("a dry run wrote %s", f.Path)
				}
			}
			o.DryRun = false
			done, err := Run(o)
			if err != nil || len(done.Files) == 0 {
				t.Fatalf("%d files, %v", len(done.Files), err)
			}
			for _, f := range done.Files {
				if got, err := os.ReadFile(filepath.Join(dir, f.Path)); err != nil || string(got) != f.Text {
					t.Errorf("%s is %q, %v", f.Path, got, err)
				}
			}
			if p, _, err := config.Load(dir); name != "templates" && (err != nil || len(p.Problems) > 0) {
				t.Errorf("what was written cannot be used: %v, %v", err, p.Problems)
			}
			again, err := Run(o)
			if err != nil || again.Written || len(again.Files) > 0 {
				t.Errorf("a second import writes again: %v, %+v", err, again.Files)
			}
		})
	}
}

// A file of the project is never replaced.
func TestOwnFilesStay(t *testing.T) {
	t.Parallel()
	dir := repository(t, map[string]string{GuidesDir + "/PROJECT.md": "theirs", projectGuide: "mine"})
	r, err := Run(Options{Root: dir, Force: true})
	if got, _ := os.ReadFile(filepath.Join(dir, projectGuide)); err != nil || string(got) != "mine" || len(r.Files) > 0 || r.Lines[0].Did != Kept {
		t.Errorf("the file is %q, %v, %+v", got, err, r.Lines)
	}
	outside := t.TempDir()
	dir = repository(t, map[string]string{GuidesDir + "/PROJECT.md": "theirs"})
	if err := os.Symlink(outside, filepath.Join(dir, ".coppice")); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(Options{Root: dir}); err == nil {
		t.Error("a link out of the repository is followed")
	}
	if list, _ := os.ReadDir(outside); len(list) > 0 {
		t.Errorf("wrote %v outside of the repository", list)
	}
}

func TestTemplatesOfADatabase(t *testing.T) {
	t.Parallel()
	dir := repository(t, map[string]string{"x": ""})
	file := filepath.Join(t.TempDir(), "orchestrator.db")
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{
		"CREATE TABLE templates (id TEXT PRIMARY KEY, name TEXT, content TEXT, work_dir TEXT, model TEXT, created_at INTEGER)",
		"INSERT INTO templates VALUES ('1', 'Review', 'Read it twice.', NULL, NULL, 1)",
		"CREATE TABLE batch_templates (id TEXT PRIMARY KEY, name TEXT, items TEXT)",
		`INSERT INTO batch_templates VALUES ('1', 'Two', '["one", "two"]')`,
	} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := Run(Options{Root: dir, From: file})
	if err != nil || r.Written || len(r.Files) != 2 || r.Files[0].Text != "Read it twice.\n" {
		t.Fatalf("%+v, %v", r, err)
	}
	var tasks struct{ Tasks []struct{ Title string } }
	if err := json.Unmarshal([]byte(r.Files[1].Text), &tasks); err != nil || len(tasks.Tasks) != 2 || tasks.Tasks[1].Title != "two" {
		t.Errorf("%s, %v", r.Files[1].Text, err)
	}
	if list, _ := os.ReadDir(filepath.Dir(file)); len(list) != 1 {
		t.Errorf("beside the database are %v", list)
	}
	if err := os.WriteFile(file+"-wal", []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(Options{Root: dir, From: file}); coppice.ErrorCode(err) != coppice.EConflict || coppice.Public(err).Fix == "" {
		t.Errorf("a database in use: %v", err)
	}
}

func TestSourcesRefused(t *testing.T) {
	t.Parallel()
	two := "projects: {a: {path: /x}, b: {path: /y}}"
	for name, c := range map[string]struct {
		file, text, project, says string
	}{
		"broken":             {AOFile, "projects: [", "", "not a YAML mapping"},
		"no mapping":         {AOFile, "- a", "", "not a YAML mapping"},
		"empty":              {AOFile, "", "", "not a YAML mapping"},
		"no projects":        {AOFile, "port: 1", "", "has no projects"},
		"aliases":            {AOFile, "a: &a [x]\nprojects: {x: *a}", "", "alias"},
		"several":            {AOFile, two, "", "several projects"},
		"unknown project":    {AOFile, two, "c", "no project"},
		"templates of else":  {"t.json", `["x"]`, "", "not a list of templates"},
		"no templates":       {"t.json", "[]", "", "not a list of templates"},
		"a broken database":  {"x.db", "SQLite format 3\x00 and no more", "", "cannot be read"},
		"a folder of nobody": {GuidesDir + "/x", "", "", "has neither"},
	} {
		dir := repository(t, map[string]string{c.file: c.text})
		o := Options{Root: dir, From: filepath.Join(dir, c.file), Name: c.project}
		if strings.HasPrefix(c.file, GuidesDir) {
			o.From = filepath.Join(dir, GuidesDir)
		}
		_, err := Run(o)
		if e := coppice.Public(err); err == nil || !strings.Contains(e.Cause, c.says) || e.Fix == "" {
			t.Errorf("%s: %v", name, err)
		}
		if list, _ := os.ReadDir(dir); len(list) != 1 {
			t.Errorf("%s: wrote %v", name, list)
		}
	}
	dir := repository(t, map[string]string{AOFile: two})
	if r, err := Run(Options{Root: dir, Name: "b"}); err != nil || !strings.Contains(r.Lines[len(r.Lines)-1].Why, "--project a") {
		t.Errorf("a named project: %+v, %v", r.Lines, err)
	}
}

// Whatever a project of AO has, the outcome is a valid coppice.yaml.
func TestAnyAOImports(t *testing.T) {
	t.Parallel()
	dir := repository(t, map[string]string{"README.md": "x"})
	rapid.Check(t, func(t *rapid.T) {
		project, c := map[string]any{}, map[string]any{}
		for _, r := range aoRules {
			v := rapid.SampledFrom([]any{nil, "x", "a: b", "../x", 7, true, []any{"x", 1, "npm ci\nrm"}, map[string]any{"agent": "claude-code", "agentConfig": map[string]any{"model": "--x", "permissions": "suggest"}},
				map[string]any{"ci-failed": map[string]any{"retries": -1}, "approved-and-green": map[string]any{"strategy": "x: y"}, "agent-stuck": map[string]any{"threshold": "soon"}, "x": 1}}).Draw(t, r.key)
			top, rest, nested := strings.Cut(r.key, ".")
			switch {
			case top == "project":
				project[rest] = v
			case nested:
				m, _ := c[top].(map[string]any)
				if m == nil {
					m = map[string]any{}
					c[top] = m
				}
				m[rest] = v
			default:
				c[r.key] = v
			}
		}
		c["projects"] = map[string]any{"x": project}
		b, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, AOFile), b, 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := Run(Options{Root: dir, DryRun: true})
		if err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if _, err := config.Parse(config.File, []byte(r.Text)); err != nil {
			t.Fatalf("%s: %v", r.Text, err)
		}
	})
}

func TestAgentNamed(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"claude-code": "claude", "codex": "codex", "cursor": "cursor-agent", "kimicode": "kimi", "my-own": "my-own", "": ""} {
		if got := agentNamed(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}
