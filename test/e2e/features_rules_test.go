//go:build linux

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"coppice"
	"coppice/api"
)

// A slow verifier delays neither the other tracks nor its own: other proven tasks
// land in the meantime.
func TestVerificationBlocksNobody(t *testing.T) {
	t.Parallel()
	list := []string{anEntry("slow", "a", "")}
	for i, category := range []string{"a", "b", "c", "d", ""} {
		list = append(list, anEntry(fmt.Sprintf("part%d", i), category, ""))
	}
	w := newWorld(t, files{"coppice.yaml": featurePolicy + "checks: ['true']\n", "features.json": entries(list...), ".coppice/scripted.yaml": `cases:
  - {match: 'Do slow', role: verify, steps: [{wait_message: true}, {verdict: ['grep -x slow slow.txt']}]}
` + doing})
	w.serve()
	w.cli("project", "add")
	w.eventually("its task", func() bool { return len(w.byFeature()) == 6 })
	slow := w.byFeature()["slow"].Key
	w.looking(slow)
	w.features("all others passed", func(text string) bool { return all("passed", 5)(text) && all("verifying", 1)(text) })
	w.cli("send", slow, "continue")
	w.features("it passed", all("passed", 6))
	d := w.task(slow)
	// It was proven on a base that has moved since, and that costs no second
	// verdict: the merged tree is checked again, the work itself is the same.
	want(t, "sessions", roles(d), []coppice.Role{coppice.RoleImplement, coppice.RoleVerify})
	want(t, "landings", outcomes(d), []coppice.LandingOutcome{coppice.LandingLanded})
}

// A failed feature is retried with a person's text, and one that has passed
// continues its conversation. The file follows both.
func TestRetryAndContinueAFeature(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{"coppice.yaml": strings.Replace(featurePolicy, "retry: {max: 3,", "retry: {max: 0,", 1), "features.json": entries(anEntry("one", "a", "")),
		".coppice/scripted.yaml": `cases:
  - {match: 'Do one', session: 1, steps: [{say: I cannot find it}, {fail: {class: implementation, text: "there is no such table"}}]}
  - {match: 'now also more', role: implement, steps: [{append: {path: more.txt, content: "more\n"}}, {wait_message: true}]}
` + doing})
	w.serve()
	w.cli("project", "add")
	w.features("it failed", all("failed", 1))
	w.cli("retry", "app-1", "--note", "the table is called users")
	text := w.features("it passed", all("passed", 1))
	if strings.Contains(text, "failure_") {
		t.Errorf("the failure is still shown:\n%s", text)
	}
	w.wantPrompt("app-1.2", "A person adds: the table is called users", "there is no such table")
	d := w.task("app-1")
	w.cli("continue", "app-1", "now also more")
	w.features("it is open again", all("open", 1))
	w.await("app-1", "a session that waits", func(x api.TaskDetail) bool {
		return len(x.History) > len(d.History) && last(x.History).State == coppice.SessionIdle
	})
	w.cli("send", "app-1", "continue")
	w.features("it passed again", all("passed", 1))
	again := w.task("app-1")
	if n := len(d.History); again.History[n].Resume == "" || again.History[n].Resume != d.History[1].Conversation {
		t.Errorf("it continued %q, not %q", again.History[n].Resume, d.History[1].Conversation)
	}
	w.wantOnBase("more.txt", "more")
	if got := w.git("rev-list", "--count", "main"); got != "3" {
		t.Errorf("main has %s commits", got)
	}
}

