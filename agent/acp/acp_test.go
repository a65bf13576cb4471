package acp

import (
	"path/filepath"
	"strings"
	"testing"

	"coppice"
	"coppice/agent"
	"coppice/agent/agenttest"
)

// The suite's profile claims to pass the prompt in a file, so that the suite
// does not search for it in the first write: here it follows the opening of the
// session. TestLargePrompt searches for it there.
var suite = agenttest.Suite{Protocol: New(), Profile: coppice.Profile{
	Protocol: Name, Command: []string{"agent"}, Args: []string{"--acp"}, Prompt: "file", Driver: coppice.DriverProfile{Auth: "key", RetryLog: `message="stream error" .* small=false .* error\.error="(.*)"`},
}}

func TestProtocol(t *testing.T) { t.Parallel(); agenttest.Run(t, suite) }

// nowSuite is the same for agents that accept messages during a turn.
var nowSuite = agenttest.Suite{Protocol: New(), Profile: direct, Dir: filepath.Join("testdata", "now")}

func TestProtocolNow(t *testing.T) { t.Parallel(); agenttest.Run(t, nowSuite) }

// FuzzDriver also starts from whole recordings: most of the driver is reached
// only after a session was opened.
func FuzzDriver(f *testing.F) {
	agenttest.FuzzRecordings(f, suite, "testdata/*/transcript.txt", "testdata/now/*/transcript.txt")
}

// open brings a driver to its first turn and returns its last write.
func open(d agent.Driver) agent.Step {
	d.Start()
	d.Output(agent.Stdout, []byte(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`+"\n"))
	return d.Output(agent.Stdout, []byte(`{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s1"}}`+"\n"))
}

func TestLargePrompt(t *testing.T) {
	t.Parallel()
	prompt := strings.Repeat("ä\n\"x", 1<<18)
	step := open(New().Driver(suite.Profile, agent.Request{Prompt: prompt, Dir: "/repo"}))
	if !strings.Contains(string(step.Write), "session/prompt") || len(step.Write) < len(prompt) {
		t.Errorf("%d bytes are written for a prompt of %d", len(step.Write), len(prompt))
	}
}

func TestEveryRequestIsAnswered(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ line, want string }{
		{`{"jsonrpc":"2.0","id":"a-1","method":"fs/read_text_file","params":{}}`, `"id":"a-1","error":{"code":-32601`},
		{`{"jsonrpc":"2.0","id":0,"method":"fs/write_text_file"}`, `"id":0,"error":{"code":-32601`},
		{`{"jsonrpc":"2.0","id":7,"method":"terminal/create"}`, `"id":7,"error":{"code":-32601`},
		{`{"jsonrpc":"2.0","id":7,"method":"no/such"}`, `"id":7,"error":{"code":-32601`},
		{`{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":[]}`, `"outcome":"cancelled"`},
		{`{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"toolCall":{"toolCallId":"c"},"options":[{"optionId":"n","kind":"reject_once"}]}}`, `"outcome":"cancelled"`},
		{`{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"toolCall":{"toolCallId":"c"},"options":[{"optionId":"a","kind":"allow_always"},{"optionId":"o","kind":"allow_once"}]}}`, `"optionId":"o"`},
	} {
		d := New().Driver(suite.Profile, agent.Request{Prompt: "x"})
		open(d)
		if got := string(d.Output(agent.Stdout, []byte(c.line+"\n")).Write); !strings.Contains(got, c.want) {
			t.Errorf("%s: answered %q, want %s", c.line, got, c.want)
		}
	}
}

// An agent that does not end when stdin is closed has to be killed. Its work
// counts anyway. Before the end of the turn a kill is a failure.
func TestKilledAfterItsTurn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line string
		want coppice.Class
	}{
		{`{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}`, ""},
		{`{"jsonrpc":"2.0","id":3,"result":{"stopReason":"refusal"}}`, coppice.ClassImplementation},
		{`{"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"Authentication required"}}`, coppice.ClassAuth},
		{`{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"Internal error","data":{"details":"429 rate limit at http://127.0.0.1:5003/"}}}`, coppice.ClassRateLimit},
		{``, coppice.ClassLost},
	} {
		d := New().Driver(suite.Profile, agent.Request{Prompt: "x"})
		open(d)
		step := d.Output(agent.Stdout, []byte(c.line+"\n"))
		if c.line != "" && !step.CloseStdin {
			t.Errorf("%s: stdin stays open", c.line)
		}
		_, o := d.Exit(agent.Exit{Code: -1, Signal: "SIGKILL"})
		if (o.Failure == nil) != (c.want == "") || (o.Failure != nil && o.Failure.Class != c.want) {
			t.Errorf("%s: failure %+v, want %q", c.line, o.Failure, c.want)
		}
	}
}
