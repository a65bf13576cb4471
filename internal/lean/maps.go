package lean

import (
	"strconv"
	"strings"
)

// constant returns where a line of /proc/self/maps has a part of a file that
// cannot be written to.
func constant(line, file string) (from, size uintptr, ok bool) {
	f := strings.Fields(line)
	if len(f) < 6 || !strings.HasSuffix(strings.TrimSuffix(line, "\n"), " "+file) || f[1] != "r-xp" && f[1] != "r--p" {
		return 0, 0, false
	}
	first, last, _ := strings.Cut(f[0], "-")
	a, err := strconv.ParseUint(first, 16, 64)
	if err != nil {
		return 0, 0, false
	}
	z, err := strconv.ParseUint(last, 16, 64)
	return uintptr(a), uintptr(z - a), err == nil && z > a
}
