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
func FuzzPi(f *testing.F)       { agenttest.Fuzz(f, suites(f)["pi"]) }

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
		{"rules: [{when: {a: b}}]", "must have one of"},
		{"rules: [{as: text, each: x}]", "must have one of"},
		{"rules: [{each: x, rules: [{as: no}]}]", "rule 1: rule 1"},
		{"exits: {3: sad}", "unknown class"},
		{"apology: '['", "missing closing"},
		{"rule: []", "unknown field"},
		{"servers: {under: x}", "servers needs"},
		{"servers: {under: x, url: y, program: {command: c}}", "servers.program needs"},
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

func TestServers(t *testing.T) {
	t.Parallel()
	r := agent.Request{Private: "/private", MCP: map[string]coppice.MCPServer{
		"orch": {URL: "http://127.0.0.1:1/mcp", Headers: map[string]string{"Authorization": "Bearer ${COPPICE_TOKEN}"}},
	}, Token: "tok-1"}
	for _, c := range []struct{ dialect, mcp, env, settings, argv string }{
		{"opencode", "SETTINGS_PATH", "SETTINGS_PATH", `{"mcp":{"orch":{"enabled":true,"headers":{"Authorization":"Bearer {env:COPPICE_TOKEN}"},"type":"remote","url":"http://127.0.0.1:1/mcp"}}}`, "agent"},
		{"messages", "SETTINGS_PATH", "SETTINGS_PATH", `{"mcpServers":{"orch":{"headers":{"Authorization":"Bearer ${COPPICE_TOKEN}"},"httpUrl":"http://127.0.0.1:1/mcp"}}}`, "agent"},
		{"messages", "--mcp-config", "", `{"mcpServers":{"orch":{"headers":{"Authorization":"Bearer ${COPPICE_TOKEN}"},"httpUrl":"http://127.0.0.1:1/mcp"}}}`, "agent --mcp-config /private/mcp.json"},
		{"messages", "", "", "", "agent"},
		{"gemini", "", "", "", "agent"},
		{"opencode", "none", "", "", "agent"},
	} {
		for _, p := range Protocols() {
			if p.Name() != Prefix+c.dialect {
				continue
			}
			profile := coppice.Profile{Command: []string{"agent"}, MCP: c.mcp}
			l, err := p.Launch(profile, r)
			if err != nil {
				t.Fatal(err)
			}
			got := string(l.Files["mcp.json"])
			if c.env != "" && l.Env[c.env] != "/private/mcp.json" {
				t.Errorf("%s: environment %v", c.dialect, l.Env)
			}
			if got != c.settings || strings.Join(l.Argv, " ") != c.argv {
				t.Errorf("%s: settings %s, argv %q", c.dialect, got, l.Argv)
			}
			reported := false
			for _, e := range p.Driver(profile, r).Start().Events {
				reported = reported || e.Name == "cannot"
			}
			if reported != (c.settings == "") {
				t.Errorf("%s, %q: reported missing servers: %v", c.dialect, c.mcp, reported)
			}
		}
	}
}

// Servers that the agent starts are configured in the form of each dialect.
func TestPrograms(t *testing.T) {
	t.Parallel()
	r := agent.Request{Private: "/private", MCP: map[string]coppice.MCPServer{
		"own": {Command: []string{"tool", "--quiet"}, Env: map[string]string{"K": "${COPPICE_SECRET_S}"}}, "pure": {Command: []string{"tool"}},
	}}
	plain := `{"mcpServers":{"own":{"args":["--quiet"],"command":"tool","env":{"K":"${COPPICE_SECRET_S}"}},"pure":{"args":[],"command":"tool"}}}`
	for _, p := range Protocols() {
		if p.Name() == Prefix+"gemini" || p.Name() == Prefix+"pi" {
			continue // takes no tool servers
		}
		want := plain
		if p.Name() == Prefix+"opencode" {
			want = `{"mcp":{"own":{"command":["tool","--quiet"],"enabled":true,"environment":{"K":"{env:COPPICE_SECRET_S}"},"type":"local"},"pure":{"command":["tool"],"enabled":true,"type":"local"}}}`
		}
		profile := coppice.Profile{Command: []string{"agent"}, MCP: "SETTINGS_PATH"}
		l, err := p.Launch(profile, r)
		if got := string(l.Files["mcp.json"]); err != nil || got != want {
			t.Errorf("%s: %s, %v", p.Name(), got, err)
		}
		for _, e := range p.Driver(profile, r).Start().Events {
			if e.Name == "cannot" {
				t.Errorf("%s: %s", p.Name(), e.Text)
			}
		}
	}
	// A dialect whose agents start none reports that, and gets the others.
	s := &servers{Under: "s", URL: "url"}
	r.MCP["orch"] = coppice.MCPServer{URL: "http://127.0.0.1:1/mcp"}
	got, err := s.settings(r.MCP, nil)
	if want := `{"s":{"orch":{"headers":{},"url":"http://127.0.0.1:1/mcp"}}}`; err != nil || string(got) != want || s.starts(r.MCP) {
		t.Errorf("%s, %v", got, err)
	}
	// The profile's own settings stay.
	got, err = s.settings(r.MCP, []byte(`{"model":{"retries":0},"s":"gone"}`))
	if want := `{"model":{"retries":0},"s":{"orch":{"headers":{},"url":"http://127.0.0.1:1/mcp"}}}`; err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
	if _, err = s.settings(r.MCP, []byte(`{`)); err == nil {
		t.Error("settings that are none are taken")
	}
	p := &protocol{name: "x", dialect: func() (*dialect, error) { return &dialect{Servers: s}, nil }}
	reported := 0
	for _, e := range p.Driver(coppice.Profile{Command: []string{"agent"}, MCP: "SETTINGS_PATH"}, r).Start().Events {
		if e.Name == "cannot" && strings.Contains(e.Text, "programs") {
			reported++
		}
	}
	if reported != 1 {
		t.Errorf("reported %d times", reported)
	}
}

// What this mode cannot do is reported at the start.
func TestCannot(t *testing.T) {
	t.Parallel()
	for _, p := range Protocols() {
		r := agent.Request{Resume: "c1", Fork: true, Permissions: coppice.PermissionPolicy{Default: coppice.RuleDeny}}
		d := p.Driver(coppice.Profile{Command: []string{"x"}}, r)
		said := 0
		for _, e := range d.Start().Events {
			if e.Name == "cannot" {
				said++
			}
		}
		if _, o := d.Exit(agent.Exit{}); said != 2 || o.Conversation != "" {
			t.Errorf("%s: %d said, conversation %q", p.Name(), said, o.Conversation)
		}
	}
}
