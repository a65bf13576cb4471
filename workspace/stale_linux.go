package workspace

import (
	"os"
	"path/filepath"
	"strings"
)

// gitRunsIn tells whether a git process is at work in a directory or below it.
func gitRunsIn(dir string) bool {
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, l := range links {
		at, err := os.Readlink(l)
		if err != nil || at != dir && !strings.HasPrefix(at, dir+"/") {
			continue
		}
		name, err := os.ReadFile(filepath.Join(filepath.Dir(l), "comm"))
		if err == nil && strings.HasPrefix(string(name), "git") {
			return true
		}
	}
	return false
}
