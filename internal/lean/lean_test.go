package lean

import "testing"

func TestConstant(t *testing.T) {
	t.Parallel()
	const file = "/usr/local/bin/my program"
	for line, want := range map[string][2]uintptr{
		"00400000-01100000 r-xp 00000000 fe:00 12   /usr/local/bin/my program\n":           {0x400000, 0xd00000},
		"01100000-01200000 r--p 00d00000 fe:00 12   /usr/local/bin/my program\n":           {0x1100000, 0x100000},
		"01200000-01300000 rw-p 00e00000 fe:00 12   /usr/local/bin/my program\n":           {},
		"01200000-01300000 r--p 00e00000 fe:00 12   /usr/local/bin/program\n":              {},
		"01200000-01300000 r-xp 00e00000 fe:00 12   /usr/local/bin/my program (deleted)\n": {},
		"7f0000000000-7f0000001000 r--p 00000000 00:00 0\n":                                {},
		"": {},
	} {
		from, size, ok := constant(line, file)
		if ok != (want != [2]uintptr{}) || ok && [2]uintptr{from, size} != want {
			t.Errorf("%q: %x %x %t", line, from, size, ok)
		}
	}
}

// What was given back is there again when it is needed.
func TestNow(t *testing.T) {
	t.Parallel()
	for range 3 {
		Now()
		if s := []byte("constants are read again"); len(s) != 24 {
			t.Error(s)
		}
	}
}
