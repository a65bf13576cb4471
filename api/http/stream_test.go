package http_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"coppice"
	"coppice/api"
	"coppice/api/apitest"
	"coppice/api/client"
	apihttp "coppice/api/http"
	"coppice/store"
)

// flaky is a proxy between client and server that cuts every connection after
// some bytes. It outlives the server, so that a restarted server can use it.
type flaky struct {
	ln   net.Listener
	cuts func() int // bytes until the next connection is cut; 0 for never
	wg   sync.WaitGroup

	mu     sync.Mutex
	target string
	conns  []net.Conn
}

func newFlaky(t testing.TB, target string, cuts func() int) *flaky {
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &flaky{ln: ln, cuts: cuts, target: target}
	f.wg.Go(f.accept)
	return f
}

// stop ends everything. It must run before the server's own stop.
func (f *flaky) stop() {
	_ = f.ln.Close()
	f.mu.Lock()
	for _, c := range f.conns {
		_ = c.Close()
	}
	f.mu.Unlock()
	f.wg.Wait()
}

// aim points the proxy at the bundle's current server.
func (f *flaky) aim(b *apitest.Bundle) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.target = strings.TrimPrefix(b.Server.URL(), "http://")
}

func (f *flaky) accept() {
	for {
		in, err := f.ln.Accept()
		if err != nil {
			return
		}
		f.mu.Lock()
		target := f.target
		out, err := net.Dial("tcp", target)
		if err != nil {
			_ = in.Close()
			f.mu.Unlock()
			continue
		}
		f.conns = append(f.conns, in, out)
		f.mu.Unlock()
		most := f.cuts()
		f.wg.Go(func() { _, _ = io.Copy(out, in); _ = out.Close() })
		f.wg.Go(func() {
			var r io.Reader = out
			if most > 0 {
				r = io.LimitReader(out, int64(most))
			}
			_, _ = io.Copy(in, r)
			_ = in.Close()
			_ = out.Close()
		})
	}
}

// through makes a client that goes through the flaky proxy and never gives up.
func through(b *apitest.Bundle, f *flaky) *client.Client {
	c, err := client.At("http://"+f.ln.Addr().String(), apitest.Token)
	b.Must(err)
	c.Wait = func(ctx context.Context, _ int, _ error) error { return ctx.Err() }
	return c
}

// proxied makes the server accept the proxy's address as its name.
func proxied(name *string) func(*apihttp.Config) {
	return func(c *apihttp.Config) { c.Names = []string{*name} }
}

var errEnough = errors.New("enough")

func logEvents(b *apitest.Bundle, n int) {
	b.Update(func(tx store.Tx) error {
		var es []*coppice.Event
		for range n {
			es = append(es, &coppice.Event{At: b.Clock.Now(), Kind: coppice.EventTaskWarned, By: "test", Reason: "with\nline breaks\r\nand data: x"})
		}
		return tx.Log.Append(es...)
	})
}

func TestEventsAreNeitherMissedNorRepeatedAcrossReconnects(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var cuts []int
	f := newFlaky(t, "", func() int {
		mu.Lock()
		defer mu.Unlock()
		if len(cuts) == 0 {
			return 0
		}
		n := cuts[0]
		cuts = cuts[1:]
		return n
	})
	name := f.ln.Addr().String()
	b := setup(t, proxied(&name))
	f.aim(b)
	t.Cleanup(f.stop)
	c := through(b, f)
	defer c.Close()
	last := int64(0)
	rapid.Check(t, func(rt *rapid.T) {
		mu.Lock()
		cuts = rapid.SliceOfN(rapid.IntRange(900, 4000), 0, 6).Draw(rt, "cuts")
		mu.Unlock()
		before := rapid.IntRange(1, 60).Draw(rt, "before")
		live := rapid.IntRange(1, 60).Draw(rt, "live")
		restart := rapid.IntRange(0, 9).Draw(rt, "restart") == 9
		after := last + rapid.Int64Range(0, int64(before)).Draw(rt, "after")
		logEvents(b, before)
		last += int64(before + live)
		begun := make(chan struct{})
		var writer sync.WaitGroup
		defer writer.Wait()
		writer.Go(func() {
			logEvents(b, 1)
			if restart {
				<-begun
				b.Server.Stop()
				b.Boot()
				f.aim(b)
			}
			for left := live - 1; left > 0; left -= min(left, 7) {
				logEvents(b, min(left, 7))
			}
		})
		var got, want []int64
		err := c.FollowEvents(t.Context(), client.EventQuery{After: after}, func(e api.Event) error {
			if got = append(got, e.Seq); len(got) == 1 {
				close(begun)
			}
			if e.Seq == last {
				return errEnough
			}
			return nil
		}, func(b api.Bounds) { rt.Errorf("reset %+v", b) })
		if !errors.Is(err, errEnough) {
			rt.Fatal(err)
		}
		for n := after + 1; n <= last; n++ {
			want = append(want, n)
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("after %d, up to %d, got %v", after, last, got)
		}
	})
}

