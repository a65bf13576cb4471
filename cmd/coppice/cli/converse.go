package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"coppice"
	"coppice/api"
	"coppice/api/client"
	"coppice/verb"
)

// The lines that are commands, not messages, in a conversation.
const (
	lineLand = "/land"
	lineQuit = "/quit"
)

// startInteractive attaches to a new task: to the agent's screen, or to its
// conversation.
func (e *Env) startInteractive(ctx context.Context, cl *client.Client, t api.Task) error {
	e.printf("%s  %s\n", e.paint(bold, t.Key), line(t.Title))
	if t.Interactive {
		return e.converse(ctx, cl, t.Key)
	}
	e.printf("waiting for its screen; after Ctrl-C, run: coppice attach %s\n", t.Key)
	return e.attachTaken(ctx, cl, t.Key)
}

// converse shows the conversation of a task and sends what the person types, until
// the task ends or the person leaves.
func (e *Env) converse(ctx context.Context, cl *client.Client, key string) error {
	fmt.Fprintf(e.Stderr, "type a message and press Enter; %s lands the work, %s or Ctrl-D leaves\n", lineLand, lineQuit)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lines := readLines(ctx, e.Stdin)
	ended := make(chan error, 1)
	go func() { ended <- e.showTurns(ctx, cl, key) }()
	for {
		select {
		case err := <-ended:
			return err
		case text, more := <-lines:
			if text = strings.TrimSpace(text); !more || text == lineQuit {
				cancel()
				<-ended
				fmt.Fprintf(e.Stderr, "left %s, which waits for you after its turn; to come back, run: coppice attach %s\n", key, key)
				return nil
			}
			if text == "" {
				continue
			}
			if err := e.sayTyped(ctx, cl, key, text); err != nil {
				e.report(err)
			}
		}
	}
}

// readLines sends the lines of a reader, and closes the channel at its end. The
// goroutine ends with the next line after the context: a read cannot be cancelled.
func readLines(ctx context.Context, r io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(r); s.Scan(); {
			select {
			case lines <- s.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}

// sayTyped does what a typed line means: an answer, the next turn, a message to the
// running one, or the end.
func (e *Env) sayTyped(ctx context.Context, cl *client.Client, key, text string) error {
	t, err := cl.Task(ctx, key)
	if err != nil {
		return err
	}
	switch {
	case text == lineLand:
		_, err = cl.Ask(ctx, key, coppice.VerbLand, verb.Request{})
	case t.Question != nil:
		_, err = cl.Answer(ctx, key, t.Question.ID, text)
	case t.Status == coppice.StatusNeedsYou && slices.Contains(t.Can, coppice.VerbContinue):
		_, err = cl.Ask(ctx, key, coppice.VerbContinue, verb.Request{Text: text})
	default:
		_, err = cl.Send(ctx, key, text)
	}
	return err
}

// showTurns shows the sessions of a task, each once, until the task ends.
func (e *Env) showTurns(ctx context.Context, cl *client.Client, key string) error {
	for shown := ""; ; {
		var err error
		if shown, err = e.taskLogAfter(ctx, cl, key, shown, logFlags{follow: true}); err != nil {
			return err
		}
		over := false
		err = awaitTask(ctx, cl, key, func(t api.TaskDetail) (bool, error) {
			over = t.Stage == coppice.StageEnded
			return over || t.Status != coppice.StatusNeedsYou, nil
		})
		if err != nil || over {
			return err
		}
	}
}

// report prints an error and its fix, and the conversation continues.
func (e *Env) report(err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	p := coppice.Public(err)
	fmt.Fprintf(e.Stderr, "%s\n", line(p.Error()))
}
