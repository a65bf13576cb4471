package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

// watchPause is the shortest time between two frames.
const watchPause = 250 * time.Millisecond

// watchStatus draws the status, and again after each event. It returns nil when
// the person presses Ctrl-C.
func (e *Env) watchStatus(ctx context.Context, cl *client.Client, project string, asJSON bool) error {
	st, err := readStatus(ctx, cl, project)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	changed := make(chan struct{}, 1)
	notify := func() {
		select {
		case changed <- struct{}{}:
		default: // the next frame shows it, too
		}
	}
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		cancel(cl.FollowEvents(ctx, client.EventQuery{After: st.Seq, Project: project}, func(api.Event) error {
			notify()
			return nil
		}, func(api.Bounds) { notify() }))
	}()
	err = e.drawFrames(ctx, cl, project, st, changed, asJSON)
	cancel(nil)
	<-followed
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// drawFrames draws a status, then another one whenever something has changed. On a
// terminal it draws every second, because the times grow.
func (e *Env) drawFrames(ctx context.Context, cl *client.Client, project string, st statusShown, changed <-chan struct{}, asJSON bool) error {
	var ticks <-chan time.Time
	if e.Terminal && !asJSON {
		t := time.NewTicker(time.Second)
		defer t.Stop()
		ticks = t.C
		e.printf("\x1b[?25l")       // hide the cursor
		defer e.printf("\x1b[?25h") // and show it again
	}
	for {
		if err := e.frame(st, asJSON); err != nil {
			return err
		}
		pause := time.NewTimer(watchPause)
		select {
		case <-ctx.Done():
		case <-pause.C:
		}
		pause.Stop()
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticks:
		case <-changed:
			var err error
			if st, err = e.readAgain(ctx, cl, project); err != nil {
				return err
			}
		}
	}
}

// readAgain reads the status. If the server restarts, it waits for it.
func (e *Env) readAgain(ctx context.Context, cl *client.Client, project string) (statusShown, error) {
	for n := 1; ; n++ {
		st, err := readStatus(ctx, cl, project)
		if coppice.ErrorCode(err) != coppice.EUnavailable {
			return st, err
		}
		if err := cl.WaitAgain(ctx, n, err); err != nil {
			return st, err
		}
	}
}

// frame draws one status. On a terminal it replaces the one before.
func (e *Env) frame(st statusShown, asJSON bool) error {
	if asJSON {
		return e.jsonLine(st)
	}
	var b bytes.Buffer
	c := *e
	c.Stdout = &b
	if f, ok := e.Stdout.(*os.File); ok && e.Terminal {
		if columns, rows, err := term.GetSize(f.Fd()); err == nil {
			c.Width, c.Height = columns, rows // a person can change them
		}
	}
	c.printHealth(st.health)
	c.printStatus(st)
	if !e.Terminal {
		e.printf("--- %s\n%s", e.Now().Format(time.DateTime), b.String())
		return nil
	}
	e.printf("%s", screenful(b.String(), c.Width, c.Height))
	return nil
}

// screenful returns the text that replaces the screen with lines, cut to its size.
func screenful(text string, columns, rows int) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := range lines {
		if columns > 0 {
			lines[i] = ansi.Truncate(lines[i], columns, "…")
		}
	}
	if rows > 1 && len(lines) > rows-1 {
		cut := len(lines) - (rows - 2)
		lines = append(lines[:rows-2], fmt.Sprintf("… and %d more lines; the terminal is too small", cut))
	}
	return "\x1b[H" + strings.Join(lines, "\x1b[K\n") + "\x1b[K\n\x1b[J"
}
