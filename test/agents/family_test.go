package agents

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coppice"
	"coppice/api"
	"coppice/api/client"
	"coppice/internal/browser"
)

// TestFamily: a real agent creates a task and waits for it. The server is killed as
// soon as the task exists, and again while the agent waits. Then the task ends, the
// agent asks a person, who answers in the dashboard, and its work lands.
func TestFamily(t *testing.T) {
	t.Parallel()
	both(t, "family", hasFamily)
}

func hasFamily(t *testing.T, b *bench, name string) {
	t.Helper()
	gate := b.gate(t)
	ctx, c, p, restart := b.serve(t, name)
	parent, child := creates(t, ctx, c, p.Prefix, "the parent", "SPAWN "+p.Prefix+" "+gate), p.Prefix+"-2"
	err := c.FollowEvents(ctx, client.EventQuery{Project: p.Prefix}, func(e api.Event) error {
		if e.Kind == coppice.EventTaskCreated && e.Subject == child {
			return errFound
		}
		return nil
	}, nil)
	if !errors.Is(err, errFound) {
		t.Fatalf("the agent creates no task: %v", err)
	}
	restart() // if the agent has no answer yet, its call is repeated
	b.await(t, ctx, c, parent, func(e coppice.Event) bool { return e.Kind == coppice.EventSessionParked })
	restart()
	release(t, gate)
	b.await(t, ctx, c, parent, func(coppice.Event) bool {
		d, err := c.Task(ctx, parent)
		return err == nil && d.Question != nil
	})
	b.answerInBrowser(t, ctx, c, parent, "yes")
	ended := func(key string) api.TaskDetail {
		b.await(t, ctx, c, key, func(e coppice.Event) bool { return e.Kind == coppice.EventTaskEnded })
		d, err := c.Task(ctx, key)
		if err != nil || d.Outcome != coppice.OutcomeDone || len(d.History) != 1 {
			t.Fatalf("%s: %s after %d sessions, %v: %v", key, d.Outcome, len(d.History), d.Failure, err)
		}
		return d
	}
	ended(child)
	ended(parent)
	if all, err := c.Tasks(ctx, client.TaskQuery{Project: p.Prefix}); err != nil || len(all.Tasks) != 2 {
		t.Errorf("%d tasks, %v", len(all.Tasks), err)
	}
	if got := called(t, ctx, c, parent+".1"); !slices.Equal(got, []string{"create_task", "wait_for_tasks", "ask_user"}) {
		t.Errorf("the conversation has the calls %v", got)
	}
	if got := b.git(t, "show", "main:kept.txt"); !strings.Contains(got, "yes") {
		t.Errorf("the agent got the answer %q", got)
	}
	if got := b.git(t, "show", "main:made.txt"); got != "made" {
		t.Errorf("the child made %q", got)
	}
}

// answerInBrowser answers the question of a task in the dashboard.
func (b *bench) answerInBrowser(t *testing.T, ctx context.Context, c *client.Client, key, option string) {
	t.Helper()
	if _, err := os.Stat("../../web/dist/index.html"); err != nil {
		t.Skip("the dashboard is not built; run: make web")
	}
	link, err := c.LoginLink(ctx)
	if err != nil {
		t.Fatal(err)
	}
	token, err := client.EnsureToken(filepath.Join(b.home, "state"))
	if err != nil {
		t.Fatal(err)
	}
	address, _, _ := strings.Cut(strings.TrimPrefix(link.URL, "http://"), "/")
	script := exec.CommandContext(ctx, "node", "../web/person.mjs")
	script.Env = append(b.environ(), "COPPICE_WEB_TEST="+string(coppice.Raw(map[string]string{
		"url": "http://" + address, "token": token, "shots": t.TempDir(), "chromium": chromiumPath(t), "task": key, "answer": option,
	})))
	if out, err := script.CombinedOutput(); err != nil {
		t.Fatalf("nobody can answer %s in the dashboard: %v\n%s", key, err, out)
	}
}

// await waits for an event of a task.
func (b *bench) await(t *testing.T, ctx context.Context, c *client.Client, key string, f func(coppice.Event) bool) {
	t.Helper()
	err := c.FollowEvents(ctx, client.EventQuery{Task: key}, func(e api.Event) error {
		if f(e.Event) {
			return errFound
		}
		if e.Kind == coppice.EventTaskEnded {
			return errors.New("the task ended: " + e.Reason)
		}
		return nil
	}, nil)
	if errors.Is(err, errFound) {
		return
	}
	page, _ := c.Output(ctx, key+".1", -1, coppice.OutputEvent) // what it did helps
	for _, o := range page.Output {
		t.Logf("%s", o.Event)
	}
	t.Fatalf("%s: %v", key, err)
}

// chromiumPath is the browser of the tests.
func chromiumPath(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("COPPICE_CHROMIUM"); path != "" {
		return path
	}
	found, err := browser.Find(os.Environ(), "")
	if err != nil && found.Chromium == "" {
		if os.Getenv("CI") == "true" || os.Getenv("COPPICE_REQUIRE_AGENTS") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	return found.Chromium
}
