//go:build linux

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

// The tests of this file are named after defects that were seen in, or read out
// of, another orchestrator of features files. Each shows that the program does
// not have it.

// doing is a script that does what a feature's name says it does.
const doing = `  - {match: 'Task \S+: Do (\w+)', role: verify, steps: [{verdict: ['grep -x "$1" $1.txt']}]}
  - {match: 'Task \S+: Do (\w+)', steps: [{write: {path: $1.txt, content: "$1\n"}}]}
`

// anEntry is a feature that doing does.
func anEntry(name, category, more string) string {
	return fmt.Sprintf(`  {"id": %q, "name": "Do %s", "category": %q, "steps": ["%s.txt is there"], "status": "open"%s}`, name, name, category, name, more)
}

func entries(list ...string) string { return "[\n" + strings.Join(list, ",\n") + "\n]\n" }

// 20 features on 5 tracks while the file is replaced, away, put back to what git
// has, edited and broken: none is lost, none is done twice.
func TestPeerLosesFeatures(t *testing.T) {
	t.Parallel()
	l := newList(t, files{
		"coppice.yaml": featurePolicy + "checks: [sh check.sh]\n", "features.json": twenty(),
		".coppice/scripted.yaml": "cases:\n" + wholePart})
	l.serve()
	l.cli("project", "add")
	file := filepath.Join(l.repo, "features.json")
	now := func() string {
		return l.features("the file", func(text string) bool { return json.Valid([]byte(text)) })
	}
	landings := func() int {
		page, err := l.client.Tasks(t.Context(), client.TaskQuery{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		return len(slices.DeleteFunc(page.Tasks, func(t api.Task) bool { return t.Landed == "" }))
	}
	more := func(n int) { l.eventually(fmt.Sprintf("%d landings", n), func() bool { return landings() >= n }) }
	// The places where a person, an editor or git gets in the way, in turn.
	for i, disturb := range []func(){
		func() { l.edit(now()) }, // replaced by the same
		func() { l.git("checkout", "--", "features.json") },
		func() { // written in place, in two halves
			text := now()
			for _, part := range []string{text[:len(text)/2], text} {
				if err := os.WriteFile(file, []byte(part), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		},
		func() { // away, and known features continue
			text := now()
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			l.warned("features.json does not exist")
			more(min(landings()+1, 20))
			l.edit(text)
		},
		func() { // broken, and the last good list applies
			text := now()
			l.edit(strings.Replace(text, `"features": [`, `"features": [[`, 1))
			l.warned("features.json:")
			more(min(landings()+1, 20))
			l.edit(text)
		},
		func() { // one more, and another way of writing
			l.edit(strings.Replace(now(), "\n\t]\n}", ",\n\t{\"id\": 21, \"name\": \"Feature 21\", \"steps\": [\"part 21 is whole\"]}\n\t]\n}", 1))
		},
	} {
		more(2 * i)
		disturb()
	}
	l.features("21 passed", all("passed", 21))
	tasks := l.byFeature()
	if len(tasks) != 21 {
		t.Errorf("%d tasks", len(tasks))
	}
	var keys []string
	for _, task := range tasks {
		keys = append(keys, task.Key)
	}
	l.judgeBase(keys)
}

// A link to the checkout's node_modules is neither committed nor landed, though
// .gitignore does not match links, and the real directory stays what it is.
func TestPeerCommitsTheNodeModulesLink(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{
		"coppice.yaml": featurePolicy + "workspace: {link: [node_modules]}\nverify: {by: none}\n", ".gitignore": "node_modules/\n",
		"features.json": entries(anEntry("plain", "a", ""), `  {"id": "forced", "name": "Force it", "status": "open"}`),
		".coppice/scripted.yaml": `cases:
  - {match: 'Force it', steps: [{run: test -L node_modules && test -e node_modules/dep}, {write: {path: forced.txt, content: "forced\n"}}, {run: git add --force node_modules}, {commit: All of it}]}
` + doing})
	w.write(w.repo, files{"node_modules/dep": "a dependency\n"})
	w.serve()
	w.cli("project", "add")
	w.features("both passed", all("passed", 2))
	if got := w.git("ls-tree", "-r", "--name-only", "main"); strings.Contains(got, "node_modules") {
		t.Errorf("it landed:\n%s", got)
	}
	if got := w.git("log", "--all", "--format=%H", "--", "node_modules/dep"); got != "" {
		t.Errorf("what it holds was committed: %s", got)
	}
	st, err := os.Lstat(filepath.Join(w.repo, "node_modules"))
	if err != nil || !st.IsDir() {
		t.Fatalf("the checkout's own: %v %v", st, err)
	}
	if got, err := os.ReadFile(filepath.Join(w.repo, "node_modules", "dep")); err != nil || string(got) != "a dependency\n" {
		t.Errorf("it holds %q: %v", got, err)
	}
}

// What a person has not committed is neither stashed nor touched, wherever they
// are; on the base itself the checkout follows around it.
func TestPeerStashesTheUsersWork(t *testing.T) {
	t.Parallel()
	for _, branch := range []string{"topic", "main"} {
		t.Run(branch, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, files{"coppice.yaml": featurePolicy, "features.json": entries(anEntry("one", "a", "")), ".coppice/scripted.yaml": "cases:\n" + doing})
			if branch != "main" {
				w.git("checkout", "--quiet", "-b", branch)
			}
			w.mess()
			stash := w.git("stash", "list", "--format=%H")
			w.serve()
			w.cli("project", "add")
			w.features("it passed", all("passed", 1))
			if got := w.git("stash", "list", "--format=%H"); got != stash {
				t.Errorf("the stash was %s, is %s", stash, got)
			}
			if got := w.git("branch", "--show-current"); got != branch {
				t.Errorf("now on %s", got)
			}
			for name, text := range map[string]string{"README.md": "changed\n", "staged.txt": "staged\n", "new.txt": "new\n"} {
				if got, err := os.ReadFile(filepath.Join(w.repo, name)); err != nil || string(got) != text {
					t.Errorf("%s: %q %v", name, got, err)
				}
			}
			if got := w.git("diff", "--cached", "--name-only"); got != "staged.txt" {
				t.Errorf("staged: %q", got)
			}
		})
	}
}

// No text of a feature reaches a shell.
func TestPeerExecutesNames(t *testing.T) {
	t.Parallel()
	evil := "$(touch OWNED) `touch OWNED` ; touch OWNED & touch OWNED | touch OWNED && touch OWNED #'\" $HOME %s \\n --exec=touch"
	w := newWorld(t, files{"coppice.yaml": featurePolicy + "checks: ['true']\n", ".coppice/scripted.yaml": `cases:
  - {role: verify, steps: [{say: "STEP 1: PASS"}]}
  - {steps: [{write: {path: done.txt, content: "done\n"}}]}
`})
	text, err := json.Marshal([]map[string]any{{
		"id": evil, "name": evil, "category": evil, "description": evil + "\n" + evil, "steps": []string{evil}, "status": "open",
	}})
	if err != nil {
		t.Fatal(err)
	}
	w.edit(string(text))
	w.git("add", "--all")
	w.git("commit", "--quiet", "--message=List")
	w.serve()
	w.cli("project", "add")
	w.features("it passed", func(text string) bool {
		return strings.Contains(text, `"status":"passed"`) || strings.Contains(text, `"status": "passed"`)
	})
	if got := w.git("log", "-1", "--format=%s", "main"); got != evil {
		t.Errorf("landed as %q", got)
	}
	err = filepath.WalkDir(w.Root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the server is running
		}
		if err == nil && strings.Contains(d.Name(), "OWNED") {
			t.Errorf("executed: %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// One conflict, one agent that does nothing and one that dies stop nobody else:
// running sessions continue, and later tasks are done.
func TestPeerStopsEveryTrackForOneConflict(t *testing.T) {
	t.Parallel()
	script := "cases:\n" + strings.ReplaceAll(tries+clashes, "NAME", "Clash") + `  - {match: 'Task \S+: Idle', steps: [{say: I am done.}]}
  - {match: 'Task \S+: Die', steps: [{crash: {signal: KILL}}]}
  - {match: 'Task \S+: Do slow', role: implement, steps: [{wait_message: true}, {write: {path: slow.txt, content: "slow\n"}}]}
` + doing
	l := newList(t, files{"coppice.yaml": strings.Replace(featurePolicy, "retry: {max: 3,", "retry: {max: 0,", 1) + "verify: {attempts: 1}\n", ".coppice/scripted.yaml": script,
		"features.json": entries(
			`  {"id": "clash", "name": "Clash 1", "category": "a", "status": "open"}`, `  {"id": "idle", "name": "Idle", "category": "b", "status": "open"}`,
			`  {"id": "die", "name": "Die", "category": "c", "status": "open"}`, anEntry("slow", "d", ""), anEntry("one", "", ""), anEntry("two", "a", ""))})
	l.serve()
	l.cli("project", "add")
	text := l.features("two failures beside two landings", func(text string) bool { return all("failed", 2)(text) && all("passed", 2)(text) })
	l.await(l.byFeature()["idle"].Key, "a person's turn", func(d api.TaskDetail) bool { return d.Status == coppice.StatusNeedsYou })
	slow := l.byFeature()["slow"].Key
	if s := l.working(slow, coppice.SessionIdle); s.Failure != nil {
		t.Errorf("the slow one: %v", s.Failure)
	}
	l.edit(strings.Replace(text, "\n]", ",\n"+anEntry("late", "a", "")+"\n]", 1))
	l.features("what came later", all("passed", 3))
	l.cli("send", slow, "continue")
	l.features("the slow one", all("passed", 4))
	tasks := l.byFeature()
	landed := keysOf(tasks, "slow", "one", "two", "late")
	l.judgeBase(landed)
	if d := l.task(tasks["clash"].Key); d.Failure.Class != coppice.ClassConflict || len(d.History) != 2 {
		t.Errorf("the conflict ended as %v after %d sessions", d.Failure, len(d.History))
	}
}

// A repository without any remote is as good as another one. Where pushing is
// asked for, the landing says what is missing, and nothing has landed in the meantime.
func TestPeerNeedsOrigin(t *testing.T) {
	t.Parallel()
	t.Run("no push", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, files{"coppice.yaml": featurePolicy, "features.json": entries(anEntry("one", "a", ""), anEntry("two", "b", "")), ".coppice/scripted.yaml": "cases:\n" + doing})
		w.serve()
		w.cli("project", "add")
		w.features("both passed", all("passed", 2))
		if got := w.git("remote"); got != "" {
			t.Errorf("it has remotes: %s", got)
		}
	})
	t.Run("push", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, files{"coppice.yaml": featurePolicy + "land: {push: true}\n", "features.json": entries(anEntry("one", "a", "")), ".coppice/scripted.yaml": "cases:\n" + doing})
		before := w.git("rev-parse", "main")
		w.serve()
		w.cli("project", "add")
		w.await("app-1", "a reason to wait", func(d api.TaskDetail) bool { return strings.Contains(d.Reason, "origin") })
		if got := w.git("rev-parse", "main"); got != before {
			t.Errorf("the base moved to %s", got)
		}
		origin := filepath.Join(w.Root, "origin.git")
		w.git("clone", "--quiet", "--bare", w.repo, origin)
		w.git("remote", "add", "origin", origin)
		w.need(coppice.NeedGit, "git configuration")
		w.cli("project", "add") // confirms the remote
		w.features("it passed", all("passed", 1))
		if here, there := w.git("rev-parse", "main"), w.gitIn(origin, "rev-parse", "main"); here != there || here == before {
			t.Errorf("here %s, there %s", here, there)
		}
	})
}

