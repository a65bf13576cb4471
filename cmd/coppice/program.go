package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"coppice"
	"coppice/api/client"
	"coppice/cmd/coppice/cli"
	"coppice/cmd/coppice/demo"
	"coppice/cmd/coppice/server"
	"coppice/cmd/coppice/setup"
	"coppice/config"
	"coppice/internal/browser"
	"coppice/internal/process"
	"coppice/internal/redact"
	"coppice/store/sqlite"
	"coppice/workspace/git"
)

// program is the command line: it has what the commands share.
type program struct {
	env   cli.Env
	self  string // path of this program
	state string // the state directory
	tty   bool   // a person can answer
}

func newProgram() (*program, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("the current directory cannot be read: %w", err)
	}
	state, err := stateDir()
	if err != nil {
		return nil, err
	}
	p := &program{self: self, state: state, tty: term.IsTerminal(os.Stdin.Fd()) && term.IsTerminal(os.Stdout.Fd())}
	p.env = cli.Env{
		Dir: dir, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Now: time.Now,
		Client: func() (*client.Client, error) { return client.New(state), nil }, Asks: p.tty,
	}
	if p.env.Terminal = term.IsTerminal(os.Stdout.Fd()); p.env.Terminal {
		p.env.Color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
		if w, _, err := term.GetSize(os.Stdout.Fd()); err == nil {
			p.env.Width = w
		}
	}
	return p, nil
}

// out returns where a command writes: JSON unchanged, text for people without the
// characters that a terminal obeys.
func (p *program) out(asJSON bool) io.Writer {
	if asJSON {
		return p.env.Stdout
	}
	return cli.Screen(p.env.Stdout)
}

// stateDir returns the state directory: COPPICE_STATE, or coppice below the XDG state
// directory.
func stateDir() (string, error) {
	if dir := os.Getenv("COPPICE_STATE"); dir != "" {
		return filepath.Abs(dir)
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "coppice"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("there is no home directory for the state: %w; set COPPICE_STATE", err)
	}
	return filepath.Join(home, ".local", "state", "coppice"), nil
}

func (p *program) run(ctx context.Context, args []string) int {
	return cli.Run(ctx, p.root(), p.env, args)
}

// root returns the command tree.
func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:     "coppice",
		Short:   "Run many coding agents on a repository in parallel, and land only what passes",
		Version: version,
		Long: `Coppice runs many AI coding agents on a repository in parallel. Each one has its
own workspace. Coppice checks the results and lands only what passes.

Start with:
  coppice init     write coppice.yaml, in a git repository
  coppice serve    run the server, in a separate terminal
  coppice new "…"  create a task
  coppice status   show what needs you, what is running and what is waiting`,
	}
	root.AddCommand(p.initCommand(), p.serveCommand(), p.demoCommand(), p.doctorCommand(), p.agentsCommand(), p.configCommand(), p.pricesCommand(), p.secretCommand(), p.restoreCommand())
	root.AddCommand(cli.Commands(p.env)...)
	return root
}

func (p *program) initCommand() *cobra.Command {
	var o setup.Options
	c := &cobra.Command{
		Use:   "init",
		Short: "Write a coppice.yaml that fits this repository",
		Long: `Reads the repository, proposes checks, links and copies, and writes coppice.yaml
at its root. It never changes an existing file.

If work lands on the branch that is checked out here, your files follow each
landing, as with git merge --ff-only. Coppice never overwrites a file that you
changed: a landing that touches it waits until you commit or stash it. If you
prefer a separate branch, name one with --base and add --create-base to create it.`,
		Example: "  coppice init\n  coppice init --yes --base ai-develop --create-base",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			runner, err := git.New(git.Config{})
			if err != nil {
				return coppice.Errorf(coppice.EUnavailable, "git cannot be used: %w", err).WithFix("install git 2.38 or newer")
			}
			o.Dir, o.Stdout, o.Git = p.env.Dir, p.out(false), runner.Run
			if p.tty {
				o.Stdin = p.env.Stdin
			}
			for _, a := range p.agents(c.Context()) {
				if a.Version != "" && a.Problem == "" && a.Name != scriptedAgent {
					o.Agents = append(o.Agents, a.Name)
				}
			}
			return setup.Init(c.Context(), o)
		},
	}
	c.Flags().BoolVarP(&o.Yes, "yes", "y", false, "use the defaults and ask nothing")
	c.Flags().StringVar(&o.Base, "base", "", "the branch that work lands on")
	c.Flags().BoolVar(&o.Create, "create-base", false, "create the branch that --base names from the current one, if it does not exist")
	c.Flags().StringVar(&o.Agent, "agent", "", "the agent that does the work")
	return c
}

