package workspace

import (
	"strings"
	"testing"

	"coppice"
)

// A merge reports the first rule that asks for a person's review.
func TestRules(t *testing.T) {
	t.Parallel()
	b := setup(t)
	res := b.prepare("app-1")
	write(t, res.Path, "db/migrations/1.sql", strings.Repeat("x\n", 5))
	write(t, res.Path, "db/migrations/2.sql", "y\n")
	write(t, res.Path, "a.txt", "one\nTWO\nthree\n") // one line added, one removed
	write(t, res.Path, "picture", "\x00\x01\n\n\n")
	commit(t, res.Path, "work")
	head := b.saved(res.Path)
	for want, ask := range map[string]coppice.LandAsk{
		"": {},
		"it changes db/migrations/1.sql and 1 more (land.ask.paths)": {Paths: []string{"nothing", "*.sql"}, Lines: 1},
		"it changes db/migrations/2.sql (land.ask.paths)":            {Paths: []string{"db/*/2.sql"}},
		"it changes 8 lines (land.ask.lines is 7)":                   {Paths: []string{"nothing"}, Lines: 7},
	} {
		spec := b.mergeSpec(head, coppice.StrategySquash)
		spec.Ask = ask
		if got := must[coppice.MergeResult](t)(b.Merge(b.ctx, spec)); got.Review != want || got.Commit == "" {
			t.Errorf("%+v: %q, want %q", ask, got.Review, want)
		}
	}
	spec := b.mergeSpec(head, coppice.StrategySquash)
	for _, ask := range []coppice.LandAsk{{Lines: 8}, {Paths: []string{"sql", "migrations/1.sql"}}} {
		spec.Ask = ask
		if got := must[coppice.MergeResult](t)(b.Merge(b.ctx, spec)); got.Review != "" {
			t.Errorf("%+v: %q", ask, got.Review)
		}
	}
}
