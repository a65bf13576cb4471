package scripted

import (
	"strings"
	"testing"

	"coppice"
)

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, script, want string }{
		{"syntax", "cases:\n  - steps: [", "s.yaml:2:"},
		{"unknown key", "cases:\n  - stepz: []\n", "s.yaml:2:5: unknown field"},
		{"unknown step", "cases:\n  - steps:\n      - say: x\n      - shout: y\n", `s.yaml:4:9: unknown field "shout"`},
		{"unknown in step", "cases:\n  - steps:\n      - write: {path: a, contents: b}\n", "s.yaml:3:26: unknown field"},
		{"two keys", "cases:\n  - steps:\n      - say: x\n        think: y\n", "one key, this one has 2"},
		{"regexp", "cases:\n  - match: '('\n", "s.yaml:2:12: \"(\" is not a valid regular expression"},
		{"delay", "cases:\n  - steps:\n      - sleep: soon\n", "s.yaml:3:16:"},
		{"class", "cases:\n  - steps:\n      - fail: {class: bad}\n", "s.yaml:3:9: \"bad\" is not a valid class"},
		{"signal", "cases:\n  - steps:\n      - crash: {signal: NOPE}\n", "s.yaml:3:9:"},
		{"verdict", "cases:\n  - steps:\n      - verdict: []\n", "s.yaml:3:9: verdict needs a command"},
		{"path", "cases:\n  - steps:\n      - write: {content: x}\n", "s.yaml:3:9: the path is missing"},
		{"type", "cases:\n  - session: many\n", "s.yaml:2:14"},
		{"role", "cases:\n  - role: boss\n", "\"boss\" is not a role"},
	} {
		_, err := Parse("s.yaml", []byte(c.script))
		if err == nil || !strings.Contains(err.Error(), c.want) || coppice.ErrorCode(err) != coppice.EInvalid {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("cases: [{match: x, steps: [{say: hi}, {ask: q}, {hang: deaf}, {sleep: 3}]}]"))
	f.Add([]byte("cases:\n  - steps:\n      - merge: {resolve: {a: b}}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Parse("s.yaml", b)
		if err == nil {
			s.find(input{Text: "x"})
		}
	})
}
