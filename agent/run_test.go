package agent

import (
	"strings"
	"testing"

	"coppice"
)

func TestRunReportsWhatChanged(t *testing.T) {
	t.Parallel()
	var r Run
	r.Become(coppice.SessionWorking)
	r.Become(coppice.SessionWorking)
	r.Spend(coppice.Usage{})
	r.Spend(coppice.Usage{Turns: 1})
	r.Spend(coppice.Usage{Turns: 2})
	r.Notice("")
	r.Report(Fail(coppice.ClassAuth, "who are you"))
	var got []string
	for _, e := range r.Take().Events {
		got = append(got, string(e.Kind))
	}
	if want := "state usage usage error"; strings.Join(got, " ") != want || r.Usage.Turns != 3 {
		t.Errorf("events %v and %d turns, want %s and 3 turns", got, r.Usage.Turns, want)
	}
	if again := r.Take(); again.Events != nil {
		t.Errorf("the next step repeats %v", again.Events)
	}
}

// A turn is an answer of the model with all its tools, however the agent reports
// them.
func TestRunCountsTurns(t *testing.T) {
	t.Parallel()
	const text, thinking, tool, result, turn = coppice.KindText, coppice.KindThinking, coppice.KindTool, coppice.KindToolResult, coppice.KindTurn
	for name, c := range map[string]struct {
		events []coppice.AgentEventKind
		turns  int64
	}{
		"nothing":                  {nil, 0},
		"no answer":                {[]coppice.AgentEventKind{turn}, 0},
		"a text":                   {[]coppice.AgentEventKind{thinking, text, text, turn}, 1},
		"a tool":                   {[]coppice.AgentEventKind{text, tool, result, text, turn}, 2},
		"two tools in parallel":    {[]coppice.AgentEventKind{tool, tool, result, result, text, turn}, 2},
		"a second message":         {[]coppice.AgentEventKind{text, turn, text, turn}, 2},
		"ended during a turn":      {[]coppice.AgentEventKind{tool, result, text}, 2},
		"ended after a tool's end": {[]coppice.AgentEventKind{tool, result}, 1},
	} {
		var r Run
		for _, k := range c.events {
			r.Emit(coppice.AgentEvent{Kind: k})
		}
		if r.End(); r.Usage.Turns != c.turns {
			t.Errorf("%s: %d turns, want %d", name, r.Usage.Turns, c.turns)
		}
	}
}

func TestRunReadsBothStreams(t *testing.T) {
	t.Parallel()
	var got []string
	r := Run{Line: func(b []byte) { got = append(got, "out "+string(b)) }}
	r.Output(Stdout, []byte("a"))
	step := r.Output(Stderr, []byte("warning\nend"))
	if len(step.Events) != 1 || step.Events[0].Text != "warning" {
		t.Errorf("stderr gives %+v", step.Events)
	}
	r.ErrLine = func(b []byte) { got = append(got, "err "+string(b)) }
	r.Output(Stdout, []byte("b\nc"))
	r.End()
	if want := "out ab, out c, err end"; strings.Join(got, ", ") != want {
		t.Errorf("lines %v, want %s", got, want)
	}
	if r.Stderr.String() != "warning" {
		t.Errorf("the end of stderr is %q", r.Stderr.String())
	}
}

func TestRunWritesUntilStdinIsClosed(t *testing.T) {
	t.Parallel()
	var r Run
	r.Write("one")
	r.Finish()
	r.Write("two")
	if s := r.Take(); string(s.Write) != "\"one\"\n" || !s.CloseStdin || !s.Done {
		t.Errorf("step %+v, want one line, a closed stdin and the end", s)
	}
	r = Run{}
	r.Write("one")
	r.Close()
	r.Notice("bye")
	if s := r.Last(); s.Write != nil || s.CloseStdin || len(s.Events) != 1 {
		t.Errorf("the last step of an agent that has ended: %+v", s)
	}
}

func TestOneShot(t *testing.T) {
	t.Parallel()
	o := OneShot{Prompt: "do it"}
	if s := o.Start(); string(s.Write) != "do it" || !s.CloseStdin || len(s.Events) != 1 {
		t.Errorf("start: %+v", s)
	}
	if _, err := o.Send("x", ""); err != ErrCannot {
		t.Errorf("send: %v", err)
	}
	if _, err := o.Interrupt(); err != ErrCannot {
		t.Errorf("interrupt: %v", err)
	}
	o.Stop()
	if f := o.Died(Exit{Signal: "SIGTERM"}); f.Class != coppice.ClassCancelled {
		t.Errorf("after a stop: %+v", f)
	}
}
