package workspace

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"coppice"
	"coppice/internal/atomicfile"
	"coppice/workspace/git"
	"coppice/workspace/gitfiles"
)

// An agent can write the person's configuration of git: it has the person's
// rights. So settings that name a program, an address or another file count only
// as the person confirmed them. The confirmed ones are in a file beside
// Coppice's own repository.

// decisive tells whether a setting must be confirmed before Coppice goes by it.
func decisive(key string) bool {
	section, _, _ := strings.Cut(key, ".")
	switch section {
	case "remote", "url", "filter", "include", "includeif", "credential", "http", "https", "lfs", "ssh", "protocol", "gpg", "trailer":
		return true
	case "submodule":
		return strings.HasSuffix(key, ".url") || strings.HasSuffix(key, ".update")
	}
	switch key {
	case "core.sshcommand", "core.hookspath", "core.gitproxy", "core.askpass", "core.attributesfile", "core.excludesfile", "core.worktree", "core.fsmonitor":
		return true
	}
	return false
}

// hookScope marks a setting that is a hook: its key is the hook's name, and its
// value a digest of the program.
const hookScope = "hook"

// hooksIn lists the hooks in a directory, without git's samples.
func hooksIn(dir string) []string {
	entries, _ := os.ReadDir(dir)
	var names []string
	for _, e := range entries {
		if !e.IsDir() && !strings.HasSuffix(e.Name(), ".sample") {
			names = append(names, e.Name())
		}
	}
	return names
}

// Settings lists what the person must confirm of the git configuration that
// holds for the repository in dir, in a fixed order: settings that name
// programs, addresses or other files, and hooks.
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
		if decisive(s.Key) && s.Scope != "command" {
			list = append(list, coppice.GitSetting(s))
		}
	}
	hooks := filepath.Join(r.user, "hooks")
	for _, name := range hooksIn(hooks) {
		data, err := os.ReadFile(filepath.Join(hooks, name))
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(data)
		list = append(list, coppice.GitSetting{Scope: hookScope, Key: name, Value: hex.EncodeToString(sum[:8])})
	}
	return list, nil
}

func confirmedFile(dir string) string { return filepath.Join(dir, "git.json") }

// Confirm makes these the settings that count for the repository in dir.
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

// confirmed returns the settings that the person confirmed for a repository; it
// is not known while nobody has.
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

// trust finds the confirmed settings for a directory in which git runs: a
// workspace, Coppice's own repository or the person's checkout. A workspace has
// the settings of the checkout: they are put back before git runs there.
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

// unconfirmed says what changed in the settings since the person confirmed them;
// nil when nothing did, or when nobody has confirmed any yet.
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
	diff := SettingsDiff(before, now)
	if diff == "" {
		return nil, nil
	}
	return &coppice.Need{
		Kind: coppice.NeedGit,
		Text: fmt.Sprintf("the git configuration of %s changed in what decides where work goes and which programs run", r.root),
		Fix:  "look at the change, then confirm it with `coppice project add`, or undo it",
		Diff: diff,
	}, nil
}

// SettingsDiff lists what was removed and added; empty when nothing was. A value
// may hold a password, so what looks like one in an address is left out.
func SettingsDiff(before, now []coppice.GitSetting) string {
	count := map[coppice.GitSetting]int{}
	for _, s := range before {
		count[s]--
	}
	for _, s := range now {
		count[s]++
	}
	var changed []coppice.GitSetting
	for s, n := range count {
		if n != 0 {
			changed = append(changed, s)
		}
	}
	slices.SortFunc(changed, func(a, b coppice.GitSetting) int {
		return cmp.Or(strings.Compare(a.Scope, b.Scope), strings.Compare(a.Key, b.Key), count[a]-count[b], strings.Compare(a.Value, b.Value))
	})
	var b strings.Builder
	for _, s := range changed {
		sign := "+"
		if count[s] < 0 {
			sign = "-"
		}
		fmt.Fprintf(&b, "%s %s: %s = %s\n", sign, s.Scope, s.Key, coppice.Quote(withoutPassword(s.Value)))
	}
	return b.String()
}

// withoutPassword hides the password in an address.
func withoutPassword(value string) string {
	scheme, rest, ok := strings.Cut(value, "://")
	if !ok {
		return value
	}
	who, host, ok := strings.Cut(rest, "@")
	if !ok || strings.Contains(who, "/") {
		return value
	}
	if name, _, secret := strings.Cut(who, ":"); secret {
		who = name + ":***"
	}
	return scheme + "://" + who + "@" + host
}

// copyInfo gives a repository of ours the person's rules for ignored files and
// attributes, which are kept outside of the tree.
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
