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
		Dir: dir, Self: self, State: state, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Now: time.Now,
		Client: func() (*client.Client, error) { return client.New(state), nil }, Asks: p.tty, Edit: p.editFile, Open: p.open, Start: p.startFor,
	}
	if p.env.Terminal = term.IsTerminal(os.Stdout.Fd()); p.env.Terminal {
		p.env.Color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
		if w, h, err := term.GetSize(os.Stdout.Fd()); err == nil {
			p.env.Width, p.env.Height = w, h
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
  coppice               show where you are, and the next step
  coppice init          write coppice.yaml, in a git repository
  coppice new "…"       create a task; it starts the server if none runs
  coppice status        show what needs you, what is running and what is waiting
  coppice login --open  open the dashboard`,
	}
	cli.Overview(p.env, root, p.checkout)
	root.AddCommand(p.initCommand(), p.startCommand(), p.serveCommand(), p.demoCommand(), p.doctorCommand(), p.agentsCommand(), p.configCommand(), p.pricesCommand(), p.secretCommand(), p.restoreCommand(), p.versionCommand())
	root.AddCommand(cli.Commands(p.env)...)
	cli.Finish(root, p.env)
	return root
}

func (p *program) initCommand() *cobra.Command {
	var o setup.Options
	c := &cobra.Command{
		Use:   "init",
		Short: "Write a coppice.yaml that fits this repository",
		Long: `Reads the repository, proposes checks, links and copies, and writes coppice.yaml
at its root. It never changes an existing file. Without --yes it asks for the base, the
agent, its fallback, tracks, a browser for verifiers, a first features file and files
for the instructions of agents, and offers to run the checks one time.

If work lands on the branch that is checked out here, your files follow each
landing, as with git merge --ff-only. Coppice never overwrites a file that you
changed: a landing that touches it waits until you commit or stash it. If you
prefer a separate branch, name one with --base and add --create-base to create it.`,
		Example:     "  coppice init\n  coppice init --yes --base ai-develop --create-base\n  coppice init --yes --fallback other-agent --track core,docs --try",
		Args:        cobra.NoArgs,
		Annotations: cli.InsteadOfJSON("leave out --json; `coppice config --json` prints the settings afterwards"),
		RunE: func(c *cobra.Command, _ []string) error {
			runner, err := git.New(git.Config{})
			if err != nil {
				return noGit(err)
			}
			o.Dir, o.Stdout, o.Git = p.env.Dir, p.out(false), runner.Run
			if p.tty {
				o.Stdin = p.env.Stdin
			}
			o.Agents = p.usable(c.Context())
			o.Try = p.tryChecks
			return setup.Init(c.Context(), o)
		},
	}
	c.Flags().BoolVarP(&o.Yes, "yes", "y", false, "use the defaults and ask nothing")
	c.Flags().StringVar(&o.Base, "base", "", "the branch that work lands on")
	c.Flags().BoolVar(&o.Create, "create-base", false, "create the branch that --base names from the current one, if it does not exist")
	c.Flags().StringVar(&o.Agent, "agent", "", "the agent that does the work")
	c.Flags().StringSliceVar(&o.Fallback, "fallback", nil, "the agents that take over if it cannot work: AGENT or AGENT:MODEL (repeatable)")
	c.Flags().StringSliceVar(&o.Tracks, "track", nil, "a track of tasks; the first one is the default (repeatable)")
	c.Flags().BoolVar(&o.Browser, "browser", false, "verifiers use a browser")
	c.Flags().StringVar(&o.Feature, "first-feature", "", "write a features.json with this feature")
	c.Flags().BoolVar(&o.Guides, "guides", false, "write .coppice/PROJECT.md and .coppice/CONVENTIONS.md, with headings for the instructions of agents")
	c.Flags().BoolVar(&o.TryNow, "try", false, "run each check one time on the base, and say which fail")
	return c
}

// usable returns the agents on this machine that can work, best first.
func (p *program) usable(ctx context.Context) (names []string) {
	for _, a := range p.agents(ctx, nil) {
		if a.Version != "" && a.Problem == "" && a.Name != scriptedAgent {
			names = append(names, a.Name)
		}
	}
	return names
}

// scriptedAgent is the built-in agent, which no project should use for work.
const scriptedAgent = "scripted"

func (p *program) serveCommand() *cobra.Command {
	cfg := server.Config{State: p.state, Self: p.self, Version: version, Environ: os.Environ()}
	var verbose, detach, detached, open, stop bool
	c := &cobra.Command{
		Use:     "serve",
		Aliases: []string{"up"},
		Short:   "Run the server",
		Long: `Runs the server until it is interrupted. Sessions outlive it: you can stop or
upgrade it at any time, and the next one continues with them.

With -d the server runs in the background, with its log in the state directory, and
the command returns when it serves. coppice serve --stop stops it. On a terminal the
command prints a link that opens the dashboard, and --open opens it.

On Ctrl-C or SIGTERM the server stops as soon as git has finished what it writes
to your repository, and prints what it is waiting for. A second Ctrl-C ends
pushes to a remote. It does not interrupt git on this machine either.

The server listens where --listen says, otherwise COPPICE_LISTEN (host:port), the port
PORT, the key listen of the user's config.yaml, or 127.0.0.1:4040.`,
		Example:     "  coppice serve\n  coppice serve -d --open\n  coppice serve --stop",
		Args:        cobra.NoArgs,
		Annotations: cli.InsteadOfJSON("leave out --json; `coppice status --json` asks the running server"),
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case stop:
				return p.stopServer(c.Context())
			case detach:
				return p.serveInBackground(c.Context(), changedFlags(c, "detach", "open"), open)
			}
			if !c.Flags().Changed("listen") {
				var err error
				if cfg.Listen, cfg.ListenFrom, err = listenAddress(cfg.Environ); err != nil {
					return err
				}
			}
			how, log := serving{open: open}, p.env.Stderr
			if detached {
				var err error
				if how.report, err = reporter(); err != nil {
					return err
				}
				log = &boundedLog{f: os.Stderr, path: filepath.Join(p.state, serverLog), most: maxServerLog}
			}
			level := slog.LevelWarn
			if verbose {
				level = slog.LevelInfo
			}
			cfg.Redact = redact.New()
			cfg.Logger = slog.New(slog.NewTextHandler(cfg.Redact.Writer(log), &slog.HandlerOptions{Level: level}))
			return p.serve(c.Context(), cfg, how)
		},
	}
	f := c.Flags()
	f.BoolVarP(&detach, "detach", "d", false, "run in the background")
	f.BoolVar(&open, "open", false, "open the dashboard in a browser")
	f.BoolVar(&stop, "stop", false, "stop the server that is running")
	f.BoolVar(&detached, detachedArg, false, "")
	_ = f.MarkHidden(detachedArg) // it exists
	c.MarkFlagsMutuallyExclusive("detach", "stop")
	c.MarkFlagsMutuallyExclusive("open", "stop")
	f.StringVar(&cfg.Listen, "listen", server.DefaultListen, "where to listen; loopback only, port 0 picks a free one; COPPICE_LISTEN sets the default")
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
	var fast bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "Run six tasks in parallel in a sample repository, offline",
		Long: `Creates a sample repository and a separate state in a temporary folder, starts
a server, and lets the built-in scripted agent do six tasks in parallel. One needs a
fix round, one resolves a merge conflict, one asks a question. The demo needs no key
and no network.

On a terminal it takes about 20 seconds, explains what happens, opens the dashboard,
lets you answer the question, and keeps the dashboard open until you press Enter. With
--fast, --json or without a terminal, it runs without pauses and ends.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.Self, o.Stdout, o.Color, o.Width, o.Environ = p.self, p.env.Stdout, p.env.Color, p.env.Width, os.Environ()
			if o.Live = p.env.Terminal && !fast && !o.JSON; o.Live {
				o.Open = p.open
			}
			if p.tty {
				o.Stdin = p.env.Stdin
			}
			return demo.Run(c.Context(), o)
		},
	}
	c.Flags().BoolVar(&fast, "fast", false, "run without pauses, and end")
	c.Flags().BoolVar(&o.Keep, "keep", false, "keep the folder and print its path")
	c.Flags().BoolVar(&o.JSON, "json", false, "print the summary as JSON only")
	return c
}

func runGit(ctx context.Context, dir string, args ...string) (string, error) {
	runner, err := git.New(git.Config{})
	if err != nil {
		return "", err
	}
	return runner.Run(ctx, dir, args...)
}

func (p *program) configCommand() *cobra.Command {
	var asJSON, schema, user bool
	c := &cobra.Command{
		Use:   "config",
		Short: "Show every setting of this repository, its value and where it comes from",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if schema {
				b := config.Schema()
				if user {
					b = config.UserSchema()
				}
				_, err := p.env.Stdout.Write(b)
				return err
			}
			s, err := p.settings(c.Context(), user)
			if err != nil {
				return err
			}
			return p.printConfig(s.keys, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&schema, "schema", false, "print the JSON Schema of coppice.yaml")
	c.Flags().BoolVar(&user, "user", false, "show your own configuration, which applies to all repositories")
	c.AddCommand(p.configGet(), p.configSet(), p.configUnset(), p.configPrompt())
	return c
}

func (p *program) printConfig(keys []config.Key, asJSON bool) error {
	if asJSON {
		return p.printJSON(keys)
	}
	return config.Print(p.out(asJSON), keys)
}

func (p *program) restoreCommand() *cobra.Command {
	var yes, asJSON bool
	c := &cobra.Command{
		Use:   "restore BACKUP",
		Short: "Replace the database with a backup",
		Long: `Checks a backup and replaces the database with it. The old database is kept next
to it. The server must not be running. Backups are in the backups folder of the state
directory; ` + "`coppice backup`" + ` writes another one.`,
		Example: "  coppice restore ~/.local/state/coppice/backups/manual-20260131T090000.000000000Z.db.gz",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if !yes && (asJSON || !p.confirm("Replace the database with "+args[0]+"?")) {
				return coppice.Errorf(coppice.EInvalid, "nothing was restored").WithFix("pass --yes to restore without a question")
			}
			to := filepath.Join(p.state, "coppice.db")
			if err := sqlite.Restore(c.Context(), args[0], to); err != nil {
				return err
			}
			if asJSON {
				return p.printJSON(map[string]string{"path": to, "from": args[0]})
			}
			fmt.Fprintf(p.out(false), "restored %s from %s\n", to, args[0])
			return nil
		},
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// printJSON prints a value for programs.
func (p *program) printJSON(v any) error {
	e := json.NewEncoder(p.env.Stdout)
	e.SetIndent("", "  ")
	return e.Encode(v)
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