// loud is an agent CLI that names itself, its model and its maker, and then ends
// with 1.
const loud = `#!/bin/sh
case "$*" in *--version*) echo "2.1.0 (Claude Code)"; exit 0;; esac
echo '{"type":"system","subtype":"init","session_id":"0b1a9f5e-0000-4000-8000-000000000000","model":"claude-sonnet-4-5","cwd":"."}'
echo "claude: claude-sonnet-4-5 by anthropic stumbled over a stone" >&2
exit 1
`

// An agent that ends with an error after naming itself is not limited: nobody
// waits, its feature fails with what it said, and others use the same agent on.
func TestPeerTakesAnExitForARateLimit(t *testing.T) {
	t.Parallel()
	w := bareWorld(t)
	cli := filepath.Join(w.Root, "claude")
	w.write(w.Root, files{"claude": loud})
	if err := os.Chmod(cli, 0o755); err != nil {
		t.Fatal(err)
	}
	w.repo = w.NewRepo("app", files{
		"coppice.yaml":  strings.Replace(featurePolicy, "retry: {max: 3,", "retry: {max: 1,", 1) + fmt.Sprintf("agents: {claude: {command: [%q]}}\n", cli),
		"features.json": entries(anEntry("loud", "a", `, "agent": "claude"`), anEntry("one", "b", "")), ".coppice/scripted.yaml": "cases:\n" + doing})
	w.serve()
	w.cli("project", "add")
	text := w.features("one of each", func(text string) bool { return all("failed", 1)(text) && all("passed", 1)(text) })
	if !strings.Contains(text, "stumbled over a stone") || !strings.Contains(text, `"failure_category": "unknown"`) {
		t.Errorf("the failure is written as\n%s", text)
	}
	d := w.task(w.byFeature()["loud"].Key)
	if d.Failure.Class != coppice.ClassUnknown || len(d.History) != 2 {
		t.Errorf("%v after %d sessions", d.Failure, len(d.History))
	}
	if limits, err := w.client.Limits(t.Context()); err != nil || len(limits) != 0 {
		t.Errorf("limits %+v, %v", limits, err)
	}
}

