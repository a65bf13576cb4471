package engine

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

const (
	pullHead  = "1111111111111111111111111111111111111111"
	pullFixed = "2222222222222222222222222222222222222222"
	pullMerge = "3333333333333333333333333333333333333333"
)

// withPulls makes a project land its work by pull requests.
func withPulls(changes ...func(*coppice.Policy)) func(*coppice.Project) {
	return func(p *coppice.Project) {
		p.Policy.Land.How, p.Policy.Trust = coppice.LandPR, coppice.TrustUnsandboxed
		for _, c := range changes {
			c(&p.Policy)
		}
	}
}

// inPull returns an engine with a task whose pull request #7 is open and ready.
func inPull(t *testing.T, changes ...func(*coppice.Policy)) *bundle {
	t.Helper()
	b := openApp(t, withPulls(changes...))
	b.create(coppice.NewTask{Title: "a"})
	b.prepares("app-1")
	b.ends("app-1", coppice.WorkRun, coppice.RunResult{Head: pullHead, From: "base1", Conversation: "talk"})
	b.ends("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "base1", Tree: "tree1", Commit: "commit1"})
	b.ends("app-1", coppice.WorkPullPush, coppice.PullPushResult{Pushed: true})
	spec := b.written("app-1")
	if spec.Op != coppice.ForgePut || !spec.Text.Draft || !strings.Contains(spec.Text.Body, coppice.PullMarker("app-1")) {
		t.Errorf("the first request: %s, draft %v, body %q", spec.Op, spec.Text.Draft, spec.Text.Body)
	}
	b.ends("app-1", coppice.WorkForgeWrite, coppice.ForgeWriteResult{Number: 7, URL: "https://forge/7", State: coppice.PullOpen})
	b.ends("app-1", coppice.WorkCheck, proved)
	b.wantStage(coppice.StagePull)
	if spec := b.written("app-1"); spec.Text.Draft || spec.Number != 7 {
		t.Errorf("the proven request: draft %v, number %d", spec.Text.Draft, spec.Number)
	}
	b.ends("app-1", coppice.WorkForgeWrite, coppice.ForgeWriteResult{Number: 7, URL: "https://forge/7", State: coppice.PullOpen})
	return b
}

// forgeMerges lets the open change on the forge merge the request.
func (b *bundle) forgeMerges() {
	b.t.Helper()
	b.ends("app-1", coppice.WorkForgeWrite, coppice.ForgeWriteResult{Number: 7, State: coppice.PullMerged, Merged: pullMerge})
}

// written returns the open change on the forge.
func (b *bundle) written(key string) coppice.ForgeWriteSpec {
	b.t.Helper()
	return specOf[coppice.ForgeWriteSpec](b, b.openWork(key, coppice.WorkForgeWrite))
}

// openWork returns the unfinished work of a kind of a task, or of its project.
func (b *bundle) openWork(key string, kind coppice.WorkKind) (w coppice.Work) {
	b.t.Helper()
	b.view(func(r store.Reader) error {
		open, err := r.Work.Open(kind)
		for _, o := range open {
			if t, _ := r.Tasks.Get(o.TaskID); key == "" || t.Key == key {
				w = o
			}
		}
		return err
	})
	if w.ID == 0 {
		b.t.Fatalf("no %s of %s is open", kind, key)
	}
	return w
}

// ends finishes the open work of a kind, whatever else is open.
func (b *bundle) ends(key string, kind coppice.WorkKind, result any) {
	b.t.Helper()
	w := b.openWork(key, kind)
	fail, _ := result.(*coppice.Failure)
	b.update(func(tx store.Tx) error {
		w.State, w.FinishedAt, w.Failure = coppice.WorkFinished, b.clock, fail
		if fail == nil {
			w.Result = coppice.Raw(result)
		}
		return firstErr(tx.Work.Put(&w), tx.Log.Append(&coppice.Event{At: b.clock, Kind: coppice.EventWorkFinished, ProjectID: w.ProjectID, TaskID: w.TaskID, About: w.Subject}))
	})
	b.turn()
}

// reads finishes a pass over the forge in which the request looks like this.
func (b *bundle) reads(change func(*coppice.PullRead)) {
	b.t.Helper()
	b.passes("", change)
}

// passes is reads for a forge whose base is at a commit.
func (b *bundle) passes(tip string, change func(*coppice.PullRead)) {
	b.t.Helper()
	b.clock = b.clock.Add(time.Minute)
	b.turn()
	b.readsNow(tip, change)
}

// readsNow finishes a pass that is due.
func (b *bundle) readsNow(tip string, change func(*coppice.PullRead)) {
	b.t.Helper()
	task := b.task("app-1")
	var head string
	b.view(func(r store.Reader) error {
		p, err := r.Pulls.Of(task.ID)
		head = p.Pushed
		return err
	})
	read := coppice.PullRead{Number: 7, URL: "https://forge/7", State: coppice.PullOpen, Head: head, Author: "bot"}
	change(&read)
	b.ends("", coppice.WorkForgeRead, coppice.ForgeReadResult{Tip: tip, Pulls: []coppice.PullSeen{{Task: task.ID, Read: read}}})
}

func firstErr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// reactions returns the history of the task's reactions as event:do.
func (b *bundle) reactions() []string {
	b.t.Helper()
	var list []string
	task := b.task("app-1")
	b.view(func(r store.Reader) error {
		all, err := r.Reactions.Of(task.ProjectID, task.ID)
		for _, e := range all {
			list = append(list, string(e.Event)+":"+e.Do)
		}
		return err
	})
	return list
}

func (b *bundle) pull() coppice.Pull {
	b.t.Helper()
	var pull coppice.Pull
	task := b.task("app-1")
	b.view(func(r store.Reader) error {
		p, err := r.Pulls.Of(task.ID)
		pull = *p
		return err
	})
	return pull
}

// A task's work goes into a draft, the proven work is ready for review, and the
// commit that the forge has merged lands here.
func TestPullRequest(t *testing.T) {
	t.Parallel()
	b := inPull(t)
	if s := b.status("app-1"); s.Status != coppice.StatusLanding || b.task("app-1").Stage.Word() != "in review" {
		t.Errorf("status %s, %q", s.Status, b.task("app-1").Stage.Word())
	}
	b.reads(func(r *coppice.PullRead) { r.State, r.Merged = coppice.PullMerged, pullMerge })
	b.wantStage(coppice.StageLanding)
	move := specOf[coppice.MoveSpec](b, b.openWork("app-1", coppice.WorkMove))
	if !move.Follow || move.New != pullMerge {
		t.Errorf("the move: %+v", move)
	}
	b.ends("app-1", coppice.WorkMove, coppice.MoveResult{Moved: true, Now: pullMerge})
	if task := b.task("app-1"); task.Outcome != coppice.OutcomeDone || task.Landed != pullMerge {
		t.Errorf("outcome %s, landed %s", task.Outcome, task.Landed)
	}
	push := specOf[coppice.PullPushSpec](b, b.openWork("app-1", coppice.WorkPullPush))
	if push.New != "" || push.Old != pullHead {
		t.Errorf("the branch on the forge: %+v", push)
	}
	b.ends("app-1", coppice.WorkPullPush, coppice.PullPushResult{Pushed: true})
	if !b.pull().Cleaned {
		t.Error("the request is not cleaned up")
	}
}

// CI fails: the agent gets the errors in its conversation, and its fix is pushed to
// the same request. The same failure is sent once, and after the limit a person
// decides.
func TestCIFailedIsSentToTheAgent(t *testing.T) {
	t.Parallel()
	b := inPull(t)
	red := func(r *coppice.PullRead) {
		r.CI, r.Checks = coppice.CIFailed, []coppice.PullCheck{{Name: "build", State: coppice.CIFailed, Log: "undefined: foo"}}
	}
	heads := []string{pullFixed, "4444444444444444444444444444444444444444"}
	for i, head := range heads {
		b.reads(red)
		b.reads(func(r *coppice.PullRead) { red(r); r.UpdatedAt = b.clock }) // the same failure again
		s := b.sessionsOf(b.task("app-1").ID)
		last := b.session(s[len(s)-1].Key)
		if len(s) != i+2 || last.Resume == "" || !strings.Contains(last.Prompt, "undefined: foo") || strings.Contains(last.Prompt, "is output of tools") {
			t.Fatalf("round %d: %d sessions, the last resumes %q with the prompt %q", i, len(s), last.Resume, last.Prompt)
		}
		b.ends("app-1", coppice.WorkRun, coppice.RunResult{Head: head, From: "base1", Conversation: "talk"})
		b.ends("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "base1", Tree: "tree1", Commit: "commit" + head[:1]})
		push := specOf[coppice.PullPushSpec](b, b.openWork("app-1", coppice.WorkPullPush))
		if push.Old == "" || push.New != head {
			t.Errorf("round %d: pushes %+v", i, push)
		}
		b.ends("app-1", coppice.WorkPullPush, coppice.PullPushResult{Pushed: true})
		for b.hasOpen(coppice.WorkForgeWrite) {
			b.ends("app-1", coppice.WorkForgeWrite, coppice.ForgeWriteResult{Number: 7, URL: "https://forge/7", State: coppice.PullOpen})
		}
	}
	b.reads(red)
	if want := []string{"ci-failed:send-to-agent", "ci-failed:send-to-agent", "ci-failed:notify"}; !slices.Equal(b.reactions(), want) {
		t.Errorf("reactions %v, want %v", b.reactions(), want)
	}
	if s := b.status("app-1"); s.Status != coppice.StatusNeedsYou || !strings.Contains(s.Reason, "CI failed: build") {
		t.Errorf("status %s: %s", s.Status, s.Reason)
	}
	if e := b.pull().Escalate; e == nil || strings.Count(e.Text, "pushed") != 2 {
		t.Errorf("escalated: %+v", e)
	}
}

func (b *bundle) hasOpen(kind coppice.WorkKind) bool {
	found := false
	b.view(func(r store.Reader) error {
		open, err := r.Work.Open(kind)
		found = len(open) > 0
		return err
	})
	return found
}

// What each event of a request leads to.
func TestReactions(t *testing.T) {
	t.Parallel()
	review := func(author string, writes bool) func(*coppice.PullRead) {
		return func(r *coppice.PullRead) {
			r.Review = coppice.ReviewChanges
			r.Comments = []coppice.PullComment{
				{ID: "review/1", Author: author, Writes: writes, Review: coppice.ReviewChanges, Text: "please rename it"},
				{ID: "line/2", Author: author, Writes: writes, Path: "a.go", Line: 3, Text: "this name"},
			}
		}
	}
	approved := func(r *coppice.PullRead) { r.CI, r.Review = coppice.CIPassed, coppice.ReviewApproved }
	rules := func(e coppice.ReactionEvent, r coppice.Reaction) func(*coppice.Policy) {
		return func(p *coppice.Policy) { p.Reactions = coppice.Reactions{e: {r}} }
	}
	for _, c := range []struct {
		name   string
		policy func(*coppice.Policy)
		read   func(*coppice.PullRead)
		want   []string
		stage  coppice.Stage
	}{
		{"changes requested", nil, review("ann", true), []string{"changes-requested:send-to-agent"}, coppice.StageSession},
		{"changes requested by a stranger", nil, review("eve", false), nil, coppice.StagePull},
		{"by a configured author only", func(p *coppice.Policy) { p.Forge.Authors = []string{"bob"} }, review("ann", true), nil, coppice.StagePull},
		{"a comment without a rule", nil, func(r *coppice.PullRead) {
			r.Comments = []coppice.PullComment{{ID: "comment/1", Author: "ann", Writes: true, Text: "nice"}}
		}, nil, coppice.StagePull},
		{"our own comment", rules(coppice.OnComment, coppice.Reaction{Do: coppice.ReactSend}), func(r *coppice.PullRead) {
			r.Comments = []coppice.PullComment{{ID: "comment/1", Author: "ann", Writes: true, Text: "done <!-- coppice:x -->"}}
		}, nil, coppice.StagePull},
		{"without trust", func(p *coppice.Policy) { p.Trust = "" }, review("ann", true), []string{"changes-requested:nothing"}, coppice.StagePull},
		{"conflicts", nil, func(r *coppice.PullRead) { r.Conflicts = true }, []string{"merge-conflicts:send-to-agent"}, coppice.StageSession},
		{"approved and green", nil, approved, []string{"approved-and-green:notify"}, coppice.StagePull},
		{"approved, CI runs", nil, func(r *coppice.PullRead) { approved(r); r.CI = coppice.CIPending }, nil, coppice.StagePull},
		{"merges", rules(coppice.OnApprovedGreen, coppice.Reaction{Do: coppice.ReactMerge}), approved, []string{"approved-and-green:merge"}, coppice.StagePull},
		{"a label", rules(coppice.OnLabel, coppice.Reaction{If: `label == "needs-tests"`, Do: coppice.ReactSend, Message: "add tests"}),
			func(r *coppice.PullRead) { r.Labels = []string{"x", "needs-tests"} }, []string{"label-added:send-to-agent"}, coppice.StageSession},
		{"closed", nil, func(r *coppice.PullRead) { r.State = coppice.PullClosed }, []string{"pr-closed:notify"}, coppice.StageEnded},
		{"a new task", rules(coppice.OnCIFailed, coppice.Reaction{Do: coppice.ReactTask}), func(r *coppice.PullRead) { r.CI = coppice.CIFailed }, []string{"ci-failed:task"}, coppice.StagePull},
		{"a command", rules(coppice.OnConflicts, coppice.Reaction{Do: coppice.ReactRun, Run: "./page"}), func(r *coppice.PullRead) { r.Conflicts = true }, []string{"merge-conflicts:run"}, coppice.StagePull},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var changes []func(*coppice.Policy)
			if c.policy != nil {
				changes = append(changes, c.policy)
			}
			b := inPull(t, changes...)
			b.reads(c.read)
			if got := b.reactions(); !slices.Equal(got, c.want) {
				t.Errorf("reactions %v, want %v", got, c.want)
			}
			b.wantStage(c.stage)
			switch {
			case strings.HasSuffix(strings.Join(c.want, ""), ":merge"):
				if spec := b.written("app-1"); spec.Op != coppice.ForgeMerge || spec.Head != pullHead {
					t.Errorf("%+v", spec)
				}
			case strings.HasSuffix(strings.Join(c.want, ""), ":task"):
				if n := b.task("app-2"); !strings.Contains(n.Title, "ci-failed of app-1") {
					t.Errorf("the new task: %q", n.Title)
				}
			case strings.HasSuffix(strings.Join(c.want, ""), ":run"):
				var in coppice.HookInput
				hook := specOf[coppice.HookSpec](b, b.openWork("", coppice.WorkHook))
				if hook.Run != "./page" || json.Unmarshal(hook.Input, &in) != nil || in.Pull == nil || in.Pull.Number != 7 {
					t.Errorf("the command: %+v", hook)
				}
			}
		})
	}
}

