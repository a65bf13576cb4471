package agent

import (
	"testing"

	"coppice"
)

func TestOwnTool(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"mcp__coppice__report_status": "report_status", "mcp_coppice_read_task": "read_task", "coppice_read_task": "read_task", "coppice__read_task": "read_task",
		"coppice.read_task": "read_task", "coppice/read_task": "read_task", "coppice-read_task": "read_task", "mcp/coppice/read_task": "read_task",
		"read_task (coppice MCP Server)": "read_task",
		"read_task":                      "", "coppice": "", "coppice_": "", "mcp__tracker__coppice_x": "", "mcpcoppice_x": "", "coppicex": "", "coppice_a b": "", "coppice_X": "", "": "", "mcp": "",
	} {
		if got, ok := OwnTool(name); ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q, %v", name, got, ok)
		}
	}
	for name, want := range map[string]bool{"coppice": true, "Coppice": true, "coppice_x": true, "coppice-2": true, "coppices": false, "tracker": false, "my-coppice": false, "": false} {
		if ReservedServer(name) != want {
			t.Errorf("%s", name)
		}
	}
}

// The tools of Coppice need no permission, unless a rule names them.
func TestOwnToolsAreAllowed(t *testing.T) {
	t.Parallel()
	own := Call{Name: "mcp__coppice__report_status", Kind: coppice.ToolOther}
	shell := Call{Name: "coppice_x", Kind: coppice.ToolRun, Command: "rm x"}
	for name, c := range map[string]struct {
		policy coppice.PermissionPolicy
		call   Call
		want   string
	}{
		"by default":      {coppice.PermissionPolicy{Default: coppice.RuleAsk}, own, coppice.RuleAllow},
		"a rule for all":  {coppice.PermissionPolicy{Rules: []coppice.Rule{{Tool: "*", Do: coppice.RuleDeny}}}, own, coppice.RuleAllow},
		"a rule for it":   {coppice.PermissionPolicy{Rules: []coppice.Rule{{Tool: own.Name, Do: coppice.RuleDeny}}}, own, coppice.RuleDeny},
		"another tool":    {coppice.PermissionPolicy{Default: coppice.RuleAsk}, Call{Name: "mcp__tracker__x", Kind: coppice.ToolOther}, coppice.RuleAsk},
		"a shell like it": {coppice.PermissionPolicy{Default: coppice.RuleAsk}, shell, coppice.RuleAsk},
	} {
		if got := Decide(c.policy, c.call); got.Do != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// The agent's reports of Coppice's tools are marked, each with its result.
func TestMarksOwnTools(t *testing.T) {
	t.Parallel()
	var r Run
	for _, e := range []coppice.AgentEvent{
		{Kind: coppice.KindTool, Ref: "1", Name: "mcp__coppice__read_task"},
		{Kind: coppice.KindTool, Ref: "2", Name: "mcp__tracker__read_task"},
		{Kind: coppice.KindToolResult, Ref: "2", OK: true},
		{Kind: coppice.KindToolResult, Ref: "1", OK: true},
		{Kind: coppice.KindToolResult, Ref: "1", OK: true},
	} {
		r.Emit(e)
	}
	got := ""
	for _, e := range r.Take().Events {
		if e.Kind == coppice.KindTool || e.Kind == coppice.KindToolResult {
			got += map[bool]string{true: "own " + e.Name + ",", false: e.Ref + ","}[e.Own]
		}
	}
	if want := "own mcp__coppice__read_task,2,2,own read_task,1,"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestToolProgram(t *testing.T) {
	t.Parallel()
	r := Request{Program: "/bin/coppice", MCP: map[string]coppice.MCPServer{ToolServer: {URL: "http://127.0.0.1:1/mcp"}, "tracker": {URL: "http://127.0.0.1:2/mcp"}}}
	all, err := Servers(coppice.Profile{MCP: MCPStdio}, r)
	if err != nil || all[ToolServer].URL != "" || all[ToolServer].Command[1] != "mcp" || all[ToolServer].Env[TokenVar] != "${COPPICE_TOKEN}" || all["tracker"].URL == "" || r.MCP[ToolServer].URL == "" {
		t.Errorf("%+v, %v", all, err)
	}
	if !r.WantsServers() {
		t.Error("a server of the project does not count")
	}
	delete(r.MCP, "tracker")
	if r.WantsServers() {
		t.Error("the server of Coppice counts as the project's")
	}
}
