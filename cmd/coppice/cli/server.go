package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

func (e *Env) projectCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "project", Short: "List, add, confirm, rename, pause, resume and remove projects",
		Long:    "A project is a git repository and its coppice.yaml. `coppice new` adds the current one automatically.",
		Example: "  coppice project list\n  coppice project pause app --track docs",
		Args:    args(0, 0, "a command"),
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(e.projectList(), e.projectAdd(), e.projectConfirm(), e.projectRestoreBase(), e.projectPause(true), e.projectPause(false), e.projectRename(), e.projectRemove())
	return c
}

func (e *Env) projectList() *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "List projects", Example: "  coppice project list", Args: args(0, 0, "no argument")}
	return shows(e, c, func(ctx context.Context, cl *client.Client, _ []string) (api.ProjectList, error) {
		projects, err := cl.Projects(ctx)
		return api.ProjectList{Projects: projects}, err
	}, func(list api.ProjectList) {
		listed(e, "no projects\n"+e.paint(dim, "add one with: coppice project add, in its directory"), list.Projects, []column{{head: "PREFIX"}, {head: "STATE"}, {head: "BASE"}, {head: "PATH", give: true}}, func(p api.Project) []cell {
			return []cell{{p.Prefix, bold}, plain(projectState(p)), plain(p.Policy.Base), plain(p.Path)}
		})
	})
}

func projectState(p api.Project) string {
	if p.Removal != nil && p.Removal.Problem != "" {
		return "cannot be removed yet: " + p.Removal.Problem
	}
	if p.Removal != nil {
		return "being removed"
	}
	if !p.PausedAt.IsZero() {
		return "paused"
	}
	state := fmt.Sprintf("%d of %d running", p.Running, p.Policy.Limits.Sessions)
	if len(p.Needs) > 0 {
		state += ", needs you"
	}
	if n := len(p.PausedTracks); n > 0 {
		state += ", " + count(n, "track") + " paused"
	}
	return state
}

func (e *Env) projectAdd() *cobra.Command {
	c := &cobra.Command{
		Use: "add [DIR]", Short: "Add a project, or confirm its current files",
		Long: `Add the project of a directory. If the project is known, confirm its current
coppice.yaml, prompts and git settings, and show what changed. Changes that came by
a landing, or while a session ran, wait for this confirmation.

The keys of a project's tasks start with its prefix, as in app-7. Without --prefix, it
comes from the name of the directory. To change the prefix of a known project, run
coppice project rename.`,
		Example: "  coppice project add\n  coppice project add ~/src/app --prefix shop", Args: args(0, 1, "at most one directory"),
	}
	prefix := c.Flags().String("prefix", "", "the prefix of its keys: up to 16 lower-case letters and digits, a letter first")
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		dir := e.Dir
		if len(given) == 1 {
			if dir = given[0]; !filepath.IsAbs(dir) {
				dir = filepath.Join(e.Dir, dir)
			}
		}
		return result(e, c, *asJSON, func(ctx context.Context, cl *client.Client) (api.Project, error) {
			return cl.AddProjectAs(ctx, dir, *prefix)
		}, func(p api.Project) {
			e.printf("%s  %s, lands on %s\n", e.paint(bold, p.Prefix), line(p.Path), line(p.Policy.Base))
			for _, n := range p.Confirmed {
				e.printf("confirmed: %s\n", line(n.Text))
				e.diff(n.Diff)
			}
		})
	}
	return c
}

func (e *Env) projectRename() *cobra.Command {
	c := &cobra.Command{
		Use: "rename OLD NEW", Short: "Change the prefix of a project",
		Long: `Give a project another prefix. New tasks get keys with the new prefix. The keys of
existing tasks stay as they are, and the old prefix still names the project. No other
project can get it.`,
		Example: "  coppice project rename app shop", Args: args(2, 2, "the prefix of a project and its new prefix"),
	}
	return shows(e, c, func(ctx context.Context, cl *client.Client, given []string) (api.Project, error) {
		return cl.RenameProject(ctx, given[0], given[1])
	}, func(p api.Project) { e.printf("%s  %s\n", e.paint(bold, p.Prefix), line(p.Path)) })
}

func (e *Env) projectPause(on bool) *cobra.Command {
	var track string
	c := &cobra.Command{
		Use: "resume [PREFIX]", Short: "Resume a project",
		Long:    "Start sessions again in a project, or in one track of it. The default is the current directory's project.",
		Example: "  coppice project resume app", Args: args(0, 1, "at most one prefix"),
	}
	if on {
		c.Use, c.Short = "pause [PREFIX]", "Pause a project"
		c.Long = "Start no more sessions in a project, or in one track of it. Running sessions continue, and finished work lands."
		c.Example = "  coppice project pause app\n  coppice project pause app --track docs"
	}
	c.Flags().StringVar(&track, "track", "", "only this track")
	return shows(e, c, func(ctx context.Context, cl *client.Client, given []string) (p api.Project, err error) {
		prefix, err := e.named(ctx, cl, given)
		if err == nil {
			p, err = cl.Pause(ctx, prefix, track, on)
		}
		return p, err
	}, func(p api.Project) { e.printf("%s  %s\n", e.paint(bold, p.Prefix), projectState(p)) })
}

// named returns the project that a person named, or the current directory's.
func (e *Env) named(ctx context.Context, cl *client.Client, given []string) (string, error) {
	if len(given) == 1 {
		return given[0], nil
	}
	p, err := e.here(ctx, cl)
	if err != nil {
		return "", err
	}
	if p == nil {
		return "", coppice.Errorf(coppice.ENotFound, "%s is not in a project", e.Dir).
			WithFix("name one that `coppice project list` shows, or add this one with `coppice project add`")
	}
	return p.Prefix, nil
}

func (e *Env) backupCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "backup", Short: "Write a copy of the database",
		Long:    "Write a consistent copy of the server's database while the server runs, and print its path.",
		Example: "  coppice backup", Args: args(0, 0, "no argument"),
	}
	return shows(e, c, func(ctx context.Context, cl *client.Client, _ []string) (api.Backup, error) {
		path, err := cl.Backup(ctx)
		return api.Backup{Path: path}, err
	}, func(b api.Backup) { e.printf("%s\n", b.Path) })
}

func (e *Env) loginCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "login", Short: "Print a link that signs in a browser, or open it",
		Long: `Print a link that signs in one browser on this machine. The link works one time,
within two minutes. With --open, your browser opens it. If that fails, the link is
printed.`,
		Example: "  coppice login\n  coppice login --open", Args: args(0, 0, "no argument"),
	}
	open := c.Flags().Bool("open", false, "open the link in your browser")
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return e.call(c, func(ctx context.Context, cl *client.Client) error {
			l, err := cl.LoginLink(ctx)
			if err != nil {
				return err
			}
			if *open && e.Open != nil {
				err := e.Open(ctx, l.URL)
				if err == nil && !*asJSON {
					e.printf("The dashboard opens in your browser.\n")
					return nil
				}
				if err != nil {
					PrintError(*e, err)
				}
			}
			if *asJSON {
				return e.json(l)
			}
			e.printf("%s\n", l.URL)
			return nil
		})
	}
	return c
}
