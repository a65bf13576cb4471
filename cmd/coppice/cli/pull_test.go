package cli

import (
	"testing"

	"coppice"
)

func TestPullLine(t *testing.T) {
	t.Parallel()
	open := func(change func(*coppice.Pull)) coppice.Pull {
		p := coppice.Pull{Number: 7, PullDetails: coppice.PullDetails{URL: "https://forge/7", Base: "main", Report: coppice.PullRead{State: coppice.PullOpen}}}
		change(&p)
		return p
	}
	for want, p := range map[string]coppice.Pull{
		"not open yet":              {},
		"#7, open  https://forge/7": open(func(*coppice.Pull) {}),
		"#7, draft, CI failed, conflicts with main  https://forge/7": open(func(p *coppice.Pull) {
			p.Report.Draft, p.Report.CI, p.Report.Conflicts = true, coppice.CIFailed, true
		}),
		"#7, open, CI passed, approved  https://forge/7": open(func(p *coppice.Pull) { p.Report.CI, p.Report.Review = coppice.CIPassed, coppice.ReviewApproved }),
		"#7, merged  https://forge/7":                    open(func(p *coppice.Pull) { p.Report.State = coppice.PullMerged }),
		"#7, open, cannot reach it  https://forge/7":     open(func(p *coppice.Pull) { p.Failure = &coppice.Failure{Text: "cannot reach it"} }),
	} {
		if got := pullLine(p); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	r := coppice.Reacted{ReactedDetails: coppice.ReactedDetails{Event: coppice.OnCIFailed, Text: "CI failed: build", Do: coppice.ReactSend, Result: "pushed 1234"}}
	if got, want := reactionLine(r), "ci-failed: CI failed: build → pushed 1234"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
