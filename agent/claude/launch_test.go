package claude

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"coppice"
	"coppice/agent"
)

var denies = coppice.PermissionPolicy{Rules: []coppice.Rule{{Tool: "edit", Do: coppice.RuleDeny, Why: "not here"}}}

// Hooks and tool servers are in files. No secret is in any of them, nor in the
// arguments.
func TestLaunchFiles(t *testing.T) {
	t.Parallel()
	r := agent.Request{
		Private: "/private", HookURL: "http://127.0.0.1:1/hook", Permissions: denies, Token: "secret-1",
		MCP: map[string]coppice.MCPServer{"orch": {URL: "http://127.0.0.1:2/mcp", Headers: map[string]string{"Authorization": "Bearer ${COPPICE_TOKEN}"}}},
	}
	l, err := New().Launch(suite.Profile, r)
	if err != nil {
		t.Fatal(err)
	}
	args := strings.Join(l.Argv, " ")
	if args != "claude -p --settings /private/settings.json --mcp-config /private/mcp.json --strict-mcp-config" {
		t.Errorf("argv %s", args)
	}
	var set settings
	if err := json.Unmarshal(l.Files["settings.json"], &set); err != nil {
		t.Fatal(err)
	}
	tool, prompt := set.Hooks["PreToolUse"][0], set.Hooks["UserPromptSubmit"][0]
	if h := tool.Hooks[0]; tool.Matcher != "*" || h.OnFailure != "block" || h.URL != r.HookURL || h.Headers["Authorization"] != "Bearer $COPPICE_HOOK_TOKEN" || h.Vars[0] != agent.HookTokenVar {
		t.Errorf("hook %+v", tool)
	}
	if prompt.Hooks[0].OnFailure != "" {
		t.Errorf("hook %+v", prompt)
	}
	if got := string(l.Files["mcp.json"]); !strings.Contains(got, `"Bearer ${COPPICE_TOKEN}"`) || strings.Contains(got+args, "secret-1") {
		t.Errorf("servers %s", got)
	}
}

func TestLaunchWithout(t *testing.T) {
	t.Parallel()
	url := "http://127.0.0.1:1/hook"
	for name, r := range map[string]agent.Request{
		"nothing is denied":      {Private: "/private", HookURL: url},
		"nobody answers hooks":   {Private: "/private", Permissions: denies},
		"allowed by rule, alone": {Private: "/private", HookURL: url, Permissions: coppice.PermissionPolicy{Rules: []coppice.Rule{{Do: coppice.RuleAllow}}}},
	} {
		if l, err := New().Launch(suite.Profile, r); err != nil || len(l.Files) != 0 || len(l.Argv) != 2 {
			t.Errorf("%s: %+v, %v", name, l, err)
		}
	}
	for name, r := range map[string]agent.Request{
		"no directory":  {HookURL: url, Permissions: denies},
		"a bad address": {Private: "/private", MCP: map[string]coppice.MCPServer{"orch": {URL: "ftp://x"}}},
		"a bad name":    {Private: "/private", MCP: map[string]coppice.MCPServer{"--x": {URL: "http://x"}}},
	} {
		if l, err := New().Launch(suite.Profile, r); err == nil {
			t.Errorf("%s: %+v", name, l)
		}
	}
	if _, hooker := New().Driver(suite.Profile, agent.Request{}).(agent.Hooker); hooker {
		t.Error("a run that denies nothing takes hooks")
	}
}

func TestLaunchArguments(t *testing.T) {
	t.Parallel()
	p := suite.Profile
	p.Fork, p.Effort, p.Budget = []string{"--resume", "{conversation}", "--fork-session"}, []string{"--effort", "{effort}"}, []string{"--max-budget-usd", "{usd}"}
	l, err := New().Launch(p, agent.Request{Resume: "c1", Fork: true, Effort: "high", Budget: 0.25})
	if got := strings.Join(l.Argv, " "); err != nil || got != "claude -p --effort high --max-budget-usd 0.25 --resume c1 --fork-session" {
		t.Errorf("%s %v", got, err)
	}
	if _, err := New().Launch(p, agent.Request{Effort: "--x"}); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("got %v, want a refusal", err)
	}
	p.Fork = nil
	if l, err = New().Launch(p, agent.Request{Resume: "c1", Fork: true}); err != nil || len(l.Argv) != 2 {
		t.Errorf("without a way to copy the conversation itself is continued: %q %v", l.Argv, err)
	}
}

