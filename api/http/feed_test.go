package http_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"coppice"
	"coppice/api/apitest"
	apihttp "coppice/api/http"
	"coppice/store"
	"coppice/store/sqlite"
	"coppice/store/sqlite/sqlitetest"
)

// countingStore counts how often it is read.
type countingStore struct {
	store.Store
	views atomic.Int64
}

func (s *countingStore) View(ctx context.Context, f func(store.Reader) error) error {
	s.views.Add(1)
	return s.Store.View(ctx, f)
}

// subscribe opens a stream and returns its lines.
func subscribe(t testing.TB, b *apitest.Bundle, path string) (*http.Response, *bufio.Reader) {
	t.Helper()
	host := strings.TrimPrefix(b.Server.URL(), "http://")
	c, err := net.Dial("tcp", host)
	b.Must(err)
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute)) // a safety net only
	_, err = io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: "+host+"\r\nAccept: text/event-stream\r\nAuthorization: Bearer "+apitest.Token+"\r\n\r\n")
	b.Must(err)
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	b.Must(err)
	return resp, bufio.NewReader(resp.Body)
}

// readTo reads a stream until it has a text.
func readTo(t testing.TB, r *bufio.Reader, text string) string {
	t.Helper()
	for {
		l, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("%s did not come: %v", text, err)
		}
		if strings.Contains(l, text) {
			return l
		}
	}
}

func TestFollowersShareOneReadOfTheLog(t *testing.T) {
	t.Parallel()
	db := sqlitetest.Open(t, sqlite.Config{})
	s := &countingStore{Store: db}
	b := apitest.Start(t, s)
	p := b.Project("/src/app")
	other := b.Project("/src/other")
	say := func(project int64, reason string) {
		b.Update(func(tx store.Tx) error {
			return tx.Log.Append(&coppice.Event{At: b.Clock.Now(), Kind: coppice.EventTaskChanged, ProjectID: project, Subject: "app", By: "person", Reason: reason})
		})
	}
	const each = 30
	var all, some []*bufio.Reader
	for range each {
		_, r := subscribe(t, b, "/api/v1/events")
		all = append(all, r)
		_, r = subscribe(t, b, "/api/v1/events?project=app")
		some = append(some, r)
	}
	// When a follower has got an event, its first reads are over.
	say(p.ID, "the first")
	for _, r := range append(all, some...) {
		readTo(t, r, "the first")
	}
	for i := range 20 {
		before := s.views.Load()
		text := fmt.Sprintf("number %d.", i)
		say(p.ID, text)
		for _, r := range append(all, some...) {
			readTo(t, r, text)
		}
		if n := s.views.Load() - before; n != 2 {
			t.Fatalf("event %d was read %d times, want once for each of the 2 filters", i, n)
		}
	}
	say(other.ID, "not for all")
	say(p.ID, "for all")
	for _, r := range all {
		readTo(t, r, "not for all")
	}
	for _, r := range some {
		for {
			l, err := r.ReadString('\n')
			if err != nil || strings.Contains(l, "not for all") {
				t.Fatalf("%q, %v", l, err)
			}
			if strings.Contains(l, "for all") {
				break
			}
		}
	}
}

func TestTheNumberOfFollowersIsBounded(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *apihttp.Config) { c.Followers = 2 })
	b.Project("/src/app")
	b.Task("app", coppice.NewTask{Title: "t"})
	x := b.Session("app-1", coppice.SessionWorking, nil)
	_, first := subscribe(t, b, "/api/v1/events")
	second, _ := subscribe(t, b, "/api/v1/says") // its header says that it has a place
	readTo(t, first, ": alive")
	for _, path := range []string{"/api/v1/events", "/api/v1/says", "/api/v1/sessions/" + x.Key + "/output/stream"} {
		resp, text := call(t, b, "GET", path, "", header("Accept", "text/event-stream"))
		p := refused(t, resp, text, http.StatusServiceUnavailable)
		if !strings.Contains(p.Detail, "2 streams") || p.Fix == "" || resp.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %+v", path, p)
		}
	}
	if resp, text := call(t, b, "GET", "/api/v1/status", ""); resp.StatusCode != http.StatusOK {
		t.Errorf("the server does nothing else: %s", text)
	}
	if second.StatusCode != http.StatusOK {
		t.Errorf("the second: %s", second.Status)
	}
}
