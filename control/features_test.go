package control

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
	"coppice/api"
	"coppice/features"
)

func TestFeatures(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "f.json")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("[\n  {\"id\": 1, \"name\": \"Log in\", \"category\": \"ui\"}\n]\n")
	p := coppice.Project{ID: 3, Prefix: "app", Path: dir, Policy: coppice.DefaultPolicy()}
	p.Policy.Features = "f.json"
	p.Policy.Tracks = []coppice.Track{{Name: "main", Default: true}, {Name: "web", Categories: []string{"ui"}}}
	s := &Features{Warnings: func(id int64) []string { return map[int64][]string{3: {"the file is not watched"}}[id] }}
	ctx := t.Context()

	l, err := s.List(ctx, p)
	if err != nil || len(l.Features) != 1 || l.Features[0].Track != "web" || l.Features[0].Line != 2 || l.Revision == "" || len(l.Problems) != 1 {
		t.Fatalf("%+v, %v", l, err)
	}
	name, status := "Log out", "passed"
	id, err := s.Change(ctx, p, "", api.FeatureChange{Name: &name}, "")
	if err != nil || id != "2" {
		t.Fatalf("added %q, %v", id, err)
	}
	if _, err := s.Change(ctx, p, "2", api.FeatureChange{Status: &status}, l.Revision); coppice.ErrorCode(err) != coppice.EConflict {
		t.Errorf("a change of an older text: %v", err)
	}
	if _, err := s.Change(ctx, p, "2", api.FeatureChange{Status: &status}, ""); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	if want := "[\n  {\"id\": 1, \"name\": \"Log in\", \"category\": \"ui\"},\n  {\"id\": 2, \"name\": \"Log out\", \"status\": \"passed\"}\n]\n"; err != nil || string(got) != want {
		t.Errorf("the file has %q, want %q (%v)", got, want, err)
	}

	write("[\n  {\"id\": 1, \"name\": \"a\"},\n]\n")
	l, err = s.List(ctx, p)
	if err != nil || len(l.Features) != 0 || len(l.Problems) != 2 || l.Problems[0].Line != 3 || l.Problems[0].Column == 0 || !strings.Contains(l.Problems[0].Text, "f.json:3:") {
		t.Errorf("a broken file: %+v, %v", l, err)
	}
	last, err := features.Parse("f.json", got)
	if err != nil {
		t.Fatal(err)
	}
	s.Last = func(int64) *features.List { return last }
	l, err = s.List(ctx, p)
	if err != nil || !l.Outdated || len(l.Features) != 2 || l.Features[1].Name != "Log out" || l.Features[0].Track != "web" || l.Features[0].Line != 0 || len(l.Problems) != 2 || l.Problems[0].Line != 3 {
		t.Errorf("the last list of a broken file: %+v, %v", l, err)
	}
	p.Policy.Features = "other.json"
	if l, err = s.List(ctx, p); err != nil || l.Outdated || len(l.Features) != 0 {
		t.Errorf("the list of another file: %+v, %v", l, err)
	}
	p.Policy.Features = "f.json"
	if _, err := s.Change(ctx, p, "1", api.FeatureChange{Name: &name}, ""); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("a change of a broken file: %v", err)
	}
	p.Policy.Features = ""
	if l, err = s.List(ctx, p); err != nil || l.File != "" || l.Features == nil {
		t.Errorf("without a file: %+v, %v", l, err)
	}
	if _, err := s.Change(ctx, p, "", api.FeatureChange{Name: &name}, ""); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("a change without a file: %v", err)
	}
}