func TestHook(t *testing.T) {
	t.Parallel()
	ask := coppice.PermissionPolicy{Default: coppice.RuleAsk}
	for _, c := range []struct {
		name, body string
		policy     coppice.PermissionPolicy
		want       string // "" means no opinion
		events     int
	}{
		{"denied", `{"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"a"},"tool_use_id":"t1"}`, denies, `"permissionDecision":"deny","permissionDecisionReason":"not here"`, 1},
		{"another tool", `{"hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"a"}}`, denies, "", 0},
		{"a person decides", `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`, ask, `"permissionDecision":"ask"`, 0},
		{"a question", `{"hook_event_name":"PreToolUse","tool_name":"AskUserQuestion","tool_input":{}}`, ask, "", 0},
		{"its own books", `{"hook_event_name":"PreToolUse","tool_name":"TodoWrite","tool_input":{}}`, ask, "", 0},
		{"its own books, by name", `{"hook_event_name":"PreToolUse","tool_name":"TodoWrite","tool_input":{}}`,
			coppice.PermissionPolicy{Rules: []coppice.Rule{{Tool: "TodoWrite", Do: coppice.RuleDeny}}}, `"deny"`, 1},
		{"a prompt", `{"hook_event_name":"UserPromptSubmit","prompt":"x"}`, ask, "", 0},
		{"garbage", `{`, ask, `"permissionDecision":"deny"`, 1},
		{"another shape", `{"hook_event_name":"PreToolUse","tool_name":7}`, ask, `"permissionDecision":"deny"`, 1},
	} {
		d := New().Driver(suite.Profile, agent.Request{Permissions: c.policy, HookURL: "http://127.0.0.1:1/hook"})
		d.Start()
		step, answer := d.(agent.Hooker).Hook([]byte(c.body))
		if got := string(answer); (c.want == "") != (got == "{}") || !strings.Contains(got, c.want) || len(step.Events) != c.events {
			t.Errorf("%s: %s, %+v", c.name, got, step.Events)
		}
	}
}

func TestOldVersion(t *testing.T) {
	t.Parallel()
	for version, warned := range map[string]bool{"2.1.197": true, "2.1.325": false, "2.2.0": false, "3.0.1": false, "": true, "1.9.999": true} {
		d := New().Driver(suite.Profile, agent.Request{Permissions: denies, HookURL: "http://127.0.0.1:1/hook"})
		d.Start()
		line := `{"type":"system","subtype":"init","session_id":"c1","claude_code_version":"` + version + `"}` + "\n"
		got := 0
		for _, e := range append(d.Output(agent.Stdout, []byte(line)).Events, d.Output(agent.Stdout, []byte(line)).Events...) {
			if e.Name == "hook" {
				got++
			}
		}
		if (got == 1) != warned || got > 1 {
			t.Errorf("%q: warned %d times", version, got)
		}
	}
}

// An agent that is killed during a turn has not read the messages that it did
// not acknowledge.
func TestUndelivered(t *testing.T) {
	t.Parallel()
	d := New().Driver(suite.Profile, agent.Request{Prompt: "x"})
	d.Start()
	d.Output(agent.Stdout, []byte(`{"type":"user","isReplay":true,"message":{}}`+"\n"))
	d.Send("one", "")
	d.Output(agent.Stdout, []byte(`{"type":"user","isReplay":true,"message":{}}`+"\n"))
	d.Send("two", "")
	step, _ := d.Exit(agent.Exit{Code: -1, Signal: "SIGKILL"})
	var texts []string
	for _, e := range step.Events {
		if e.Name == coppice.NameUndelivered {
			texts = append(texts, e.Text)
		}
	}
	if len(texts) != 1 || texts[0] != "two" {
		t.Errorf("undelivered: %q", texts)
	}
}

// A failure without a known cause names the missing tools.
func TestLostServer(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]coppice.Class{"max_turns": coppice.ClassMCP, "prompt_too_long": coppice.ClassContext} {
		d := New().Driver(suite.Profile, agent.Request{Prompt: "x"})
		d.Start()
		d.Output(agent.Stdout, []byte(`{"type":"system","subtype":"init","mcp_servers":[{"name":"orch","status":"failed"}]}`+"\n"))
		d.Output(agent.Stdout, []byte(`{"type":"result","is_error":true,"terminal_reason":"`+reason+`"}`+"\n"))
		_, o := d.Exit(agent.Exit{Code: 1})
		if o.Failure == nil || o.Failure.Class != want || strings.Contains(o.Failure.Text, "orch") != (want == coppice.ClassMCP) {
			t.Errorf("%s: %+v", reason, o.Failure)
		}
	}
}

