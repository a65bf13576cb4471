package coppice_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"coppice"
)

func TestAgentEvent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ event, words, line string }{
		{`{"kind":"text","text":"\n  First\u001b\u202e line \nsecond"}`, "\n  First\x1b\u202e line \nsecond", "First line"},
		{`{"kind":"plan","text":"1. look"}`, "1. look", "1. look"},
		{`{"kind":"thinking","text":"hm"}`, "hm", "thinking"},
		{`{"kind":"tool","name":"Edit","paths":["a.go","b.go"],"input":{"z":"last","a":["first",{"n":2,"on":true}],"none":null}}`, "Edit\nfirst\n2\ntrue\nlast", "Edit a.go b.go"},
		{`{"kind":"tool","name":"commandExecution","input":{"command":"go test"}}`, "commandExecution\ngo test", "run"},
		{`{"kind":"tool","name":"file_change","paths":["a.go"]}`, "file_change", "edit a.go"},
		{`{"kind":"tool_result","ok":true,"text":"fine"}`, "fine", ""},
		{`{"kind":"question","text":"Which?","options":["this","","that"]}`, "Which?\nthis\nthat", ""},
		{`{"kind":"question","ref":"q1","name":"Bash","text":"may it run: rm -r web","options":["allow","deny"],"rule":{"tool":"Bash","do":"allow"},"input":{"command":"rm -r web"}}`, "", ""},
		{`{"kind":"permission","ref":"call-1","name":"Bash","text":"denied: not here","input":{"command":"rm -r web"}}`, "denied: not here", ""},
		{`{"kind":"permission","name":"Bash","text":"allowed","input":{"command":"ls"}}`, "Bash\nallowed\nls", ""},
		{`{"kind":"notice","text":"a note"}`, "a note", ""},
		{`{"kind":"turn","text":"said before"}`, "", ""},
		{`{"kind":"state","text":"working"}`, "", ""},
		{`{"kind":"usage"}`, "", ""},
		{`{"kind":"text","text":"` + strings.Repeat("é", 200) + `"}`, strings.Repeat("é", 200), strings.Repeat("é", 159) + "…"},
		{`{"kind":"tool","input":"{broken"}`, "{broken", ""},
	} {
		s, ok := coppice.ReadAgentEvent([]byte(c.event))
		if !ok || s.Words() != c.words || s.Line() != c.line {
			t.Errorf("%s: %v, words %q, line %q", c.event, ok, s.Words(), s.Line())
		}
	}
	for _, text := range []string{``, `no json`, `{}`, `[]`, `"text"`, `{"kind":7}`, `{"text":"nothing of a kind"}`} {
		if s, ok := coppice.ReadAgentEvent([]byte(text)); ok || s.Line() != "" || s.Words() != "" {
			t.Errorf("%q is an event: %+v", text, s)
		}
	}
}

// FuzzAgentEvent reads any text. A line that it returns is one short line.
func FuzzAgentEvent(f *testing.F) {
	f.Add([]byte(`{"kind":"tool","name":"Bash","input":{"command":"ls"},"paths":["\u202ea"]}`))
	f.Add([]byte(`{"input":0}`))
	f.Add([]byte(`{"kind":"text","text":"a\u2028b\r\nc"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, ok := coppice.ReadAgentEvent(data)
		line := s.Line()
		if !ok && (line != "" || s.Words() != "") {
			t.Fatalf("no event, but %q and %q", line, s.Words())
		}
		if !utf8.ValidString(line) || utf8.RuneCountInString(line) > 160 || strings.ContainsFunc(line, unicode.IsControl) {
			t.Fatalf("line %q", line)
		}
	})
}

// A call of a tool of Coppice is found by its name, arguments and result. The
// agent's own report of it is not found again, and is not shown.
func TestCallsInTheConversation(t *testing.T) {
	t.Parallel()
	call := coppice.AgentEvent{Kind: coppice.KindCall, Ref: "app-1.1/3", Name: "report_status", Input: []byte(`{"message":"feeds the walrus"}`), OK: true, Text: `{"ok":true}`}
	if words := call.Words(); !strings.Contains(words, "report_status") || !strings.Contains(words, "feeds the walrus") || call.Line() != "report_status" {
		t.Errorf("%q, %q", words, call.Line())
	}
	own := coppice.AgentEvent{Kind: coppice.KindTool, Name: "mcp__coppice__report_status", Input: call.Input, Own: true}
	if own.Words() != "" || own.Line() != "" {
		t.Errorf("%q, %q", own.Words(), own.Line())
	}
	if call.Kind.Complete() || call.ChangesFacts() {
		t.Error("a call says that the agent reports everything, or changes facts")
	}
}
