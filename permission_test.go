package coppice_test

import (
	"testing"

	"coppice"
)

func TestParsePermission(t *testing.T) {
	t.Parallel()
	allow, deny := coppice.Permission{Do: coppice.RuleAllow}, coppice.Permission{Do: coppice.RuleDeny}
	always := func(a coppice.Permission) coppice.Permission { a.Always = true; return a }
	why := func(a coppice.Permission, text string) coppice.Permission { a.Why = text; return a }
	for answer, want := range map[string]coppice.Permission{
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
		if got := coppice.ParsePermission(answer); got != want {
			t.Errorf("%q: %+v, want %+v", answer, got, want)
		}
	}
}
