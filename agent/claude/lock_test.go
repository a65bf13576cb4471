package claude

import (
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/agent"
)

// Where locks are enforced, the agent calls hooks although no rule needs them, and
// a hook refuses what another session holds. The shell's directory counts.
func TestLocks(t *testing.T) {
	t.Parallel()
	r := agent.Request{Session: "app-1.1", Private: "/private", Dir: "/ws", HookURL: "http://127.0.0.1:1/hook", Locks: coppice.LocksEnforce}
	l, err := New().Launch(suite.Profile, r)
	if err != nil || len(l.Files["settings.json"]) == 0 {
		t.Fatalf("the agent has no hooks: %v, %+v", err, l)
	}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	table := coppice.LockTable{Seq: 1, Held: []coppice.HeldLock{{Name: "src/a.go", Session: "app-2.1", Task: "app-2", Expires: now.Add(time.Minute)}}}
	for _, c := range []struct{ name, body, want string }{
		{"an edit", `{"hook_event_name":"PreToolUse","tool_name":"Edit","tool_input":{"file_path":"/ws/src/a.go"},"tool_use_id":"t1"}`, "src/a.go is locked by task app-2 (session app-2.1), time left: 1m0s"},
		{"a notebook", `{"hook_event_name":"PreToolUse","tool_name":"NotebookEdit","tool_input":{"notebook_path":"/ws/src/a.go"}}`, "src/a.go is locked"},
		{"another file", `{"hook_event_name":"PreToolUse","tool_name":"Edit","tool_input":{"file_path":"/ws/src/b.go"}}`, ""},
		{"a read", `{"hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"/ws/src/a.go"}}`, ""},
		{"a line", `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm src/a.go"},"cwd":"/ws"}`, "src/a.go is locked"},
		{"a line in a directory", `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm a.go"},"cwd":"/ws/src"}`, "src/a.go is locked"},
		{"a line in another directory", `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm a.go"},"cwd":"/ws"}`, ""},
	} {
		d := New().Driver(suite.Profile, r)
		d.Start()
		d.(agent.Locker).SetLocks(table, func() time.Time { return now })
		step, answer := d.(agent.Hooker).Hook([]byte(c.body))
		if got := string(answer); (c.want == "") != (got == "{}") || !strings.Contains(got, c.want) || len(step.Events) != min(len(c.want), 1) {
			t.Errorf("%s: %s, %+v", c.name, got, step.Events)
		}
	}
}
