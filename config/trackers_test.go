package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/config"
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
	if _, _, err := config.Load(dir); err == nil || !strings.Contains(err.Error(), `the tracker forge has the template "bug": there is no template "bug"`) {
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
