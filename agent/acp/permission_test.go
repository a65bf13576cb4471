package acp

import (
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/agent"
)

const asks = `{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"s1",` +
	`"toolCall":{"toolCallId":"c1","kind":"execute","title":"git push","rawInput":{"command":"git push"}},` +
	`"options":[{"optionId":"a","kind":"allow_once"},{"optionId":"r","kind":"reject_once"}]}}` + "\n"

func events(s agent.Step, k coppice.AgentEventKind) (found []coppice.AgentEvent) {
	for _, e := range s.Events {
		if e.Kind == k {
			found = append(found, e)
		}
	}
	return found
}

func TestPermission(t *testing.T) {
	t.Parallel()
	rule := func(do string) coppice.PermissionPolicy {
		return coppice.PermissionPolicy{Rules: []coppice.Rule{{Tool: "run", Match: "git push*", Do: do, Why: "it is late"}}}
	}
	set := rule(coppice.RuleAllow)
	set.Rules[0].Set = map[string]string{"command": "true"}
	for _, c := range []struct {
		name   string
		policy coppice.PermissionPolicy
		answer string // of a person, when one is asked
		want   string // what the agent gets
		reason string // after the turn
	}{
		{"allowed", coppice.PermissionPolicy{}, "", `"optionId":"a"`, ""},
		{"denied", rule(coppice.RuleDeny), "", `"optionId":"r"`, "it is late"},
		{"asked, allowed", rule(coppice.RuleAsk), "allow", `"optionId":"a"`, ""},
		{"asked, denied", rule(coppice.RuleAsk), "deny because of rain", `"optionId":"r"`, "of rain"},
		{"changed", set, "", `"optionId":"r"`, `rules require this instead: {\"command\":\"true\"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := New().Driver(suite.Profile, agent.Request{Prompt: "x", Permissions: c.policy})
			open(d)
			step := d.Output(agent.Stdout, []byte(asks))
			if c.answer != "" {
				q := events(step, coppice.KindQuestion)
				if len(q) != 1 || len(step.Write) != 0 || q[0].Rule == nil || q[0].Rule.Match != "git push *" {
					t.Fatalf("step %+v, want one question with the rule git push *", step)
				}
				if _, err := d.Send("allow", "other"); err == nil {
					t.Error("an answer to nothing is taken")
				}
				var err error
				if step, err = d.Send(c.answer, q[0].Ref); err != nil {
					t.Fatal(err)
				}
			}
			if !strings.Contains(string(step.Write), c.want) || len(events(step, coppice.KindPermission)) != 1 {
				t.Errorf("wrote %s, events %+v; want %s and one permission", step.Write, step.Events, c.want)
			}
			end := d.Output(agent.Stdout, []byte(`{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}`+"\n"))
			if (c.reason != "") != strings.Contains(string(end.Write), "session/prompt") || !strings.Contains(string(end.Write), c.reason) || end.CloseStdin != (c.reason == "") {
				t.Errorf("after the turn: %s", end.Write)
			}
		})
	}
}

// If a turn is interrupted while a person is asked, the question ends.
// An edit of what another session holds is refused, and the agent gets the reason
// after its turn.
func TestLocks(t *testing.T) {
	t.Parallel()
	now := func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }
	table := coppice.LockTable{Held: []coppice.HeldLock{{Name: "a.go", Session: "app-2.1", Task: "app-2", Expires: now().Add(time.Minute)}}}
	for file, want := range map[string]string{"/ws/a.go": `"optionId":"r"`, "/ws/b.go": `"optionId":"a"`} {
		d := New().Driver(suite.Profile, agent.Request{Session: "app-1.1", Prompt: "x", Dir: "/ws", Locks: coppice.LocksEnforce})
		open(d)
		d.(agent.Locker).SetLocks(table, now)
		ask := strings.Replace(asks, `"kind":"execute","title":"git push","rawInput":{"command":"git push"}`, `"kind":"edit","title":"Edit","locations":[{"path":"`+file+`"}]`, 1)
		step := d.Output(agent.Stdout, []byte(ask))
		all := events(step, coppice.KindPermission)
		if !strings.Contains(string(step.Write), want) || len(all) != 1 || all[0].OK == strings.Contains(all[0].Text, "a.go is locked by task app-2") {
			t.Errorf("%s: %s, %+v", file, step.Write, all)
		}
	}
}

func TestInterruptEndsQuestions(t *testing.T) {
	t.Parallel()
	d := New().Driver(suite.Profile, agent.Request{Prompt: "x", Permissions: coppice.PermissionPolicy{Default: coppice.RuleAsk}})
	open(d)
	d.Output(agent.Stdout, []byte(asks))
	step, err := d.Interrupt()
	if w := string(step.Write); err != nil || !strings.Contains(w, `"outcome":"cancelled"`) || !strings.Contains(w, "session/cancel") {
		t.Errorf("wrote %s, error %v; want the question and the turn cancelled", step.Write, err)
	}
	if _, err := d.Send("allow", "permission-1"); err == nil {
		t.Error("the question is still open")
	}
}

func TestToolServers(t *testing.T) {
	t.Parallel()
	servers := map[string]coppice.MCPServer{"orch": {URL: "http://127.0.0.1:1/mcp", Headers: map[string]string{"Authorization": "Bearer ${COPPICE_TOKEN}"}}}
	r := agent.Request{Prompt: "x", Dir: "/repo", MCP: servers, Token: "tok-1"}
	for _, c := range []struct{ capability, mcp, want, event string }{
		{`"mcpCapabilities":{"http":true}`, "", `"mcpServers":[{"type":"http","name":"orch","url":"http://127.0.0.1:1/mcp","headers":[{"name":"Authorization","value":"Bearer tok-1"}]}]`, ""},
		{`"mcpCapabilities":{"http":false}`, "", `"mcpServers":[]`, "accepts no tool servers over HTTP"},
		{`"loadSession":true`, "none", `"mcpServers":[]`, "profile says"},
	} {
		p := suite.Profile
		p.MCP = c.mcp
		d := New().Driver(p, r)
		d.Start()
		step := d.Output(agent.Stdout, []byte(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{`+c.capability+`}}}`+"\n"))
		if !strings.Contains(string(step.Write), c.want) {
			t.Errorf("%s: wrote %s, want %s", c.capability, step.Write, c.want)
		}
		var text string
		for _, e := range step.Events {
			text += e.Text
		}
		if !strings.Contains(text, c.event) || strings.Contains(text, "tok-1") || (c.event == "") != (text == "") {
			t.Errorf("%s: reported %q", c.capability, text)
		}
	}
	// Programs need no HTTP. An agent without it gets only those.
	r.Secrets = map[string]string{agent.SecretVar("S"): "v"}
	r.MCP["own"] = coppice.MCPServer{Command: []string{"tool", "--quiet"}, Env: map[string]string{"K": "${COPPICE_SECRET_S}", "A": "b"}}
	r.MCP["pure"] = coppice.MCPServer{Command: []string{"tool"}}
	programs := `{"name":"own","command":"tool","args":["--quiet"],"env":[{"name":"A","value":"b"},{"name":"K","value":"v"}]},{"name":"pure","command":"tool","args":[],"env":[]}]`
	for capability, want := range map[string]string{
		`"mcpCapabilities":{"http":true}`: `"headers":[{"name":"Authorization","value":"Bearer tok-1"}]},` + programs,
		`"loadSession":true`:              `"mcpServers":[` + programs,
	} {
		d := New().Driver(suite.Profile, r)
		d.Start()
		step := d.Output(agent.Stdout, []byte(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{`+capability+`}}}`+"\n"))
		if reported := len(step.Events) > 0; !strings.Contains(string(step.Write), want) || reported != strings.Contains(want, `"mcpServers"`) {
			t.Errorf("%s: %s, %+v", capability, step.Write, step.Events)
		}
	}
	d := New().Driver(with(func(d *coppice.DriverProfile) { d.Secrets = "named" }), r)
	d.Start()
	step := d.Output(agent.Stdout, []byte(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"http":true}}}}`+"\n"))
	if got := string(step.Write); !strings.Contains(got, `{"name":"K","value":"${COPPICE_SECRET_S}"}`) || !strings.Contains(got, `"Bearer ${COPPICE_TOKEN}"`) {
		t.Errorf("an agent that fills secrets in: %s", got)
	}
	// The tools of Coppice are a program for an agent without HTTP, or whose
	// profile says so. Nobody needs to know.
	r.Program = "/bin/coppice"
	r.MCP = map[string]coppice.MCPServer{agent.ToolServer: {URL: "http://127.0.0.1:1/mcp", Headers: map[string]string{"Authorization": "Bearer ${COPPICE_TOKEN}"}}}
	for capability, mcp := range map[string]string{`"loadSession":true`: "", `"mcpCapabilities":{"http":true}`: agent.MCPStdio, `"mcpCapabilities":{"http":false}`: agent.MCPStdio} {
		p := suite.Profile
		p.MCP = mcp
		d := New().Driver(p, r)
		d.Start()
		step := d.Output(agent.Stdout, []byte(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{`+capability+`}}}`+"\n"))
		want := `"mcpServers":[{"name":"coppice","command":"/bin/coppice","args":["mcp"],"env":[{"name":"COPPICE_MCP_URL","value":"http://127.0.0.1:1/mcp"},{"name":"COPPICE_TOKEN","value":"tok-1"}]}]`
		if !strings.Contains(string(step.Write), want) || len(step.Events) > 0 {
			t.Errorf("%s: %s, %+v", capability, step.Write, step.Events)
		}
	}
	r.MCP = map[string]coppice.MCPServer{"orch": {URL: "file:///etc"}}
	if _, err := New().Launch(suite.Profile, r); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("got %v, want a refusal", err)
	}
}

func TestModel(t *testing.T) {
	t.Parallel()
	d := New().Driver(suite.Profile, agent.Request{Prompt: "x"})
	d.Start()
	if _, err := d.(agent.Switcher).Model("m2"); err == nil {
		t.Error("a session that is not open takes a model")
	}
	d.Output(agent.Stdout, []byte(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`+"\n"))
	d.Output(agent.Stdout, []byte(`{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s1","models":{"currentModelId":"m1"}}}`+"\n"))
	step, err := d.(agent.Switcher).Model("m2")
	if err != nil || !strings.Contains(string(step.Write), `"id":4,"method":"session/set_model"`) {
		t.Fatalf("wrote %s, error %v; want session/set_model", step.Write, err)
	}
	if _, err := d.(agent.Switcher).Model("--x"); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("got %v, want a refusal", err)
	}
	if e := events(d.Output(agent.Stdout, []byte(`{"jsonrpc":"2.0","id":4,"result":{}}`+"\n")), coppice.KindNotice); len(e) != 1 || e[0].Model != "m2" {
		t.Errorf("notices %+v, want one with the model m2", e)
	}
	d.(agent.Switcher).Model("m3")
	if e := events(d.Output(agent.Stdout, []byte(`{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":"no such model"}}`+"\n")), coppice.KindError); len(e) != 1 || e[0].Class != coppice.ClassCapability {
		t.Errorf("errors %+v, want one of the class capability", e)
	}
	if end := d.Output(agent.Stdout, []byte(`{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}`+"\n")); !end.CloseStdin {
		t.Error("the turn does not end the run")
	}
	none := New().Driver(suite.Profile, agent.Request{Prompt: "x"})
	open(none)
	if _, err := none.(agent.Switcher).Model("m2"); err == nil {
		t.Error("an agent without a choice takes a model")
	}
}

