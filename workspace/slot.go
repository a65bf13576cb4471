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
	"slices"
	"strings"

	"coppice"
	"coppice/internal/atomicfile"
	"coppice/workspace/landing"
	"coppice/workspace/repo"
)

// The states of a slot. After a crash it is making or removing, and the next caller
// with the same key continues from there.
const (
	slotMaking   = "making"   // belongs to a key, not usable yet
	slotReady    = "ready"    // belongs to a key
	slotRemoving = "removing" // its trash is written, or will be
	slotIdle     = "idle"     // belongs to no key and is clean
)

// slot is one workspace of the pool. Its directory never moves, so a task's path
// stays the same. Its state is in a file beside the directory, where an agent does
// not write by accident.
type slot struct {
	Name    string   `json:"name"`
	State   string   `json:"state"`
	Key     string   `json:"key,omitempty"`
	Branch  string   `json:"branch,omitempty"`
	Onto    string   `json:"onto,omitempty"` // the base branch
	Base    string   `json:"base,omitempty"` // commit
	Seen    string   `json:"seen,omitempty"` // of a detached one: a tree of the tracked files at the start
	Ports   []int    `json:"ports,omitempty"`
	Given   []string `json:"given,omitempty"` // paths that were copied or linked, and are never committed
	SetUp   bool     `json:"set_up,omitempty"`
	Made    bool     `json:"made,omitempty"` // it was checked out
	Head    string   `json:"head,omitempty"` // while removing: the commit in the trash
	Ref     string   `json:"ref,omitempty"`
	Archive string   `json:"archive,omitempty"`
	Exact   bool     `json:"tidy,omitempty"`  // while removing: it has exactly the files of Head
	Clean   bool     `json:"clean,omitempty"` // while idle: cleaned since its last use
	Claim   string   `json:"claim,omitempty"` // while making: the claim that found it clean; empty after another caller used it
}

const checkPrefix = repo.WorkPrefix + "check-"

func (s slot) path(r repo.Repo) string     { return filepath.Join(r.Dir, s.Name) }
func (s slot) metaFile(r repo.Repo) string { return filepath.Join(r.Dir, s.Name+".json") }
func (s slot) slotLock(r repo.Repo) string { return filepath.Join(r.Dir, s.Name+".lock") }
func (s slot) inside(r repo.Repo) repo.Location {
	return repo.Location{Git: filepath.Join(s.path(r), ".git"), Dir: s.path(r)}
}

func (w *Workspaces) writeSlot(r repo.Repo, s slot) error {
	w.forget(s.metaFile(r))
	return atomicfile.WriteJSON(s.metaFile(r), s)
}

// knownSlot is a slot as it was read, and the file that it was read from.
type knownSlot struct {
	slot slot
	file fs.FileInfo
}

// knownSlot returns the slot of a file. It reads the file only if it changed since
// last time: there can be a thousand slots, and every claim reads all of them.
func (w *Workspaces) knownSlot(file string) (slot, error) {
	now, err := os.Lstat(file)
	if err != nil {
		return slot{}, err
	}
	w.mu.Lock()
	k, ok := w.read[file]
	w.mu.Unlock()
	if ok && os.SameFile(k.file, now) && k.file.ModTime().Equal(now.ModTime()) && k.file.Size() == now.Size() {
		k.slot.Ports, k.slot.Given = slices.Clone(k.slot.Ports), slices.Clone(k.slot.Given)
		return k.slot, nil
	}
	s, err := readSlot(file)
	if after, e := os.Lstat(file); err == nil && e == nil && os.SameFile(now, after) {
		w.mu.Lock()
		w.read[file] = knownSlot{s, now}
		w.mu.Unlock()
	}
	return s, err
}

// forget removes a slot from the cache before its file changes.
func (w *Workspaces) forget(file string) {
	w.mu.Lock()
	delete(w.read, file)
	w.mu.Unlock()
}

// slots lists the repository's slots, in order of their names.
func (w *Workspaces) slots(r repo.Repo) ([]slot, error) {
	entries, err := os.ReadDir(r.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []slot
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || !strings.HasPrefix(name, repo.WorkPrefix) {
			continue
		}
		s, err := w.knownSlot(filepath.Join(r.Dir, e.Name()))
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
func (w *Workspaces) owned(r repo.Repo, key string) (slot, bool, error) {
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

// branchAt reports whether a task's workspace is at a path, and returns its branch;
// a detached one has none.
func branchAt(path string) (branch string, used bool) {
	s, err := readSlot(path + ".json")
	return s.Branch, err == nil && s.State == slotReady && !strings.HasPrefix(s.Name, checkPrefix)
}

// taskBranches lists the branches in the workspaces, where an agent may have
// commits that are not saved yet.
func (w *Workspaces) taskBranches(r repo.Repo) (list []landing.TaskBranch, err error) {
	slots, err := w.slots(r)
	for _, s := range slots {
		if s.State == slotReady && s.Branch != "" {
			list = append(list, landing.TaskBranch{Name: s.Branch, Dir: s.path(r), Revs: []string{"refs/heads/" + s.Branch, "^" + s.Base}})
		}
	}
	return list, err
}

// byPath returns the repository and slot of a workspace's path.
func (w *Workspaces) byPath(path string) (repo.Repo, slot, error) {
	clean := filepath.Clean(path)
	r := repo.Repo{Dir: filepath.Dir(clean)}
	if filepath.Dir(r.Dir) == w.Dir {
		s, err := readSlot(filepath.Join(r.Dir, filepath.Base(clean)+".json"))
		if err == nil && s.State != slotIdle && !strings.HasPrefix(s.Name, checkPrefix) {
			if r, err = w.Of(r.Dir); err == nil {
				return r, s, nil
			}
		}
	}
	return repo.Repo{}, slot{}, coppice.Errorf(coppice.ENotFound, "%s is not a workspace", coppice.Quote(path)).WithFix("prepare it again")
}

// claim gives the key a slot: the one that it has, an idle one, or a new one. It
// changes nothing in the slot's directory.
func (w *Workspaces) claim(ctx context.Context, r repo.Repo, want slot) (slot, error) {
	unlock, err := w.Locks.Wait(ctx, r.LockFile())
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
		want.Name = freeName(repo.WorkPrefix, taken)
	}
	if got == nil || got.State == slotIdle {
		want.State = slotMaking
		if err := w.writeSlot(r, want); err != nil {
			return slot{}, err
		}
	}
	if err := w.Step("claimed"); err != nil {
		return slot{}, err
	}
	// Only this caller knows that nothing happened in it since.
	want.Clean = got != nil && got.State == slotIdle && got.Clean
	return want, nil
}

func freeName(prefix string, taken map[string]bool) string {
	for i := 1; ; i++ {
		if name := fmt.Sprintf("%s%03d", prefix, i); !taken[name] {
			return name
		}
	}
}
