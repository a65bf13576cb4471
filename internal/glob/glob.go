// Package glob compares paths of a repository with patterns.
package glob

import (
	"path"
	"strings"
)

// Matches reports whether a pattern matches a path, its last part, or a directory
// above it.
func Matches(p string, patterns []string) bool {
	for _, pattern := range patterns {
		pattern = strings.TrimSuffix(strings.TrimSuffix(pattern, "/**"), "/")
		for q := p; q != "." && q != "/"; q = path.Dir(q) {
			if ok, err := path.Match(pattern, q); err == nil && ok {
				return true
			}
			if ok, err := path.Match(pattern, path.Base(q)); err == nil && ok {
				return true
			}
		}
	}
	return false
}
