package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "code.gitea.io/sdk/gitea"

	"coppice"
	"coppice/api"
	"coppice/api/client"
	"coppice/test/forges"
)

func stopForge() { forges.Stop() }

// pullWorld is a world whose project is on a real Gitea and lands by pull request.
type pullWorld struct {
	*world
	repo forges.Repo
	api  map[string]*sdk.Client // by login

	server *server
}

func newPullWorld(t *testing.T, script string) *pullWorld {
	t.Helper()
	p := pullWorldAt(t, forges.Gitea(t).URL, script, "land: {how: pr}\nreactions: {approved-and-green: {do: merge}}\n")
	p.server = p.serve()
	return p
}

// pullWorldAt is a pullWorld that reaches Gitea at an address, with further
// configuration, and without a server.
func pullWorldAt(t *testing.T, address, script, config string) *pullWorld {
	t.Helper()
	g := forges.Gitea(t)
	p := &pullWorld{world: newWorld(t, files{
		"coppice.yaml":           policy + "trust: unsandboxed\nforge: {kind: gitea, every: 5s, url: " + address + "}\n" + config,
		".coppice/scripted.yaml": script,
	}), repo: g.Repo(t), api: map[string]*sdk.Client{}}
	for _, name := range []string{forges.Owner, forges.Writer, forges.Stranger, forges.Bot} {
		p.api[name] = g.API(t, name)
	}
	p.git("push", "--quiet", "--force", p.repo.URL(t), "main")
	login := func(name string) string { return name + ":" + g.User(t, name) + "@" } // git has another token than the API
	p.git("remote", "add", "origin", strings.NewReplacer(login(forges.Owner), login(forges.Writer), g.URL[len("http://"):], address[len("http://"):]).Replace(p.repo.URL(t)))
	if r := p.try(p.world.repo, g.User(t, forges.Owner)+"\n", "secret", "set", "GITEA_TOKEN"); r.code != 0 {
		t.Fatal(r.err)
	}
	return p
}

// status sets the result of CI for the head of a request.
func (p *pullWorld) status(head string, state sdk.StatusState) {
	p.t.Helper()
	p.says(head, state, "undefined: foo")
}

// says sets the result of CI with a text.
func (p *pullWorld) says(head string, state sdk.StatusState, text string) {
	p.t.Helper()
	_, _, err := p.api[forges.Owner].CreateStatus(forges.Owner, p.repo.Name, head, sdk.CreateStatusOption{State: state, Context: "build", Description: text})
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *pullWorld) review(number int64, state sdk.ReviewStateType, text string) {
	p.t.Helper()
	_, _, err := p.api[forges.Writer].CreatePullReview(forges.Owner, p.repo.Name, number, sdk.CreatePullReviewOptions{State: state, Body: text})
	if err != nil {
		p.t.Fatal(err)
	}
}

// pushed waits until the request shows another head than the one before, and is
// ready for review.
func (w *world) pushed(key, before string) api.TaskDetail {
	w.t.Helper()
	return w.await(key, "a pushed head", func(d api.TaskDetail) bool {
		return d.Stage == coppice.StagePull && d.Pull != nil && d.Pull.Number != 0 && d.Pull.Pushed != before && d.Pull.Report.Head == d.Pull.Pushed && !d.Pull.Report.Draft
	})
}

// loopScript is the agent of the loop.
const loopScript = `cases:
  - {match: 'undefined: foo', steps: [{write: {path: fixed.txt, content: "fixed\n"}}]}
  - {match: 'please rename', steps: [{write: {path: renamed.txt, content: "renamed\n"}}]}
  - {match: 'has conflicts with its base', steps: [{merge: {resolve: {work.txt: "work and theirs\n"}}}]}
  - steps: [{write: {path: work.txt, content: "work\n"}}]
`

// loopConfig has everything that Coppice writes to a forge, and hooks that write what
// they follow to a file.
func loopConfig(hooks string) string {
	return fmt.Sprintf(`land: {how: pr, pr: {labels: [agent], reviewers: [%s]}}
reactions: {approved-and-green: {do: merge}}
hooks:
  pr-opened: [{run: "echo pr-opened $COPPICE_HOOK_ID >>%[2]s"}]
  ci-done: [{run: "echo ci-done $COPPICE_HOOK_ID >>%[2]s"}]
`, forges.Writer, hooks)
}

// newLoopWorld makes a world for loop. Coppice reaches Gitea at an address.
func newLoopWorld(t *testing.T, address string) *pullWorld {
	t.Helper()
	return pullWorldAt(t, address, loopScript, loopConfig(filepath.Join(t.TempDir(), "hooks")))
}

// loop takes a task through all that can happen to a pull request. CI fails and the
// agent fixes it, a reviewer requests changes and the agent makes them, somebody else
// changes the same file on the base and the agent resolves the conflict. The request
// is approved and green, the forge merges it, and the work lands here.
func (p *pullWorld) loop() api.TaskDetail {
	p.t.Helper()
	key := p.new("Work in a request")
	d := p.pushed(key, "")
	number := int64(d.Pull.Number)
	p.status(d.Pull.Pushed, sdk.StatusFailure)
	d = p.pushed(key, d.Pull.Pushed)
	p.review(number, sdk.ReviewStateRequestChanges, "please rename it")
	d = p.pushed(key, d.Pull.Pushed)
	p.repo.Commit(p.t, "main", "work.txt", "theirs\n")
	d = p.pushed(key, d.Pull.Pushed)
	p.status(d.Pull.Pushed, sdk.StatusSuccess)
	p.review(number, sdk.ReviewStateApproved, "")
	p.landed(key)
	return p.cleaned(key)
}

