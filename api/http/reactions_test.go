package http_test

import (
	"testing"

	"coppice"
	"coppice/api/client"
	"coppice/store"
)

// TestReactions checks the rules of a project, the pages of the history, and the pull
// requests in lists of tasks.
func TestReactions(t *testing.T) {
	t.Parallel()
	b := setupApp(t, "With a request", "Without")
	b.Update(func(tx store.Tx) error {
		p, err := tx.Projects.ByPrefix("app")
		b.Must(err)
		p.Policy.Reactions = coppice.Reactions{coppice.OnApprovedGreen: {{Do: coppice.ReactMerge}}}
		b.Must(tx.Projects.Put(&p))
		k, err := tx.Tasks.ByKey("app-1")
		b.Must(err)
		k.Pull = true
		b.Must(tx.Tasks.Put(&k))
		pull := coppice.Pull{ProjectID: p.ID, TaskID: k.ID, Number: 7, PullDetails: coppice.PullDetails{Branch: "work", Base: "main"}}
		pull.Report = coppice.PullRead{CI: coppice.CIFailed, Checks: []coppice.PullCheck{{Name: "build", State: coppice.CIFailed}}, Comments: []coppice.PullComment{
			{ID: "1", Text: "rename it"}, {ID: "2", Text: "done", Resolved: true}, {ID: "3", Text: coppice.PullMarker("app-1")},
		}}
		b.Must(tx.Pulls.Put(&pull))
		for _, e := range []coppice.Reacted{{TaskID: k.ID, Key: "ci-failed/1", ReactedDetails: coppice.ReactedDetails{Do: coppice.ReactSend}}, {Key: "all-complete/1"}} {
			e.ProjectID = p.ID
			b.Must(tx.Reactions.Put(&e))
		}
		return nil
	})

	page, err := b.Client.Tasks(b.Ctx, client.TaskQuery{Pull: "open"})
	b.Must(err)
	if len(page.Tasks) != 1 || page.Tasks[0].PR == nil {
		t.Fatalf("tasks with an open request: %+v", page.Tasks)
	}
	if m := *page.Tasks[0].PR; m.Number != 7 || m.State != coppice.PullOpen || m.CI != coppice.CIFailed || m.Open != 1 || len(m.Failed) != 1 {
		t.Errorf("in short: %+v", m)
	}

	wantBoards(t, b, map[string]string{"pull=open": "Waiting 1: app-1", "pull=any": "Waiting 1: app-1", "": "Waiting 2: app-1 app-2"})

	first, err := b.Client.Reactions(b.Ctx, "app", 0, 1)
	b.Must(err)
	rest, err := b.Client.Reactions(b.Ctx, "", first.Next, 1)
	b.Must(err)
	if len(first.Reactions) != 1 || first.Reactions[0].Key != "all-complete/1" || first.Reactions[0].Of != "" || first.Reactions[0].Project != "app" {
		t.Errorf("the newest entry: %+v", first)
	}
	if len(rest.Reactions) != 1 || rest.Reactions[0].Of != "app-1" || rest.Reactions[0].Title != "With a request" || !rest.Reactions[0].Waits || first.Reactions[0].Waits || rest.Next != 0 {
		t.Errorf("the entry before it: %+v", rest)
	}

	if d, err := b.Client.Task(b.Ctx, "app-1"); err != nil || len(d.Reactions) != 1 || !d.Reactions[0].Waits {
		t.Errorf("the reactions of a task: %+v, %v", d.Reactions, err)
	}

	rules, err := b.Client.ReactionRules(b.Ctx, "app")
	b.Must(err)
	for _, e := range rules.Events {
		switch e.Event {
		case coppice.OnApprovedGreen:
			if !e.Own || e.Rules[0].Do != coppice.ReactMerge || e.Why != "" {
				t.Errorf("an own rule: %+v", e)
			}
		case coppice.OnCIFailed:
			if e.Own || e.Why == "" {
				t.Errorf("a default rule that needs trust: %+v", e)
			}
		}
	}
	if code := coppice.ErrorCode(second(b.Client.ReactionRules(b.Ctx, "nope"))); code != coppice.ENotFound {
		t.Errorf("rules of an unknown project: %s", code)
	}
}
