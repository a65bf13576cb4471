package codex

import (
	"encoding/json"
	"maps"
	osexec "os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"coppice"
	"coppice/agent"
)

// open brings a driver to its first turn and returns its last write.
func open(d agent.Driver) agent.Step {
	d.Start()
	d.Output(agent.Stdout, []byte(`{"id":1,"result":{"userAgent":"coppice/0.166.0"}}`+"\n"))
	step := d.Output(agent.Stdout, []byte(`{"id":2,"result":{"thread":{"id":"t-1"},"model":"m"}}`+"\n"))
	d.Output(agent.Stdout, []byte(`{"id":3,"result":{"turn":{"id":"u-1"}}}`+"\n"+`{"method":"turn/started","params":{"threadId":"t-1","turn":{"id":"u-1"}}}`+"\n"))
	return step
}

func TestLargePrompt(t *testing.T) {
	t.Parallel()
	prompt := strings.Repeat("ä\n\"x", 1<<18)
	step := open(New().Driver(suite.Profile, agent.Request{Prompt: prompt, Dir: "/repo"}))
	var p struct {
		Method string
		Params turnParams
	}
	if err := json.Unmarshal(step.Write, &p); err != nil || p.Method != "turn/start" || p.Params.Input[0].Text != prompt {
		t.Errorf("the prompt is not in what is written (%v): %d bytes", err, len(step.Write))
	}
}

func TestFailureClasses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  string
		want coppice.Class
	}{
		{`{"message":"x","codexErrorInfo":"contextWindowExceeded"}`, coppice.ClassContext},
		{`{"message":"x","codexErrorInfo":"usageLimitExceeded"}`, coppice.ClassRateLimit},
		{`{"message":"x","codexErrorInfo":"serverOverloaded"}`, coppice.ClassOverload},
		{`{"message":"x","codexErrorInfo":"modelNotFound"}`, coppice.ClassCapability},
		{`{"message":"x","codexErrorInfo":"unauthorized"}`, coppice.ClassAuth},
		{`{"message":"x","codexErrorInfo":"sandboxError"}`, coppice.ClassEnvironment},
		{`{"message":"x","codexErrorInfo":"cyberPolicy"}`, coppice.ClassImplementation},
		{`{"message":"x","codexErrorInfo":{"httpConnectionFailed":{"httpStatusCode":402}}}`, coppice.ClassBilling},
		{`{"message":"x","codexErrorInfo":{"responseStreamDisconnected":{"httpStatusCode":503}}}`, coppice.ClassOverload},
		{`{"message":"connection refused","codexErrorInfo":{"httpConnectionFailed":{"httpStatusCode":null}}}`, coppice.ClassEnvironment},
		{`{"message":"http://127.0.0.1:5003/ says no","codexErrorInfo":"other"}`, coppice.ClassUnknown},
		{`{"message":"{\"error\":{\"message\":\"prompt is too long\"}}","codexErrorInfo":"other"}`, coppice.ClassContext},
		{`{"message":7}`, coppice.ClassUnknown},
		{`{}`, coppice.ClassUnknown},
		{`null`, coppice.ClassUnknown},
	} {
		d := New().Driver(suite.Profile, agent.Request{Prompt: "x"})
		open(d)
		step := d.Output(agent.Stdout, []byte(`{"method":"turn/completed","params":{"threadId":"t-1","turn":{"id":"u-1","status":"failed","error":`+c.err+"}}}\n"))
		if !step.CloseStdin || !step.Done {
			t.Errorf("%s: the agent is not ended", c.err)
		}
		_, o := d.Exit(agent.Exit{})
		if o.Failure == nil || o.Failure.Class != c.want || o.Failure.Text == "" {
			t.Errorf("%s: failure %+v, want %s", c.err, o.Failure, c.want)
		}
	}
}

