package coppice

import "testing"

func TestParseIdentity(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Identity{
		"Claude <claude@example.com>":       {"Claude", "claude@example.com"},
		"Claude (shop) Ünï <c+x@localhost>": {"Claude (shop) Ünï", "c+x@localhost"},
		"a <b>":                             {"a", "b"},
	} {
		if got, err := ParseIdentity(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "Claude", "<claude@example.com>", " <x@y>", "Claude <>", "Claude <x@y", "Claude <x@y> more", "Claude <x y>", "Cl\nude <x@y>", "Claude <x\n@y>", "Cl<aude <x@y>",
		"Claude. <x@y>", "'Claude' <x@y>", "Claude <x@y.>", "a\x00b <x@y>", "\xff <x@y>", "Claude <<x@y>>", "Claude  <x@y>",
	} {
		if got, err := ParseIdentity(text); ErrorCode(err) != EInvalid || Public(err).Fix == "" {
			t.Errorf("%q: %+v, %v; want a refusal with a fix", text, got, err)
		}
	}
}
