package http_test

import (
	"strings"
	"testing"

	"coppice"
	"coppice/store"
)

// The line of a session is what it said or did last, whatever else it wrote.
func TestWhatASessionSays(t *testing.T) {
	t.Parallel()
	b := setupApp(t)
	task := b.Task("app", coppice.NewTask{Title: "One", Agent: "scripted"})
	s := b.Session(task.Key, coppice.SessionWorking, func(s *coppice.Session) { s.Role = coppice.RoleFix })
	for _, c := range []struct{ event, want string }{
		{`{"kind":"state","state":"working"}`, ""},
		{`{"kind":"text","text":"\n\n  First \u001b[31mline\nsecond"}`, "First [31mline"},
		{`{"kind":"usage"}`, "First [31mline"},
		{`no json`, "First [31mline"},
		{`{"kind":"tool","name":"Edit","paths":["a.go","b.go"]}`, "Edit a.go b.go"},
		{`{"kind":"tool_result","ok":true,"text":"fine"}`, "Edit a.go b.go"},
		{`{"kind":"thinking","text":"hm"}`, "thinking"},
		{`{"kind":"text","text":"   "}`, "thinking"},
		{`{"kind":"text","text":"` + strings.Repeat("é", 200) + `"}`, strings.Repeat("é", 159) + "…"},
	} {
		b.Write(s.ID, coppice.OutputEvent, c.event)
		got, err := b.Client.Task(b.Ctx, task.Key)
		b.Must(err)
		if got.Says != c.want || got.Role != coppice.RoleFix {
			t.Errorf("after %s: %q as %s, want %q", c.event, got.Says, got.Role, c.want)
		}
	}
	s.State, s.Summary = coppice.SessionDone, "All done.\nIn full."
	b.Update(func(tx store.Tx) error {
		now, err := tx.Sessions.Get(s.ID)
		if err != nil {
			return err
		}
		now.State, now.Summary = s.State, s.Summary
		return tx.Sessions.Put(&now)
	})
	if got, err := b.Client.Task(b.Ctx, task.Key); err != nil || got.Says != "All done." {
		t.Errorf("at its end: %q, %v", got.Says, err)
	}
}

// The result of the newest candidate is one of a few words.
func TestProof(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.Project("/src/app")
	task := b.Task("app", coppice.NewTask{Title: "One", Agent: "scripted"})
	s := b.Session(task.Key, coppice.SessionDone, nil)
	green := coppice.Candidate{Green: true}
	for _, c := range []struct {
		landing coppice.Landing
		want    string
	}{
		{coppice.Landing{}, ""},
		{coppice.Landing{Candidate: green}, "checks passed"},
		{coppice.Landing{Candidate: green, Verified: true}, "verified"},
		{coppice.Landing{Candidate: green, Outcome: coppice.LandingRefused}, "not verified"},
		{coppice.Landing{Outcome: coppice.LandingRefused}, "checks failed"},
		{coppice.Landing{Verified: true, Outcome: coppice.LandingConflict}, "conflict"},
	} {
		l := c.landing
		l.ProjectID, l.TaskID, l.SessionID = p.ID, task.ID, s.ID
		b.Update(func(tx store.Tx) error { return tx.Landings.Put(&l) })
		if got, err := b.Client.Task(b.Ctx, task.Key); err != nil || got.Proof != c.want || got.Proven != (c.want == "checks passed" || c.want == "verified") {
			t.Errorf("%+v: %q, proven %v, %v; want %q", c.landing, got.Proof, got.Proven, err, c.want)
		}
	}
}
