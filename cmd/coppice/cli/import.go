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
		Long: `Read the files of other orchestrators, write coppice.yaml, prompts and other files of
the project, and print for every setting whether it was imported, changed or dropped,
and why. PATH is one of these files, or a repository that contains some of them:

  ` + importer.File + `  settings and prompts of agent-orchestrator (npm)
  ` + importer.AOFile + `    of AO; --project chooses one of its projects
  ` + importer.GuidesDir + `/            PROJECT.md and CONVENTIONS.md of agentorchestr (PyPI)
  orchestrator.db            templates of the web orchestrator (Hurlicane, Autodev), or
                             the JSON of its /api/templates and /api/batch-templates

An existing coppice.yaml gets the keys that it does not have yet. With --force it is
replaced, and the old one is kept next to it. Other files that exist are never changed.
A second import changes nothing.`,
		Example: `  coppice import --dry-run
  coppice import ~/src/shop --json
  coppice import ~/agent-orchestrator.yaml --project shop
  coppice import ~/autodev/data/orchestrator.db`,
		Args: args(0, 1, "at most one path"),
	}
	c.Flags().BoolVar(&o.Force, "force", false, "replace an existing coppice.yaml")
	c.Flags().StringVarP(&o.Name, "project", "p", "", "the project to import, if the file has several")
	c.Flags().BoolVar(&o.DryRun, "dry-run", false, "write nothing; print the resulting files")
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		dir := e.Dir
		if len(given) == 1 {
			path := given[0]
			if !filepath.IsAbs(path) {
				path = filepath.Join(e.Dir, path)
			}
			if st, err := os.Stat(path); err == nil && st.IsDir() && filepath.Base(path) != importer.GuidesDir {
				dir = path
			} else if o.From = path; filepath.Base(path) == filepath.Base(importer.File) || filepath.Base(path) == importer.GuidesDir {
				dir = filepath.Dir(path) // the repository that has it; other files can be anywhere
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
		if r.Text != "" {
			e.printf("\n%s would be:\n%s", line(r.File), Clean(r.Text))
		}
		for _, f := range r.Files {
			e.printf("\n%s would be:\n%s", line(f.Path), Clean(f.Text))
		}
	case !r.Written && len(r.Files) == 0:
		e.printf("\n%s already has everything; it was not changed\n", line(r.File))
	default:
		e.printf("\n")
		if r.Written {
			e.printf("wrote %s\n", line(r.File))
		}
		for _, f := range r.Files {
			e.printf("wrote %s\n", line(f.Path))
		}
		if r.Backup != "" {
			e.printf("the previous file is kept as %s\n", line(r.Backup))
		}
		e.printf("next: read and commit what was written, then run coppice serve and coppice project add\n")
	}
}
