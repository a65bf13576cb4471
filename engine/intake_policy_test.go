package engine

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"coppice"
)

// A change of the tracks moves tasks that have not started and were in the track
// of their category.
func TestTracksChange(t *testing.T) {
	t.Parallel()
	b := openApp(t, byCategory, func(p *coppice.Project) {
		p.Policy.Limits.Sessions = 1
		p.PausedTracks, p.Strikes = map[string]string{"late": "broken"}, map[string]int{"late": 2, "web": 1}
	})
	b.create(coppice.NewTask{Title: "running", Category: "ui", Priority: 5}, coppice.NewTask{Title: "routed", Category: "ui"}, coppice.NewTask{Title: "put there", Category: "ui", Track: "main"},
		coppice.NewTask{Title: "its track goes", Category: "ui", Track: "late"}, coppice.NewTask{Title: "none"})
	b.turn()
	policy := b.projectNow().Policy
	policy.Tracks = []coppice.Track{{Name: "main", Default: true}, {Name: "web"}, {Name: "new", Categories: []string{"ui"}}}
	b.Intake.inspect = func(context.Context, string) (coppice.Project, error) {
		return coppice.Project{Path: b.projectNow().Path, Policy: policy}, nil
	}
	p, err := b.AddProject(t.Context(), "/src/app")
	b.must(err)
	if len(p.PausedTracks) != 0 || p.Strikes["late"] != 0 || p.Strikes["web"] != 1 {
		t.Errorf("paused %v, strikes %v", p.PausedTracks, p.Strikes)
	}
	var got []string
	for _, key := range []string{"app-1", "app-2", "app-3", "app-4", "app-5"} {
		got = append(got, b.task(key).Track)
	}
	if d := cmp.Diff([]string{"web", "new", "main", "new", "main"}, got); d != "" {
		t.Errorf("tracks (-want +got):\n%s", d)
	}
}

// A project whose reactions pass text from outside to agents asks one time whether they
// can. A decision in coppice.yaml, for or against, answers that.
func TestTrustIsAskedOneTime(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	asks := func(change func(*coppice.Policy)) *coppice.Need {
		t.Helper()
		policy := coppice.DefaultPolicy()
		policy.Base = b.projectNow().Policy.Base
		change(&policy)
		_, err := b.ChangePolicy(t.Context(), coppice.Project{Path: "/src/app", Policy: policy, BaseCommit: "base1"})
		b.must(err)
		p := b.projectNow()
		return p.Need(coppice.NeedTrust)
	}
	off := []coppice.Reaction{{Do: coppice.ReactNothing}}
	comments := coppice.Reactions{coppice.OnComment: {{Do: coppice.ReactSend}}}
	for _, c := range []struct {
		name   string
		policy func(*coppice.Policy)
		want   string
	}{
		{"work lands without requests", func(*coppice.Policy) {}, ""},
		{"the default rules", func(p *coppice.Policy) { p.Land.How = coppice.LandPR }, "ci-failed, changes-requested, bot-comment"},
		{"the same again", func(p *coppice.Policy) { p.Land.How, p.Land.PR.Auto = coppice.LandPR, true }, "ci-failed, changes-requested, bot-comment"},
		{"allowed", func(p *coppice.Policy) { p.Land.How, p.Trust = coppice.LandPR, coppice.TrustUnsandboxed }, ""},
		{"own rules, for requests that people open", func(p *coppice.Policy) { p.Reactions = comments }, "Reactions to comment"},
		{"not allowed", func(p *coppice.Policy) { p.Reactions, p.Trust = comments, coppice.TrustSandboxed }, ""},
		{"no such rules", func(p *coppice.Policy) {
			p.Land.How, p.Reactions = coppice.LandPR, coppice.Reactions{coppice.OnCIFailed: off, coppice.OnChanges: off, coppice.OnBotComment: off}
		}, ""},
	} {
		n := asks(c.policy)
		if (n != nil) != (c.want != "") || n != nil && (!strings.Contains(n.Text, c.want) || n.Fix == "") {
			t.Errorf("%s: %+v, want %q", c.name, n, c.want)
		}
	}
}
