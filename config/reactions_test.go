package config_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/config"
	"coppice/reaction"
)

const withReactions = `land:
  how: pr
  pr: {draft: false, labels: [agent], reviewers: [ada, "renovate[bot]"], merge: rebase, auto: true, keep_branch: true, stack: true, push_failed: true}
forge: {kind: gitlab, url: "https://forge.example.org/api/v4", repo: team/sub/app, token: T, webhook: W, every: 1m, authors: [ada]}
trust: unsandboxed
reactions:
  ci-failed: {do: send-to-agent, retries: 3} # one rule
  comment:
    if: author in team
    do: send-to-agent
  label-added:
    - if: label == "needs-tests" && author in team
      do: send-to-agent
      message: |
        Add tests for {{branch}}.
    - if: 'label == "ship"'
      do: merge
    - do: run
      run: ./scripts/label.sh
  agent-idle: [{do: notify, threshold: 5m, priority: warning, escalate_after: 1h}]
  task-failed: []
  pr-closed:
    do: nothing
hooks: {pr-opened: [{run: a}], ci-done: [{run: b}]}
`

func TestReactions(t *testing.T) {
	t.Parallel()
	p, err := config.Parse("coppice.yaml", []byte(withReactions))
	if err != nil {
		t.Fatal(err)
	}
	const m = coppice.Duration(time.Minute)
	want := coppice.Reactions{
		coppice.OnCIFailed: {{Do: "send-to-agent", Retries: 3}},
		coppice.OnComment:  {{If: "author in team", Do: "send-to-agent"}},
		coppice.OnLabel: {
			{If: `label == "needs-tests" && author in team`, Do: "send-to-agent", Message: "Add tests for {{branch}}.\n"},
			{If: `label == "ship"`, Do: "merge"},
			{Do: "run", Run: "./scripts/label.sh"},
		},
		coppice.OnIdle:       {{Do: "notify", Threshold: 5 * m, Priority: "warning", EscalateAfter: 60 * m}},
		coppice.OnTaskFailed: {},
		coppice.OnClosed:     {{Do: "nothing"}},
	}
	if !reflect.DeepEqual(p.Reactions, want) {
		t.Errorf("%+v, want %+v", p.Reactions, want)
	}
	no := false
	if want := (coppice.PullPolicy{Draft: &no, Labels: []string{"agent"}, Reviewers: []string{"ada", "renovate[bot]"}, Merge: "rebase", Auto: true, Keep: true, Stack: true, PushFails: true}); !reflect.DeepEqual(p.Land.PR, want) || p.Land.PR.Drafts() {
		t.Errorf("%+v", p.Land.PR)
	}
	if want := (coppice.ForgePolicy{Kind: "gitlab", URL: "https://forge.example.org/api/v4", Repo: "team/sub/app", Token: "T", Webhook: "W", Every: m, Authors: []string{"ada"}}); !reflect.DeepEqual(p.Forge, want) {
		t.Errorf("%+v", p.Forge)
	}
	if p.Trust != coppice.TrustUnsandboxed || p.Land.How != coppice.LandPR || len(p.Hooks) != 2 {
		t.Errorf("trust %s, land %s, hooks %v", p.Trust, p.Land.How, p.Hooks)
	}
	validate(t, config.Schema(), []byte(withReactions))
}

// The default rules of every event could be in the file.
func TestDefaultRulesAreValid(t *testing.T) {
	t.Parallel()
	all := coppice.Reactions{}
	for _, e := range reaction.Events {
		all[e.Name] = e.Rules
	}
	text, err := config.Flow(coppice.Raw(all))
	if err != nil {
		t.Fatal(err)
	}
	p, err := config.Parse("coppice.yaml", []byte("reactions: "+text+"\n"))
	if err != nil || !reflect.DeepEqual(p.Reactions, all) {
		t.Errorf("%v: %+v", err, p.Reactions)
	}
}

