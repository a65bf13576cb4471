package coppice_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"coppice"
)

func TestChoices(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"ann": {"ann", ""}, "ann:small": {"ann", "small"}, "ann:x/y:1@2[1m]": {"ann", "x/y:1@2[1m]"},
	} {
		agent, model := coppice.SplitChoice(text)
		if [2]string{agent, model} != want {
			t.Errorf("%s is %s and %s", text, agent, model)
		}
		if err := coppice.ValidChoice(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"", ":", "ann:", ":small", "ann:auto", "ann:--evil", "a b", "ann:a b", "-ann", strings.Repeat("a", 65), "ann:" + strings.Repeat("a", 65)} {
		if err := coppice.ValidChoice(text); coppice.ErrorCode(err) != coppice.EInvalid || coppice.Public(err).Fix == "" {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestAccounts(t *testing.T) {
	t.Parallel()
	c := coppice.AgentChoice{Use: "ann", Model: "big", Fallback: []string{"ann:small", "bob", "cid:x/y:1"}}
	for _, x := range []struct{ agent, model, want string }{
		{"ann", "", "ann"}, {"ann", "big", "ann"}, {"ann", "small", "ann:small"}, {"bob", "", "bob"}, {"bob", "small", "bob"},
		{"cid", "x/y:1", "cid:x/y:1"}, {"cid", "", "cid"}, {"dan", "small", "dan"},
	} {
		if got := c.Account(x.agent, x.model); got != x.want {
			t.Errorf("%s with %q is of %s, want %s", x.agent, x.model, got, x.want)
		}
	}
}

// A limit that ends automatically belongs to an account. One that a person must
// fix belongs to the whole agent.
func TestWhoseLimit(t *testing.T) {
	t.Parallel()
	until := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, x := range []struct {
		limit   string
		until   time.Time
		account string
		want    bool
	}{
		{"ann", until, "ann", true}, {"ann", until, "ann:small", false}, {"ann:small", until, "ann", false},
		{"ann:small", until, "ann:small", true}, {"ann:small", until, "ann:large", false}, {"ann", until, "bob", false},
		{"ann", time.Time{}, "ann", true}, {"ann", time.Time{}, "ann:small", true}, {"ann", time.Time{}, "anna:small", false},
	} {
		l := coppice.AgentLimit{Agent: x.limit, Until: x.until}
		if got := l.For(x.account); got != x.want {
			t.Errorf("the limit of %s until %v holds for %s: %t", x.limit, x.until, x.account, got)
		}
	}
}

// Every account that a choice names is valid, and names its agent.
func TestAccountsAreChoices(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		agent := rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9_-]{0,10}`).Draw(rt, "agent")
		model := rapid.StringMatching(`([A-Za-z0-9][A-Za-z0-9._:/@\[\]-]{0,10})?`).Draw(rt, "model")
		var c coppice.AgentChoice
		if rapid.Bool().Draw(rt, "named") {
			c.Fallback = []string{agent + ":" + model}
		}
		account := c.Account(agent, model)
		of, on := coppice.SplitChoice(account)
		if of != agent || on != "" && on != model || on != "" && len(c.Fallback) == 0 {
			rt.Fatalf("%s with %q of %v is %s", agent, model, c.Fallback, account)
		}
		if err := coppice.ValidChoice(account); err != nil && model != coppice.ModelAuto {
			rt.Fatal(err)
		}
	})
}

func TestTrackFor(t *testing.T) {
	t.Parallel()
	p := coppice.Policy{Tracks: []coppice.Track{{Name: "one", Categories: []string{"a"}}, {Name: "two", Default: true}, {Name: "three", Categories: []string{"a", "b", ""}}}}
	for category, want := range map[string]string{"a": "one", "b": "three", "c": "two", "": "two"} {
		if got := p.TrackFor(category); got != want {
			t.Errorf("%q goes to %q, want %q", category, got, want)
		}
	}
}
