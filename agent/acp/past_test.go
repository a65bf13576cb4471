package acp

import (
	"strings"
	"testing"

	"coppice"
	"coppice/agent"
)

// A conversation is not continued if the agent sends nothing of its past.
func TestNothingOfThePast(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		past string // while the conversation is loaded
		gone bool
	}{
		{"", true},
		{`{"sessionUpdate":"available_commands_update","availableCommands":[]}`, true},
		{`{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"old"}}`, false},
		{`{"sessionUpdate":"tool_call","toolCallId":"c"}`, false},
	} {
		d := New().Driver(suite.Profile, agent.Request{Prompt: "continue", Resume: "s1", Dir: "/repo"})
		d.Start()
		say := func(line string) agent.Step { return d.Output(agent.Stdout, []byte(line+"\n")) }
		say(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}`)
		if c.past != "" {
			say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":` + c.past + `}}`)
		}
		say(`{"jsonrpc":"2.0","id":2,"result":{"modes":{"currentModeId":"default"}}}`)
		step := say(`{"jsonrpc":"2.0","id":3,"result":{}}`)
		if started := strings.Contains(string(step.Write), "continue"); started == c.gone || step.CloseStdin != c.gone {
			t.Errorf("%s: started %v, closed %v", c.past, started, step.CloseStdin)
		}
		_, o := d.Exit(agent.Exit{})
		if c.gone && (o.Failure == nil || o.Failure.Class != coppice.ClassUnknown || o.Failure.Fix == "" || o.Conversation != "") {
			t.Errorf("%s: outcome %+v", c.past, o)
		}
	}
}

// An agent that ends in the middle of a turn without an error was ended by
// somebody.
func TestEndedInItsTurn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		out, err string
		stop     bool
		want     coppice.Class
	}{
		{"", "", false, coppice.ClassLost},
		{"", "Error: it died\n    at emit (node:events:536:35)\n", false, coppice.ClassLost},
		{"", "401 Unauthorized\n", false, coppice.ClassAuth},
		{"", "", true, coppice.ClassCancelled},
		{`{"jsonrpc":"2.0","id":3,"result":{"stopReason":"cancelled"}}`, "", false, coppice.ClassLost},
		{`{"jsonrpc":"2.0","id":3,"result":{"stopReason":"cancelled"}}`, "", true, coppice.ClassCancelled},
	} {
		d := New().Driver(suite.Profile, agent.Request{Prompt: "x"})
		open(d)
		if c.stop {
			d.Stop()
		}
		d.Output(agent.Stdout, []byte(c.out+"\n"))
		d.Output(agent.Stderr, []byte(c.err))
		if _, o := d.Exit(agent.Exit{}); o.Failure == nil || o.Failure.Class != c.want {
			t.Errorf("%+v: %+v", c, o.Failure)
		}
	}
}

// An agent that waits for a limit is not waited for. It handles shorter
// failures itself.
func TestTries(t *testing.T) {
	t.Parallel()
	line := func(cause string) []byte {
		return []byte(`level=ERROR message="stream error" session.id=s small=false mode=primary error.error="` + cause + `"` + "\n")
	}
	for _, c := range []struct {
		cause, answer string
		want          coppice.Class // "" if the turn continues
	}{
		{"rate limit exceeded", `"result":{"stopReason":"end_turn"}`, coppice.ClassRateLimit},
		{"rate limit exceeded", `"result":{"stopReason":"cancelled"}`, coppice.ClassRateLimit},
		{"rate limit exceeded", "", coppice.ClassRateLimit},
		{"Your credit balance is too low", `"result":{"stopReason":"end_turn"}`, coppice.ClassBilling},
		{"the server is overloaded", `"result":{"stopReason":"end_turn"}`, ""},
		{"something else", `"result":{"stopReason":"end_turn"}`, ""},
	} {
		d := New().Driver(suite.Profile, agent.Request{Prompt: "x"})
		open(d)
		step := d.Output(agent.Stderr, line(c.cause))
		if ended := strings.Contains(string(step.Write), "session/cancel"); ended != (c.want != "") {
			t.Errorf("%s: the turn is ended: %v", c.cause, ended)
		}
		if again := d.Output(agent.Stderr, line(c.cause)); len(again.Write) > 0 {
			t.Errorf("%s: %s", c.cause, again.Write)
		}
		if c.answer != "" {
			if end := d.Output(agent.Stdout, []byte(`{"jsonrpc":"2.0","id":3,`+c.answer+"}\n")); !end.CloseStdin {
				t.Errorf("%s: stdin stays open", c.cause)
			}
		}
		if _, o := d.Exit(agent.Exit{}); (o.Failure == nil) != (c.want == "") || o.Failure != nil && o.Failure.Class != c.want {
			t.Errorf("%s: %+v", c.cause, o.Failure)
		}
	}
}
