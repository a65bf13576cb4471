// Package cli is the commands that talk to a running server. Each one parses
// its arguments, makes a call or two through api/client and prints the answer:
// a table for people, or with --json the API's types for programs.
//
// Titles, messages and everything that agents write are untrusted. None of
// their control characters reaches a terminal (see Clean).
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

// Env is the world a command runs in.
type Env struct {
	Client   func() (*client.Client, error) // finds the server
	Dir      string                         // the current directory
	Self     string                         // the path of this program
	State    string                         // the state directory
	Stdin    io.Reader
	Stdout   io.Writer
	Stderr   io.Writer
	Terminal bool // Stdout is a terminal
	Color    bool // Stdout is a terminal and colour is not turned off
	Width    int  // columns of the terminal; 0 if unknown
	Height   int  // rows of the terminal; 0 if unknown
	Asks     bool // a person can answer questions on Stdin
	Now      func() time.Time
	Getenv   func(string) string // nil means the process's own environment

	// Open opens an address in a browser. Nil if that is not possible.
	Open func(ctx context.Context, address string) error
	// Start starts a server in the background if none runs. With here, it first
	// checks that a task can be created in the current directory. Nil if commands
	// cannot start one.
	Start func(ctx context.Context, here bool) (address string, started bool, err error)
	Edit  func(ctx context.Context, path string) error // opens a file in the person's editor
}

// Exit codes. The help topic exit-codes lists them.
const (
	exitOK         = 0
	exitFailed     = 1
	exitUsage      = 2
	exitNeedsYou   = 3   // a task needs a person
	exitTaskFailed = 4   // a task failed or was stopped
	exitTimeout    = 124 // as timeout(1) does
)

// Commands returns the commands, to be added to a root command. A nil Now means
// the time of day.
func Commands(env Env) []*cobra.Command {
	if env.Now == nil {
		env.Now = time.Now
	}
	if env.Getenv == nil {
		env.Getenv = os.Getenv
	}
	e := &env
	return append(e.verbCommands(),
		e.newCommand(), e.listCommand(), e.statusCommand(), e.inboxCommand(), e.groupCommand(), e.goalCommand(), e.cycleCommand(), e.debateCommand(), e.batchCommand(), e.flowCommand(), e.hooksCommand(), e.notifyCommand(), e.noteCommand(), e.scheduleCommand(), e.templateCommand(), e.showCommand(), e.logsCommand(), e.diffCommand(), e.reviewCommand(), e.branchCommand(),
		e.sendCommand(), e.answerCommand(), e.interruptCommand(), e.modelCommand(), e.undoCommand(), e.trashCommand(), e.forkCommand(), e.setCommand(), e.limitsCommand(), e.rulesCommand(), e.locksCommand(),
		e.prCommand(), e.issuesCommand(), e.reactionsCommand(), e.searchCommand(), e.usageCommand(), e.archiveCommand(), e.unarchiveCommand(),
		e.projectCommand(), e.featuresCommand(), e.importCommand(), e.eventsCommand(), e.backupCommand(), e.loginCommand(), e.attachCommand(),
		e.previewCommand(), e.waitCommand(), e.apiCommand(), e.mcpCommand(),
	)
}

// Run runs a root command and returns the exit code: 0, 1 when the command
// failed, 2 if it was used wrongly and did not start, or a code that reports a
// state.
func Run(ctx context.Context, root *cobra.Command, env Env, args []string) int {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetArgs(args)
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	started := false
	noteStart(root, &started)
	c, err := root.ExecuteContextC(ctx)
	if err != nil && !started {
		err = explainUse(c, err)
	}
	var use usage
	var state exitState
	var late timedOut
	code := exitFailed
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &state):
		return int(state)
	case errors.As(err, &use):
		code = exitUsage
	case errors.As(err, &late):
		code = exitTimeout
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return exitFailed // the person pressed Ctrl-C
	}
	if wantsJSON(c, args) {
		printErrorJSON(env, err)
	} else {
		PrintError(env, err)
	}
	return code
}

// noteStart makes every command note that its arguments were accepted.
func noteStart(c *cobra.Command, started *bool) {
	if run := c.RunE; run != nil {
		c.RunE = func(c *cobra.Command, args []string) error {
			*started = true
			return run(c, args)
		}
	}
	for _, sub := range c.Commands() {
		noteStart(sub, started)
	}
}

