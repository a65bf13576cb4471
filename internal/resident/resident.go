// Package resident reduces the memory that the system counts for this process.
package resident

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// mapping is a part of the address space.
type mapping struct{ start, end uintptr }

// program returns the mappings of a file that the process only reads, and in which
// no page is its own: the code and the constants of a program. Pages of a mapping
// that was written before it became read-only cannot be read from the file again.
// The text is that of /proc/PID/smaps.
func program(smaps io.Reader, file string) ([]mapping, error) {
	var all []mapping
	var at *mapping // the mapping that the lines are about, if it is of the file
	lines := bufio.NewScanner(smaps)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) == 0 {
			continue
		}
		if name, isField := strings.CutSuffix(f[0], ":"); isField {
			if at != nil && name == "Anonymous" && len(f) > 1 && f[1] == "0" {
				all = append(all, *at)
			}
			continue
		}
		at = nil
		if len(f) < 6 || strings.Contains(f[1], "w") || strings.Join(f[5:], " ") != file {
			continue
		}
		first, last, _ := strings.Cut(f[0], "-")
		start, err := strconv.ParseUint(first, 16, 64)
		if err != nil {
			return nil, fmt.Errorf("reading the mappings: %w", err)
		}
		end, err := strconv.ParseUint(last, 16, 64)
		if err != nil || end <= start {
			return nil, fmt.Errorf("reading the mappings: %q is not a range", f[0])
		}
		at = &mapping{uintptr(start), uintptr(end)}
	}
	return all, lines.Err()
}
