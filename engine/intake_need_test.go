package engine

import (
	"encoding/json"
	"strings"
	"testing"

	"coppice"
	"coppice/store"
)

var movedNeed = coppice.Need{Kind: coppice.NeedBase, Text: "main moved", Fix: "keep it", From: "base1", To: "base2"}

// needy gives the project a need of a kind.
func needy(kind coppice.NeedKind) change {
	return func(v *View) { v.Queue.Needs = []coppice.Need{{Kind: kind, Text: "look at it", Fix: "do something"}} }
}

// seen makes a merge one that was asked for when the base was there.
func seen(commit string) func(*coppice.Work) {
	return func(w *coppice.Work) { w.Spec = coppice.Raw(coppice.MergeSpec{Seen: commit}) }
}

func TestSettleAMovedBase(t *testing.T) {
	t.Parallel()
	judged := coppice.MergeResult{Base: "base2", Need: &movedNeed}
	run(t, anySettle, []decision{
		{"begins", viewOf(coppice.StageChecking, candidate(), finished(coppice.WorkMerge, judged, seen("base1"))), `settle: work.finished; asks queue/1 to moved {"kind":"base","text":"main moved","fix":"keep it","from":"base1","to":"base2","since":"2026-03-01T12:00:00Z"}; settled`},
		{"begins in the queue", viewOf(coppice.StageLanding, candidate(inQueue), finished(coppice.WorkMerge, judged, seen("base1"))), `settle: project.need_began; needs base "main moved" [] since 0s; settled`},
		{"is known", viewOf(coppice.StageChecking, candidate(), needy(coppice.NeedBase), finished(coppice.WorkMerge, judged, seen("base1"))), "settle: work.finished; settled"},
		{"the base was seen since", viewOf(coppice.StageChecking, candidate(), finished(coppice.WorkMerge, judged, seen("base0"))), "settle: work.finished; settled"},
	})
}

// Nothing is built on a base that a person must check first. A move that might
// have succeeded is the exception: only a retry shows it.
func TestABaseNeedHoldsLandings(t *testing.T) {
	t.Parallel()
	open := needy(coppice.NeedBase)
	failed := func(l *coppice.Landing) { inQueue(l); l.Failure = broke }
	run(t, anyLanding, []decision{
		{"before the merge", viewOf(coppice.StageChecking, candidate(), space(), open), "nothing"},
		{"before the move", viewOf(coppice.StageLanding, candidate(inQueue), space(), open), "nothing"},
		{"unsure", viewOf(coppice.StageLanding, candidate(failed), space(), open), describe(viewOf(coppice.StageLanding, candidate(failed), space()),
			anyLanding(viewOf(coppice.StageLanding, candidate(failed), space())))},
	})
	v := viewOf(coppice.StageLanding, candidate(inQueue), space(), needy(coppice.NeedFeatures))
	if anyLanding(v) == nil {
		t.Error("a need of another kind holds a landing")
	}
}

// A task that starts in the meantime starts from the old base.
func TestATaskDoesNotBeginFromASuspiciousBase(t *testing.T) {
	t.Parallel()
	v := viewOf(coppice.StageSession, func(v *View) { v.Queue.Needs = []coppice.Need{movedNeed} })
	if got := branchStart(v); got != "base1" {
		t.Errorf("it begins from %q", got)
	}
	v.Fork = "coppice/app-1"
	if got := branchStart(v); got != "coppice/app-1" {
		t.Errorf("a fork begins from %q", got)
	}
	v.Queue.Needs, v.Task.Landed = nil, "c1"
	if got := branchStart(v); got != "" { // the base has its work
		t.Errorf("a fork that has landed begins from %q", got)
	}
	if got := branchStart(viewOf(coppice.StageSession)); got != "" {
		t.Errorf("a plain task begins from %q", got)
	}
}

// The engine asks for a merge with what it last saw of the base.
func TestAMergeSaysWhatWasSeen(t *testing.T) {
	t.Parallel()
	d := anyLanding(viewOf(coppice.StageChecking, candidate(), space()))
	spec, err := coppice.DecodeSpec[coppice.MergeSpec](*d.Offer)
	if err != nil || spec.Seen != "base1" {
		t.Errorf("seen %q, %v", spec.Seen, err)
	}
}