// scriptedAgent is the built-in agent, which no project should use for work.
const scriptedAgent = "scripted"

func (p *program) serveCommand() *cobra.Command {
	cfg := server.Config{State: p.state, Self: p.self, Version: version, Environ: os.Environ()}
	var verbose bool
	c := &cobra.Command{
		Use:     "serve",
		Aliases: []string{"up"},
		Short:   "Run the server",
		Long: `Runs the server until it is interrupted. Sessions outlive it: you can stop or
upgrade it at any time, and the next one continues with them.

On Ctrl-C or SIGTERM the server stops as soon as git has finished what it writes
to your repository, and prints what it is waiting for. A second Ctrl-C ends
pushes to a remote. It does not interrupt git on this machine either.

The server listens where --listen says, otherwise COPPICE_LISTEN (host:port), the port
PORT, the key listen of the user's config.yaml, or 127.0.0.1:4040.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if !c.Flags().Changed("listen") {
				var err error
				if cfg.Listen, cfg.ListenFrom, err = listenAddress(cfg.Environ); err != nil {
					return err
				}
			}
			level := slog.LevelWarn
			if verbose {
				level = slog.LevelInfo
			}
			cfg.Redact = redact.New()
			cfg.Logger = slog.New(slog.NewTextHandler(cfg.Redact.Writer(p.env.Stderr), &slog.HandlerOptions{Level: level}))
			return p.serve(c.Context(), cfg)
		},
	}
	f := c.Flags()
	f.StringVar(&cfg.Listen, "listen", server.DefaultListen, "where to listen; loopback only, port 0 picks a free one")
	f.StringSliceVar(&cfg.Names, "name", nil, "another host name for the server")
	f.IntVar(&cfg.MaxSessions, "sessions", 0, "the most live sessions of all projects together (0: only the projects' limits)")
	f.IntVar(&cfg.KeepEvents, "keep-events", 0, "how many events the log keeps (0: 200000)")
	f.DurationVar(&cfg.KeepFor, "keep-for", 0, "how long events are kept (0: 90 days)")
	f.IntVar(&cfg.Backups, "backups", 0, "how many automatic backups are kept (0: 7)")
	f.DurationVar(&cfg.BackupEvery, "backup-every", 0, "how often an automatic backup is written (0: 6 hours)")
	f.DurationVar(&cfg.LandingPause, "landing-pause", 0, "the first pause before a blocked landing is retried; it doubles up to a minute (0: 2 seconds)")
	f.BoolVarP(&verbose, "verbose", "v", false, "log more")
	return c
}

func (p *program) demoCommand() *cobra.Command {
	var o demo.Options
	c := &cobra.Command{
		Use:   "demo",
		Short: "Run six tasks in parallel in a sample repository, offline",
		Long: `Creates a sample repository and a separate state in a temporary folder, starts
a server, and lets the built-in scripted agent do six tasks in parallel. One needs a
fix round, one resolves a merge conflict. The demo needs no key and no network.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.Self, o.Stdout, o.Color, o.Width, o.Environ = p.self, p.env.Stdout, p.env.Color, p.env.Width, os.Environ()
			return demo.Run(c.Context(), o)
		},
	}
	c.Flags().BoolVar(&o.Keep, "keep", false, "keep the folder and print its path")
	c.Flags().BoolVar(&o.JSON, "json", false, "print the summary as JSON only")
	return c
}

