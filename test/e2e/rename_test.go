//go:build linux

package e2e

import (
	"strings"
	"testing"

	"coppice"
	"coppice/api"
)

// A project gets its prefix when it is added, and another one later. Keys of its
// tasks, the old prefix and the features file continue to work.
func TestAProjectIsRenamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{"coppice.yaml": policy + "features: features.json\n", ".coppice/scripted.yaml": `cases:
  - {match: 'Add three', steps: [{write: {path: three.txt, content: "3\n"}}]}
  - {match: 'Add one', steps: [{write: {path: one.txt, content: "1\n"}}]}
  - {match: 'Add two', steps: [{write: {path: two.txt, content: "2\n"}}]}
`, "features.json": `[]`})
	w.serve()
	if got := w.try(w.repo, "", "project", "add", "--prefix", "My Shop"); got.code == 0 || !strings.Contains(got.err, "not a valid task prefix") {
		t.Errorf("a bad prefix: %+v", got)
	}
	if out := w.cli("project", "add", "--prefix", "store"); !strings.HasPrefix(out, "store") {
		t.Errorf("added: %s", out)
	}
	first := w.new("Add one")
	if first != "store-1" {
		t.Errorf("the first task is %s", first)
	}
	w.landed(first)
	if out := w.cli("project", "rename", "store", "shop"); !strings.HasPrefix(out, "shop") {
		t.Errorf("renamed: %s", out)
	}
	second := w.new("Add two", "--after", first, "--project", "store")
	if second != "shop-2" {
		t.Errorf("the second task is %s", second)
	}
	if d := w.landed(second)[0]; d.Project != "shop" {
		t.Errorf("its project is %s", d.Project)
	}
	if text := w.cli("show", first); !strings.Contains(text, "store-1") {
		t.Errorf("shows:\n%s", text)
	}
	w.cli("continue", first, "Add three")
	d := w.await(first, "to be done again", func(d api.TaskDetail) bool { return d.Stage == coppice.StageEnded && d.Round == 1 })
	if d.Outcome != coppice.OutcomeDone || len(d.Landings) != 2 {
		t.Errorf("ended as %s with %d landings\n%s", d.Outcome, len(d.Landings), w.story(first))
	}
	w.write(w.repo, files{"features.json": `[{"id": "f1", "name": "Add two more", "status": "open"}]`})
	w.eventually("a task of the features file", func() bool { return strings.Contains(w.cli("list", "--json"), `"shop-3"`) })
}
