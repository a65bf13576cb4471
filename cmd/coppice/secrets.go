package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"coppice"
	"coppice/cmd/coppice/setup"
	"coppice/config"
	"coppice/internal/redact"
	"coppice/secret"
)

// secrets returns the user's secrets.
func secrets() config.Secrets {
	return config.Secrets{Environ: os.Environ(), Redact: redact.New(), System: runtime.GOOS}
}

func (p *program) secretCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "secret",
		Short: "Store, list and test the secrets that projects refer to",
		Long: `A project's coppice.yaml refers to a secret as ${secret:NAME} and never contains
one. Your own configuration says where the value comes from: a variable of the
environment, a file with mode 0600, a command or the keyring.

No command prints a value.`,
		Example: "  coppice secret set TRACKER_TOKEN\n  gh auth token | coppice secret set GITHUB_TOKEN --keyring\n  coppice secret list",
	}
	c.AddCommand(p.secretSet(), p.secretList(), p.secretTest(), p.secretRemove())
	return c
}

// oneName accepts the name of a secret and nothing else.
func oneName(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return coppice.Errorf(coppice.EInvalid, "%s needs the name of a secret", c.CommandPath()).WithFix("see %s --help", c.CommandPath())
	}
	if len(args) > 1 {
		return coppice.Errorf(coppice.EInvalid, "%s takes a name and nothing else", c.CommandPath()).
			WithFix("never write a value on the command line: other users can see it there. Type it when asked, or pipe it in")
	}
	return secret.ValidName(args[0])
}

// knownNames completes the names of the user's secrets.
func knownNames(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	r, err := secrets().Resolver()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return slices.Sorted(maps.Keys(r.Sources)), cobra.ShellCompDirectiveNoFileComp
}

// row is a secret as commands print it.
type row struct {
	Name      string        `json:"name"`
	Source    secret.Source `json:"source"`
	Set       bool          `json:"set"`
	Projects  []string      `json:"projects,omitempty"`  // by prefix, or path while no server runs
	Notifiers []string      `json:"notifiers,omitempty"` // of the user's configuration
	Length    int           `json:"length,omitempty"`    // in bytes, after it was resolved
}

// report prints a thing as JSON, or a text for people.
func (p *program) report(asJSON bool, t any, format string, args ...any) error {
	if !asJSON {
		_, err := fmt.Fprintf(p.out(false), format, args...)
		return err
	}
	e := json.NewEncoder(p.env.Stdout)
	e.SetIndent("", "  ")
	return e.Encode(t)
}

func (p *program) secretSet() *cobra.Command {
	var keyring, asJSON bool
	c := &cobra.Command{
		Use:   "set NAME",
		Short: "Store a value",
		Long: `Reads a value from the terminal, without showing it, or from standard input, and
stores it in a file with mode 0600 in your configuration, or in the keyring. Newlines
at its end are removed. A value has at least 8 bytes: Coppice masks it in output, and
masking a shorter one would mask ordinary words.`,
		Example: "  coppice secret set TRACKER_TOKEN\n  gh auth token | coppice secret set GITHUB_TOKEN",
		Args:    oneName, ValidArgsFunction: knownNames,
		RunE: func(c *cobra.Command, args []string) error {
			value, err := p.secretValue(args[0])
			if err != nil {
				return err
			}
			source, err := secrets().Set(c.Context(), args[0], value, keyring)
			if err != nil {
				return err
			}
			return p.report(asJSON, row{Name: args[0], Source: source, Set: true}, "%s is stored (%s)\n", args[0], source)
		},
	}
	c.Flags().BoolVar(&keyring, "keyring", false, "store it in the keyring: with secret-tool on Linux, security on macOS")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// secretValue reads a value from a terminal without echo, or from a pipe.
func (p *program) secretValue(name string) (string, error) {
	if f, ok := p.env.Stdin.(*os.File); ok && term.IsTerminal(f.Fd()) {
		fmt.Fprintf(p.env.Stderr, "Value of %s: ", name)
		b, err := term.ReadPassword(f.Fd())
		fmt.Fprintln(p.env.Stderr)
		return string(b), err
	}
	b, err := io.ReadAll(io.LimitReader(p.env.Stdin, secret.MaxValue+3)) // one byte more than a value with a line break
	return string(b), err
}

func (p *program) secretList() *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "list",
		Short: "List secrets, where they come from and who uses them",
		Long: `Lists the names of your secrets, where each comes from, and which projects and notifiers use it.
Names that one of them uses and that are not set are listed too.`,
		Args: cobra.NoArgs,
	}, func(c *cobra.Command, _ []string, asJSON bool) error {
		r, err := secrets().Resolver()
		if err != nil {
			return err
		}
		used, sent := p.usedSecrets(c.Context()), notifierSecrets()
		all := []row{}
		names := slices.Concat(slices.Collect(maps.Keys(r.Sources)), slices.Collect(maps.Keys(used)), slices.Collect(maps.Keys(sent)))
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			source, set := r.Sources[name]
			all = append(all, row{Name: name, Source: source, Set: set, Projects: used[name], Notifiers: sent[name]})
		}
		if asJSON {
			return p.report(true, map[string]any{"secrets": all}, "")
		}
		return printSecrets(p.out(false), all)
	})
}

