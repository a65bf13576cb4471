package workspace

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"coppice"
)

// The states of a slot. Crashes leave one of the two in between, and whoever
// comes next with the same key goes on from there.
const (
	slotMaking   = "making"   // belongs to a key, not usable yet
	slotReady    = "ready"    // belongs to a key
	slotRemoving = "removing" // its trash is written or being written
	slotIdle     = "idle"     // belongs to nobody and is clean
)

// slot is one worktree of the pool. Its directory never moves, so a task's path
// stays the same. What it is used for stands in a file beside it, outside of
// the agents' reach by accident.
type slot struct {
	Name    string   `json:"name"`
	State   string   `json:"state"`
	Key     string   `json:"key,omitempty"`
	Branch  string   `json:"branch,omitempty"`
	Base    string   `json:"base,omitempty"` // commit
	Seen    string   `json:"seen,omitempty"` // of a session that only looks: a tree of the tracked files as it found them
	Ports   []int    `json:"ports,omitempty"`
	Given   []string `json:"given,omitempty"` // paths copied or linked in, never committed
	SetUp   bool     `json:"set_up,omitempty"`
	Made    bool     `json:"made,omitempty"` // checked out once
	Head    string   `json:"head,omitempty"` // while removing: what the trash keeps
	Ref     string   `json:"ref,omitempty"`
	Archive string   `json:"archive,omitempty"`
	Tidy    bool     `json:"tidy,omitempty"`  // while removing: it has the files of Head and no other
	Clean   bool     `json:"clean,omitempty"` // while idle: cleaned since its last use
	Claim   string   `json:"claim,omitempty"` // while making: whose claim found it clean; empty once anybody else was at it
}

const workPrefix, checkPrefix = "coppice-", "coppice-check-"

func (r repo) path(s slot) string     { return filepath.Join(r.dir, s.Name) }
func (r repo) metaFile(s slot) string { return filepath.Join(r.dir, s.Name+".json") }
func (r repo) slotLock(s slot) string { return filepath.Join(r.dir, s.Name+".lock") }

func (w *Workspaces) writeSlot(r repo, s slot) error {
	return writeJSON(r.metaFile(s), s)
}