// A change of a key keeps all other lines. A rule is changed with its whole event.
func TestEditReactions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ key, value, old, new string }{
		{"reactions.ci-failed", `{"do":"notify"}`, "{do: send-to-agent, retries: 3} # one", "{do: notify} # one"},
		{"reactions.agent-idle", `[{"do":"nothing"}]`, "[{do: notify, threshold: 5m, priority: warning, escalate_after: 1h}]", "[{do: nothing}]"},
		{"land.pr.draft", `true`, "draft: false", "draft: true"},
		{"forge.authors", `["grace"]`, "authors: [ada]", "authors: [grace]"},
		{"forge.every", `"2m"`, "every: 1m", "every: 2m"},
		{"trust", `"sandboxed"`, "trust: unsandboxed", "trust: sandboxed"},
		{"land.pr.merge", `"squash"`, "merge: rebase", "merge: squash"},
	} {
		got, err := config.Edit("coppice.yaml", []byte(withReactions), config.Change{Key: c.key, Value: json.RawMessage(c.value)})
		if want := strings.Replace(withReactions, c.old, c.new, 1); err != nil || string(got) != want || want == withReactions {
			t.Errorf("%s: %v\n%s", c.key, err, got)
		}
	}
	got, err := config.Edit("coppice.yaml", []byte(withReactions), config.Change{Key: "reactions.ci-failed", Unset: true})
	if want := strings.Replace(withReactions, "  ci-failed: {do: send-to-agent, retries: 3} # one rule\n", "", 1); err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
	got, err = config.Edit("coppice.yaml", nil, config.Change{Key: "land.pr.draft", Value: json.RawMessage("false")})
	if p, perr := config.Parse("coppice.yaml", got); err != nil || perr != nil || p.Land.PR.Drafts() {
		t.Errorf("%v %v\n%s", err, perr, got)
	}
	_, err = config.Edit("coppice.yaml", []byte(withReactions), config.Change{Key: "reactions.comment", Value: json.RawMessage(`{"do":"notify","if":"lable == 1"}`)})
	if e := coppice.Public(err); err == nil || !strings.Contains(e.Cause, `no field "lable"`) {
		t.Errorf("%v", err)
	}
	if _, err = config.Edit("coppice.yaml", nil, config.Change{Key: "reactions.ci-failed.do", Value: json.RawMessage(`"notify"`)}); err == nil || !strings.Contains(coppice.Public(err).Fix, "as a whole") {
		t.Errorf("%v", err)
	}
}

func TestExplainReactions(t *testing.T) {
	t.Parallel()
	got := explained(t, withReactions)
	for name, want := range map[string][3]string{
		"land.pr.draft": {"true or false", "false", "coppice.yaml:3"},
		"forge.token":   {"text", "T", "coppice.yaml:4"},
		"trust":         {"sandboxed or unsandboxed", "unsandboxed", "coppice.yaml:5"},
	} {
		if k := got[name]; k.Type != want[0] || k.Value != want[1] || k.From != want[2] {
			t.Errorf("%s: %+v, want %v", name, k, want)
		}
	}
	if k := got["reactions"]; !strings.Contains(k.Value, "ci-failed: [{do: send-to-agent, retries: 3}]") || len(k.Names) != len(reaction.Events) {
		t.Errorf("%+v", k)
	}
	if got["reactions.*[].do"].Default != "(required)" || got["hooks.*[].run"].Doc == "" {
		t.Errorf("%+v", got["reactions.*[].do"])
	}
	if unset := explained(t, "")["land.pr.draft"]; unset.Value != "(true)" || unset.From != "default" {
		t.Errorf("%+v", unset)
	}
}

func TestWebhooks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"webhooks: {listen: \"127.0.0.1:4041\"}\n": "127.0.0.1:4041",
		"webhooks: {listen: \"[::1]:4041\"}\n":     "[::1]:4041",
		"webhooks: {listen: \"0.0.0.0:4041\"}\n":   "0.0.0.0:4041",
		"webhooks: {}\n":                           "",
	} {
		u, err := config.ParseUser("config.yaml", []byte(text))
		if err != nil || u.Webhooks.Listen != want {
			t.Errorf("%s: %+v, %v", text, u.Webhooks, err)
		}
		validate(t, config.UserSchema(), []byte(text))
	}
}
