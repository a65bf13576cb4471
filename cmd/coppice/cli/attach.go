package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

// The keys that detach: control-\ and then d. Control-\ twice types it one
// time.
const (
	detachFirst = 0x1c
	detachThen  = 'd'
	detachKeys  = `ctrl-\ d`
)

// leaveScreen resets everything that a program might have set on a terminal:
// modes for keys, pastes and the mouse, colours, and the alternate screen.
const leaveScreen = "\x1b[!p\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?9l\x1b[?2004l\x1b[?1l\x1b>\x1b[<u\x1b[>4m" +
	"\x1b[r\x1b[?6l\x1b[?7h\x1b(B\x0f\x1b[0m\x1b[?1049l\x1b[?25h"

func (e *Env) attachCommand() *cobra.Command {
	var readOnly, raw bool
	c := &cobra.Command{
		Use:   "attach KEY",
		Short: "Show a running session's screen, or its conversation",
		Long: `Shows the terminal of a task's newest session, or of the session that the key
names: the current screen, then everything live. The agent gets what you type.
Detach with ` + detachKeys + `; the session continues. Several terminals can be attached
at the same time. The screen is as large as the smallest one that can type.

Most agents work without a screen. Then the command shows their conversation, like
coppice logs -f. For a task of coppice new -i it also sends what you type. To continue on the agent's own screen, run coppice take. With --raw
it shows their output as it comes, which is JSON for most. If stdin is not a terminal,
attach reads no input.`,
		Example:     "  coppice attach app-4\n  coppice attach app-4.2 --read-only",
		Args:        args(1, 1, "the key of a task or session"),
		Annotations: InsteadOfJSON("use `coppice logs -f --json`"),
	}
	c.Flags().BoolVar(&readOnly, "read-only", false, "only watch; your terminal's size does not count")
	c.Flags().BoolVar(&raw, "raw", false, "show the agent's own output, also if it has no screen")
	c.RunE = func(c *cobra.Command, given []string) error {
		prefix, n, session, err := coppice.ParseKey(given[0])
		if err != nil {
			return usage{err}
		}
		return e.call(c, func(ctx context.Context, cl *client.Client) error {
			t, err := cl.Task(ctx, coppice.TaskKey(prefix, n))
			if err != nil {
				return err
			}
			key := given[0]
			switch {
			case session == 0 && t.Session == "":
				return coppice.Errorf(coppice.EConflict, "%s has had no session yet (%s)", key, t.Status).
					WithFix("see `coppice show %s`; attach when it works", key)
			case session == 0:
				key = t.Session
			}
			known := slices.ContainsFunc(t.History, func(x coppice.Session) bool { return x.Key == key })
			if t.Interactive && session == 0 && !raw && !readOnly && e.Terminal && e.Asks && t.Stage != coppice.StageEnded {
				return e.converse(ctx, cl, t.Key)
			}
			if known && !raw && !slices.Contains(t.Terminals, key) {
				return e.attachLog(ctx, cl, t, given[0], session != 0)
			}
			_, err = e.attach(ctx, cl, key, readOnly, false)
			return err
		})
	}
	return c
}

// attachLog shows the conversation of a session that has no screen.
func (e *Env) attachLog(ctx context.Context, cl *client.Client, t api.TaskDetail, key string, session bool) error {
	text := "the agent of " + key + " has no screen; this is its conversation"
	if slices.Contains(t.Can, coppice.VerbTake) {
		text += ". To continue on the agent's own screen, run: coppice take " + t.Key
	}
	fmt.Fprintln(e.Stderr, text)
	show := e.taskLog
	if session {
		show = e.sessionLog
	}
	return show(ctx, cl, key, logFlags{follow: true})
}

// attachment is a terminal of the user that shows a session's terminal.
type attachment struct {
	env      *Env
	key      string
	in, out  *os.File // nil if it is not a terminal
	readOnly bool
	greeted  bool
	onScreen bool          // the session shows a screen, not lines
	detached chan struct{} // closed by the keys

	mu sync.Mutex
	t  *client.Terminal // nil while there is no connection
}

