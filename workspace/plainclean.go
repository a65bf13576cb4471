package workspace

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"runtime"
)

// errExtra ends a walk at the first path that is not tracked.
var errExtra = errors.New("a path is not tracked")

// eachExtra calls f with each path of a checkout that an index does not name:
// files, and directories in which nothing is tracked. It is odd where names on disk
// need not be those in the index.
func eachExtra(tree string, files []stagedFile, f func(name string) error) error {
	if runtime.GOOS != "linux" {
		return errOdd // its file system may fold names
	}
	tracked, dirs := make(map[string]bool, len(files)), map[string]bool{".": true}
	for _, s := range files {
		if s.mode == modeModule {
			return errOdd
		}
		tracked[s.path] = true
		for d := path.Dir(s.path); !dirs[d]; d = path.Dir(d) {
			dirs[d] = true
		}
	}
	var walk func(dir string) error
	walk = func(dir string) error {
		entries, err := os.ReadDir(filepath.Join(tree, dir))
		if err != nil {
			return err
		}
		for _, e := range entries {
			name := path.Join(dir, e.Name())
			switch {
			case name == ".git" || !e.IsDir() && tracked[name]:
			case e.IsDir() && dirs[name]:
				err = walk(name)
			default:
				err = f(name)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return walk(".")
}

// cleanPlainly does what git clean -ffdxq does, and removes git directories of
// others too.
func cleanPlainly(tree, index string) error {
	files, err := readIndex(index)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(tree)
	if err != nil {
		return err
	}
	defer root.Close()
	return eachExtra(tree, files, root.RemoveAll)
}

// spotless reports whether a worktree has the files of a commit and nothing else,
// ignored files included, and its index has the same. False says nothing.
func spotless(tree, admin, commit string) bool {
	index := filepath.Join(admin, "index")
	info, err := os.Lstat(index)
	if err != nil {
		return false
	}
	files, err := readIndex(index)
	if err != nil {
		return false
	}
	c, err := readCommit(admin, commit)
	if err != nil {
		return false
	}
	have, err := stagedTree(files, 0, "", nil, hashTree)
	if err != nil || have != c.tree {
		return false
	}
	for _, f := range files {
		if same, err := f.unchanged(tree, info); err != nil || !same {
			return false
		}
	}
	return eachExtra(tree, files, func(string) error { return errExtra }) == nil
}
