package cli

import (
	"bytes"
	"context"
	"errors"
	"io"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

// errEnough ends a log whose limit is reached.
var errEnough = errors.New("that is enough")

// firstLines writes the first lines and drops the rest.
type firstLines struct {
	to   io.Writer
	left int
}

func (l *firstLines) Write(b []byte) (int, error) {
	rest := b
	for l.left > 0 && len(rest) > 0 {
		n := bytes.IndexByte(rest, '\n') + 1
		if n == 0 {
			n = len(rest)
		} else {
			l.left--
		}
		rest = rest[n:]
	}
	if n, err := l.to.Write(b[:len(b)-len(rest)]); err != nil {
		return n, err
	}
	return len(b), nil // the rest is dropped
}

// within returns an Env that prints at most this many lines; 0 means all.
func (e *Env) within(lines int) *Env {
	if lines == 0 {
		return e
	}
	c := *e
	c.Stdout = &firstLines{to: e.Stdout, left: lines}
	return &c
}

// enough returns errEnough when nothing more will be printed.
func (e *Env) enough() error {
	if l, ok := e.Stdout.(*firstLines); ok && l.left == 0 {
		return errEnough
	}
	return nil
}

// shown returns which kinds of output a log shows, and how a piece is printed.
func (e *Env) shown(f logFlags) ([]coppice.OutputKind, func(api.Output) error) {
	switch {
	case f.raw:
		return []coppice.OutputKind{coppice.OutputStdout, coppice.OutputStderr}, e.rawPiece
	case f.app:
		return []coppice.OutputKind{coppice.OutputApp}, e.rawPiece
	}
	kinds := []coppice.OutputKind{coppice.OutputEvent, coppice.OutputHost, coppice.OutputImage}
	if f.json {
		return kinds, func(o api.Output) error { return e.jsonLine(o) }
	}
	return kinds, (&printer{e, f.relative}).piece
}

// relativePaths says how paths are shown in the logs of a task.
func relativePaths(t api.TaskDetail) func(string) string {
	if t.Workspace != nil && t.Workspace.Path != "" {
		return coppice.RelativePaths(t.Workspace.Path)
	}
	for _, s := range t.History {
		if s.Path != "" {
			return coppice.RelativePaths(s.Path)
		}
	}
	return coppice.RelativePaths("")
}

// sessionLog shows one session's output, with -f to its end.
func (e *Env) sessionLog(ctx context.Context, cl *client.Client, key string, f logFlags) error {
	prefix, n, _, err := coppice.ParseKey(key)
	if err != nil {
		return err
	}
	t, err := cl.Task(ctx, coppice.TaskKey(prefix, n))
	if err != nil {
		return err
	}
	f.relative = relativePaths(t)
	after := int64(-1)
	if f.tail > 0 {
		text, next, err := e.lastLines(ctx, cl, key, f)
		if err != nil {
			return err
		}
		if _, err := e.Stdout.Write(text); err != nil || !f.follow {
			return err
		}
		after = next
	}
	kinds, piece := e.shown(f)
	show := func(o api.Output) error { return errors.Join(piece(o), e.enough()) }
	if f.follow {
		return cl.FollowOutput(ctx, key, after, show, kinds...)
	}
	for {
		page, err := cl.Output(ctx, key, after, kinds...)
		if err != nil {
			return err
		}
		for _, o := range page.Output {
			if err := show(o); err != nil {
				return err
			}
		}
		if !page.More {
			return nil
		}
		after = page.Next
	}
}

// Limits of lastLines: pieces per read, and bytes in total, for a session whose
// last lines are very long.
const (
	tailPieces = 200
	tailBytes  = 32 << 20
)

// lastLines reads a session's output back from its end. It returns the last
// lines that a log shows of it, and the position after them.
func (e *Env) lastLines(ctx context.Context, cl *client.Client, key string, f logFlags) (text []byte, next int64, err error) {
	before := int64(-1)
	for {
		var b bytes.Buffer
		c := *e
		c.Stdout = &b
		kinds, show := c.shown(f)
		page, err := cl.OutputBefore(ctx, key, before, tailPieces, kinds...)
		if err != nil {
			return nil, 0, err
		}
		for _, o := range page.Output {
			if err := show(o); err != nil {
				return nil, 0, err
			}
		}
		if before < 0 {
			next = page.Next
		}
		text = append(b.Bytes(), text...)
		if cut, found := tailOf(text, f.tail); found || page.Prev == 0 || len(text) > tailBytes {
			return cut, next, nil
		}
		before = page.Prev
	}
}

// tailOf returns the last lines of a text, and whether it has that many.
func tailOf(text []byte, lines int) ([]byte, bool) {
	at := len(text)
	if at > 0 && text[at-1] == '\n' {
		at--
	}
	for range lines {
		if at = bytes.LastIndexByte(text[:max(at, 0)], '\n'); at < 0 {
			return text, false
		}
	}
	return text[at+1:], true
}

// rawPiece writes bytes unchanged, except on a terminal that would obey them.
func (e *Env) rawPiece(o api.Output) error {
	b := o.Data
	if e.Terminal {
		b = []byte(Clean(string(b)))
	}
	_, err := e.Stdout.Write(b)
	return err
}