// A server that the agent starts is configured with its arguments and
// variables.
func TestLaunchProgram(t *testing.T) {
	t.Parallel()
	r := agent.Request{Private: "/private", MCP: map[string]coppice.MCPServer{
		"orch": {URL: "http://127.0.0.1:2/mcp"},
		"own":  {Command: []string{"tool", "--quiet", "a b"}, Env: map[string]string{"K": "${COPPICE_SECRET_S}"}},
	}, Secrets: map[string]string{agent.SecretVar("S"): "value-of-s"}}
	l, err := New().Launch(suite.Profile, r)
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	text := `{"mcpServers":{"orch":{"type":"http","url":"http://127.0.0.1:2/mcp"},"own":{"type":"stdio","command":"tool","args":["--quiet","a b"],"env":{"K":"${COPPICE_SECRET_S}"}}}}`
	if err := errors.Join(json.Unmarshal(l.Files["mcp.json"], &got), json.Unmarshal([]byte(text), &want)); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %v", l.Files["mcp.json"], err)
	}
}

// With a schema the final message is the part that matches it. Without a match,
// it is what was said before and after the reminder, and that does not count as
// a failure.
func TestSchema(t *testing.T) {
	t.Parallel()
	held := suite.Profile
	held.Schema = []string{"--json-schema", "{schema}"}
	schema := json.RawMessage(`{"type":"object"}`)
	said := `{"type":"assistant","message":{"content":[{"type":"text","text":"STEP 1: PASS"}]}}`
	reminded := `{"type":"user","isSynthetic":true,"message":{"content":[{"type":"text","text":"[structured-output-enforce] You MUST call"}]}}`
	exhausted := `{"type":"result","subtype":"error_max_structured_output_retries","is_error":true,"terminal_reason":"structured_output_retry_exhausted","errors":["Failed"]}`
	for name, c := range map[string]struct {
		profile coppice.Profile
		schema  json.RawMessage
		lines   []string
		code    int
		want    string
		failed  bool
	}{
		"given":             {held, schema, []string{said, `{"type":"result","subtype":"success","result":"x","structured_output":{"steps": []}}`}, 0, `{"steps":[]}`, false},
		"given to nobody":   {suite.Profile, schema, []string{`{"type":"result","subtype":"success","result":"x","structured_output":{"a":1}}`}, 0, "x", false},
		"nobody asked":      {held, nil, []string{`{"type":"result","subtype":"success","result":"x","structured_output":{"a":1}}`}, 0, "x", false},
		"null":              {held, schema, []string{`{"type":"result","subtype":"success","result":"x","structured_output":null}`}, 0, "x", false},
		"an old version":    {held, schema, []string{said, `{"type":"result","subtype":"success","result":"STEP 1: PASS"}`}, 0, "STEP 1: PASS", false},
		"refused":           {held, schema, []string{said, reminded, `{"type":"result","subtype":"success","result":"no"}`}, 0, "STEP 1: PASS\n\nno", false},
		"exhausted":         {held, schema, []string{said, exhausted}, 1, "STEP 1: PASS", false},
		"exhausted, silent": {held, schema, []string{exhausted}, 1, "", false},
		"exhausted unasked": {suite.Profile, nil, []string{exhausted}, 1, "", true},
		"another failure":   {held, schema, []string{`{"type":"result","subtype":"success","is_error":true,"api_error_status":500,"result":"broken"}`}, 1, "broken", true},
		"a killed process":  {held, schema, []string{said}, 1, "", true},
	} {
		d := New().Driver(c.profile, agent.Request{Prompt: "x", Schema: c.schema})
		d.Start()
		for _, line := range c.lines {
			d.Output(agent.Stdout, []byte(line+"\n"))
		}
		if _, o := d.Exit(agent.Exit{Code: c.code}); o.Summary != c.want || (o.Failure != nil) != c.failed {
			t.Errorf("%s: %q, %+v", name, o.Summary, o.Failure)
		}
	}
	l, err := New().Launch(held, agent.Request{Schema: schema})
	if got := strings.Join(l.Argv, " "); err != nil || got != `claude -p --json-schema {"type":"object"}` {
		t.Errorf("%s, %v", got, err)
	}
}

// FuzzHook: any body gets a valid answer, and none that allows what is denied.
func FuzzHook(f *testing.F) {
	f.Add([]byte(`{"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"a"},"tool_use_id":"t1"}`))
	f.Add([]byte(`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"a && b"}}`))
	f.Add([]byte(`{`))
	policy := coppice.PermissionPolicy{Default: coppice.RuleDeny}
	f.Fuzz(func(t *testing.T, body []byte) {
		d := New().Driver(suite.Profile, agent.Request{Permissions: policy, HookURL: "http://127.0.0.1:1/hook"})
		d.Start()
		_, answer := d.(agent.Hooker).Hook(body)
		var got hookAnswer
		if err := json.Unmarshal(answer, &got); err != nil {
			t.Fatalf("%s: %v", answer, err)
		}
		if got.Output != nil && got.Output.Decision != "deny" {
			t.Errorf("%s: %s", body, answer)
		}
	})
}
