package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
	"coppice/config"
)

// repository finds the repository that the working directory is in.
func (p *program) repository(ctx context.Context) (string, error) {
	root, err := runGit(ctx, p.env.Dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return "", coppice.Errorf(coppice.EInvalid, "%s is not in a git repository", p.env.Dir).WithFix("go to the repository, or run `git init`")
	}
	return root, nil
}

// withJSON gives a command the flag --json.
func withJSON(c *cobra.Command, run func(c *cobra.Command, args []string, asJSON bool) error) *cobra.Command {
	asJSON := c.Flags().Bool("json", false, "print JSON")
	c.RunE = func(c *cobra.Command, args []string) error { return run(c, args, *asJSON) }
	return c
}

// policy reads the coppice.yaml of the repository that the working directory is in.
func (p *program) policy(ctx context.Context) (coppice.Policy, config.Source, error) {
	root, err := p.repository(ctx)
	if err != nil {
		return coppice.Policy{}, config.Source{}, err
	}
	return config.Load(root)
}

func (p *program) configGet() *cobra.Command {
	return withJSON(&cobra.Command{
		Use: "get KEY", Short: "Show one setting",
		Long:    "Shows the value of one key of coppice.yaml, or its default if it is not set. For a key that contains other keys, shows all of them.",
		Example: "  coppice config get limits.sessions\n  coppice config get land --json",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: completeConfig,
	}, func(c *cobra.Command, args []string, asJSON bool) error {
		policy, src, err := p.policy(c.Context())
		if err != nil {
			return err
		}
		value, err := config.Value(policy, args[0])
		if err != nil {
			return err
		}
		if asJSON {
			_, err := fmt.Fprintf(p.env.Stdout, "%s\n", value)
			return err
		}
		for _, k := range config.Explain(policy, src) {
			if k.Name == args[0] {
				_, err := fmt.Fprintln(p.out(false), k.Value)
				return err
			}
		}
		text, err := config.Flow(value)
		if err != nil {
			text = string(value) // nothing is set there
		}
		_, err = fmt.Fprintln(p.out(false), text)
		return err
	})
}

func (p *program) configSet() *cobra.Command {
	return withJSON(&cobra.Command{
		Use: "set KEY VALUE", Short: "Change one setting in coppice.yaml",
		Long: `Sets one key in the coppice.yaml of this repository and leaves every other line as
it is. Write the value as in the file: text, a number, true or false, [a list]
or {a: mapping}. An invalid value is refused, and the file does not change.`,
		Example: "  coppice config set limits.sessions 3\n  coppice config set checks '[make lint, make test]'\n  coppice config set land.how branch",
		Args:    cobra.ExactArgs(2), ValidArgsFunction: completeConfig,
	}, func(c *cobra.Command, args []string, asJSON bool) error {
		value, err := valueOf(args[1])
		if err != nil {
			return err
		}
		return p.configure(c.Context(), config.Change{Key: args[0], Value: value}, asJSON)
	})
}

func (p *program) configUnset() *cobra.Command {
	return withJSON(&cobra.Command{
		Use: "unset KEY", Short: "Remove one setting from coppice.yaml",
		Long:    "Removes one key from the coppice.yaml of this repository, so that its default applies, and leaves every other line as it is.",
		Example: "  coppice config unset limits.sessions",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: completeConfig,
	}, func(c *cobra.Command, args []string, asJSON bool) error {
		return p.configure(c.Context(), config.Change{Key: args[0], Unset: true}, asJSON)
	})
}

// completeConfig lists the keys of coppice.yaml with what they mean.
func completeConfig(_ *cobra.Command, given []string, word string) (out []cobra.Completion, how cobra.ShellCompDirective) {
	how = cobra.ShellCompDirectiveNoFileComp
	if len(given) > 0 {
		return nil, how
	}
	for _, k := range config.Explain(coppice.DefaultPolicy(), config.Source{}) {
		if strings.HasPrefix(k.Name, word) && !strings.ContainsAny(k.Name, "[*") {
			out = append(out, cobra.CompletionWithDesc(k.Name, coppice.FirstLine(k.Doc)))
		}
	}
	return out, how
}

// valueOf reads a value as a person writes it in the file, as JSON.
func valueOf(s string) (json.RawMessage, error) {
	if json.Valid([]byte(s)) {
		return json.RawMessage(s), nil
	}
	if t := strings.TrimSpace(s); !strings.HasPrefix(t, "[") && !strings.HasPrefix(t, "{") {
		return coppice.Raw(s), nil
	}
	b, err := yaml.YAMLToJSON([]byte(s))
	if err != nil {
		return nil, coppice.Errorf(coppice.EInvalid, "%s is neither a list nor a mapping", coppice.Quote(s)).
			WithFix("write it as in the file, [a, b] or {a: b}, and put it in quotes")
	}
	return b, nil
}

// configure makes a change. A running server that knows the project makes it
// without a confirmation. Otherwise the change is made in the file.
func (p *program) configure(ctx context.Context, change config.Change, asJSON bool) error {
	root, err := p.repository(ctx)
	if err != nil {
		return err
	}
	changed, err := p.byServer(ctx, root, func(c *client.Client, project string) error {
		_, err := c.SetConfig(ctx, project, api.ConfigChange{Key: change.Key, Value: change.Value, Unset: change.Unset})
		return err
	})
	var policy coppice.Policy
	switch {
	case err != nil:
	case changed:
		policy, _, err = config.Load(root)
	default:
		policy, err = config.Apply(root, change, "", nil, nil)
	}
	if err != nil {
		return err
	}
	value, err := config.Value(policy, change.Key)
	if err != nil {
		return err
	}
	if asJSON {
		return p.printJSON(map[string]any{"key": change.Key, "value": value, "path": filepath.Join(root, config.File)})
	}
	done := "set"
	if change.Unset {
		done = "unset"
	}
	_, err = fmt.Fprintf(p.out(false), "%s is %s in %s\n", change.Key, done, filepath.Join(root, config.File))
	return err
}

// byServer asks a running server to make a change, if it knows the project of the
// repository.
func (p *program) byServer(ctx context.Context, root string, change func(c *client.Client, project string) error) (changed bool, err error) {
	c, err := p.env.Client()
	if err != nil {
		return false, nil // no server runs; the next one reads the file
	}
	defer c.Close()
	projects, err := c.Projects(ctx)
	if err != nil {
		return false, nil // likewise
	}
	for _, known := range projects {
		if known.Path == root {
			return true, change(c, known.Prefix)
		}
	}
	return false, nil
}