// cleaned waits until nothing is left of a task that landed.
func (w *world) cleaned(key string) api.TaskDetail {
	w.t.Helper()
	return w.await(key, "the removal of its branch and workspace", func(d api.TaskDetail) bool {
		return d.Pull.Cleaned && (d.Workspace == nil || !d.Workspace.RemovedAt.IsZero())
	})
}

// checkLoop checks that everything of the loop happened one time, on the forge and
// here, and that nothing else is left.
func (p *pullWorld) checkLoop(d api.TaskDetail) {
	p.t.Helper()
	for file, text := range map[string]string{"work.txt": "work and theirs", "fixed.txt": "fixed", "renamed.txt": "renamed"} {
		p.wantOnBase(file, text)
	}
	all, _, err := p.api[forges.Owner].ListRepoPullRequests(forges.Owner, p.repo.Name, sdk.ListPullRequestsOptions{State: sdk.StateAll})
	if err != nil || len(all) != 1 || !all[0].HasMerged || all[0].MergedCommitID == nil || *all[0].MergedCommitID != d.Landed {
		p.t.Errorf("the requests: %v, %v", all, err)
	}
	counts := p.timeline(d.Pull.Number)
	for kind, n := range map[string]int{"label": 1, "review_request": 1, "merge_pull": 1, "comment": 0} {
		if counts[kind] != n {
			p.t.Errorf("the forge has %d entries %q of the request, want %d: %v", counts[kind], kind, n, counts)
		}
	}
	if labels, _, err := p.api[forges.Owner].ListRepoLabels(forges.Owner, p.repo.Name, sdk.ListLabelsOptions{}); err != nil || len(labels) != 1 {
		p.t.Errorf("%d labels, want 1: %v", len(labels), err)
	}
	if heads := p.git("ls-remote", "origin", "refs/*"); strings.Contains(heads, "refs/heads/coppice") {
		p.t.Errorf("the forge still has the branch:\n%s", heads)
	}
	want(p.t, "reactions", reactions(d), []string{
		"ci-failed:send-to-agent", "changes-requested:send-to-agent", "merge-conflicts:send-to-agent", "approved-and-green:merge", "pr-merged:notify",
	})
	if refs := p.own("for-each-ref", "--format=%(refname)", "refs/heads/coppice", "refs/coppice/landing"); refs != "" {
		p.t.Errorf("refs in Coppice's own repository:\n%s", refs)
	}
	if main := p.git("rev-parse", "main"); main != d.Landed || strings.Count(p.git("log", "--format=%s", "main"), "Work in a request") != 1 {
		p.t.Errorf("%s landed, and main is %s:\n%s", d.Landed, main, p.git("log", "--oneline", "main"))
	}
	p.checkRepository()
}

// reactions lists the events that a task reacted to, and how.
func reactions(d api.TaskDetail) (done []string) {
	for _, r := range d.Reactions {
		done = append(done, string(r.Event)+":"+r.Do)
	}
	return done
}

// timeline counts what the forge's history of a request has, by kind.
func (p *pullWorld) timeline(number int) map[string]int {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet,
		fmt.Sprintf("%s/api/v1/repos/%s/%s/issues/%d/timeline", p.repo.Server.URL, forges.Owner, p.repo.Name, number), nil)
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Authorization", "token "+p.repo.Server.User(p.t, forges.Owner))
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	var entries []struct{ Type string }
	if err := json.NewDecoder(res.Body).Decode(&entries); err != nil {
		p.t.Fatal(err)
	}
	counts := map[string]int{}
	for _, e := range entries {
		counts[e.Type]++
	}
	return counts
}

// checkHooks checks how often the hooks of the loop ran. A run that is repeated after
// a crash has the same id.
func (w *world) checkHooks(key string) {
	w.t.Helper()
	page, err := w.client.HookRuns(w.t.Context(), client.HookQuery{Task: key})
	if err != nil {
		w.t.Fatal(err)
	}
	var runs, ids []string
	for _, r := range page.Runs {
		runs, ids = append(runs, string(r.Event)), append(ids, string(r.Event)+" "+r.ID)
	}
	slices.Sort(runs)
	want(w.t, "hooks", runs, []string{"ci-done", "ci-done", "pr-opened"})
	_, command, _ := strings.Cut(page.Runs[0].Run, ">>")
	ran := strings.Split(strings.TrimSpace(string(must(os.ReadFile(command)))), "\n")
	slices.Sort(ran)
	slices.Sort(ids)
	want(w.t, "runs of hooks", slices.Compact(ran), ids)
}

// A task becomes a pull request on a real forge, and lands after all that can happen
// to one.
func TestPullRequestOnGitea(t *testing.T) {
	t.Parallel()
	p := newLoopWorld(t, forges.Gitea(t).URL)
	p.serve()
	d := p.loop()
	p.checkLoop(d)
	p.checkHooks(d.Key)
}
