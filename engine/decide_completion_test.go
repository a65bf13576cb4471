package engine

import (
	"strings"
	"testing"

	"coppice"
)

func completion(list ...string) change {
	return policy(func(p *coppice.Policy) { p.Verify.Completion = list })
}

// Without the check diff_not_empty, a session without a change ends its task. A fix
// session that dropped all work does not.
func TestDiffNotEmpty(t *testing.T) {
	t.Parallel()
	own := task(func(t *coppice.Task) { t.Completion = []string{coppice.CompletionDiff} })
	const done = `pipeline: task.ended; to ended; outcome "done"`
	run(t, pipeline, []decision{
		{"the default", viewOf(coppice.StageSession, space(), ran("base1")), unchangedOnce},
		{"required", viewOf(coppice.StageSession, space(), completion(coppice.CompletionErrors, coppice.CompletionDiff), ran("base1")), unchangedOnce},
		{"not required", viewOf(coppice.StageSession, space(), completion(coppice.CompletionErrors), ran("base1")), done},
		{"no checks", viewOf(coppice.StageSession, space(), completion(coppice.CompletionNone), ran("base1")), done},
		{"the task requires it", viewOf(coppice.StageSession, space(), completion(coppice.CompletionNone), own, ran("base1")), unchangedOnce},
		{"a fix dropped all work", viewOf(coppice.StageSession, space(), completion(coppice.CompletionNone), ran("head1"), candidate(ended(coppice.LandingRefused)), ran("base1", fixing)), strings.Replace(unchangedOnce, "next implement", "next fix", 1)},
	})
}

// The ledger reports the error with which the output of a session ends, if the spec
// of its run asks for it. The session has then failed.
func TestNoErrorInOutput(t *testing.T) {
	t.Parallel()
	zero := 0
	ends := func(r coppice.RunResult) change { r.Exit, r.Head = &zero, "head1"; return finished(coppice.WorkRun, r) }
	v := viewOf(coppice.StageSession, space(), ran("", live), ends(coppice.RunResult{Error: "the model is gone"}))
	d := anySettle(v)
	if f := d.Session.Failure; d.Session.State != coppice.SessionFailed || f == nil || f.Class != coppice.ClassImplementation ||
		f.Text != "its output ends with an error (no_error_in_output): the model is gone" {
		t.Errorf("%s: %+v", d.Session.State, f)
	}
	v = viewOf(coppice.StageSession, space(), ran("", live, func(s *coppice.Session) { s.Screen = true }), ends(coppice.RunResult{Error: "the model is gone"}))
	if d := anySettle(v); d.Session.State != coppice.SessionDone {
		t.Errorf("a session on a screen is %s", d.Session.State)
	}
	for name, c := range map[string]struct {
		changes []change
		role    coppice.Role
		want    bool
	}{
		"the default":    {nil, coppice.RoleImplement, false},
		"required":       {[]change{completion(coppice.CompletionErrors)}, coppice.RoleImplement, true},
		"of a fix":       {[]change{completion(coppice.CompletionErrors)}, coppice.RoleFix, true},
		"of a verifier":  {[]change{completion(coppice.CompletionErrors)}, coppice.RoleVerify, false},
		"of an analysis": {[]change{completion(coppice.CompletionErrors)}, coppice.RoleAnalyze, false},
		"the role has own": {[]change{completion(coppice.CompletionErrors), policy(func(p *coppice.Policy) {
			p.Agent.Completion = map[coppice.Role][]string{coppice.RoleFix: {coppice.CompletionNone}}
		})}, coppice.RoleFix, false},
		"the track has own": {[]change{policy(func(p *coppice.Policy) {
			for i := range p.Tracks {
				p.Tracks[i].Completion = []string{coppice.CompletionErrors}
			}
		})}, coppice.RoleImplement, true},
		"the task has own": {[]change{completion(coppice.CompletionErrors), task(func(t *coppice.Task) { t.Completion = []string{coppice.CompletionNone} })}, coppice.RoleImplement, false},
	} {
		v := viewOf(coppice.StageSession, append(c.changes, space(), ran("", live, func(s *coppice.Session) { s.Role = c.role }))...)
		if got := runSpec(v, v.lastSession()).NoErrors; got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
