package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"coppice"
	"coppice/agent"
	"coppice/test/mcpserver"
)

// The test binary is a tool server over stdin and stdout when this variable is
// set. It names the file in which the server notes its calls, and which it
// keeps locked while it runs.
const toolVar = "COPPICE_TEST_TOOL_SERVER"

// passedVar is a variable that the profile has passed to the agent, and that the
// server wants.
const passedVar = "MY_TOOL_WORD"

func init() {
	if path := os.Getenv(toolVar); path != "" {
		os.Exit(serveTool(path))
	}
}

func serveTool(path string) int {
	notes, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		err = unix.Flock(int(notes.Fd()), unix.LOCK_SH)
	}
	if err == nil && (len(os.Args) != 2 || os.Args[1] != "an argument" || os.Getenv(passedVar) != "passed on") {
		err = fmt.Errorf("started with %q and %q", os.Args, os.Getenv(passedVar))
	}
	if err == nil {
		err = mcpserver.Stdio(os.Stdin, os.Stdout, notes)
	}
	if err != nil {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		return 1
	}
	return 0
}

// tool is a tool server that an agent starts itself.
type tool struct{ notes string }

func newTool(t *testing.T) tool {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notes")
	put(t, path, "")
	return tool{path}
}

// passes has the profile pass what the server wants.
func (b *bench) passes() {
	b.profile.PassEnv = append(slices.Clone(b.profile.PassEnv), passedVar)
	b.env[passedVar] = "passed on"
}

// servers describes it to the agent.
func (s tool) servers(t *testing.T) map[string]coppice.MCPServer {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return map[string]coppice.MCPServer{"own": {Command: []string{self, "an argument"}, Env: map[string]string{toolVar: s.notes}}}
}

// want waits until no server runs any more and looks at what it was asked.
func (s tool) want(t *testing.T, text string) {
	t.Helper()
	notes, err := os.Open(s.notes)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*deadline)
	defer cancel()
	free := make(chan error, 1)
	go func() { free <- unix.Flock(int(notes.Fd()), unix.LOCK_EX) }()
	select {
	case err := <-free:
		if err != nil {
			t.Error(err)
		}
		_ = notes.Close() // it was only read
	case <-ctx.Done():
		t.Fatal("the tool server still runs")
	}
	data, err := os.ReadFile(s.notes)
	if err != nil {
		t.Fatal(err)
	}
	var call mcpserver.Call
	if err := json.Unmarshal(data, &call); err != nil || call.Tool != "echo" || call.Text != text {
		t.Errorf("calls %q: %v", data, err)
	}
}

// TestPrograms: real agents start a tool server themselves, in a real host, and
// the server ends with the session.
func TestPrograms(t *testing.T) {
	t.Parallel()
	for name, bench := range map[string]func(*testing.T) *bench{"claude": claudeBench, "codex": codexBench, "codex-exec": execBench} {
		t.Run(name+"-mcp-program", func(t *testing.T) {
			t.Parallel()
			b, tool, started := bench(t), newTool(t), time.Now()
			b.passes()
			events, x := b.inHost(t, agent.Request{Prompt: "ECHO hello", MCP: tool.servers(t)}, "", "")
			if x.Outcome.Failure != nil || !strings.Contains(x.Outcome.Summary, "echo: hello") {
				t.Errorf("outcome %+v after %s, events %+v", x.Outcome, time.Since(started), events)
			}
			tool.want(t, "hello")
		})
	}
}
