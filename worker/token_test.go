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
	"coppice/store"
)

// requestFile is where a recorded protocol writes the request, in the session's
// directory.
const requestFile = "request.json"

// recorded is a protocol that records what was requested of it, with the token.
type recorded struct{ agent.Protocol }

type recordedRequest struct {
	agent.Request
	Token string
}

func (recorded) Name() string { return "recorded" }

func (p recorded) Launch(profile coppice.Profile, r agent.Request) (agent.Launch, error) {
	text, err := json.Marshal(recordedRequest{r, r.Token})
	if err == nil {
		err = os.WriteFile(filepath.Join(os.Args[len(os.Args)-1], requestFile), text, 0o600)
	}
	if err != nil {
		return agent.Launch{}, err
	}
	return p.Protocol.Launch(profile, r)
}

func requestIn(t *testing.T, dir string) (r recordedRequest) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, requestFile))
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The engine's decisions for a session reach its agent's protocol, and the
// session has its own token.
func TestRequest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.profile.Protocol = recorded{}.Name()
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
	r := requestIn(t, b.sessionDir(s.ID))
	delete(r.MCP, agent.ToolServer) // the host added it
	if d := cmp.Diff(spec.Permissions, r.Permissions) + cmp.Diff(spec.MCP, r.MCP); d != "" || r.Budget != 2.5 || !r.Fork || r.Resume != "conv-1" {
		t.Errorf("request %+v\n%s", r, d)
	}
	if token := r.Token; !strings.HasPrefix(token, tokenPrefix) || len(token) < 30 {
		t.Errorf("token %q", token)
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
			t.Error("the session's directory outlives it")
		}
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
