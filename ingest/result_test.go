package ingest_test

import (
	"slices"
	"testing"

	"coppice"
	"coppice/fabric"
)

// A result is stored without its secrets. A failed session's result says what
// its output says about the environment.
func TestAccept(t *testing.T) {
	t.Parallel()
	b := setup(t, coppice.FailurePattern{Match: "("}, coppice.FailurePattern{Match: `ECONNREFUSED.*5432`, Label: "the database is down"})
	s := coppice.Session{N: 1, Key: "app-1.1", State: coppice.SessionWorking}
	b.put(&s)
	out := coppice.Output{Kind: coppice.OutputStdout, Data: []byte("ECONNREFUSED 127.0.0.1:5432\n")}
	if _, err := b.Record(t.Context(), fabric.Batch{Session: s.ID, Frames: []fabric.Frame{{Output: out, Next: 1}}}); err != nil {
		t.Fatal(err)
	}
	zero, three := 0, 3
	for name, c := range map[string]struct {
		r    coppice.RunResult
		want string
	}{
		"done":           {coppice.RunResult{Exit: &zero, Summary: "used my given value"}, ""},
		"broken":         {coppice.RunResult{Exit: &three}, `the database is down: "ECONNREFUSED 127.0.0.1:5432"`},
		"its own remedy": {coppice.RunResult{Failure: coppice.Failf(coppice.ClassAuth, "my given value is wrong", "")}, "[redacted] is wrong"},
	} {
		work := coppice.Work{Kind: coppice.WorkRun, ProjectID: b.task.ProjectID, SessionID: s.ID}
		var err error
		for range 2 { // the same again
			if work.Result, work.Failure, err = b.Accept(t.Context(), work, coppice.Raw(c.r), nil); err != nil {
				t.Fatal(name, err)
			}
		}
		got, err := coppice.DecodeResult[coppice.RunResult](work)
		text := ""
		if got.Failure != nil {
			text = got.Failure.Text
		}
		if err != nil || text != c.want || got.Summary != map[string]string{"done": "used [redacted]"}[name] {
			t.Errorf("%s: %v, failure %q, summary %q", name, err, text, got.Summary)
		}
	}
}

func TestAcceptOfOthers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	check := coppice.Work{Kind: coppice.WorkCheck}
	raw, fail, err := b.Accept(t.Context(), check, coppice.Raw(coppice.CheckResult{Checks: []coppice.Check{{Log: "is my given value in\n"}, {Log: "?"}}}), nil)
	got, derr := coppice.DecodeResult[coppice.CheckResult](coppice.Work{Result: raw})
	if err != nil || derr != nil || fail != nil || got.Checks[0].Log != "is [redacted] in\n" || got.Checks[1].Log != "?" {
		t.Errorf("%v, %v, failure %v, result %s; want the secret masked", err, derr, fail, raw)
	}
	if raw, fail, err = b.Accept(t.Context(), check, nil, coppice.Failf(coppice.ClassDisk, "my given value", "hide my given value")); err != nil || raw != nil ||
		fail.Text != "[redacted]" || fail.Fix != "hide [redacted]" || fail.Class != coppice.ClassDisk {
		t.Errorf("%v, failure %v, result %s; want the secret masked in the failure", err, fail, raw)
	}
	raw, _, err = b.Accept(t.Context(), coppice.Work{Kind: coppice.WorkHook}, coppice.Raw(coppice.HookResult{Exit: 2, Output: "is my given value in\n"}), nil)
	if hook, derr := coppice.DecodeResult[coppice.HookResult](coppice.Work{Result: raw}); err != nil || derr != nil || hook.Exit != 2 || hook.Output != "is [redacted] in\n" {
		t.Errorf("%v, %v, result %s; want the secret masked in the output of a hook", err, derr, raw)
	}
	for _, kind := range []coppice.WorkKind{coppice.WorkRun, coppice.WorkCheck, coppice.WorkHook, coppice.WorkMerge, "later.kind"} {
		if raw, fail, err := b.Accept(t.Context(), coppice.Work{Kind: kind}, []byte(`[1]`), nil); err != nil || fail != nil || string(raw) != `[1]` {
			t.Errorf("%s: %v, failure %v, result %s; want it unchanged", kind, err, fail, raw)
		}
	}
}

