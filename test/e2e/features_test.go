//go:build linux

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"coppice"
	"coppice/api/client"
	"coppice/test/harness"
)

// featurePolicy is a policy with a features file and five tracks.
const featurePolicy = policy + `features: features.json
tracks:
  - {name: main, default: true, limit: 2}
  - {name: a, categories: [a], limit: 2}
  - {name: b, categories: [b], limit: 2}
  - {name: c, categories: [c], limit: 2}
  - {name: d, categories: [d, e], limit: 2}
`

// featureReport is what `coppice features --json` prints.
type featureReport struct {
	Features []struct {
		ID, Status, Task, Category string
		Reason                     string `json:"failure_reason"`
		Failure                    string `json:"failure_category"`
	}
	Problems []string
}

// features waits until the file is as f wants it: its events and its tasks'
// move it on.
func (w *world) features(what string, f func(text string) bool) string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 3*patience)
	defer cancel()
	var text string
	for {
		b, err := os.ReadFile(filepath.Join(w.repo, "features.json"))
		if text = string(b); err == nil && f(text) {
			if _, err := os.Lstat(filepath.Join(w.repo, ".features.json.coppice")); err != nil {
				return text // and no edit is pending
			}
		}
		if harness.Tick(ctx) != nil {
			w.t.Fatalf("%s did not come about; the file is\n%s\n%s", what, text, w.cli("features"))
		}
	}
}

// warned waits until the project's status has a warning with the text in it,
// or, for "", has none.
func (w *world) warned(text string) []string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 3*patience)
	defer cancel()
	for {
		st, err := w.client.Status(ctx, "app")
		if err == nil {
			all := strings.Join(st.Projects[0].Warnings, "\n")
			if text == "" && all == "" || text != "" && strings.Contains(all, text) {
				return st.Projects[0].Warnings
			}
		}
		if harness.Tick(ctx) != nil {
			w.t.Fatalf("no warning %q came about: %v %v", text, st.Projects, err)
		}
	}
}

// edit replaces the features file as an editor does.
func (w *world) edit(text string) {
	w.t.Helper()
	w.write(w.Root, files{"edited.json": text})
	if err := os.Rename(filepath.Join(w.Root, "edited.json"), filepath.Join(w.repo, "features.json")); err != nil {
		w.t.Fatal(err)
	}
}

func all(status string, n int) func(string) bool {
	return func(text string) bool { return strings.Count(text, `"status": "`+status+`"`) == n }
}

// twenty is a file of 20 features with unusual formatting.
func twenty() string {
	var b strings.Builder
	b.WriteString("{\n\t\"project\": {\"ours\": [1.0, 2e3]},\n\t\"features\": [\n")
	for i := 1; i <= 20; i++ {
		after := ""
		if i > 15 {
			after = fmt.Sprintf(", \"depends_on\": [%d]", i-15)
		}
		fmt.Fprintf(&b, "\t\t{ \"id\": %d, \"category\": %q, \"name\": \"Feature %d\",\n\t\t  \"steps\": [\"part %d is whole\"], \"status\": \"open\"%s, \"own\": {\"x\":1} },\n",
			i, string(rune('a'+i%6)), i, i, after)
	}
	return strings.TrimSuffix(b.String(), ",\n") + "\n\t]\n}\n"
}