func (p *program) doctorCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check that this machine has what Coppice needs",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			r := setup.Doctor(c.Context(), setup.Machine{
				StateDir: p.state, Git: runGit, Abilities: abilities,
				Agents: p.agents, Problems: p.problems, Browser: p.browser, Secrets: p.checkSecrets, Database: p.database,
			})
			if err := r.Print(p.out(asJSON), asJSON); err != nil {
				return err
			}
			if r.Exit() != 0 {
				return coppice.Errorf(coppice.EUnavailable, "a check failed").WithFix("fix the rows marked fail")
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// problems returns the problems of the project in the working directory.
func (p *program) problems(ctx context.Context) []string {
	root, err := runGit(ctx, p.env.Dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil // the directory is not in a repository
	}
	policy, _, err := config.Load(root)
	if err != nil {
		return []string{coppice.Public(err).Cause}
	}
	return policy.Problems
}

// browser searches for the browser that the project's verifiers use.
func (p *program) browser(ctx context.Context) *setup.Browser {
	root, err := runGit(ctx, p.env.Dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil
	}
	policy, _, err := config.Load(root)
	if err != nil || !policy.Verify.Browser {
		return nil // problems reports what is wrong with the policy
	}
	if _, own := policy.MCP["browser"]; own {
		return &setup.Browser{Detail: "the project's own tool server"}
	}
	found, err := browser.Find(os.Environ())
	var missing *browser.Missing
	switch {
	case errors.As(err, &missing):
		return &setup.Browser{Problem: missing.What, Fix: missing.Fix + "; or set verify.browser to false"}
	case err != nil:
		return &setup.Browser{Problem: err.Error()}
	}
	return &setup.Browser{Detail: found.Chromium + ", driven by " + strings.Join(found.Server, " ")}
}

func runGit(ctx context.Context, dir string, args ...string) (string, error) {
	runner, err := git.New(git.Config{})
	if err != nil {
		return "", err
	}
	return runner.Run(ctx, dir, args...)
}

// abilities returns what the operating system lets Coppice do.
func abilities(context.Context) []setup.Ability {
	a := process.Abilities()
	rows := []setup.Ability{
		{Name: "cgroup", OK: a.Cgroup != "", Detail: a.Cgroup},
		{Name: "subreaper", OK: a.Subreaper},
	}
	for _, n := range a.Notes {
		rows = append(rows, setup.Ability{Name: "note", OK: true, Detail: n})
	}
	return rows
}

func (p *program) agentsCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "agents",
		Short: "List the agent CLIs that Coppice knows, and which are installed",
		Long: `Lists the agent CLIs that Coppice knows: the installed version, whether you are
logged in, the protocol, and what the agent can do:

  messages     it accepts messages during a turn
  resume       it can continue a conversation that has ended
  fork         it can continue a copy of a conversation
  model        it can change its model during a session
  permissions  it asks before it uses a tool
  tools        it can use tool servers
  screen       a person can work on its own screen`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return setup.PrintAgents(p.out(asJSON), p.agents(c.Context()), asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (p *program) configCommand() *cobra.Command {
	var asJSON, schema, user bool
	c := &cobra.Command{
		Use:   "config",
		Short: "Show every setting of this repository, its value and where it comes from",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if user {
				return p.userConfig(schema, asJSON)
			}
			if schema {
				_, err := p.env.Stdout.Write(config.Schema())
				return err
			}
			root, err := p.repository(c.Context())
			if err != nil {
				return err
			}
			policy, src, err := config.Load(root)
			if err != nil {
				return err
			}
			return p.printConfig(config.Explain(policy, src), asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&schema, "schema", false, "print the JSON Schema of coppice.yaml")
	c.Flags().BoolVar(&user, "user", false, "show your own configuration, which applies to all repositories")
	c.AddCommand(p.configGet(), p.configSet(), p.configUnset())
	return c
}

func (p *program) printConfig(keys []config.Key, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(p.env.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(keys)
	}
	return config.Print(p.out(asJSON), keys)
}

func (p *program) restoreCommand() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "restore BACKUP",
		Short: "Replace the database with a backup",
		Long: `Checks a backup and replaces the database with it. The old database is kept next
to it. The server must not be running. Backups are in the backups folder of the state
directory; ` + "`coppice backup`" + ` writes another one.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if !yes && !p.confirm("Replace the database with "+args[0]+"?") {
				return coppice.Errorf(coppice.EInvalid, "nothing was restored").WithFix("pass --yes to restore without a question")
			}
			to := filepath.Join(p.state, "coppice.db")
			if err := sqlite.Restore(c.Context(), args[0], to); err != nil {
				return err
			}
			fmt.Fprintf(p.out(false), "restored %s from %s\n", to, args[0])
			return nil
		},
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

// confirm asks a person. Without a terminal it returns false.
func (p *program) confirm(question string) bool {
	if !p.tty {
		return false
	}
	fmt.Fprintf(p.out(false), "%s [y/N] ", question)
	var answer string
	if _, err := fmt.Fscanln(p.env.Stdin, &answer); err != nil && !errors.Is(err, io.EOF) {
		return false
	}
	return answer == "y" || answer == "yes"
}
