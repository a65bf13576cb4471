package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// plain are the settings that decide how git writes files to a checkout or reads
// them, with the value with which a file has the bytes of its blob. A setting
// without a value must not be set.
var plain = map[string]string{
	"core.autocrlf": "false", "core.eol": "", "core.symlinks": "true", "core.filemode": "true", "core.ignorecase": "false", "core.attributesfile": "",
	"core.sparsecheckout": "false", "core.precomposeunicode": "false", "core.worktree": "", "core.sharedrepository": "",
}

// WritesPlainFiles reports whether files of the checkout in dir have the bytes of
// their blobs, as far as settings and attributes outside of the repository decide
// that.
func (r *Runner) WritesPlainFiles(ctx context.Context, dir string) bool {
	list, err := r.Settings(ctx, dir)
	if err != nil {
		return false
	}
	for _, s := range list {
		if value, decides := plain[s.Key]; decides && !strings.EqualFold(s.Value, value) {
			return false
		}
	}
	for _, file := range r.attributes {
		if _, err := os.Lstat(file); !os.IsNotExist(err) {
			return false
		}
	}
	return true
}

// attributeFiles returns where git reads attributes that hold for all repositories:
// the user's file, and the one of the system, which is beside git's program.
func attributeFiles(program, userConfig string) []string {
	files := []string{filepath.Join(userConfig, "git", "attributes"), "/etc/gitattributes"}
	if real, err := filepath.EvalSymlinks(program); err == nil {
		files = append(files, filepath.Join(filepath.Dir(filepath.Dir(real)), "etc", "gitattributes"))
	}
	return files
}
