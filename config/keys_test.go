package config

import (
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"pgregory.net/rapid"

	"coppice"
	"coppice/secret"
)

// The table has every key of both files, and no other.
func TestTableMatchesTypes(t *testing.T) {
	t.Parallel()
	have := map[string]bool{}
	collect(reflect.TypeFor[coppice.Policy](), "", have)
	users := map[string]bool{}
	collect(reflect.TypeFor[User](), "", users)
	for path := range users {
		if have[path] && path != "limits" && path != "budget" && path != "notify" && path != "prices" && !strings.HasPrefix(path, "prices.") && !strings.HasPrefix(path, "hooks") { // which mean the same in both
			t.Errorf("%s is in both files: the table cannot tell them apart", path)
		}
	}
	maps.Copy(have, users)
	for path := range have {
		if keys()[path].doc == "" {
			t.Errorf("%s is not in the table", path)
		}
		if planned[path] {
			t.Errorf("%s is there and planned at once", path)
		}
	}
	for path := range keys() {
		if !have[path] {
			t.Errorf("%s is in the table and in no file", path)
		}
	}
}

// A key whose value is the name of a secret says so, and has the form of such a name.
func TestNamesOfSecrets(t *testing.T) {
	t.Parallel()
	others := map[string]bool{"secrets": true, "secrets.*.keyring": true} // they define secrets
	for path, k := range keys() {
		if named := k.pattern == secret.NamePattern && !others[path]; k.secret != named {
			t.Errorf("%s: the value is the name of a secret: %v, it has its form: %v", path, k.secret, named)
		}
	}
	for _, list := range [][]Key{Explain(coppice.DefaultPolicy(), Source{}), ExplainUser(User{}, Source{})} {
		for _, k := range list {
			if k.Secret != keys()[k.Name].secret {
				t.Errorf("%s is explained with %v", k.Name, k.Secret)
			}
		}
	}
}

func collect(typ reflect.Type, path string, have map[string]bool) {
	if path != "" {
		have[path] = true
	}
	switch {
	case typ == durationType || typ == percentType || typ == usdType:
	case typ.Kind() == reflect.Struct:
		for f := range typ.Fields() {
			if isKey(f) {
				collect(f.Type, join(path, f.Tag.Get("yaml")), have)
			}
		}
	case typ.Kind() == reflect.Slice:
		collect(typ.Elem(), path+"[]", have)
	case typ.Kind() == reflect.Map:
		collect(typ.Elem(), path+".*", have)
	}
}

// What Scalar writes reads back as the same text, alone and within a list.
func TestScalarReadsBack(t *testing.T) {
	t.Parallel()
	check := func(fatal func(string, ...any), s string) {
		for _, text := range []string{"v: " + Scalar(s) + "\n", "v: [" + Scalar(s) + "]\n", "v:\n  - " + Scalar(s) + " # why\n"} {
			var got map[string]any
			if err := yaml.Unmarshal([]byte(text), &got); err != nil {
				fatal("%q: %v", text, err)
				continue
			}
			v := got["v"]
			if l, ok := v.([]any); ok && len(l) == 1 {
				v = l[0]
			}
			if v != s {
				fatal("%q reads as %#v", text, v)
			}
		}
	}
	for _, s := range []string{"", "true", "No", "1", "1e3", "0x1f", "-", "- a", "~", "a: b", "a #b", "\"", "\\", "a\nb", ".5", ".env", "./x", "é", "=", "<<", "1:2", "2026-01-02", "null", "a,b", " a"} {
		check(t.Errorf, s)
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.StringOf(rapid.SampledFrom([]rune("ab01 :#-[]{}\"'\\,.~!&*|>%@?\n\té<="))).Draw(rt, "text")
		check(rt.Fatalf, s)
	})
}

// Every key says how a form shows its value.
func TestShapes(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	for _, k := range Explain(coppice.DefaultPolicy(), Source{}) {
		if got[k.Name] = k.Shape; k.Shape == "" {
			t.Errorf("%s has no shape", k.Name)
		}
	}
	for name, want := range map[string]string{
		"base": "text", "land.how": "choice", "limits.sessions": "number", "checks": "lines", "tracks": "json", "tracker[].write.close": "switch", "tracker[].active": "number", "health.timeout": "text",
	} {
		if got[name] != want {
			t.Errorf("%s has the shape %q, want %q", name, got[name], want)
		}
	}
}
