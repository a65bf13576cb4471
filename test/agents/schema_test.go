package agents

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coppice"
	"coppice/agent"
	"coppice/agent/claude"
	"coppice/agent/codex"
	"coppice/api"
	"coppice/api/client"
	"coppice/test/scriptedmodel"
)

var (
	steps     = []string{"It is there.", "It is green."}
	readsOnly = rules(coppice.Rule{Tool: "edit", Do: coppice.RuleDeny, Why: "a verifier changes nothing"})
)

// verifies runs an agent as a verifier and returns the verdict in its final
// message.
func (b *bench) verifies(t *testing.T, r agent.Request) (finished, coppice.Verdict) {
	t.Helper()
	r.Session, r.Role, r.Schema = "app-1.1", coppice.RoleVerify, coppice.VerdictSchema(len(steps))
	f := b.run(t, r, nil)
	if f.Failure != nil {
		t.Fatalf("failure %+v, events %+v", f.Failure, f.events)
	}
	return f, coppice.ParseVerdict(f.Summary, steps)
}

// wantVerdict: the first step passed, the second did not.
func wantVerdict(t *testing.T, f finished, v coppice.Verdict, summary string) {
	t.Helper()
	one, two := v.Steps[0], v.Steps[1]
	if !one.Pass || two.Pass || one.Evidence != "seen" || two.Evidence != "not there" || v.Summary != summary {
		t.Errorf("verdict %+v of %q", v, f.Summary)
	}
}

// sentSchema reports whether the model received a schema, in any of the ways in
// which agents pass it.
func (b *bench) sentSchema() bool {
	return slices.ContainsFunc(b.model.Log(), func(e scriptedmodel.LogEntry) bool {
		return len(e.Schema) > 0 || slices.Contains(e.Tools, "StructuredOutput")
	})
}

// TestSchema: a verifier's final message is a verdict that matches the schema.
func TestSchema(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		bench  func(*testing.T) *bench
		policy coppice.PermissionPolicy
	}{
		"claude":     {claudeBench, readsOnly},
		"codex":      {codexBench, readsOnly},
		"codex-exec": {execBench, coppice.PermissionPolicy{}},
	} {
		t.Run(name+"-schema", func(t *testing.T) {
			t.Parallel()
			b := c.bench(t)
			f, v := b.verifies(t, agent.Request{Prompt: "VERDICT", Permissions: c.policy})
			wantVerdict(t, f, v, "half of it")
			if !strings.HasPrefix(f.Summary, "{") {
				t.Errorf("summary %q", f.Summary)
			}
			if !b.sentSchema() {
				t.Errorf("the model did not receive the schema: %+v", b.model.Log())
			}
		})
	}
}

// TestDaemonVerdict: the same through the whole program. The engine asks for the
// schema, and what the verifier says in it lets the work land.
func TestDaemonVerdict(t *testing.T) {
	t.Parallel()
	for name, bench := range map[string]func(*testing.T) *bench{claude.Name: claudeBench, codex.Name: codexBench} {
		t.Run(name+"-daemon-schema", func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 4*deadline)
			t.Cleanup(cancel)
			b := bench(t)
			b.configure(t, name)
			state := filepath.Join(b.home, "state")
			t.Cleanup(func() { endHosts(t, state) })
			b.daemon(t, state)
			c := client.New(state)
			t.Cleanup(c.Close)
			p, err := c.AddProject(ctx, b.repo)
			if err != nil {
				t.Fatal(err)
			}
			made, err := c.CreateTasks(ctx, p.Prefix, []coppice.NewTask{{Title: "Write it", Body: "WRITE foo.txt=hello", Steps: []string{"It is there."}}})
			if err != nil {
				t.Fatal(err)
			}
			err = c.FollowEvents(ctx, client.EventQuery{Task: made[0].Key}, func(e api.Event) error {
				if e.Kind == coppice.EventTaskEnded {
					return errFound
				}
				return nil
			}, nil)
			if !errors.Is(err, errFound) {
				t.Fatal(err)
			}
			d, err := c.Task(ctx, made[0].Key)
			if err != nil {
				t.Fatal(err)
			}
			last := d.History[len(d.History)-1]
			if d.Outcome != coppice.OutcomeDone || last.Role != coppice.RoleVerify || last.Verdict == nil || last.Verdict.Steps[0].Evidence != "kept to the schema" {
				t.Errorf("%s, %v; the last session is a %s, its verdict %+v", d.Outcome, d.Failure, last.Role, last.Verdict)
			}
			if !b.sentSchema() {
				t.Errorf("the model did not receive the schema: %+v", b.model.Log())
			}
		})
	}
}

// A verdict counts even if the model ignores the schema, or the profile leaves the
// schema out.
func TestSchemaUnkept(t *testing.T) {
	t.Parallel()
	for name, bench := range map[string]func(*testing.T) *bench{"claude": claudeBench, "codex": codexBench} {
		t.Run(name+"-stubborn", func(t *testing.T) {
			t.Parallel()
			f, v := bench(t).verifies(t, agent.Request{Prompt: "STUBBORN", Permissions: readsOnly})
			wantVerdict(t, f, v, "")
		})
		t.Run(name+"-without", func(t *testing.T) {
			t.Parallel()
			b := bench(t)
			b.profile.Schema = []string{}
			f, v := b.verifies(t, agent.Request{Prompt: "STUBBORN", Permissions: readsOnly})
			wantVerdict(t, f, v, "")
			if b.sentSchema() {
				t.Errorf("the model received a schema: %+v", b.model.Log())
			}
		})
	}
}
