package secret

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"coppice"
	"coppice/internal/environ"
	"coppice/internal/process"
	"coppice/internal/redact"
)

const (
	// commandTime is how long a command can take. Some ask a person to unlock
	// something first.
	commandTime = 30 * time.Second
	// maxErrors limits how much of a command's stderr an error shows.
	maxErrors = 500
)

// commandEnv are the variables that a command gets. Programs need them to find
// their files, the session's services and the network.
var commandEnv = environ.Base.And(environ.Network, environ.Allowed{
	"LC_*", "XDG_*", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "SSH_AUTH_SOCK", "GNUPGHOME", "GH_CONFIG_DIR", "PASSWORD_STORE_DIR",
})

func (r *Resolver) fromCommand(ctx context.Context, s Source) (string, error) {
	out, err := r.run(ctx, s.Command, "")
	if err == nil && strings.TrimSpace(out) == "" {
		return "", coppice.Errorf(coppice.EUnavailable, "the command %s printed nothing", coppice.Quote(strings.Join(s.Command, " "))).
			WithFix("run it in a terminal: it has to print the value and nothing else")
	}
	return out, err
}

// run runs a program and returns what it prints. The program, and everything it
// started, has ended when run returns.
func (r *Resolver) run(ctx context.Context, argv []string, stdin string) (string, error) {
	shown := coppice.Quote(strings.Join(argv, " "))
	path, err := environ.LookPath(argv[0], r.Environ)
	if err != nil {
		e := coppice.Errorf(coppice.EUnavailable, "there is no program %s in the PATH", coppice.Quote(argv[0]))
		e.Err = exec.ErrNotFound
		return "", e.WithFix("install it, or name another source for the secret")
	}
	within := cmp.Or(r.Within, commandTime)
	ctx, cancel := context.WithTimeoutCause(ctx, within, errSlow)
	defer cancel()
	out, errs := &bounded{most: MaxValue + 2, full: cancel}, &bounded{most: 8 * maxErrors}
	state, err := process.Command{Argv: argv, Path: path, Env: commandEnv.Pick(r.Environ), Dir: os.TempDir(), Stdin: strings.NewReader(stdin), Stdout: out, Stderr: errs}.Run(ctx)
	switch {
	case out.over:
		return "", coppice.Errorf(coppice.ETooLarge, "the command %s prints more than 16 KiB", shown).WithFix("have it print the value and nothing else")
	case err == nil && state.Success():
		return out.String(), nil
	case errors.Is(context.Cause(ctx), errSlow):
		return "", coppice.Errorf(coppice.EUnavailable, "the command %s took longer than %v", shown, within).
			WithFix("run it in a terminal: it might be waiting for a person")
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	}
	f := &failed{code: state.ExitCode(), quiet: strings.TrimSpace(errs.String()) == "", how: fmt.Sprint(cmp.Or(err, error(&exec.ExitError{ProcessState: state})))}
	return "", coppice.Errorf(coppice.EUnavailable, "the command %s failed: %w%s", shown, f, r.words(out.String(), errs.String())).
		WithFix("run it in a terminal and fix what it reports")
}

var errSlow = errors.New("the command took too long")

// failed says how a command failed.
type failed struct {
	code  int // -1 if it was killed, or could not be started
	quiet bool
	how   string
}

func (f *failed) Error() string { return f.how }

// words returns a failed command's stderr on one line, without known secrets and
// without the command's stdout.
func (r *Resolver) words(out, errs string) string {
	errs = redact.New(out).String(r.Redact.String(errs))
	errs = strings.Join(strings.Fields(strings.ToValidUTF8(errs, "?")), " ")
	if len(errs) > maxErrors {
		errs = strings.ToValidUTF8(errs[:maxErrors], "") + "…"
	}
	if errs == "" {
		return ""
	}
	return ": " + errs
}

// bounded keeps the start of what is written.
type bounded struct {
	kept []byte
	most int
	over bool
	full func() // called once if more is written; can be nil
}

func (b *bounded) String() string { return string(b.kept) }

func (b *bounded) Write(p []byte) (int, error) {
	n := min(len(p), b.most-len(b.kept))
	b.kept = append(b.kept, p[:n]...)
	if n < len(p) && !b.over {
		b.over = true
		if b.full != nil {
			b.full()
		}
	}
	return len(p), nil
}
