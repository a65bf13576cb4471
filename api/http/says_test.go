package http_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/api"
	"coppice/api/apitest"
	apihttp "coppice/api/http"
	"coppice/store"
)

// turns stops a server before each batch of lines until the test releases it,
// for one batch or for good.
type turns struct {
	gathers chan struct{}
	free    chan struct{}
}

func (g *turns) gather(ctx context.Context) error {
	select {
	case g.gathers <- struct{}{}:
	case <-g.free:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-g.free:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// line is a reader of the stream of lines.
type line struct {
	t      *testing.T
	cancel context.CancelFunc
	in     *bufio.Scanner
	resp   *http.Response
}

func listen(t *testing.T, b *apitest.Bundle) *line {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // a safety net only
	req, err := http.NewRequestWithContext(ctx, "GET", b.Server.URL()+"/api/v1/says", nil)
	b.Must(err)
	req.Header.Set("Authorization", "Bearer "+apitest.Token)
	tr := &http.Transport{DisableKeepAlives: true}
	resp, err := tr.RoundTrip(req)
	b.Must(err)
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%d %s", resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	l := &line{t: t, cancel: cancel, in: bufio.NewScanner(resp.Body), resp: resp}
	t.Cleanup(l.cut)
	return l
}

func (l *line) cut() {
	l.cancel()
	_ = l.resp.Body.Close()
}

// next reads the next line of a session.
func (l *line) next() api.Says {
	l.t.Helper()
	for l.in.Scan() {
		text, data := strings.CutPrefix(l.in.Text(), "data: ")
		if !data {
			continue
		}
		var s api.Says
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			l.t.Fatal(err)
		}
		return s
	}
	l.t.Fatalf("the stream ended: %v", l.in.Err())
	return api.Says{}
}

func (l *line) want(session, says string) {
	l.t.Helper()
	task, _, _ := strings.Cut(session, ".")
	if got := l.next(); got != (api.Says{Task: task, Session: session, Says: says}) {
		l.t.Fatalf("got %+v, want %s of %s", got, says, session)
	}
}

func text(words string) string { return fmt.Sprintf(`{"kind":"text","text":%q}`, words) }

// Lines of sessions are sent live: gathered, the last line of each. A reader
// that reconnects gets the current lines.
func TestWhatSessionsSayIsLive(t *testing.T) {
	t.Parallel()
	g := &turns{make(chan struct{}), make(chan struct{})}
	b := setup(t, func(c *apihttp.Config) { c.Gather = g.gather })
	b.Project("/src/app")
	var sessions []coppice.Session
	for range 3 {
		key := b.Task("app", coppice.NewTask{Title: "One", Agent: "scripted"}).Key
		sessions = append(sessions, b.Session(key, coppice.SessionWorking, nil))
	}
	one, two := sessions[0], sessions[1]
	b.Write(one.ID, coppice.OutputEvent, text("I begin."))
	l := listen(t, b)
	l.want("app-1.1", "I begin.") // and nothing of the two that have no line
	select {
	case <-g.gathers:
	case <-time.After(time.Minute): // a safety net only
		t.Fatal("it does not gather")
	}
	for i := range 100 {
		b.Write(two.ID, coppice.OutputEvent, text(fmt.Sprintf("Word %d of two.", i)))
		b.Write(one.ID, coppice.OutputEvent, `{"kind":"tool","name":"Read","paths":["a.go"]}`, `{"kind":"tool_result","text":"x"}`)
	}
	close(g.free)
	l.want("app-1.1", "Read a.go") // the last of each, once
	l.want("app-2.1", "Word 99 of two.")
	b.Write(one.ID, coppice.OutputEvent, `{"kind":"tool_result","text":"more"}`) // says nothing new
	b.Write(one.ID, coppice.OutputStdout, "raw\n")
	b.Write(one.ID, coppice.OutputEvent, text("I continue."))
	l.want("app-1.1", "I continue.")
	l.cut()

	b.Write(two.ID, coppice.OutputEvent, text("Nobody reads this,"))
	b.Write(two.ID, coppice.OutputEvent, text("but this."))
	l = listen(t, b)
	l.want("app-1.1", "I continue.") // the current line, and then the next
	l.want("app-2.1", "but this.")
	b.Write(one.ID, coppice.OutputEvent, text("Nearly done."))
	b.Update(func(tx store.Tx) error {
		now, err := tx.Sessions.Get(one.ID)
		if err != nil {
			return err
		}
		now.State, now.Summary = coppice.SessionDone, "All done.\nIn full."
		return tx.Sessions.Put(&now)
	})
	last := l.next()
	for last.Says == "Nearly done." {
		last = l.next()
	}
	if last != (api.Says{Task: "app-1", Session: "app-1.1", Says: "All done."}) { // as the task shows it
		t.Errorf("got at the end %+v", last)
	}
	got, err := b.Client.Task(b.Ctx, "app-1")
	b.Must(err)
	if got.Says != "All done." {
		t.Errorf("the task says %q", got.Says)
	}
}

// A session that ends without a final message has no line, like its task.
func TestASessionEndsWithoutAWord(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *apihttp.Config) { c.Gather = func(context.Context) error { return nil } })
	b.Project("/src/app")
	x := b.Session(b.Task("app", coppice.NewTask{Title: "One", Agent: "scripted"}).Key, coppice.SessionWorking, nil)
	b.Write(x.ID, coppice.OutputEvent, text("I begin."))
	l := listen(t, b)
	l.want("app-1.1", "I begin.")
	for range 30 {
		b.Write(x.ID, coppice.OutputEvent, `{"kind":"tool_result","text":"x"}`) // so that nothing it said is among the last
	}
	b.Write(x.ID, coppice.OutputEvent, text("And on."))
	l.want("app-1.1", "And on.")
	b.Update(func(tx store.Tx) error {
		now, err := tx.Sessions.Get(x.ID)
		if err != nil {
			return err
		}
		now.State = coppice.SessionLost
		return tx.Sessions.Put(&now)
	})
	l.want("app-1.1", "")
}

func TestASilentLineOfSessionsLives(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *apihttp.Config) { c.Heartbeat = 10 * time.Millisecond })
	if got := readUntil(t, b, "/api/v1/says", ": alive\n\n: alive\n\n"); strings.Contains(got, "data:") {
		t.Errorf("somebody said %s", got)
	}
	refuses(t, b, http.StatusUnprocessableEntity, "GET", "/api/v1/says?x=1", "")
}