// attach shows a session's terminal. It reports whether the session has ended. With
// starts, it waits for a terminal that opens in a moment.
func (e *Env) attach(ctx context.Context, cl *client.Client, key string, readOnly, starts bool) (ended bool, err error) {
	a := &attachment{env: e, key: key, readOnly: readOnly, detached: make(chan struct{})}
	if f, ok := e.Stdout.(*os.File); ok && term.IsTerminal(f.Fd()) {
		a.out = f
	}
	if f, ok := e.Stdin.(*os.File); ok && a.out != nil && term.IsTerminal(f.Fd()) {
		a.in = f
	} else {
		a.readOnly = true
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	t, err := cl.Terminal(ctx, key, a.options())
	for n := 1; starts && err != nil && runs(ctx, cl, key); n++ {
		if err = cl.WaitAgain(ctx, n, err); err != nil {
			break
		}
		t, err = cl.Terminal(ctx, key, a.options())
	}
	if err != nil {
		return false, err
	}
	leave, err := a.enter(ctx, cancel)
	if err != nil {
		return false, errors.Join(err, t.Close())
	}
	end, err := a.show(ctx, cl, t)
	leave()
	return end != nil, a.printEnd(end, err)
}

// runs reports whether a session has not ended.
func runs(ctx context.Context, cl *client.Client, key string) bool {
	prefix, n, _, err := coppice.ParseKey(key)
	if err != nil {
		return false
	}
	t, err := cl.Task(ctx, coppice.TaskKey(prefix, n))
	return err == nil && slices.ContainsFunc(t.History, func(x coppice.Session) bool { return x.Key == key && x.State.Live() })
}

// printEnd prints how the session ended, after the terminal was restored.
func (a *attachment) printEnd(end *api.TerminalEnd, err error) error {
	select {
	case <-a.detached:
		fmt.Fprintf(a.env.Stderr, "detached from %s; the session continues\n", a.key)
		return nil
	default:
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(a.env.Stderr, "%s has ended: %s\nits log: coppice logs %s\n", a.key, line(end.Text), a.key)
	return nil
}

func (a *attachment) options() api.TerminalOptions {
	o := api.TerminalOptions{ReadOnly: a.readOnly}
	if a.out != nil {
		if columns, rows, err := term.GetSize(a.out.Fd()); err == nil && columns > 1 && rows > 1 {
			o.Columns, o.Rows = columns, rows
		}
	}
	return o
}

// enter makes the terminal raw and starts to read keys. The caller always calls
// the function that it returns, which restores everything.
func (a *attachment) enter(ctx context.Context, cancel context.CancelCauseFunc) (leave func(), err error) {
	if a.out == nil {
		return func() {}, nil
	}
	var before *term.State
	var tasks sync.WaitGroup
	resized := make(chan os.Signal, 1)
	done := make(chan struct{})
	var wake [2]*os.File
	if a.in != nil {
		if wake[0], wake[1], err = os.Pipe(); err != nil {
			return nil, err
		}
		if before, err = term.MakeRaw(a.in.Fd()); err != nil {
			wake[0].Close()
			wake[1].Close()
			return nil, fmt.Errorf("the terminal cannot be used: %w", err)
		}
		tasks.Go(func() { a.keys(ctx, wake[0], cancel) })
	}
	signal.Notify(resized, syscall.SIGWINCH)
	tasks.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-resized:
				a.resize(ctx)
			}
		}
	})
	return func() {
		signal.Stop(resized)
		close(done)
		if a.in != nil {
			wake[1].Close()
		}
		tasks.Wait()
		_, _ = io.WriteString(a.out, leaveScreen+"\r\n")
		if before != nil {
			_ = term.Restore(a.in.Fd(), before) // there is nothing left to try
			wake[0].Close()
		}
	}, nil
}

func (a *attachment) terminal() *client.Terminal {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.t
}

func (a *attachment) use(t *client.Terminal) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.t = t
}

func (a *attachment) resize(ctx context.Context) {
	if t, o := a.terminal(), a.options(); t != nil && o.Columns > 0 {
		_ = t.Resize(ctx, o.Columns, o.Rows) // show reports a broken connection
	}
}

var errDetached = errors.New("detached")

