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

// turns holds a server that gathers what sessions say until the test lets it
// go on, for ever.
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

// line is a reader of what sessions say.
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

// hear reads the next that a session says.
func (l *line) hear() api.Says {
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
	if got := l.hear(); got != (api.Says{Task: task, Session: session, Says: says}) {
		l.t.Fatalf("heard %+v, want %s of %s", got, says, session)
	}
}

func text(words string) string { return fmt.Sprintf(`{"kind":"text","text":%q}`, words) }

// What sessions say is told as it is said: gathered, the last word of each, and
// to whoever comes back what is so then.
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
	l.want("app-1.1", "I begin.") // and no word of the two that have said nothing
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
	b.Write(one.ID, coppice.OutputEvent, text("I go on."))
	l.want("app-1.1", "I go on.")
	l.cut()

	b.Write(two.ID, coppice.OutputEvent, text("Nobody heard this,"))
	b.Write(two.ID, coppice.OutputEvent, text("but this."))
	l = listen(t, b)
	l.want("app-1.1", "I go on.") // what is so, and then what comes
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
	last := l.hear()
	for last.Says == "Nearly done." {
		last = l.hear()
	}
	if last != (api.Says{Task: "app-1", Session: "app-1.1", Says: "All done."}) { // as the task tells it
		t.Errorf("heard at the end %+v", last)
	}
	got, err := b.Client.Task(b.Ctx, "app-1")
	b.Must(err)
	if got.Says != "All done." {
		t.Errorf("the task says %q", got.Says)
	}
}

// A session that ends without a word takes back what it said, as its task does.
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
	b.Write(x.ID, coppice.OutputEvent, text("And go on."))
	l.want("app-1.1", "And go on.")
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
	resp, body := call(t, b, "GET", "/api/v1/says?x=1", "")
	refused(t, resp, body, http.StatusUnprocessableEntity)
}
