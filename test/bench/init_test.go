package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// What the initialization of packages can allocate, in bytes. A host takes this memory
// as long as its session lives.
const (
	mostInitHost    = 510_000
	mostInitProgram = 920_000
)

// TestInit bounds what the packages of the program allocate before it does anything.
func TestInit(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "coppice")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "coppice/cmd/coppice")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is released
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, c := range map[string]struct {
		args []string
		exit int
		most int
	}{
		"host":    {[]string{"host", filepath.Join(t.TempDir(), "missing")}, 1, mostInitHost},
		"program": {[]string{"version"}, 0, mostInitProgram},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), program, c.args...)
			cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
			var trace strings.Builder
			cmd.Stderr = &trace
			err := cmd.Run()
			if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != c.exit) || err == nil && c.exit != 0 {
				t.Fatalf("%v: %s", err, trace.String())
			}
			if problem := aboveInit(trace.String(), c.most); problem != "" {
				t.Error(problem)
			}
		})
	}
}

func TestInitCanBreak(t *testing.T) {
	t.Parallel()
	const trace = "init errors @0.5 ms, 0.001 ms clock, 5 bytes, 1 allocs\nlog line\ninit a/large @1 ms, 0.1 ms clock, 70 bytes, 3 allocs\ninit b @1 ms, 0 ms clock, 30 bytes, 2 allocs\n"
	if got := aboveInit(trace, 105); got != "" {
		t.Error(got)
	}
	if got := aboveInit(trace, 104); !strings.Contains(got, "105 bytes, 104 are allowed") || !strings.Contains(got, "a/large 70, b 30, errors 5") {
		t.Error(got)
	}
	if got := aboveInit("no trace\n", 104); !strings.Contains(got, "no packages") {
		t.Error(got)
	}
}

var initLine = regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) bytes, \d+ allocs$`)

// aboveInit says by how much the packages of a trace allocated more than allowed, and
// names the largest; empty if they did not.
func aboveInit(trace string, most int) string {
	sizes, all := map[string]int{}, 0
	for _, m := range initLine.FindAllStringSubmatch(trace, -1) {
		n, _ := strconv.Atoi(m[2]) // the pattern accepts only digits
		sizes[m[1]] += n
		all += n
	}
	switch {
	case len(sizes) == 0:
		return "the trace has no packages: " + trace
	case all <= most:
		return ""
	}
	names := slices.SortedFunc(maps.Keys(sizes), func(a, b string) int { return cmp.Or(sizes[b]-sizes[a], strings.Compare(a, b)) })
	var largest []string
	for _, name := range names[:min(len(names), 12)] {
		largest = append(largest, fmt.Sprintf("%s %d", name, sizes[name]))
	}
	return fmt.Sprintf("the initialization of packages allocates %d bytes, %d are allowed; the largest: %s", all, most, strings.Join(largest, ", "))
}
