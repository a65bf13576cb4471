package setup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"coppice"
	"coppice/config"
	"coppice/internal/atomicfile"
)

// Options configures `coppice init`.
type Options struct {
	Dir    string    // anywhere in the repository
	Yes    bool      // use the defaults and ask nothing
	Base   string    // the branch that work lands on; if empty, Init asks
	Create bool      // create Base from the current branch if it does not exist
	Agent  string    // the agent that does the work; if empty, Init asks
	Agents []string  // the agents found on this machine, best first
	Stdin  io.Reader // for answers; nil without a person
	Stdout io.Writer

	Fallback []string // the agents that take over; if empty, Init asks
	Tracks   []string // names; if empty, Init asks
	Browser  bool     // verifiers get a browser; if false, Init asks
	Feature  string   // the first feature of a new features file; if empty, Init asks
	Guides   bool     // write files for the instructions of agents; if false, Init asks
	TryNow   bool     // run the checks on the base; if false, Init asks
	// Try runs each check one time on the base, after coppice.yaml is written.
	Try func(ctx context.Context) ([]Tried, error)

	// Git runs git in a directory and returns what it printed.
	Git func(ctx context.Context, dir string, args ...string) (string, error)
}

// Init writes a coppice.yaml that fits the repository, at its root, and prints
// what it wrote and what to do next. It never changes an existing one.
func Init(ctx context.Context, o Options) error {
	root, err := rootOf(ctx, o)
	if err != nil {
		return err
	}
	found, err := Detect(root)
	if err != nil {
		return coppice.Errorf(coppice.EInvalid, "%s cannot be read: %w", root, err).WithFix("make it readable for the user who runs coppice")
	}
	p := propose(found, func(path string) bool {
		_, err := o.Git(ctx, root, "check-ignore", "-q", "--", path)
		return err == nil
	})
	branches, current, err := branchesOf(ctx, o, root)
	if err != nil {
		return err
	}
	target := filepath.Join(root, config.File)
	there := taken(target)
	talk := &talk{out: o.Stdout}
	if !o.Yes && !there && o.Stdin != nil {
		talk.in = bufio.NewReader(io.LimitReader(o.Stdin, 64<<10))
	}
	talk.findings(found)
	if err := talk.choose(&p, o, branches, current); err != nil {
		return err
	}
	text := p.yaml()
	if _, err := config.Parse(config.File, []byte(text)); err != nil {
		return fmt.Errorf("setup: its own output cannot be parsed: %w", err) // a bug, and nothing was written
	}
	if there {
		return occupied(talk, target, text)
	}
	if p.create {
		if err := createBranch(ctx, o, root, p); err != nil {
			return err
		}
	}
	if err := write(target, text); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return occupied(talk, target, text)
		}
		return coppice.Errorf(coppice.EUnavailable, "%s cannot be written: %w", target, err).WithFix("make the folder writable, or free some disk")
	}
	files, err := p.writeFiles(root)
	if err != nil {
		return err
	}
	talk.written(target, p, files)
	if err := talk.tryChecks(ctx, o, p); err != nil {
		return err
	}
	talk.next(append([]string{config.File}, files...))
	return talk.err
}

// taken reports whether a file of that name exists, a broken link included.
func taken(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

func occupied(t *talk, target, text string) error {
	t.say("\nThis is the %s that was not written:\n", config.File)
	for line := range strings.Lines(text) {
		t.say("  %s", strings.TrimRight(line, "\n"))
	}
	return coppice.Errorf(coppice.EConflict, "%s already exists and was not changed", target).
		WithFix("copy what you need from the lines above, or move the file to another place and run coppice init again")
}

// rootOf finds the root of the repository's checkout.
func rootOf(ctx context.Context, o Options) (string, error) {
	out, err := o.Git(ctx, o.Dir, "rev-parse", "--is-bare-repository", "--is-inside-work-tree")
	if err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		return "", coppice.Errorf(coppice.EInvalid, "%s is not in a git repository", o.Dir).WithFix("change to a repository, or create one with git init")
	}
	switch state := strings.Fields(out); {
	case slices.Equal(state, []string{"true", "false"}):
		return "", coppice.Errorf(coppice.EInvalid, "%s is a bare repository: it has no files", o.Dir).WithFix("clone it and run coppice init there")
	case !slices.Equal(state, []string{"false", "true"}):
		return "", coppice.Errorf(coppice.EInvalid, "%s is inside git's own folder", o.Dir).WithFix("change to the repository's checkout")
	}
	out, err = o.Git(ctx, o.Dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return "", fmt.Errorf("setup: finding the repository's root: %w", err)
	}
	return strings.TrimRight(out, "\r\n"), nil
}

// branchesOf returns the local branches and the one checked out, "" if none is.
// It refuses a repository without a commit, because agents have nothing to
// start from.
func branchesOf(ctx context.Context, o Options, root string) (branches []string, current string, err error) {
	if _, err := o.Git(ctx, root, "rev-parse", "--verify", "-q", "HEAD^{commit}"); err != nil {
		return nil, "", coppice.Errorf(coppice.EInvalid, "the repository has no commit yet").WithFix("create a first commit: agents start from it")
	}
	out, err := o.Git(ctx, root, "for-each-ref", "--format=%(refname)", "refs/heads")
	if err != nil {
		return nil, "", fmt.Errorf("setup: listing branches: %w", err)
	}
	for ref := range strings.FieldsSeq(out) {
		branches = append(branches, strings.TrimPrefix(ref, "refs/heads/"))
	}
	if out, err := o.Git(ctx, root, "symbolic-ref", "-q", "HEAD"); err == nil {
		current = strings.TrimPrefix(strings.TrimSpace(out), "refs/heads/")
	}
	return branches, current, nil
}

// createBranch creates the branch that work will land on from the current one.
func createBranch(ctx context.Context, o Options, root string, p plan) error {
	from := "HEAD"
	if p.current != "" {
		from = "refs/heads/" + p.current
	}
	if _, err := o.Git(ctx, root, "branch", "--no-track", p.base, from); err != nil {
		return coppice.Errorf(coppice.EUnavailable, "the branch %s cannot be created: %w", coppice.Quote(p.base), err).
			WithFix("create it with git branch %s, then run coppice init --base %s", p.base, p.base)
	}
	return nil
}

// write creates a file, and never replaces one.
func write(target, text string) error {
	return atomicfile.Replace(target, atomicfile.Options{Mode: 0o644, New: true}, func(f *os.File) error {
		_, err := f.WriteString(text)
		return err
	})
}