// A verifier that says nothing, or nothing of a step, passes nothing.
func TestPeerPassesASilentVerifier(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{"coppice.yaml": featurePolicy + "verify: {attempts: 0}\n", "features.json": entries(
		anEntry("mute", "a", ""), anEntry("vague", "b", ""), strings.Replace(anEntry("half", "c", ""), `is there"`, `is there", "and more"`, 1), anEntry("one", "d", "")),
		".coppice/scripted.yaml": `cases:
  - {match: 'Do mute', role: verify, steps: [{run: 'true'}]}
  - {match: 'Do vague', role: verify, steps: [{say: "VERDICT: everything is fine, all of it passes"}]}
  - {match: 'Do half', role: verify, steps: [{say: "STEP 1: PASS"}]}
` + doing})
	w.serve()
	w.cli("project", "add")
	text := w.features("three failures", func(text string) bool { return all("failed", 3)(text) && all("passed", 1)(text) })
	if n := strings.Count(text, `"failure_category": "verification"`); n != 3 {
		t.Errorf("%d fail by their verifier:\n%s", n, text)
	}
	if got := w.git("rev-list", "--count", "main"); got != "2" {
		t.Errorf("main has %s commits", got)
	}
}

// Nothing reaches the remote before it is verified, on whatever ref; then it
// does, once.
func TestPeerVerifiesAfterThePush(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{"coppice.yaml": featurePolicy + "land: {push: true}\n", "features.json": entries(anEntry("one", "a", "")), ".coppice/scripted.yaml": `cases:
  - {match: 'Do one', role: verify, session: 2, steps: [{wait_message: true}, {say: "STEP 1: FAIL not yet"}]}
  - {match: 'Do one', role: verify, steps: [{wait_message: true}, {say: "STEP 1: PASS"}]}
  - {match: 'Do one', role: fix, steps: [{append: {path: one.txt, content: "repaired\n"}}]}
` + doing})
	origin := filepath.Join(w.Root, "origin.git")
	w.git("clone", "--quiet", "--bare", w.repo, origin)
	w.git("remote", "add", "origin", origin)
	w.write(origin, files{"hooks/post-receive": "#!/bin/sh\ncat >> received\n"})
	if err := os.Chmod(filepath.Join(origin, "hooks", "post-receive"), 0o755); err != nil {
		t.Fatal(err)
	}
	before := w.gitIn(origin, "rev-parse", "main")
	w.serve()
	w.cli("project", "add")
	for n := range 2 {
		d := w.await("app-1", fmt.Sprintf("verifier %d", n+1), func(d api.TaskDetail) bool {
			return len(d.History) == 2*n+2 && last(d.History).State == coppice.SessionIdle
		})
		if refs, all := w.gitIn(origin, "for-each-ref", "--format=%(objectname) %(refname)"), w.gitIn(origin, "rev-list", "--all"); refs != before+" refs/heads/main" || all != before {
			t.Errorf("before verdict %d the remote has\n%s", n+1, refs)
		}
		if w.git("rev-parse", "main") != before {
			t.Errorf("before verdict %d the base has moved", n+1)
		}
		w.features("verifying", all("verifying", 1))
		w.cli("send", d.Key, "continue")
	}
	w.features("it passed", all("passed", 1))
	landed := w.task("app-1").Landed
	got, err := os.ReadFile(filepath.Join(origin, "received"))
	if err != nil || string(got) != before+" "+landed+" refs/heads/main\n" {
		t.Errorf("the remote received %q, not %s: %v", got, landed, err)
	}
	if text := w.gitIn(origin, "show", "main:one.txt"); text != "one\nrepaired" {
		t.Errorf("the remote has %q", text)
	}
}