func TestCommand(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`"git push"`: "git push", `["bash","-lc","git push"]`: "git push", `["/bin/sh","-c","a b"]`: "a b", `["git","push"]`: "git push", `7`: "", ``: "",
	} {
		if got := command([]byte(in)); got != want {
			t.Errorf("%s is %q, want %q", in, got, want)
		}
	}
}

func TestFork(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ capability, answer, want, conversation string }{
		{`"sessionCapabilities":{"fork":{}}`, `"result":{"sessionId":"copy"}`, `"method":"session/fork","params":{"sessionId":"c1"`, "copy"},
		{`"sessionCapabilities":{"fork":{}}`, `"error":{"code":-32601,"message":"no"}`, `"method":"session/fork"`, "new"},
		{`"loadSession":true`, "", `"method":"session/new","params":{"cwd"`, "new"},
	} {
		d := New().Driver(suite.Profile, agent.Request{Prompt: "x", Resume: "c1", Fork: true})
		d.Start()
		step := d.Output(agent.Stdout, []byte(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{`+c.capability+`}}}`+"\n"))
		if !strings.Contains(string(step.Write), c.want) {
			t.Errorf("%s: wrote %s, want %s", c.capability, step.Write, c.want)
		}
		id := "2"
		if c.answer != "" {
			step = d.Output(agent.Stdout, []byte(`{"jsonrpc":"2.0","id":2,`+c.answer+"}\n"))
			id = "3"
		}
		if c.conversation == "new" {
			d.Output(agent.Stdout, []byte(`{"jsonrpc":"2.0","id":`+id+`,"result":{"sessionId":"new"}}`+"\n"))
		}
		if _, o := d.Exit(agent.Exit{}); o.Conversation != c.conversation {
			t.Errorf("%s: conversation %q, want %q", c.capability, o.Conversation, c.conversation)
		}
	}
}
