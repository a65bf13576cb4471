package jsonl

import (
	"path/filepath"
	"strings"
	"testing"

	"coppice"
	"coppice/agent"
	"coppice/agent/agenttest"
)

// suites are the conformance suites, one for each dialect.
func suites(t testing.TB) map[string]agenttest.Suite {
	t.Helper()
	all := map[string]agenttest.Suite{}
	for _, p := range Protocols() {
		name := strings.TrimPrefix(p.Name(), Prefix)
		all[name] = agenttest.Suite{Protocol: p, Dir: filepath.Join("testdata", name), Profile: coppice.Profile{
			Protocol: p.Name(), Command: []string{"agent"}, Args: []string{"run"},
			Model: []string{"--model", "{model}"}, Resume: []string{"--session", "{conversation}"},
		}}
	}
	return all
}

func TestProtocol(t *testing.T) {
	t.Parallel()
	for name, s := range suites(t) {
		t.Run(name, func(t *testing.T) { t.Parallel(); agenttest.Run(t, s) })
	}
}

func FuzzOpencode(f *testing.F) { agenttest.Fuzz(f, suites(f)["opencode"]) }
func FuzzGemini(f *testing.F)   { agenttest.Fuzz(f, suites(f)["gemini"]) }
func FuzzMessages(f *testing.F) { agenttest.Fuzz(f, suites(f)["messages"]) }

// A profile that passes the prompt in a file writes nothing to stdin.
func TestPromptFile(t *testing.T) {
	t.Parallel()
	for _, p := range Protocols() {
		step := p.Driver(coppice.Profile{Prompt: "file"}, agent.Request{Prompt: "x"}).Start()
		if len(step.Write) > 0 || !step.CloseStdin {
			t.Errorf("%s: %+v", p.Name(), step)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ yaml, want string }{
		{"rules: [{as: nothing}]", "unknown"},
		{"rules: [{when: {a: b}}]", "neither"},
		{"rules: [{as: text, each: x}]", "both"},
		{"rules: [{each: x, rules: [{as: no}]}]", "rule 1: rule 1"},
		{"exits: {3: sad}", "unknown class"},
		{"apology: '['", "missing closing"},
		{"rule: []", "unknown field"},
	} {
		if _, err := parse("x.yaml", []byte(c.yaml)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.yaml, err, c.want)
		}
	}
	for _, p := range Protocols() {
		if _, err := p.Launch(coppice.Profile{Command: []string{"x"}}, agent.Request{}); err != nil {
			t.Errorf("%s: %v", p.Name(), err)
		}
	}
}