// What people do to the file while everything runs.
func TestFeaturesEditedByHand(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{
		"coppice.yaml": strings.Replace(featurePolicy, "retry: {max: 3,", "retry: {max: 0,", 1) + "verify: {by: none}\n",
		"features.json": `[
  {"id": "one", "name": "Do one", "status": "open"},
  {"id": "bad", "name": "Do bad", "status": "open"},
  {"id": "late", "name": "Do late", "status": "open", "depends_on": ["bad"]},
  {"id": "old", "name": "Done long ago", "status": "passed"}
]
`,
		".coppice/scripted.yaml": `cases:
  - {match: 'Do bad', session: 1, steps: [{fail: {class: implementation, text: "it is too hard"}}]}
  - {match: 'Do (\w+)', steps: [{write: {path: $1.txt, content: "$1\n"}}]}
`})
	s := w.serve()
	w.cli("project", "add")
	text := w.features("a failure", func(text string) bool { return all("failed", 1)(text) && all("passed", 2)(text) })
	if !strings.Contains(text, `{"id": "bad", "name": "Do bad", "status": "failed", "failure_reason": "it is too hard", "failure_category": "implementation"}`) {
		t.Errorf("the failure is written as\n%s", text)
	}

	// A broken edit is reported, with its place, and changes nothing.
	w.edit(strings.Replace(text, `"Do late",`, `"Do late"`, 1))
	w.warned("features.json:4:")
	if out := w.cli("status"); !strings.Contains(out, "features.json:4:") {
		t.Errorf("status does not tell:\n%s", out)
	}
	page, err := w.client.Events(t.Context(), client.EventQuery{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, e := range page.Events {
		if e.Kind == coppice.EventProjectWarned && strings.Contains(e.Reason, "features.json:4:") {
			found++
		}
	}
	if found != 1 {
		t.Errorf("%d events report it, want 1", found)
	}
	if r := w.try(w.repo, "", "features"); r.code != 1 || !strings.Contains(r.err, "features.json:4:") {
		t.Errorf("features: %+v", r)
	}

	// Fixed, with one more, and the failed one set back to open.
	text = strings.Replace(text, `"status": "failed", "failure_reason": "it is too hard", "failure_category": "implementation"`, `"status": "open"`, 1)
	w.edit(strings.Replace(text, "\n]", ",\n  {\"id\": \"more\", \"name\": \"Do more\"}\n]", 1))
	text = w.features("all passed", all("passed", 5))
	w.warned("")
	for _, name := range []string{"one", "bad", "late", "more"} {
		if got := w.onBase(name + ".txt"); got != name {
			t.Errorf("%s: %q", name, got)
		}
	}
	if !strings.Contains(text, "\n  {\"id\": \"more\", \"name\": \"Do more\", \"status\": \"passed\"}\n]") {
		t.Errorf("a feature without a status:\n%s", text)
	}

	// A restart or a checkout of the old file starts nothing again.
	s.Stop(t)
	w.git("checkout", "--", "features.json")
	w.serve()
	w.features("all passed again", all("passed", 4))
	if page, err := w.client.Tasks(t.Context(), client.TaskQuery{Limit: 100}); err != nil || len(page.Tasks) != 4 {
		t.Errorf("%d tasks, %v", len(page.Tasks), err)
	}
}

// A server that dies over and over loses no feature and does none twice.
func TestFeaturesThroughCrashes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{
		"coppice.yaml": featurePolicy + "verify: {by: none}\n", "features.json": twenty(),
		".coppice/scripted.yaml": `cases: [{match: 'Feature (\d+)', steps: [{append: {path: f$1.txt, content: "$1\n"}}]}]
`})
	s := w.serve()
	w.cli("project", "add")
	for n := 3; n <= 15; n += 4 {
		w.features("some passed", func(text string) bool { return strings.Count(text, `"passed"`) >= n })
		s.Kill()
		s = w.serve()
	}
	w.features("20 passed", all("passed", 20))
	if got := w.git("rev-list", "--count", "main"); got != "21" {
		t.Errorf("main has %s commits", got)
	}
	var parsed any
	if err := json.Unmarshal([]byte(w.features("the file", func(string) bool { return true })), &parsed); err != nil {
		t.Error(err)
	}
	if left := regexp.MustCompile(`(?m)^\?\? .*`).FindAllString(w.git("status", "--porcelain"), -1); len(left) > 0 {
		t.Errorf("left in the checkout: %q", left)
	}
}
