package http_test

import (
	"testing"

	"coppice"
	"coppice/api"
	"coppice/api/client"
	"coppice/store"
)

func TestHooks(t *testing.T) {
	t.Parallel()
	b := setupApp(t)
	b.Update(func(tx store.Tx) error {
		p, err := tx.Projects.ByPrefix("app")
		if err != nil {
			return err
		}
		p.Policy.Hooks = coppice.Hooks{coppice.HookLanded: {{Run: "first"}, {Run: "second", OnFailure: coppice.HookIgnore}}}
		return tx.Projects.Put(&p)
	})
	list, err := b.Client.Hooks(b.Ctx, "app")
	b.Must(err)
	if len(list.Hooks) != 2 || list.Hooks[0].Last != nil || list.Hooks[0].OnFailure != coppice.HookWarn || list.Hooks[0].Timeout != coppice.DefaultHookTimeout || len(list.Events) != len(coppice.HookEvents) {
		t.Fatalf("%+v", list)
	}
	page, err := b.Client.TestHooks(b.Ctx, coppice.HookTest{Event: coppice.HookLanded, Project: "app"})
	b.Must(err)
	if len(page.Runs) != 2 || page.Runs[0].State != "waiting" || !page.Runs[0].Test || page.Runs[0].Project != "app" {
		t.Fatalf("%+v", page)
	}
	id := page.Runs[0].ID
	ended := make(chan api.HookRun, 1)
	go func() {
		run, err := b.Client.WaitHook(b.Ctx, id)
		if err != nil {
			t.Error(err)
		}
		ended <- run
	}()
	b.Update(func(tx store.Tx) error {
		run, err := tx.Hooks.ByKey(id)
		if err != nil {
			return err
		}
		run.EndedAt, run.Outcome = b.Clock.Now(), coppice.HookFailed
		run.HookResult = coppice.HookResult{Exit: 3, Output: "no\n", Attempt: 1}
		return tx.Hooks.Put(&run)
	})
	if run := <-ended; run.State != coppice.HookFailed || run.Exit != 3 || run.Output != "no\n" || run.Text != "the hook landed (first) failed with exit code 3" {
		t.Errorf("%+v", run)
	}
	list, err = b.Client.Hooks(b.Ctx, "")
	b.Must(err)
	if last := list.Hooks[0].Last; last == nil || last.State != coppice.HookFailed || last.Output != "" {
		t.Errorf("last run %+v", last)
	}
	first, err := b.Client.HookRuns(b.Ctx, client.HookQuery{Project: "app", Limit: 1})
	b.Must(err)
	rest, err := b.Client.HookRuns(b.Ctx, client.HookQuery{Project: "app", Limit: 1, Before: first.Next})
	b.Must(err)
	if len(first.Runs) != 1 || first.Runs[0].Run != "second" || len(rest.Runs) != 1 || rest.Runs[0].ID != id || rest.Next != 0 {
		t.Errorf("pages %+v, %+v", first, rest)
	}
	for what, err := range map[string]error{
		"unknown event": second(b.Client.TestHooks(b.Ctx, coppice.HookTest{Event: "landing"})), "unknown event of runs": second(b.Client.HookRuns(b.Ctx, client.HookQuery{Event: "landing"})),
	} {
		if coppice.ErrorCode(err) != coppice.EInvalid {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := b.Client.WaitHook(b.Ctx, "none"); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("unknown run: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }
