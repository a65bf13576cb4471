package codex

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"coppice"
	"coppice/agent"
)

// Both protocols configure a server that the agent starts, with its arguments,
// variables and start timeout.
func TestPrograms(t *testing.T) {
	t.Parallel()
	r := agent.Request{Prompt: "x", Dir: "/repo", MCP: map[string]coppice.MCPServer{
		"bare": {Command: []string{"tool"}},
		"own":  {Command: []string{"tool", "--say", "a \"b\"\n\\"}, Env: map[string]string{"K": "v", "A": "$x"}},
	}}
	p := suite.Profile
	p.PassEnv = []string{"CODEX_HOME", "OPENAI_*", "OPENAI_API_KEY", "MY_*", "MY_KEY", "COPPICE_URL"}
	const pass = `["COPPICE_BASE","COPPICE_BRANCH","COPPICE_MCP_URL","COPPICE_PORT","COPPICE_ROLE","COPPICE_TASK","COPPICE_TOKEN","COPPICE_URL","COPPICE_WORKSPACE","MY_KEY"]`
	d := New().Driver(p, r)
	d.Start()
	step := d.Output(agent.Stdout, []byte(`{"id":1,"result":{"userAgent":"coppice/0.166.0"}}`+"\n"))
	for _, want := range []string{
		`"mcp_servers.bare":{"command":"tool","env_vars":` + pass + `,"startup_timeout_sec":60}`,
		`"mcp_servers.own":{"command":"tool","args":["--say","a \"b\"\n\\"],"env":{"A":"$x","K":"v"},"env_vars":` + pass + `,"startup_timeout_sec":60}`,
	} {
		if !strings.Contains(string(step.Write), want) {
			t.Errorf("%s\nis not in %s", want, step.Write)
		}
	}
	p = execSuite.Profile
	p.PassEnv = []string{"MY_KEY"}
	l, err := NewExec().Launch(p, r)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`mcp_servers.bare={command="tool",startup_timeout_sec=60,env_vars=` + pass + `}`,
		`mcp_servers.own={command="tool",startup_timeout_sec=60,args=["--say","a \"b\"\n\\"],env_vars=` + pass + `,env={"A"="$x","K"="v"}}`,
	} {
		if !slices.Contains(l.Argv, want) {
			t.Errorf("%s\nis not in %q", want, l.Argv)
		}
	}
	r.MCP = map[string]coppice.MCPServer{"a.b": {Command: []string{"tool"}}}
	for _, p := range []agent.Protocol{New(), NewExec()} {
		if _, err := p.Launch(coppice.Profile{Command: []string{"codex"}}, r); coppice.ErrorCode(err) != coppice.EInvalid {
			t.Errorf("%s: got %v, want a refusal of the name", p.Name(), err)
		}
	}
}

// The schema is part of every turn of the app server, if the profile says that
// the agent accepts one, and a file in the other mode.
func TestSchema(t *testing.T) {
	t.Parallel()
	schema := json.RawMessage(`{"type": "object"}`)
	for _, c := range []struct {
		args   []string
		schema json.RawMessage
		want   string
	}{
		{[]string{"{schema}"}, schema, `{"type":"object"}`},
		{[]string{}, schema, ""},
		{nil, schema, ""},
		{[]string{"{schema}"}, nil, ""},
		{[]string{"{schema}"}, json.RawMessage("null"), ""},
	} {
		p := suite.Profile
		p.Schema = c.args
		d := New().Driver(p, agent.Request{Prompt: "x", Schema: c.schema})
		for n, step := range []agent.Step{open(d), again(t, d)} {
			var got struct {
				Method string
				Params turnParams
			}
			if err := json.Unmarshal(step.Write, &got); err != nil || got.Method != "turn/start" || string(got.Params.Schema) != c.want {
				t.Errorf("%q, turn %d: %s, %v", c.args, n+1, step.Write, err)
			}
		}
		if l, err := New().Launch(p, agent.Request{Schema: c.schema}); err != nil || len(l.Argv) != len(p.Command) {
			t.Errorf("%q, %v", l.Argv, err)
		}
	}
	p := execSuite.Profile
	p.Schema = []string{"--output-schema", "{schema_file}"}
	l, err := NewExec().Launch(p, agent.Request{Private: "/private", Schema: schema, Resume: "c1"})
	if got := strings.Join(l.Argv, " "); err != nil || got != "codex exec --json --output-schema /private/schema.json resume c1 -" {
		t.Errorf("%s, %v", got, err)
	}
}

// again interrupts the first turn, so that a second one can start, and returns
// the request for it.
func again(t *testing.T, d agent.Driver) agent.Step {
	t.Helper()
	if _, err := d.Interrupt(); err != nil {
		t.Fatal(err)
	}
	d.Output(agent.Stdout, []byte(`{"id":4,"result":{}}`+"\n"+`{"method":"turn/completed","params":{"threadId":"t-1","turn":{"id":"u-1","status":"interrupted"}}}`+"\n"))
	step, err := d.Send("more", "")
	if err != nil {
		t.Fatal(err)
	}
	return step
}
