package config

import (
	"encoding/json"
	"slices"
	"testing"

	"coppice"
)

// FuzzEdit changes any file. The change is refused with an error for people, or
// everything except the key reads back as it was.
func FuzzEdit(f *testing.F) {
	f.Add("base: main\n", "limits.sessions", "3", false)
	f.Add("limits:\n  sessions: 5 # x\nchecks:\n- a\n", "limits.sessions", "4", true)
	f.Add("land: {how: queue, push: true}\r\n", "land.how", `"branch"`, false)
	f.Add("checks: [\n 'a',\n]\n", "checks", `["b: c"]`, false)
	f.Add("? base\n: main\n", "base", `"x"`, false)
	f.Add("\"base\" : |\n  main\n", "base", `"x"`, true)
	f.Fuzz(func(t *testing.T, source, key, value string, unset bool) {
		before := slices.Clone([]byte(source))
		after, err := Edit(File, []byte(source), Change{Key: key, Value: json.RawMessage(value), Unset: unset})
		if err != nil {
			if coppice.ErrorCode(err) == coppice.EInternal {
				t.Fatalf("%q %q %q: %v", source, key, value, err)
			}
			return
		}
		if _, err := Parse(File, after); err != nil {
			t.Fatalf("%q %q %q made %q: %v", source, key, value, after, err)
		}
		if source != string(before) {
			t.Fatal("the source was changed")
		}
	})
}