// writeJSON replaces a file as a whole, readable by the user only.
func writeJSON(path string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err := f.Write(b); err != nil {
		f.Close()
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// slots lists the repository's slots, in order of their names.
func (w *Workspaces) slots(r repo) ([]slot, error) {
	entries, err := os.ReadDir(r.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []slot
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || !strings.HasPrefix(name, workPrefix) {
			continue
		}
		s, err := readSlot(filepath.Join(r.dir, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || s.Name != name {
			return nil, fmt.Errorf("reading the workspace file %s: %w", e.Name(), errors.Join(err, errNamed(s.Name != name)))
		}
		list = append(list, s)
	}
	return list, nil
}

func errNamed(wrong bool) error {
	if wrong {
		return errors.New("it names another workspace")
	}
	return nil
}

func readSlot(file string) (slot, error) {
	var s slot
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	return s, err
}

// owned returns the slot of a key, if there is one.
func (w *Workspaces) owned(r repo, key string) (slot, bool, error) {
	list, err := w.slots(r)
	if err != nil {
		return slot{}, false, err
	}
	for _, s := range list {
		if s.Key == key && s.State != slotIdle {
			return s, true, nil
		}
	}
	return slot{}, false, nil
}

// byPath returns the repository directory and slot of a workspace's path.
func (w *Workspaces) byPath(path string) (repo, slot, error) {
	clean := filepath.Clean(path)
	r := repo{dir: filepath.Dir(clean)}
	if filepath.Dir(r.dir) == w.dir {
		s, err := readSlot(filepath.Join(r.dir, filepath.Base(clean)+".json"))
		if err == nil && s.State != slotIdle && !strings.HasPrefix(s.Name, checkPrefix) {
			return r, s, nil
		}
	}
	return repo{}, slot{}, coppice.Errorf(coppice.ENotFound, "%s is no workspace", coppice.Quote(path)).WithFix("prepare it again")
}

// claim gives the key a slot: its own, an idle one, or a new one, in this
// order. It is registered with git when claim returns; no file is checked out.
func (w *Workspaces) claim(ctx context.Context, r repo, want slot, commit string) (slot, error) {
	unlock, err := w.lock(ctx, r.lockFile())
	if err != nil {
		return slot{}, err
	}
	defer unlock()
	list, err := w.slots(r)
	if err != nil {
		return slot{}, err
	}
	var got *slot
	taken := map[string]bool{}
	for i, s := range list {
		taken[s.Name] = true
		if strings.HasPrefix(s.Name, checkPrefix) {
			continue
		}
		if s.State != slotIdle && s.Key == want.Key {
			got = &list[i]
			break
		}
		if s.State == slotIdle && got == nil {
			got = &list[i]
		}
	}
	switch {
	case got != nil && got.State != slotIdle:
		want = *got
	case got != nil:
		want.Name, want.Made, want.Claim = got.Name, got.Made, rand.Text()
	default:
		want.Name = freeName(workPrefix, taken)
	}
	if got == nil || got.State == slotIdle {
		want.State = slotMaking
		if err := w.writeSlot(r, want); err != nil {
			return slot{}, err
		}
	}
	if err := w.step("claimed"); err != nil {
		return slot{}, err
	}
	// Only this caller knows that nothing was done in it since.
	want.Clean = got != nil && got.State == slotIdle && got.Clean
	return want, w.register(ctx, r, want, commit)
}

func freeName(prefix string, taken map[string]bool) string {
	for i := 1; ; i++ {
		if name := fmt.Sprintf("%s%03d", prefix, i); !taken[name] {
			return name
		}
	}
}

// register makes git know the worktree. It must be called under the
// repository's lock: git's own registration races with itself. It is forced,
// because a crash can leave it registered and locked without its directory.
func (w *Workspaces) register(ctx context.Context, r repo, s slot, commit string) error {
	path := r.path(s)
	if _, err := adminDir(path); err == nil {
		return nil
	}
	// Without a link to git there is nothing in it that a commit or the trash
	// could have kept; a directory that was in use is put aside, not deleted.
	if _, err := os.Lstat(path); err == nil {
		aside := filepath.Join(w.trash, fmt.Sprintf("%s-%s-%d", filepath.Base(r.dir), s.Name, w.now().UnixNano()))
		if empty, _ := isEmpty(path); empty || !s.Made {
			err = os.RemoveAll(path)
		} else {
			w.log.WarnContext(ctx, "workspace lost its link to git and is put aside", "path", path, "to", aside)
			err = os.Rename(path, aside)
		}
		if err != nil {
			return err
		}
	}
	if notePlainly(r.git, path, commit) != nil {
		_, err := w.git.Run(ctx, r.root, "worktree", "add", "--force", "--force", "--no-checkout", "--detach", path, commit)
		if err != nil {
			return fmt.Errorf("registering a worktree: %w", err)
		}
	}
	return w.step("registered")
}

func isEmpty(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	return len(entries) == 0, err
}

// adminDir returns git's own directory of a worktree. It is read from the file
// git put there and believed only if that directory points back: an agent can
// rewrite the file.
func adminDir(path string) (string, error) {
	b, err := os.ReadFile(filepath.Join(path, ".git"))
	if err != nil {
		return "", err
	}
	dir, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "gitdir: ")
	if !ok || !filepath.IsAbs(dir) {
		return "", errors.New("the workspace's .git file is damaged")
	}
	back, err := os.ReadFile(filepath.Join(dir, "gitdir"))
	if err != nil {
		return "", err
	}
	if strings.TrimSpace(string(back)) != filepath.Join(path, ".git") {
		return "", errors.New("the workspace's .git file points to another worktree")
	}
	if _, err := os.Stat(filepath.Join(dir, "HEAD")); err != nil {
		return "", err
	}
	return dir, nil
}
