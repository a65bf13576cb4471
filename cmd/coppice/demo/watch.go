package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"coppice"
	"coppice/api"
	"coppice/api/client"
	"coppice/cmd/coppice/cli"
)

// errOver ends the watching.
var errOver = errors.New("demo: all tasks have ended")

// watch shows progress until all tasks have ended: on a terminal as a table
// that is redrawn, elsewhere as a line for each change.
func watch(ctx context.Context, o Options, c *client.Client, project string, all int) error {
	s := &screen{o: o, seen: map[string]string{}, explained: map[string]bool{}}
	questions := newAnswers(ctx, o, c)
	defer questions.stop()
	show := func() (int, error) {
		page, err := c.Tasks(ctx, client.TaskQuery{Project: project})
		if err != nil {
			return 0, err
		}
		slices.SortFunc(page.Tasks, func(a, b api.Task) int { return cmp.Compare(a.ID, b.ID) })
		ended := 0
		for _, t := range page.Tasks {
			if t.Outcome != "" {
				ended++
			}
			questions.see(t)
			s.explain(t)
		}
		s.draw(page.Tasks)
		return ended, nil
	}
	if _, err := show(); err != nil {
		return err
	}
	err := c.FollowEvents(ctx, client.EventQuery{Project: project}, func(e api.Event) error {
		switch e.Kind {
		case coppice.EventWorkOffered, coppice.EventWorkFinished:
			return nil // too detailed for people
		}
		ended, err := show()
		if err == nil && ended == all {
			return errOver
		}
		return err
	}, nil)
	if errors.Is(err, errOver) {
		return nil
	}
	return err
}

// screen draws tasks.
type screen struct {
	o         Options
	lines     int               // drawn last time
	seen      map[string]string // the line last shown of each task
	explained map[string]bool   // explanations that were shown
	notes     []string          // explanations to show
}

func (s *screen) draw(tasks []api.Task) {
	if s.o.JSON {
		return
	}
	live := s.o.Width > 0
	var b strings.Builder
	if live && s.lines > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", s.lines)
	}
	for _, n := range s.notes {
		if live {
			b.WriteString("\x1b[J") // the table follows below; a long note has several lines
		}
		b.WriteString(n + "\n")
	}
	s.notes = nil
	for _, t := range tasks {
		line := s.line(t)
		switch {
		case live:
			b.WriteString("\x1b[2K" + line + "\n")
		case s.seen[t.Key] != line:
			b.WriteString(line + "\n")
		}
		s.seen[t.Key] = line
	}
	s.lines = len(tasks)
	fmt.Fprint(s.o.Stdout, b.String())
}

var marks = map[coppice.Status]string{
	coppice.StatusDone: "✓", coppice.StatusFailed: "✗", coppice.StatusCancelled: "–", coppice.StatusNeedsYou: "!",
	coppice.StatusWaiting: "·", coppice.StatusReady: "·",
}

func (s *screen) line(t api.Task) string {
	mark, ok := marks[t.Status]
	if !ok {
		mark = "▸"
	}
	text := fmt.Sprintf("%s %-9s %-9s %-32s", mark, t.Key, t.Status, cli.Clean(t.Title))
	if t.Reason != "" {
		text += "  " + cli.Clean(t.Reason)
	}
	text = strings.TrimRight(text, " ")
	if r := []rune(text); s.o.Width > 0 && len(r) >= s.o.Width {
		text = string(r[:s.o.Width-1])
	}
	if s.o.Color {
		switch t.Status {
		case coppice.StatusDone:
			return "\x1b[32m" + text + "\x1b[0m"
		case coppice.StatusFixing:
			return "\x1b[33m" + text + "\x1b[0m"
		case coppice.StatusFailed:
			return "\x1b[31m" + text + "\x1b[0m"
		}
	}
	return text
}
