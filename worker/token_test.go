package worker

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"coppice"
	"coppice/agent"
	"coppice/agent/command"
	"coppice/host"
	"coppice/store"
)

// The engine's decisions for a session reach its agent's protocol, and the
// session has its own token.
func TestRequest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, s := b.run("cases:\n  - steps:\n      - ask: {text: \"Which?\"}\n      - say: Done.\n")
	w := b.work(id)
	spec, err := coppice.DecodeSpec[coppice.RunSpec](w)
	b.must(err)
	spec.Permissions = coppice.PermissionPolicy{Rules: []coppice.Rule{{Tool: "run", Match: "git push*", Do: coppice.RuleDeny}}, Default: coppice.RuleAsk}
	spec.MCP = map[string]coppice.MCPServer{"orch": {URL: "http://127.0.0.1:1/mcp", Headers: map[string]string{"Authorization": "Bearer ${COPPICE_TOKEN}"}}}
	spec.Budget, spec.Session.Fork, spec.Session.Resume = 2.5, true, "conv-1"
	w.Spec = coppice.Raw(spec)
	b.update(func(tx store.Tx) error { return tx.Work.Put(&w) })
	b.start()
	b.event(coppice.EventQuestionAsked, 1)
	var kept host.Spec
	data, err := os.ReadFile(filepath.Join(b.sessionDir(s.ID), "spec.json"))
	b.must(err)
	b.must(json.Unmarshal(data, &kept))
	r := kept.Request
	if d := cmp.Diff(spec.Permissions, r.Permissions) + cmp.Diff(spec.MCP, r.MCP); d != "" || r.Budget != 2.5 || !r.Fork || r.Resume != "conv-1" {
		t.Errorf("request %+v\n%s", r, d)
	}
	token, err := os.ReadFile(filepath.Join(b.sessionDir(s.ID), tokenFile))
	b.must(err)
	if kept.Env[agent.TokenVar] != string(token) || !strings.HasPrefix(string(token), tokenPrefix) || len(token) < 30 {
		t.Errorf("token %q, environment %q", token, kept.Env[agent.TokenVar])
	}
	if info, err := os.Stat(filepath.Join(b.sessionDir(s.ID), tokenFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	var ref string
	b.view(func(r store.Reader) error {
		all, err := r.Questions.Of(b.task.ID)
		for _, q := range all {
			ref = q.Ref
		}
		return err
	})
	b.finished(b.offer(coppice.WorkSend, "question/1", coppice.SendSpec{Session: s.Key, Text: "this", Question: ref}, s.ID))
	b.finished(id)
	if _, err := os.Stat(b.sessionDir(s.ID)); err == nil {
		// It is removed when the result is committed, which might be later.
		b.Stop()
		if _, err := os.Stat(b.sessionDir(s.ID)); err == nil {
			t.Error("the token outlives its session")
		}
	}
}

func TestSessionToken(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "s")
	first, err := sessionToken(dir)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := sessionToken(dir); err != nil || again != first {
		t.Errorf("%q, then %q (%v)", first, again, err)
	}
	if other, err := sessionToken(filepath.Join(t.TempDir(), "s")); err != nil || other == first {
		t.Errorf("two sessions have the token %q (%v)", other, err)
	}
	if err := os.WriteFile(filepath.Join(dir, tokenFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if repaired, err := sessionToken(dir); err != nil || len(repaired) != len(first) {
		t.Errorf("%q (%v)", repaired, err)
	}
}

// An agent that prints its token does not reveal it.
func TestTokenIsHidden(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.profile = coppice.Profile{Protocol: command.Name, Command: []string{"sh", "-c", `echo "mine is $COPPICE_TOKEN"; echo "length ${#COPPICE_TOKEN}"`}}
	id, s := b.run("")
	b.start()
	b.finished(id)
	var all strings.Builder
	for _, o := range b.output(s.ID) {
		all.Write(o.Data)
	}
	if out := all.String(); !strings.Contains(out, "mine is [redacted]") || !strings.Contains(out, "length 30") || strings.Contains(out, tokenPrefix) {
		t.Errorf("output: %s", out)
	}
}
