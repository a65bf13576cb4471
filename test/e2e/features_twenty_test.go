//go:build linux

package e2e

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"coppice"
)

var runs = flag.Int("runs", 2, "how often TestTwentyFeatures and TestSabotage run")

// wholePart is how a feature is done well, and judged by looking.
const wholePart = `  - {match: 'Task \S+: Feature (\d+)', role: verify, steps: [{verdict: ['grep -x "ok $1" parts/$1']}]}
  - match: 'Task \S+: Feature (\d+)'
    steps:
      - write: {path: parts/$1, content: "ok $1\n"}
      - run: "sed -i 's/open/passed/' features.json"
`

// Every feature is done on the track of its category, checked, verified and
// landed; of the file nothing changes but the statuses. The same every time.
func TestTwentyFeatures(t *testing.T) {
	t.Parallel()
	for run := range *runs {
		// One after the other: each has the machine as the others had it.
		t.Run(fmt.Sprint(run+1), twentyFeatures)
	}
}

func twentyFeatures(t *testing.T) {
	l := newList(t, files{
		"coppice.yaml": featurePolicy + "checks: [sh check.sh]\n", "features.json": twenty(),
		".coppice/scripted.yaml": "cases:\n" + wholePart})
	l.serve()
	l.cli("project", "add")
	text := l.features("20 passed", all("passed", 20))
	if text != strings.ReplaceAll(twenty(), `"open"`, `"passed"`) {
		t.Errorf("more than the statuses changed:\n%s", text)
	}
	var keys []string
	tracks := map[string]string{}
	for id, task := range l.byFeature() {
		d := l.task(task.Key)
		keys, tracks[d.Category] = append(keys, d.Key), d.Track
		want(t, d.Key+"'s sessions", roles(d), []coppice.Role{coppice.RoleImplement, coppice.RoleVerify})
		want(t, d.Key+"'s landings", outcomes(d), []coppice.LandingOutcome{coppice.LandingLanded})
		if v := d.History[1].Verdict; v == nil || !v.Pass() || v.Steps[0].Evidence != "ok "+id {
			t.Errorf("the verdict on feature %s is %+v", id, v)
		}
		if got := l.onBase("parts/" + id); got != "ok "+id {
			t.Errorf("parts/%s: %q", id, got)
		}
		if n := len(d.After); (n == 1) != (len(id) == 2 && id > "15") {
			t.Errorf("feature %s comes after %d tasks", id, n)
		}
	}
	if got := fmt.Sprint(tracks); got != "map[a:a b:b c:c d:d e:d f:main]" || len(keys) != 20 {
		t.Errorf("%d tasks on tracks %s", len(keys), got)
	}
	r := decode[featureReport](t, l.cli("features", "--json"))
	if len(r.Problems) != 1 || !strings.Contains(r.Problems[0], `the category "f" belongs to no track`) || !strings.Contains(r.Problems[0], "go to main") {
		t.Errorf("problems: %q", r.Problems)
	}
	if out := l.cli("features"); !strings.Contains(out, "20 of 20 passed") || !strings.Contains(l.cli("status"), `the category "f"`) {
		t.Errorf("features prints\n%s", out)
	}
	if got := l.onBase("features.json") + "\n"; got != twenty() {
		t.Errorf("an agent's own ticks landed:\n%s", got)
	}
	l.judgeBase(keys)
	l.checkClean(keys, nil)
}
