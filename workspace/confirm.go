package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"coppice"
	"coppice/internal/atomicfile"
	"coppice/workspace/git"
	"coppice/workspace/gitconfig"
	"coppice/workspace/gitfiles"
)

// The settings that the user confirmed are in a file beside Coppice's own
// repository; package gitconfig says which settings that concerns.

// Settings lists the settings of git that the person must confirm for the
// repository in dir, in a fixed order: settings that name programs, addresses or
// other files, and hooks.
func (w *Workspaces) Settings(ctx context.Context, dir string) ([]coppice.GitSetting, error) {
	r, err := w.find(ctx, dir)
	if err != nil {
		return nil, err
	}
	return w.settings(ctx, r)
}

func (w *Workspaces) settings(ctx context.Context, r repo) ([]coppice.GitSetting, error) {
	all, err := w.git.Settings(ctx, r.root)
	if err != nil {
		return nil, err
	}
	list := []coppice.GitSetting{}
	for _, s := range all {
		if gitconfig.MustConfirm(s.Key) && s.Scope != "command" {
			list = append(list, coppice.GitSetting(s))
		}
	}
	hooks := filepath.Join(r.user, "hooks")
	for _, name := range gitconfig.Hooks(hooks) {
		data, err := os.ReadFile(filepath.Join(hooks, name))
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(data)
		list = append(list, coppice.GitSetting{Scope: gitconfig.HookScope, Key: name, Value: hex.EncodeToString(sum[:8])})
	}
	return list, nil
}

func confirmedFile(dir string) string { return filepath.Join(dir, "git.json") }

// Confirm stores the settings that count for the repository in dir.
func (w *Workspaces) Confirm(ctx context.Context, dir string, settings []coppice.GitSetting) error {
	r, err := w.use(ctx, dir)
	if err != nil {
		return err
	}
	if settings == nil {
		settings = []coppice.GitSetting{}
	}
	return atomicfile.WriteJSON(confirmedFile(r.dir), settings)
}

// confirmed returns the settings that the person confirmed for a repository. Known
// is false if nobody has confirmed any.
func (w *Workspaces) confirmed(dir string) (list []git.Setting, known bool) {
	b, err := os.ReadFile(confirmedFile(dir))
	if err != nil {
		return nil, false
	}
	var settings []coppice.GitSetting
	if json.Unmarshal(b, &settings) != nil {
		return nil, false
	}
	for _, s := range settings {
		list = append(list, git.Setting(s))
	}
	return list, true
}

// workPrefix begins the name of every directory of a workspace.
const workPrefix = "coppice-"

// trust returns the confirmed settings for a directory in which git runs: a
// workspace, Coppice's own repository or the person's checkout. A workspace has
// the settings of the checkout, which are restored before git runs there.
func (w *Workspaces) trust(dir string) (list []git.Setting, known bool, as string) {
	if below, ok := strings.CutPrefix(dir, w.dir+string(filepath.Separator)); ok {
		name, rest, _ := strings.Cut(below, string(filepath.Separator))
		of := filepath.Join(w.dir, name)
		if strings.HasPrefix(rest, workPrefix) {
			if r, err := w.of(of); err == nil {
				as = r.root
			}
		}
		list, known = w.confirmed(of)
		return list, known, as
	}
	w.mu.Lock()
	var of string
	for _, r := range w.repos {
		if r.root == dir {
			of = r.dir
		}
	}
	w.mu.Unlock()
	if of == "" {
		return nil, false, ""
	}
	list, known = w.confirmed(of)
	return list, known, ""
}

// unconfirmed returns a need if settings changed since the person confirmed them.
// It returns nil if nobody has confirmed any yet.
func (w *Workspaces) unconfirmed(ctx context.Context, r repo) (*coppice.Need, error) {
	known, ok := w.confirmed(r.dir)
	if !ok {
		return nil, nil
	}
	now, err := w.settings(ctx, r)
	if err != nil {
		return nil, err
	}
	before := make([]coppice.GitSetting, len(known))
	for i, s := range known {
		before[i] = coppice.GitSetting(s)
	}
	diff := gitconfig.Diff(before, now)
	if diff == "" {
		return nil, nil
	}
	return &coppice.Need{
		Kind: coppice.NeedGit,
		Text: fmt.Sprintf("the git configuration of %s changed: it decides where work goes and which programs git runs", r.root),
		Fix:  "read the change, then confirm it with `coppice project add`, or undo it",
		Diff: diff,
	}, nil
}

// SettingsDiff lists the settings that were removed and added, or returns "".
func SettingsDiff(before, now []coppice.GitSetting) string { return gitconfig.Diff(before, now) }

// copyInfo copies the person's rules for ignored files and attributes that are
// outside of the tree into a repository of Coppice.
func copyInfo(r repo, gitDir string) error {
	for _, name := range []string{"exclude", "attributes"} {
		from := filepath.Join(r.user, "info", name)
		if !exists(from) {
			continue
		}
		data, err := gitfiles.ReadRegular(from, 1<<20)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, gitfiles.ErrUseGit) {
			continue
		}
		if err != nil {
			return err
		}
		if err := writeFiles(gitDir, map[string]string{"info/" + name: string(data)}); err != nil {
			return err
		}
	}
	return nil
}
