package config_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/config"
	"coppice/test/testfile"
)

// A tracker is one mapping, or a list of them.
func TestTrackers(t *testing.T) {
	t.Parallel()
	no := false
	want := coppice.TrackerPolicy{
		Name: "bugs", Kind: "linear", Team: "ENG", Token: "T", Every: coppice.Duration(5 * time.Minute), Active: 9, Authors: []string{"ada"},
		Import: coppice.TrackerImport{Labels: []string{"agent"}, Assignee: "bot", Query: "crash"},
		Write:  coppice.TrackerWrite{Close: &no, Labels: map[coppice.IssueStatus]string{coppice.IssueWorking: "in progress"}},
	}
	one := `{name: bugs, kind: linear, team: ENG, token: T, every: 5m, active: 9, authors: [ada],
  import: {labels: [agent], assignee: bot, query: crash}, write: {close: false, labels: {working: in progress}}}`
	for text, list := range map[string]coppice.Trackers{
		one: {want}, "[" + one + ", {}]": {want, {}}, "{}": {{}}, "[]": {},
	} {
		p, err := config.Parse("coppice.yaml", []byte("tracker: "+text+"\n"))
		if err != nil || len(p.Trackers) != len(list) || len(list) > 0 && !reflect.DeepEqual(p.Trackers, list) {
			t.Errorf("%s: %+v, %v", text, p.Trackers, err)
		}
	}
}

func TestRefusedTrackers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{kind: jira}":                         "kind",
		"{kind: linear}":                       "needs the key of a team",
		"{kind: linear, team: ENG, repo: a/b}": "repo is not for linear",
		"{kind: linear, team: ENG-1}":          "not a valid key of a team",
		"{team: ENG}":                          "team is only for linear",
		"{every: 1s}":                          "10s",
		"{every: 48h}":                         "every is too long",
		"{active: 0}":                          "active",
		"[{}, {}]":                             "two trackers have the name forge",
		"[{kind: gitea}, {name: gitea}]":       "two trackers have the name gitea",
		"{write: {labels: {busy: x}}}":         `unknown`,
		"{import: {labels: [x]}, write: {labels: {working: x}}}":  "chooses issues for import",
		"{url: \"https://user:secret@forge.example.org/api/v1\"}": "contains a user or a password",
		"{token: \"not a name\"}":                                 "not a valid",
		"yes":                                                     "a mapping or a list of mappings",
		"{labels: [x]}":                                           "unknown key",
	} {
		if _, err := config.Parse("coppice.yaml", []byte("tracker: "+text+"\n")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// The tasks of a tracker have what its template says.
func TestTrackerTemplate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("coppice.yaml", "tracker: {template: bug}\n")
	if _, _, err := config.Load(dir); err == nil || !strings.Contains(err.Error(), `the tracker forge cannot use its template: there is no template "bug"`) {
		t.Errorf("without the template: %v", err)
	}
	write(config.TemplateFile("bug"), "---\nsteps: [A test shows it]\nlabels: [bug]\n---\nFix it.\n")
	p, _, err := config.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := &coppice.NewTask{Template: "bug", Steps: []string{"A test shows it"}, Labels: []string{"bug"}}
	if got := p.Trackers[0].Task; !reflect.DeepEqual(got, want) {
		t.Errorf("the task: %+v", got)
	}
}

// A template that does not exist is refused when the file is read, in the preview of a
// change, and by the change, which then writes nothing. What is in the templates is not
// a part of the key.
func TestUnknownTemplateOfTracker(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testfile.WriteAll(t, dir, map[string]string{
		"coppice.yaml":               "tracker: {kind: github, repo: ann/app}\n",
		config.TemplateFile("bug"):   "---\nsteps: [A test shows it]\n---\nFix it.\n",
		config.TemplateFile("chore"): "Clean it.\n",
		config.TemplateFile("wrong"): "---\nchekcs: []\n---\nx\n",
	})
	change := func(value string) config.Change { return config.Change{Key: "tracker", Value: json.RawMessage(value)} }
	for value, want := range map[string]struct{ key, cause, fix string }{
		`{"template":"bgu"}`:                           {"tracker.template", `there is no template "bgu"`, "bug, chore, wrong"},
		`[{},{"name":"b","template":"bgu"}]`:           {"tracker[1].template", `there is no template "bgu"`, "bug, chore, wrong"},
		`{"template":"wrong"}`:                         {"tracker.template", "chekcs", ""},
		`[{"template":"bug"},{"template":"nowhere"}]`:  {"tracker[1]", "two trackers have the name", ""},
		`{"template":"bug","kind":"linear"}`:           {"tracker", "needs the key of a team", ""},
		`{"template":"../bug"}`:                        {"tracker.template", "not a valid", ""},
		`{"template":"bug","import":{"labels":["x"]}}`: {},
	} {
		diff, err := config.Preview(dir, change(value), "", nil)
		before, _ := config.Read(dir)
		_, applied := config.Apply(dir, change(value), "", nil, func(p coppice.Policy) error {
			if want.key == "" && (p.Trackers[0].Task == nil || len(p.Trackers[0].Task.Steps) != 1) {
				t.Errorf("%s: the saved policy does not have what the template says", value)
			}
			return nil
		})
		after, _ := config.Read(dir)
		if want.key == "" {
			if err != nil || diff == "" || applied != nil {
				t.Errorf("%s: preview %v, change %v, diff %q", value, err, applied, diff)
			}
			testfile.WriteAll(t, dir, map[string]string{"coppice.yaml": string(before)})
			continue
		}
		var at *config.At
		if !errors.As(err, &at) || at.Key != want.key || !strings.Contains(err.Error(), want.cause) || !strings.Contains(coppice.Public(err).Fix, want.fix) {
			t.Errorf("%s: the preview says %v at %+v (fix %q), want %+v", value, err, at, coppice.Public(err).Fix, want)
		}
		if applied == nil || string(after) != string(before) {
			t.Errorf("%s: the change says %v, and coppice.yaml is\n%s", value, applied, after)
		}
	}
	testfile.WriteAll(t, dir, map[string]string{"coppice.yaml": "base: main\ntracker:\n- {}\n- name: b\n  template: bgu\n"})
	if _, _, err := config.Load(dir); err == nil || !strings.Contains(err.Error(), "coppice.yaml:5:13") || !strings.Contains(coppice.Public(err).Fix, "bug, chore, wrong") {
		t.Errorf("reading the file: %v", err)
	}
	testfile.WriteAll(t, dir, map[string]string{"coppice.yaml": "tracker: {template: bug}\n"})
	p, src, err := config.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range config.Explain(p, src) {
		if k.Name == "tracker" && string(coppice.Raw(k.JSON)) != `[{"template":"bug"}]` {
			t.Errorf("the value of tracker is %s", coppice.Raw(k.JSON))
		}
	}
	if v, err := config.Value(p, "tracker"); err != nil || string(v) != `[{"template":"bug"}]` {
		t.Errorf("the value of tracker is %s, %v", v, err)
	}
	if with, err := config.With(coppice.DefaultPolicy(), p, "tracker"); err != nil || with.Trackers[0].Task == nil {
		t.Errorf("a policy with another tracker: %+v, %v", with.Trackers, err)
	}
}
