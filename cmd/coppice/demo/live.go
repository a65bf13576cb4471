package demo

import (
	"bufio"
	"context"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"time"

	"coppice"
	"coppice/api"
	"coppice/api/client"
	"coppice/cmd/coppice/cli"
)

// slow makes the agents of a script slower, so that a person can follow them.
func slow(script []byte) []byte {
	return regexp.MustCompile(`sleep: (\d+)ms`).ReplaceAllFunc(script, func(b []byte) []byte {
		ms, _ := strconv.Atoi(string(b[len("sleep: ") : len(b)-len("ms")])) // digits by the pattern
		return fmt.Appendf(nil, "sleep: %dms", ms*slower)
	})
}

// introduce says what follows, and opens the dashboard.
func introduce(ctx context.Context, o Options, c *client.Client) {
	fmt.Fprint(o.Stdout, "A sample repository, six tasks and a scripted agent instead of an AI. Everything else is real:\n"+
		"each agent works in its own workspace, and only what passes the check lands on main. It takes about 20 seconds.\n")
	if link, err := c.LoginLink(ctx); err == nil {
		if o.Open == nil || o.Open(ctx, link.URL) != nil {
			fmt.Fprintf(o.Stdout, "\nWatch it in a browser:\n  %s\n", link.URL)
		} else {
			fmt.Fprint(o.Stdout, "\nThe dashboard opens in your browser.\n")
		}
	}
	fmt.Fprintln(o.Stdout)
}

// linger keeps the dashboard open until the person ends the demo.
func linger(ctx context.Context, o Options) {
	fmt.Fprintf(o.Stdout, "\nThe dashboard stays open for %d minutes. Press Enter or Ctrl-C to end the demo.\n", int(openFor.Minutes()))
	ended := make(chan struct{})
	if o.Stdin != nil {
		go func() {
			defer close(ended)
			_, _ = bufio.NewReader(o.Stdin).ReadString('\n')
		}()
	}
	late := time.NewTimer(openFor)
	defer late.Stop()
	select {
	case <-ended:
	case <-late.C:
	case <-ctx.Done():
	}
}

// explain notes what happens to a task the first time, for a person.
func (s *screen) explain(t api.Task) {
	text := ""
	switch {
	case t.Question != nil:
		text = fmt.Sprintf("%s asks you something: answer it on the dashboard. After %d seconds the demo answers for you.", t.Key, int(answerWait.Seconds()))
	case t.Status == coppice.StatusFixing && t.Title == conflicting:
		text = t.Key + " changed the same line as a task that landed. Its agent merges main into its branch."
	case t.Status == coppice.StatusFixing:
		text = t.Key + " failed the check on the merged files. Its agent gets the output and fixes it."
	}
	if text == "" || !s.o.Live || s.explained[text] {
		return
	}
	s.explained[text] = true
	s.notes = append(s.notes, "  "+cli.Clean(text))
}

// answers answers the questions of the demo: immediately, or if the person has not
// answered after a while.
type answers struct {
	ctx    context.Context
	cancel context.CancelFunc
	c      *client.Client
	after  time.Duration
	seen   map[int64]bool
	wg     sync.WaitGroup
}

func newAnswers(ctx context.Context, o Options, c *client.Client) *answers {
	a := &answers{c: c, seen: map[int64]bool{}}
	if o.Live {
		a.after = answerWait
	}
	a.ctx, a.cancel = context.WithCancel(ctx)
	return a
}

// see answers the question of a task with its first option.
func (a *answers) see(t api.Task) {
	q := t.Question
	if q == nil || a.seen[q.ID] || len(q.Options) == 0 {
		return
	}
	a.seen[q.ID] = true
	a.wg.Go(func() {
		late := time.NewTimer(a.after)
		defer late.Stop()
		select {
		case <-late.C:
			_, _ = a.c.Answer(a.ctx, t.Key, q.ID, q.Options[0]) // the person might have answered
		case <-a.ctx.Done():
		}
	})
}

func (a *answers) stop() {
	a.cancel()
	a.wg.Wait()
}
