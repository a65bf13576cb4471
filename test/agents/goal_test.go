package agents

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coppice"
	"coppice/agent/claude"
	"coppice/agent/codex"
	"coppice/api"
	"coppice/api/client"
)

// goalRules are what the lead, the worker and the verifier of TestGoal do. The worker
// follows the rule "write".
const goalRules = `{"rules": [
  {"name": "goal-lead", "match": "You lead the work on the goal", "steps": [
    {"tool": {"match": "spawn_worker$", "input": {"task": "WRITE part.txt=made", "file_scope": ["part.txt"], "agent_hint": "codex"}}},
    {"tool": {"match": "wait_for_worker$", "input": {"worker_id": "w1"}}},
    {"tool": {"match": "mark_goal_done$", "input": {"summary": "The part is written."}}},
    {"text": "The goal is reached."}]},
  {"name": "goal-verify", "match": "You verify the work on the goal", "steps": [{"text": "{\"result\":\"pass\",\"findings\":[]}"}]}]}`

// TestGoal: the real Claude Code leads a goal, and the real Codex works on it and
// verifies it. The server is killed while the lead waits for its worker. The work lands
// as one change.
func TestGoal(t *testing.T) {
	t.Parallel()
	b := newCodex(t, goalRules)
	b.env["ANTHROPIC_BASE_URL"], b.env["ANTHROPIC_API_KEY"] = b.url, "test-key"
	var env, agents strings.Builder
	for k, v := range b.env {
		fmt.Fprintf(&env, "\n      %s: %q", k, v)
	}
	fmt.Fprintf(&agents, "  %s:\n    command: [%q%s]\n    env:%s\n", codex.Name, b.profile.Command[0], rest(b.profile.Command[1:]), env.String())
	lead := newBench(t, claude.Name).profile.Command
	fmt.Fprintf(&agents, "  %s:\n    command: [%q%s]\n    env:%s\n", claude.Name, lead[0], rest(lead[1:]), env.String())
	put(t, filepath.Join(b.repo, "coppice.yaml"), fmt.Sprintf("base: main\nagent: {use: %s, fallback: [%s]}\nlimits: {memory: 100%%}\nagents:\n%s", claude.Name, codex.Name, agents.String()))
	b.git(t, "add", "--all")
	b.git(t, "commit", "--quiet", "--message=configured")

	ctx, c, p, restart := b.serveConfigured(t)
	tasks, err := c.CreateTasks(ctx, p.Prefix, []coppice.NewTask{{Title: "Write the part", Flow: &coppice.NewFlow{Kind: coppice.FlowGoal, Spec: coppice.Raw(map[string]string{"lead": claude.Name})}}})
	if err != nil {
		t.Fatal(err)
	}
	goal, led := tasks[0].Key, p.Prefix+"-2"
	err = c.FollowEvents(ctx, client.EventQuery{Project: p.Prefix}, func(e api.Event) error {
		if e.Kind == coppice.EventSessionParked {
			return errFound
		}
		return nil
	}, nil)
	if !errors.Is(err, errFound) {
		t.Fatalf("the lead does not wait for its worker: %v", err)
	}
	restart()
	b.await(t, ctx, c, goal, func(e coppice.Event) bool { return e.Kind == coppice.EventTaskEnded })
	d, err := c.Task(ctx, goal)
	if err != nil || d.Outcome != coppice.OutcomeDone || d.Landed == "" {
		t.Fatalf("the goal is %s, %v: %v; want done and landed", d.Outcome, d.Failure, err)
	}
	f, err := c.Flow(ctx, goal)
	if err != nil {
		t.Fatal(err)
	}
	var steps []string
	for _, s := range f.Steps {
		steps = append(steps, fmt.Sprintf("%s %s %s", s.Key, s.Agent, s.State))
	}
	if want := []string{"lead claude done", "w1 codex done", "verify-1 codex done"}; !slices.Equal(steps, want) {
		t.Errorf("the steps are %q, want %q", steps, want)
	}
	if got := called(t, ctx, c, led+".1"); !slices.Equal(got, []string{"spawn_worker", "wait_for_worker", "mark_goal_done"}) {
		t.Errorf("the lead called %v", got)
	}
	if got := b.git(t, "show", "main:part.txt"); got != "made" {
		t.Errorf("the worker wrote %q, want made", got)
	}
}