func TestOutputIsNeitherMissedNorRepeatedAcrossReconnects(t *testing.T) {
	t.Parallel()
	cut := 700
	f := newFlaky(t, "", func() int {
		cut += 150
		if cut > 6000 {
			return 0
		}
		return cut
	})
	name := f.ln.Addr().String()
	b := setup(t, proxied(&name))
	f.aim(b)
	t.Cleanup(f.stop)
	b.Project("/src/app")
	b.Task("app", coppice.NewTask{Title: "t"})
	s := b.Session("app-1", coppice.SessionWorking, nil)
	c := through(b, f)
	defer c.Close()
	var want, got []string
	var writer sync.WaitGroup
	for i := range 300 {
		want = append(want, fmt.Sprintf("line %d\r\n\x1b[31m", i))
	}
	writer.Go(func() {
		for part := range slices.Chunk(want, 9) {
			b.Write(s.ID, coppice.OutputStdout, part...)
			b.Write(s.ID, coppice.OutputEvent, `{"kind":"text"}`)
		}
		b.Update(func(tx store.Tx) error {
			x, err := tx.Sessions.Get(s.ID)
			x.State, x.EndedAt = coppice.SessionDone, b.Clock.Now()
			return errors.Join(err, tx.Sessions.Put(&x))
		})
	})
	b.Must(c.FollowOutput(t.Context(), "app-1.1", -1, func(o api.Output) error {
		got = append(got, string(o.Data))
		return nil
	}, coppice.OutputStdout))
	writer.Wait()
	if !slices.Equal(got, want) {
		t.Errorf("got %d pieces, want %d", len(got), len(want))
	}
	var pages []string
	for after, more := int64(-1), true; more; {
		page, err := b.Client.Output(b.Ctx, "app-1.1", after, coppice.OutputStdout)
		b.Must(err)
		for _, o := range page.Output {
			pages = append(pages, string(o.Data))
		}
		after, more = page.Next, page.More
		if !page.Ended {
			t.Error("the session has ended")
		}
	}
	if !slices.Equal(pages, want) {
		t.Errorf("got %d pieces in pages, want %d", len(pages), len(want))
	}
}

// readUntil reads a raw stream until it contains a text.
func readUntil(t *testing.T, b *apitest.Bundle, path, until string, edit ...func(*http.Request)) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // a safety net only
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", b.Server.URL()+path, nil)
	b.Must(err)
	req.Header.Set("Accept", "text/event-stream")
	resp := send(b, req, edit)
	defer resp.Body.Close()
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%d %s", resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	var text strings.Builder
	buf := make([]byte, 4096)
	for !strings.Contains(text.String(), until) {
		n, err := resp.Body.Read(buf)
		text.Write(buf[:n])
		if err != nil {
			t.Fatalf("%v after %q", err, text.String())
		}
	}
	return text.String()
}

func TestAPlaceOutsideTheLogIsAReset(t *testing.T) {
	t.Parallel()
	b := setup(t)
	logEvents(b, 20)
	b.Update(func(tx store.Tx) error { _, err := tx.Log.Trim(time.Time{}, 5); return err })
	text := readUntil(t, b, "/api/v1/events?after=3", "id: 20\n")
	if !strings.Contains(text, "id: 15\nevent: reset\ndata: {\"first\":16,\"last\":20}\n\nid: 16\n") {
		t.Errorf("an old place: %s", text)
	}
	text = readUntil(t, b, "/api/v1/events", "reset", header("Last-Event-ID", "900"))
	if !strings.Contains(text, "id: 20\nevent: reset\n") {
		t.Errorf("a place to come: %s", text)
	}
	text = readUntil(t, b, "/api/v1/events?after=2", "id: 20\n", header("Last-Event-ID", "18"))
	if strings.Contains(text, "reset") || strings.Contains(text, "id: 16\n") || !strings.Contains(text, "id: 19\n") {
		t.Errorf("Last-Event-ID does not come first: %s", text)
	}
}

