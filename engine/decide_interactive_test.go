package engine

import (
	"strings"
	"testing"

	"coppice"
	"coppice/verb"
)

// worked ends the run of a task with a commit and a message.
func (b *bundle) worked(key, head string) {
	b.t.Helper()
	zero := 0
	b.finish(key, coppice.WorkRun, coppice.RunResult{Exit: &zero, Summary: "Did it.", From: "base1", Head: head, Conversation: "c1"})
	b.turn()
}

// After each turn of an interactive task without a screen a person decides what
// follows: another turn, or landing.
func TestInteractiveWithoutAScreen(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.project()
	k := b.create(coppice.NewTask{Title: "together", Agent: "blind", Interactive: true})[0]
	if !k.Interactive || k.Next.Screen {
		t.Fatalf("%+v", k)
	}
	b.prepares("app-1")
	b.worked("app-1", "head1")
	k = b.task("app-1")
	if k.Stage != coppice.StageWaiting || !verb.YourTurn(k) || !strings.Contains(k.Wait.Fix, "coppice land app-1") {
		t.Fatalf("%+v", k)
	}
	if _, err := b.Ask(t.Context(), "app-1", coppice.VerbContinue, verb.Request{}); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("without a text: %v", err)
	}
	_, err := b.Ask(t.Context(), "app-1", coppice.VerbContinue, verb.Request{Text: "now the tests"})
	b.must(err)
	b.turn()
	w := b.unsettled("app-1")
	spec, err := coppice.DecodeSpec[coppice.RunSpec](w)
	if err != nil || w.Kind != coppice.WorkRun || spec.Session.Resume != "c1" || spec.Session.Screen {
		t.Fatalf("%s: %+v, %v", w.Kind, spec.Session, err)
	}
	b.worked("app-1", "base1") // a turn that only answers is not a session without changes
	if k = b.task("app-1"); !verb.YourTurn(k) {
		t.Fatalf("%+v", k)
	}
	_, err = b.Ask(t.Context(), "app-1", coppice.VerbLand, verb.Request{})
	b.must(err)
	b.turn()
	if k = b.task("app-1"); k.Stage != coppice.StageChecking {
		t.Errorf("%+v", k)
	}
}

// With a screen, the first session runs on it. Other kinds of task refuse it.
func TestInteractiveOnAScreen(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.project()
	k := b.create(coppice.NewTask{Title: "together", Interactive: true})[0]
	if k.Interactive || !k.Next.Screen {
		t.Fatalf("%+v", k)
	}
	b.prepares("app-1")
	if spec, err := coppice.DecodeSpec[coppice.RunSpec](b.unsettled("app-1")); err != nil || !spec.Session.Screen {
		t.Errorf("%+v, %v", spec.Session, err)
	}
	here := b.create(coppice.NewTask{Title: "here", Workspace: coppice.WorkspaceNone, Interactive: true})[0]
	if !here.Next.Screen || here.Next.Role != coppice.RoleCheckout {
		t.Errorf("%+v", here.Next)
	}
	for name, n := range map[string]coppice.NewTask{
		"an answer":                   {Title: "why", Answer: true, Interactive: true},
		"a checkout without a screen": {Title: "here", Agent: "blind", Workspace: coppice.WorkspaceNone, Interactive: true},
	} {
		if _, err := b.CreateTasks(t.Context(), "app", []coppice.NewTask{n}); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