// The exit of the process does not matter after the turn has ended. Before, it
// decides.
func TestKilled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line string
		exit agent.Exit
		want coppice.Class
	}{
		{`{"method":"turn/completed","params":{"threadId":"t-1","turn":{"id":"u-1","status":"completed"}}}`, agent.Exit{Code: -1, Signal: "SIGKILL"}, ""},
		{``, agent.Exit{Code: -1, Signal: "SIGKILL"}, coppice.ClassLost},
		{``, agent.Exit{}, coppice.ClassLost},
		{`{"method":"turn/completed","params":{"threadId":"another","turn":{"id":"u-1","status":"completed"}}}`, agent.Exit{}, coppice.ClassLost},
		{`{"method":"turn/completed","params":{"threadId":"t-1","turn":{"id":"another","status":"completed"}}}`, agent.Exit{}, coppice.ClassLost},
	} {
		d := New().Driver(suite.Profile, agent.Request{Prompt: "x"})
		open(d)
		d.Output(agent.Stdout, []byte(c.line+"\n"))
		_, o := d.Exit(c.exit)
		if (o.Failure == nil) != (c.want == "") || (o.Failure != nil && o.Failure.Class != c.want) {
			t.Errorf("%s, %+v: failure %+v, want %q", c.line, c.exit, o.Failure, c.want)
		}
	}
}

func TestModelName(t *testing.T) {
	t.Parallel()
	d := New().Driver(suite.Profile, agent.Request{Prompt: "x"})
	open(d)
	if _, err := d.(agent.Switcher).Model("--flag"); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("got %v, want a refusal", err)
	}
}

// servers makes a request with one tool server.
func servers(name, url string, headers map[string]string) agent.Request {
	return agent.Request{MCP: map[string]coppice.MCPServer{name: {URL: url, Headers: headers}}}
}

func TestLaunchRefuses(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]agent.Request{
		"a name with a dot":        servers("a.b", "http://x.test/", nil),
		"no address":               servers("a", "unix:/x", nil),
		"a password":               servers("a", "http://me:secret@x.test/", nil),
		"a header of two lines":    servers("a", "http://x.test/", map[string]string{"X-Key": "a\r\nX-Other: b"}),
		"a header without a name":  servers("a", "http://x.test/", map[string]string{"": "a"}),
		"an effort that is a flag": {Effort: "--x"},
	} {
		for _, s := range []struct {
			p       agent.Protocol
			profile coppice.Profile
		}{{New(), suite.Profile}, {NewExec(), execSuite.Profile}} {
			if _, err := s.p.Launch(s.profile, r); coppice.ErrorCode(err) != coppice.EInvalid {
				t.Errorf("%s, %s: got %v, want a refusal", s.p.Name(), name, err)
			}
		}
	}
	// No person would be asked.
	rules := agent.Request{Permissions: coppice.PermissionPolicy{Default: coppice.RuleAsk}}
	if _, err := NewExec().Launch(execSuite.Profile, rules); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("rules without anybody to ask: got %v, want a refusal", err)
	}
	if _, err := NewExec().Launch(execSuite.Profile, agent.Request{Locks: coppice.LocksRequired}); coppice.ErrorCode(err) != coppice.EInvalid || !strings.Contains(err.Error(), "enforces locks") {
		t.Errorf("locks that cannot be enforced: got %v, want a refusal", err)
	}
}

func TestExecToolServers(t *testing.T) {
	t.Parallel()
	r := servers("orch", "http://127.0.0.1:1/mcp", map[string]string{
		"authorization": "Bearer ${COPPICE_TOKEN}", "X-Token": "${COPPICE_TOKEN}", "X-Key": "a secret",
	})
	r.Resume = "conv-1"
	l, err := NewExec().Launch(execSuite.Profile, r)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"codex", "exec", "--json", "-c",
		`mcp_servers.orch={url="http://127.0.0.1:1/mcp",bearer_token_env_var="COPPICE_TOKEN",env_http_headers={"X-Token"="COPPICE_TOKEN","X-Key"="COPPICE_MCP_HEADER_1"}}`,
		"resume", "conv-1", "-",
	}
	if !slices.Equal(l.Argv, want) || l.Env["COPPICE_MCP_HEADER_1"] != "a secret" {
		t.Errorf("argv %q, environment %q", l.Argv, l.Env)
	}
	none := execSuite.Profile
	none.MCP = agent.MCPNone
	if l, err = NewExec().Launch(none, r); err != nil || slices.Contains(l.Argv, "-c") {
		t.Errorf("argv %q, error %v", l.Argv, err)
	}
}