func TestASilentStreamShowsThatItLivesAndHowFarItIs(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *apihttp.Config) { c.Heartbeat = 10 * time.Millisecond })
	b.Project("/src/app")
	b.Task("app", coppice.NewTask{Title: "t"})
	logEvents(b, 5)
	text := readUntil(t, b, "/api/v1/events?after=0&task=app-1", ": alive\nid: 7\n\n")
	if strings.Count(text, "data:") != 1 || !strings.Contains(text, `"kind":"task.created"`) {
		t.Errorf("filtered: %s", text)
	}
}

func TestEventPages(t *testing.T) {
	t.Parallel()
	b := setup(t)
	logEvents(b, 10)
	page, err := b.Client.Events(b.Ctx, client.EventQuery{After: 4, Limit: 3})
	b.Must(err)
	if len(page.Events) != 3 || page.Events[0].Seq != 5 || !page.More || page.Next != 7 || page.Last != 10 {
		t.Errorf("page %+v", page)
	}
	refuses(t, b, http.StatusUnprocessableEntity, "GET", "/api/v1/events?after=x", "")
}

// An event names its task, whatever its subject is. So do the events of a task that was
// removed.
func TestEventsNameTheirTasks(t *testing.T) {
	t.Parallel()
	b := setupApp(t, "Greet")
	at := b.Clock.Now()
	for _, e := range []coppice.Event{
		{Kind: coppice.EventScheduleRun, TaskID: 1, Subject: "nightly"}, {Kind: coppice.EventSessionStarted, TaskID: 1, Subject: "app-1.2"},
		{Kind: coppice.EventNotificationSent, Subject: "app-1"}, {Kind: coppice.EventTaskForgotten, TaskID: 99, Subject: "app-99"}, {Kind: coppice.EventTaskChanged, TaskID: 99, Subject: "app-99"},
	} {
		e.At, e.By = at, "test"
		b.Update(func(tx store.Tx) error { return tx.Log.Append(&e) })
	}
	page, err := b.Client.Events(b.Ctx, client.EventQuery{})
	b.Must(err)
	var got []string
	for _, e := range page.Events[len(page.Events)-5:] {
		got = append(got, string(e.Kind)+" "+e.Task)
	}
	if want := []string{"schedule.run app-1", "session.started app-1", "notification.sent ", "task.forgotten app-99", "task.changed "}; !slices.Equal(got, want) {
		t.Errorf("the events are %q", got)
	}
	if text := readUntil(t, b, "/api/v1/events?after=0", `"subject":"nightly"`); !strings.Contains(text, `"task":"app-1"`) {
		t.Errorf("streamed: %s", text)
	}
}

func TestStopEndsStreams(t *testing.T) {
	t.Parallel()
	b := setup(t)
	logEvents(b, 1)
	begun := make(chan struct{})
	ended := make(chan error, 1)
	c, err := client.At(b.Server.URL(), apitest.Token)
	b.Must(err)
	defer c.Close()
	c.Wait = func(context.Context, int, error) error { return errEnough }
	go func() {
		ended <- c.FollowEvents(t.Context(), client.EventQuery{After: 0}, func(api.Event) error { close(begun); return nil }, nil)
	}()
	<-begun
	b.Server.Stop()
	if err := <-ended; !errors.Is(err, errEnough) {
		t.Error(err)
	}
	if _, err := b.Client.Version(b.Ctx); coppice.ErrorCode(err) != coppice.EUnavailable || !strings.Contains(err.Error(), "coppice serve") {
		t.Errorf("a stopped server: %v", err)
	}
}

func TestAFollowerFromNowResumesWhereItBegan(t *testing.T) {
	t.Parallel()
	b := setup(t)
	logEvents(b, 3)
	text := readUntil(t, b, "/api/v1/events", "\n\n")
	if text != ": alive\nid: 3\n\n" {
		t.Errorf("begins with %q", text)
	}
	var e coppice.Event
	logEvents(b, 1)
	text = readUntil(t, b, "/api/v1/events", "data: ", header("Last-Event-ID", "3"))
	_, data, _ := strings.Cut(text, "data: ")
	if err := json.NewDecoder(strings.NewReader(data)).Decode(&e); err != nil || e.Seq != 4 {
		t.Errorf("resumed with %q (%v)", text, err)
	}
}
