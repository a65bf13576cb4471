//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/api"
)

// sabotage is a way in which a feature goes wrong.
type sabotage struct {
	name     string
	agent    string // a feature's own, where it must not be everybody's
	track    bool   // has a track for itself
	ends     string // the status its feature ends with
	category string // of the failure
	reason   string // part of what is written, or shown while it stays open
	cases    string // of the script; $1 is the feature's id
}

// The verifier of each kind, unless it is the saboteur, looks for itself.
const (
	looks = `  - {match: 'Task \S+: NAME (\d+)', role: verify, steps: [{verdict: ['grep -x "ok $1" parts/$1']}]}
`
	works = `  - {match: 'Task \S+: NAME (\d+)', steps: [{write: {path: parts/$1, content: "ok $1\n"}}]}
`
	tries = `  - {match: 'Task \S+: NAME (\d+)', role: fix, steps: [{append: {path: more/$1, content: "more\n"}}]}
`
	// Goes back to the first commit and changes what the second one changed.
	clashes = `  - match: 'Task \S+: NAME (\d+)'
    role: implement
    steps:
      - run: git reset --quiet --hard "$(git rev-list --max-parents=0 HEAD)"
      - write: {path: shared, content: "$1\n"}
      - write: {path: parts/$1, content: "ok $1\n"}
      - commit: Clash
`
)

var saboteurs = []sabotage{
	{name: "Wrong", ends: "failed", category: "test_only", reason: "its checks do not pass", cases: looks + `
  - {match: 'Task \S+: NAME (\d+)', steps: [{append: {path: parts/$1, content: "wrong\n"}}]}
`},
	{name: "Silent", ends: "failed", category: "verification", reason: "its verifier refused it", cases: tries + `
  - {match: 'Task \S+: NAME (\d+)', role: verify, steps: [{say: It looks fine to me.}]}
` + works},
	{name: "Refused", ends: "failed", category: "verification", reason: "its verifier refused it", cases: tries + `
  - {match: 'Task \S+: NAME (\d+)', role: verify, steps: [{say: "STEP 1: FAIL I do not like it"}]}
` + works},
	{name: "Nothing", ends: "open", reason: "without changing anything", cases: `
  - {match: 'Task \S+: NAME (\d+)', steps: [{say: I am done.}]}
`},
	{name: "Clash", ends: "failed", category: "verification", reason: "does not merge with the base", cases: looks + tries + clashes},
	{name: "Exit", ends: "failed", category: "unknown", reason: "exit 1", cases: `
  - {match: 'Task \S+: NAME (\d+)', steps: [{append: {path: parts/$1, content: "half of it\n"}}, {commit: Half}, {crash: {exit: 1}}]}
`},
	{name: "Kill", ends: "failed", category: "environment", reason: "SIGKILL", cases: `
  - {match: 'Task \S+: NAME (\d+)', steps: [{append: {path: parts/$1, content: "half of it\n"}}, {commit: Half}, {crash: {signal: KILL}}]}
`},
	{name: "Limited", agent: "limited", ends: "open", reason: "limited is limited until ", cases: `
  - {match: 'Task \S+: NAME (\d+)', steps: [{append: {path: parts/$1, content: "half of it\n"}}, {commit: Half}, {fail: {class: rate_limit, text: you have hit your limit, retry_in: 24h}}]}
`},
	{name: "Tampered", ends: "failed", category: "verification", reason: "its verifier refused it", cases: looks + `
  - {match: 'Task \S+: NAME (\d+)', steps: [{append: {path: parts/$1, content: "wrong\n"}}, {append: {path: check.sh, content: ""}}, {write: {path: check.sh, content: "exit 0\n"}}]}
`},
	{name: "Meddled", ends: "failed", category: "verification", reason: "its verifier refused it", cases: tries + `
  - match: 'Task \S+: NAME (\d+)'
    role: verify
    steps:
      - run: chmod u+w parts parts/$1 && echo "better $1" > parts/$1
      - say: "STEP 1: PASS now it is fine"
` + works},
	{name: "Broken", track: true, ends: "failed", category: "environment", reason: "the database is not there", cases: `
  - {match: 'Task \S+: NAME (\d+)', steps: [{fail: {class: environment, text: the database is not there}}]}
`},
	// These only look bad.
	{name: "Solved", ends: "passed", cases: looks + clashes + `
  - {match: 'Task \S+: NAME (\d+)', role: fix, steps: [{merge: {resolve: {shared: "$1\n"}}}]}
`},
	{name: "Paused", agent: "brief", ends: "passed", cases: looks + `
  - {match: 'Task \S+: NAME (\d+)', session: 1, steps: [{fail: {class: rate_limit, text: you have hit your limit, retry_in: 1500ms}}]}
` + works},
	{name: "Loud", ends: "passed", cases: looks + `
  - {match: 'Task \S+: NAME (\d+)', steps: [{flood: {bytes: 10485760}}, {write: {path: parts/$1, content: "ok $1\n"}}]}
`},
}

