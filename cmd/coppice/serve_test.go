package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// slowServer is a server whose stop waits until the test lets it end.
type slowServer struct {
	let     chan struct{}
	hurried chan struct{}
}

func (s slowServer) Stop() { <-s.let }
func (s slowServer) Waiting(context.Context) []string {
	return []string{"git to finish the landing of app-12"}
}
func (s slowServer) Hurry() { s.hurried <- struct{}{} }

func TestStopSaysWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	s := slowServer{make(chan struct{}), make(chan struct{}, 9)}
	signals := make(chan os.Signal)
	r, w := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer w.Close()
		stop(s, w, signals, time.Millisecond)
	}()
	lines := bufio.NewReader(r)
	read := func() string {
		t.Helper()
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return line
	}
	// signalled sends a signal and returns what is printed until it was handled.
	signalled := func() (printed []string) {
		t.Helper()
		sent := make(chan struct{})
		go func() { signals <- os.Interrupt; close(sent) }()
		for {
			printed = append(printed, read())
			select {
			case <-sent:
				return append(printed, read()) // what follows it
			default:
			}
		}
	}
	if got := read(); got != "waiting for git to finish the landing of app-12 (0 s)\n" {
		t.Errorf("first line %q", got)
	}
	if got := strings.Join(signalled(), ""); strings.Contains(got, "interrupt") || len(s.hurried) != 0 {
		t.Errorf("the signal that began the stop: %d times hurried, %q", len(s.hurried), got)
	}
	if got := strings.Join(signalled(), ""); !strings.Contains(got, "does not interrupt git") {
		t.Errorf("the second signal: %q", got)
	}
	<-s.hurried
	if got := strings.Join(signalled(), ""); strings.Contains(got, "interrupt") || len(s.hurried) != 0 {
		t.Errorf("the third signal: %d times hurried, %q", len(s.hurried), got)
	}
	close(s.let)
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	<-done
}
