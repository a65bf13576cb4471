package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"

	"coppice/internal/disk"
	"coppice/workspace/repo"
)

// Usage is the disk space that Coppice uses for a repository.
type Usage struct {
	Dir        string    // of the workspaces and Coppice's own repository
	Workspaces disk.Size // with their metadata
	Repository disk.Size // Coppice's own
	Trash      disk.Size // archives
	Archives   []string  // their paths
}

// Usage measures the disk space that Coppice uses for the repository in dir, also if
// the repository itself is gone. If ctx ends first, the sizes are partial.
func (w *Workspaces) Usage(ctx context.Context, dir string) (Usage, error) {
	home := w.Home(ctx, dir)
	u := Usage{Dir: home}
	entries, err := os.ReadDir(home)
	if err != nil && !os.IsNotExist(err) {
		return u, err
	}
	// Workspaces can be many and large, so they come last.
	u.Repository = disk.Of(ctx, filepath.Join(home, repo.OwnName))
	if u.Archives, err = w.archives(home); err != nil {
		return u, err
	}
	for _, path := range u.Archives {
		u.Trash = u.Trash.Add(disk.Of(ctx, path))
	}
	for _, e := range entries {
		if e.Name() != repo.OwnName {
			u.Workspaces = u.Workspaces.Add(disk.Of(ctx, filepath.Join(home, e.Name())))
		}
	}
	return u, nil
}

// Home returns the directory for the workspaces of the repository in dir, whether or
// not it exists. If the repository is gone, it assumes that dir was an ordinary
// checkout.
func (w *Workspaces) Home(ctx context.Context, dir string) string {
	if r, err := w.Find(ctx, dir); err == nil {
		return r.Dir
	}
	if r, known := w.Known(dir); known {
		return r.Dir
	}
	sum := sha256.Sum256([]byte(filepath.Join(dir, ".git")))
	return filepath.Join(w.Dir, hex.EncodeToString(sum[:8]))
}

// archives lists the archives of the repository whose workspaces are in home.
func (w *Workspaces) archives(home string) ([]string, error) {
	entries, err := os.ReadDir(w.trash)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	var list []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(home)+"-") {
			list = append(list, filepath.Join(w.trash, e.Name()))
		}
	}
	return list, nil
}
