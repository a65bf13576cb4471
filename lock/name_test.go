package lock

import (
	"path"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"coppice"
)

func TestClean(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a/b.go":             "a/b.go",
		"./a//b.go":          "a/b.go",
		"docs/":              "checkout::docs",
		"checkout::docs":     "checkout::docs",
		"checkout::/docs/":   "checkout::docs",
		"checkout::.":        "checkout::.",
		"checkout::":         "checkout::.",
		"checkout::/":        "checkout::.",
		".":                  "checkout::.",
		"docs/**/*.md":       "docs/**/*.md",
		"docs/*/":            "docs/*/**",
		"app/[id]/page.tsx":  "app/[id]/page.tsx",
		"checkout::app/[id]": "checkout::app/[id]",
		"a..b":               "a..b",
	} {
		got, err := Clean(in)
		if err != nil || got != want {
			t.Errorf("%q: %q, %v", in, got, err)
		}
		if again, err := Clean(got); err != nil || again != got {
			t.Errorf("%q again: %q, %v", got, again, err)
		}
	}
	for _, in := range []string{"", "..", "a/../b", "/etc/passwd", "checkout::../x", "a\x00b", "a\nb", strings.Repeat("a", 1001)} {
		if got, err := Clean(in); err == nil || coppice.Public(err).Fix == "" {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
}

func TestConflicts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"a.go", "a.go", true},
		{"a.go", "b.go", false},
		{"a", "a/b.go", true}, // a directory without a slash
		{"a", "ab", false},
		{"checkout::.", "x/y/z", true},
		{"checkout::.", "**/*.md", true},
		{"checkout::a", "a/b/c.go", true},
		{"checkout::a", "checkout::a/b", true},
		{"checkout::a", "checkout::ab", false},
		{"checkout::a", "b/a/x", false},
		{"docs/**/*.md", "docs/a.md", true},
		{"docs/**/*.md", "docs/x/y/a.md", true},
		{"docs/**/*.md", "docs/a.txt", false},
		{"docs/**/*.md", "checkout::docs/x", true},
		{"docs/**/*.md", "checkout::src", false},
		{"docs/*", "docs/x/y.md", false},
		{"docs/*", "docs/x", true},
		{"*.go", "*_test.go", true},
		{"a*c", "*b*", true},
		{"a*", "*b", true},
		{"a*", "b*", false},
		{"a?c", "abc", true},
		{"a?c", "ac", false},
		{"**/a.go", "b/**", true},
		{"src/*.ts", "src/*.tsx", false},
		{"src/**/*.{ts,tsx}", "src/x/a.tsx", true},
		{"src/{a,b/c}/x.go", "src/b/c/x.go", true},
		{"src/{a,b/c}/x.go", "lib/x.go", false},
		{"src/[ab]/*.go", "src/a/x.go", true},
		{"app/[id]/*.tsx", "app/[id]/page.tsx", true},
		{"app/[id]/page.tsx", "app/i/page.tsx", false},
		{"src/!(*.test).ts", "src/a.ts", true},
		{`src/\*.go`, "src/*.go", true},
	} {
		for range 2 {
			if got := Conflicts(c.a, c.b); got != c.want {
				t.Errorf("%s and %s: %v", c.a, c.b, got)
			}
			c.a, c.b = c.b, c.a
		}
	}
}

// Two globs that match a common path conflict, and a name that covers another
// conflicts with everything that the other one conflicts with.
func TestOverlapIsComplete(t *testing.T) {
	t.Parallel()
	part := rapid.SampledFrom([]string{"a", "b", "ab", "*", "a*", "*b", "?", "**"})
	glob := rapid.Custom(func(t *rapid.T) string {
		n, err := Clean(strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, "parts"), "/"))
		if err != nil {
			t.Fatal(err)
		}
		return n
	})
	var paths []string
	for _, a := range []string{"a", "b", "ab"} {
		paths = append(paths, a)
		for _, b := range []string{"a", "b", "ab"} {
			paths = append(paths, a+"/"+b)
			for _, c := range []string{"a", "b", "ab"} {
				paths = append(paths, a+"/"+b+"/"+c)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		x, y, z := glob.Draw(t, "x"), glob.Draw(t, "y"), glob.Draw(t, "z")
		for _, p := range paths {
			if matches(parts(x), parts(p)) && matches(parts(y), parts(p)) && !Conflicts(x, y) {
				t.Fatalf("both %s and %s match %s", x, y, p)
			}
		}
		if parse(x).covers(parse(y)) && Conflicts(y, z) && !Conflicts(x, z) {
			t.Fatalf("%s covers %s, but does not conflict with %s", x, y, z)
		}
	})
}

// matches is a simple matcher of one path, to compare with.
func matches(pattern, p []string) bool {
	if len(pattern) == 0 {
		return len(p) == 0
	}
	if pattern[0] == "**" {
		return matches(pattern[1:], p) || len(p) > 0 && matches(pattern, p[1:])
	}
	if len(p) == 0 {
		return false
	}
	ok, _ := path.Match(pattern[0], p[0])
	return ok && matches(pattern[1:], p[1:])
}

func parts(s string) []string { return strings.Split(s, "/") }
