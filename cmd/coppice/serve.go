package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"coppice/cmd/coppice/server"
	"coppice/internal/process"
)

func (p *program) serve(ctx context.Context, cfg server.Config) error {
	// Whoever reads what the server prints may go away. That must not end it,
	// least of all while it stops.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	process.CatchIgnored(syscall.SIGHUP)
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	s, err := server.New(cfg)
	if err != nil {
		return err
	}
	if err := s.Start(ctx); err != nil {
		return err
	}
	fmt.Fprintf(p.env.Stdout, "coppice %s serves %s\nstate in %s\nPress Ctrl-C to stop the server. Running agents continue.\n", version, s.URL(), p.state)
	<-ctx.Done()
	stop(s, p.env.Stdout, signals, time.Second)
	return nil
}

// stopper is a server that is being stopped.
type stopper interface {
	Stop()
	Waiting(context.Context) []string
	Hurry()
}

// stop stops the server and prints what it waits for, again and again. The first
// signal began the stop. A second one ends what can be ended, and later ones
// change nothing: git is never killed while it writes.
func stop(s stopper, out io.Writer, signals <-chan os.Signal, every time.Duration) {
	began := time.Now()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Stop()
	}()
	tell := func() {
		if list := s.Waiting(context.Background()); len(list) > 0 {
			fmt.Fprintf(out, "waiting for %s (%d s)\n", strings.Join(list, ", "), int(time.Since(began).Seconds()))
		}
	}
	tell()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for count := 0; ; {
		select {
		case <-done:
			return
		case <-tick.C:
			tell()
		case <-signals:
			if count++; count != 2 {
				continue
			}
			fmt.Fprintln(out, "Pushes to a remote are ended. Coppice does not interrupt git while it writes to your repository; the server stops when git has finished.")
			s.Hurry()
		}
	}
}
