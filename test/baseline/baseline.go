// Package baseline builds the programs of an earlier commit, for tests and
// measurements that compare the working tree with it. What it built is kept in
// a cache by commit.
package baseline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Program is one program of a commit.
type Program struct {
	Name    string // of the file
	Package string // below the module's root, with slashes: cmd/coppice
}

// Coppice is the product itself.
var Coppice = Program{"coppice", "cmd/coppice"}

// Build builds programs as a revision has them, without the dashboard, and
// returns the commit and the directory that holds them. A commit that is older
// than a program's package gets the package as it first was.
func Build(ctx context.Context, rev string, programs ...Program) (commit, dir string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", "", err
	}
	return buildIn(ctx, ".", filepath.Join(cache, "coppice-test", "base"), rev, programs...)
}

// buildIn is Build in a repository, with a cache.
func buildIn(ctx context.Context, repo, cache, rev string, programs ...Program) (commit, dir string, err error) {
	root, err := git(ctx, repo, "rev-parse", "--show-toplevel")
	if err != nil {
		return "", "", err
	}
	if commit, err = git(ctx, root, "rev-parse", "--verify", "--quiet", rev+"^{commit}"); err != nil {
		return "", "", fmt.Errorf("%q is not a commit: set BASE to one that `git log` shows: %w", rev, err)
	}
	b := build{root: root, commit: commit, dir: filepath.Join(cache, commit)}
	defer func() { err = errors.Join(err, os.RemoveAll(b.tree)) }()
	for _, p := range programs {
		if err := b.program(ctx, p); err != nil {
			return "", "", fmt.Errorf("build %s of %s: %w", p.Package, commit[:10], err)
		}
	}
	return commit, b.dir, nil
}

// build is a commit that is being built.
type build struct {
	root   string // of the repository
	commit string
	dir    string // in the cache
	tree   string // the commit's files, once they are needed
}

// program builds one program, unless the cache has it.
func (b *build) program(ctx context.Context, p Program) error {
	made := filepath.Join(b.dir, p.Name)
	if _, err := os.Stat(made); err == nil {
		return nil
	}
	if err := b.export(ctx); err != nil {
		return err
	}
	if err := b.supply(ctx, p.Package); err != nil {
		return err
	}
	unfinished := filepath.Join(b.tree, p.Name+".made")
	if _, err := run(ctx, b.tree, nil, "go", "build", "-buildvcs=false", "-trimpath", "-ldflags=-s -w", "-o", unfinished, "./"+p.Package); err != nil {
		return err
	}
	return os.Rename(unfinished, made) // whole or not at all
}

// export writes the commit's files next to the cache.
func (b *build) export(ctx context.Context) (err error) {
	if b.tree != "" {
		return nil
	}
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return err
	}
	if b.tree, err = os.MkdirTemp(b.dir, "tree-"); err != nil {
		return err
	}
	return b.extract(ctx, b.commit)
}

// extract adds files of a commit to the tree.
func (b *build) extract(ctx context.Context, commit string, paths ...string) error {
	files, err := run(ctx, b.root, nil, "git", append([]string{"archive", "--format=tar", commit}, paths...)...)
	if err != nil {
		return err
	}
	_, err = run(ctx, b.tree, files, "tar", "-x")
	return err
}

// supply adds a package that the commit does not have, as it first was. One that
// was never committed is taken from the working tree.
func (b *build) supply(ctx context.Context, pkg string) error {
	to := filepath.Join(b.tree, filepath.FromSlash(pkg))
	if _, err := os.Stat(to); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	added, err := git(ctx, b.root, "log", "--diff-filter=A", "--format=%H", "--", pkg)
	if err != nil {
		return err
	}
	if added == "" {
		return os.CopyFS(to, os.DirFS(filepath.Join(b.root, filepath.FromSlash(pkg))))
	}
	commits := strings.Fields(added)
	return b.extract(ctx, commits[len(commits)-1], pkg)
}

func git(ctx context.Context, dir string, args ...string) (string, error) {
	out, err := run(ctx, dir, nil, "git", args...)
	return strings.TrimSpace(string(out)), err
}

func run(ctx context.Context, dir string, stdin []byte, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, errs.String())
	}
	return out.Bytes(), nil
}