// A person lands a request; the forge refuses it, and later merges it.
func TestLandMergesThePullRequest(t *testing.T) {
	t.Parallel()
	b := inPull(t)
	b.approves()
	if spec := b.written("app-1"); spec.Op != coppice.ForgeMerge || spec.Method != coppice.MergeSquash || spec.Head != pullHead {
		t.Errorf("%+v", spec)
	}
	b.ends("app-1", coppice.WorkForgeWrite, coppice.ForgeWriteResult{Number: 7, State: coppice.PullOpen, Blocked: "not enough approvals"})
	if s := b.status("app-1"); s.Status != coppice.StatusNeedsYou || !strings.Contains(s.Reason, "not enough approvals") || b.hasOpen(coppice.WorkForgeWrite) {
		t.Errorf("status %s: %s", s.Status, s.Reason)
	}
	b.approves()
	b.forgeMerges()
	b.wantStage(coppice.StageLanding)
}

// A request is closed and opened again while the forge merges it: its work lands.
func TestAReopenedRequestLands(t *testing.T) {
	t.Parallel()
	b := inPull(t)
	b.approves()
	b.reads(func(r *coppice.PullRead) { r.State = coppice.PullClosed })
	b.forgeMerges()
	b.wantStage(coppice.StageLanding)
}

