package cli

import "testing"

func TestDetachKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in, typed string
		detach    bool
	}{
		{"hello", "hello", false},
		{"a\x1cdb", "a", true},
		{"\x1c\x1cd", "\x1cd", false}, // typed twice, it is sent one time
		{"\x1cx", "\x1cx", false},     // it was meant for the program
		{"d\x1c", "d", false},
		{"\x03\x04\x1b", "\x03\x04\x1b", false},
	} {
		for cut := range len(c.in) + 1 {
			prefix := false
			typed, detach := detachIn([]byte(c.in[:cut]), &prefix)
			if !detach {
				var more []byte
				more, detach = detachIn([]byte(c.in[cut:]), &prefix)
				typed = append(typed, more...)
			}
			if string(typed) != c.typed || detach != c.detach {
				t.Errorf("%q cut at %d: typed %q, detach %v", c.in, cut, typed, detach)
			}
		}
	}
}
