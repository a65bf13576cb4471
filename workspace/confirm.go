package workspace

import (
	"context"
	"strings"

	"coppice"
)

// confirmed names the sections and keys of git's configuration that name a
// program, an address or another file.
var confirmed = []string{
	"remote.", "url.", "filter.", "include.", "includeif.", "credential.", "http.", "lfs.", "core.sshcommand", "core.hookspath", "core.gitproxy",
}

// Settings lists the settings of a repository that count only once a person has
// confirmed them, in git's order.
func (w *Workspaces) Settings(ctx context.Context, dir string) ([]coppice.GitSetting, error) {
	r, err := w.find(ctx, dir)
	if err != nil {
		return nil, err
	}
	list, err := w.git.Settings(ctx, r.root)
	if err != nil {
		return nil, err
	}
	out := []coppice.GitSetting{}
	for _, s := range list {
		if needsConfirmation(s.Key) {
			out = append(out, coppice.GitSetting{Scope: s.Scope, Key: s.Key, Value: s.Value})
		}
	}
	return out, nil
}

func needsConfirmation(key string) bool {
	for _, c := range confirmed {
		if key == c || strings.HasSuffix(c, ".") && strings.HasPrefix(key, c) {
			return true
		}
	}
	return strings.HasPrefix(key, "submodule.") && strings.HasSuffix(key, ".url")
}

// Confirm makes settings count.
func (w *Workspaces) Confirm(ctx context.Context, dir string, _ []coppice.GitSetting) error {
	_, err := w.find(ctx, dir)
	return err
}