// keys sends typed keys to the session, until wake is closed on its other side.
func (a *attachment) keys(ctx context.Context, wake *os.File, cancel context.CancelCauseFunc) {
	buf := make([]byte, 4096)
	prefix := false
	fds := []unix.PollFd{{Fd: int32(a.in.Fd()), Events: unix.POLLIN}, {Fd: int32(wake.Fd()), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(fds, -1)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || fds[1].Revents != 0 {
			return
		}
		n, err := a.in.Read(buf)
		typed, detach := detachIn(buf[:n], &prefix)
		if t := a.terminal(); t != nil && len(typed) > 0 && !a.readOnly {
			_ = t.Type(ctx, typed) // show reports a broken connection
		}
		if detach || err != nil {
			close(a.detached)
			cancel(errDetached)
			return
		}
	}
}

// detachIn removes the keys that detach from the typed ones.
func detachIn(b []byte, prefix *bool) (typed []byte, detach bool) {
	for _, c := range b {
		switch {
		case *prefix && c == detachThen:
			return typed, true
		case !*prefix && c == detachFirst:
			*prefix = true
			continue
		case *prefix && c != detachFirst: // it was meant for the program
			typed = append(typed, detachFirst)
		}
		*prefix = false
		typed = append(typed, c)
	}
	return typed, false
}

// show writes what the session shows until it ends. If the server disappears,
// show waits for it: the session continues without the server, and is drawn
// again.
func (a *attachment) show(ctx context.Context, cl *client.Client, t *client.Terminal) (*api.TerminalEnd, error) {
	for {
		a.use(t)
		end, err := a.follow(ctx, t)
		a.use(nil)
		_ = t.CloseNow() // it is broken
		if end != nil || ctx.Err() != nil || coppice.ErrorCode(err) != coppice.EUnavailable {
			return end, err
		}
		a.notify("the server is gone; waiting for it")
		if t, err = a.reconnect(ctx, cl, err); err != nil {
			return nil, err
		}
	}
}

// reconnect connects again. It waits as long as the client does.
func (a *attachment) reconnect(ctx context.Context, cl *client.Client, cause error) (*client.Terminal, error) {
	for n := 1; ; n++ {
		if err := cl.WaitAgain(ctx, n, cause); err != nil {
			return nil, err
		}
		t, err := cl.Terminal(ctx, a.key, a.options())
		if err == nil || coppice.ErrorCode(err) != coppice.EUnavailable {
			return t, err
		}
		cause = err
	}
}

func (a *attachment) follow(ctx context.Context, t *client.Terminal) (*api.TerminalEnd, error) {
	for {
		b, control, err := t.Next(ctx)
		if err != nil {
			return nil, err
		}
		if control != nil {
			if control.Ended != nil {
				return control.Ended, nil
			}
			a.control(ctx, *control)
			continue
		}
		if _, err := a.env.Stdout.Write(b); err != nil {
			return nil, err
		}
	}
}

// control handles a message about the terminal.
func (a *attachment) control(ctx context.Context, c api.TerminalControl) {
	if c.Notice != "" {
		a.notify(c.Notice)
	}
	if c.Runtime == "" || a.greeted {
		return
	}
	a.greeted = true
	switch {
	case a.in == nil:
		return
	case c.ReadOnly:
		a.notify("watching " + a.key + ", which cannot be typed into; detach with " + detachKeys)
	default:
		a.notify("attached to " + a.key + "; detach with " + detachKeys)
	}
	a.onScreen = c.Size != nil
	if a.onScreen {
		// The next output clears the screen. A person needs this long to read a
		// line.
		select {
		case <-ctx.Done():
		case <-time.After(greetFor):
		}
	}
}

// greetFor is how long the line that says how to detach stays.
const greetFor = 700 * time.Millisecond

// notify prints a message for the person: on a screen in its last line, which
// the agent draws over later.
func (a *attachment) notify(text string) {
	switch {
	case a.out == nil:
		fmt.Fprintf(a.env.Stderr, "coppice: %s\n", Clean(text))
	case a.onScreen:
		_, _ = fmt.Fprintf(a.out, "\x1b7\x1b[999;1H\x1b[0;7m[coppice: %s]\x1b[0m\x1b[K\x1b8", line(text))
	default:
		_, _ = fmt.Fprintf(a.out, "[coppice: %s]\r\n", line(text))
	}
}
