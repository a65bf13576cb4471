package repo

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
// other files, and hooks. They have no credentials.
func (rs *Repos) Settings(ctx context.Context, dir string) ([]coppice.GitSetting, error) {
	r, err := rs.Find(ctx, dir)
	if err != nil {
		return nil, err
	}
	return rs.settings(ctx, r)
}

func (rs *Repos) settings(ctx context.Context, r Repo) ([]coppice.GitSetting, error) {
	all, err := rs.Git.Settings(ctx, r.Root)
	if err != nil {
		return nil, err
	}
	list := []coppice.GitSetting{}
	for _, s := range all {
		if gitconfig.MustConfirm(s.Key) && s.Scope != "command" {
			list = append(list, coppice.GitSetting(gitconfig.Public(s)))
		}
	}
	hooks := filepath.Join(r.User, "hooks")
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
func (rs *Repos) Confirm(ctx context.Context, dir string, settings []coppice.GitSetting) error {
	r, err := rs.Use(ctx, dir)
	if err != nil {
		return err
	}
	return writeConfirmed(r.Dir, settings)
}

func writeConfirmed(dir string, settings []coppice.GitSetting) error {
	list := []coppice.GitSetting{}
	for _, s := range settings {
		list = append(list, coppice.GitSetting(gitconfig.Public(git.Setting(s))))
	}
	return atomicfile.WriteJSON(confirmedFile(dir), list)
}

// Confirmed returns the settings that the person confirmed for a repository. Known
// is false if nobody has confirmed any.
func (rs *Repos) Confirmed(dir string) (list []git.Setting, known bool) {
	b, err := os.ReadFile(confirmedFile(dir))
	if err != nil {
		return nil, false
	}
	var settings []coppice.GitSetting
	if json.Unmarshal(b, &settings) != nil {
		return nil, false
	}
	secret := false
	for _, s := range settings {
		list = append(list, gitconfig.Public(git.Setting(s)))
		secret = secret || gitconfig.HasCredentials(git.Setting(s))
	}
	if secret { // an earlier version wrote it; if this fails, the next read tries again
		_ = writeConfirmed(dir, settings)
	}
	return list, true
}

// WorkPrefix begins the name of every directory of a workspace.
const WorkPrefix = coppice.WorkspacePrefix

// Trust returns the confirmed settings for a directory in which git runs: a
// workspace, Coppice's own repository or the person's checkout. A workspace has
// the settings of the checkout, which are restored before git runs there.
func (rs *Repos) Trust(dir string) (list []git.Setting, known bool, as string) {
	if below, ok := strings.CutPrefix(dir, rs.Dir+string(filepath.Separator)); ok {
		name, rest, _ := strings.Cut(below, string(filepath.Separator))
		of := filepath.Join(rs.Dir, name)
		if strings.HasPrefix(rest, WorkPrefix) {
			if r, err := rs.Of(of); err == nil {
				as = r.Root
			}
		}
		list, known = rs.Confirmed(of)
		return list, known, as
	}
	rs.mu.Lock()
	var of string
	for _, r := range rs.found {
		if r.Root == dir {
			of = r.Dir
		}
	}
	rs.mu.Unlock()
	if of == "" {
		return nil, false, ""
	}
	list, known = rs.Confirmed(of)
	return list, known, ""
}

// Unconfirmed returns a need if settings changed since the person confirmed them.
// It returns nil if nobody has confirmed any yet.
func (rs *Repos) Unconfirmed(ctx context.Context, r Repo) (*coppice.Need, error) {
	known, ok := rs.Confirmed(r.Dir)
	if !ok {
		return nil, nil
	}
	now, err := rs.settings(ctx, r)
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
		Text: fmt.Sprintf("the git configuration of %s changed: it decides where work goes and which programs git runs", r.Root),
		Fix:  "read the change, then confirm it with `coppice project add`, or undo it",
		Diff: diff,
	}, nil
}

// CopyInfo copies the person's rules for ignored files and attributes that are
// outside of the tree into a repository of Coppice.
func CopyInfo(r Repo, gitDir string) error {
	for _, name := range []string{"exclude", "attributes"} {
		from := filepath.Join(r.User, "info", name)
		if !Exists(from) {
			continue
		}
		data, err := gitfiles.ReadRegular(from, 1<<20)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, gitfiles.ErrUseGit) {
			continue
		}
		if err != nil {
			return err
		}
		if err := WriteFiles(gitDir, map[string]string{"info/" + name: string(data)}); err != nil {
			return err
		}
	}
	return nil
}
