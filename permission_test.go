package coppice_test

import (
	"strings"
	"testing"

	"coppice"
)

func TestParsePermission(t *testing.T) {
	t.Parallel()
	allow, deny := coppice.Permission{Allow: true}, coppice.Permission{}
	because := func(why string) coppice.Permission { return coppice.Permission{Why: why} }
	never := func(why string) coppice.Permission { return coppice.Permission{Always: true, Why: why} }
	for text, want := range map[string]coppice.Permission{
		"allow": allow, " Allow\n": allow, "yes": allow, "Y": allow, "ok": allow,
		"allow always": {Allow: true, Always: true}, " Allow Always ": {Allow: true, Always: true},
		"deny": deny, "no": deny, "N": deny, "": deny, "deny.": deny, "deny: ": deny,
		"deny because it is late":       because("it is late"),
		"deny, it is late":              because("it is late"),
		"deny — it is late":             because("— it is late"),
		"deny because I always say so":  because("I always say so"),
		"deny because":                  because("because"),
		"denying is hard":               because("denying is hard"),
		"deny2":                         because("deny2"),
		"use the queue instead":         because("use the queue instead"),
		"because it pushes":             because("it pushes"),
		"deny always":                   never(""),
		"DENY ALWAYS because it pushes": never("it pushes"),
		"Deny always: use the queue":    never("use the queue"),
		"deny always!":                  never("!"),
		"deny always (it pushes)":       never("(it pushes)"),
		"deny always-it pushes":         never("it pushes"),
		"deny alwaysx":                  because("alwaysx"),
		"deny  always":                  because("always"),
		"always":                        because("always"),
		"allow it if you must":          because("allow it if you must"),
		"allow always please":           because("allow always please"),
		"allow  always":                 because("allow  always"),
		"allow alway\u017f":             because("allow alway\u017f"), // folds to the same letters, and is not the same word
	} {
		if got := coppice.ParsePermission(text); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

func FuzzParsePermission(f *testing.F) {
	for _, s := range []string{"allow", "allow always", "deny", "deny always because it pushes", "no", "", "because ", "deny\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a := coppice.ParsePermission(text)
		if a.Allow && (a.Why != "" || len(strings.TrimSpace(text)) > len(coppice.AnswerAllowAlways)) {
			t.Errorf("%q is allowed: %+v", text, a)
		}
		if a.Why != "" && !strings.Contains(text, a.Why) {
			t.Errorf("%q has the reason %q", text, a.Why)
		}
		if b := coppice.ParsePermission(" " + text + "\n"); a != b {
			t.Errorf("%q: %+v, with blanks around it %+v", text, a, b)
		}
		if strings.HasPrefix(text, coppice.AnswerDeny) && a.Allow {
			t.Errorf("%q is allowed", text)
		}
	})
}