// Values of secrets are in the environment. References that the agent cannot
// express are composed there.
func TestSecrets(t *testing.T) {
	t.Parallel()
	r := agent.Request{
		Prompt: "x", Token: "tok-1", Secrets: map[string]string{"COPPICE_SECRET_A": "value-of-a", "COPPICE_SECRET_B": "value-of-b"},
		MCP: map[string]coppice.MCPServer{
			"own": {Command: []string{"tool", "--quiet"}, Env: map[string]string{"KEY": "k=${COPPICE_SECRET_A}", "PLAIN": "1"}},
			"web": {URL: "http://127.0.0.1:1/mcp", Headers: map[string]string{
				"Authorization": "Bearer ${COPPICE_SECRET_A}", "X-Alone": "${COPPICE_SECRET_B}", "X-Both": "${COPPICE_SECRET_A}${COPPICE_SECRET_B}",
				"X-Mixed": "Basic ${COPPICE_SECRET_B} ${COPPICE_TOKEN}", "X-Plain": "as it is",
			}},
		},
	}
	env := map[string]string{
		"COPPICE_MCP_ENV_1": "k=value-of-a", "COPPICE_MCP_HEADER_1": "value-of-avalue-of-b", "COPPICE_MCP_HEADER_2": "Basic value-of-b tok-1",
		"COPPICE_SECRET_A": "value-of-a", "COPPICE_SECRET_B": "value-of-b",
	}
	const web = `"bearer_token_env_var":"COPPICE_SECRET_A","env_http_headers":{"X-Alone":"COPPICE_SECRET_B","X-Both":"COPPICE_MCP_HEADER_1","X-Mixed":"COPPICE_MCP_HEADER_2"},"http_headers":{"X-Plain":"as it is"}`
	const own = `"command":"/bin/sh","args":["-c","export KEY=\"$COPPICE_MCP_ENV_1\"; unset COPPICE_MCP_ENV_1; exec \"$@\"","sh","tool","--quiet"],"env":{"PLAIN":"1"}`
	l, err := New().Launch(suite.Profile, r)
	if err != nil || !maps.Equal(l.Env, env) {
		t.Fatalf("%v, environment %q", err, l.Env)
	}
	d := New().Driver(suite.Profile, r)
	d.Start()
	step := d.Output(agent.Stdout, []byte(`{"id":1,"result":{"userAgent":"coppice/0.166.0"}}`+"\n"))
	for _, want := range []string{web, own, `"COPPICE_MCP_ENV_1"],"startup_timeout_sec"`} {
		if !strings.Contains(string(step.Write), want) {
			t.Errorf("%s\nis not in %s", want, step.Write)
		}
	}
	env["COPPICE_MCP_HEADER_3"] = "as it is"
	exec, err := NewExec().Launch(execSuite.Profile, r)
	if err != nil || !maps.Equal(exec.Env, env) {
		t.Fatalf("%v, environment %q", err, exec.Env)
	}
	for _, text := range append(slices.Clone(exec.Argv), string(step.Write)) {
		if strings.Contains(text, "value-of") || strings.Contains(text, "tok-1") {
			t.Errorf("a value is in %s", text)
		}
	}
	// The shell does what the agent cannot.
	cmd := osexec.Command("/bin/sh", "-c", `export KEY="$COPPICE_MCP_ENV_1"; unset COPPICE_MCP_ENV_1; exec "$@"`, "sh", "env")
	cmd.Env = []string{"PATH=/usr/bin:/bin", "COPPICE_MCP_ENV_1=a \"b\" $c `d`"}
	if out, err := cmd.Output(); err != nil || !strings.Contains(string(out), "KEY=a \"b\" $c `d`\n") || strings.Contains(string(out), "COPPICE_MCP") {
		t.Errorf("%v: %s", err, out)
	}
	r.MCP = map[string]coppice.MCPServer{"own": {Command: []string{"tool"}, Env: map[string]string{"a;b": "${COPPICE_SECRET_A}"}}}
	if _, err := New().Launch(suite.Profile, r); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("a variable that a shell would run: %v", err)
	}
}

