package e2e

import (
	"testing"

	sdk "code.gitea.io/sdk/gitea"

	"coppice"
	"coppice/api"
	"coppice/test/forges"
)

// On a stack of requests only the bottom one reacts. After its merge the other one
// aims at the base, reacts, and lands as well.
func TestPullStack(t *testing.T) {
	t.Parallel()
	p := pullWorldAt(t, forges.Gitea(t).URL, `cases:
  - {match: 'has conflicts with its base', steps: [{merge: {resolve: {bottom.txt: "bottom\nfixed\n"}}}]}
  - {match: 'undefined: foo', steps: [{append: {path: bottom.txt, content: "fixed\n"}}]}
  - {match: 'The bottom', steps: [{write: {path: bottom.txt, content: "bottom\n"}}]}
  - {match: 'The top', steps: [{write: {path: top.txt, content: "top\n"}}]}
`, "land: {how: pr, pr: {stack: true}}\nreactions: {approved-and-green: {do: merge}}\n")
	p.serve()
	bottom := p.new("The bottom")
	low := p.pushed(bottom, "")
	top := p.new("The top", "--after", bottom)
	high := p.pushed(top, "")
	if high.Pull.Base != low.Pull.Branch {
		t.Errorf("the request at the top aims at %s, want %s", high.Pull.Base, low.Pull.Branch)
	}
	p.status(high.Pull.Pushed, sdk.StatusFailure)
	high = p.await(top, "the failure of its CI", func(d api.TaskDetail) bool { return d.Pull.Report.CI == coppice.CIFailed })
	if len(high.Reactions) != 0 {
		t.Errorf("the request at the top reacts: %+v", high.Reactions)
	}
	p.status(low.Pull.Pushed, sdk.StatusFailure)
	low = p.pushed(bottom, low.Pull.Pushed)
	merge := func(d api.TaskDetail) {
		p.status(d.Pull.Pushed, sdk.StatusSuccess)
		p.review(int64(d.Pull.Number), sdk.ReviewStateApproved, "")
		p.landed(d.Key)
	}
	merge(low)
	high = p.await(top, "a request that aims at the base", func(d api.TaskDetail) bool {
		return d.Stage == coppice.StagePull && d.Pull.Pushed != high.Pull.Pushed && d.Pull.Report.Base == "main" && !d.Pull.Report.Conflicts && d.Pull.Report.Head == d.Pull.Pushed && !d.Pull.Report.Draft
	})
	merge(high)
	p.wantOnBase("bottom.txt", "bottom\nfixed")
	p.wantOnBase("top.txt", "top")
}
