package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
	"coppice/cmd/coppice/cli"
	"coppice/cmd/coppice/setup"
	"coppice/config"
)

func (p *program) startCommand() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "start URL [DIR]",
		Short: "Clone a repository and add it as a project",
		Long: `Clone a repository with your own git and credentials, into a directory with its name or
into DIR, and add it as a project. If the repository has no coppice.yaml, the command
writes one, as coppice init does. If DIR is a clone of URL already, it is used as it is.
If no server runs, the command starts one.

URL is an address such as https://example.org/team/app.git or git@example.org:team/app.git.
For a repository on GitHub, OWNER/NAME is enough.`,
		Example: "  coppice start https://github.com/acme/app.git\n  coppice start acme/app ~/src/app --yes",
		Args:    cobra.RangeArgs(1, 2),
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "use the defaults for coppice.yaml and ask nothing")
	asJSON := c.Flags().Bool("json", false, "print JSON for programs")
	c.RunE = func(c *cobra.Command, given []string) error {
		address, name, err := cloneAddress(given[0], p.env.Dir)
		if err != nil {
			return err
		}
		dir := name
		if len(given) == 2 {
			dir = given[1]
		}
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(p.env.Dir, dir)
		}
		if err := p.clone(c.Context(), address, dir); err != nil {
			return err
		}
		out := p.out(false)
		if *asJSON {
			out = cli.Screen(p.env.Stderr)
		}
		added, err := p.startIn(c.Context(), dir, out, yes || *asJSON)
		if err != nil {
			return err
		}
		if *asJSON {
			return json.NewEncoder(p.env.Stdout).Encode(added)
		}
		_, err = fmt.Fprintf(out, "\n%s  %s, lands on %s\n\nNext: read %s, whose commands run on this machine. Then run\n  cd %s\n  coppice new \"what should be done\"\n",
			added.Prefix, added.Path, added.Policy.Base, config.File, dir)
		return err
	}
	return c
}

// startIn makes the clone in a directory a project.
func (p *program) startIn(ctx context.Context, dir string, out io.Writer, yes bool) (added api.Project, err error) {
	if _, err := os.Lstat(filepath.Join(dir, config.File)); errors.Is(err, os.ErrNotExist) {
		o := setup.Options{Dir: dir, Yes: yes, Stdout: out, Git: runGit, Agents: p.usable(ctx)}
		if p.tty {
			o.Stdin = p.env.Stdin
		}
		if err := setup.Init(ctx, o); err != nil {
			return added, err
		}
	}
	add := func() error {
		cl, err := p.env.Client()
		if err != nil {
			return err
		}
		defer cl.Close()
		added, err = cl.AddProject(ctx, dir)
		return err
	}
	if err = add(); !errors.Is(err, client.ErrNoServer) || p.env.Start == nil {
		return added, err
	}
	at, started, err := p.env.Start(ctx, false)
	if err != nil {
		return added, err
	}
	if started {
		fmt.Fprintf(p.env.Stderr, "started a coppice server in the background: %s (to stop it: coppice serve --stop)\n", at)
	}
	return added, add()
}

// clone clones a repository into a directory, unless it is a clone of it already. Git
// shows its progress, and asks for what it needs.
func (p *program) clone(ctx context.Context, address, dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case err == nil && len(entries) > 0:
		root, rootErr := runGit(ctx, dir, "rev-parse", "--show-toplevel")
		origin, err := runGit(ctx, dir, "config", "--get", "remote.origin.url")
		real, realErr := filepath.EvalSymlinks(dir)
		if errors.Join(rootErr, err, realErr) != nil || strings.TrimSpace(root) != real || bareAddress(origin) != bareAddress(address) {
			return coppice.Errorf(coppice.EConflict, "%s exists and is not a clone of that repository", dir).
				WithFix("name another directory: coppice start URL DIR; or add this one with `coppice project add %s`", dir)
		}
		return nil
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return coppice.Errorf(coppice.EInvalid, "%s cannot be used: %w", dir, err).WithFix("name another directory: coppice start URL DIR")
	}
	git := exec.CommandContext(ctx, "git", "clone", "--", address, dir)
	git.Stdin, git.Stdout, git.Stderr = os.Stdin, p.env.Stderr, p.env.Stderr
	if err := git.Run(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return noGit(err)
		}
		return coppice.Errorf(coppice.EUnavailable, "the repository cannot be cloned: %w", err).
			WithFix("check the address, and that `git clone` works with your credentials")
	}
	return nil
}

// bareAddress returns an address in the form in which two of them are compared.
func bareAddress(s string) string {
	return strings.TrimSuffix(strings.TrimRight(strings.TrimSpace(s), "/"), ".git")
}

var (
	// cloneSchemes are the protocols from which start clones. Others can run programs.
	cloneSchemes = []string{"https", "http", "ssh", "git", "git+ssh", "ssh+git", "file"}
	helperRE     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9+.-]*::`) })
	scpRE        = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([A-Za-z0-9_][A-Za-z0-9_.-]*@)?[A-Za-z0-9][A-Za-z0-9.-]+:[^:].*$`)
	})
	gitHubRE    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9_.-]+$`) })
	cloneNameRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_.][A-Za-z0-9_.-]*$`) })
)

// cloneAddress checks the address of a repository, and returns it with the name of the
// directory for its clone.
func cloneAddress(s, dir string) (address, name string, err error) {
	bad := func(why string) (string, string, error) {
		return "", "", coppice.Errorf(coppice.EInvalid, "%s is not the address of a repository: %s", coppice.Quote(s), why).
			WithFix("write it as https://example.org/team/app.git, git@example.org:team/app.git, or OWNER/NAME for GitHub")
	}
	var at string
	switch scheme, _, isURL := strings.Cut(s, "://"); {
	case coppice.LineProblem(s) != "" || strings.HasPrefix(s, "-"):
		return bad("it has a character that an address cannot have")
	case helperRE().MatchString(s):
		return bad("it names a program that git would run")
	case isURL:
		u, err := url.Parse(s)
		if err != nil || !slices.Contains(cloneSchemes, strings.ToLower(scheme)) || strings.HasPrefix(u.Host, "-") || u.Host == "" && u.Scheme != "file" {
			return "", "", coppice.Errorf(coppice.EInvalid, "the address is not one from which coppice start clones").
				WithFix("use an address with %s", strings.Join(cloneSchemes, ", "))
		}
		at = u.Path
	case gitHubRE().MatchString(s):
		if _, err := os.Lstat(filepath.Join(dir, s)); err == nil {
			return "", "", coppice.Errorf(coppice.EInvalid, "%s is a path here, and could be a repository on GitHub", s).
				WithFix("add the repository here with `coppice project add %s`, or write https://github.com/%s", s, s)
		}
		s, at = "https://github.com/"+strings.TrimSuffix(s, ".git")+".git", s
	case scpRE().MatchString(s):
		_, at, _ = strings.Cut(s, ":")
	default:
		return bad("it is neither a URL nor host:path")
	}
	name = strings.TrimSuffix(path.Base(strings.TrimRight(at, "/")), ".git")
	if !cloneNameRE().MatchString(name) || strings.Trim(name, ".") == "" {
		return bad("it does not end with the name of a repository")
	}
	return s, name, nil
}