// args checks the number of arguments. what names them for the error.
func args(least, most int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, given []string) error {
		if len(given) < least {
			return wrongUse(fmt.Sprintf("%s needs %s", c.CommandPath(), what), "see "+c.CommandPath()+" --help")
		}
		if most == 0 && len(given) > 0 && c.HasAvailableSubCommands() {
			return unknownCommand(c, given[0])
		}
		if most == 0 && len(given) > 0 {
			return wrongUse(c.CommandPath()+" takes no arguments", "see "+c.CommandPath()+" --help")
		}
		if most >= 0 && len(given) > most {
			return wrongUse(fmt.Sprintf("%s takes %s and no more", c.CommandPath(), what), "put text that has blanks in quotes; see "+c.CommandPath()+" --help")
		}
		return nil
	}
}

// call finds the server and runs f with it.
func (e *Env) call(c *cobra.Command, f func(ctx context.Context, cl *client.Client) error) error {
	cl, err := e.Client()
	if err != nil {
		return err
	}
	defer cl.Close()
	return f(c.Context(), cl)
}

// jsonFlag adds --json.
func jsonFlag(c *cobra.Command) *bool {
	return c.Flags().Bool("json", false, "print JSON for programs")
}

// shows has a command get a value from the server and show it, or print it with
// --json.
func shows[T any](e *Env, c *cobra.Command, get func(ctx context.Context, cl *client.Client, given []string) (T, error), show func(T)) *cobra.Command {
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		return result(e, c, *asJSON, func(ctx context.Context, cl *client.Client) (T, error) { return get(ctx, cl, given) }, show)
	}
	return c
}

// tests is shows for a command that exits with 1 if what it shows has failed.
func tests[T any](e *Env, c *cobra.Command, get func(ctx context.Context, cl *client.Client, given []string) (v T, failed bool, err error), show func(T)) *cobra.Command {
	failed := false
	shows(e, c, func(ctx context.Context, cl *client.Client, given []string) (v T, err error) {
		v, failed, err = get(ctx, cl, given)
		return v, err
	}, show)
	run := c.RunE
	c.RunE = func(c *cobra.Command, given []string) error {
		err := run(c, given)
		if err == nil && failed {
			return exitState(exitFailed)
		}
		return err
	}
	return c
}

// showsIn is shows for a command about a project: the one whose prefix is given, or that
// of the current directory.
func showsIn[T any](e *Env, c *cobra.Command, project *string, get func(ctx context.Context, cl *client.Client, prefix string, given []string) (T, error), show func(T)) *cobra.Command {
	return shows(e, c, func(ctx context.Context, cl *client.Client, given []string) (out T, err error) {
		prefix, err := e.named(ctx, cl, names(*project))
		if err != nil {
			return out, err
		}
		return get(ctx, cl, prefix, given)
	}, show)
}

// result gets a value from the server and shows it, or prints it as JSON.
func result[T any](e *Env, c *cobra.Command, asJSON bool, get func(ctx context.Context, cl *client.Client) (T, error), show func(T)) error {
	return e.call(c, func(ctx context.Context, cl *client.Client) error {
		v, err := get(ctx, cl)
		switch {
		case err != nil:
			return err
		case asJSON:
			return e.json(v)
		}
		show(v)
		return nil
	})
}

// here returns the known project whose checkout the current directory is in,
// nil when it is in none.
func (e *Env) here(ctx context.Context, cl *client.Client) (*api.Project, error) {
	projects, err := cl.Projects(ctx)
	if err != nil {
		return nil, err
	}
	var best *api.Project
	for i, p := range projects {
		rel, err := filepath.Rel(p.Path, e.Dir)
		if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			continue
		}
		if best == nil || len(p.Path) > len(best.Path) {
			best = &projects[i]
		}
	}
	return best, nil
}

// text reads a text from the arguments, or from stdin for "-".
func (e *Env) text(words []string) (string, error) {
	if len(words) == 1 && words[0] == "-" {
		b, err := io.ReadAll(io.LimitReader(e.Stdin, coppice.MaxBody+1))
		return string(b), err
	}
	return strings.Join(words, " "), nil
}
