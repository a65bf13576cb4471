package git

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"coppice/internal/environ"
)

// memory remembers settings while their files are the same. Worktrees of one
// repository share them.
type memory struct {
	files []string // of the person

	mu   sync.Mutex
	seen map[string][]Setting // by print
}

// maxRemembered is how many sets of settings are remembered.
const maxRemembered = 256

func newMemory(env []string) *memory {
	m := &memory{seen: map[string][]Setting{}}
	if file := environ.Get(env, "GIT_CONFIG_GLOBAL"); file != "" {
		m.files = []string{file}
		return m
	}
	m.files = []string{filepath.Join(environ.Get(env, "HOME"), ".gitconfig"), filepath.Join(userConfig(env), "git", "config")}
	return m
}

// userConfig returns the directory of the person's configuration files.
func userConfig(env []string) string {
	return cmp.Or(environ.Get(env, "XDG_CONFIG_HOME"), filepath.Join(environ.Get(env, "HOME"), ".config"))
}

// print describes the configuration files that count in dir, and reports whether they
// can be remembered. That is possible only for the root of a checkout.
func (m *memory) print(dir string, now time.Time) (string, bool) {
	admin := filepath.Join(dir, ".git")
	st, err := os.Lstat(admin)
	if err != nil {
		return "", false
	}
	common := admin
	if st.Mode().IsRegular() {
		b, err := os.ReadFile(admin)
		to, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "gitdir: ")
		if err != nil || !ok || !filepath.IsAbs(to) {
			return "", false
		}
		b, err = os.ReadFile(filepath.Join(to, "commondir"))
		if err != nil {
			return "", false
		}
		admin, common = to, strings.TrimSpace(string(b))
		if !filepath.IsAbs(common) {
			common = filepath.Join(admin, common)
		}
	} else if !st.IsDir() {
		return "", false
	}
	var b strings.Builder
	for _, f := range append([]string{filepath.Join(common, "config"), filepath.Join(admin, "config.worktree")}, m.files...) {
		st, err := os.Stat(f)
		if os.IsNotExist(err) {
			continue // the description changes when it is created
		}
		if err != nil {
			return "", false
		}
		sys, ok := st.Sys().(*syscall.Stat_t)
		if !ok || now.Sub(changed(sys)) < settled {
			return "", false
		}
		fmt.Fprintf(&b, "%s %d %d %d %d\n", f, sys.Ino, st.Size(), st.ModTime().UnixNano(), changed(sys).UnixNano())
	}
	return b.String(), true
}

func (m *memory) recall(print string) ([]Setting, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	list, ok := m.seen[print]
	return list, ok
}

// keep remembers settings, unless they depend on more than these files: an include
// reads others, and may depend on the branch.
func (m *memory) keep(print string, list []Setting) {
	for _, s := range list {
		if strings.HasPrefix(s.Key, "include") {
			return
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.seen) >= maxRemembered {
		m.seen = map[string][]Setting{}
	}
	m.seen[print] = list
}