// What one session of an agent learns of its limit holds for all of them: none
// begins before the reset, and other agents continue.
func TestALimitIsEverySessionsOfThatAgent(t *testing.T) {
	t.Parallel()
	policy := featurePolicy + "agents: {brief: {protocol: scripted, command: [\"{coppice}\", scripted]}}\nverify: {by: none}\n"
	w := newWorld(t, files{"coppice.yaml": policy, "features.json": entries(
		anEntry("first", "a", `, "agent": "brief", "priority": 5`), anEntry("second", "b", `, "agent": "brief", "depends_on": ["other"]`), anEntry("other", "c", "")),
		".coppice/scripted.yaml": `cases:
  - {match: 'Do first', session: 1, steps: [{fail: {class: rate_limit, text: you have hit your limit, retry_in: 4s}}]}
  - {match: 'Do other', steps: [{wait_message: true}, {write: {path: other.txt, content: "other\n"}}]}
` + doing})
	w.serve()
	w.cli("project", "add")
	w.eventually("the tasks", func() bool { return len(w.byFeature()) == 3 })
	tasks := w.byFeature()
	d := w.await(tasks["first"].Key, "a limit", func(d api.TaskDetail) bool { return len(d.History) > 0 && d.History[0].Failure != nil })
	reset := d.History[0].Failure.RetryAt
	w.working(tasks["other"].Key, coppice.SessionIdle)
	w.cli("send", tasks["other"].Key, "continue")
	w.features("all passed", all("passed", 3))
	for _, id := range []string{"first", "second"} {
		d := w.task(tasks[id].Key)
		if at := last(d.History).CreatedAt; at.Before(reset) || reset.IsZero() {
			t.Errorf("%s began at %s, before the reset at %s", id, at, reset)
		}
	}
	if n := len(w.task(tasks["second"].Key).History); n != 1 {
		t.Errorf("the second one ran into the limit itself: %d sessions", n)
	}
}

// A limited agent's fallback continues where it stopped: its prompt says what was done,
// and has it.
func TestAFallbackTakesTheWorkOver(t *testing.T) {
	t.Parallel()
	policy := strings.Replace(featurePolicy, "agent: {use: scripted}", "agent: {use: limited, fallback: [scripted]}", 1)
	w := newWorld(t, files{"coppice.yaml": policy + "agents: {limited: {protocol: scripted, command: [\"{coppice}\", scripted], args: [.coppice/limited.yaml]}}\n",
		"features.json": entries(anEntry("one", "a", ""), anEntry("two", "b", "")),
		".coppice/limited.yaml": `cases:
  - {match: 'Do (\w+)', steps: [{write: {path: half-$1.txt, content: "half\n"}}, {say: Half of it is done.}, {fail: {class: rate_limit, text: you have hit your limit, retry_in: 24h}}]}
`, ".coppice/scripted.yaml": `cases:
  - {match: 'Do (\w+)', role: verify, steps: [{verdict: ['grep -x half half-$1.txt && grep -x whole $1.txt']}]}
  - {match: 'Do (\w+).*you have hit your limit.*half-\w+.txt.*Half of it is done', steps: [{run: test -e half-$1.txt}, {write: {path: $1.txt, content: "whole\n"}}]}
  - {match: 'Do (\w+)', steps: [{write: {path: half-$1.txt, content: "half\n"}}, {write: {path: $1.txt, content: "whole\n"}}]}
`})
	w.serve()
	w.cli("project", "add")
	w.features("both passed", all("passed", 2))
	handed := 0
	for _, task := range w.byFeature() {
		d := w.task(task.Key)
		if d.History[0].Agent == "limited" && d.History[0].Failure != nil {
			handed++
		}
		if last(d.History).Agent != "scripted" {
			t.Errorf("%s ends with %s", d.Key, last(d.History).Agent)
		}
	}
	if handed == 0 {
		t.Error("nobody was limited")
	}
}

// Two environment failures in a row pause their track and say what to do; what
// was queued there waits, and the other tracks continue.
func TestABrokenEnvironmentPausesItsTrack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{
		"coppice.yaml": strings.NewReplacer("retry: {max: 3,", "retry: {max: 1,", "categories: [a], limit: 2", "categories: [a], limit: 1").Replace(featurePolicy) +
			"critical_patterns: [{match: 'SQLSTATE\\[\\w+\\]', label: the database is away}]\n",
		"features.json": entries(anEntry("bad", "a", `, "priority": 9`), anEntry("behind", "a", `, "depends_on": ["mark"]`), anEntry("mark", "b", ""), anEntry("aside", "c", "")),
		".coppice/scripted.yaml": `cases:
  - {match: 'Do bad', session: 3, steps: [{write: {path: bad.txt, content: "bad\n"}}]}
  - {match: 'Do bad', role: implement, steps: [{fail: {class: implementation, text: "SQLSTATE[HY000] connection refused"}}]}
  - {match: 'Do mark', role: implement, steps: [{wait_message: true}, {write: {path: mark.txt, content: "mark\n"}}]}
` + doing})
	w.serve()
	w.cli("project", "add")
	text := w.features("a failure beside a landing", func(text string) bool { return all("failed", 1)(text) && all("passed", 1)(text) })
	if !strings.Contains(text, `"failure_reason": "the database is away: \"SQLSTATE[HY000]\"", "failure_category": "environment"`) {
		t.Errorf("the failure is written as\n%s", text)
	}
	w.warned("track a is paused: 2 environment failures in a row, the last: the database is away")
	tasks := w.byFeature()
	w.working(tasks["mark"].Key, coppice.SessionIdle)
	w.cli("send", tasks["mark"].Key, "continue")
	w.features("the other tracks", all("passed", 2))
	d := w.await(tasks["behind"].Key, "a reason to wait", func(d api.TaskDetail) bool { return strings.Contains(d.Reason, "track a is paused") })
	if !strings.Contains(d.Fix, "coppice project resume app --track a") || !strings.Contains(w.cli("status"), "coppice project resume app --track a") {
		t.Errorf("it does not say what to do: %q", d.Fix)
	}
	if len(d.History) != 0 {
		t.Error("a session was started in a paused track")
	}
	w.cli("project", "resume", "app", "--track", "a")
	w.features("what waited", all("passed", 3))
	w.warned("")
	w.edit(strings.Replace(w.features("the file", func(string) bool { return true }), `"failed"`, `"open"`, 1))
	w.features("all passed", all("passed", 4))
}

