// Package gitconfig decides which settings of git count in repositories of Coppice.
//
// An agent has the user's rights, so it can write the user's configuration of git.
// Settings that name a program, an address or another file therefore count only as
// the user confirmed them.
package gitconfig

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"coppice"
	"coppice/workspace/git"
)

// Set returns a setting.
func Set(key, value string) git.Setting { return git.Setting{Key: key, Value: value} }

// Needed returns the settings without which git cannot read the user's objects:
// their format, and where a partial clone gets missing objects from.
func Needed(settings []git.Setting) []git.Setting {
	version, promisor := "0", map[string]bool{}
	for _, s := range settings {
		if section, rest, _ := strings.Cut(s.Key, "."); section == "remote" && strings.HasSuffix(rest, ".promisor") {
			promisor[strings.TrimSuffix(s.Key, "promisor")] = true
		}
	}
	var list []git.Setting
	for _, s := range settings {
		if s.Scope != "local" && s.Scope != "worktree" {
			continue
		}
		name := s.Key[strings.LastIndexByte(s.Key, '.')+1:]
		switch {
		case s.Key == "extensions.objectformat" || s.Key == "extensions.partialclone":
			version = "1"
			list = append(list, s)
		case promisor[strings.TrimSuffix(s.Key, name)]:
			list = append(list, s)
		}
	}
	return append([]git.Setting{Set("core.repositoryformatversion", version)}, list...)
}

// Render returns the text of a configuration file of git.
func Render(settings []git.Setting) string {
	var b strings.Builder
	for _, s := range settings {
		section, rest, _ := strings.Cut(s.Key, ".")
		name := rest
		if dot := strings.LastIndexByte(rest, '.'); dot >= 0 {
			name = rest[dot+1:]
			section = fmt.Sprintf("%s \"%s\"", section, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(rest[:dot]))
		}
		value := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`).Replace(s.Value)
		fmt.Fprintf(&b, "[%s]\n\t%s = \"%s\"\n", section, name, value)
	}
	return b.String()
}

// IsLocal reports whether a setting says where and how the user's repository is
// stored. Other repositories must not have it.
func IsLocal(key string) bool {
	section, _, _ := strings.Cut(key, ".")
	switch section {
	case "extensions", "include", "includeif", "gc", "maintenance", "index", "receive", "worktree", "pack", "repack":
		return true
	}
	switch key {
	case "core.bare", "core.worktree", "core.repositoryformatversion", "core.splitindex", "core.fsmonitor", "core.untrackedcache", "core.sparsecheckout",
		"core.sparsecheckoutcone", "core.hookspath", "core.sharedrepository", "core.logallrefupdates", "core.ignorestat", "core.fsync", "core.alternaterefscommand",
		"core.alternaterefsprefixes", "core.trustctime", "core.checkstat":
		return true
	}
	return false
}

// ForWorkspace returns the configuration of a workspace's repository: the settings
// of the user's repository that are about the work. Of those that must be
// confirmed, it has the confirmed ones if known is true. It reports whether the
// checkout is sparse. User is the git directory of the user's repository.
func ForWorkspace(user string, settings, confirmed []git.Setting, known bool) (config string, sparse bool) {
	list := append(Needed(settings), Set("core.bare", "false"), Set("core.logallrefupdates", "true"), Set("gc.auto", "0"), Set("maintenance.auto", "false"),
		// Objects of a workspace are copied, and synced, when it is saved.
		Set("core.fsync", "none"))
	have := map[string]bool{}
	for _, s := range list {
		have[s.Key] = true
	}
	cone := false
	hooks := filepath.Join(user, "hooks")
	take := func(s git.Setting) {
		if (s.Scope == "local" || s.Scope == "worktree") && !IsLocal(s.Key) && !have[s.Key] {
			list = append(list, s)
		}
	}
	for _, s := range settings {
		local := s.Scope == "local" || s.Scope == "worktree"
		switch {
		case local && s.Key == "core.sparsecheckout":
			sparse = isTrue(s.Value)
		case local && s.Key == "core.sparsecheckoutcone":
			cone = isTrue(s.Value)
		case s.Key == "core.hookspath" && local && !known:
			hooks = s.Value
		case !known || !MustConfirm(s.Key):
			take(s)
		}
	}
	for _, s := range confirmed {
		if s.Key == "core.hookspath" && s.Scope != "global" && s.Scope != "system" {
			hooks = s.Value
		}
		take(s)
	}
	if _, err := os.Lstat(filepath.Join(user, "lfs")); err == nil && !have["lfs.storage"] {
		list = append(list, Set("lfs.storage", filepath.Join(user, "lfs")))
	}
	if hooks != filepath.Join(user, "hooks") || len(Hooks(hooks)) > 0 {
		list = append(list, Set("core.hookspath", hooks))
	}
	if sparse {
		list = append(list, Set("core.sparsecheckout", "true"), Set("core.sparsecheckoutcone", fmt.Sprint(cone)))
	}
	return Render(ForFile(list)), sparse
}

func isTrue(s string) bool {
	switch strings.ToLower(s) {
	case "true", "yes", "on", "1":
		return true
	}
	return false
}

// MustConfirm reports whether a setting counts only after the user confirmed it.
func MustConfirm(key string) bool {
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

// HookScope is the scope of a setting that is a hook. Its key is the hook's name,
// and its value a digest of the program.
const HookScope = "hook"

// Hooks lists the hooks in a directory, without git's samples.
func Hooks(dir string) []string {
	entries, _ := os.ReadDir(dir)
	var names []string
	for _, e := range entries {
		if !e.IsDir() && !strings.HasSuffix(e.Name(), ".sample") {
			names = append(names, e.Name())
		}
	}
	return names
}

// Diff lists the settings that were removed and added, or returns "". It leaves
// credentials out.
func Diff(before, now []coppice.GitSetting) string {
	count := map[coppice.GitSetting]int{}
	for _, s := range before {
		count[public(s)]--
	}
	for _, s := range now {
		count[public(s)]++
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
		fmt.Fprintf(&b, "%s %s: %s = %s\n", sign, s.Scope, s.Key, coppice.Quote(s.Value))
	}
	return b.String()
}

func public(s coppice.GitSetting) coppice.GitSetting {
	return coppice.GitSetting(Public(git.Setting(s)))
}
