package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coppice"
)

// A variable comes before config.yaml, and an address that other machines can
// reach is refused.
func TestListenAddress(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "coppice", "config.yaml")
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	home := []string{"XDG_CONFIG_HOME=" + dir, "HOME=" + dir}
	for _, c := range []struct {
		name, config string
		env          []string
		addr, source string
		fails        string
	}{
		{name: "nothing", addr: "127.0.0.1:4040", source: "default"},
		{name: "config", config: "listen: localhost:5050\n", addr: "localhost:5050", source: file},
		{name: "port", config: "listen: localhost:5050\n", env: []string{"PORT=6060"}, addr: "127.0.0.1:6060", source: "environment"},
		{name: "both variables", env: []string{"PORT=6060", "COPPICE_LISTEN=[::1]:7070"}, addr: "[::1]:7070", source: "environment"},
		{name: "empty variables", env: []string{"PORT=", "COPPICE_LISTEN="}, addr: "127.0.0.1:4040", source: "default"},
		{name: "all addresses", env: []string{"COPPICE_LISTEN=0.0.0.0:80"}, fails: "COPPICE_LISTEN"},
		{name: "not a port", env: []string{"PORT=http"}, fails: "PORT"},
		{name: "a port that is too large", env: []string{"PORT=70000"}, fails: "PORT"},
		{name: "config that is refused", config: "listen: 10.0.0.1:80\n", fails: "listen in " + file},
		{name: "config that cannot be read", config: "listen: [\n", addr: "127.0.0.1:4040", source: "default"},
	} {
		write(c.config)
		addr, source, err := listenAddress(append(c.env, home...))
		switch {
		case c.fails != "":
			if coppice.ErrorCode(err) != coppice.EInvalid || !strings.Contains(err.Error(), c.fails+": ") || coppice.Public(err).Fix == "" {
				t.Errorf("%s: %q, %v", c.name, addr, err)
			}
		case addr != c.addr || source != c.source || err != nil:
			t.Errorf("%s: %q from %q, %v", c.name, addr, source, err)
		}
	}
}

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
