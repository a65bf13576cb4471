package ingest_test

import (
	"testing"

	"coppice"
	"coppice/fabric"
)

// A result is kept without its secrets, and says what the output of a failed
// session says about the environment.
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
		"done":           {coppice.RunResult{Exit: &zero, Summary: "used my told value"}, ""},
		"broken":         {coppice.RunResult{Exit: &three}, `the database is down: "ECONNREFUSED 127.0.0.1:5432"`},
		"its own remedy": {coppice.RunResult{Failure: coppice.Failf(coppice.ClassAuth, "my told value is wrong", "")}, "[redacted] is wrong"},
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
	raw, fail, err := b.Accept(t.Context(), check, coppice.Raw(coppice.CheckResult{Checks: []coppice.Check{{Log: "is my told value in\n"}, {Log: "?"}}}), nil)
	got, derr := coppice.DecodeResult[coppice.CheckResult](coppice.Work{Result: raw})
	if err != nil || derr != nil || fail != nil || got.Checks[0].Log != "is [redacted] in\n" || got.Checks[1].Log != "?" {
		t.Errorf("%v, %v, failure %v, result %s; want the secret masked", err, derr, fail, raw)
	}
	if raw, fail, err = b.Accept(t.Context(), check, nil, coppice.Failf(coppice.ClassDisk, "my told value", "hide my told value")); err != nil || raw != nil ||
		fail.Text != "[redacted]" || fail.Fix != "hide [redacted]" || fail.Class != coppice.ClassDisk {
		t.Errorf("%v, failure %v, result %s; want the secret masked in the failure", err, fail, raw)
	}
	for _, kind := range []coppice.WorkKind{coppice.WorkRun, coppice.WorkCheck, coppice.WorkMerge, "later.kind"} {
		if raw, fail, err := b.Accept(t.Context(), coppice.Work{Kind: kind}, []byte(`[1]`), nil); err != nil || fail != nil || string(raw) != `[1]` {
			t.Errorf("%s: %v, failure %v, result %s; want it unchanged", kind, err, fail, raw)
		}
	}
}
