package repo

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// GitRunsIn reports whether a git process runs in a directory or below it.
func GitRunsIn(dir string) bool { return len(GitsIn(dir)) > 0 }

// GitsIn describes the git processes that run in a directory or below it.
func GitsIn(dir string) (found []string) {
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