func TestSandbox(t *testing.T) {
	t.Parallel()
	p := suite.Profile
	p.Driver.Sandbox = "workspace-write"
	d := New().Driver(p, agent.Request{Prompt: "x"})
	d.Start()
	step := d.Output(agent.Stdout, []byte(`{"id":1,"result":{}}`+"\n"))
	if !strings.Contains(string(step.Write), `"sandbox":"workspace-write"`) {
		t.Errorf("it wrote %s", step.Write)
	}
}

// Where locks are enforced, the agent must ask about everything, and is refused
// what another session holds. The directory of a command counts.
func TestLocks(t *testing.T) {
	t.Parallel()
	now := func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }
	table := coppice.LockTable{Held: []coppice.HeldLock{{Name: "src/a.go", Session: "app-2.1", Task: "app-2", Expires: now().Add(time.Minute)}}}
	for _, c := range []struct{ params, want string }{
		{`"command":"/bin/bash -lc 'rm a.go'","cwd":"/repo/src"`, "src/a.go is locked by task app-2"},
		{`"command":"/bin/bash -lc 'rm a.go'","cwd":"/repo"`, "allowed"},
		{`"command":"/bin/bash -lc 'cat src/a.go'","cwd":"/repo"`, "allowed"},
	} {
		d := New().Driver(suite.Profile, agent.Request{Session: "app-1.1", Prompt: "x", Dir: "/repo", Locks: coppice.LocksEnforce})
		d.Start()
		if step := d.Output(agent.Stdout, []byte(`{"id":1,"result":{"userAgent":"coppice/0.166.0"}}`+"\n")); !strings.Contains(string(step.Write), `"approvalPolicy":"untrusted"`) {
			t.Errorf("the agent does not have to ask: %s", step.Write)
		}
		d.Output(agent.Stdout, []byte(`{"id":2,"result":{"thread":{"id":"t-1"},"model":"m"}}`+"\n"+`{"id":3,"result":{"turn":{"id":"u-1"}}}`+"\n"+`{"method":"turn/started","params":{"threadId":"t-1","turn":{"id":"u-1"}}}`+"\n"))
		d.(agent.Locker).SetLocks(table, now)
		step := d.Output(agent.Stdout, []byte(`{"id":7,"method":"item/commandExecution/requestApproval","params":{"threadId":"t-1","itemId":"i-1",`+c.params+`}}`+"\n"))
		if i := slices.IndexFunc(step.Events, func(e coppice.AgentEvent) bool { return e.Kind == coppice.KindPermission }); i < 0 || !strings.Contains(step.Events[i].Text, c.want) {
			t.Errorf("%s: %+v, want %q", c.params, step.Events, c.want)
		}
	}
}

func TestUnwrap(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`/bin/bash -lc ls`:                     `ls`,
		`bash -c 'a b' `:                       `a b`,
		`/bin/zsh -lc "echo \"\$x\" 'y' \\ z"`: `echo "$x" 'y' \ z`,
		`sh -c 'it'"'"'s'`:                     `it's`,
		`sh -c a\ b`:                           `a b`,
		`bash -lc 'a' b`:                       `bash -lc 'a' b`,
		`bash -x 'a'`:                          `bash -x 'a'`,
		`python -c 'a'`:                        `python -c 'a'`,
		`bash -lc 'open`:                       `bash -lc 'open`,
		`bash -lc "open`:                       `bash -lc "open`,
		`bash -lc \`:                           `\`,
		``:                                     ``,
	} {
		if got := unwrap(in); got != want {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		// Arguments have no zero bytes, and the parser treats lines that end in
		// CR LF like others.
		script := strings.NewReplacer("\x00", "", "\r", "").Replace(rapid.String().Draw(rt, "script"))
		quoted := "'" + strings.ReplaceAll(script, "'", `'"'"'`) + "'"
		if got := unwrap("/bin/bash -lc " + quoted); got != script {
			rt.Fatalf("got %q, want %q", got, script)
		}
	})
}
