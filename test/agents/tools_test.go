package agents

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

// TestTools: a real agent finds and calls the tools of Coppice. The server is
// killed while a call waits, and the call is answered after the restart, when
// another agent has written what it waits for.
func TestTools(t *testing.T) {
	t.Parallel()
	both(t, "tools", usesTools)
}

func usesTools(t *testing.T, b *bench, name string) {
	t.Helper()
	ctx, c, p, restart := b.serve(t, name)
	create := func(title string) string { return creates(t, ctx, c, p.Prefix, title, title) }
	key := create("USETOOLS")
	err := c.FollowEvents(ctx, client.EventQuery{Task: key}, func(e api.Event) error {
		if e.Kind == coppice.EventSessionReport && e.Reason == "reads its task" {
			return errFound
		}
		if e.Kind == coppice.EventTaskEnded {
			return errors.New("the task ended: " + e.Reason)
		}
		return nil
	}, nil)
	if !errors.Is(err, errFound) {
		page, _ := c.Output(ctx, key+".1", -1, coppice.OutputEvent) // what it did helps
		for _, o := range page.Output {
			t.Logf("%s", o.Event)
		}
		t.Fatalf("the agent reports nothing: %v", err)
	}
	err = c.FollowOutput(ctx, key+".1", -1, func(o api.Output) error {
		if e, ok := coppice.ReadAgentEvent(o.Event); ok && e.Kind == coppice.KindTool && strings.Contains(e.Name, "watch_notes") {
			return errFound
		}
		return nil
	}, coppice.OutputEvent)
	if !errors.Is(err, errFound) {
		t.Fatalf("the agent does not wait: %v", err)
	}
	restart()
	other := create("SETNOTE")
	for _, task := range []string{key, other} {
		err = c.FollowEvents(ctx, client.EventQuery{Task: task}, func(e api.Event) error {
			if e.Kind == coppice.EventTaskEnded {
				return errFound
			}
			return nil
		}, nil)
		d, taskErr := c.Task(ctx, task)
		if !errors.Is(err, errFound) || taskErr != nil || d.Outcome != coppice.OutcomeDone || len(d.History) != 1 {
			t.Fatalf("%s: %s after %d sessions, %v: %v, %v", task, d.Outcome, len(d.History), d.Failure, err, taskErr)
		}
	}
	if got := called(t, ctx, c, key+".1"); !slices.Equal(got, []string{"report_status", "read_task", "watch_notes"}) {
		t.Errorf("the conversation has the calls %v", got)
	}
}

// called returns the tools of Coppice that a session's conversation shows, and
// checks that each is shown once, by the host.
func called(t *testing.T, ctx context.Context, c *client.Client, session string) (tools []string) {
	t.Helper()
	page, err := c.Output(ctx, session, -1, coppice.OutputEvent)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range page.Output {
		e, ok := coppice.ReadAgentEvent(o.Event)
		switch {
		case !ok:
		case e.Kind == coppice.KindCall && e.OK && e.Ref != "" && e.Text != "":
			tools = append(tools, e.Name)
		case e.Kind == coppice.KindCall:
			t.Errorf("the call %+v", e)
		case e.Kind == coppice.KindTool && strings.Contains(e.Name, "coppice") && !e.Own:
			t.Errorf("the agent's own entry is shown: %+v", e)
		}
		if strings.Contains(string(o.Event), "cop_") {
			t.Errorf("the token is in %s", o.Event)
		}
	}
	return tools
}
