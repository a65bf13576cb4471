package cli

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/cmd/coppice/importer"
	"coppice/workspace/git"
)

func (e *Env) importCommand() *cobra.Command {
	var o importer.Options
	c := &cobra.Command{
		Use:   "import [PATH]",
		Short: "Import the settings of another orchestrator",
		Long: `Read ` + importer.File + `, write coppice.yaml from it, and print for every
setting whether it was imported, changed or dropped, and why. PATH is that file, or
a repository that contains it. An existing coppice.yaml gets the keys that it does
not have yet. With --force it is replaced, and the old one is kept next to it.`,
		Example: `  coppice import --dry-run
  coppice import ~/src/shop --json`,
		Args: args(0, 1, "at most one path"),
	}
	c.Flags().BoolVar(&o.Force, "force", false, "replace an existing coppice.yaml")
	c.Flags().BoolVar(&o.DryRun, "dry-run", false, "write nothing; print the resulting coppice.yaml")
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		dir := e.Dir
		if len(given) == 1 {
			path := given[0]
			if !filepath.IsAbs(path) {
				path = filepath.Join(e.Dir, path)
			}
			if st, err := os.Stat(path); err == nil && st.IsDir() {
				dir = path
			} else {
				o.From, dir = path, filepath.Dir(path)
			}
		}
		runner, err := git.New(git.Config{})
		if err != nil {
			return coppice.Errorf(coppice.EUnavailable, "git cannot be used: %w", err).WithFix("install git 2.38 or newer")
		}
		root, err := runner.Run(c.Context(), dir, "rev-parse", "--show-toplevel")
		if err != nil {
			return coppice.Errorf(coppice.EInvalid, "%s is not in a git repository", dir).WithFix("change to the repository, or name it")
		}
		o.Root = strings.TrimRight(root, "\r\n")
		o.Branch = func(name string) bool {
			_, err := runner.Run(c.Context(), o.Root, "rev-parse", "--verify", "-q", "refs/heads/"+name)
			return err == nil
		}
		r, err := importer.Run(o)
		if err != nil {
			return err
		}
		if *asJSON {
			return e.json(r)
		}
		e.printImport(r, o.DryRun)
		return nil
	}
	return c
}

func (e *Env) printImport(r importer.Report, dry bool) {
	rows := make([][]cell, len(r.Lines))
	for i, l := range r.Lines {
		style := dim
		switch l.Did {
		case importer.Took:
			style = green
		case importer.Changed:
			style = yellow
		}
		rows[i] = []cell{{l.Did, style}, plain(l.Key), plain(string(l.Value)), plain(l.To), plain(l.Why)}
	}
	e.table([]column{{head: "DID"}, {head: "SETTING"}, {head: "VALUE", give: true}, {head: "NOW"}, {head: "WHY", give: true}}, rows)
	switch {
	case dry:
		e.printf("\n%s would be:\n%s", line(r.File), Clean(r.Text))
	case !r.Written:
		e.printf("\n%s already has everything; it was not changed\n", line(r.File))
	default:
		e.printf("\nwrote %s\n", line(r.File))
		if r.Backup != "" {
			e.printf("the previous file is kept as %s\n", line(r.Backup))
		}
		e.printf("next: read it, commit it, then run coppice serve and coppice project add\n")
	}
}
