package browser

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"syscall"
	"time"

	"coppice/internal/environ"
	"coppice/internal/process"
)

const (
	grace    = 3 * time.Second  // for each step of an end
	keepWait = 15 * time.Second // for one picture to be kept
	killWait = 10 * time.Second // for processes that are being killed
)

// Config is what Run needs. Log and Grace have sound zero values.
type Config struct {
	Found
	Profiles string   // the directory in which the browser's profile is made, and removed again
	Environ  []string // of which the tool server gets what it needs
	Root     bool     // Chromium has no sandbox for root

	In       io.Reader // from the agent
	Out, Err io.Writer // to the agent

	Keep  func(ctx context.Context, picture []byte) error
	Log   *slog.Logger
	Grace time.Duration // for each step of an end; 3 s when 0
}

// passed are the variables that the tool server gets. It needs them to run and to
// be found again. None of the agent's secrets is among them.
var passed = environ.Base.And(environ.Network, environ.Allowed{
	"SHELL", "LC_*", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "NODE_EXTRA_CA_CERTS", "npm_config_*", "NPM_CONFIG_*",
	process.SessionVar, process.MarkVar,
})

// Run runs the tool server until the agent hangs up, ctx ends or it ends by
// itself, and returns its exit code. Nothing of it is left then, neither a
// process nor the profile: Run ends every child of this process, so it is for a
// process that does nothing else. The goroutine that reads In ends with In.
func Run(ctx context.Context, c Config) (int, error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Grace == 0 {
		c.Grace = grace
	}
	if err := os.MkdirAll(c.Profiles, 0o700); err != nil {
		return 1, fmt.Errorf("making the browser's profile: %w", err)
	}
	profile, err := os.MkdirTemp(c.Profiles, "profile-")
	if err != nil {
		return 1, fmt.Errorf("making the browser's profile: %w", err)
	}
	defer os.RemoveAll(profile)
	if err := process.Subreaper(); err != nil {
		c.Log.Debug("orphans of the browser will not come back", "error", err)
	}
	argv := append(c.Server[:len(c.Server):len(c.Server)], c.arguments(profile)...)
	in, stdin, err := os.Pipe()
	if err != nil {
		return 1, fmt.Errorf("starting the browser: %w", err)
	}
	defer stdin.Close()
	stdout, out, err := os.Pipe()
	if err != nil {
		in.Close()
		return 1, fmt.Errorf("starting the browser: %w", err)
	}
	defer stdout.Close()
	// It stays in the agent's process group, and so ends with the agent.
	cmd, err := process.Command{Argv: argv, Env: c.environ(profile), Stdin: in, Stdout: out, Stderr: c.Err, SameGroup: true}.Start()
	in.Close()
	out.Close()
	if err != nil {
		return 1, fmt.Errorf("starting the browser: %w", err)
	}
	return c.attend(ctx, cmd, stdin, stdout)
}

// attend carries the conversation and sees to its end.
func (c *Config) attend(ctx context.Context, cmd *exec.Cmd, stdin io.WriteCloser, stdout *os.File) (int, error) {
	w := &watcher{log: c.Log, keep: func(picture []byte) error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepWait)
		defer cancel()
		return c.Keep(ctx, picture)
	}}
	hungUp, said := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(hungUp)
		// Whichever side is gone: the conversation is over.
		_ = relay(stdin, c.In, mostLine, w.asked)
	}()
	go func() {
		defer close(said)
		_ = relay(c.Out, stdout, mostLine, w.answered)
	}()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // its state tells
	}()
	select {
	case <-hungUp:
	case <-said:
	case <-ended:
	case <-ctx.Done():
	}
	c.end(cmd, stdin, ended)
	sweep, cancel := context.WithTimeout(context.WithoutCancel(ctx), killWait)
	defer cancel()
	if _, err := process.Sweep(sweep, process.Mark{Parent: os.Getpid()}); err != nil {
		c.Log.Warn("some of the browser's processes could not be ended", "error", err)
	}
	<-ended
	// Nobody is left who could write.
	<-said
	if code := cmd.ProcessState.ExitCode(); code >= 0 {
		return code, nil
	}
	return 1, nil // it had to be killed
}

// end has the tool server end by itself, which closes the browser, and then
// less kindly. What it leaves behind is swept.
func (c *Config) end(cmd *exec.Cmd, stdin io.Closer, ended <-chan struct{}) {
	within := func() bool {
		t := time.NewTimer(c.Grace)
		defer t.Stop()
		select {
		case <-ended:
			return true
		case <-t.C:
			return false
		}
	}
	_ = stdin.Close() // it may have gone by itself
	if within() {
		return
	}
	_ = cmd.Process.Signal(syscall.SIGTERM) // likewise
	within()
}

// arguments are the tool server's: no window, no profile but this, and nothing
// told to anybody.
func (c *Config) arguments(profile string) []string {
	args := []string{
		"--headless", "--userDataDir=" + profile, "--executablePath=" + c.Chromium, "--viewport=1280x720",
		"--no-usage-statistics", "--no-performance-crux",
	}
	if c.Root {
		args = append(args, "--chromeArg=--no-sandbox", "--chromeArg=--disable-dev-shm-usage")
	}
	return args
}

// environ is the tool server's environment. Chromium keeps some files beside
// every profile, which would be the person's own: they go to this one.
func (c *Config) environ(profile string) []string {
	env := []string{"CHROME_DEVTOOLS_MCP_NO_UPDATE_CHECKS=1", "CHROME_DEVTOOLS_MCP_NO_USAGE_STATISTICS=1", "CHROME_CONFIG_HOME=" + profile}
	return append(env, passed.Pick(c.Environ)...)
}
