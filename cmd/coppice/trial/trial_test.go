package trial

import (
	"strings"
	"testing"

	"coppice"
	"coppice/config"
)

// The settings of a turn are valid, name the agent as the project does, and nothing
// that would start other work.
func TestSettings(t *testing.T) {
	t.Parallel()
	p, err := config.Parse("coppice.yaml", []byte(`
agent: {use: mine, model: small, effort: low, fallback: [other]}
agents:
  mine: {protocol: command, command: [./agent.sh], args: ["{prompt_file}"], prompt: file, env: {A: "1"}, pass_env: [MINE_KEY], driver: {files: {F: text}}}
  other: {protocol: command, command: [x]}
workspace: {pass_env: [DATABASE_URL], setup: [npm ci]}
features: features.json
checks: [make]
prices: {big: {input: 2 USD, output: 10 USD}}
`))
	if err != nil {
		t.Fatal(err)
	}
	for name, model := range map[string]string{"mine": "small", "other": ""} {
		text, err := Trial{Policy: p}.settings("main", name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := config.Parse("coppice.yaml", text)
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, text)
		}
		if got.Agent.Use != name || got.Agent.Model != model || got.Base != "main" || got.Retry.Max != 0 || got.Health.Timeout.D() != turnTime {
			t.Errorf("%s: %s", name, text)
		}
		if got.Features != "" || len(got.Checks)+len(got.Workspace.Setup)+len(got.Agent.Fallback) > 0 || strings.Join(got.Workspace.PassEnv, "") != "DATABASE_URL" {
			t.Errorf("%s: %s", name, text)
		}
		if got.Prices["big"] != p.Prices["big"] {
			t.Errorf("the prices are %v", got.Prices)
		}
		if a, b := string(coppice.Raw(got.Agents[name])), string(coppice.Raw(p.Agents[name])); a != b {
			t.Errorf("the profile is %s, want %s", a, b)
		}
	}
}

func TestProblem(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]coppice.Check{
		"": {}, "exited with 2": {Exit: 2}, "took too long": {Exit: 124, TimedOut: true}, "was killed by SIGKILL": {Exit: 137, Signal: "SIGKILL"},
		"exited with 127: the command cannot be run": {Exit: 127},
	} {
		if got := problem(c); got != want {
			t.Errorf("%+v: %q, want %q", c, got, want)
		}
	}
}