// A feature that a crash left in verifying is picked up: with everything that
// ran killed, and by a server that knows nothing of it.
func TestPeerForgetsWhatWasVerifying(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{"coppice.yaml": featurePolicy, "features.json": entries(anEntry("one", "a", ""), strings.Replace(anEntry("left", "b", ""), "open", "verifying", 1)),
		".coppice/scripted.yaml": `cases:
  - {match: 'Do one', role: verify, session: 2, steps: [{hang: true}]}
` + doing})
	s := w.serve()
	w.cli("project", "add")
	w.features("one of each", func(text string) bool { return all("verifying", 1)(text) && all("passed", 1)(text) })
	key := w.byFeature()["one"].Key
	w.said(key+".2", "hanging")
	s.Kill()
	for left := w.Processes(); len(left) > 0; left = w.Processes() {
		for _, p := range left {
			p.Kill()
		}
	}
	w.serve()
	w.features("both passed", all("passed", 2))
	d := w.task(key)
	want(t, "sessions", roles(d), []coppice.Role{coppice.RoleImplement, coppice.RoleVerify, coppice.RoleVerify})
	if d.History[1].State != coppice.SessionLost {
		t.Errorf("the killed verifier is %s", d.History[1].State)
	}
	want(t, "landings", outcomes(d), []coppice.LandingOutcome{coppice.LandingLanded})
}

