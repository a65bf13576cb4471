package browser

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"coppice/internal/environ"
	"coppice/internal/process"
)

const (
	grace    = 3 * time.Second  // for each step of stopping
	keepWait = 15 * time.Second // for one picture to be kept
	killWait = 10 * time.Second // for processes that are being killed
)

// Config configures Run. Log and Grace are optional.
type Config struct {
	Found
	Profiles string   // the directory for the browser's profile, which Run removes
	Environ  []string // of which the tool server gets a part
	Root     bool     // Chromium has no sandbox for root

	In       io.Reader // from the agent
	Out, Err io.Writer // to the agent

	Keep  func(ctx context.Context, picture []byte) error
	Log   *slog.Logger
	Grace time.Duration // for each step of stopping; 3 s if 0
}

// passed are the variables that the tool server gets. It needs them to run and to
// be found again. None of the agent's secrets is among them.
var passed = environ.Base.And(environ.Network, environ.Allowed{
	"SHELL", "LC_*", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "NODE_EXTRA_CA_CERTS", "npm_config_*", "NPM_CONFIG_*",
	process.SessionVar, process.MarkVar,
})

// Run runs the tool server until the agent closes the connection, ctx ends or the
// server exits, and returns its exit code. Run ends every child of this process and
// removes the profile, so it is for a process that does nothing else. The goroutine
// that reads In ends with In.
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

// attend passes the messages on until one side ends.
func (c *Config) attend(ctx context.Context, cmd *exec.Cmd, stdin io.WriteCloser, stdout *os.File) (int, error) {
	w := &watcher{log: c.Log, keep: func(picture []byte) error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepWait)
		defer cancel()
		return c.Keep(ctx, picture)
	}}
	hungUp, said := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(hungUp)
		// An error means that one side is gone.
		_ = relay(stdin, c.In, mostLine, w.asked)
	}()
	go func() {
		defer close(said)
		_ = relay(c.Out, stdout, mostLine, w.answered)
	}()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // the state says how it ended
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
	// No process is left that can write.
	<-said
	if code := cmd.ProcessState.ExitCode(); code >= 0 {
		return code, nil
	}
	return 1, nil // it had to be killed
}

// end closes the input of the tool server, which closes the browser and exits. If it
// does not, end sends SIGTERM. The caller kills the processes that are left.
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
	_ = stdin.Close() // it may have exited already
	if within() {
		return
	}
	_ = cmd.Process.Signal(syscall.SIGTERM) // it may have exited already
	within()
}

// arguments returns those of the tool server: no window, this profile, and no
// statistics for anybody.
func (c *Config) arguments(profile string) []string {
	args := []string{"--headless", "--userDataDir=" + profile, "--executablePath=" + c.Chromium}
	for _, usual := range []string{"--viewport=1280x720", "--no-usage-statistics", "--no-performance-crux"} {
		name, _, _ := strings.Cut(usual, "=")
		if !slices.ContainsFunc(c.Server, func(given string) bool { return given == name || strings.HasPrefix(given, name+"=") }) {
			args = append(args, usual)
		}
	}
	if c.Root {
		args = append(args, "--chromeArg=--no-sandbox", "--chromeArg=--disable-dev-shm-usage")
	}
	return args
}

// OwnArguments names the arguments of the tool server that decide which browser it
// uses, and with which profile. Only Run sets them. Dashes and case do not matter.
var OwnArguments = []string{
	"headless", "noheadless", "userDataDir", "executablePath", "e", "isolated", "browserUrl", "u", "wsEndpoint", "w", "autoConnect", "channel", "remoteDebuggingPort",
}

// environ returns the tool server's environment. Chromium stores some files beside
// its profiles, in the person's configuration: here they go to this profile.
func (c *Config) environ(profile string) []string {
	env := []string{"CHROME_DEVTOOLS_MCP_NO_UPDATE_CHECKS=1", "CHROME_DEVTOOLS_MCP_NO_USAGE_STATISTICS=1", "CHROME_CONFIG_HOME=" + profile}
	return append(env, passed.Pick(c.Environ)...)
}