// sabotagePolicy tries and fixes once each, so that all ends.
const sabotagePolicy = `base: main
features: features.json
agent: {use: scripted}
agents:
  limited: {protocol: scripted, command: ["{coppice}", scripted]}
  brief: {protocol: scripted, command: ["{coppice}", scripted]}
limits: {sessions: 8, memory: 100%}
retry: {max: 1, backoff: 100ms}
verify: {attempts: 1}
checks: [sh check.sh]
tracks:
  - {name: main, default: true, limit: 2}
  - {name: a, categories: [a], limit: 2}
  - {name: b, categories: [b], limit: 2}
  - {name: c, categories: [c], limit: 2}
  - {name: d, categories: [d], limit: 2}
`

// sabotagedFeatures and sabotaged: 30 % of the features of each round.
const sabotagedFeatures, sabotaged = 20, 6

// With 30 % of the features sabotaged every good one lands, no bad one does, and
// the base passes at every commit. A run deals every kind at least once.
func TestSabotage(t *testing.T) {
	t.Parallel()
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d: go test ./test/e2e -run TestSabotage -seed %d", s, s)
	for run := range *runs {
		r := rand.New(rand.NewPCG(s, uint64(run)))
		hand := slices.Clone(saboteurs)
		r.Shuffle(len(hand), func(i, j int) { hand[i], hand[j] = hand[j], hand[i] })
		for len(hand)%sabotaged != 0 {
			// Of some kinds two would be in each other's way.
			if k := saboteurs[r.IntN(len(saboteurs))]; k.ends == "failed" && !k.track {
				hand = append(hand, k)
			}
		}
		for round := 0; len(hand) > 0; round++ {
			dealt := hand[:sabotaged]
			hand = hand[sabotaged:]
			t.Run(fmt.Sprintf("%d.%d", run+1, round+1), func(t *testing.T) { sabotageRound(t, r, dealt) })
		}
	}
}

// victim is a feature and what is wrong with it, if anything.
type victim struct {
	sabotage
	ID       int      `json:"id"`
	Name     string   `json:"name"`
	Category string   `json:"category"`
	Agent    string   `json:"agent,omitempty"`
	Steps    []string `json:"steps"`
	Status   string   `json:"status"`
}

// deal makes the features of a round. One that has a track for itself has the
// last one; the others are on the first four then.
func deal(r *rand.Rand, dealt []sabotage) []victim {
	kinds := slices.Clone(dealt)
	for len(kinds) < sabotagedFeatures {
		kinds = append(kinds, sabotage{name: "Feature", ends: "passed"})
	}
	r.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	categories := []string{"", "a", "b", "c", "d"}
	if slices.ContainsFunc(dealt, func(s sabotage) bool { return s.track }) {
		categories = categories[:4]
	}
	var all []victim
	for i, k := range kinds {
		v := victim{sabotage: k, ID: i + 1, Name: fmt.Sprintf("%s %d", k.name, i+1), Category: categories[r.IntN(len(categories))], Agent: k.agent,
			Steps: []string{fmt.Sprintf("part %d is whole", i+1)}, Status: "open"}
		if k.track {
			v.Category = "d"
		}
		all = append(all, v)
	}
	return all
}

