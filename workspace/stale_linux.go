package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// gitRunsIn reports whether a git process runs in a directory or below it.
func gitRunsIn(dir string) bool { return len(gitsIn(dir)) > 0 }

// gitsIn describes the git processes that run in a directory or below it.
func gitsIn(dir string) (found []string) {
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, l := range links {
		at, err := os.Readlink(l)
		if err != nil || at != dir && !strings.HasPrefix(at, dir+"/") {
			continue
		}
		name, err := os.ReadFile(filepath.Join(filepath.Dir(l), "comm"))
		if err == nil && strings.HasPrefix(string(name), "git") {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(l), "cmdline"))
			words := strings.Fields(strings.ReplaceAll(string(line), "\x00", " "))
			found = append(found, fmt.Sprintf("`%s` (process %s)", strings.Join(words[:min(len(words), 3)], " "), filepath.Base(filepath.Dir(l))))
		}
	}
	return found
}
