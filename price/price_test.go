package price_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"coppice"
	"coppice/price"
)

func TestOf(t *testing.T) {
	t.Parallel()
	own := map[string]coppice.Price{"gpt-6-sol": {Input: 1, Output: 2}, "My-Local": {}, "gpt-99": {Input: 900, Output: 900}}
	table := price.New(map[string]coppice.Price{"gpt-6-sol": {Input: 7, Output: 7}}, own)
	for model, want := range map[string]struct {
		input     coppice.USD
		estimated bool
		ok        bool
	}{
		"claude-opus-4-5":              {5, false, true},
		"claude-opus-4-5-20251101":     {5, false, true},
		"anthropic/claude-opus-4-5":    {5, false, true},
		"claude-opus-4-5[1m]":          {5, false, true},
		"Claude-Opus-4-5":              {5, false, true},
		"claude-of-tomorrow":           {10, true, true},
		"opus":                         {10, true, true},
		"gpt-6-sol":                    {1, false, true},
		"gpt-6-sol-2026-09-22":         {1, false, true},
		"openrouter/openai/gpt-6-luna": {0.1, true, true}, // only third parties report it
		"claude-sonnet-5-5":            {2, true, true},   // they disagree about its cache
		"gpt-of-tomorrow":              {30, true, true},  // the configuration's prices do not count as the vendor's
		"my-local":                     {0, false, true},
		"gemini-of-tomorrow":           {2, true, true},
		"somebody/else":                {0, false, false},
		"":                             {0, false, false},
	} {
		p, estimated, ok := table.Of(model)
		if p.Input != want.input || estimated != want.estimated || ok != want.ok {
			t.Errorf("%q: %+v, estimated %v, %v; want %+v", model, p, estimated, ok, want)
		}
	}
	if _, _, ok := (price.Table{}).Of("gpt-6-sol"); ok {
		t.Error("an empty table knows a model")
	}
}

func TestCost(t *testing.T) {
	t.Parallel()
	table := price.New()
	tokens := coppice.Usage{InputTokens: 1e6, OutputTokens: 1e5, CacheRead: 1e6, CacheWrite: 1e5}
	for model, want := range map[string]float64{
		"gpt-6-sol":   2 + 1 + 0.2 + 0.25,
		"gpt-6.1-sol": 2 + 1 + 0.1 + 0.2, // writing costs what input does
		"nobody's":    0,
	} {
		u := table.Cost(model, tokens)
		if math.Abs(u.CostUSD-want) > 1e-9 || u.Priced != (want > 0) || u.Estimated != (want > 0) {
			t.Errorf("%s: %+v, want %v", model, u, want)
		}
	}
	reported := tokens
	reported.CostUSD = 9
	if u := table.Cost("gpt-6-sol", reported); u != reported {
		t.Errorf("what the agent reports is replaced: %+v", u)
	}
	if u := table.Cost("gpt-6-sol", coppice.Usage{Turns: 1}); u.Priced {
		t.Errorf("nothing is priced: %+v", u)
	}
}

// However the tokens arrive, the cost is that of their sum. A cost that the
// agent reports replaces it.
func TestAdd(t *testing.T) {
	t.Parallel()
	table := price.New()
	rapid.Check(t, func(rt *rapid.T) {
		model := rapid.SampledFrom([]string{"gpt-6-sol", "gpt-of-tomorrow", "gemini-2.5-pro"}).Draw(rt, "model")
		var used, sum coppice.Usage
		for range rapid.IntRange(1, 8).Draw(rt, "reports") {
			more := coppice.Usage{InputTokens: rapid.Int64Range(0, 1e9).Draw(rt, "in"), OutputTokens: rapid.Int64Range(0, 1e7).Draw(rt, "out"), CacheRead: rapid.Int64Range(0, 1e9).Draw(rt, "read")}
			used, sum = table.Add(model, used, more), sum.Add(more)
		}
		if want := table.Cost(model, sum); used != want {
			rt.Fatalf("%+v, want %+v", used, want)
		}
		used = table.Add(model, used, coppice.Usage{InputTokens: 5, CostUSD: 0.5})
		used = table.Add(model, used, coppice.Usage{OutputTokens: 5, CostUSD: 0.25})
		if used.CostUSD != 0.75 || used.Priced || used.Estimated {
			rt.Fatalf("an agent that reports its cost after all: %+v", used)
		}
	})
}

// Every price has a page and a day.
func TestTable(t *testing.T) {
	t.Parallel()
	for _, e := range price.New().Entries() {
		if _, err := time.Parse(time.DateOnly, e.Date); err != nil || e.Source == "" || e.Vendor == "" {
			t.Errorf("%+v", e)
		}
		if p, estimated, ok := price.New().Of(e.Model); !ok || estimated == e.Confirmed || p != e.Price || coppice.ValidModel(e.Model) != nil {
			t.Errorf("%s: %+v, %v, %v", e.Model, p, estimated, ok)
		}
		if e.Price.Input <= 0 || e.Price.Output <= e.Price.Input || e.Price.CacheRead > e.Price.Input {
			t.Errorf("%s costs %+v", e.Model, e.Price)
		}
	}
}