// Work whose tests fail goes back with the whole evidence, as often as
// verify.attempts says; what ends so is test_only.
func TestFailingTestsGoBackWithContext(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{"coppice.yaml": featurePolicy + "checks: [sh check.sh]\nverify: {attempts: 2}\n",
		"check.sh":      "for f in *.txt; do [ \"$f\" = '*.txt' ] || ! grep -q bug \"$f\" || { echo \"FAIL TestOf_$f: found a bug\"; exit 3; }; done\n",
		"features.json": entries(anEntry("repaired", "a", ""), anEntry("never", "b", "")),
		".coppice/scripted.yaml": `cases:
  - {match: 'Do repaired', role: implement, steps: [{write: {path: repaired.txt, content: "bug\n"}}]}
  - {match: 'Do repaired.*FAIL TestOf_repaired.txt: found a bug.*exit code 3', role: fix, steps: [{write: {path: repaired.txt, content: "repaired\n"}}]}
  - {match: 'Do never', role: implement, steps: [{write: {path: never.txt, content: "bug\n"}}]}
  - {match: 'Do never', role: fix, steps: [{append: {path: never.txt, content: "bug\n"}}]}
` + doing})
	w.serve()
	w.cli("project", "add")
	text := w.features("one of each", func(text string) bool { return all("passed", 1)(text) && all("failed", 1)(text) })
	if !strings.Contains(text, `"failure_category": "test_only"`) {
		t.Errorf("the failure is written as\n%s", text)
	}
	d := w.task(w.byFeature()["never"].Key)
	want(t, "sessions", roles(d), []coppice.Role{coppice.RoleImplement, coppice.RoleFix, coppice.RoleFix})
}

// An agent can change a check in the tree, so that wrong work passes it. It cannot
// change one outside the tree, and no verifier is needed.
func TestACheckOutsideTheTreeIsOutOfReach(t *testing.T) {
	t.Parallel()
	l := newList(t, files{"coppice.yaml": featurePolicy + "checks: [sh check.sh, sh JUDGE]\nverify: {by: none, attempts: 1}\n",
		"features.json": entries(`  {"id": 1, "name": "Tampered 1", "category": "a", "status": "open"}`, `  {"id": 2, "name": "Feature 2", "category": "b", "status": "open"}`),
		".coppice/scripted.yaml": `cases:
  - {match: 'Tampered', steps: [{append: {path: parts/1, content: "wrong\n"}}, {write: {path: check.sh, content: "exit 0\n"}}, {run: "sed -i 's/^checks.*/checks: []/' coppice.yaml"}]}
` + wholePart})
	l.serve()
	l.cli("project", "add")
	text := l.features("one of each", func(text string) bool { return all("passed", 1)(text) && all("failed", 1)(text) })
	if !strings.Contains(text, `"failure_category": "test_only"`) {
		t.Errorf("the failure is written as\n%s", text)
	}
	tasks := l.byFeature()
	for _, c := range l.task(tasks["1"].Key).CheckRuns {
		if c.OnBase {
			continue
		}
		if judged := strings.Contains(c.Command, l.judge); judged == c.Passed() {
			t.Errorf("%s passed: %t", c.Command, c.Passed())
		}
	}
	l.judgeBase(keysOf(tasks, "2"))
}