// A need begins and ends with an event each, is there once, and keeps its time.
func TestNeedsBeginAndEnd(t *testing.T) {
	t.Parallel()
	b := open(t)
	p := b.project()
	n := coppice.Need{Kind: coppice.NeedPolicy, Text: "checks changed", Diff: "-a\n+b\n"}
	b.must(b.Need(t.Context(), p.ID, n))
	b.must(b.Need(t.Context(), p.ID, n))
	n.Diff = "-a\n+c\n"
	b.must(b.Need(t.Context(), p.ID, n))
	b.must(b.Need(t.Context(), p.ID, movedNeed))
	got := b.projectNow().Needs
	if len(got) != 2 || got[0].Diff != n.Diff || got[0].Since.IsZero() {
		t.Errorf("needs %+v", got)
	}
	b.must(b.EndNeed(t.Context(), p.ID, coppice.NeedPolicy, "reverted"))
	b.must(b.EndNeed(t.Context(), p.ID, coppice.NeedPolicy, "reverted"))
	after, err := b.BaseAt(t.Context(), p.Path, "base2")
	if err != nil || after.BaseCommit != "base2" || len(after.Needs) != 0 {
		t.Errorf("the base is kept at %q, %+v, %v", after.BaseCommit, after.Needs, err)
	}
	if got, want := b.needEvents(), "began policy, began policy, began base, ended policy, ended base"; got != want {
		t.Errorf("events: %s\nwant: %s", got, want)
	}
}

// Adding a known project confirms its policy and its git settings, and nothing
// else.
func TestAddingConfirms(t *testing.T) {
	t.Parallel()
	b := open(t)
	p := b.project()
	for _, kind := range []coppice.NeedKind{coppice.NeedPolicy, coppice.NeedGit, coppice.NeedFeatures, coppice.NeedBase} {
		if err := b.Need(t.Context(), p.ID, coppice.Need{Kind: kind, Text: "look"}); err != nil {
			t.Fatal(err)
		}
	}
	again, err := b.AddProject(t.Context(), p.Path)
	if err != nil || again.ID != p.ID {
		t.Fatal(again, err)
	}
	left := b.projectNow().Needs
	if len(left) != 2 || left[0].Kind != coppice.NeedFeatures || left[1].Kind != coppice.NeedBase {
		t.Errorf("left are %+v", left)
	}
}

// A project that an older version added adopts its git settings once.
func TestGitSettingsAreAdoptedOnce(t *testing.T) {
	t.Parallel()
	b := open(t)
	p := b.project()
	for _, value := range []string{"one", "two"} {
		if err := b.AdoptGit(t.Context(), p.ID, []coppice.GitSetting{{Scope: "local", Key: "remote.origin.url", Value: value}}); err != nil {
			t.Fatal(err)
		}
	}
	p = b.projectNow()
	if len(p.Git) != 1 || p.Git[0].Value != "one" {
		t.Errorf("adopted %+v", p.Git)
	}
}

// A task whose landing waits for a person says so at every stage, and continues
// when the need ends.
func TestALandingWaitsForAPerson(t *testing.T) {
	t.Parallel()
	b := open(t)
	p := b.project()
	b.create(coppice.NewTask{Title: "a"})
	b.prepares("app-1")
	b.finish("app-1", coppice.WorkRun, coppice.RunResult{From: "base1", Head: "head1"})
	b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "base2", Need: &movedNeed})
	if got := b.projectNow().Needs; len(got) != 1 || got[0].Since != noon {
		t.Fatalf("needs %+v", got)
	}
	s := b.status("app-1")
	if s.Status != coppice.StatusChecking || s.Reason != "waits for you: main moved" || s.Fix != "keep it" {
		t.Errorf("it is %s (%q, %q)", s.Status, s.Reason, s.Fix)
	}
	if w := b.unsettled("app-1"); w.ID != 0 {
		t.Errorf("it continues with %s", w.Kind)
	}
	_, err := b.BaseAt(t.Context(), p.Path, "base2")
	b.must(err)
	b.turn()
	spec, err := coppice.DecodeSpec[coppice.MergeSpec](b.unsettled("app-1"))
	if err != nil || spec.Seen != "base2" {
		t.Errorf("it is merged with what was seen at %q, %v", spec.Seen, err)
	}
}

func (b *bundle) needEvents() string {
	b.t.Helper()
	var list []string
	for _, e := range b.events(store.EventFilter{Kinds: []coppice.EventKind{coppice.EventNeedBegan, coppice.EventNeedEnded}}) {
		var data struct{ Kind string }
		b.must(json.Unmarshal(e.Data, &data))
		list = append(list, strings.TrimPrefix(string(e.Kind), "project.need_")+" "+data.Kind)
	}
	return strings.Join(list, ", ")
}
