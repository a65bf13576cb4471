package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
	"coppice/config"
	"coppice/secret"
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

// settings is the configuration that a command is about: that of the repository, or with
// --user that of the user.
type settings struct {
	path  string
	keys  []config.Key
	value func(key string) (json.RawMessage, error)
}

func (p *program) settings(ctx context.Context, user bool) (settings, error) {
	if user {
		dir, err := secret.UserDir(os.Environ())
		if err != nil {
			return settings{}, err
		}
		u, src, err := config.LoadUser(dir)
		return settings{src.Path, config.ExplainUser(u, src), func(key string) (json.RawMessage, error) { return config.UserValue(u, key) }}, err
	}
	policy, src, err := p.policy(ctx)
	return settings{src.Path, config.Explain(policy, src), func(key string) (json.RawMessage, error) { return config.Value(policy, key) }}, err
}

// withUser gives a command about settings the flags --user and --json.
func withUser(c *cobra.Command, run func(c *cobra.Command, args []string, user, asJSON bool) error) *cobra.Command {
	user := c.Flags().Bool("user", false, "your own configuration, which applies to all repositories")
	return withJSON(c, func(c *cobra.Command, args []string, asJSON bool) error { return run(c, args, *user, asJSON) })
}

func (p *program) configGet() *cobra.Command {
	return withUser(&cobra.Command{
		Use: "get KEY", Short: "Show one setting",
		Long:    "Shows the value of one key of coppice.yaml, or its default if it is not set. For a key that contains other keys, shows all of them.",
		Example: "  coppice config get limits.sessions\n  coppice config get land --json\n  coppice config get notify.pause --user",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: completeConfig,
	}, func(c *cobra.Command, args []string, user, asJSON bool) error {
		s, err := p.settings(c.Context(), user)
		if err != nil {
			return err
		}
		value, err := s.value(args[0])
		if err != nil {
			return err
		}
		if asJSON {
			_, err := fmt.Fprintf(p.env.Stdout, "%s\n", value)
			return err
		}
		for _, k := range s.keys {
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
	return withUser(&cobra.Command{
		Use: "set KEY VALUE", Short: "Change one setting in coppice.yaml",
		Long: `Sets one key in the coppice.yaml of this repository and leaves every other line as
it is. Write the value as in the file: text, a number, true or false, [a list]
or {a: mapping}. An invalid value is refused, and the file does not change.
With --user, changes your own config.yaml.`,
		Example: "  coppice config set limits.sessions 3\n  coppice config set checks '[make lint, make test]'\n  coppice config set land.how branch\n" +
			"  coppice config set --user notify.notifiers.phone '{kind: ntfy, to: [my-topic]}'",
		Args: cobra.ExactArgs(2), ValidArgsFunction: completeConfig,
	}, func(c *cobra.Command, args []string, user, asJSON bool) error {
		value, err := valueOf(args[1])
		if err != nil {
			return err
		}
		return p.configure(c.Context(), config.Change{Key: args[0], Value: value}, user, asJSON)
	})
}

func (p *program) configUnset() *cobra.Command {
	return withUser(&cobra.Command{
		Use: "unset KEY", Short: "Remove one setting from coppice.yaml",
		Long: `Removes one key from the coppice.yaml of this repository, so that its default applies,
and leaves every other line as it is. With --user, changes your own config.yaml.`,
		Example: "  coppice config unset limits.sessions\n  coppice config unset --user notify.pause",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: completeConfig,
	}, func(c *cobra.Command, args []string, user, asJSON bool) error {
		return p.configure(c.Context(), config.Change{Key: args[0], Unset: true}, user, asJSON)
	})
}

// completeConfig lists the keys of coppice.yaml, or of config.yaml, with what they mean.
func completeConfig(c *cobra.Command, given []string, word string) (out []cobra.Completion, how cobra.ShellCompDirective) {
	how = cobra.ShellCompDirectiveNoFileComp
	if len(given) > 0 {
		return nil, how
	}
	keys := config.Explain(coppice.DefaultPolicy(), config.Source{})
	if user, err := c.Flags().GetBool("user"); err == nil && user {
		keys = config.ExplainUser(config.DefaultUser(), config.Source{})
	}
	for _, k := range keys {
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

// configure makes a change.
func (p *program) configure(ctx context.Context, change config.Change, user, asJSON bool) error {
	apply := p.changePolicy
	if user {
		apply = changeUser
	}
	if err := apply(ctx, change); err != nil {
		return err
	}
	s, err := p.settings(ctx, user)
	if err != nil {
		return err
	}
	value, err := s.value(change.Key)
	if err != nil {
		return err
	}
	if asJSON {
		return p.printJSON(map[string]any{"key": change.Key, "value": value, "path": s.path})
	}
	done := "set"
	if change.Unset {
		done = "unset"
	}
	_, err = fmt.Fprintf(p.out(false), "%s is %s in %s\n", change.Key, done, s.path)
	return err
}

// changePolicy changes the coppice.yaml of the repository. A running server that knows
// the project makes the change without a confirmation. Otherwise it is made in the file.
func (p *program) changePolicy(ctx context.Context, change config.Change) error {
	root, err := p.repository(ctx)
	if err != nil {
		return err
	}
	changed, err := p.byServer(ctx, root, func(c *client.Client, project string) error {
		_, err := c.SetConfig(ctx, project, api.ConfigChange{Key: change.Key, Value: change.Value, Unset: change.Unset})
		return err
	})
	if err == nil && !changed {
		_, err = config.Apply(root, change, "", nil, nil)
	}
	return err
}

// changeUser changes the user's config.yaml. A running server reads it again.
func changeUser(ctx context.Context, change config.Change) error {
	dir, err := secret.UserDir(os.Environ())
	if err == nil {
		_, err = config.ApplyUser(ctx, dir, change, "")
	}
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
