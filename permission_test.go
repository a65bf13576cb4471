package coppice_test

import (
	"testing"

	"coppice"
)

func TestParseAnswer(t *testing.T) {
	t.Parallel()
	allow, deny := coppice.Answer{Do: coppice.RuleAllow}, coppice.Answer{Do: coppice.RuleDeny}
	always := func(a coppice.Answer) coppice.Answer { a.Always = true; return a }
	why := func(a coppice.Answer, text string) coppice.Answer { a.Why = text; return a }
	for answer, want := range map[string]coppice.Answer{
		"allow":                          allow,
		" Allow\n":                       allow,
		"yes":                            allow,
		"allow always":                   always(allow),
		" Allow Always ":                 always(allow),
		"allow always please":            why(deny, "allow always please"),
		"deny":                           deny,
		"no":                             deny,
		"":                               deny,
		"deny always":                    always(deny),
		"DENY ALWAYS because it pushes":  why(always(deny), "it pushes"),
		"deny always: use the make rule": why(always(deny), "use the make rule"),
		"deny alwaysx":                   why(deny, "alwaysx"),
		"denying is hard":                why(deny, "denying is hard"),
		"deny because I always say so":   why(deny, "I always say so"),
		"because it is late":             why(deny, "it is late"),
		"always":                         why(deny, "always"),
	} {
		if got := coppice.ParseAnswer(answer); got != want {
			t.Errorf("%q: %+v, want %+v", answer, got, want)
		}
	}
}