func sabotageRound(t *testing.T, r *rand.Rand, dealt []sabotage) {
	victims := deal(r, dealt)
	script := "cases:\n" + wholePart
	for _, k := range saboteurs {
		script += strings.ReplaceAll(k.cases, "NAME", k.name)
	}
	text, err := json.MarshalIndent(victims, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	l := newList(t, files{"coppice.yaml": sabotagePolicy, "features.json": string(text) + "\n", ".coppice/scripted.yaml": script})
	l.serve()
	l.cli("project", "add")
	counts := map[string]int{}
	for _, v := range victims {
		counts[v.ends]++
	}
	l.features("every feature as it should end", func(text string) bool {
		return all("passed", counts["passed"])(text) && all("failed", counts["failed"])(text) && all("open", counts["open"])(text)
	})
	report := decode[featureReport](t, l.cli("features", "--json"))
	tasks := l.byFeature()
	var landed, kept []string
	for i, v := range victims {
		f, key := report.Features[i], tasks[fmt.Sprint(v.ID)].Key
		if f.Status != v.ends || f.Failure != v.category || v.ends == "failed" && !strings.Contains(f.Reason, v.reason) {
			t.Errorf("%s is %s (%s): %s", v.Name, f.Status, f.Failure, f.Reason)
		}
		if v.ends == "passed" {
			landed = append(landed, key)
		} else {
			kept = append(kept, key)
		}
		l.checkVictim(v, key)
	}
	l.judgeBase(landed)
	l.checkClean(landed, kept)
}

// checkVictim looks at what came of a sabotaged feature's task.
func (l *list) checkVictim(v victim, key string) {
	l.t.Helper()
	d := l.task(key)
	switch v.name {
	case "Limited":
		// Its feature was open all the time.
		d = l.await(key, "a reason to wait", func(d api.TaskDetail) bool { return strings.Contains(d.Reason, v.reason) })
		if d.Landed != "" || !strings.Contains(l.cli("limits"), d.Key) {
			l.t.Errorf("%s says %q; limits:\n%s", d.Key, d.Reason, l.cli("limits"))
		}
	case "Nothing":
		d = l.await(key, "a person's turn", func(d api.TaskDetail) bool { return strings.Contains(d.Reason, v.reason) })
		if d.Status != coppice.StatusNeedsYou || len(d.History) != 1 || d.Answer == nil {
			l.t.Errorf("%s is %s after %d sessions, with the answer %+v", d.Key, d.Status, len(d.History), d.Answer)
		}
	case "Paused":
		first, second := d.History[0], d.History[1]
		if first.Failure == nil || second.CreatedAt.Before(first.Failure.RetryAt) {
			l.t.Errorf("%s continued at %s, before the reset: %v", d.Key, second.CreatedAt, first.Failure)
		}
	case "Broken":
		l.warned("track d is paused")
		if status := l.cli("status"); !strings.Contains(status, "track d is paused: 2 environment failures in a row, the last: the database is not there") ||
			!strings.Contains(status, "coppice project resume app --track d") {
			l.t.Errorf("status does not say what to do:\n%s", status)
		}
	case "Tampered":
		if e := last(d.Landings).Evidence; !strings.Contains(e, "STEP 1: FAIL") || len(d.CheckRuns) == 0 || !last(d.CheckRuns).Passed() {
			l.t.Errorf("%s: its own check should pass and its verifier not: %s", d.Key, e)
		}
	case "Silent":
		if e := last(d.Landings).Evidence; !strings.Contains(e, "said nothing about this step") {
			l.t.Errorf("the evidence is %q", e)
		}
	case "Meddled":
		if e := last(d.Landings).Evidence; !strings.Contains(e, "void") {
			l.t.Errorf("the evidence is %q", e)
		}
	case "Exit", "Kill":
		if d.Landed != "" || len(d.Landings) != 0 || len(d.History) != 2 {
			l.t.Errorf("%s: the work that a crash left continued: %d sessions, landings %v", d.Key, len(d.History), outcomes(d))
		}
	}
	if v.ends == "failed" && (d.Outcome != coppice.OutcomeFailed || d.Failure == nil) {
		l.t.Errorf("%s ended as %s: %v", d.Key, d.Outcome, d.Failure)
	}
}