func printSecrets(out io.Writer, all []row) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(out, "no secrets; store one with coppice secret set NAME")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSOURCE\tUSED BY")
	for _, t := range all {
		source := t.Source.String()
		if !t.Set {
			source = "not set: coppice secret set " + t.Name
		}
		users := slices.Clone(t.Projects)
		for _, n := range t.Notifiers {
			users = append(users, "notifier "+n)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", t.Name, source, strings.Join(users, ", "))
	}
	return w.Flush()
}

// usedSecrets returns who uses each secret: the projects that the server knows, or
// the one in the working directory while no server runs.
func (p *program) usedSecrets(ctx context.Context) map[string][]string {
	used := map[string][]string{}
	note := func(project string, policy coppice.Policy) {
		for _, name := range secret.Used(policy) {
			used[name] = append(used[name], project)
		}
	}
	if c, err := p.env.Client(); err == nil {
		defer c.Close()
		if projects, err := c.Projects(ctx); err == nil {
			for _, known := range projects {
				note(known.Prefix, known.Policy)
			}
			return used
		}
	}
	if root, err := p.repository(ctx); err == nil {
		if policy, _, err := config.Load(root); err == nil {
			note(root, policy)
		}
	}
	return used
}

// notifierSecrets returns which notifiers use each secret.
func notifierSecrets() map[string][]string {
	used := map[string][]string{}
	u, _, err := config.UserOf(os.Environ())
	if err != nil {
		return used // the resolver has read the file, so it was changed just now
	}
	for _, name := range slices.Sorted(maps.Keys(u.Notify.Notifiers)) {
		for _, s := range secret.OfNotifier(u.Notify.Notifiers[name]) {
			used[s] = append(used[s], name)
		}
	}
	return used
}

func (p *program) secretTest() *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "test NAME",
		Short: "Resolve a secret, and print where it comes from and how long it is",
		Long: `Resolves a secret as a session would, and prints its source and its length, not its
value. A variable of the environment is read from this terminal's environment, which
can differ from the server's.`,
		Args: oneName, ValidArgsFunction: knownNames,
	}, func(c *cobra.Command, args []string, asJSON bool) error {
		r, err := secrets().Resolver()
		if err != nil {
			return err
		}
		value, err := r.Resolve(c.Context(), args[0])
		if err != nil {
			return err
		}
		source := r.Sources[args[0]]
		return p.report(asJSON, row{Name: args[0], Source: source, Set: true, Length: len(value)}, "%s has %d bytes (%s)\n", args[0], len(value), source)
	})
}

func (p *program) secretRemove() *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "remove NAME",
		Short: "Remove a secret from your configuration",
		Long: `Removes a secret from your configuration, and its value if ` + "`coppice secret set`" + `
stored it. Files, commands and variables that you named yourself stay.`,
		Args: oneName, ValidArgsFunction: knownNames,
	}, func(c *cobra.Command, args []string, asJSON bool) error {
		was, err := secrets().Remove(c.Context(), args[0])
		if err != nil {
			return err
		}
		return p.report(asJSON, row{Name: args[0], Source: was}, "%s is removed (%s)\n", args[0], was)
	})
}

// checkSecrets resolves each secret that the project in the working directory or a
// notifier uses, one time.
func (p *program) checkSecrets(ctx context.Context) []setup.Secret {
	names := slices.Collect(maps.Keys(notifierSecrets()))
	if policy, _, err := p.policy(ctx); err == nil { // otherwise the directory is not in a repository, or the row about the project reports it
		names = append(names, secret.Used(policy)...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 {
		return nil
	}
	r, err := secrets().Resolver()
	var all []setup.Secret
	for _, name := range names {
		row := setup.Secret{Name: name}
		failed := err
		if failed == nil {
			row.Detail = r.Sources[name].String()
			_, failed = r.Resolve(ctx, name)
		}
		if failed != nil {
			e := coppice.Public(failed)
			row.Problem, row.Fix = e.Cause, e.Fix
		}
		all = append(all, row)
	}
	return all
}