// Somebody else pushed to the branch: nothing is overwritten, and a person sees it.
func TestForeignCommitsStay(t *testing.T) {
	t.Parallel()
	b := openApp(t, withPulls())
	b.create(coppice.NewTask{Title: "a"})
	b.prepares("app-1")
	b.ends("app-1", coppice.WorkRun, coppice.RunResult{Head: pullHead, From: "base1"})
	b.ends("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "base1", Tree: "tree1", Commit: "commit1"})
	b.ends("app-1", coppice.WorkCheck, proved)
	b.ends("app-1", coppice.WorkPullPush, coppice.PullPushResult{Theirs: pullFixed})
	if s := b.status("app-1"); s.Status != coppice.StatusNeedsYou || !strings.Contains(s.Reason, "somebody else pushed") {
		t.Errorf("status %s: %s", s.Status, s.Reason)
	}
}

// Commits of others that the agent has merged stay when it rewrites its branch, also in
// the next request of the task.
func TestForeignCommitsStayInRewrittenWork(t *testing.T) {
	t.Parallel()
	b := inPull(t)
	again := func(head string) coppice.PullPushSpec {
		b.clock = b.clock.Add(time.Minute)
		b.annAsks("app-1", coppice.VerbContinue, "try another way")
		b.ends("app-1", coppice.WorkRun, coppice.RunResult{Head: head, From: pullHead, Conversation: "talk"})
		b.ends("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "base1", Tree: "tree of " + head, Commit: "commit of " + head})
		push := specOf[coppice.PullPushSpec](b, b.openWork("app-1", coppice.WorkPullPush))
		return push
	}
	if got := again(pullFixed); got.Old != pullHead || got.Keep != "" {
		t.Errorf("before somebody else has pushed: %+v", got)
	}
	b.ends("app-1", coppice.WorkPullPush, coppice.PullPushResult{Pushed: true, Kept: pullMerge})
	b.ends("app-1", coppice.WorkForgeWrite, coppice.ForgeWriteResult{Number: 7, State: coppice.PullOpen})
	b.ends("app-1", coppice.WorkCheck, proved)
	b.ends("app-1", coppice.WorkForgeWrite, coppice.ForgeWriteResult{Number: 7, State: coppice.PullOpen})
	if got := again(pullHead); got.Old != pullFixed || got.Keep != pullMerge {
		t.Errorf("after that: %+v", got)
	}
	b.ends("app-1", coppice.WorkPullPush, coppice.PullPushResult{Pushed: true})
	b.ends("app-1", coppice.WorkForgeWrite, coppice.ForgeWriteResult{Number: 7, State: coppice.PullOpen})
	b.reads(func(r *coppice.PullRead) { r.State = coppice.PullClosed })
	b.ends("app-1", coppice.WorkCheck, proved)
	b.wantStage(coppice.StageEnded)
	if got := again(pullFixed); got.Old != pullHead || got.Keep != pullMerge {
		t.Errorf("in the next request: %+v", got)
	}
}

// A stopped task closes its request. Its branch stays.
func TestAStopClosesThePullRequest(t *testing.T) {
	t.Parallel()
	b := inPull(t)
	b.annAsks("app-1", coppice.VerbStop, "")
	if spec := b.written("app-1"); spec.Op != coppice.ForgeClose || spec.Number != 7 {
		t.Errorf("%+v", spec)
	}
	b.ends("app-1", coppice.WorkForgeWrite, coppice.ForgeWriteResult{Number: 7, State: coppice.PullClosed})
	if b.hasOpen(coppice.WorkPullPush) || b.hasOpen(coppice.WorkForgeWrite) {
		t.Error("more was done")
	}
}

// A dependent task starts from the request below it, and aims at its branch.
func TestStackedPullRequests(t *testing.T) {
	t.Parallel()
	b := inPull(t, func(p *coppice.Policy) { p.Land.PR.Stack = true })
	b.create(coppice.NewTask{Title: "b", After: []string{"app-1"}})
	b.turn()
	prepare := specOf[coppice.PrepareSpec](b, b.openWork("app-2", coppice.WorkPrepare))
	if prepare.From != pullHead {
		t.Errorf("it starts from %q", prepare.From)
	}
	b.prepares("app-2")
	b.ends("app-2", coppice.WorkRun, coppice.RunResult{Head: pullFixed, From: pullHead})
	b.ends("app-2", coppice.WorkMerge, coppice.MergeResult{Base: "base1", Tree: "tree2", Commit: "commit2"})
	b.ends("app-2", coppice.WorkPullPush, coppice.PullPushResult{Pushed: true})
	b.ends("app-2", coppice.WorkForgeWrite, coppice.ForgeWriteResult{Number: 8, State: coppice.PullOpen})
	b.ends("app-2", coppice.WorkCheck, proved)
	if spec := b.written("app-2"); spec.Text.Base != "coppice/app-1" {
		t.Errorf("it aims at %q", spec.Text.Base)
	}
	b.ends("app-2", coppice.WorkForgeWrite, coppice.ForgeWriteResult{Number: 8, State: coppice.PullOpen})
	b.annAsks("app-2", coppice.VerbLand, "")
	upper := b.task("app-2")
	b.view(func(r store.Reader) error {
		p, err := r.Pulls.Of(upper.ID)
		if err == nil && (!strings.Contains(p.Blocked, "#7") || p.MergeHead != pullFixed) {
			t.Errorf("before the request below it is merged: %+v", p)
		}
		return err
	})
	if b.hasOpen(coppice.WorkForgeWrite) {
		t.Error("it is merged into the branch of the request below it")
	}
}

// A task waits for a task of another project until that one is done: the branch of its
// request is in another repository.
func TestStacksAreOfOneProject(t *testing.T) {
	t.Parallel()
	b := inPull(t)
	other, err := b.AddProject(t.Context(), "/src/other")
	b.must(err)
	withPulls(func(p *coppice.Policy) { p.Land.PR.Stack = true })(&other)
	b.update(func(tx store.Tx) error { return tx.Projects.Put(&other) })
	made, err := b.CreateTasks(t.Context(), other.Prefix, []coppice.NewTask{{Title: "b", After: []string{"app-1"}}})
	b.must(err)
	b.turn()
	if upper := b.task(made[0].Key); upper.Stage != coppice.StageWaiting || b.hasOpen(coppice.WorkPrepare) {
		t.Errorf("it is %s", upper.Stage)
	}
}

// Nothing is read while no request is open, and a forge that asks to wait gets its
// time.
func TestForgePasses(t *testing.T) {
	t.Parallel()
	b := inPull(t)
	until := b.clock.Add(time.Hour)
	b.ends("", coppice.WorkForgeRead, &coppice.Failure{Class: coppice.ClassRateLimit, Text: "slow down", RetryAt: until})
	project := b.projectNow().ID
	b.view(func(r store.Reader) error {
		row, err := r.Forges.Of(project)
		if !row.NextAt.Equal(until) || row.Failure == nil {
			t.Errorf("the next pass is at %s: %v", row.NextAt, row.Failure)
		}
		return err
	})
}

// A request conflicts with commits that the base here does not have. The base follows
// first: then the agent can merge it.
func TestConflictsWaitForTheBase(t *testing.T) {
	t.Parallel()
	b := inPull(t)
	b.passes("base2", func(r *coppice.PullRead) { r.Conflicts = true })
	if got := b.reactions(); len(got) != 0 || b.pull().Report.Conflicts {
		t.Errorf("before the base has the commits: %v", got)
	}
	b.ends("", coppice.WorkMove, coppice.MoveResult{Moved: true, Now: "base2"})
	b.readsNow("base2", func(r *coppice.PullRead) { r.Conflicts = true })
	want := []string{"merge-conflicts:send-to-agent"}
	if got := b.reactions(); !slices.Equal(got, want) {
		t.Errorf("reactions %v, want %v", got, want)
	}
}

// A task continues after its request was closed. Its work goes into another request.
func TestAnotherPullRequest(t *testing.T) {
	t.Parallel()
	b := inPull(t)
	b.reads(func(r *coppice.PullRead) { r.State = coppice.PullClosed })
	b.wantStage(coppice.StageEnded)
	b.clock = b.clock.Add(time.Minute)
	b.annAsks("app-1", coppice.VerbContinue, "try another way")
	b.ends("app-1", coppice.WorkRun, coppice.RunResult{Head: pullFixed, From: pullHead, Conversation: "talk"})
	b.ends("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "base1", Tree: "tree2", Commit: "commit2"})
	b.ends("app-1", coppice.WorkPullPush, coppice.PullPushResult{Pushed: true})
	if spec := b.written("app-1"); spec.Op != coppice.ForgePut || spec.Number != 0 || spec.Before != 7 || !spec.Closed || spec.Head != pullFixed {
		t.Errorf("the next request: %+v", spec)
	}
}

// A branch that a failed task cannot push stays as it is on the forge.
func TestAFailedTaskPushesOneTime(t *testing.T) {
	t.Parallel()
	for _, res := range []coppice.PullPushResult{{Theirs: pullFixed}, {Blocked: "no"}} {
		b := openApp(t, withPulls(func(p *coppice.Policy) { p.Land.PR.PushFails, p.Land.PR.Draft, p.Verify.Attempts = true, new(bool), 0 }))
		b.create(coppice.NewTask{Title: "a"})
		b.prepares("app-1")
		b.ends("app-1", coppice.WorkRun, coppice.RunResult{Head: pullHead, From: "base1"})
		b.ends("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "base1", Tree: "tree1", Commit: "commit1"})
		b.ends("app-1", coppice.WorkCheck, coppice.CheckResult{Env: "e", Checks: []coppice.Check{{Command: "make", Exit: 1}}})
		b.ends("app-1", coppice.WorkPullPush, res)
		b.clock = b.clock.Add(time.Hour)
		b.turn()
		if p := b.pull(); !p.Cleaned || b.hasOpen(coppice.WorkPullPush) {
			t.Errorf("after %+v: %+v", res, p)
		}
	}
}

// A task that a reaction created creates no other one, so that rules do not feed
// themselves.
func TestReactionsDoNotFeedThemselves(t *testing.T) {
	t.Parallel()
	b := inPull(t, func(p *coppice.Policy) {
		p.Reactions = coppice.Reactions{coppice.OnConflicts: {{Do: coppice.ReactTask}}, coppice.OnBotComment: {{Do: coppice.ReactTask}}}
	})
	b.update(func(tx store.Tx) error {
		x, err := tx.Tasks.ByKey("app-1")
		x.CreatedBy = "engine:reaction"
		return firstErr(err, tx.Tasks.Put(&x))
	})
	b.reads(func(r *coppice.PullRead) { r.Conflicts = true })
	if got := b.reactions(); !slices.Equal(got, []string{"merge-conflicts:nothing"}) {
		t.Errorf("reactions %v", got)
	}
}

// A request was merged before Coppice wrote to it again. The commit that landed comes
// from the next read.
func TestMergedBeforeTheNextWrite(t *testing.T) {
	t.Parallel()
	b := inPull(t)
	b.annAsks("app-1", coppice.VerbContinue, "one more thing")
	b.ends("app-1", coppice.WorkRun, coppice.RunResult{Head: pullFixed, From: pullHead, Conversation: "talk"})
	b.ends("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "base1", Tree: "tree2", Commit: "commit2"})
	b.ends("app-1", coppice.WorkPullPush, coppice.PullPushResult{Pushed: true})
	b.ends("app-1", coppice.WorkForgeWrite, coppice.ForgeWriteResult{Number: 7, State: coppice.PullMerged})
	b.ends("app-1", coppice.WorkCheck, proved)
	b.ends("app-1", coppice.WorkForgeWrite, coppice.ForgeWriteResult{Number: 7, State: coppice.PullMerged})
	b.wantStage(coppice.StagePull)
	b.reads(func(r *coppice.PullRead) { r.State, r.Head, r.Merged = coppice.PullMerged, pullHead, pullMerge })
	b.wantStage(coppice.StageLanding)
	if l := b.landing("app-1"); l.Commit != pullMerge {
		t.Errorf("it lands as %q", l.Commit)
	}
}

// Somebody merges the request of a task that failed or was stopped. Its work lands.
func TestMergedAfterTheEnd(t *testing.T) {
	t.Parallel()
	b := inPull(t, func(p *coppice.Policy) { p.Retry.Max = 0 })
	ann := b.As(coppice.Actor{Kind: coppice.ActorPerson, Name: "ann"})
	_, err := ann.Ask(t.Context(), "app-1", coppice.VerbContinue, request("one more thing"))
	b.must(err)
	b.turn()
	one := 1
	b.ends("app-1", coppice.WorkRun, coppice.RunResult{Exit: &one})
	if x := b.task("app-1"); x.Outcome != coppice.OutcomeFailed {
		t.Fatalf("the task is %s, %s", x.Stage, x.Outcome)
	}
	b.reads(func(r *coppice.PullRead) { r.State, r.Merged = coppice.PullMerged, pullMerge })
	b.wantStage(coppice.StageLanding)

	b = inPull(t)
	b.annAsks("app-1", coppice.VerbStop, "")
	b.forgeMerges()
	b.wantStage(coppice.StageLanding)
}

// A request that Coppice merged before it ever read it: its branch is deleted where
// Coppice left it, and so is that of the next request of the task.
func TestMergedBeforeItIsRead(t *testing.T) {
	t.Parallel()
	b := inPull(t)
	b.approves()
	b.forgeMerges()
	b.ends("app-1", coppice.WorkMove, coppice.MoveResult{Moved: true, Now: pullMerge})
	deletion := specOf[coppice.PullPushSpec](b, b.openWork("app-1", coppice.WorkPullPush))
	if deletion.Old != pullHead || deletion.New != "" {
		t.Errorf("the deletion: %+v", deletion)
	}
	b.ends("app-1", coppice.WorkPullPush, coppice.PullPushResult{Blocked: "branches stay"})
	b.ends("app-1", coppice.WorkRemove, coppice.RemoveResult{})
	b.clock = b.clock.Add(time.Minute)
	b.annAsks("app-1", coppice.VerbContinue, "one more thing")
	b.prepares("app-1")
	b.ends("app-1", coppice.WorkRun, coppice.RunResult{Head: pullFixed, From: pullMerge})
	b.ends("app-1", coppice.WorkMerge, coppice.MergeResult{Base: pullMerge, Tree: "tree2", Commit: "commit2"})
	push := specOf[coppice.PullPushSpec](b, b.openWork("app-1", coppice.WorkPullPush))
	if push.Old != pullHead || push.New != pullFixed || push.Keep != "" {
		t.Errorf("the push of the next request: %+v", push)
	}
}

// A request that Coppice merged before it ever read it is one event.
func TestMergedOneTime(t *testing.T) {
	t.Parallel()
	b := inPull(t)
	b.approves()
	b.forgeMerges()
	task := b.task("app-1")
	b.update(func(tx store.Tx) error { // a read that had begun before
		return firstErr(tx.Asks.Put(&coppice.Ask{
			Subject: coppice.TaskSubject(task.ID), ProjectID: task.ProjectID, Verb: coppice.VerbReport, At: b.clock,
			Args: coppice.Raw(coppice.PullRead{Number: 7, State: coppice.PullMerged, Head: pullHead, Merged: pullMerge}),
		}), tx.Log.Append(&coppice.Event{At: b.clock, Kind: coppice.EventForgeAsked, ProjectID: task.ProjectID, TaskID: task.ID}))
	})
	b.turn()
	if got := b.reactions(); !slices.Equal(got, []string{"pr-merged:notify"}) {
		t.Errorf("reactions %v", got)
	}
}
