package config

import (
	"slices"
	"strings"
	"testing"

	"coppice"
)

func TestParts(t *testing.T) {
	t.Parallel()
	all := Parts()
	for _, part := range coppice.DecidingParts {
		if !slices.Contains(all, part.Name) {
			t.Errorf("%s is not a part: %q", part.Name, all)
		}
	}
	if !slices.Contains(all, "tracks") || !slices.Contains(all, "limits") {
		t.Errorf("parts %q", all)
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	a := coppice.DefaultPolicy()
	a.Checks, a.Prompts = []string{"make lint", "make test"}, map[string]string{"fix": "Fix it.\nPlease."}
	b := a
	b.Checks, b.Land.How, b.Prompts, b.Limits.Sessions = []string{"make lint"}, coppice.LandBranch, map[string]string{"fix": "Fix it.\nNow."}, 9
	want := `--- coppice.yaml: checks
+++ coppice.yaml: checks
@@
 checks:
 - make lint
-- make test
--- coppice.yaml: land
+++ coppice.yaml: land
@@
 land:
-  how: queue
+  how: branch
   push: false
   strategy: squash
--- .coppice/prompts
+++ .coppice/prompts
@@
 fix.md:
 Fix it.
-Please.
+Now.
`
	if got := Diff(a, b, []string{"checks", "land", "prompts"}); got != want {
		t.Errorf("the diff is\n%s", got)
	}
	if got := Diff(a, a, Parts()); got != "" {
		t.Errorf("a policy differs from itself:\n%s", got)
	}
	if got := Diff(a, b, Parts()); !strings.Contains(got, "+  sessions: 9") {
		t.Errorf("the diff of all parts is\n%s", got)
	}
	b.Prompts = map[string]string{"fix": strings.Repeat("long\nlines\n", 20000)}
	if got := Diff(a, b, []string{"prompts"}); len(got) > mostDiff+100 || !strings.Contains(got, "and more") {
		t.Errorf("the diff has %d bytes", len(got))
	}
}

// With replaces one key and nothing else.
func TestWith(t *testing.T) {
	t.Parallel()
	force, disk := coppice.DefaultPolicy(), coppice.DefaultPolicy()
	force.Checks, force.Prompts = []string{"make"}, map[string]string{"fix": "x"}
	disk.Checks, disk.Land.Strategy, disk.Land.How = []string{"true"}, coppice.StrategyMerge, coppice.LandBranch
	disk.Agents = map[string]coppice.Profile{"a": {Protocol: "command"}}
	for key, want := range map[string]func(coppice.Policy) bool{
		"land.how": func(p coppice.Policy) bool {
			return p.Land.How == coppice.LandBranch && p.Land.Strategy == coppice.StrategySquash && p.Checks[0] == "make"
		},
		"checks":   func(p coppice.Policy) bool { return p.Checks[0] == "true" && p.Land.How == coppice.LandQueue },
		"agents.a": func(p coppice.Policy) bool { return p.Agents["a"].Protocol == "command" },
	} {
		got, err := With(force, disk, key)
		if err != nil || !want(got) || got.Prompts["fix"] != "x" {
			t.Errorf("%s: %+v, %v", key, got, err)
		}
	}
	if got, err := With(disk, force, "agents.a"); err != nil || len(got.Agents) != 0 {
		t.Errorf("an agent that is gone: %+v, %v", got.Agents, err)
	}
	if _, err := With(force, disk, "nonsense"); err == nil {
		t.Error("a key that there is not is taken")
	}
}