// The result of a session that succeeded says with which error its output ends, if
// its spec asks for that. The last 20 events that have a text count.
func TestOutputThatEndsWithAnError(t *testing.T) {
	t.Parallel()
	text, failure := coppice.AgentEvent{Kind: coppice.KindText, Text: "works"}, coppice.AgentEvent{Kind: coppice.KindError, Text: "my given value is gone\nand more"}
	spent := coppice.AgentEvent{Kind: coppice.KindUsage, Usage: &coppice.Usage{Turns: 1}}
	zero := 0
	done := coppice.RunResult{Exit: &zero, Summary: "did it, and fixed the compiler error: unused"}
	many := func(e coppice.AgentEvent, n int) []coppice.AgentEvent {
		return slices.Repeat([]coppice.AgentEvent{e}, n)
	}
	for name, c := range map[string]struct {
		events []coppice.AgentEvent
		res    coppice.RunResult
		off    bool // the spec does not ask for it
		want   string
	}{
		"no event":           {nil, done, false, ""},
		"no error":           {many(text, 30), done, false, ""},
		"the last one":       {append(many(text, 30), failure), done, false, "[redacted] is gone"},
		"the 20th":           {append([]coppice.AgentEvent{failure}, many(text, 19)...), done, false, "[redacted] is gone"},
		"the 21st":           {append([]coppice.AgentEvent{failure}, many(text, 20)...), done, false, ""},
		"silent ones after":  {append([]coppice.AgentEvent{failure}, many(spent, 1500)...), done, false, "[redacted] is gone"},
		"without a text":     {[]coppice.AgentEvent{{Kind: coppice.KindError, Class: coppice.ClassMCP}}, done, false, "mcp_lost"},
		"nobody asks":        {[]coppice.AgentEvent{failure}, done, true, ""},
		"it failed":          {[]coppice.AgentEvent{failure}, coppice.RunResult{Failure: coppice.Failf(coppice.ClassUnknown, "broke", "")}, false, ""},
		"it was stopped":     {[]coppice.AgentEvent{failure}, coppice.RunResult{Stopped: true}, false, ""},
		"its final message":  {many(text, 2), coppice.RunResult{Exit: &zero, Summary: "\n Error: no network\nsorry"}, false, "Error: no network"},
		"what a worker says": {many(text, 2), coppice.RunResult{Exit: &zero, Error: "made up"}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			s := coppice.Session{N: 1, Key: "app-1.1", State: coppice.SessionWorking}
			b.put(&s)
			var frames []fabric.Frame
			for i, e := range c.events {
				frames = append(frames, fabric.Frame{Output: coppice.Output{Offset: int64(i), Kind: coppice.OutputEvent, Data: coppice.Raw(e)}, Next: int64(i + 1)})
			}
			if _, err := b.Record(t.Context(), fabric.Batch{Session: s.ID, Frames: frames, Quiet: true}); err != nil {
				t.Fatal(err)
			}
			w := coppice.Work{Kind: coppice.WorkRun, ProjectID: b.task.ProjectID, SessionID: s.ID, Spec: coppice.Raw(coppice.RunSpec{NoErrors: !c.off})}
			raw, _, err := b.Accept(t.Context(), w, coppice.Raw(c.res), nil)
			got, derr := coppice.DecodeResult[coppice.RunResult](coppice.Work{Result: raw})
			if err != nil || derr != nil || got.Error != c.want {
				t.Errorf("%v, %v, %q; want %q", err, derr, got.Error, c.want)
			}
		})
	}
}