// A second server is refused while one runs or stops, and asking twice begins
// nothing twice.
func TestPeerIsStartedTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{"coppice.yaml": featurePolicy, "features.json": entries(anEntry("one", "a", ""), anEntry("two", "b", "")),
		".coppice/scripted.yaml": "cases:\n" + `  - {match: 'Do two', role: implement, steps: [{wait_message: true}, {write: {path: two.txt, content: "two\n"}}]}
` + doing})
	s := w.serve()
	var asking sync.WaitGroup
	for range 4 {
		asking.Go(func() {
			if _, err := w.client.AddProject(t.Context(), w.repo); err != nil {
				t.Error(err)
			}
		})
	}
	asking.Wait()
	two := func() string {
		w.eventually("two tasks", func() bool { return len(w.byFeature()) == 2 })
		return w.byFeature()["two"].Key
	}()
	w.working(two, coppice.SessionIdle)
	if r := w.try(w.Root, "", "serve", "--listen", "127.0.0.1:0"); r.code != 1 || !strings.Contains(r.err, "→") {
		t.Errorf("a second server: %+v", r)
	}
	s.Stop(t)
	w.serve()
	w.cli("project", "add")
	w.cli("send", two, "continue")
	w.features("both passed", all("passed", 2))
	if tasks := w.byFeature(); len(tasks) != 2 {
		t.Errorf("%d tasks", len(tasks))
	}
	d := w.task(two)
	want(t, "sessions", roles(d), []coppice.Role{coppice.RoleImplement, coppice.RoleVerify})
	if got := w.git("rev-list", "--count", "main"); got != "3" {
		t.Errorf("main has %s commits", got)
	}
}
