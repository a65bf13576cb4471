package resident

import (
	"slices"
	"strings"
	"testing"
)

// Only parts of the program's file that nobody wrote to are released: a page that
// differs from the file would be lost.
func TestProgram(t *testing.T) {
	t.Parallel()
	const smaps = `00400000-013e2000 r-xp 00000000 fe:00 12 /opt/the program
Size:              16264 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me
013e2000-02210000 r--p 00fe2000 fe:00 12 /opt/the program
Anonymous:             0 kB
02210000-02308000 rw-p 01e10000 fe:00 12 /opt/the program
Anonymous:             0 kB
02308000-02400000 r--p 01f10000 fe:00 12 /opt/the program
Anonymous:             8 kB
7f00-7f10 r-xp 00000000 fe:00 13 /opt/another
Anonymous:             0 kB
c000-d000 r--p 00000000 00:00 0
Anonymous:             0 kB
`
	got, err := program(strings.NewReader(smaps), "/opt/the program")
	want := []mapping{{0x400000, 0x13e2000}, {0x13e2000, 0x2210000}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%x, %v, not %x", got, err, want)
	}
	if _, err := program(strings.NewReader("zz-1 r-xp 0 0 0 /opt/p\n"), "/opt/p"); err == nil {
		t.Error("a text that is not of the kernel is accepted")
	}
}

// The program runs after its pages were released.
func TestReleaseProgram(t *testing.T) {
	t.Parallel()
	for range 3 {
		if err := ReleaseProgram(); err != nil {
			t.Fatal(err)
		}
	}
}
